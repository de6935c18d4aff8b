/** Parquet files that are damaged or made to do harm: they are refused, and take no memory that they declare. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isDirspaceError } from '../../../src/errors.ts';
import { valueReader } from '../../../src/interchange/parquet/encodings.ts';
import { parquetMetadata } from '../../../src/interchange/parquet/metadata.ts';
import { decompressPage } from '../../../src/interchange/parquet/page-codecs.ts';
import { ChunkPages } from '../../../src/interchange/parquet/page-source.ts';
import { snappyInSteps } from '../../../src/interchange/parquet/snappy.ts';
import { BytesStore } from '../../../src/interchange/parquet/stores.ts';
import { type Fields, writeThrift } from '../../../src/interchange/parquet/thrift-writer.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { fromParquet } from '../../../src/sdk/files/index.ts';
import { drained } from '../../../src/steps.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(join(import.meta.dirname, 'files', `${name}.parquet`)));

async function outcome(bytes: Uint8Array): Promise<string> {
  try {
    let rows = 0;
    for await (const batch of await fromParquet(bytes)) rows += batch.numRows;
    return `${rows} rows`;
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput')) return error.message;
    throw error;
  }
}

/** A copy with these bytes at a place from the end. */
function patched(bytes: Uint8Array, fromEnd: number, ...patch: number[]): Uint8Array {
  const copy = bytes.slice();
  copy.set(patch, copy.length - fromEnd);
  return copy;
}

test('what is no whole file is refused', async () => {
  const bytes = fixture('duckdb');
  const refusal = (what: string): string => `The data cannot be read as Parquet: ${what}.`;
  expect(await outcome(new Uint8Array(0))).toContain('is empty');
  expect(await outcome(bytes.subarray(0, 8))).toBe(refusal('it is too short'));
  expect(await outcome(bytes.subarray(0, -1))).toContain('it may be cut off');
  expect(await outcome(patched(bytes, 4, 0x50, 0x41, 0x52, 0x45))).toContain('it is encrypted');
  expect(await outcome(patched(bytes, 8, 0xff, 0xff, 0xff, 0x7f))).toContain('more than the file');
  const long = new Uint8Array((1 << 26) + 100);
  long.set(bytes.subarray(-8), long.length - 8);
  expect(await outcome(patched(long, 8, 0x10, 0, 0, 4))).toContain('at most 67108864 are read');
});

const NAMES = [
  'default',
  'page2small',
  'delta',
  'split',
  'brotli',
  'gzip',
  'lz4',
  'legacylist',
  'noarrow',
  'duckdb',
  'duckdb-v2',
];
const CASES = casesOf(20, 4000);
/** More than any column of these files has. */
const MOST_BYTES = 64 << 20;

test.each(NAMES)(
  '%s with bytes changed is read or refused, in bounded memory',
  async (name) => {
    const bytes = fixture(name);
    const random = seeded(name.length * 7919 + CASES);
    const below = (most: number): number => Math.floor(random() * most);
    let refused = 0;
    for (let each = 0; each < CASES; each++) {
      const copy = bytes.slice();
      const changes = 1 + below(3);
      for (let change = 0; change < changes; change++) {
        const place = below(copy.length);
        if (below(3) > 0) copy[place] = below(256);
        else copy.set([0xff, 0xff, 0xff, 0x7f].slice(0, copy.length - place), place);
      }
      const before = process.memoryUsage().arrayBuffers;
      const found = await outcome(each % 10 === 9 ? copy.subarray(0, below(copy.length)) : copy);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MOST_BYTES);
      if (!/^\d+ rows$/.test(found)) refused++;
    }
    expect(refused).toBeGreaterThan(CASES / 8);
  },
  600_000,
);

test('every byte of a footer', async () => {
  const bytes = fixture('noarrow');
  const length = new DataView(bytes.buffer).getUint32(bytes.length - 8, true);
  const step = casesOf(797, 1);
  for (let place = bytes.length - 8 - length; place < bytes.length; place += step) {
    for (const mask of [1, 0x80, 0xff]) {
      const copy = bytes.slice();
      copy[place] = (copy[place] as number) ^ mask;
      const before = process.memoryUsage().arrayBuffers;
      await outcome(copy);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MOST_BYTES);
    }
  }
});

/** A file of a table of these rows, without compression, with the bytes `from` changed to `to`. */
async function changed(rows: object[], from: number[], to: number[]): Promise<Uint8Array> {
  const table = await (await connect('memory://')).createTable('t', rows as never);
  const options = { parquet: { compression: 'none' } } as const;
  const parts: Uint8Array[] = [];
  for await (const part of table.query().toBytes('parquet', options)) parts.push(part);
  const bytes = Buffer.concat(parts);
  const at = bytes.lastIndexOf(Buffer.from(from));
  expect(at).toBeGreaterThan(0);
  bytes.set(to, at);
  return new Uint8Array(bytes);
}

test('a number of rows that a writer left at 0 is that of the row groups', async () => {
  // The end of the schema, then a field of 64 bits: 7 rows, zigzag.
  const rows = Array.from({ length: 7 }, (_, a) => ({ a }));
  expect(await outcome(await changed(rows, [0x16, 14, 0x19], [0x16, 0, 0x19]))).toBe('7 rows');
  const wrong = await outcome(await changed(rows, [0x16, 14, 0x19], [0x16, 2, 0x19]));
  expect(wrong).toContain('its row groups have 7 rows, and it says 1');
});

