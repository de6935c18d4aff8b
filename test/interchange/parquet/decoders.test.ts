/** Decoders of pages and metadata, on bytes made by hand: what they read, and each thing they refuse. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { deltaReader } from '../../../src/interchange/parquet/delta.ts';
import { valueReader, widthOf } from '../../../src/interchange/parquet/encodings.ts';
import {
  bitsOf,
  encodeHybrid,
  HybridReader,
  PackedReader,
} from '../../../src/interchange/parquet/levels.ts';
import { decompressPage } from '../../../src/interchange/parquet/page-codecs.ts';
import { ChunkPages } from '../../../src/interchange/parquet/page-source.ts';
import { encodeSnappy, snappyInSteps } from '../../../src/interchange/parquet/snappy.ts';
import { BytesStore, FixedStore, type Store } from '../../../src/interchange/parquet/stores.ts';
import { readThrift } from '../../../src/interchange/parquet/thrift.ts';
import { type Fields, writeThrift } from '../../../src/interchange/parquet/thrift-writer.ts';
import { drained } from '../../../src/steps.ts';

const refuse = (what: string): never => {
  throw new Error(what);
};
const CUT = 'a page is cut short';

describe('runs of numbers', () => {
  const read = (width: number, count: number, ...bytes: number[]): number[] => {
    const out = new Int32Array(count);
    new HybridReader(Uint8Array.from(bytes), 0, bytes.length, width, refuse).read(out, 0, count);
    return [...out];
  };

  test('are equal ones, and packed ones of any width', () => {
    expect(read(8, 3, 6, 9)).toEqual([9, 9, 9]);
    // A run of none is passed over where others follow.
    expect(read(8, 2, 0, 5, 4, 7)).toEqual([7, 7]);
    expect(read(1, 8, 3, 0b1010_0110)).toEqual([0, 1, 1, 0, 0, 1, 0, 1]);
    expect(read(4, 8, 3, 0x21, 0x43, 0x65, 0x87)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const wide = Array.from({ length: 32 }, (_, at) => at * 7);
    const words = new Int32Array(Uint8Array.from(wide).buffer);
    expect(read(32, 8, 3, ...wide)).toEqual([...words]);
    expect([0, 1, 2, 255, 256].map(bitsOf)).toEqual([0, 1, 2, 8, 9]);
  });

  test('come back as they were encoded, in parts of any length', () => {
    const alike = new Array(20).fill(3);
    for (const numbers of [
      [],
      [5],
      alike,
      [1, 2, 3, ...alike, 4, 5],
      [...alike, ...Array.from({ length: 21 }, (_, at) => at % 6), ...alike],
    ]) {
      const values = Int32Array.from(numbers);
      const bytes = encodeHybrid(values, values.length, 3);
      const out = new Int32Array(values.length);
      const reader = new HybridReader(bytes, 0, bytes.length, 3, refuse);
      for (let at = 0; at < out.length; at += 3) reader.read(out, at, Math.min(out.length, at + 3));
      expect([...out]).toEqual(numbers);
    }
  });

  test('may lack the last of those that are packed, and nothing else', () => {
    expect(read(4, 4, 3, 0x21, 0x43)).toEqual([1, 2, 3, 4]);
    const cut = 'a run of numbers is cut short';
    expect(() => read(4, 5, 3, 0x21, 0x43)).toThrow(cut);
    expect(() => read(8, 1)).toThrow(cut);
    expect(() => read(8, 1, 0x80)).toThrow(cut);
    expect(() => read(8, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0)).toThrow(cut);
    expect(() => read(8, 1, 2)).toThrow(cut);
    expect(() => read(16, 1, 2, 7)).toThrow(cut);
    expect(() => read(8, 1, 0, 5)).toThrow(cut);
    expect(() => read(33, 1, 2, 7)).toThrow('more than 32 bits');
  });

  test('of old writers begin at the highest bit, and are zero past the end', () => {
    const out = new Uint8Array(6);
    new PackedReader(Uint8Array.of(0xff, 0b0110_1100), 1, 2).read(out, 0, 6);
    expect([...out]).toEqual([1, 2, 3, 0, 0, 0]);
  });
});

describe('differences', () => {
  // Blocks of 16 in two miniblocks; 17 numbers from 5 on, in steps of a bit and of two bits.
  const PAGE = [16, 2, 17, 10, 0, 1, 2, 0b0000_1111, 0b1110_0100, 0b0000_0001];
  const VALUES = [5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 10, 12, 15, 16, 16, 16, 16];
  const reader = (bytes: readonly number[]) => deltaReader(Uint8Array.from(bytes), 0, refuse);
  const read = (bytes: readonly number[], count: number): number[] => {
    const out = new Int32Array(count);
    reader(bytes).read32(out, count);
    return [...out];
  };

  test('are added up, and end where they say', () => {
    expect(read(PAGE, 17)).toEqual(VALUES);
    const found = reader([...PAGE, 99]);
    expect(found.end()).toBe(PAGE.length);
    const [some, rest] = [new BigInt64Array(9), new BigInt64Array(8)];
    found.read64(some, 9);
    found.read64(rest, 8);
    expect([...some, ...rest].map(Number)).toEqual(VALUES);
    expect(reader([16, 2, 1, 10]).end()).toBe(4);
  });

  test.each([
    ['no miniblocks', [16, 0, 1, 0]],
    ['miniblocks of six', [12, 2, 1, 0]],
    ['miniblocks of no whole number', [17, 2, 1, 0]],
    ['none in a block', [0, 1, 1, 0]],
    ['too many in a block', [0x80, 0x80, 8, 1, 1, 0]],
  ])('are refused with %s', (_, bytes) => {
    expect(() => reader(bytes)).toThrow('a page of differences is damaged');
  });

  test('that are cut anywhere, or too many, are refused', () => {
    expect(() => read(PAGE, 18)).toThrow(CUT);
    for (let end = 0; end < PAGE.length; end += 1) {
      expect(() => read(PAGE.slice(0, end), 17), `${end}`).toThrow(CUT);
      expect(() => reader(PAGE.slice(0, end)).end(), `${end}`).toThrow(/cut short|damaged/);
    }
    const wide = PAGE.with(5, 65);
    expect(() => read(wide, 17)).toThrow('a page of differences is damaged');
    expect(() => reader(wide).end()).toThrow('a page of differences is damaged');
    expect(() => reader(new Array(9).fill(0x80))).toThrow(CUT);
    expect(() => reader([16, 2, 17, ...new Array(11).fill(0x80), 0])).toThrow(CUT);
  });
});

describe('values', () => {
  const [BOOLEAN, INT32, INT64, INT96, DOUBLE, BYTES, FIXED] = [0, 1, 2, 3, 5, 6, 7];
  const into = (physical: number, width: number): Store => {
    const bytes = widthOf(physical, width);
    return bytes === undefined ? new BytesStore(refuse) : new FixedStore(bytes, refuse);
  };
  /** What `count` values of that encoding are; texts of bytes of any length. */
  function read(physical: number, encoding: number, count: number, bytes: number[], width = 2) {
    const store = into(physical, width);
    const page = { physical, width: widthOf(physical, width), encoding, from: 0, values: count };
    const whole = { ...page, bytes: Uint8Array.from(bytes), dictionary: undefined };
    valueReader(whole, refuse).read(store, count);
    if (store instanceof FixedStore) return [...store.take()];
    const { offsets, bytes: content } = store.take();
    return Array.from({ length: count }, (_, at) =>
      Buffer.from(content.subarray(offsets[at], offsets[at + 1])).toString(),
    );
  }
  const [PLAIN, RLE, PACKED, DELTA, LENGTHS, SHARED, CODES, SPLIT] = [0, 3, 4, 5, 6, 7, 8, 9];
  const text = (value: string): number[] => [...Buffer.from(value)];
  /** Numbers as differences, of one block. */
  const deltas = (first: number, ...bits: number[]): number[] =>
    bits.length === 0
      ? [8, 1, 1, first * 2]
      : [8, 1, bits.length + 1, first * 2, 0, 8, ...bits, ...new Array(8 - bits.length).fill(0)];

  test('of each encoding', () => {
    expect(read(FIXED, PLAIN, 2, [1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
    expect(read(BOOLEAN, PLAIN, 3, [0b101])).toEqual([1, 0, 1]);
    expect(read(BYTES, PLAIN, 2, [1, 0, 0, 0, 97, 0, 0, 0, 0])).toEqual(['a', '']);
    expect(read(BOOLEAN, RLE, 3, [2, 0, 0, 0, 6, 1])).toEqual([1, 1, 1]);
    expect(read(INT32, DELTA, 2, deltas(3, 4))).toEqual([3, 0, 0, 0, 7, 0, 0, 0]);
    expect(read(INT64, DELTA, 1, deltas(3))).toEqual([3, 0, 0, 0, 0, 0, 0, 0]);
    expect(read(BYTES, LENGTHS, 2, [...deltas(1, 1), ...text('abc')])).toEqual(['a', 'bc']);
    const shared = [...deltas(0, 1), ...deltas(1, 1), ...text('abc')];
    expect(read(BYTES, SHARED, 2, shared)).toEqual(['a', 'abc']);
    const alike = [...deltas(0, 1), 8, 1, 2, 4, 1, 0, ...text('abc')];
    expect(read(FIXED, SHARED, 2, alike)).toEqual([...text('ab'), ...text('ac')]);
    expect(read(INT32, SPLIT, 2, [1, 2, 3, 4, 5, 6, 7, 8])).toEqual([1, 3, 5, 7, 2, 4, 6, 8]);
    // A page of nulls alone has not even a width.
    const codes = { physical: BYTES, width: undefined, encoding: CODES, from: 0, values: 0 };
    const none = { ...codes, bytes: new Uint8Array(0), dictionary: new BytesStore(refuse) };
    const store = new BytesStore(refuse);
    valueReader(none, refuse).read(store, 0);
    expect(store.length).toBe(0);
    expect(() => valueReader(none, refuse).read(store, 1)).toThrow('a run of numbers is cut short');
  });

  test.each<[number, number]>([
    [INT32, RLE],
    [BYTES, DELTA],
    [DOUBLE, DELTA],
    [INT32, LENGTHS],
    [INT32, SHARED],
    [BOOLEAN, SPLIT],
    [INT96, SPLIT],
    [BYTES, SPLIT],
    [INT32, PACKED],
    [INT32, 77],
  ])('of the type %i have not the encoding %i', (physical, encoding) => {
    const bytes = new Array(32).fill(8);
    expect(() => read(physical, encoding, 1, bytes)).toThrow(
      `a page has the encoding ${encoding}, which is not read for its type`,
    );
  });

  test('that are more than their page has are refused', () => {
    expect(() => read(FIXED, PLAIN, 2, [1, 2, 3])).toThrow(CUT);
    expect(() => read(BOOLEAN, PLAIN, 9, [0])).toThrow(CUT);
    expect(() => read(BYTES, PLAIN, 2, [2, 0, 0, 0, 97, 98, 0, 0])).toThrow(CUT);
    expect(() => read(BOOLEAN, RLE, 1, [2, 0, 0])).toThrow('encoding 3');
    expect(() => read(BOOLEAN, RLE, 1, [3, 0, 0, 0, 6, 1])).toThrow(CUT);
    expect(() => read(INT32, SPLIT, 2, [1, 2, 3, 4, 5, 6, 7])).toThrow(CUT);
    const out = 'a value leads out of its page';
    expect(() => read(BYTES, LENGTHS, 1, [...deltas(5), 97])).toThrow(out);
    expect(() => read(BYTES, LENGTHS, 1, [8, 1, 1, 1, 97])).toThrow(out);
    expect(() => read(BYTES, SHARED, 1, [...deltas(1), ...deltas(1), 97])).toThrow(out);
    expect(() => read(BYTES, SHARED, 1, [8, 1, 1, 1, ...deltas(1), 97])).toThrow(out);
    expect(() => read(BYTES, SHARED, 1, [...deltas(0), ...deltas(2), 97])).toThrow(out);
    expect(() => read(BYTES, SHARED, 1, [...deltas(0), 8, 1, 1, 1, 97])).toThrow(out);
    expect(() => read(FIXED, SHARED, 1, [...deltas(0), ...deltas(1), 97])).toThrow(
      'a value has not the length of its type',
    );
    expect(() => read(BYTES, CODES, 1, [1, 2, 0])).toThrow('a dictionary that is not there');
    expect(() => read(BYTES, 2, 1, [1, 2, 0])).toThrow('a dictionary that is not there');
  });

  test('are kept as they come, short and long, and handed on', () => {
    const store = new BytesStore(refuse);
    store.reserve(3);
    store.reserve(1);
    const long = new Uint8Array(2_000).fill(7);
    store.add(long, 0, 2_000);
    store.add(long, 0, 3);
    const { bytes, offsets } = store.take();
    expect([bytes.length, [...offsets]]).toEqual([2_003, [0, 2_000, 2_003]]);
    expect(bytes.every((byte) => byte === 7)).toBe(true);
    store.reserve(1);
    store.add(Uint8Array.of(9), 0, 1);
    // Neither batch sees the bytes of the other.
    expect([bytes[0], store.take().bytes]).toEqual([7, Uint8Array.of(9)]);
  });

  test('of more than 1 GiB are refused before there is memory for them', () => {
    const before = process.memoryUsage().arrayBuffers;
    const large = 'one column of some rows has more than 1 GiB';
    expect(() => new FixedStore(4, refuse).add(2 ** 28 + 1)).toThrow(large);
    const store = new BytesStore(refuse);
    store.reserve(1);
    store.add(Uint8Array.of(7), 0, 1);
    expect(() => store.room(2 ** 30)).toThrow(large);
    const { bytes } = store;
    store.room(1023);
    expect(store.bytes).toBe(bytes);
    store.room(1024);
    expect([store.bytes.length, store.bytes[0]]).toEqual([2048, 7]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 24);
  });
});

describe('metadata', () => {
  test('nested too deeply, and numbers that are too long, are refused', () => {
    const read = (bytes: number[]) => () => readThrift(Uint8Array.from(bytes), 0, refuse);
    expect(read(new Array(40).fill(0x1c))).toThrow('nested too deeply');
    expect(read([0x19, ...new Array(80).fill(0x19)])).toThrow('nested too deeply');
    expect(read([0x16, ...new Array(12).fill(0x80), 0])).toThrow('a number that is too long');
    expect(read([0x15, ...new Array(12).fill(0x80), 0])).toThrow('a number that is too long');
    expect(read([0x1d, 0])).toThrow('the unknown type 13');
    expect(read([0x16, 0x80])).toThrow('its metadata is cut short');
  });

  test('comes back as it was written', () => {
    const fields: Fields = [
      [1, true],
      [2, false],
      [3, undefined],
      [4, -5],
      [5, -(2n ** 60n)],
      [6, 'text'],
      [7, { byte: -3 }],
      [8, { list: [] }],
      [9, { list: Array.from({ length: 20 }, (_, at) => at) }],
      [10, { struct: [[1, 'inner']] }],
    ];
    const bytes = writeThrift(fields);
    const { struct, end } = readThrift(bytes, 0, refuse);
    expect(end).toBe(bytes.length);
    expect(struct).toMatchObject({ 1: true, 2: false, 4: -5, 5: -(2n ** 60n), 7: -3, 8: [] });
    expect(struct[9]).toEqual(Array.from({ length: 20 }, (_, at) => at));
    expect(Buffer.from(struct[6] as Uint8Array).toString()).toBe('text');
  });
});

describe('compressed pages', () => {
  const snappy = (size: number, ...bytes: number[]) =>
    drained(snappyInSteps(Uint8Array.from(bytes), size, refuse));
  const content = Buffer.from('a page of a hundred bytes and more '.repeat(4));

  test('of Snappy say how long they are, and are as long', () => {
    expect(drained(snappyInSteps(encodeSnappy(content), content.length, refuse))).toEqual(
      new Uint8Array(content),
    );
    expect(() => snappy(1)).toThrow('no Snappy block');
    expect(() => snappy(1, ...new Array(6).fill(0x80), 0)).toThrow('no Snappy block');
    expect(() => snappy(2, 1, 0, 7)).toThrow('a page has 1 bytes, and its header says 2');
    expect(() => snappy(5, 5, 60 << 2)).toThrow('cut short');
    expect(() => snappy(5, 5, 0, 7)).toThrow('a page has 1 bytes, and its header says 5');
    // Bytes beyond those of the block, and beyond those of the page.
    expect(() => snappy(5, 5, 16, 7)).toThrow('leads out of its bounds');
    expect(() => snappy(1, 1, 4, 7, 8)).toThrow('leads out of its bounds');
  });

  test('of Snappy come back as they were, in steps where they are large', () => {
    const noise = Uint8Array.from({ length: 700 }, (_, at) => (at * at * 31) >> 3);
    const parts = [10, 61, 200, 300].map((length) => noise.subarray(0, length));
    const runs = [64, 65, 66, 67, 68, 132].map((length) => new Uint8Array(length).fill(length));
    const copies = runs.flatMap((run) => [noise.subarray(300, 330), run]);
    const all = new Uint8Array(Buffer.concat([...parts, ...copies, new Uint8Array(5 << 20)]));
    for (const one of [...parts, all]) {
      const packed = encodeSnappy(one);
      const steps = snappyInSteps(packed, one.length, refuse);
      let pauses = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) pauses += 1;
      expect(Buffer.compare(step.value, one)).toBe(0);
      expect(pauses).toBe(one === all ? 2 : 0);
    }
  });

  test('of gzip and Brotli are no larger and no smaller than they say', async () => {
    for (const [codec, packed] of [
      [2, gzipSync(content)],
      [4, brotliCompressSync(content)],
    ] as const) {
      const page = (size: number, bytes: Uint8Array = packed) =>
        decompressPage(codec, bytes, size, refuse);
      expect(await page(content.length)).toEqual(content);
      await expect(page(content.length - 1)).rejects.toThrow('larger than its header says');
      await expect(page(content.length + 1)).rejects.toThrow(`has ${content.length} bytes`);
      await expect(page(9, Uint8Array.of(1, 2, 3))).rejects.toThrow('cannot be decompressed');
      await expect(page(9, 5 as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    }
  });

  test('of LZ4 are one block, or blocks with their sizes as Hadoop has them', async () => {
    const block = [0x30, 97, 98, 99];
    const sized = [0, 0, 0, 3, 0, 0, 0, 4, ...block];
    const page = async (size: number, ...bytes: number[]): Promise<string> =>
      Buffer.from(await decompressPage(5, Uint8Array.from(bytes), size, refuse)).toString();
    expect(await page(3, ...block)).toBe('abc');
    expect(await page(6, ...sized, ...sized)).toBe('abcabc');
    await expect(decompressPage(7, Uint8Array.from(block), 4, refuse)).rejects.toThrow(
      'a page is shorter than its header says',
    );
    for (const [size, bytes] of [
      [4, sized],
      [3, [...sized, 0]],
      [3, sized.with(7, 5)],
      [2, sized],
    ] as const) {
      await expect(page(size, ...bytes)).rejects.toThrow();
    }
  });

  test('of codecs that are not read are refused by name', async () => {
    const page = (codec: number) => decompressPage(codec, Uint8Array.of(1), 1, refuse);
    expect(await decompressPage(6, new Uint8Array(0), 0, refuse)).toHaveLength(0);
    await expect(page(3)).rejects.toThrow('compressed with LZO');
    await expect(page(99)).rejects.toThrow('the unknown codec 99');
    await expect(decompressPage(0, Uint8Array.of(1), 2, refuse)).rejects.toThrow('has 1 bytes');
  });
});

describe('pages of a column', () => {
  const chunk = { physical: 1, codec: 0, values: 3, offset: 0, plainBytes: 4 };
  const data: Fields = [
    [1, 3],
    [2, 0],
    [3, 3],
    [4, 3],
  ];
  const head = (type: number, plain: number, stored: number, ...own: Fields[number][]) =>
    writeThrift([[1, type], [2, plain], [3, stored], ...own]);
  const v2 = (repetition: number, definition: number, isCompressed?: boolean): Fields[number] => [
    8,
    {
      struct: [
        [1, 3],
        [2, 0],
        [3, 3],
        [4, 0],
        [5, definition],
        [6, repetition],
        [7, isCompressed],
      ],
    },
  ];
  const pagesOf = (bytes: Uint8Array, codec = 0, size = bytes.length): ChunkPages => {
    const read = (from: number, to: number) => bytes.subarray(from, to);
    const file = { size, piece: 1 << 20, read };
    return new ChunkPages(file, { ...chunk, codec, bytes: size }, 64, refuse);
  };
  const textOf = async (pages: ChunkPages): Promise<string> =>
    Buffer.from((await pages.next()).bytes).toString();

  test('come in their order, without those of an index, until there are no more', async () => {
    const page = [head(0, 4, 4, [5, { struct: data }]), Buffer.from('abcd')];
    const pages = pagesOf(Buffer.concat([head(1, 2, 2), Buffer.from('xx'), ...page, ...page]));
    expect(await textOf(pages)).toBe('abcd');
    expect(await textOf(pages)).toBe('abcd');
    await expect(pages.next()).rejects.toThrow('a column has fewer values than it says');
  });

  test('of version 2 have levels that are not compressed, and values that may be', async () => {
    const values = Buffer.from(encodeSnappy(Buffer.from('values')));
    const stored = Buffer.concat([Buffer.from('rd'), values]);
    for (const isCompressed of [true, undefined]) {
      const packed = Buffer.concat([head(3, 8, stored.length, v2(1, 1, isCompressed)), stored]);
      expect(await textOf(pagesOf(packed, 1))).toBe('rdvalues');
    }
    const plain = Buffer.from('rdvalues');
    const as = (codec: number, ...own: Fields[number][]) =>
      textOf(pagesOf(Buffer.concat([head(3, 8, 8, ...own), plain]), codec));
    expect(await as(1, v2(1, 1, false))).toBe('rdvalues');
    expect(await as(0, v2(1, 1, true))).toBe('rdvalues');
    await expect(as(0, v2(5, 4))).rejects.toThrow(CUT);
    const nulls = Buffer.concat([head(3, 2, 2, v2(1, 1, true)), Buffer.from('rd')]);
    expect(await textOf(pagesOf(nulls, 1))).toBe('rd');
    const none = Buffer.concat([head(3, 3, 2, v2(1, 1, true)), Buffer.from('rd')]);
    await expect(textOf(pagesOf(none, 1))).rejects.toThrow('no Snappy block');
    const short = Buffer.concat([head(3, 3, 8, v2(2, 2)), plain]);
    await expect(textOf(pagesOf(short))).rejects.toThrow(CUT);
  });

  test('that lie outside, are too large or of no known type are refused', async () => {
    const page = Buffer.concat([head(0, 4, 4, [5, { struct: data }]), Buffer.from('abcd')]);
    const read = (from: number, to: number) => page.subarray(from, to);
    const outside = { size: page.length - 1, piece: 1, read };
    expect(() => new ChunkPages(outside, { ...chunk, bytes: page.length }, 64, refuse)).toThrow(
      'a column leads out of the file',
    );
    await expect(pagesOf(page, 0, page.length + 9).next()).rejects.toThrow('become shorter');
    const large = Buffer.alloc(2048);
    large.set(head(0, 4, 2 ** 28 + 1, [5, { struct: data }]));
    await expect(pagesOf(large, 0, 2 ** 40).next()).rejects.toThrow('a page has 268435457 bytes');
    await expect(pagesOf(head(7, 4, 4)).next()).rejects.toThrow('the unknown type 7');
  });
});
