/** Reading single rows: the same values as the whole column has, few bytes, every page verified. */
import { beforeAll, expect, test } from 'vitest';
import { Field, FixedSizeList, Float32, Int64, Schema, Utf8 } from '../../src/arrow/apache.ts';
import { ColumnCompressor } from '../../src/format/fragment/compress-columns.ts';
import {
  type ByteRange,
  decodeDictionaries,
  decodeFragment,
  dictionaryIds,
  dictionaryRanges,
} from '../../src/format/fragment/fragment-decoder.ts';
import { encodeFragment } from '../../src/format/fragment/fragment-encoder.ts';
import { decodeFooter, type FragmentFooter } from '../../src/format/fragment/fragment-footer.ts';
import { readRows } from '../../src/format/fragment/sparse-rows.ts';
import { everyType, exactColumn, exactValues, randomBatch } from '../helpers/arrow-samples.ts';
import { runReader } from '../helpers/row-reader.ts';
import { seeded } from '../helpers/seeded.ts';

const schema = everyType();
const all = schema.fields.map((_, column) => column);
let bytes: Uint8Array;
let footer: FragmentFooter;
let expected: unknown[][];
let dictionaries: ReturnType<typeof decodeDictionaries>;

const from =
  (file: Uint8Array) =>
  ({ offset, length }: ByteRange): Uint8Array =>
    file.slice(offset, offset + length);

beforeAll(() => {
  const made = encodeFragment(schema, [randomBatch(schema, 6000, seeded(21))]);
  bytes = made.bytes;
  const tail = bytes.slice(bytes.length - made.summary.footerBytes);
  footer = decodeFooter(tail, made.summary, 'f');
  expected = exactValues(decodeFragment(bytes, made.summary, 'f').batches);
  const ids = dictionaryIds(footer, all);
  dictionaries = decodeDictionaries(footer, ids, dictionaryRanges(footer, ids).map(from(bytes)));
});

test.each([
  ['none', []],
  ['one', [4321]],
  ['several in any order, repeated', [5999, 0, 17, 17, 3000, 16, 2999]],
])('rows: %s', (_, rows) => {
  const columns = runReader(
    readRows(footer, 0, all, Uint32Array.from(rows), dictionaries),
    from(bytes),
  );
  expect(columns.map(exactColumn)).toEqual(
    expected.map((column) => rows.map((row) => column[row])),
  );
});

test('single rows need few bytes and at most two rounds', () => {
  const names = ['int64', 'utf8', 'timestamp_ns', 'bool', 'fixed_size_binary', 'dictionary'];
  const columns = names.map((name) => schema.fields.findIndex((field) => field.name === name));
  const reader = readRows(footer, 0, columns, Uint32Array.of(100), dictionaries);
  let rounds = 0;
  let read = 0;
  let step = reader.next();
  while (!step.done) {
    rounds += 1;
    for (const { length } of step.value) read += length;
    step = reader.next(step.value.map(from(bytes)));
  }
  expect(rounds).toBe(2);
  expect(read).toBeLessThan(16 * 8192);
});

test('vectors are read by the row', () => {
  const type = new FixedSizeList(64, new Field('item', new Float32(), true));
  const own = new Schema([new Field('id', new Int64(), true), new Field('vector', type, true)]);
  const made = encodeFragment(own, [randomBatch(own, 3000, seeded(1), 0)]);
  const tail = made.bytes.slice(made.bytes.length - made.summary.footerBytes);
  const decoded = decodeFooter(tail, made.summary, 'f');
  const values = exactValues(decodeFragment(made.bytes, made.summary, 'f').batches);
  let read = 0;
  const rows = Uint32Array.of(2999, 31, 32);
  const columns = runReader(readRows(decoded, 0, [1], rows), (range) => {
    read += range.length;
    return from(made.bytes)(range);
  });
  expect(exactColumn(columns[0] as never)).toEqual([...rows].map((row) => values[1]?.[row]));
  expect(read).toBeLessThanOrEqual(4 * 8192);
});

test('a damaged page is noticed by whoever reads it, and only then', () => {
  const own = new Schema([new Field('text', new Utf8(), true)]);
  const made = encodeFragment(own, [randomBatch(own, 8000, seeded(2), 0)]);
  const tail = made.bytes.slice(made.bytes.length - made.summary.footerBytes);
  const decoded = decodeFooter(tail, made.summary, 'f');
  const chunk = decoded.batches[0]?.columns.at(0);
  const damaged = made.bytes.slice();
  const at = (chunk?.offset ?? 0) + (chunk?.bytes ?? 0) - 100;
  damaged[at] = (damaged[at] as number) ^ 1;
  const take = (row: number) =>
    runReader(readRows(decoded, 0, [0], Uint32Array.of(row)), from(damaged));
  expect(() => take(0)).not.toThrow();
  expect(() => take(7999)).toThrow(expect.objectContaining({ code: 'Corrupt' }));
});

test('short answers and rows that are not there are refused', () => {
  const rows = Uint32Array.of(6000);
  expect(() => runReader(readRows(footer, 0, [1], rows), from(bytes))).toThrow(
    expect.objectContaining({ code: 'InvalidInput' }),
  );
  const short = ({ offset, length }: ByteRange): Uint8Array =>
    bytes.slice(offset, offset + length - 1);
  expect(() => runReader(readRows(footer, 0, [5], Uint32Array.of(0)), short)).toThrow(
    expect.objectContaining({ code: 'Corrupt' }),
  );
});

test.each([
  ['plain', undefined],
  ['compressed', new ColumnCompressor('zstd')],
])('%s buffers with fewer bytes than their rows need are refused', (_, compressor) => {
  const own = new Schema([
    new Field('number', new Int64(), false),
    new Field('text', new Utf8(), true),
  ]);
  const made = encodeFragment(own, [randomBatch(own, 20_000, seeded(3))], undefined, compressor);
  const tail = made.bytes.slice(made.bytes.length - made.summary.footerBytes);
  const decoded = decodeFooter(tail, made.summary, 'f');
  const [batch] = decoded.batches;
  const rows = 1_000_000;
  for (const [column, nulls] of [
    [0, 0],
    [1, 0],
    [1, 1],
  ] as const) {
    const chunk = batch?.columns.at(column);
    // As a writer with another idea of the layout would say it: nothing else checks these numbers.
    const forged = { ...chunk, nodes: [rows, nulls] };
    const columns = { length: 2, at: () => forged };
    const footer = { ...decoded, batches: [{ ...batch, rows, columns }] };
    const reader = readRows(
      footer as unknown as FragmentFooter,
      0,
      [column],
      Uint32Array.of(500_000),
    );
    expect(() => runReader(reader, from(made.bytes)), `${column} ${nulls}`).toThrow(
      /damaged: column (number|text) of batch 0: a buffer is missing or too short/,
    );
  }
});
