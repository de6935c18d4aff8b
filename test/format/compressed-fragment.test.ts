/** Compressed fragments: the same values by every way of reading, and damage is noticed or harmless. */
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  LargeUtf8,
  List,
  Schema,
  Struct,
  Utf8,
} from '../../src/arrow/apache.ts';
import { bytesOf, dataOf, type RecordBatch, recordBatch } from '../../src/arrow/index.ts';
import {
  type BufferForm,
  decodedBuffers,
  decodedBytes,
  decodeForm,
  encodeForm,
  newRoom,
} from '../../src/format/fragment/buffer-forms.ts';
import { ColumnCompressor } from '../../src/format/fragment/compress-columns.ts';
import { decodeFragment } from '../../src/format/fragment/fragment-decoder.ts';
import {
  encodeFragment,
  type FragmentSummary,
} from '../../src/format/fragment/fragment-encoder.ts';
import {
  chunkAt,
  decodeFooter,
  type FragmentFooter,
} from '../../src/format/fragment/fragment-footer.ts';
import type { ColumnChunk } from '../../src/format/fragment/fragment-layout.ts';
import { readRows } from '../../src/format/fragment/sparse-rows.ts';
import { aligned, openArrowBody } from '../../src/ipc/index.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/index.ts';
import { drained } from '../../src/steps.ts';
import { exactColumn, exactValues } from '../helpers/arrow-samples.ts';
import { bitsOf, casesOf } from '../helpers/long.ts';
import { runReader } from '../helpers/row-reader.ts';
import { seeded } from '../helpers/seeded.ts';

const nullable = (name: string, type: Field['type']): Field => new Field(name, type, true);

const schema = new Schema([
  nullable('id', new Int64()),
  nullable('text', new Utf8()),
  nullable('noise', new Float64()),
  nullable('took', new Float64()),
  nullable('kind', new Dictionary(new Utf8(), new Int32())),
  nullable('words', new List(nullable('item', new Utf8()))),
  nullable('both', new Struct([nullable('a', new Utf8()), nullable('n', new Int32())])),
  nullable('vector', new FixedSizeList(3, nullable('item', new Float32()))),
]);
const columns = schema.fields.map((_, column) => column);
/** The columns of which something is compressed. */
const COMPRESSED = ['id', 'text', 'took', 'kind', 'words', 'both'];
const ROWS = 5_000;

function rows(random: () => number): Record<string, unknown>[] {
  const word = (): string => `word-${Math.floor(random() * 30)}`;
  return Array.from({ length: ROWS }, (_, row) => ({
    id: BigInt(row * 3),
    text: random() < 0.1 ? null : `request ${word()} of ${word()} answered in ${word()}`,
    noise: random() * random(),
    took: random() < 0.1 ? null : Math.floor(random() * 50) / 4,
    kind: random() < 0.1 ? null : word(),
    words: random() < 0.1 ? null : [word(), word()].slice(Math.floor(random() * 3)),
    both: random() < 0.1 ? null : { a: word(), n: Math.floor(random() * 9) },
    vector: [random(), random(), random()],
  }));
}

let batch: RecordBatch;
let bytes: Uint8Array;
let summary: FragmentSummary;
let footer: FragmentFooter;
let expected: unknown[][];

const footerOf = (file: Uint8Array, of: FragmentSummary): FragmentFooter =>
  decodeFooter(file.slice(file.length - of.footerBytes), of, 'f');

beforeAll(async () => {
  for await (const one of await toRecordBatchStream(rows(seeded(5)), { schema, batchRows: ROWS })) {
    batch = one;
  }
  const compressor = new ColumnCompressor('zstd');
  ({ bytes, summary } = encodeFragment(schema, [batch, batch], undefined, compressor));
  footer = footerOf(bytes, summary);
  expected = exactValues([batch, batch]);
});

test('columns that are worth it are compressed, and nothing else', () => {
  expect(summary.isCompressed).toBe(true);
  const compressed = schema.fields.flatMap(({ name }, at) =>
    decodedBytes(chunkAt(footer, 0, at)) > 0 ? [name] : [],
  );
  expect(compressed).toEqual(COMPRESSED);
  const plain = encodeFragment(schema, [batch, batch]);
  expect(bytes.length).toBeLessThan(plain.bytes.length * 0.6);
});

