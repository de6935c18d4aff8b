/**
 * First queries: each of these predicates is the first thing that a fresh process asks a table it has
 * opened. Nothing else in the repository contains them, which test/package/bench.test.ts holds.
 */
import { runChild } from '../harness/child.mjs';
import { tableOf, tabular } from '../harness/data.mjs';
import { figure } from '../harness/measure.mjs';
import { Stores, W_TYPES } from '../harness/stores.mjs';
import { ROWS } from './reads.mjs';

export const PREDICATES = [
  'x BETWEEN 0.3119 AND 0.3127',
  'id IN (17, 4211, 90871, 500113, 811117)',
  'id * 3 - 11 > 1499981 AND x < 0.271',
  'abs(x - 0.6180) < 0.00043',
  'x * x + 0.25 > 1.2391',
  'id % 1013 = 77',
  "category IN ('k05', 'k11', 'k19')",
  "category > 'k16' AND x < 0.0131",
  "text LIKE 'zq%'",
  "text LIKE '%0qz%'",
  "upper(text) LIKE '%QQX%'",
  "starts_with(text, 'm3')",
  'length(text) = 37',
  "right(text, 2) = 'hj'",
  "concat(category, '-') = 'k07-'",
  "NOT (category = 'k02' OR x >= 0.1077)",
  "id % 2 = 1 AND x < 0.0719 AND category <> 'k13'",
  'cast(x * 1000 AS int) = 431',
  'floor(x * 37) = 21 AND id > 600011',
  "coalesce(nullif(category, 'k09'), 'none') = 'none'",
];

const PROCESSES = 3;

export async function* predicateWorkloads(ctx) {
  const stores = await Stores.open(ctx, 'predicates');
  const columns = tabular(ctx.size(ROWS));
  await stores.create('w', (arrow) => tableOf(arrow, columns));
  await stores.toDuck('w', W_TYPES);
  // DuckDB's file is for one process at a time.
  stores.close();
  const folders = { ours: stores.paths.ours };
  if (ctx.peers.has('lancedb')) folders.lancedb = stores.paths.lance;
  if (ctx.peers.has('lancedb-ns')) folders['lancedb-ns'] = stores.paths.lance;
  if (ctx.peers.has('duckdb')) folders.duckdb = stores.paths.duckdb;
  for (const sql of PREDICATES.slice(0, ctx.size(PREDICATES.length, 2))) {
    const name = `first query of a process: ${sql}`;
    if (!ctx.wants(name)) continue;
    yield { name, goals: [{ times: 1 / 1.5 }], figures: firstCalls(ctx, folders, sql) };
  }
}

function firstCalls({ samples = PROCESSES }, folders, sql) {
  const figures = {};
  const answers = new Set();
  const found = Object.entries(folders).map(([side, folder]) => ({
    side,
    folder,
    times: [],
    cpu: 0,
  }));
  for (let process = 0; process < samples; process++) {
    for (const entry of found) {
      const { side, folder } = entry;
      if (entry.refused) continue;
      const { ms, cpu, answer, refused } = runChild({
        side,
        folder,
        table: 'w',
        call: 'count',
        sql,
      });
      if (refused) {
        entry.refused = refused;
        continue;
      }
      entry.times.push(ms);
      entry.cpu += cpu;
      if (side !== 'duckdb') answers.add(answer);
    }
  }
  if (answers.size > 1) throw new Error(`${sql} finds ${[...answers].join(' or ')} rows`);
  for (const { side, times, cpu, refused } of found) {
    figures[side] = refused ? { refused } : figure(times, cpu);
  }
  return figures;
}
