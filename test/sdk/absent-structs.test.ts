/** Rows without a struct are added to a table that opens in Lance, which has no null structs. */
import { expect, test } from 'vitest';
import { Field, Int32, Struct, Table, vectorFromArray } from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/connect.ts';
import { memoryFs } from '../helpers/catalogs.ts';

const POINT = new Struct([new Field('x', new Int32(), true)]);
const ids = (...values: number[]) => vectorFromArray(values, new Int32());

async function tableOfPoints() {
  const db = await connect('/c', { fs: memoryFs() });
  const point = vectorFromArray([{ x: 1 }], POINT);
  const table = await db.createTable('t', new Table({ id: ids(1), point }));
  const opening = async () =>
    (await db.namespace.describeTable({ id: ['t'], load_detailed_metadata: true })).lance;
  const points = async () =>
    (await table.query().toArray()).map(({ id, point }) => [id, point && { ...point }]);
  return { db, table, opening, points };
}

test('as objects and as Arrow, over and over, and then with it', async () => {
  const { db, table, opening, points } = await tableOfPoints();
  await table.add([{ id: 2 }, { id: 3 }]);
  await table.add(new Table({ id: ids(4) }));
  await table.add([{ id: 5 }]);
  await table.add([{ id: 6, point: { x: 6 } }]);
  await table.optimize();
  expect(await opening()).toEqual({ opens: true });
  expect(await points()).toEqual([
    [1, { x: 1 }],
    [2, null],
    [3, null],
    [4, null],
    [5, null],
    [6, { x: 6 }],
  ]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('rows of which one has it are null where they do not', async () => {
  const { db, table, opening, points } = await tableOfPoints();
  await table.add([{ id: 2 }, { id: 3, point: { x: 3 } }]);
  const batches = new Table({ id: ids(4), point: vectorFromArray([{ x: 4 }], POINT) }).batches;
  await table.add(batches);
  expect(await points()).toEqual([
    [1, { x: 1 }],
    [2, null],
    [3, { x: 3 }],
    [4, { x: 4 }],
  ]);
  expect(await opening()).toEqual({ opens: true });
  await table.optimize();
  expect(await opening()).toEqual({ opens: true });
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

/** Rows of which each `apart`-th lacks the struct. */
const mixed = (from: number, count: number, apart: number) =>
  Array.from({ length: count }, (_, at) =>
    at % apart === 0 ? { id: from + at } : { id: from + at, point: { x: from + at } },
  );
const expected = (rows: ReturnType<typeof mixed>) =>
  rows.map((row) => [row.id, row.point === undefined ? null : row.point]);

test('stay in their order, and close the table where they would make many fragments', async () => {
  const { table, opening, points } = await tableOfPoints();
  const few = mixed(2, 8, 2);
  await table.add(few);
  expect(await opening()).toEqual({ opens: true });
  expect(await points()).toEqual([[1, { x: 1 }], ...expected(few)]);
  const many = mixed(10, 9, 2);
  await table.add(many);
  expect(await opening()).toMatchObject({ opens: false });
  const { length } = (await table.files()).fragments;
  expect(await points()).toEqual([[1, { x: 1 }], ...expected(few), ...expected(many)]);
  // A table that does not open gains nothing by more fragments.
  await table.add(mixed(30, 4, 2));
  expect((await table.files()).fragments).toHaveLength(length + 1);
});

test('a new table and an overwritten one open', async () => {
  const { db, table, opening, points } = await tableOfPoints();
  const rows = mixed(1, 6, 3);
  await table.add(rows, { mode: 'overwrite' });
  expect(await opening()).toEqual({ opens: true });
  expect(await points()).toEqual(expected(rows));
  await db.createTable('u', rows);
  const { lance } = await db.namespace.describeTable({ id: ['u'], load_detailed_metadata: true });
  expect(lance).toEqual({ opens: true });
});

test('an update and a merge keep rows with the struct and rows without it apart', async () => {
  const { db, table, opening, points } = await tableOfPoints();
  await table.add([{ id: 2 }, { id: 3 }]);
  await table.add(mixed(4, 4, 2));
  await table.update({ where: 'id < 6', valuesSql: { id: 'id + 100' } });
  await table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute([{ id: 7 }, { id: 50 }, ...mixed(60, 40, 2)] as never);
  expect(await opening()).toEqual({ opens: true });
  const sorted = (await points()).sort((one, other) => Number(one[0]) - Number(other[0]));
  expect(sorted).toEqual([
    [6, null],
    [7, null],
    [50, null],
    ...expected(mixed(60, 40, 2)),
    [101, { x: 1 }],
    [102, null],
    [103, null],
    [104, null],
    [105, { x: 5 }],
  ]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('an overwrite keeps the column', async () => {
  const { table, points } = await tableOfPoints();
  await table.add([{ id: 2 }], { mode: 'overwrite' });
  expect(await points()).toEqual([[2, null]]);
});

test('a column that the table does not have is refused', async () => {
  const { table } = await tableOfPoints();
  await expect(table.add([{ id: 2, pont: { x: 1 } }])).rejects.toMatchObject({
    code: 'TableSchemaValidation',
  });
});

test('many fragments close a table that Lance only reads, which optimize joins then', async () => {
  for (const lance of ['read', 'write'] as const) {
    const db = await connect(`/${lance}`, { fs: memoryFs(), lance });
    const table = await db.createTable('t', mixed(0, 2, 2));
    for (let at = 1; at < 33; at++) await table.add(mixed(at * 2, 2, 2));
    const asked = { id: ['t'], load_detailed_metadata: true };
    const { lance: opening } = await db.namespace.describeTable(asked);
    expect(opening?.opens).toBe(lance === 'write');
    await table.optimize();
    expect((await table.files()).fragments).toHaveLength(lance === 'write' ? 66 : 1);
    const rows = await table.query().toArray();
    expect(rows.map(({ id, point }) => [id, point && { ...point }])).toEqual(
      expected(Array.from({ length: 33 }, (_, at) => mixed(at * 2, 2, 2)).flat()),
    );
  }
});

test.each([1, 3000])(
  'its members are added and changed, in fragments of %i rows',
  async (count) => {
    const { db, table, opening } = await tableOfPoints();
    const text = 'x'.repeat(20);
    await table.addColumns([{ name: 'text', valueSql: `'${text}'` }]);
    const without = Array.from({ length: count }, (_, at) => ({ id: at + 2, text }));
    await table.add(without);
    const [, later] = (await table.files()).fragments;
    await table.addColumns([
      { name: 'point.y', valueSql: 'id * 2.0' },
      { name: 'half', valueSql: 'id / 2.0' },
    ]);
    await table.alterColumns([{ path: 'point.x', dataType: 'float32' }]);
    await table.addColumns([{ name: 'point.z', valueSql: 'id * 3.0' }]);
    expect(later?.rows).toBe(count);
    expect(await opening()).toEqual({ opens: true });
    await table.optimize();
    expect(await opening()).toEqual({ opens: true });
    const rows = await table.query().toArray();
    expect(rows.map(({ id, point, half }) => [id, point && { ...point }, half])).toEqual([
      [1, { x: 1, y: 2, z: 3 }, 0.5],
      ...without.map(({ id }) => [id, null, id / 2]),
    ]);
    expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
  },
);

test('rows that all lack it leave a table of many fragments open for Lance', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', mixed(0, 2, 2));
  for (let at = 1; at < 32; at++) await table.add(mixed(at * 2, 2, 2));
  await table.add([{ id: 999, point: null }] as never);
  await table.add(new Table({ id: ids(1000), point: vectorFromArray([null], POINT) }));
  const asked = { id: ['t'], load_detailed_metadata: true };
  const opening = async () => (await db.namespace.describeTable(asked)).lance?.opens;
  await table.update({ where: 'id >= 999', valuesSql: { id: 'id + 1' } });
  expect(await opening()).toBe(true);
  expect((await table.files()).fragments).toHaveLength(65);
  // Rows of two kinds would be two fragments.
  await table.add(mixed(2000, 2, 2));
  expect(await opening()).toBe(false);
});

test('a view that is closed for Lance grows by one fragment', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const source = await db.createTable('t', mixed(0, 20, 2));
  const view = await db.createMaterializedView('v', 't');
  await view.refresh();
  const { length } = (await view.table().files()).fragments;
  await source.add(mixed(20, 4, 2));
  expect(await view.refresh()).toMatchObject({ mode: 'incremental', rowsWritten: 4 });
  expect((await view.table().files()).fragments).toHaveLength(length + 1);
});

test('a table that was not written for Lance opens after optimize', async () => {
  const fs = memoryFs();
  const before = await connect('/c', { fs, lance: 'off' });
  await before.createTable('t', [{ id: 1, point: { x: 1 } }]);
  await before.close();
  const db = await connect('/c', { fs, lance: 'read' });
  const table = await db.openTable('t');
  const rows = mixed(2, 6, 3);
  await table.add(rows);
  const asked = { id: ['t'], load_detailed_metadata: true };
  const opening = async () => (await db.namespace.describeTable(asked)).lance;
  expect(await opening()).toMatchObject({ opens: false });
  await table.optimize();
  expect(await opening()).toEqual({ opens: true });
  expect((await table.optimize()).compaction).toMatchObject({ fragmentsRemoved: 0 });
  const read = await table.query().toArray();
  expect(read.map(({ id, point }) => [id, point && { ...point }])).toEqual([
    [1, { x: 1 }],
    ...expected(rows),
  ]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('rows of many changes are put together by kind in a table that clients of Lance write', async () => {
  const db = await connect('/c', { fs: memoryFs(), lance: 'write' });
  const opening = async (name: string) =>
    (await db.namespace.describeTable({ id: [name], load_detailed_metadata: true })).lance;
  const byKind = (rows: ReturnType<typeof mixed>) => {
    const isLacking = ({ point }: (typeof rows)[number]) => point === undefined;
    const kinds = [rows.filter(isLacking), rows.filter((row) => !isLacking(row))];
    return expected((rows[0] && isLacking(rows[0]) ? kinds : kinds.reverse()).flat());
  };
  const many = mixed(1, 21, 2);
  const table = await db.createTable('t', many);
  const points = async () =>
    (await table.query().toArray()).map(({ id, point }) => [id, point && { ...point }]);
  expect(await points()).toEqual(byKind(many));
  expect((await table.files()).fragments).toHaveLength(2);
  expect(await opening('t')).toEqual({ opens: true });
  // Few changes stay in their order.
  const few = mixed(30, 8, 2);
  await table.add(few);
  expect(await points()).toEqual([...byKind(many), ...expected(few)]);
  // From the batch on with which they are too many.
  const batches = [...few, ...many].map(({ id, ...row }) => {
    const point = vectorFromArray(['point' in row ? row.point : null], POINT);
    return new Table({ id: ids(id), point }).batches[0] as never;
  });
  await table.add(batches, { mode: 'overwrite' });
  expect(await points()).toEqual([...expected(few), ...byKind(many)]);
  expect(await opening('t')).toEqual({ opens: true });
  await table.optimize();
  expect(await opening('t')).toEqual({ opens: true });
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});
