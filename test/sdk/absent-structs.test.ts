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
  const { table, opening, points } = await tableOfPoints();
  await table.add([{ id: 2 }, { id: 3, point: { x: 3 } }]);
  const batches = new Table({ id: ids(4), point: vectorFromArray([{ x: 4 }], POINT) }).batches;
  await table.add(batches);
  expect(await points()).toEqual([
    [1, { x: 1 }],
    [2, null],
    [3, { x: 3 }],
    [4, { x: 4 }],
  ]);
  expect(await opening()).toMatchObject({ opens: false });
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
