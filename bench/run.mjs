/**
 * Runs the workloads against dirspace, both connections of LanceDB, and DuckDB on its own file and on
 * Parquet where they can do the same. Sides take turns sample by sample, in one process. Prints medians,
 * ratios and goals; `--json` writes medians, minima and processor time. `npm run bench -- --help` shows
 * the options; see docs/benchmarks.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { against, describe, goalsOf, reached } from './harness/goals.mjs';
import { measure } from './harness/measure.mjs';
import { BadOption, optionsOf, usage } from './harness/options.mjs';
import { loadPeers } from './harness/peers.mjs';

/** Loaded when they run: a suite's module is as heavy as what it measures. */
const SUITES = {
  catalog: async () => (await import('./workloads/catalog.mjs')).catalogWorkloads,
  tables: async () => (await import('./workloads/tables.mjs')).tableWorkloads,
  memory: async () => (await import('./workloads/memory.mjs')).memoryWorkloads,
  cold: async () => (await import('./workloads/cold.mjs')).coldWorkloads,
  queries: async () => (await import('./workloads/queries.mjs')).queryWorkloads,
  sql: async () => (await import('./workloads/sql.mjs')).sqlWorkloads,
  predicates: async () => (await import('./workloads/predicates.mjs')).predicateWorkloads,
  visits: async () => (await import('./workloads/visits.mjs')).visitWorkloads,
  changes: async () => (await import('./workloads/changes.mjs')).changeWorkloads,
  writers: async () => (await import('./workloads/writers.mjs')).writerWorkloads,
  wide: async () => (await import('./workloads/wide.mjs')).wideWorkloads,
  many: async () => (await import('./workloads/many.mjs')).manyWorkloads,
  files: async () => (await import('./workloads/files.mjs')).filesWorkloads,
  disk: async () => (await import('./workloads/disk.mjs')).diskWorkloads,
  search: async () => (await import('./workloads/search.mjs')).searchWorkloads,
  vectors: async () => (await import('./workloads/vectors.mjs')).vectorWorkloads,
  ui: async () => (await import('./workloads/ui.mjs')).uiWorkloads,
};

const options = commandLine();
const root = mkdtempSync(join(tmpdir(), 'dirspace-bench-'));
const ctx = {
  root,
  scale: options.scale,
  folder: (name) => join(root, name),
  size: (count, least = 1) => Math.max(least, Math.round(count * options.scale)),
  samples: options.samples,
  peers: await loadPeers(options.peers),
  /** Whether a row of this name is asked for; suites ask before they prepare what is costly. */
  wants: (name) => options.only?.some((text) => name.includes(text)) ?? true,
};
const rows = [];
try {
  if (options.growth) await (await import('./growth.mjs')).growth(ctx, options.out);
  else for (const name of options.suites) await runSuite(name);
} finally {
  rmSync(root, { recursive: true, force: true });
}
if (!options.growth) summary();
// LanceDB's threads would keep the process alive.
process.exit();

/** Ends the process where nothing is to be measured: after the usage, and with 2 for what cannot be used. */
function commandLine() {
  const suites = Object.keys(SUITES);
  try {
    const options = optionsOf(process.argv.slice(2), suites);
    if (options !== undefined) return options;
    console.log(usage(suites));
    process.exit(0);
  } catch (error) {
    if (!(error instanceof BadOption)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}

async function runSuite(suite) {
  const workloads = await SUITES[suite]();
  for await (const workload of workloads(ctx)) {
    if (!ctx.wants(workload.name)) continue;
    const row = await rowOf(suite, workload);
    rows.push(row);
    print(row);
    if (options.json !== undefined) {
      const text = JSON.stringify({ scale: options.scale, node: process.version, rows }, null, 2);
      writeFileSync(options.json, `${text}\n`);
    }
  }
}

/** `ours_ms`, `peer_ms` and what stands beside them are the members that results had before `sides`. */
async function rowOf(suite, workload) {
  const sides = workload.figures ?? (await measure(workload, ctx.samples));
  const goals = goalsOf(workload);
  const first = goals.find((goal) => goal.against !== undefined)?.against;
  const peer = against(sides) ?? against(sides, first ?? Object.keys(sides)[1]);
  const row = {
    suite,
    workload: workload.name,
    unit: workload.unit ?? 'ms',
    ...workload.firsts?.(),
    ours_ms: sides.ours.median,
    peer_ms: peer?.median ?? null,
    ratio: peer === undefined ? null : peer.median / sides.ours.median,
    goal: goals.map((goal) => describe(goal, workload.unit ?? 'ms')).join(', ') || null,
    sides,
  };
  const all = goals.map((goal) => reached(sides, goal));
  if (row.first_ms > row.peer_first_ms) all.push(false);
  const known = all.filter((ok) => ok !== null);
  return { ...row, ok: known.length === 0 ? null : known.every(Boolean) };
}

function print(row) {
  const number = (value) => value.toFixed(value < 10 ? 3 : 1);
  const { ours, ...others } = row.sides;
  const cpu = ours.cpu === null ? '' : ` (CPU ${number(ours.cpu)})`;
  const parts = Object.entries(others).map(([name, { median }]) =>
    median === undefined ? `${name} refuses it` : `${name} ${number(median)}`,
  );
  if (row.first_ms !== undefined) {
    parts.push(`first ${number(row.first_ms)} against ${number(row.peer_first_ms ?? 0)}`);
  }
  const ratio = row.ratio === null ? '' : `${row.ratio.toFixed(2)}x`;
  const verdict = row.ok === null ? '' : row.ok ? 'reached' : 'SHORT';
  const figures = `${number(ours.median)} ${row.unit}${cpu}`;
  console.log(
    `${row.workload.padEnd(58)} ${figures.padEnd(26)} ${ratio.padStart(9)}  goal ${(row.goal ?? '-').padEnd(24)} ${verdict.padEnd(7)}  ${parts.join('  ')}`,
  );
}

function summary() {
  const short = rows.filter((row) => row.ok === false);
  const names = short.map((row) => row.workload).join('; ');
  console.log(
    short.length === 0 ? '\nEvery row reaches its goal.' : `\nShort of their goals: ${names}`,
  );
}
