/** Creating, opening, listing and dropping tables through LanceDB's remote client. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from '@lancedb/lancedb';
import * as arrow from 'apache-arrow';
import {
  compare,
  connectRemote,
  DATA,
  failure,
  folder,
  objects,
  remoteOnly,
  startServe,
} from './harness.mjs';

compare('createTable, and the table it answers', async (db) => {
  const table = await db.createTable('t', DATA);
  return [table.name, await table.countRows(), await table.version(), await table.schema()];
});

compare('createTable of a name that is taken', async (db) => {
  await db.createTable('t', DATA);
  const messages = await failure(() => db.createTable('t', DATA));
  return [messages, await (await db.openTable('t')).countRows()];
});

compare('createTable with existOk and with overwrite', async (db) => {
  await db.createTable('t', DATA);
  const kept = await db.createTable('t', DATA.slice(1), { existOk: true });
  const before = await kept.countRows();
  const table = await db.createTable('t', [{ other: 'x' }], { mode: 'overwrite' });
  return [before, await table.countRows(), (await table.schema()).fields.map(({ name }) => name)];
});

compare('createEmptyTable', async (db) => {
  const schema = new arrow.Schema([
    new arrow.Field('a', new arrow.Int32(), true),
    new arrow.Field('b', new arrow.Utf8(), true),
  ]);
  const table = await db.createEmptyTable('e', schema);
  const fields = (await table.schema()).fields.map(({ name, type }) => [name, String(type)]);
  return [await table.countRows(), await table.query().toArray(), fields];
});

const TYPES = {
  bool: new arrow.Bool(),
  int8: new arrow.Int8(),
  int16: new arrow.Int16(),
  int32: new arrow.Int32(),
  int64: new arrow.Int64(),
  uint8: new arrow.Uint8(),
  uint32: new arrow.Uint32(),
  uint64: new arrow.Uint64(),
  float32: new arrow.Float32(),
  float64: new arrow.Float64(),
  utf8: new arrow.Utf8(),
  binary: new arrow.Binary(),
  date: new arrow.DateDay(),
  timestamp: new arrow.Timestamp(arrow.TimeUnit.MICROSECOND, 'UTC'),
  naive: new arrow.Timestamp(arrow.TimeUnit.NANOSECOND),
  list: new arrow.List(new arrow.Field('item', new arrow.Int32(), true)),
  vector: new arrow.FixedSizeList(2, new arrow.Field('item', new arrow.Float32(), true)),
  struct: new arrow.Struct([new arrow.Field('x', new arrow.Int32(), true)]),
};

compare('the types of a schema come back as they were', async (db) => {
  const schema = new arrow.Schema(
    Object.entries(TYPES).map(([name, type]) => new arrow.Field(name, type, true)),
  );
  const table = await db.createEmptyTable('types', schema);
  return (await table.schema()).fields.map(({ name, type, nullable }) => [
    name,
    String(type),
    nullable,
  ]);
});

compare('openTable of what is there and what is not', async (db) => {
  await db.createTable('t', DATA);
  return [(await db.openTable('t')).name, await failure(() => db.openTable('missing'))];
});

compare('tableNames with limit and startAfter', async (db) => {
  for (const name of ['c', 'a', 'b']) await db.createTable(name, DATA);
  return [
    await db.tableNames(),
    await db.tableNames({ limit: 2 }),
    await db.tableNames({ startAfter: 'a' }),
    await db.tableNames({ startAfter: 'a', limit: 1 }),
  ];
});

compare('dropTable', async (db) => {
  await db.createTable('t', DATA);
  await db.dropTable('t');
  return [await db.tableNames(), await failure(() => db.openTable('t'))];
});

compare('dropTable of what is not there', async (db) => failure(() => db.dropTable('missing')));

compare('tables in namespaces', async (db) => {
  await db.createNamespace(['a']);
  await db.createNamespace(['a', 'b']);
  const table = await db.createTable('x', DATA, ['a', 'b']);
  const listed = await db.listNamespaces(['a']);
  return [
    await table.countRows(),
    listed.namespaces,
    await db.tableNames(['a', 'b']),
    await db.tableNames(),
    objects(await (await db.openTable('x', ['a', 'b'])).query().toArray()),
  ];
});

compare('namespaces that are taken, missing, or not empty', async (db) => {
  await db.createNamespace(['a']);
  await db.createNamespace(['a', 'b']);
  return [
    await failure(() => db.createNamespace(['a'])),
    await failure(() => db.describeNamespace(['missing'])),
    (await failure(() => db.dropNamespace(['a']))) === 'succeeds',
    await failure(() => db.dropNamespace(['a', 'b'])),
    (await db.listNamespaces(['a'])).namespaces,
  ];
});

remoteOnly('createNamespace with properties and modes; dropNamespace with cascade', async (db) => {
  await db.createNamespace(['a'], { properties: { owner: 'me' } });
  await db.createNamespace(['a'], { mode: 'exist_ok' });
  assert.equal((await db.describeNamespace(['a'])).properties.owner, 'me');
  await db.createTable('t', DATA, ['a']);
  await db.dropNamespace(['a'], { behavior: 'cascade' });
  assert.deepEqual((await db.listNamespaces([])).namespaces, []);
});

remoteOnly('renameTable, also to another namespace', async (db) => {
  await db.createTable('t', DATA);
  await db.renameTable('t', 'u');
  assert.deepEqual(await db.tableNames(), ['u']);
  await db.createNamespace(['n']);
  await db.renameTable('u', 'w', { newNamespacePath: ['n'] }).catch(async () => {
    // Older releases take the two paths as arguments.
    await db.renameTable('u', 'w', [], ['n']);
  });
  assert.deepEqual(await db.tableNames(['n']), ['w']);
});

remoteOnly(
  'another delimiter, a path before the routes, and a slash at the end',
  async (db, server) => {
    await db.createNamespace(['a']);
    await db.createTable('t', DATA, ['a']);
    const slashed = await connectRemote(`${server.url}/`);
    assert.deepEqual(await slashed.tableNames(['a']), ['t']);
  },
);

test('the region "local" names the database in the host, which the server has to allow', async () => {
  const config = join(folder(), 'server.json');
  writeFileSync(config, JSON.stringify({ allowedHosts: ['*.local.api.lancedb.com'] }));
  const server = await startServe('--config', config);
  try {
    const options = { apiKey: 'key', region: 'local', hostOverride: server.url };
    const db = await connect('db://interop', options);
    assert.deepEqual(await db.tableNames(), []);
  } finally {
    await server.stop();
  }
});
