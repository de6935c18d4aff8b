/**
 * What most programs do first, for the build to see which functions that needs:
 * `node first-session.mjs write|read INDEX CATALOG`.
 */
import { pathToFileURL } from 'node:url';

const [step, index, catalog] = process.argv.slice(2);
const { connect, connectNamespace } = await import(pathToFileURL(index).href);

/** Several batches of several pages, as a table has for which time counts. */
const ROWS = 150_000;
const DIMENSION = 32;

async function write() {
  const db = await connect({ uri: catalog });
  const rows = Array.from({ length: ROWS }, (_, id) => ({
    id,
    x: id / ROWS,
    category: `k${id % 20}`,
    text: `row ${id} of the table`,
  }));
  await db.createTable('rows', rows);
  const vector = (id) => Array.from({ length: DIMENSION }, (_, at) => Math.sin(id + at));
  const vectors = Array.from({ length: 1_000 }, (_, id) => ({ id, vector: vector(id) }));
  await db.createTable('vectors', vectors);
  await db.close();
}

async function read() {
  const db = await connectNamespace('dir', { root: catalog });
  const rows = await db.openTable('rows');
  await rows.countRows();
  await rows.countRows('x > 0.99');
  await rows.countRows("category = 'k3'");
  await rows.query().limit(10).toArray();
  await rows.query().select(['x']).toArrow();
  await rows.query().where('x > 0.99').toArrow();
  await rows.query().where('id BETWEEN 5000 AND 5999').toArrow();
  await rows.query().where("category = 'k3' AND x > 0.5").limit(10).toArrow();
  await rows.takeOffsets([0]).toArrow();
  await rows.takeOffsets([5, 100_000, 7]).toArrow();
  await rows.takeOffsets(Array.from({ length: ROWS / 100 }, (_, at) => at * 100)).toArrow();
  const vectors = await db.openTable('vectors');
  await vectors.vectorSearch(new Array(DIMENSION).fill(0.5)).limit(10).toArrow();
  await db.close();
}

await { write, read }[step]();
