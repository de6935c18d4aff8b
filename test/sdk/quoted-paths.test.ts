/** Columns whose names LanceDB's programs put in backticks: indexes, changes, keys and selections take them. */
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
