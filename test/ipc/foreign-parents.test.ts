/** Values under a null struct or list may be anything; as pyarrow does, they are not looked at. */
import { expect, test } from 'vitest';
import {
  type Data,
  type DataType,
  Dictionary,
  Field,
  FixedSizeList,
  Int32,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Union,
  UnionMode,
  Utf8,
  Vector,
} from '../../src/arrow/apache.ts';
import { connect } from '../../src/index.ts';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { countedInFixedLists, countedInLists } from '../../src/ipc/foreign/foreign-parents.ts';
import { memoryFs } from '../helpers/memory-fs.ts';

const TEXT = new Utf8();
const BAD = Uint8Array.of(97, 0xff, 98, 0xfe);
const WORD = new Dictionary(TEXT, new Int32(), 7);
const nullable = (name: string, type: DataType) => new Field(name, type, true);

/** Four texts, of which the second and the last are not UTF-8. */
const texts = (): Data =>
  makeData({
    type: TEXT,
    length: 4,
    nullCount: 0,
    valueOffsets: Int32Array.of(0, 1, 2, 3, 4),
    data: BAD,
  });
/** Four indices, of which the second and the last lie outside the dictionary. */
const words = (): Data =>
  makeData({
    type: WORD,
    length: 4,
    nullCount: 0,
    data: Int32Array.of(0, 9, 0, -3),
    dictionary: new Vector([
      makeData({
        type: TEXT,
        length: 1,
        nullCount: 0,
        valueOffsets: Int32Array.of(0, 1),
        data: Uint8Array.of(97),
      }),
    ]),
  });
const struct = (child: Data, valid: number): Data =>
  makeData({
    type: new Struct([nullable('a', child.type)]),
    length: 4,
    nullCount: valid === 15 ? 0 : 2,
    nullBitmap: valid === 15 ? undefined : Uint8Array.of(valid),
    children: [child],
  } as never);
const lists = (child: Data, offsets: number[], valid: number, nullCount: number): Data =>
  makeData({
    type: new List(nullable('item', child.type)),
    length: offsets.length - 1,
    nullCount,
    nullBitmap: Uint8Array.of(valid),
    valueOffsets: Int32Array.from(offsets),
    child,
  } as never);
const pairs = (child: Data, valid: number): Data =>
  makeData({
    type: new FixedSizeList(1, nullable('item', child.type)),
    length: 4,
    nullCount: valid === 15 ? 0 : 2,
    nullBitmap: Uint8Array.of(valid),
    child,
  } as never);

const ints = (...values: number[]): Data =>
  makeData({
    type: new Int32(),
    length: values.length,
    nullCount: 0,
    data: Int32Array.from(values),
  });
/** Rows of the first child, of a number, and so on; with the offsets of a dense union. */
const union = (child: Data, ids = [3, 5, 3, 5], offsets?: number[]): Data => {
  const fields = [nullable('a', child.type), nullable('n', new Int32())];
  const mode = offsets === undefined ? UnionMode.Sparse : UnionMode.Dense;
  return makeData({
    type: new Union(mode, Int32Array.of(3, 5), fields),
    length: 4,
    nullCount: 0,
    typeIds: Int8Array.from(ids),
    ...(offsets && { valueOffsets: Int32Array.from(offsets) }),
    children: [child, ints(10, 20, 30, 40)],
  } as never);
};

const bytesOf = (column: Data): Uint8Array => {
  const schema = new Schema([nullable('x', column.type)]);
  const data = makeData({
    type: new Struct(schema.fields),
    length: column.length,
    children: [column],
  });
  return tableToIPC(new Table(schema, [new RecordBatch(schema, data as never)]), 'stream');
};

