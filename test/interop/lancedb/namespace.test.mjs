/**
 * The client's other mode, `connectNamespace('rest')`: the catalog is the server's, and the client
 * keeps the rows of tables itself, in its own format, at the places the catalog gives. The server
 * neither reads these nor writes over them; its own tables the client cannot open.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { connectNamespace } from '@lancedb/lancedb';
import * as arrow from 'apache-arrow';
import { compareCatalogs, connectRemote, DATA, failure, objects, startServe } from './harness.mjs';

compareCatalogs('namespaces: create, list, describe and drop', async (db) => {
  await db.createNamespace(['a'], { properties: { owner: 'me' } });
  await db.createNamespace(['a', 'b']);
  const found = [
    (await db.listNamespaces([])).namespaces,
    (await db.listNamespaces(['a'])).namespaces,
    (await db.describeNamespace(['a'])).properties.owner,
    await failure(() => db.createNamespace(['a'])),
    await failure(() => db.describeNamespace(['missing'])),
    (await failure(() => db.dropNamespace(['a']))) === 'succeeds',
  ];
  await db.dropNamespace(['a', 'b']);
  await db.dropNamespace(['a']);
  return [...found, (await db.listNamespaces([])).namespaces];
});

compareCatalogs('tables: create, open, write, overwrite and drop', async (db) => {
  const table = await db.createTable('t', DATA);
  await table.add(DATA.slice(1));
  const opened = await db.openTable('t');
  const found = [
    table.name,
    await opened.countRows(),
    await failure(() => db.createTable('t', DATA)),
    await (await db.createTable('t', DATA, { existOk: true })).countRows(),
    await (await db.createTable('t', DATA.slice(1), { mode: 'overwrite' })).countRows(),
    await failure(() => db.openTable('missing')),
  ];
  const schema = new arrow.Schema([new arrow.Field('a', new arrow.Int32(), true)]);
  found.push(await (await db.createEmptyTable('e', schema)).countRows());
  found.push(await db.tableNames(), (await db.listTables([])).tables);
  await db.dropTable('e');
  return [...found, await db.tableNames(), await failure(() => db.dropTable('e'))];
});

compareCatalogs('tables in namespaces', async (db) => {
  await db.createNamespace(['a']);
  await db.createNamespace(['a', 'b']);
  const table = await db.createTable('t', DATA, ['a', 'b']);
  return [
    await table.countRows(),
    await db.tableNames(['a', 'b']),
    await db.tableNames(),
    objects(await (await db.openTable('t', ['a', 'b'])).query().toArray()),
    (await failure(() => db.dropNamespace(['a', 'b']))) === 'succeeds',
  ];
});

compareCatalogs('dropAllTables', async (db) => {
  for (const name of ['a', 'b']) await db.createTable(name, DATA);
  await db.dropAllTables();
  return db.tableNames();
});

test('a renamed table keeps its rows; namespaces that may be there already', async () => {
  const server = await startServe();
  try {
    const db = await connectNamespace('rest', { uri: server.url });
    await db.createNamespace(['a']);
    await db.createNamespace(['a'], { mode: 'exist_ok' });
    await db.createTable('t', DATA);
    await db.renameTable('t', 'u');
    assert.deepEqual(await db.tableNames(), ['u']);
    assert.equal(await (await db.openTable('u')).countRows(), DATA.length);
  } finally {
    await server.stop();
  }
});

test("the server's own tables are listed, opened and dropped, but not written to", async () => {
  const server = await startServe();
  try {
    // The slash is doubled with those that paths begin with.
    const db = await connectNamespace('rest', { uri: `${server.url}/` });
    const remote = await connectRemote(server.url);
    await db.createNamespace(['a']);
    await remote.createTable('t', DATA, ['a']);
    assert.deepEqual(await db.tableNames(['a']), ['t']);
    // Manifests that the server makes for Lance's readers are beside what the table is made of.
    const files = () =>
      readdirSync(`${server.root}/a/t.table`, { recursive: true })
        .filter((name) => !/^lance\b/.test(name))
        .sort();
    const before = files();
    const opened = await db.openTable('t', ['a']);
    assert.equal(await opened.countRows(), DATA.length);
    await assert.rejects(opened.add(DATA));
    assert.equal(await failure(() => db.createTable('t', DATA, ['a'])), 'exists');
    const there = await db.createTable('t', DATA, ['a'], { existOk: true });
    assert.equal(await there.countRows(), DATA.length);
    await assert.rejects(db.createTable('t', DATA, ['a'], { mode: 'overwrite' }));
    assert.deepEqual(files(), before);
    await db.dropTable('t', ['a']);
    assert.deepEqual(await remote.tableNames(['a']), []);
  } finally {
    await server.stop();
  }
});

test('a table of the client is more than declared, and is not created over', async () => {
  const server = await startServe();
  try {
    const db = await connectNamespace('rest', { uri: server.url });
    const table = await db.createTable('t', DATA);
    await table.add(DATA);
    const files = () => readdirSync(`${server.root}/data/t.table`, { recursive: true }).sort();
    const before = files();
    const post = async (path, body, type = 'application/json') => {
      const headers = { 'content-type': type };
      const answer = await fetch(server.url + path, { method: 'POST', headers, body });
      return { status: answer.status, ...(await answer.json()) };
    };
    const described = await post('/v1/table/t/describe', '{"check_declared":true}');
    assert.equal(described.is_only_declared, false);
    const listed = await fetch(`${server.url}/v1/table?include_declared=false`);
    assert.deepEqual((await listed.json()).tables, ['t']);
    const rows = arrow.tableToIPC(arrow.tableFromArrays({ id: [1] }), 'stream');
    for (const [mode, status] of [
      ['create', 409],
      ['overwrite', 406],
    ]) {
      const type = 'application/vnd.apache.arrow.stream';
      const refused = await post(`/v1/table/t/create?mode=${mode}`, rows, type);
      assert.equal(refused.status, status, mode);
      assert.match(refused.detail, /a dataset of Lance|in Lance's format/);
    }
    assert.deepEqual(files(), before);
    assert.equal(await (await db.openTable('t')).countRows(), 2 * DATA.length);
    await table.add(DATA);
    assert.equal(await table.countRows(), 3 * DATA.length);
  } finally {
    await server.stop();
  }
});