test('the whole fragment, and Arrow as any reader sees it, have the same values', async () => {
  expect(exactValues(decodeFragment(bytes, summary, 'f').batches)).toEqual(expected);
  const read: RecordBatch[] = [];
  for await (const one of await openArrowBody(bytes)) read.push(one);
  expect(exactValues(read)).toEqual(expected);
});

test.each([
  ['none', []],
  ['one', [2_321]],
  [
    'at ends of frames, and several in any order, repeated',
    [4_999, 1_456, 1_457, 0, 17, 17, 16, 4_000],
  ],
])('single rows are the same: %s', (_, wanted) => {
  const from = ({ offset, length }: { offset: number; length: number }): Uint8Array =>
    bytes.slice(offset, offset + length);
  const ids = new Map(
    decodeFragment(bytes, summary, 'f').batches[0]?.data.children.flatMap((data, at) => {
      const type = footer.schema.fields[at]?.type as { id?: number };
      return data.dictionary === undefined ? [] : [[type.id as number, data.dictionary] as const];
    }),
  );
  const read = runReader(readRows(footer, 1, columns, Uint32Array.from(wanted), ids), from);
  expect(read.map(exactColumn)).toEqual(
    expected.map((column) => wanted.map((row) => column[ROWS + row])),
  );
});

test('a single row needs one frame of its column, which is kept where that is wanted', () => {
  const text = schema.fields.findIndex(({ name }) => name === 'text');
  const kept = new Map<string, Uint8Array>();
  const frames = { get: (key: string) => kept.get(key), keep: kept.set.bind(kept) };
  let read = 0;
  const from = ({ offset, length }: { offset: number; length: number }): Uint8Array => {
    read += length;
    return bytes.slice(offset, offset + length);
  };
  const once = (): unknown =>
    runReader(
      readRows(footer, 0, [text], Uint32Array.of(3_001), new Map(), () => frames),
      from,
    ).map(exactColumn);
  expect(once()).toEqual([[expected[text]?.[3_001]]]);
  const first = read;
  const chunk = footer.batches[0]?.columns.at(text);
  expect(first).toBeLessThan((chunk?.bytes ?? 0) * 0.9);
  // One of its values, and one of its offsets.
  expect(kept.size).toBe(2);
  expect(once()).toEqual([[expected[text]?.[3_001]]]);
  expect(read - first).toBeLessThanOrEqual(2 * 8_192);
});

test('what does not compress is written byte by byte as without compression', async () => {
  const noise = new Schema([nullable('x', new Float64()), nullable('n', new Int32())]);
  const random = seeded(3);
  const made: RecordBatch[] = [];
  for (let each = 0; each < 4; each += 1) {
    const numbers = Array.from({ length: 2_000 }, () => ({
      x: random() * random(),
      n: Math.floor(random() * 2 ** 32) - 2 ** 31,
    }));
    for await (const one of await toRecordBatchStream(numbers, { schema: noise })) made.push(one);
  }
  const compressed = encodeFragment(noise, made, undefined, new ColumnCompressor('zstd'));
  expect(compressed.summary.isCompressed).toBe(false);
  expect(Buffer.compare(compressed.bytes, encodeFragment(noise, made).bytes)).toBe(0);
});

const textsOf = async (texts: readonly string[]): Promise<RecordBatch> => {
  const only = new Schema([nullable('text', new Utf8())]);
  const rowsOf = texts.map((text) => ({ text }));
  const read: RecordBatch[] = [];
  const stream = await toRecordBatchStream(rowsOf, { schema: only, batchRows: texts.length });
  for await (const one of stream) read.push(one);
  return read[0] as RecordBatch;
};