const SHAPES: readonly (readonly [
  string,
  (child: Data) => Data,
  (a: string, c: string) => unknown[],
])[] = [
  ['struct', (child) => struct(child, 5), (a, c) => [{ a }, null, { a: c }, null]],
  [
    'struct in a struct',
    (child) => struct(struct(child, 15), 5),
    (a, c) => [{ a: { a } }, null, { a: { a: c } }, null],
  ],
  ['list', (child) => lists(child, [0, 1, 2, 3, 4], 5, 2), (a, c) => [[a], null, [c], null]],
  ['list that begins late', (child) => lists(child, [2, 3], 1, 0), (_, c) => [[c]]],
  [
    'list in a null list',
    (child) => lists(lists(child, [0, 1, 2, 3, 4], 15, 0), [0, 1, 2, 3, 4], 5, 2),
    (a, c) => [[[a]], null, [[c]], null],
  ],
  ['fixed-size list', (child) => pairs(child, 5), (a, c) => [[a], null, [c], null]],
  [
    'fixed-size list in a struct',
    (child) => struct(pairs(child, 15), 5),
    (a, c) => [{ a: [a] }, null, { a: [c] }, null],
  ],
  [
    'struct over a sparse union',
    (child) => struct(union(child, [3, 9, 3, -1]), 5),
    (a, c) => [{ a }, null, { a: c }, null],
  ],
  [
    'struct over a dense union',
    (child) => struct(union(child, [3, 5, 3, -1], [0, 99, 2, -7]), 5),
    (a, c) => [{ a }, null, { a: c }, null],
  ],
  ['sparse union', (child) => union(child), (a, c) => [a, 20, c, 40]],
  ['dense union', (child) => union(child, [3, 5, 3, 5], [0, 3, 2, 0]), (a, c) => [a, 40, c, 10]],
];

test.each(SHAPES)(
  'a null, or another child, of a %s hides text and indices that are none',
  async (_, shape, rows) => {
    for (const [child, third] of [
      [texts(), 'b'],
      [words(), 'a'],
    ] as const) {
      const db = await connect({ uri: '/c', fs: memoryFs() });
      const table = await db.createTable('t', bytesOf(shape(child)));
      const wanted = rows('a', third).map((x) => ({ x }));
      expect(await table.query().toArray()).toEqual(wanted);
      await table.add(bytesOf(shape(child)));
      await table.optimize();
      expect(await table.query().toArray()).toEqual([...wanted, ...wanted]);
    }
  },
);

test.each([
  ['struct', (child: Data) => struct(child, 3)],
  ['struct without nulls', (child: Data) => struct(child, 15)],
  ['list', (child: Data) => lists(child, [0, 1, 2, 3, 4], 3, 2)],
  ['list that begins late', (child: Data) => lists(child, [1, 2], 1, 0)],
  ['fixed-size list', (child: Data) => pairs(child, 3)],
  ['sparse union', (child: Data) => union(child, [5, 3, 5, 5])],
  ['dense union', (child: Data) => union(child, [3, 5, 5, 5], [1, 0, 0, 0])],
])('a %s with values hides nothing', async (_, shape) => {
  for (const child of [texts(), words()]) {
    const read = async () => {
      for await (const batch of await openArrowBody(bytesOf(shape(child))))
        expect(batch).toBeDefined();
    };
    await expect(read()).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringMatching(
        /column "x": (its text in row [01] is not UTF-8|row [01] has index 9)/,
      ),
    });
  }
});

test.each([
  ['struct over a sparse union', (child: Data) => struct(union(child, [3, 9, 3, 5]), 3)],
  ['sparse union', (child: Data) => union(child, [3, 5, 3, 9])],
  ['dense union', (child: Data) => union(child, [3, 5, 3, 5], [0, 0, 2, 4])],
])('rows of a %s are rows of a child', async (_, shape) => {
  const read = async () => {
    for await (const batch of await openArrowBody(bytesOf(shape(texts()))))
      expect(batch).toBeDefined();
  };
  await expect(read()).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringMatching(/unknown type id 9|lies outside of its union's child/),
  });
});

test('items that no list has do not count, and no bitmap is longer than asked for', () => {
  const late = countedInLists(Int32Array.of(2, 3, 5), 2, 7, undefined, undefined);
  expect(late?.(7)).toEqual(Uint8Array.of(0b0011100));
  const second = countedInLists(Int32Array.of(0, 3, 7), 2, 7, Uint8Array.of(0b10), undefined);
  expect(second?.(4)).toEqual(Uint8Array.of(0b1000));
  expect(second?.(7)).toEqual(Uint8Array.of(0b1111000));
  expect(countedInLists(Int32Array.of(0, 7), 1, 7, undefined, undefined)).toBeUndefined();
  const forged = countedInLists(
    Int32Array.of(1, 2 ** 31 - 1),
    1,
    2 ** 31 - 1,
    undefined,
    undefined,
  );
  expect(forged?.(9)).toEqual(Uint8Array.of(0xfe, 1));
  const pairs = countedInFixedLists(2, Uint8Array.of(0b101), undefined);
  expect(pairs?.(5)).toEqual(Uint8Array.of(0b10011));
});
