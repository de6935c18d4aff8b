/** Every type that Lance 2.0 holds, written by the Lance part and read back by the reader of Lance's data files. */
import { describe, expect, test } from 'vitest';
import {
  RecordBatch as ArrowBatch,
  type DataType,
  Dictionary,
  Field,
  FixedSizeList,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeList,
  List,
  makeData,
  type RecordBatch,
  Schema,
  Struct,
  Uint8,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { encodeFragment, type WrittenPart } from '../../../src/format/fragment/index.ts';
import {
  FragmentColumns,
  LanceDataFile,
  type LanceField,
  LancePartWriter,
  lanceManifest,
  lanceSchema,
  placesOfFile,
  readLanceManifest,
} from '../../../src/format/lance/index.ts';
import { message } from '../../../src/format/lance/protobuf.ts';
import { withFieldIds } from '../../../src/ipc/index.ts';
import { exactValues, leafTypes, randomBatch, seeded } from '../../helpers/arrow-samples.ts';
import { entry } from '../../helpers/engines.ts';

const nullable = (name: string, type: DataType): Field => new Field(name, type, true);
const required = (name: string, type: DataType): Field => new Field(name, type, false);

const types: Record<string, () => DataType> = {
  ...Object.fromEntries(
    Object.entries(leafTypes).filter(([name]) => !/view|interval|_int8/.test(name)),
  ),
  'dictionary of 8 bits': () => new Dictionary(new Utf8(), new Int8()),
  'dictionary of 8 bits unsigned': () => new Dictionary(new Utf8(), new Uint8()),
  'dictionary of 16 bits': () => new Dictionary(new Utf8(), new Int16()),
  list: () => new List(nullable('item', new Utf8())),
  'large list': () => new LargeList(nullable('item', new Int64())),
  'list of lists': () => new List(nullable('item', new List(nullable('item', new Int16())))),
  vector: () => new FixedSizeList(3, nullable('item', new Int32())),
};

async function readBack(
  schema: Schema,
  batches: readonly RecordBatch[],
): Promise<{ values: unknown[][]; rows: number }> {
  let next = 0;
  const count = (field: Field): number =>
    1 + ((field.type.children ?? []) as Field[]).reduce((sum, child) => sum + count(child), 0);
  const ids = schema.fields.flatMap((field) => Array.from({ length: count(field) }, () => next++));
  const marked = withFieldIds(schema, ids);
  let part: LancePartWriter | undefined;
  const { bytes } = encodeFragment(marked, batches as never, (fields) => {
    part = new LancePartWriter(fields);
    return part;
  });
  const { fileSize } = (part as unknown as LancePartWriter).entry as { fileSize: number };
  const whole = bytes.subarray(0, fileSize);
  const source = {
    size: whole.length,
    read: (from: number, to: number) => whole.subarray(from, to),
  };
  const file = await LanceDataFile.open(source, 'f');
  const found = lanceSchema(file.fields, file.metadata, 'f');
  const columns = new FragmentColumns(found, placesOfFile(found, file), file.rows, 'f');
  const read = [];
  const size = Math.max(1, await columns.batchRows());
  for (let from = 0; from < file.rows; from += size) {
    read.push(await columns.batch(from, Math.min(size, file.rows - from)));
  }
  return { values: exactValues(read), rows: file.rows };
}

const text = (values: unknown): string =>
  JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? `${value}` : value));

describe.each([0, 0.4, 1])('with %d of the values null', (nulls) => {
  test.each(Object.keys(types))('%s', async (name) => {
    const type = (types[name] as () => DataType)();
    const schema = new Schema([required('n', new Int32()), nullable('c', type)]);
    const random = seeded(name.length + nulls * 10);
    const batches = [30, 7].map((rows) => randomBatch(schema, rows, random, nulls));
    const { values, rows } = await readBack(schema, batches as never);
    expect(rows).toBe(37);
    expect(text(values)).toBe(text(exactValues(batches)));
  });

  test('structs that are not null', async () => {
    const inner = required('s', new Struct([nullable('x', new Utf8()), nullable('y', new Int8())]));
    const schema = new Schema([required('c', new Struct([inner, nullable('d', new Int64())]))]);
    const batches = [9, 4].map((rows) => randomBatch(schema, rows, seeded(rows), nulls));
    const { values } = await readBack(schema, batches as never);
    expect(text(values)).toBe(text(exactValues(batches)));
  });
});

