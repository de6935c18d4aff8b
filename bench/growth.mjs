/**
 * What operations cost as data grows, from one version, fragment and table to 10,000, beside LanceDB's:
 * `npm run bench -- --growth [--out FOLDER]` writes growth.svg and growth.json, into docs/ if no folder is
 * given. Durability is relaxed, as LanceDB flushes nothing either.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../dist/index.js';
import { chart } from './harness/chart.mjs';
import { shifted, tableOf, tabular } from './harness/data.mjs';
import { figure } from './harness/measure.mjs';
import { ownArrow } from './harness/stores.mjs';
import { touch } from './harness/touch.mjs';
import { smallTable } from './workloads/catalog.mjs';

const STEPS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];
const SAMPLES = 5;
const ROWS = 10;
const DOCS = fileURLToPath(new URL('../docs', import.meta.url));
const SIDES = { ours: 'dirspace', lancedb: 'LanceDB' };

/** Operations on a table of so many versions, which are its fragments too. */
const ON_TABLE = {
  append: { title: 'append 10 rows', run: ({ table, rows }) => table.add(rows) },
  open: {
    title: 'connect and open',
    run: async ({ anew }) => (await (await anew()).openTable('t')).countRows(),
  },
  describe: {
    title: 'schema, version, count',
    run: async ({ table }) => [
      await table.schema(),
      await table.version(),
      await table.countRows(),
    ],
  },
  scan: {
    title: 'scan',
    of: 'fragments',
    run: async ({ table }) => touch(await table.query().toArrow()),
  },
  take: {
    title: 'take 3 rows',
    of: 'fragments',
    run: async ({ table, count }, n) => {
      const offsets = [0, Math.floor(((n + 1) * count * ROWS) / 7), count * ROWS - 1];
      return touch(await table.takeOffsets([...new Set(offsets)]).toArrow());
    },
  },
  listVersions: { title: 'listVersions', run: ({ table }) => table.listVersions() },
};

/** Operations on a catalog of so many tables. */
const ON_CATALOG = {
  list: { title: 'list the names', run: ({ connection }) => connection.tableNames() },
  openOne: {
    title: 'connect and open one',
    run: async ({ anew, count }) =>
      (await (await anew()).openTable(`t${Math.floor(count / 2)}`)).countRows(),
  },
};

function kinds({ folder, peers }) {
  const own = () => connect(folder('growth-own'), { durability: 'relaxed' });
  const other = () => peers.lancedb.connect(folder('growth-lance'));
  const found = { ours: { anew: own, arrow: ownArrow } };
  if (peers.has('lancedb')) found.lancedb = { anew: other, arrow: peers.arrow };
  return found;
}

/** One figure for each operation, in milliseconds, appended to the series of a side. */
async function measureAll(operations, state, samples, series) {
  for (const [name, { run }] of Object.entries(operations)) {
    const times = [];
    for (let n = 0; n < samples; n++) {
      const began = performance.now();
      await run(state, n);
      times.push(performance.now() - began);
    }
    const { median, min } = figure(times);
    series[name] ??= [];
    series[name].push({ count: state.count, median, min });
  }
}

async function growTable(steps, { anew, arrow }, samples, series) {
  const columns = tabular(ROWS);
  const connection = await anew();
  const table = await connection.createTable('t', tableOf(arrow, columns));
  const rows = tableOf(arrow, columns);
  let count = 1;
  for (const step of steps) {
    // The appends that are measured count.
    for (; count < step; count++) await table.add(tableOf(arrow, shifted(columns, count * ROWS)));
    const { append, ...reads } = ON_TABLE;
    await measureAll(reads, { table, anew, count }, samples, series);
    await measureAll({ append }, { table, rows, count }, samples, series);
    count += samples;
  }
}

async function growCatalog(steps, { anew, arrow }, samples, series) {
  const connection = await anew();
  const rows = smallTable(arrow);
  // The table of many versions is one of the names.
  let count = 1;
  await connection.createTable('t0', rows);
  for (const step of steps) {
    for (; count < step; count++) await connection.createTable(`t${count}`, rows);
    await measureAll(ON_CATALOG, { connection, anew, count }, samples, series);
  }
}

/** The chart of the series of all sides. */
export function drawGrowth(sides) {
  const titled = (operations, otherwise) =>
    Object.entries(operations).map(([name, { title, of = otherwise }]) => ({ name, title, of }));
  const panels = [...titled(ON_TABLE, 'versions'), ...titled(ON_CATALOG, 'tables')];
  const counts = Object.values(sides).flatMap(({ list }) => list.map(({ count }) => count));
  return chart({ panels, sides, names: SIDES, last: Math.max(...counts) });
}

/** Runs both series on each side and writes the chart and its figures. */
export async function growth(ctx, out = DOCS) {
  const most = STEPS.at(-1) * ctx.scale;
  const steps = STEPS.filter((step) => step <= Math.max(most, STEPS[1]));
  const samples = ctx.samples ?? SAMPLES;
  const sides = {};
  for (const [side, kind] of Object.entries(kinds(ctx))) {
    const series = {};
    await growTable(steps, kind, samples, series);
    await growCatalog(steps, kind, samples, series);
    sides[side] = series;
    console.log(`${SIDES[side]}: ${Object.keys(series).join(', ')} up to ${steps.at(-1)}`);
  }
  const json = JSON.stringify({ unit: 'ms', samples, node: process.version, sides }, null, 2);
  writeFileSync(join(out, 'growth.json'), `${json}\n`);
  writeFileSync(join(out, 'growth.svg'), drawGrowth(sides));
  console.log(`wrote growth.svg and growth.json into ${out}`);
}
