/** Zstandard frames that come in pieces: content, checksums, windows that slide, damage. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DirspaceError } from '../../src/errors.ts';
import { decodeZstdPieces } from '../../src/ipc/codecs/zstd-stream.ts';
import { decodeZstd } from '../helpers/codecs.ts';

const frames = (
  JSON.parse(readFileSync(new URL('../../fixtures/ipc/frames.json', import.meta.url), 'utf8')) as {
    readonly zstd: readonly (readonly [string, string])[];
  }
).zstd.map(([, text]) => Buffer.from(text, 'base64'));

const refuse = (what: string): never => {
  throw new DirspaceError('InvalidInput', what);
};

async function decoded(bytes: Uint8Array, cuts: readonly number[] = []): Promise<Buffer> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let start = 0;
    for (const cut of [...cuts].map((at) => at % (bytes.length + 1)).sort((a, b) => a - b)) {
      yield bytes.subarray(start, cut);
      start = cut;
    }
    yield bytes.subarray(start);
  }
  const found: Uint8Array[] = [];
  for await (const piece of decodeZstdPieces(pieces(), refuse)) found.push(piece);
  return Buffer.concat(found);
}

/** By the command line of Zstandard, with and without a checksum. */
const CHECKED = Buffer.from(
  '28b52ffd0458e500009069642c6e616d650a3020300a31310a32320a0300600c9621baca11e027e3f9',
  'hex',
);
const PLAIN = Buffer.from(
  '28b52ffd006819010069642c6e616d650a302c6e616d6520300a312c6e616d6520310a322c6e616d6520320a',
  'hex',
);
/** By the same: 60,000 lines that repeat after a thousand. */
const REPEATED =
  'KLUv/QRY9LYAqjQ3WhGgJcUGaA4AHGVXdmV54C82R50FogWiBRERERERERERERERERERERERERERERERERERERERERERQZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZLbtm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3b9v////////////////////////////////////////////////9VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVUREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREtm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btj0zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzIyIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiLStm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3bthERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJLlt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt/////////////////////////////////////////////////19VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVRURERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERk27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt2zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiJt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27ZtGxERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERFBkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJktu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdv2/////////////////////////////////////////////////1VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVRERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERES2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2PTMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMjIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiItK2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2EREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIk+SKPNLi/yCMNrl7kkQZHL/JIg/OLPNLg5kUeaXDyIo80uL7IIw0uXuSRBscXeaTBYNsCAAHCEDMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMyIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIibdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bRsRERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERQZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZLbtm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3b9v////////////////////////////////////////////////9VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVUREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREtm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btj0zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzIyIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiLStm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3bthERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJLlt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt/////////////////////////////////////////////////19VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVRURERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERk27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt2zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiJt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27ZtGxERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERFBkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJktu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdv2/////////////////////////////////////////////////1VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVRERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERES2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2PTMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMjIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiItK2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2ERERERERERERERERERERERERVVVVVVVVVVVVVVVVVVVVRURERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERk27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt2zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiJt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27ZtGxERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERFBkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJktu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdv2/////////////////////////////////////////////////1VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVRERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERES2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2PTMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMjIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiItK2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2EREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkuW3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3/////////////////////////////////////////////////X1VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVFRERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERGTbtm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3bMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm0bEREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREREUGSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmS27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt2/b/////////////////////////////////////////////////VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERLZt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Y9MzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMxPCEHgkSXLbtm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3b/v///////////////////////////////////////////////7+qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqioiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIjItm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btmdmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmRERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERETatm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3bNiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiKCJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJLdt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27bt/////////////////////////////////////////////////6uqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIhs27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zte2ZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZGRERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERKRt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27Zt27ZtIyIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiJIkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJctu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdv+////////////////////////////////////////////////v6qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqKiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiMi2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2Z2ZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERNq2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bds2IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIoIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkSZIkt23btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btu3/////////////////////////////////////////////////q6qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqiqzMqgUgP/oAfOv6AAUYAAA+A8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAkLEegBIiFCFCESIUIUIRIhQhQhEiFCFCESJU/CBC/f/7D0wAAAABAP3/EyevQEwAAAggAQD8/zkQAkwAAAgzAQD8/zkQAk0AAAg4AQC8JzkQAoAtkuQ=';
const TEXT = 'id,name\n0,name 0\n1,name 1\n2,name 2\n';

test('frames give their content, however they are cut, and one after the other', async () => {
  const skippable = Buffer.from('502a4d18030000000102ff', 'hex');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
      expect((await decoded(CHECKED, cuts)).toString()).toBe(TEXT);
      const all = Buffer.concat([PLAIN, skippable, CHECKED]);
      expect((await decoded(all, cuts)).toString()).toBe(TEXT + TEXT);
    }),
    { numRuns: 50 },
  );
  expect((await decoded(new Uint8Array(0))).length).toBe(0);
});

test('frames of other writers are as the decoder of whole frames has them', async () => {
  let compared = 0;
  for (const frame of frames) {
    let streamed: Buffer;
    try {
      streamed = await decoded(frame, [frame.length >> 1]);
    } catch (error) {
      // A fixture that is damaged on purpose is refused by both.
      expect(() => decodeZstd(frame, 1 << 22, refuse, null)).toThrow();
      expect(error).toMatchObject({ code: 'InvalidInput' });
      continue;
    }
    expect(Buffer.compare(streamed, decodeZstd(frame, streamed.length, refuse, null))).toBe(0);
    compared++;
  }
  expect(compared).toBeGreaterThan(3);
});

/** A frame of raw blocks and of one block that repeats a byte, longer than its window by far. */
function frameOf(blocks: number, windowCode: number): Buffer {
  const parts = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, windowCode])];
  for (let at = 0; at < blocks; at++) {
    const head = ((131_072 << 3) | (1 << 1) | (at === blocks - 1 ? 1 : 0)) >>> 0;
    parts.push(Buffer.from([head & 255, (head >> 8) & 255, head >> 16, at]));
  }
  return Buffer.concat(parts);
}

test('the window slides', async () => {
  const content = await decoded(frameOf(20, 0));
  expect(content.length).toBe(20 * 131_072);
  expect([content[0], content[131_072], content.at(-1)]).toEqual([0, 1, 19]);
});

test('matches lead back over what was given already', async () => {
  const bytes = Buffer.from(REPEATED, 'base64');
  const lines = Array.from(
    { length: 60_000 },
    (_, at) => `line ${String(at % 1000).padStart(4, '0')}\n`,
  );
  expect((await decoded(bytes, [99])).equals(Buffer.from(lines.join('')))).toBe(true);
});

test('damage is refused by name', async () => {
  await expect(decoded(CHECKED.subarray(0, 20))).rejects.toThrow('cut short');
  const wrong = Buffer.from(CHECKED);
  wrong[wrong.length - 1]! ^= 1;
  await expect(decoded(wrong)).rejects.toThrow('does not match its checksum');
  await expect(decoded(Buffer.from('no frame at all'))).rejects.toThrow('no Zstandard frame');
  await expect(decoded(frameOf(1, 0xff))).rejects.toThrow('more than the 134217728 allowed');
  for (let at = 0; at < PLAIN.length * 8; at++) {
    const damaged = Buffer.from(PLAIN);
    damaged[at >> 3]! ^= 1 << (at & 7);
    await decoded(damaged).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'InvalidInput' });
    });
  }
});
