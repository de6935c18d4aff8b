/**
 * Asks dirspace and DuckDB the questions of public workloads, workload by workload (the files of workloads/): TPC-H, the
 * Star Schema Benchmark, page views as in ClickBench, the db-benchmark of H2O, and statements of an analyst. Compares the
 * rows and prints the medians of milliseconds and of processor time, ours before those of DuckDB; ends with code 1 where
 * values differ or a statement is refused.
 * node workloads.mjs [--scale 0.1] [--runs 3] [--threads 2] [--only tpch,ssb] [--statement TEXT] [--memory] [--folder F]
 * [--built FOLDER], after the modules are compiled. --memory asks each question of dirspace alone in a process of its
 * own, and prints the most memory that it had; --folder keeps the tables for further runs; --runs 0 only compares.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';

const { values: args } = parseArgs({
  options: {
    scale: { type: 'string', default: '0.1' },
    runs: { type: 'string', default: '3' },
    threads: { type: 'string', default: '2' },
    only: { type: 'string', default: 'tpch,analyst,ssb,hits,h2o' },
    statement: { type: 'string', multiple: true },
    memory: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
    folder: { type: 'string' },
    built: { type: 'string', default: '../../../.build/src' },
  },
});
const scale = Number(args.scale);
const runs = Number(args.runs);
const base = new URL(`${args.built}/`, args.built.startsWith('/') ? 'file:///' : import.meta.url);
const { connect } = await import(new URL('index.js', base).href);

const names = args.only.split(',');
const workloads = await Promise.all(
  names.map(async (name) => [name, await import(`./workloads/${name}.mjs`)]),
);
const wanted = ([, text], name) =>
  args.statement === undefined ||
  args.statement.some((one) => text === one || `${name} ${text}` === one);
const questions = workloads.flatMap(([name, { statements }]) =>
  Object.entries(statements(scale))
    .filter(([text]) => wanted([name, text], name))
    .map(([text, sql]) => ({ name: `${name} ${text}`, sql })),
);

const folder = args.folder ?? mkdtempSync(`${tmpdir()}/workloads-`);
if (args.folder === undefined) {
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}
mkdirSync(folder, { recursive: true });
const db = await connect(`${folder}/catalog`, { durability: 'relaxed' });
if (args.child) {
  await db.sql(questions[0].sql).toArrow();
  console.log(process.resourceUsage().maxRSS);
  process.exit(0);
}

const instance = await DuckDBInstance.create(`${folder}/duck.db`, { threads: args.threads });
const duck = await instance.connect();
await duck.run("SET TimeZone = 'UTC'");
const sources = new Set(names.map((name) => (name === 'analyst' ? 'tpch' : name)));
for (const source of sources) {
  const { tables } = await import(`./workloads/${source}.mjs`);
  for (const [name, select] of Object.entries(tables(scale))) {
    if (existsSync(`${folder}/${name}.made`)) continue;
    await duck.run(`CREATE OR REPLACE TABLE ${name} AS ${select}`);
    const file = `${folder}/${name}.parquet`;
    await duck.run(`COPY ${name} TO '${file}' (FORMAT parquet)`);
    await db.importFile(file, name, [], { mode: 'overwrite' });
    rmSync(file);
    mkdirSync(`${folder}/${name}.made`);
  }
}

const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function timed(work) {
  const samples = [];
  for (let run = 0; run <= runs; run++) {
    const [at, cpu] = [performance.now(), used()];
    await work();
    if (run > 0) samples.push({ time: performance.now() - at, cpu: used() - cpu });
  }
  const middle = (of) => samples.map(of).sort((a, b) => a - b)[samples.length >> 1];
  return { time: middle(({ time }) => time), cpu: middle(({ cpu }) => cpu) };
}

/** A value in a form that both sides have: numbers as numbers, times as microseconds since 1970, NaN as null. */
function plain(value) {
  if (value === null || value === undefined || value === 'NaN') return null;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.getTime() * 1000;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d+)?)?$/.test(value)) {
    return Date.parse(value.length > 10 ? `${value.replace(' ', 'T')}Z` : value) * 1000;
  }
  if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) {
    return Number(value);
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

const isSame = (a, b) =>
  a === b ||
  (typeof a === 'number' &&
    typeof b === 'number' &&
    Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b))) ||
  (Array.isArray(a) &&
    Array.isArray(b) &&
    a.length === b.length &&
    a.every((one, at) => isSame(one, b[at])));

/** Texts that put equal rows at one place: floats that differ in their last digits are near to each other. */
const keyOf = (row) =>
  row
    .map((value) => (typeof value === 'number' ? value.toPrecision(9) : String(value)))
    .join('\u0001');
const ordered = (rows) =>
  rows
    .map((row) => [keyOf(row), row])
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, row]) => row);

/** What differs between the answers of both; undefined where nothing does. */
function difference(ours, theirs, isOrdered) {
  if (ours.length !== theirs.length) return `${ours.length} rows, DuckDB has ${theirs.length}`;
  const [a, b] = isOrdered ? [ours, theirs] : [ordered(ours), ordered(theirs)];
  const at = a.findIndex((row, place) => !isSame(row, b[place]));
  return at < 0
    ? undefined
    : `row ${at}: ${JSON.stringify(a[at])}, DuckDB has ${JSON.stringify(b[at])}`;
}

let differing = 0;
let refused = 0;
const slow = [];
for (const { name, sql } of questions) {
  const child = () => {
    const more = ['--child', '--statement', name, '--folder', folder];
    const given = ['--only', args.only, '--scale', args.scale, '--built', args.built];
    const { stdout, stderr } = spawnSync(process.execPath, [
      import.meta.filename,
      ...more,
      ...given,
    ]);
    return `${Math.round(Number(stdout) / 1024) || stderr} MB`;
  };
  try {
    const theirs = (await duck.runAndReadAll(sql)).getRowsJson().map((row) => row.map(plain));
    const rows = await db.sql(sql).toArray();
    const ours = rows.map((row) => Object.values(row).map(plain));
    const found = difference(ours, theirs, /ORDER BY[^)]*$/.test(sql));
    if (found !== undefined) {
      differing++;
      console.log(`DIFFERS  ${name}: ${found}`);
    }
    if (args.memory) console.log(`${name.padEnd(48)} ${child()}`);
    if (runs === 0 || args.memory) continue;
    const we = await timed(() => db.sql(sql).toArrow());
    const they = await timed(() => duck.runAndReadAll(sql));
    const ratio = we.time / they.time;
    if (ratio > 3) slow.push(name);
    const shown = [we.time, we.cpu, they.time, they.cpu].map((ms) => ms.toFixed(1).padStart(9));
    console.log(`${name.padEnd(48)} ${shown.join(' ')} ${ratio.toFixed(2).padStart(7)}x`);
  } catch (error) {
    refused++;
    console.log(`REFUSED  ${name}: ${error.message}`);
  }
}
console.log(
  `${questions.length} statements: ${differing} with other values, ${refused} refused, ${slow.length} of more than three times DuckDB's time`,
);
process.exitCode = differing + refused > 0 ? 1 : 0;