describe('offsets of texts', () => {
  /** Three frames of offsets. */
  const texts = Array.from({ length: 20_000 }, (_, row) => 'abcdefg'.slice(0, (row * row) % 7));
  const exact = texts.map((text) => Buffer.from(text).toString('hex'));
  const wanted = [8_190, 8_191, 8_192, 0, 16_383, 16_384, 19_999, 1, 0];

  test('are compressed to little more than a byte each, and read as 32-bit ones', async () => {
    const made = await textsOf(texts);
    const file = encodeFragment(made.schema, [made], undefined, new ColumnCompressor('zstd'));
    const found = footerOf(file.bytes, file.summary);
    const chunk = chunkAt(found, 0, 0);
    expect(chunk.forms?.[1]).toMatchObject({ bytes: 160_008, isOffsets: true });
    expect(chunk.buffers[1]).toBeLessThan(20_000 * 1.5);
    expect(found.schema.fields[0]?.type).toEqual(new Utf8());
    const [whole] = decodeFragment(file.bytes, file.summary, 'f').batches;
    expect(whole?.data.children[0]?.valueOffsets).toBeInstanceOf(Int32Array);
    expect(exactValues(whole === undefined ? [] : [whole])).toEqual([exact]);
    const from = ({ offset, length }: { offset: number; length: number }): Uint8Array =>
      file.bytes.slice(offset, offset + length);
    const read = runReader(readRows(found, 0, [0], Uint32Array.from(wanted)), from);
    expect(read.map(exactColumn)).toEqual([wanted.map((row) => exact[row])]);
    expect(read[0]?.valueOffsets).toBeInstanceOf(Int32Array);
  });

  test('are decoded into memory that held something else', async () => {
    const made = await textsOf(texts);
    const file = encodeFragment(made.schema, [made], undefined, new ColumnCompressor('zstd'));
    const chunk = chunkAt(footerOf(file.bytes, file.summary), 0, 0);
    const column = file.bytes.slice(chunk.offset, chunk.offset + chunk.bytes);
    const used = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(0xa5);
    const parts = { ...chunk, forms: chunk.forms as readonly BufferForm[] };
    const fail = (what: string): Error => new Error(what);
    const [, offsets] = drained(decodedBuffers(parts, column, used, fail)) as Uint8Array[];
    const given = made.data.children[0]?.valueOffsets as Int32Array;
    expect(Buffer.from(offsets ?? [])).toEqual(Buffer.from(bytesOf(given)));
  });

  test('are refused of a column that has none', async () => {
    const { bytes: file, summary: of } = encodeFragment(
      schema,
      [batch],
      undefined,
      new ColumnCompressor('zstd'),
    );
    const tail = file.slice(file.length - of.footerBytes);
    const text = Buffer.from(tail.buffer).toString('latin1');
    // The list of such columns ends the layout: the column 1 is text, 0 is not.
    const at = text.lastIndexOf(',[1]]') + 2;
    expect(text.slice(at - 2, at + 3)).toBe(',[1]]');
    tail[at] = '0'.charCodeAt(0);
    expect(() => decodeFooter(tail, { ...of, footerChecksum: crc32(tail) }, 'f')).toThrow(
      expect.objectContaining({ code: 'Corrupt' }),
    );
  });

  test('are those of large texts in files for every reader of Arrow', async () => {
    const made = await textsOf(texts);
    const { bytes: file } = encodeFragment(
      made.schema,
      [made],
      undefined,
      new ColumnCompressor('zstd'),
    );
    const read: RecordBatch[] = [];
    for await (const one of await openArrowBody(file)) read.push(one);
    expect(read[0]?.schema.fields[0]?.type).toEqual(new LargeUtf8());
    expect(exactValues(read)).toEqual([exact]);
  });

  test('are wide in few rows too, which are stored as they are', async () => {
    const few = await textsOf(['a', 'bcd', '', 'e']);
    const file = encodeFragment(few.schema, [few], undefined, new ColumnCompressor('zstd'));
    const chunk = chunkAt(footerOf(file.bytes, file.summary), 0, 0);
    expect([chunk.isWide, chunk.forms, chunk.buffers[1]]).toEqual([true, undefined, 40]);
    expect(exactValues(decodeFragment(file.bytes, file.summary, 'f').batches)).toEqual([
      ['61', '626364', '', '65'],
    ]);
    // So that releases without compression refuse it.
    expect(file.summary.isCompressed).toBe(true);
  });

  test('of large texts are compressed and stay as wide as they are', async () => {
    const made = await textsOf(texts);
    const large = new Schema([nullable('text', new LargeUtf8())]);
    const [column] = made.data.children;
    const offsets = BigInt64Array.from(column?.valueOffsets as Int32Array, BigInt);
    const data = dataOf(new LargeUtf8(), texts.length, { offsets, values: column?.values });
    const given = recordBatch(large, [data], texts.length);
    const file = encodeFragment(large, [given], undefined, new ColumnCompressor('zstd'));
    const found = footerOf(file.bytes, file.summary);
    expect(chunkAt(found, 0, 0)).toMatchObject({ isWide: false });
    expect(chunkAt(found, 0, 0).forms?.[1]).toMatchObject({ isOffsets: true });
    expect(exactValues(decodeFragment(file.bytes, file.summary, 'f').batches)).toEqual([exact]);
    const from = ({ offset, length }: { offset: number; length: number }): Uint8Array =>
      file.bytes.slice(offset, offset + length);
    const read = runReader(readRows(found, 0, [0], Uint32Array.from(wanted)), from);
    expect(read.map(exactColumn)).toEqual([wanted.map((row) => exact[row])]);
  });
});