test('a full dictionary that holds a null, which null rows point at', async () => {
  const type = new Dictionary(new Utf8(), new Int8());
  const schema = new Schema([nullable('c', type)]);
  const words = Array.from({ length: 128 }, (_, at) => (at === 5 ? null : `word ${at}`));
  const indices = makeData({
    type,
    length: 4,
    nullCount: 1,
    nullBitmap: Uint8Array.of(0b1011),
    data: Int8Array.of(127, 5, 0, 1),
    dictionary: vectorFromArray(words, new Utf8()),
  });
  const root = makeData({ type: new Struct(schema.fields), length: 4, children: [indices] });
  const batches = [new ArrowBatch(schema, root as never)];
  const { values } = await readBack(schema, batches as never);
  expect(text(values)).toBe(text(exactValues(batches as never)));
  expect(values[0]?.map((value) => value === null)).toEqual([false, true, true, false]);
});

test('lists without any item have no page of items', async () => {
  const schema = new Schema([nullable('c', new List(nullable('item', new Int32())))]);
  const empty = [1, 2].map((rows) => randomBatch(schema, rows, () => 0, 0));
  const { values } = await readBack(schema, empty as never);
  expect(text(values)).toBe(text(exactValues(empty)));
});

test('positions beyond 4 GiB are written whole', () => {
  const fields = withFieldIds(new Schema([nullable('a', new Int32())]), [0]).fields;
  const writer = new LancePartWriter(fields);
  const position = 5 * 2 ** 32 + 8;
  const { bytes: part } = writer.finish(position) as WrittenPart;
  const { fileSize } = writer.entry as { fileSize: number };
  const view = new DataView(part.buffer, part.byteOffset + fileSize - position - 40, 40);
  for (const at of [0, 8, 16]) {
    expect(Number(view.getBigUint64(at, true))).toBeGreaterThan(position);
    expect(Number(view.getBigUint64(at, true))).toBeLessThan(fileSize);
  }
});

test.each([
  '',
  'abc',
  'Zoë',
  'ÿ',
  '日本',
  '\u{1f600}',
  'x'.repeat(64),
  'é'.repeat(60),
  'a'.repeat(300),
])('the text %j', (value) => {
  const written = message().text(1, value).integer(2, 1).finish();
  const bytes = new TextEncoder().encode(value);
  const length =
    bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  expect([...written]).toEqual([10, ...length, ...bytes, 16, 1]);
});

test('fragments of one manifest have columns of their own', async () => {
  const field = (id: number): LanceField => ({
    id,
    parent: -1,
    name: `c${id}`,
    logicalType: 'int32',
    nullable: true,
    metadata: new Map(),
    dictionary: false,
  });
  const lists = [[0, 1], [0, 1], [0, 2], [1], [0, 1]];
  const bytes = lanceManifest({
    version: 3,
    timestamp: 1_700_000_000_000,
    fields: [0, 1, 2].map(field),
    schemaMetadata: new Map(),
    tableMetadata: {},
    fragments: [lists.map((fields, id) => entry(id, { lance: { fileSize: 90 + id, fields } }))],
    nextFragmentId: 5,
    transaction: 't',
    writable: false,
  });
  const { fragments } = readLanceManifest(bytes, 'm');
  expect(fragments.map(({ files }) => files.map(({ fields }) => fields))).toEqual(
    lists.map((fields) => [fields]),
  );
});
