/** Reading and changing data: 1,000,000 rows x (id, x, category, text), 100,000 vectors of 128. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { connect } from '../../dist/index.js';
import { tableOf, tabular, vectorTable } from '../harness/data.mjs';
import { ownArrow } from '../harness/stores.mjs';
import { random } from './random.mjs';
import { counted, DIMENSION, ROWS, readsOf, VECTORS } from './reads.mjs';

/** Processes whose first read is timed; the median counts. */
const PROCESSES = 7;

/** The data for either side. */
const pairOf = ({ peers }, make) => ({
  own: make(ownArrow),
  peer: peers.arrow && make(peers.arrow),
});

/** Milliseconds of a read in a process that has read nothing before. */
function firstReads({ folder, peers, size, samples = PROCESSES }, name) {
  const script = fileURLToPath(new URL('./first-read.mjs', import.meta.url));
  const read = (...words) =>
    Number(execFileSync(process.execPath, [script, ...words, name, String(size(ROWS))]));
  const own = [];
  const other = [];
  for (let count = 0; count < samples; count++) {
    own.push(read('ours', folder('own')));
    if (peers.has('lancedb-ns')) other.push(read('peer', folder('other')));
  }
  const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];
  return { first_ms: median(own), peer_first_ms: median(other) };
}

export async function* tableWorkloads(ctx) {
  const { folder, peers, size } = ctx;
  const own = await connect({ uri: folder('own') });
  const peer = peers.has('lancedb-ns')
    ? await peers.lancedb.connectNamespace('dir', { root: folder('other') })
    : undefined;
  const columns = tabular(size(ROWS));
  const next = random(7);
  const floats = Float32Array.from({ length: size(VECTORS) * DIMENSION }, () => next());
  const data = pairOf(ctx, (arrow) => tableOf(arrow, columns));
  const vectors = pairOf(ctx, (arrow) => vectorTable(arrow, floats, DIMENSION));

  yield* written(ctx, {
    name: 'bulk write of 1,000,000 rows',
    goal: 4,
    samples: 7,
    settled: true,
    ours: (n) => own.createTable(`w${n}`, data.own),
    peer: peer && ((n) => peer.createTable(`w${n}`, data.peer)),
  });
  yield* written(ctx, {
    name: 'bulk write of 100,000 vectors',
    goal: 4,
    samples: 7,
    settled: true,
    ours: (n) => own.createTable(`v${n}`, vectors.own),
    peer: peer && ((n) => peer.createTable(`v${n}`, vectors.peer)),
  });
  // Opened anew: nothing that was written is cached.
  const reader = await connect({ uri: folder('own') });
  const tables = { own: await reader.openTable('w0'), peer: await peer?.openTable('w0') };
  const near = { own: await reader.openTable('v0'), peer: await peer?.openTable('v0') };
  const reads = readsOf(size(ROWS));
  for (const [at, read] of reads.entries()) {
    const { name, goal, table, samples, block } = read;
    const side = table === 'w' ? tables : near;
    yield {
      name,
      goal,
      samples,
      warmups: size(read.warmups),
      block,
      ours: (n) => counted(read, side.own, n),
      peer: peer && ((n) => counted(read, side.peer, n)),
      // A share of them on few rows, as each takes processes of its own.
      ...(at < size(reads.length, 2) && { firsts: () => firstReads(ctx, name) }),
    };
  }
  yield* changes(ctx, own, peer, data);
  yield* smallFragments(ctx, own, peer);
}

/** A row whose tables are read by others: written once where only those are asked for. */
async function* written({ wants }, row) {
  if (wants(row.name)) return yield row;
  await row.ours(0);
  await row.peer?.(0);
}

async function* changes(ctx, own, peer, data) {
  const names = ['delete 1 %', 'update 5 %', 'merge 10,000 into 1,000,000'];
  if (!names.some(ctx.wants)) return;
  const fresh = async (prefix, count) => {
    const made = [];
    for (let n = 0; n < count; n++) {
      made.push({
        own: await own.createTable(`${prefix}${n}`, data.own),
        peer: await peer?.createTable(`${prefix}${n}`, data.peer),
      });
    }
    return made;
  };
  const samples = ctx.samples ?? 7;
  const tables = await fresh('c', samples);
  yield {
    name: 'delete 1 %',
    goal: 1.2,
    samples,
    settled: true,
    ours: (n) => tables[n].own.delete('x > 0.99'),
    peer: peer && ((n) => tables[n].peer.delete('x > 0.99')),
  };
  const update = { where: "category = 'k03'", valuesSql: { x: 'x + 1' } };
  yield {
    name: 'update 5 %',
    goal: 1.5,
    samples,
    settled: true,
    ours: (n) => tables[n].own.update(update),
    peer: peer && ((n) => tables[n].peer.update(update)),
  };
  const source = tabular(ctx.size(10_000, 2), ctx.size(ROWS) - ctx.size(5_000));
  const rows = pairOf(ctx, (arrow) => tableOf(arrow, source));
  const merge = (table, side) =>
    table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows[side]);
  yield {
    name: 'merge 10,000 into 1,000,000',
    goal: 1.5,
    samples,
    settled: true,
    ours: (n) => merge(tables[n].own, 'own'),
    peer: peer && ((n) => merge(tables[n].peer, 'peer')),
  };
}

async function* smallFragments(ctx, own, peer) {
  const names = ['scan of 1,000 fragments', 'compaction of 1,000 fragments'];
  if (!names.some((name) => ctx.wants(`${name} of 10 rows`))) return;
  const columns = tabular(10);
  const rows = pairOf(ctx, (arrow) => tableOf(arrow, columns));
  const samples = ctx.samples ?? 7;
  const tables = [];
  for (let n = 0; n < samples; n++) {
    const pair = {
      own: await own.createTable(`s${n}`, rows.own),
      peer: await peer?.createTable(`s${n}`, rows.peer),
    };
    for (let made = 1; made < ctx.size(1_000, 3); made++) {
      await pair.own.add(rows.own);
      await pair.peer?.add(rows.peer);
    }
    tables.push(pair);
  }
  yield {
    name: 'scan of 1,000 fragments of 10 rows',
    goal: 4,
    samples,
    ours: async (n) => (await tables[n].own.query().toArrow()).numRows,
    peer: peer && (async (n) => (await tables[n].peer.query().toArrow()).numRows),
  };
  yield {
    name: 'compaction of 1,000 fragments of 10 rows',
    goal: 6,
    samples,
    settled: true,
    ours: (n) => tables[n].own.optimize(),
    peer: peer && ((n) => tables[n].peer.optimize()),
  };
}
