/**
 * Indexes of 1,000,000 rows in ten batches: how long they take to build, and lookups through them. Every
 * side has the indexes of its own; the rows of the table are the same. Full-text search is in documents.mjs,
 * vectors are in search-vectors.mjs.
 */
import { Index as OwnIndex } from '../../dist/index.js';
import { arrowTable, texts } from '../harness/data.mjs';
import { Stores } from '../harness/stores.mjs';
import { documentWorkloads } from './documents.mjs';
import { random } from './random.mjs';
import { ROWS } from './reads.mjs';
import { vectorIndexWorkloads } from './search-vectors.mjs';

const BATCHES = 10;
const LABELS = 3;

/** (id: shuffled, category: one of 1,000, skewed, flag: one of 4, tags: 3 of 500 labels, text). */
function batchOf(ids, next) {
  const rows = ids.length;
  const category = texts(rows, (row) =>
    row % 100_000 === 99 ? 'rare' : `c${Math.floor(1_000 * next() ** 3)}`,
  );
  const flag = Int32Array.from({ length: rows }, () => Math.floor(next() * 4));
  const label = () => `t${String(Math.floor(next() * 500)).padStart(3, '0')}`;
  const items = texts(rows * LABELS, label);
  const text = texts(rows, (row) => `row ${row} of a batch, with ${Math.floor(next() * 1e9)}`);
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * LABELS);
  return { rows, ids, category, flag, items, offsets, text };
}

function tableOf(arrow, { rows, ids, category, flag, items, offsets, text }) {
  const { Field, Int32, Int64, List, makeData, Utf8 } = arrow;
  const plain = (part) => ({ valueOffsets: part.offsets, data: part.bytes });
  const list = new List(new Field('item', new Utf8(), true));
  const child = makeData({ type: new Utf8(), length: rows * LABELS, ...plain(items) });
  return arrowTable(arrow, rows, {
    id: [new Int64(), { data: ids }],
    category: [new Utf8(), plain(category)],
    flag: [new Int32(), { data: flag }],
    tags: [list, { valueOffsets: offsets, child }],
    text: [new Utf8(), plain(text)],
  });
}

function shuffledIds(rows, next) {
  const ids = BigInt64Array.from({ length: rows }, (_, row) => BigInt(row));
  for (let row = rows - 1; row > 0; row--) {
    const other = Math.floor(next() * (row + 1));
    [ids[row], ids[other]] = [ids[other], ids[row]];
  }
  return ids;
}

const BUILDS = [
  ['BTREE of int64', 'id', 'btree', 400],
  ['BITMAP of 1,000 texts', 'category', 'bitmap', 500],
  ['BITMAP of 4 numbers', 'flag', 'bitmap', 500],
  ['LABEL_LIST of 3 labels a row', 'tags', 'labelList', 1_500],
];

const rowsOf = async (query) => (await query.toArrow()).numRows;
const where = (filter) => (table) => rowsOf(table.query().where(filter));

export async function* searchWorkloads(ctx) {
  const stores = await Stores.open(ctx, 'search');
  const rows = ctx.size(ROWS, 10_000);
  const next = random(7);
  const ids = shuffledIds(rows, next);
  for (let batch = 0; batch < BATCHES; batch++) {
    const size = rows / BATCHES;
    const part = batchOf(ids.slice(batch * size, (batch + 1) * size), next);
    const make = (arrow) => tableOf(arrow, part);
    await (batch === 0 ? stores.create('s', make) : stores.add('s', make));
  }
  const tables = await stores.tables('s');
  const kinds = { ours: OwnIndex };
  for (const side of ['lancedb', 'lancedb-ns']) kinds[side] = ctx.peers.lancedb?.Index;
  const build = async (column, kind) => {
    const sides = {};
    for (const [side, table] of Object.entries(tables)) {
      sides[side] = () => table.createIndex(column, { config: kinds[side][kind]() });
    }
    return sides;
  };
  for (const [name, column, kind, atMost] of BUILDS) {
    const sides = await build(column, kind);
    const goals = [{ atMost, of: 'cpu' }, { times: 1 }];
    const workload = { name: `build ${name}`, samples: 3, goals, sides };
    if (ctx.wants(workload.name)) yield workload;
    else for (const run of Object.values(sides)) await run();
  }
  const some = Array.from({ length: 100 }, (_, at) => (at * 9_973) % rows).join();
  const middle = rows >> 1;
  const lookup = (name, atMost, run) => ({
    name,
    goals: [{ atMost }, { times: 2 }],
    samples: 60,
    warmups: 100,
    block: 10,
    sides: stores.reads(tables, run),
  });
  yield lookup('id = k, all columns', 0.3, (table, n) =>
    rowsOf(table.query().where(`id = ${(n * 7_919) % rows}`)),
  );
  yield lookup('id IN (100 ids)', 2, where(`id IN (${some})`));
  yield lookup(
    'id BETWEEN, 1,000 scattered rows',
    4,
    where(`id BETWEEN ${middle} AND ${middle + 999}`),
  );
  yield lookup('a rare category, ten rows', 0.4, where("category = 'rare'"));
  yield lookup('count by flag, a quarter of the rows', 0.1, (table) => table.countRows('flag = 2'));
  yield lookup('array_has(tags, ..), 0.6 % of the rows', 2, (table) =>
    rowsOf(table.query().where("array_has(tags, 't007')").select(['id'])),
  );
  yield lookup('the first ten of the order of id', 2, (table) =>
    rowsOf(table.query().orderBy({ columnName: 'id' }).select(['id']).limit(10)),
  );
  stores.close();
  yield* documentWorkloads(ctx);
  yield* vectorIndexWorkloads(ctx);
}
