/** Zstandard and LZ4 frames of others: no damage gives other content than what was compressed. */
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { nodeZstd } from '../../src/ipc/codecs/node-zstd.ts';
import { zstdKernels } from '../../src/ipc/codecs/zstd-kernels.ts';
import { bodyBuffers } from '../../src/ipc/foreign/foreign-buffers.ts';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { drained } from '../../src/steps.ts';
import { decodeLz4Frame, decodeZstd, xxh64Low } from '../helpers/codecs.ts';
import { placesOf } from '../helpers/long.ts';

interface Frames {
  readonly lz4: readonly (readonly [name: string, frame: string])[];
  readonly zstd: readonly (readonly [name: string, frame: string])[];
  readonly sizes: Readonly<Record<string, number>>;
  readonly checksums: Readonly<Record<string, number>>;
}

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/ipc/${name}`, import.meta.url));

const frames = JSON.parse(fixture('frames.json').toString()) as Frames;

const refuse = (problem: string): never => {
  throw new SyntaxError(problem);
};

type Decode = (frame: Uint8Array, size: number) => Uint8Array;

const own: Decode = (frame, size) => decodeZstd(frame, size, refuse, null);
/** Node's decoder for every frame, however short. */
const theirs: Decode = (frame, size) => decodeZstd(frame, size, refuse, nodeZstd, 0);
const lz4: Decode = (frame, size) => decodeLz4Frame(frame, size, refuse);

/** Frames of up to 2 MiB by WebAssembly, however short they are. */
const short: Decode = (frame, size) => decodeZstd(frame, size, refuse, null, 0, zstdKernels);

const DECODERS: readonly (readonly [string, Decode])[] = [
  ['the decoder here', own],
  ['the decoder in WebAssembly', short],
  ...(nodeZstd === null ? [] : [["Node's decoder", theirs] as const]),
];

const [MAGIC_BYTES, CHECKSUM_FLAG] = [4, 4];
const MAGIC = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);

const hasChecksum = (frame: Uint8Array): boolean => (frame[MAGIC_BYTES]! & CHECKSUM_FLAG) !== 0;

/** One frame of each input and level, with a checksum. */
const checked = frames.zstd
  .map(([name, text]) => ({ name, frame: Buffer.from(text, 'base64') }))
  .filter(({ frame }) => hasChecksum(frame));

const checkedLz4 = frames.lz4
  .map(([name, text]) => ({ name, frame: Buffer.from(text, 'base64') }))
  .filter(({ frame }) => (frame[MAGIC_BYTES]! & 0x14) === 0x14);

const outcome = (decode: Decode, frame: Uint8Array, name: string): string => {
  try {
    const content = decode(frame, frames.sizes[name] as number);
    return crc32(content) === frames.checksums[name] ? 'same' : 'OTHER CONTENT';
  } catch (error) {
    return error instanceof SyntaxError ? `refused: ${error.message}` : `THREW ${String(error)}`;
  }
};

/** What every damage of a byte leads to; at most some hundred bytes of a long frame, and of each in turn one kind. */
function damaged(decode: Decode, frame: Uint8Array, name: string): Map<string, number> {
  const found = new Map<string, number>();
  const step = Math.max(1, Math.floor(frame.length / 250));
  for (const [first, bits] of [0x01, 0x80, 0xff].entries()) {
    for (const place of placesOf(Math.ceil(frame.length / step), 9, first)) {
      const at = place * step;
      const copy = Uint8Array.from(frame);
      copy[at] = copy[at]! ^ bits;
      const seen = outcome(decode, copy, name).replace(/:.*/, '');
      found.set(seen, (found.get(seen) ?? 0) + 1);
    }
  }
  return found;
}

const bytesOf = (value: number, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, at) => Math.floor(value / 2 ** (8 * at)) & 0xff);

const [LAST, CODED] = [1, 4];

/** The bytes as they are, then 20 of `distance` bytes before: one sequence, without literals. */
function farMatch(bytes: Uint8Array, distance: number): Uint8Array {
  const [offset, length] = [distance + 3, 20];
  const code = Math.floor(Math.log2(offset));
  const stream = bytesOf(offset, Math.floor(code / 8) + 1);
  const coded = [0, 1, 0x54, 0, code, length - 3, ...stream];
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 131_072) {
    const block = bytes.subarray(at, at + 131_072);
    blocks.push(Uint8Array.from(bytesOf(block.length << 3, 3)), block);
  }
  const head = [...MAGIC, 0xa0, ...bytesOf(bytes.length + length, 4)];
  const last = [...bytesOf((coded.length << 3) | CODED | LAST, 3), ...coded];
  return Buffer.concat([Uint8Array.from(head), ...blocks, Uint8Array.from(last)]);
}

test('there are kernels for frames of up to 2 MiB', () => {
  expect(zstdKernels(65_536)?.most).toBe(65_536);
  expect(zstdKernels(65_537)?.most).toBe(2_097_152);
  expect(zstdKernels(2_097_152)).toBe(zstdKernels(65_537));
  expect(zstdKernels(2_097_153)).toBeNull();
});

test('the 64-bit hash is the one of others', () => {
  // Of the xxhash package of Python, for as many bytes of 0, 7, 14 and so on.
  const known: readonly (readonly [number, number])[] = [
    [0, 1373170073],
    [1, 3674548072],
    [3, 1516374443],
    [4, 173386817],
    [5, 2322583699],
    [7, 1866311230],
    [8, 1706632427],
    [11, 2987959734],
    [12, 2585060881],
    [15, 3814754351],
    [31, 2984714935],
    [32, 833144361],
    [33, 4174797716],
    [39, 692215],
    [44, 1802891142],
    [63, 333642278],
    [64, 1146582480],
    [100, 2185745883],
    [1000, 2848964968],
    [4099, 1386819304],
  ];
  for (const [length, low] of known) {
    const bytes = Uint8Array.from({ length: length + 3 }, (_, at) => (at - 3) * 7);
    expect(xxh64Low(bytes, 3, length + 3), `${length} bytes`).toBe(low);
  }
  expect(known.length).toBeGreaterThan(10);
});

describe.each(DECODERS)('%s', (_, decode) => {
  test('decodes every frame, with or without a checksum', () => {
    for (const [name, text] of frames.zstd) {
      expect(outcome(decode, Buffer.from(text, 'base64'), name), name).toBe('same');
    }
    expect(checked.length).toBeGreaterThan(30);
  });

  test('refuses a frame whose checksum is wrong, and names it', () => {
    for (const { name, frame } of checked) {
      for (let at = 1; at <= 4; at += 1) {
        const copy = Uint8Array.from(frame);
        copy[frame.length - at] = copy[frame.length - at]! ^ 0x10;
        expect(outcome(decode, copy, name), name).toBe(
          'refused: the content of its Zstandard frame does not match its checksum',
        );
      }
    }
  });

  test('gives no other content for any damaged byte of a frame with a checksum', () => {
    for (const { name, frame } of checked) {
      const found = damaged(decode, frame, name);
      expect(
        [...found.keys()].filter((one) => !/^(refused|same)$/.test(one)),
        name,
      ).toEqual([]);
      expect(found.get('refused')).toBeGreaterThan(0);
    }
  });

  test('finds matches as far away as a frame is long, and refuses those before it', () => {
    for (const size of [70_000, 2_097_132, 2_097_133]) {
      const bytes = new Uint8Array(size);
      for (let at = 0; at < size; at += 1) bytes[at] = Math.imul(at, at ^ 0x9e37) >>> 11;
      for (const distance of [1, 7, 8, 65_535, size - 1, size]) {
        const decoded = decode(farMatch(bytes, distance), size + 20);
        const from = size - distance;
        const match = Uint8Array.from({ length: 20 }, (_, at) => bytes[from + (at % distance)]!);
        expect(Buffer.compare(decoded.subarray(0, size), bytes), `${size} bytes`).toBe(0);
        expect([...decoded.subarray(size)], `${size} bytes, ${distance} before`).toEqual([
          ...match,
        ]);
      }
      for (const distance of [size + 1, 2 ** 22, 2 ** 26, 2 ** 30]) {
        expect(() => decode(farMatch(bytes, distance), size + 20)).toThrow(SyntaxError);
      }
    }
  });

  test('refuses a frame whose blocks hold more than it says, whatever room there is', () => {
    const head = Uint8Array.from([...MAGIC, 0xa0, ...bytesOf(10, 4)]);
    const block = new Uint8Array(3 + 131_072);
    block.set(bytesOf(131_072 << 3, 3));
    const last = block.slice();
    last[0]! |= LAST;
    const frame = Buffer.concat([head, block, block, block, block, last]);
    expect(() => decode(frame, 700_000)).toThrow(SyntaxError);
  });

  test('refuses a frame that is cut at any byte', () => {
    for (const { name, frame } of checked) {
      const step = Math.max(1, Math.floor(frame.length / 100));
      for (let end = 1; end < frame.length; end += end < frame.length - 12 ? step : 1) {
        expect(outcome(decode, frame.subarray(0, end), name)).toMatch(/^refused/);
      }
    }
  });

  test('verifies each of several frames, among frames to be skipped', () => {
    const [a, b] = checked.filter(({ name }) => name === 'text' || name === 'skewed');
    const second = checked.find(({ name }) => name !== a?.name) ?? b;
    if (a === undefined || second === undefined) throw new Error('the fixtures lack frames');
    const skipped = Uint8Array.of(0x5f, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2);
    const all = Buffer.concat([skipped, a.frame, skipped, second.frame, skipped]);
    const [first, last] = [frames.sizes[a.name]!, frames.sizes[second.name]!];
    const content = decode(all, first + last);
    expect(crc32(content.subarray(0, first))).toBe(frames.checksums[a.name]);
    expect(crc32(content.subarray(first))).toBe(frames.checksums[second.name]);
    for (const end of [10 + a.frame.length, all.length - 10]) {
      const copy = Uint8Array.from(all);
      copy[end - 1] = copy[end - 1]! ^ 1;
      expect(() => decode(copy, first + last)).toThrow(/does not match its checksum/);
    }
    expect(() => decode(all, first + last - 1)).toThrow(SyntaxError);
    expect(() => decode(all, first + last + 1)).toThrow(SyntaxError);
  });

  test('refuses a frame that holds more or less than it says, whatever those beside it hold', () => {
    const frame = (said: number, held: number): number[] => [
      ...MAGIC,
      ...[0x20, said, 1 | (held << 3), 0, 0],
      ...new Array<number>(held).fill(0x61),
    ];
    expect(decode(Uint8Array.from([...frame(2, 2), ...frame(2, 2)]), 4)).toHaveLength(4);
    const other = Uint8Array.from([...frame(3, 2), ...frame(1, 2)]);
    expect(() => decode(other, 4)).toThrow(SyntaxError);
    expect(() => decode(Uint8Array.from([...frame(1, 2), ...frame(3, 2)]), 4)).toThrow(SyntaxError);
  });

  test('refuses a frame to be skipped that is longer than what is left', () => {
    const { name, frame } = checked[0]!;
    const skipped = Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2);
    expect(outcome(decode, Buffer.concat([frame, skipped]), name)).toMatch(/^refused.*cut short/);
  });

  test('refuses a frame that needs a dictionary', () => {
    const frame = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 0x09, 0, 0, 0x61);
    expect(() => decode(frame, 1)).toThrow(/needs a dictionary/);
  });

  test('gives memory of its own', () => {
    for (const { name, frame } of checked.slice(0, 4)) {
      const content = decode(frame, frames.sizes[name] as number);
      expect(content.byteOffset).toBe(0);
      expect(content.buffer.byteLength).toBe(content.length);
    }
  });
});

test('no frame makes another decoder allocate a window that its content has no use for', () => {
  let called = 0;
  const counting: typeof nodeZstd = (_, most) => {
    called += 1;
    return new Uint8Array(most).fill(0x61);
  };
  /** A frame of 100 KiB of one byte; 16 such blocks after a window of 2 to the power of `log`. */
  const frame = (log: number): Uint8Array => {
    const block = (last: number): number[] => [
      last | 2 | ((102_400 << 3) & 0xff),
      ...[8, 16].map((shift) => ((102_400 << 3) >> shift) & 0xff),
      0x61,
    ];
    const blocks = Array.from({ length: 16 }, (_, at) => block(at === 15 ? 1 : 0)).flat();
    return Uint8Array.from([...MAGIC, 0, (log - 10) << 3, ...blocks]);
  };
  const decode = (log: number): number => {
    called = 0;
    const content = decodeZstd(frame(log), 1_638_400, refuse, counting, 0);
    expect(Buffer.from(content).equals(Buffer.alloc(1_638_400, 0x61))).toBe(true);
    return called;
  };
  expect([10, 21, 23].map(decode)).toEqual([1, 1, 1]);
  expect([24, 27, 31, 41].map(decode)).toEqual([0, 0, 0, 0]);
  // A frame in one segment has its content as its window: useful, but more than Node takes.
  const size = 2 ** 27 + 8;
  const blocks = new Array<number[]>(1024).fill([0x02, 0x00, 0x10, 0x61]).flat();
  const segment = [
    ...MAGIC,
    0xa0,
    ...[0, 8, 16, 24].map((shift) => (size >> shift) & 0xff),
    ...blocks,
  ];
  called = 0;
  decodeZstd(Uint8Array.from([...segment, 0x43, 0, 0, 0x61]), size, refuse, counting, 0);
  expect(called).toBe(0);
});

test('a compressed buffer that says it is empty is refused where its frame is not', () => {
  const { frame } = checked[0]!;
  const body = Buffer.concat([new Uint8Array(8), frame]);
  const header = { rows: 0, nodes: [], views: [], unionValidity: false, codec: 'zstd' } as const;
  const buffers = (bytes: number): Uint8Array[] =>
    drained(
      bodyBuffers({ ...header, buffers: [0, bytes] }, body, 1_000, refuse) as Generator<
        undefined,
        Uint8Array[]
      >,
    );
  expect(buffers(8)).toEqual([new Uint8Array(0)]);
  expect(() => buffers(body.length)).toThrow(/buffer 0: its Zstandard frame/);
});

test('a wrong checksum in an Arrow stream is an error that names the batch and the buffer', async () => {
  const bytes = fixture('types-zstd.arrows');
  const rows = async (body: Uint8Array): Promise<number> => {
    let count = 0;
    for await (const batch of await openArrowBody(body)) count += batch.numRows;
    return count;
  };
  expect(await rows(withChecksum(bytes, (checksum) => checksum))).toBe(40);
  const wrong = withChecksum(bytes, (checksum) => (checksum ^ 1) >>> 0);
  await expect(rows(wrong)).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringMatching(
      /(record batch|dictionary) 0: buffer \d+: the content of its Zstandard frame does not match its checksum/,
    ),
  });
});

test('LZ4 frames give no other content for any damaged byte of a frame with checksums', () => {
  expect(checkedLz4.length).toBeGreaterThan(10);
  for (const { name, frame } of checkedLz4) {
    const found = damaged(lz4, frame, name);
    expect(
      [...found.keys()].filter((one) => !/^(refused|same)$/.test(one)),
      name,
    ).toEqual([]);
  }
});

function decodedAs(frame: Uint8Array, size: number): Uint8Array | undefined {
  try {
    return own(frame, size);
  } catch {
    return undefined;
  }
}

/** The first frame of a stream's bytes that has room behind it, given the checksum `change` makes. */
function withChecksum(bytes: Uint8Array, change: (checksum: number) => number): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let at = 0; at >= 0; at = copy.indexOf(MAGIC, at + 1)) {
    const size = at < 8 ? 0 : Number(copy.readBigInt64LE(at - 8));
    for (let end = at + 12; end < at + 400 && size > 0; end += 1) {
      const content = decodedAs(copy.subarray(at, end), size);
      if (content === undefined) continue;
      // Its place in the header: the length of the buffer, which is padded to a multiple of 8.
      const length = Buffer.alloc(8);
      length.writeBigInt64LE(BigInt(end - at + 8));
      const listed = copy.lastIndexOf(length, at - 8);
      if (((end - at) & 7) > 4 || ((end - at) & 7) === 0 || listed < 0) break;
      copy.writeBigInt64LE(BigInt(end - at + 12), listed);
      copy[at + MAGIC_BYTES] = copy[at + MAGIC_BYTES]! | CHECKSUM_FLAG;
      copy.writeUInt32LE(change(xxh64Low(content, 0, size)), end);
      return copy;
    }
  }
  throw new Error('no frame has room for a checksum');
}
