/** Dictionary columns as they are loaded: indices of no entry are null, whatever their form. */
import { expect, it } from 'vitest';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import {
  Dictionary,
  Field,
  Int8,
  Int32,
  indexedRows,
  makeData,
  Schema,
  Timestamp,
  TimeUnit,
  Utf8,
  Utf8View,
  Vector,
  vectorFromArray,
} from '../../src/arrow/index.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { loadColumn } from '../../src/sql/load/index.ts';
import { reader } from '../../src/sql/typed/index.ts';
import { drained } from '../../src/steps.ts';

const words = vectorFromArray(['a', null, 'ccc'], new Utf8());

it.each([
  [new Int32(), Int32Array.of(2, 0, 7, -1, 1, 0)],
  [new Int8(), Int8Array.of(2, 0, 7, -1, 1, 0)],
])('%s', (type, data) => {
  const coded = makeData({
    ...{ type: new Dictionary(new Utf8(), type), length: 6, data, dictionary: words },
  } as never);
  const read = reader(loadColumn(coded));
  expect([0, 1, 2, 3, 4, 5].map(read)).toEqual(['ccc', 'a', null, null, null, 'a']);
  const few = coded.slice(1, 3);
  expect([0, 1, 2].map(reader(loadColumn(few)))).toEqual(['a', null, null]);
});

it('rows of a column as indices into it', () => {
  const coded = indexedRows(words.data[0] as never, Uint32Array.of(2, 1, 0, 2));
  const read = reader(loadColumn(coded));
  expect([0, 1, 2, 3].map(read)).toEqual(['ccc', null, 'a', 'ccc']);
  expect([0, 1].map(reader(loadColumn(coded.slice(2, 2))))).toEqual(['a', 'ccc']);
});

it('views that share bytes are refused where their copies would be more than 2 GiB', () => {
  const views = new Int32Array(8);
  views[0] = 2 ** 30;
  views[4] = 2 ** 30;
  const data = makeData({
    ...{ type: new Utf8View(), length: 2, nullCount: 0, variadicBuffers: [new Uint8Array(1)] },
    views: new Uint8Array(views.buffer),
  } as never);
  expect(() => loadColumn(data)).toThrow(expect.objectContaining({ code: 'Unsupported' }));
});

it.each([
  ["d + INTERVAL '1 hour'", 'timestamp(us)', [3_600_000_000n, 7_200_000_000n]],
  ["d - INTERVAL '1 day'", 'timestamp(us)', [-86_400_000_000n, -82_800_000_000n]],
  ['d - d', 'duration(us)', [0n, 0n]],
  ["TIMESTAMP '1970-01-02' - d", 'duration(us)', [86_400_000_000n, 82_800_000_000n]],
])('times of a dictionary are computed with as others are: %s', async (sql, type, expected) => {
  const plain = new Timestamp(TimeUnit.MICROSECOND, null);
  const times = makeData({ type: plain, length: 2, data: BigInt64Array.of(0n, 3_600_000_000n) });
  const coded = new Dictionary(plain, new Int32());
  const data = makeData({
    ...{ type: coded, length: 3, data: Int32Array.of(0, 1, 0), dictionary: new Vector([times]) },
  } as never);
  const schema = new Schema([new Field('d', coded, true)]);
  const compiled = await compileExpression(sql, schema);
  expect(compiled.typeName).toBe(type);
  const { values } = compiled.evaluate(recordBatch(schema, [data], 3)).data[0] as never;
  const [first, second] = expected;
  expect(Array.from(values as BigInt64Array)).toEqual([first, second, first]);
});

it('pieces of a column whose texts lie in any order are changed each by itself', async () => {
  const coded = new Dictionary(new Utf8(), new Int32());
  const schema = new Schema([new Field('d', coded, true)]);
  const piece = (...codes: number[]) =>
    makeData({
      ...{ type: coded, length: codes.length, data: Int32Array.from(codes), dictionary: words },
    } as never);
  const column = new Vector([piece(2, 0, 7), piece(0, 2, 2)] as never);
  const source = { numRows: 6, getChild: () => column } as never;
  const compiled = await compileExpression("upper(d || 'é')", schema);
  expect(Array.from(compiled.evaluate(source))).toEqual([
    ...['CCCÉ', 'AÉ', null],
    ...['AÉ', 'CCCÉ', 'CCCÉ'],
  ]);
});

it('a tree over one column of texts is evaluated once for each entry of the dictionary it has', async () => {
  const coded = indexedRows(words.data[0] as never, Uint32Array.of(2, 1, 0, 2, 2));
  const schema = new Schema([new Field('t', new Utf8(), true), new Field('n', new Int32(), true)]);
  const batch = recordBatch(
    schema,
    [coded, makeData({ type: new Int32(), data: Int32Array.of(1, 2, 3, 4, 5) })],
    5,
  );
  const entries = async (sql: string) =>
    drained((await compileExpression(sql, schema)).entriesInSteps(batch));
  const found = await entries("upper(t) || '!'");
  expect([...(found?.rows ?? [])]).toEqual([2, 1, 0, 2, 2]);
  expect(Array.from({ length: 3 }, (_, at) => reader(found?.values as never)(at))).toEqual([
    'A!',
    null,
    'CCC!',
  ]);
  expect(await entries('upper(t) || n')).toBeNull();
  expect(await entries('n + 1')).toBeNull();
  expect(await entries('t')).toBeNull();
  // An entry that no row has may be one that the expression fails for.
  const some = recordBatch(
    schema,
    [
      indexedRows(words.data[0] as never, Uint32Array.of(1, 1, 1, 1)),
      makeData({ type: new Int32(), data: new Int32Array(4) }),
    ],
    4,
  );
  expect(
    drained((await compileExpression('CAST(t AS int)', schema)).entriesInSteps(some)),
  ).toBeNull();
});
