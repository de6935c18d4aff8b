/**
 * Columns whose names LanceDB's programs put in backticks: indexes, changes, keys and selections take them. And the row id
 * under its own name, which LanceDB's data loader asks for.
 */
import { expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import { Index } from '../../src/sdk/table/index.ts';
import { memoryFs } from '../helpers/catalogs.ts';

test('names between backticks are those names wherever a column is named', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = [1, 2, 3].map((n) => ({ 'row-id': n, literal: { 'a.b': n }, z: 0 }));
  const table = await db.createTable('t', rows);
  await table.createIndex('`row-id`', { config: Index.btree(), name: 'dash' });
  await table.createIndex('literal.`a.b`', { config: Index.btree(), name: 'dot' });
  expect((await table.listIndices()).map(({ name, columns }) => [name, columns])).toEqual([
    ['dash', ['row-id']],
    ['dot', ['literal.a.b']],
  ]);
  expect(await table.countRows('literal.`a.b` >= 2')).toBe(2);
  const ordered = table.query().orderBy({ columnName: 'literal.`a.b`', ascending: false });
  expect((await ordered.toArray()).map((row) => row['row-id'])).toEqual([3, 2, 1]);
  const merged = await table
    .mergeInsert('`row-id`')
    .whenNotMatchedInsertAll()
    .execute([3, 4].map((n) => ({ 'row-id': n, literal: { 'a.b': n }, z: 1 })));
  expect(merged.numInsertedRows).toBe(1);
  // The column of the answer is called as it was asked for, as in LanceDB.
  expect(await table.query().select(['`row-id`']).limit(1).toArray()).toEqual([{ '`row-id`': 1 }]);
  await table.update({ values: { '`row-id`': 9 }, where: 'z = 1' });
  expect(await table.countRows('`row-id` = 9')).toBe(1);
  await table.alterColumns([{ path: 'literal.`a.b`', rename: 'plain' }]);
  await table.dropColumns(['`row-id`']);
  expect((await table.schema()).fields.map(String)).toEqual([
    'literal: Struct<{plain:Float64}>',
    'z: Float64',
  ]);
  await expect(table.dropColumns(['`none`'])).rejects.toMatchObject({
    code: 'TableColumnNotFound',
  });
  await db.close();
});

test('the usual index of a column between backticks is made, waited for, and made again', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = [1, 2, 3].map((n) => ({ 'row-id': n, literal: { 'a.b': n } }));
  const table = await db.createTable('t', rows);
  for (let at = 0; at < 2; at++) await table.createIndex('`row-id`', { waitTimeoutSeconds: 1 });
  await (await table.createIndexAsync('literal.`a.b`')).wait();
  expect((await table.listIndices()).map(({ name, columns }) => [name, columns[0]])).toEqual([
    ['literal.a.b_idx', 'literal.a.b'],
    ['row-id_idx', 'row-id'],
  ]);
  await expect(table.createIndex('`row-id`', { replace: false })).rejects.toMatchObject({
    code: 'TableIndexAlreadyExists',
  });
  await expect(table.createIndex('`none`')).rejects.toMatchObject({ code: 'TableColumnNotFound' });
  await db.close();
});

test('the row id may be selected by its name beside withRowId', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ id: 7 }, { id: 8 }]);
  const select = { _rowid: '_rowid', id: 'id' };
  expect(await table.query().select(select).withRowId().toArray()).toEqual([
    { _rowid: 0n, id: 7 },
    { _rowid: 1n, id: 8 },
  ]);
  const other = table.query().select({ at: '_rowid', _rowid: 'id' });
  expect(await other.toArray()).toEqual([
    { at: 0n, _rowid: 7 },
    { at: 1n, _rowid: 8 },
  ]);
  await expect(other.withRowId().toArray()).rejects.toMatchObject({ code: 'InvalidInput' });
  await db.close();
});
