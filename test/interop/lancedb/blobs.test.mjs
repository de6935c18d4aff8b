/** Blobs, and inserts that are sent in parts, through LanceDB's remote client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blob } from '@lancedb/lancedb';
import * as arrow from 'apache-arrow';
import { compare, connectRemote, startServe } from './harness.mjs';

// The client sends parts side by side, as many as it has threads for; on one it sends none.
process.env.LANCE_CPU_THREADS = '4';

const LONG = Buffer.from(Uint32Array.from({ length: 700_000 }, (_, at) => at * 2654435761).buffer);
const VALUES = [Buffer.from('abc'), null, Buffer.alloc(0), LONG, Buffer.from('last')];

const madeOf = async (db, rows = VALUES.map((image, id) => ({ id, image }))) => {
  const schema = new arrow.Schema([new arrow.Field('id', new arrow.Int32(), true), blob('image')]);
  const table = await db.createTable('t', rows, { schema });
  const found = await table.query().select(['id']).withRowId().toArray();
  return { table, ids: found.sort((a, b) => a.id - b.id).map(({ _rowid }) => BigInt(_rowid)) };
};

const shown = (bytes) => bytes && [bytes.length, bytes.subarray(0, 8).toString('hex')];

compare('blob columns, and blobs in any order with repeats', async (db) => {
  const { table, ids } = await madeOf(db);
  const order = [3, 0, 1, 2, 4, 3].map((at) => ids[at]);
  const found = await table.fetchBlobs('image', order);
  assert.ok(found[0].equals(LONG));
  return [await table.blobColumns(), found.map(shown), await table.fetchBlobs('image', [])];
});

compare('files of blobs and ranges of them', async (db) => {
  const { table, ids } = await madeOf(db);
  const files = await table.fetchBlobFiles('image', ids);
  const sizes = files.map((file) => file?.size());
  const long = files[3];
  const middle = await long.readRange(1_000_000n, 2_500_000n);
  assert.ok(middle.equals(LONG.subarray(1_000_000, 2_500_000)));
  const rest = await long.read();
  assert.ok(rest.equals(LONG));
  const ranges = [
    [0n, 1n],
    [2n, 3n],
    [3n, 3n],
  ];
  const parts = [];
  for (const [from, to] of ranges) parts.push(shown(await files[0].readRange(from, to)));
  return [sizes, parts, shown(await files[2].read()), shown(await long.read())];
});

compare('blobs of an older version', async (db) => {
  const { table, ids } = await madeOf(db);
  await table.delete('id = 4');
  await table.checkout(1);
  const [last] = await table.fetchBlobs('image', [ids[4]]);
  const [file] = await table.fetchBlobFiles('image', [ids[4]]);
  return [shown(last), shown(await file.read())];
});

test('what is no blob, and no row, is refused', async () => {
  const server = await startServe();
  try {
    const { table, ids } = await madeOf(await connectRemote(server.url));
    for (const fetch of ['fetchBlobs', 'fetchBlobFiles']) {
      await assert.rejects(() => table[fetch]('id', [ids[0]]), /not a blob column/);
      const missing = () => table[fetch]('image', [99n << 32n]);
      await assert.rejects(missing, /There is no row with the id 425201762304/);
    }
  } finally {
    await server.stop();
  }
});

/** How many requests of an operation the server has answered with a status. */
async function answered(url, operation, status = 200) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.includes(`"${operation}"`));
  const counts = lines.filter(
    (line) => /_requests_total\{/.test(line) && line.includes(`"${status}"`),
  );
  return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Parts are made of whole batches. */
const BATCHES = 5;
const ROWS = 500_000;
const MANY = BATCHES * ROWS;
function many(from = 0, name = 'id') {
  const batches = Array.from({ length: BATCHES }, (_, batch) => {
    const first = from + batch * ROWS;
    const ids = Int32Array.from({ length: ROWS }, (_, at) => first + at);
    return new arrow.Table({ [name]: arrow.vectorFromArray(ids) }).batches[0];
  });
  return new arrow.Table(batches);
}

test('many rows go in parts and are one version', async () => {
  const server = await startServe();
  try {
    const db = await connectRemote(server.url);
    const table = await db.createTable('t', [{ id: -1 }], {
      schema: new arrow.Schema([new arrow.Field('id', new arrow.Int32(), true)]),
    });
    const { version } = await table.add(many());
    assert.equal(version, 2);
    // One to begin, three parts, one to complete.
    assert.equal(await answered(server.url, 'InsertIntoTable'), 5);
    assert.equal(await table.countRows(), MANY + 1);
    assert.equal(await table.countRows(`id >= 0 AND id < ${MANY}`), MANY);
    assert.equal(await table.countRows('id = 1234567'), 1);
    const over = await table.add(many(5), { mode: 'overwrite' });
    assert.equal(over.version, 3);
    assert.equal(await table.countRows(), MANY);
    assert.equal(await table.countRows('id < 5'), 0);
    await assert.rejects(async () => table.add(many(0, 'other')));
    assert.equal((await table.listVersions()).length, 3);
  } finally {
    await server.stop();
  }
});
