/** A long message is decompressed in steps: whoever pulls it lets other work go on in between. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeLz4InSteps, xxh32 } from '../../src/ipc/codecs/lz4.ts';
import { decodeZstdInSteps } from '../../src/ipc/codecs/zstd.ts';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { runSteps, type WaitingSteps } from '../../src/steps.ts';
import { xxh64Low } from '../helpers/codecs.ts';

const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../fixtures/ipc/${name}`, import.meta.url));

const refuse = (problem: string): never => {
  throw new Error(problem);
};

const word = (value: number, bytes = 4): number[] =>
  Array.from({ length: bytes }, (_, at) => Math.floor(value / 2 ** (8 * at)) & 0xff);

const BLOCK = 131_072;
const BLOCKS = 64;
const SIZE = BLOCK * BLOCKS;
const content = new Uint8Array(SIZE).fill(0x61);

/** One byte repeated, in as many blocks as there may be, with a checksum. */
function zstdFrame(): Uint8Array {
  const blocks = Array.from({ length: BLOCKS }, (_, at) => [
    ...word((BLOCK << 3) | 2 | (at === BLOCKS - 1 ? 1 : 0), 3),
    0x61,
  ]);
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0xa4, ...word(SIZE)];
  return Uint8Array.from([...head, ...blocks.flat(), ...word(xxh64Low(content, 0, SIZE))]);
}

/** The content as it is, in blocks of 64 KiB, with a checksum. */
function lz4Frame(): Uint8Array {
  const head = [0x04, 0x22, 0x4d, 0x18, 0x64, 0x40];
  head.push((xxh32(Uint8Array.from(head), 4, 6) >>> 8) & 0xff);
  const pieces: Uint8Array[] = [Uint8Array.from(head)];
  for (let at = 0; at < SIZE; at += 65_536) {
    pieces.push(Uint8Array.from(word(0x8000_0000 + 65_536)), content.subarray(at, at + 65_536));
  }
  pieces.push(Uint8Array.from([...word(0), ...word(xxh32(content, 0, SIZE))]));
  return Buffer.concat(pieces);
}

async function stepsOf(steps: WaitingSteps<Uint8Array>): Promise<[number, Uint8Array]> {
  let count = 0;
  const decoded = await runSteps(steps, () => {
    count += 1;
    return undefined;
  });
  return [count, decoded];
}

test('Zstandard: a step for each block, and for each megabyte of the checksum', async () => {
  const decoders = { kernels: () => null, other: null, later: null, worthBytes: 0 };
  const [steps, decoded] = await stepsOf(decodeZstdInSteps(zstdFrame(), SIZE, refuse, decoders));
  expect(steps).toBeGreaterThanOrEqual(BLOCKS + SIZE / 2 ** 20 - 1);
  expect(Buffer.compare(decoded, content)).toBe(0);
});

test('Zstandard: a long frame is left to a decoder beside the event loop where there is one', async () => {
  let asked = 0;
  const decoders = {
    kernels: () => null,
    other: () => refuse('at once'),
    later: async (_: Uint8Array, most: number) => {
      asked = most;
      return content;
    },
    worthBytes: 0,
  };
  const [steps, decoded] = await stepsOf(decodeZstdInSteps(zstdFrame(), SIZE, refuse, decoders));
  expect(asked).toBe(SIZE);
  expect(steps).toBeGreaterThan(SIZE / 2 ** 22);
  expect(Buffer.compare(decoded, content)).toBe(0);
});

test('LZ4: a step for each block, and for each megabyte of the checksum', async () => {
  const [steps, decoded] = await stepsOf(decodeLz4InSteps(lz4Frame(), SIZE, refuse));
  expect(steps).toBeGreaterThanOrEqual(SIZE / 65_536 + SIZE / 2 ** 20);
  expect(Buffer.compare(decoded, content)).toBe(0);
});

test.each(['big-lz4.arrows', 'big-zstd.arrows', 'types-zstd.arrow'])(
  'the messages of %s pause between their buffers and columns',
  async (name) => {
    let asked = 0;
    const pause = (): undefined => {
      asked += 1;
    };
    let batches = 0;
    for await (const _ of await openArrowBody(fixture(name), { pause })) batches += 1;
    expect(asked).toBeGreaterThan(batches);
  },
);
