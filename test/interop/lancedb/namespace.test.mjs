/**
 * The client's other mode, `connectNamespace('rest')`: the catalog is the server's, but the client
 * opens tables itself, in its own format, so the rows of others are out of its reach.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectNamespace } from '@lancedb/lancedb';
import { connectRemote, DATA, startServe } from './harness.mjs';

test('namespaces and tables can be listed, described, renamed and dropped', async () => {
  const server = await startServe();
  try {
    const db = await connectNamespace('rest', { uri: server.url });
    await db.createNamespace(['a'], { properties: { owner: 'me' } });
    await db.createNamespace(['a', 'b']);
    assert.deepEqual((await db.listNamespaces([])).namespaces, ['a']);
    assert.deepEqual((await db.listNamespaces(['a'])).namespaces, ['b']);
    assert.equal((await db.describeNamespace(['a'])).properties.owner, 'me');
    await assert.rejects(db.createNamespace(['a']), /exists/i);
    await assert.rejects(db.describeNamespace(['missing']), /not ?found|no namespace/i);

    const remote = await connectRemote(server.url);
    await remote.createTable('t', DATA, ['a']);
    assert.deepEqual(await db.tableNames(['a']), ['t']);
    await assert.rejects(db.openTable('t', ['a']));
    await assert.rejects(db.openTable('missing', ['a']), /not found/i);
    await db.dropTable('t', ['a']);
    assert.deepEqual(await remote.tableNames(['a']), []);

    await db.dropNamespace(['a', 'b']);
    await db.dropNamespace(['a']);
    assert.deepEqual((await db.listNamespaces([])).namespaces, []);
  } finally {
    await server.stop();
  }
});