test('auto compresses long texts that get small, and neither short ones nor numbers', async () => {
  const made = encodeFragment(schema, [batch], undefined, new ColumnCompressor('auto'));
  const found = footerOf(made.bytes, made.summary);
  const names = schema.fields.flatMap(({ name }, at) =>
    decodedBytes(chunkAt(found, 0, at)) > 0 ? [name] : [],
  );
  expect(names).toContain('text');
  for (const name of ['id', 'took', 'kind', 'noise', 'vector']) expect(names).not.toContain(name);
  const short = await textsOf(Array.from({ length: 4_000 }, (_, row) => `k0${row % 7}`));
  const auto = encodeFragment(short.schema, [short], undefined, new ColumnCompressor('auto'));
  expect(auto.summary.isCompressed).toBe(false);
  const zstd = encodeFragment(short.schema, [short], undefined, new ColumnCompressor('zstd'));
  expect(zstd.summary.isCompressed).toBe(true);
});

test('a column that was not worth it is left alone in the next batch', async () => {
  const random = seeded(6);
  const letter = (): string => String.fromCharCode(0x4e00 + Math.floor(random() * 20_000));
  const noise = await textsOf(Array.from({ length: 2_000 }, () => letter() + letter() + letter()));
  const words = await textsOf(
    Array.from({ length: 2_000 }, (_, row) => `the same words ${row % 9}`),
  );
  const compressor = new ColumnCompressor('auto');
  const made = encodeFragment(words.schema, [noise, words, words, words], undefined, compressor);
  const { batches } = footerOf(made.bytes, made.summary);
  const isCompressed = batches.map(({ columns: chunks }) => chunks.at(0)?.forms !== undefined);
  expect(isCompressed).toEqual([false, false, true, true]);
});

test('a damaged byte is noticed, or reads the same', () => {
  let noticed = 0;
  for (const bit of bitsOf(bytes.length, casesOf(150_001, 997))) {
    const copy = Uint8Array.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
    try {
      decodeFragment(copy, summary, 'f');
    } catch (error) {
      expect(error).toMatchObject({ code: 'Corrupt' });
      noticed += 1;
    }
  }
  expect(noticed).toBeGreaterThan(15);
});

