/** A fragment of a few rows takes over the Lance part of the one before it where that is the same, and only there. */
import { describe, expect, test } from 'vitest';
import {
  type DataType,
  Dictionary,
  Field,
  FixedSizeList,
  Int8,
  Int32,
  LargeList,
  List,
  type RecordBatch,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { encodeFragment, type WrittenPart } from '../../../src/format/fragment/index.ts';
import { LancePartWriter } from '../../../src/format/lance/index.ts';
import { withFieldIds } from '../../../src/ipc/index.ts';
import { batchOf, leafTypes, randomBatch, seeded } from '../../helpers/arrow-samples.ts';

const nullable = (name: string, type: DataType): Field => new Field(name, type, true);
const marked = (...fields: Field[]): Schema => {
  let next = 0;
  const count = (field: Field): number =>
    1 + ((field.type.children ?? []) as Field[]).reduce((sum, child) => sum + count(child), 0);
  const ids = fields.flatMap((field) => Array.from({ length: count(field) }, () => next++));
  return withFieldIds(new Schema(fields), ids);
};

/** Keeps what it writes. */
class Noting extends LancePartWriter {
  part: WrittenPart | undefined;
  position = 0;
  override finish(position: number): WrittenPart | undefined {
    this.position = position;
    this.part = super.finish(position);
    return this.part;
  }
}

function encoded(schema: Schema, batches: readonly RecordBatch[], alone = false) {
  let writer: Noting | undefined;
  const { bytes } = encodeFragment(schema, batches as never, (fields) => {
    // Fields in a list of their own share nothing with other fragments.
    writer = new Noting(alone ? [...fields] : fields);
    return writer;
  });
  const { part, entry, position } = writer as unknown as Noting;
  return { bytes: Buffer.from(bytes).toString('latin1'), part, entry, position };
}

/** What fragments get that are written one after the other is what each gets alone. */
function expectSame(schema: Schema, fragments: readonly (readonly RecordBatch[])[]): number {
  const parts = new Set<unknown>();
  for (const batches of fragments) {
    const found = encoded(schema, batches);
    const { bytes, entry } = encoded(schema, batches, true);
    expect(found.entry).toEqual(entry);
    expect(found.bytes === bytes).toBe(true);
    parts.add(found.part);
  }
  return parts.size;
}

const types: Record<string, () => DataType> = {
  ...Object.fromEntries(
    Object.entries(leafTypes).filter(([name]) => !/view|interval|_int8/.test(name)),
  ),
  'dictionary of 8 bits': () => new Dictionary(new Utf8(), new Int8()),
  list: () => new List(nullable('item', new Utf8())),
  'large list': () => new LargeList(nullable('item', new Int32())),
  'list of lists': () => new List(nullable('item', new List(nullable('item', new Int8())))),
  vector: () => new FixedSizeList(3, nullable('item', new Int32())),
  struct: () => new Struct([nullable('x', new Utf8()), nullable('y', new Int8())]),
};

describe('random fragments', () => {
  test.each(Object.keys(types))('%s', (name) => {
    const schema = marked(
      nullable('n', new Int32()),
      nullable('c', (types[name] as () => DataType)()),
    );
    const random = seeded(name.length);
    const fragments = Array.from({ length: 60 }, () =>
      Array.from({ length: random() < 0.9 ? 1 : 2 }, () =>
        randomBatch(schema, 1 + Math.floor(random() * 2), random, 0.3),
      ),
    );
    expectSame(schema, fragments);
  });
});

const columnOf = (schema: Schema, values: unknown[]): RecordBatch => {
  const type = schema.fields[0]?.type as DataType;
  const column = vectorFromArray(values as never[], type);
  return batchOf(schema, [column.data[0] as never], values.length);
};

test('rows of one shape share a part', () => {
  const schema = marked(nullable('t', new Utf8()));
  const fragments = ['ab', 'cd', 'ef'].map((text) => [columnOf(schema, [text])]);
  expect(expectSame(schema, fragments)).toBe(1);
});

test.each([
  ['another length of a value', ['ab'], ['abc']],
  ['a null', ['ab'], [null]],
  ['more rows', ['ab'], ['a', 'b']],
])('%s makes another part', (_, one, other) => {
  const schema = marked(nullable('t', new Utf8()));
  const fragments = [one, other].map((values) => [columnOf(schema, values)]);
  expect(expectSame(schema, fragments)).toBe(2);
});

test('a second batch makes another part', () => {
  const schema = marked(nullable('t', new Utf8()));
  const batch = columnOf(schema, ['ab']);
  expect(expectSame(schema, [[batch], [batch, batch], [batch]])).toBe(2);
});

test('rows without columns are counted', () => {
  const schema = marked();
  const fragments = [1, 2].map((rows) => [batchOf(schema, [], rows)]);
  expect(expectSame(schema, fragments)).toBe(2);
});

test('parts of many rows are not kept', () => {
  const schema = marked(nullable('i', new Int32()));
  const [few, many] = [64, 65].map((rows) =>
    columnOf(
      schema,
      Array.from({ length: rows }, () => 1),
    ),
  ) as [RecordBatch, RecordBatch];
  expect(expectSame(schema, [[few], [few]])).toBe(1);
  expect(expectSame(schema, [[many], [many]])).toBe(2);
});

test('another place in the file makes another part', () => {
  const fields = marked(nullable('i', new Int32())).fields;
  const parts = [64, 64, 128].map((position) => {
    const writer = new LancePartWriter(fields);
    const column = { pieces: [], bytes: 0, nodes: [1, 0], buffers: [0, 4], views: [] };
    writer.batch([{ ...column, forms: undefined, plain: column }], [0], 1);
    return { part: writer.finish(position), entry: writer.entry as { fileSize: number } };
  });
  expect(parts[1]?.part).toBe(parts[0]?.part);
  expect(parts[2]?.part).not.toBe(parts[0]?.part);
  expect(parts.map(({ entry }) => entry.fileSize - (parts[0]?.entry.fileSize ?? 0))).toEqual([
    0, 0, 64,
  ]);
});

test('values that the part marks as null itself are those of each fragment', () => {
  const schema = marked(nullable('l', new List(nullable('item', new Int32()))));
  const fragments = [
    [[1, 2], null, [3]],
    [[1], null, [2, 3]],
  ].map((values) => [columnOf(schema, values)]);
  expect(expectSame(schema, fragments)).toBe(2);
});

test('dictionaries of other values make another part, though the rows have one shape', () => {
  const schema = marked(nullable('d', new Dictionary(new Utf8(), new Int32())));
  const type = schema.fields[0]?.type as Dictionary;
  const fragments = [['aa'], ['b', 'c']].map((words) => {
    const { data } = vectorFromArray(words, type);
    return [
      batchOf(
        schema,
        [(data[0] as unknown as { slice: (a: number, b: number) => never }).slice(0, 1)],
        1,
      ),
    ];
  });
  const [one, other] = fragments.map((batches) => encoded(schema, batches, true));
  expect(one?.position).toBe(other?.position);
  expect(one?.bytes).not.toBe(other?.bytes);
  expect(expectSame(schema, fragments)).toBe(2);
});

test('a column that Lance cannot read has no part, time and again', () => {
  const schema = marked(nullable('s', new Struct([nullable('x', new Int32())])));
  const rows = (values: unknown[]): RecordBatch[] => [columnOf(schema, values)];
  const fragments = [rows([{ x: 1 }]), rows([null]), rows([{ x: 2 }]), rows([null])];
  expectSame(schema, fragments);
  expect(encoded(schema, rows([null])).part).toBeUndefined();
});
