/**
 * One insert of a gigabyte and one query of it over HTTP, with the memory of the server, which is a
 * process of its own. Needs the built package: npm run build.
 * node bench/rest-stream.mjs [--megabytes 1024] [--limit 200] [--json]
 * Ends with 1 where the server grew by more than the limit, in megabytes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1024' },
    limit: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
    dist: { type: 'string', default: new URL('../dist', import.meta.url).pathname },
  },
});
const MIB = 2 ** 20;
const ROWS = 16_384;
const COLUMNS = 8;
/** Each of a megabyte: doubles that no encoding makes smaller. */
const batches = Number(values.megabytes);

const { connectNamespace } = await import(join(values.dist, 'index.js'));
const { Float64, makeData, makeTable, Table, Vector } = await import('apache-arrow');

const root = mkdtempSync(join(tmpdir(), 'dirspace-bench-'));
const serve = ['serve', '--root', root, '--port', '0', '--json'];
const server = spawn(process.execPath, [join(values.dist, 'cli/main.js'), ...serve], {
  stdio: ['ignore', 'pipe', 'ignore'],
  env: { ...process.env, DIRSPACE_LOG_LEVEL: 'error' },
});

const ended = new Promise((resolve) => server.once('exit', resolve));

/** Megabytes that the process has in memory now. */
function resident() {
  try {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
  } catch {
    return Number(spawnSync('ps', ['-o', 'rss=', '-p', server.pid]).stdout) / 1024;
  }
}

/** Runs `work` and tells the most memory that the server had meanwhile. */
async function watched(work) {
  const before = resident();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, resident());
  }, 20);
  const started = performance.now();
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  const seconds = (performance.now() - started) / 1000;
  return { seconds, before, peak: Math.max(peak, resident()), after: resident() };
}

function columns(seed) {
  return Array.from({ length: COLUMNS }, (_, column) => {
    const numbers = new Float64Array(ROWS);
    for (let row = 0; row < ROWS; row++) numbers[row] = Math.sin(seed * ROWS + row + column);
    return numbers;
  });
}

function tableOf(numbers) {
  const named = numbers.map((data, at) => [
    `c${at}`,
    new Vector([makeData({ type: new Float64(), data })]),
  ]);
  return new Table(Object.fromEntries(named));
}

async function* data() {
  for (let at = 0; at < batches; at++) yield* tableOf(columns(at)).batches;
}

const figures = {};
try {
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).once('line', resolve);
    ended.then((code) => reject(new Error(`the server ended with ${code}`)));
  });
  const { url } = JSON.parse(line);
  const db = await connectNamespace('rest', { uri: url });
  const table = await db.createTable('t', makeTable({ warm: new Float64Array(1) }));
  await table.query().toArray();
  figures.megabytes = batches;
  figures.start = resident();

  let stored;
  figures.insert = await watched(async () => {
    stored = await db.createTable('big', data());
  });
  let rows = 0;
  figures.query = await watched(async () => {
    for await (const batch of stored.query()) rows += batch.numRows;
  });
  if (rows !== batches * ROWS) throw new Error(`${rows} rows came back of ${batches * ROWS}`);
  await db.close();
} finally {
  server.kill('SIGTERM');
  await ended;
  rmSync(root, { recursive: true, force: true });
}

const growth = Math.max(figures.insert.peak, figures.query.peak) - figures.start;
figures.growth = growth;
figures.limit = Number(values.limit);
if (values.json) console.log(JSON.stringify(figures));
else {
  const round = (value) => value.toFixed(0).padStart(6);
  console.log(`server at start: ${round(figures.start)} MB`);
  for (const name of ['insert', 'query']) {
    const { seconds, peak, after } = figures[name];
    const speed = (batches * COLUMNS * ROWS * 8) / MIB / seconds;
    console.log(
      `${name.padEnd(6)} of ${batches} MB: ${seconds.toFixed(1)} s, ${round(speed)} MB/s, peak ${round(peak)} MB, after ${round(after)} MB`,
    );
  }
  console.log(`growth: ${round(growth)} MB, limit ${values.limit} MB`);
}
if (growth > figures.limit) process.exitCode = 1;
