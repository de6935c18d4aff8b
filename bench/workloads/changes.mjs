/** Changes of 1,000,000 rows: each sample has a table of its own on every side. */
import { tableOf, tabular } from '../harness/data.mjs';
import { Stores, W_TYPES } from '../harness/stores.mjs';
import { ROWS } from './reads.mjs';

const SAMPLES = 5;

const CHANGES = [
  {
    name: 'addColumns y = x * 2',
    goals: [{ times: 2 }],
    run: (t) => t.addColumns([{ name: 'y', valueSql: 'x * 2' }]),
    sql: (table) => [`ALTER TABLE ${table} ADD COLUMN y DOUBLE`, `UPDATE ${table} SET y = x * 2`],
  },
  {
    name: 'update 5 % of the rows, one column',
    goals: [{ times: 2 }],
    run: (t) => t.update({ where: "category = 'k03'", valuesSql: { x: 'x + 1' } }),
    sql: (table) => [`UPDATE ${table} SET x = x + 1 WHERE category = 'k03'`],
  },
  {
    name: 'update all rows, one column',
    goals: [{ times: 2 }],
    run: (t) => t.update({ valuesSql: { x: 'x + 1' } }),
    sql: (table) => [`UPDATE ${table} SET x = x + 1`],
  },
  {
    name: 'delete 1 % of the rows',
    goals: [{ times: 2 }],
    run: (t) => t.delete('id % 100 = 7'),
    sql: (table) => [`DELETE FROM ${table} WHERE id % 100 = 7`],
  },
];

/** After all samples: every side has to have the same rows. */
async function sumOf(table) {
  const found = await table.query().select(['x']).toArrow();
  return found
    .getChild('x')
    .toArray()
    .reduce((sum, x) => sum + x, 0);
}

export async function* changeWorkloads(ctx) {
  const samples = ctx.samples ?? SAMPLES;
  const columns = tabular(ctx.size(ROWS));
  for (const [index, { name, goals, run, sql }] of CHANGES.entries()) {
    if (!ctx.wants(name)) continue;
    const stores = await Stores.open(ctx, `change${index}`);
    for (let n = 0; n < samples; n++)
      await stores.create(`w${n}`, (arrow) => tableOf(arrow, columns));
    const { sides, tables } = await ownTables(ctx, stores, run, samples, columns);
    if (ctx.peers.has('duckdb')) {
      await stores.toDuck('w0', W_TYPES);
      for (let n = 1; n < samples; n++) await stores.duck.run(`CREATE TABLE w${n} AS FROM w0`);
      await stores.duck.run('CHECKPOINT');
      sides.duckdb = async (n) => {
        for (const statement of sql(`w${n}`)) await stores.duck.run(statement);
      };
    }
    yield { name, goals, samples, settled: true, sides };
    await compareSums(name, tables, stores);
    stores.close();
  }
}

/** LanceDB's two connections change files of their own. */
async function ownTables(ctx, stores, run, samples, columns) {
  const connections = { ours: stores.ours };
  if (ctx.peers.has('lancedb')) connections.lancedb = stores.lance;
  if (ctx.peers.has('lancedb-ns')) {
    const root = `${stores.paths.lance}-ns`;
    connections['lancedb-ns'] = await ctx.peers.lancedb.connectNamespace('dir', { root });
    const table = tableOf(ctx.peers.arrow, columns);
    for (let n = 0; n < samples; n++) await connections['lancedb-ns'].createTable(`w${n}`, table);
  }
  const sides = {};
  const tables = {};
  for (const [side, connection] of Object.entries(connections)) {
    const opened = [];
    for (let n = 0; n < samples; n++) opened.push(await connection.openTable(`w${n}`));
    tables[side] = opened[0];
    sides[side] = async (n) => {
      await run(opened[n]);
    };
  }
  return { sides, tables };
}

async function compareSums(name, tables, stores) {
  const expected = await sumOf(tables.ours);
  const close = (sum) => Math.abs(sum - expected) < 1e-6 * Math.abs(expected);
  for (const [side, table] of Object.entries(tables)) {
    if (!close(await sumOf(table))) throw new Error(`${name}: ${side} has other rows than ours`);
  }
  if (stores.duck === undefined) return;
  const sum = await stores.duck.number('SELECT sum(x) FROM w0');
  if (!close(sum)) throw new Error(`${name}: DuckDB has other rows than ours`);
}
