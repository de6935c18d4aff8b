/** Tables of 1,000 and 10,000 fragments of ten rows, each the commit of a version. */
import { connect } from '../../dist/index.js';
import { shifted, tableOf, tabular } from '../harness/data.mjs';
import { Stores } from '../harness/stores.mjs';
import { touch } from '../harness/touch.mjs';
import { random } from './random.mjs';

const COUNTS = [1_000, 10_000];
const READ = { samples: 7, warmups: 1 };
/** Fragments that one change touches. */
const TOUCHED = 1_000;

async function fill(stores, fragments) {
  const columns = tabular(10);
  await stores.create('t', (arrow) => tableOf(arrow, columns));
  for (let n = 1; n < fragments; n++) {
    await stores.add('t', (arrow) => tableOf(arrow, shifted(columns, n * 10)));
  }
}

/** A row as it is with each side's new connection, which knows nothing of the table. */
function anew({ peers }, { paths }, run) {
  const sides = {
    ours: async (n) => run(await (await connect(paths.ours)).openTable('t'), n),
  };
  const { lancedb } = peers;
  if (peers.has('lancedb')) {
    sides.lancedb = async (n) => run(await (await lancedb.connect(paths.lance)).openTable('t'), n);
  }
  if (peers.has('lancedb-ns')) {
    sides['lancedb-ns'] = async (n) => {
      const connection = await lancedb.connectNamespace('dir', { root: paths.lance });
      return run(await connection.openTable('t'), n);
    };
  }
  return sides;
}

const limit = (t) => t.query().limit(10).toArrow();
const describe = async (t) =>
  (await t.schema()).fields.length + (await t.version()) + (await t.countRows());

export async function* manyWorkloads(ctx) {
  for (const count of COUNTS) {
    const label = `${count.toLocaleString('en')} fragments`;
    if (!ctx.wants(label) && ctx.wants('') === false) continue;
    const fragments = ctx.size(count, 5);
    const stores = await Stores.open(ctx, `many${count}`, { durability: 'relaxed' });
    await fill(stores, fragments);
    yield* reads(ctx, stores, label, fragments, count);
    yield* changes(stores, label, fragments);
    stores.close();
  }
}

async function* reads(ctx, stores, label, fragments, count) {
  const tables = await stores.tables('t');
  const next = random(fragments);
  const three = Array.from({ length: 64 }, () => [
    ...new Set(Array.from({ length: 3 }, () => Math.floor(next() * fragments * 10))),
  ]);
  const take = (t, n) => t.takeOffsets(three[n % 64]).toArrow();
  const quick = count === 10_000 ? [{ atMost: 2 }] : [];
  const row = (what, run, rest) => ({
    name: `${label}: ${what}`,
    ...READ,
    sides: stores.reads(tables, run),
    ...rest,
  });
  const cold = (what, run, rest) =>
    row(what, run, { samples: 7, sides: anew(ctx, stores, run), ...rest });
  const touched = (run) => async (t, n) => touch(await run(t, n));
  yield row('scan', (t) => t.query().toArrow());
  yield row('limit 10', limit, { goals: quick });
  yield row('take 3', take, { goals: quick });
  yield row('describe an open table', describe);
  yield cold('new connection, describe', describe, { goals: quick });
  yield cold('new connection, limit 10', touched(limit), { goals: quick });
  yield cold('new connection, take 3', touched(take), { goals: quick });
  yield row('listVersions', async (t) => (await t.listVersions()).length, {
    samples: 3,
    goals: count === 10_000 ? [{ atMost: 50 }] : [],
  });
}

/** Each sample changes another row of the same fragments. */
async function* changes(stores, label, fragments) {
  const { ctx } = stores;
  const tables = { ours: await (await connect(stores.paths.ours)).openTable('t') };
  if (ctx.peers.has('lancedb')) tables.lancedb = await stores.lance.openTable('t');
  const touched = Math.min(TOUCHED, fragments);
  const within = `id < ${touched * 10}`;
  const sidesOf = (run) => {
    const sides = {};
    for (const [side, table] of Object.entries(tables)) {
      sides[side] = async (n) => {
        await run(table, n);
      };
    }
    return sides;
  };
  const common = { samples: 3, settled: true, goals: [{ times: 1.5 }] };
  yield {
    name: `${label}: delete a row in each of 1,000 (full durability)`,
    ...common,
    sides: sidesOf((t, n) => t.delete(`id % 10 = ${n} AND ${within}`)),
  };
  yield {
    name: `${label}: update a row in each of 1,000 (full durability)`,
    ...common,
    sides: sidesOf((t, n) =>
      t.update({ where: `id % 10 = ${5 + (n % 5)} AND ${within}`, valuesSql: { x: 'x + 1' } }),
    ),
  };
}