describe('a buffer whose checksum somebody made anew', () => {
  const fail = (what: string): Error => new SyntaxError(what);
  const text = 1;

  test('is refused, or gives bytes of the size that the layout says', () => {
    const chunk = footer.batches[0]?.columns.at(text);
    const forms = chunk?.forms as readonly BufferForm[];
    const buffers = chunk?.buffers as readonly number[];
    const column = bytes.slice(chunk?.offset, (chunk?.offset ?? 0) + (chunk?.bytes ?? 0));
    const isWide = chunk?.isWide === true;
    expect(isWide).toBe(true);
    const size = decodedBytes({ buffers, forms, isWide });
    const random = seeded(8);
    let refused = 0;
    for (let each = 0; each < casesOf(100, 5_000); each += 1) {
      const copy = Uint8Array.from(column);
      const at = Math.floor(random() * copy.length);
      copy[at] = (copy[at] as number) ^ (1 << Math.floor(random() * 8));
      let asked = 0;
      const room = (wanted: number): Uint8Array => {
        asked += wanted;
        return newRoom(wanted);
      };
      try {
        const decoded = drained(decodedBuffers({ buffers, forms, isWide }, copy, room, fail));
        expect(decoded).toHaveLength(buffers.length);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
        refused += 1;
      }
      expect(asked).toBeLessThanOrEqual(size);
    }
    expect(refused).toBeGreaterThan(20);
  });

  test('is refused where its prefix does not fit the layout', () => {
    const chunk = footer.batches[0]?.columns.at(text);
    const forms = chunk?.forms as readonly BufferForm[];
    const buffers = chunk?.buffers as readonly number[];
    const column = bytes.slice(chunk?.offset, (chunk?.offset ?? 0) + (chunk?.bytes ?? 0));
    column[0] = (column[0] as number) ^ 1;
    const stored = { buffers, forms, isWide: true };
    expect(() => drained(decodedBuffers(stored, column, newRoom, fail))).toThrow(/another size/);
  });

  test('is refused where its offsets do not begin as they should, or have more than 32 bits', () => {
    const offsets = BigInt64Array.of(0n, 3n, 2n ** 31n);
    const plain = new Uint8Array(128);
    plain.fill(255, 0, 8);
    plain.set(new Uint8Array(offsets.buffer), 8);
    const stored = {
      buffers: [0, 32, 0],
      forms: ['empty', 'plain', 'empty'],
      isWide: true,
    } as const;
    expect(() => drained(decodedBuffers(stored, plain, newRoom, fail))).toThrow(/32 bits/);
    offsets[2] = 2n ** 32n + 5n;
    plain.set(new Uint8Array(offsets.buffer), 8);
    expect(() => drained(decodedBuffers(stored, plain, newRoom, fail))).toThrow(/32 bits/);
    const chunk = footer.batches[0]?.columns.at(text);
    const from = (chunk?.offset ?? 0) + aligned(chunk?.buffers[0] ?? 0);
    for (const at of [8, 17, 18, 26]) {
      const column = bytes.slice(chunk?.offset, (chunk?.offset ?? 0) + (chunk?.bytes ?? 0));
      column[from - (chunk?.offset ?? 0) + at]! ^= 1;
      const parts = { ...(chunk as ColumnChunk), forms: chunk?.forms as readonly BufferForm[] };
      expect(() => drained(decodedBuffers(parts, column, newRoom, fail)), `${at}`).toThrow(/begin/);
    }
  });
});

test('forms of a layout are read back, and refused where they cannot be', () => {
  for (const [form, stored] of [
    ['empty', 0],
    ['plain', 8],
    ['plain', 100],
    [{ bytes: 65_537, frames: [20, 12], isOffsets: false }, 40],
    [{ bytes: 65_544, frames: [20], isOffsets: true }, 54],
  ] as const) {
    expect(decodeForm(encodeForm(form), stored)).toEqual(form);
  }
  for (const [value, stored] of [
    [0, 8],
    [-1, 7],
    [-2, 16],
    [1, 16],
    ['plain', 16],
    [null, 16],
    [[], 8],
    [[0], 8],
    [[0, 8], 16],
    [[100], 8],
    [[-8], 34],
    [[-16, 20], 28],
    [[-20, 20], 54],
    [[-65_552, 20], 54],
    [[100, 12], 21],
    [[100, 12, 8], 28],
    [[65_537, 32], 40],
    [[65_537, 32, 0], 40],
    [[131_072, 24, 8], 40],
    [[2 ** 53, 32], 40],
    [[1.5, 32], 40],
    [[100, -8], 0],
    [[100, 70_000], 70_008],
  ] as const) {
    expect(decodeForm(value, stored), JSON.stringify(value)).toBeUndefined();
  }
});
