/** What a program in CommonJS does with a catalog, in the realm that jest makes for each test. */
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { Table } = require('apache-arrow');
const { connect, DirspaceError, Index } = require('dirspace');
const { EmbeddingFunction } = require('dirspace/embedding');
const { fixture } = require('dirspace/testing');

const folder = mkdtempSync(join(tmpdir(), 'dirspace jest ü '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a catalog on the disk', async () => {
  const db = await connect(folder);
  const rows = [
    { name: 'Ada runs', age: 36, at: new Date(5), bytes: Buffer.from('a'), vector: [0.1, 0.9] },
    { name: 'Grace', age: 85, at: new Date(7), bytes: new Uint8Array([1]), vector: [0.8, 0.2] },
  ];
  const table = await db.createTable('user', rows);
  const [near] = await table.search([1, 0]).where('age > 40').limit(1).toArray();
  expect(near).toMatchObject({ name: 'Grace', at: new Date(7) });
  await table.createIndex('name', { config: Index.fts() });
  await table.createIndex('age');
  expect(await table.search('running', 'fts').select(['age']).toArray()).toMatchObject([
    { age: 36 },
  ]);
  await table.update({ values: { age: 86 }, where: "name = 'Grace'" });
  await table.optimize();
  expect(await table.countRows('age = 86')).toBe(1);
  expect(await table.toArrow()).toBeInstanceOf(Table);
  await expect(db.openTable('nobody')).rejects.toThrow(DirspaceError);
  await db.close();
});

test('a fixture', async () => {
  const server = await fixture({ seed: { tables: [{ name: 'user', rows: [{ id: 1 }] }] } });
  const users = await server.catalog.openTable('user');
  expect(await users.query().toArray()).toEqual([{ id: 1 }]);
  const answer = await fetch(`${server.url}/v1/table/user/count_rows`, { method: 'POST' });
  expect(await answer.json()).toBe(1);
  await server.reset();
  await server.close();
});

test('entries share their classes', () => {
  expect(require('dirspace').embedding.EmbeddingFunction).toBe(EmbeddingFunction);
});
