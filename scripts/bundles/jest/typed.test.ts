/** A program in TypeScript that ts-jest compiles to CommonJS. */
import lancedb, { connect, type Table } from 'dirspace';
import { fixture } from 'dirspace/testing';

test('compiled imports', async () => {
  const db = await connect('memory://');
  const table: Table<{ id: number }> = await db.createTable('t', [{ id: 1 }]);
  expect(await table.countRows()).toBe(1);
  expect(lancedb.connect).toBe(connect);
  await db.close();
  const server = await fixture();
  expect(await server.catalog.tableNames()).toEqual([]);
  await server.close();
});