test('a list that begins in the middle of a row is refused', async () => {
  // Levels of two bytes: a group of eight, of which 0, 1, 0 are there, and then 1, 0, 0.
  const rows = [{ l: [1, 2] }, { l: [3] }];
  const levels = [2, 0, 0, 0, 3];
  const bytes = await changed(rows, [...levels, 0b010], [...levels, 0b001]);
  expect(await outcome(bytes)).toContain('a column begins in the middle of a row');
});

test('a page that does not match its checksum is refused', async () => {
  const bytes = fixture('crc');
  let found = 0;
  const step = casesOf(29, 1);
  for (let place = 40; place < 600; place += step) {
    const copy = bytes.slice();
    copy[place] = (copy[place] as number) ^ 1;
    if ((await outcome(copy)).includes('a page does not match its checksum')) found++;
  }
  expect(found).toBeGreaterThan(100 / step);
});

test('headers of pages may be long, and are refused where they lead out of their column', async () => {
  const refuse = (what: string): never => {
    throw new Error(what);
  };
  const data: Fields = [
    ...([
      [1, 3],
      [2, 0],
      [3, 3],
      [4, 3],
    ] as const),
    [5, { struct: [[1, 'x'.repeat(20_000)]] }],
  ];
  const header = writeThrift([
    [1, 0],
    [2, 4],
    [3, 4],
    [5, { struct: data }],
  ]);
  const bytes = Buffer.concat([header, Buffer.from('abcd')]);
  const file = {
    ...{ size: bytes.length, piece: 1 << 20 },
    read: (from: number, to: number) => bytes.subarray(from, to),
  };
  const chunk = { physical: 1, codec: 0, values: 3, offset: 0, plainBytes: 4 };
  const pages = (size: number) => new ChunkPages(file, { ...chunk, bytes: size }, 64, refuse);
  const page = await pages(bytes.length).next();
  expect([page.header.values, Buffer.from(page.bytes).toString()]).toEqual([3, 'abcd']);
  await expect(pages(header.length - 1).next()).rejects.toThrow('its metadata is cut short');
  await expect(pages(bytes.length - 1).next()).rejects.toThrow('a page leads out of its column');
});

test('a code without a word, and runs and lengths that lead out of a page, are refused', () => {
  const refuse = (what: string): never => {
    throw new Error(what);
  };
  const dictionary = new BytesStore(refuse);
  dictionary.reserve(2);
  dictionary.add(Uint8Array.of(1), 0, 1);
  dictionary.add(Uint8Array.of(2), 0, 1);
  const read = (encoding: number, count: number, ...bytes: number[]): Uint8Array => {
    const page = {
      physical: 6,
      width: undefined,
      encoding,
      bytes: Uint8Array.from(bytes),
      from: 0,
    };
    const store = new BytesStore(refuse);
    valueReader({ ...page, values: count, dictionary }, refuse).read(store, count);
    return store.take().bytes;
  };
  // Three bits of width; a run of four times the code.
  expect([...read(8, 4, 3, 8, 1)]).toEqual([2, 2, 2, 2]);
  expect(() => read(8, 4, 3, 8, 2)).toThrow('a code has no word in its dictionary');
  expect(() => read(8, 4, 32, 8, 0xff, 0xff, 0xff, 0xff)).toThrow('a code has no word');
  expect(() => read(8, 5, 3, 8, 1)).toThrow('a run of numbers is cut short');
  expect(() => read(8, 1, 33, 8, 1)).toThrow('more than 32 bits');
  expect([...read(0, 1, 1, 0, 0, 0, 9)]).toEqual([9]);
  expect(() => read(0, 1, 2, 0, 0, 0, 9)).toThrow('a value leads out of its page');
  expect(() => read(0, 1, 0xff, 0xff, 0xff, 0xff, 9)).toThrow('a value leads out of its page');
  expect(() => read(0, 1_000_000, 1, 0, 0, 0, 9)).toThrow('a page is cut short');
  expect(() => read(7, 1, 0)).toThrow(/cut short|out of its page/);
});

test('pages that declare what they cannot hold take no memory', async () => {
  const refuse = (what: string): never => {
    throw new Error(what);
  };
  const few = Uint8Array.of(0x80, 0x80, 0x80, 0x80, 4, 1, 2, 3);
  const before = process.memoryUsage().arrayBuffers;
  for (const codec of [1, 2, 4, 5, 6, 7]) {
    await expect(decompressPage(codec, few, 1 << 28, refuse)).rejects.toThrow(/a page/);
    await expect(decompressPage(codec, few, 2 ** 40, refuse)).rejects.toThrow(/at most 268435456/);
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MOST_BYTES);
});

test('what metadata and a Snappy block say of themselves is compared', () => {
  const refuse = (what: string): never => {
    throw new Error(what);
  };
  const leaf = {
    struct: [
      [1, 1],
      [3, 0],
      [4, 'n'],
    ],
  } as const;
  const schema = {
    list: [
      {
        struct: [
          [4, 'schema'],
          [5, 1],
        ],
      },
      leaf,
    ],
  } as const;
  const footer = (rows: bigint): Uint8Array =>
    writeThrift([
      [1, 2],
      [2, schema],
      [3, rows],
      [4, { list: [] }],
    ]);
  expect(parquetMetadata(footer(0n), refuse).leaves).toHaveLength(1);
  expect(() => parquetMetadata(footer(5n), refuse)).toThrow(
    'its row groups have 0 rows, and it says 5',
  );
  // A size of 2^27, and a literal of one byte.
  const block = Uint8Array.of(0x80, 0x80, 0x80, 0x40, 0, 7);
  const before = process.memoryUsage().arrayBuffers;
  expect(() => drained(snappyInSteps(block, 1 << 27, refuse))).toThrow('larger than it can be');
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MOST_BYTES);
});
