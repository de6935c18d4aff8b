/**
 * What writing for Lance costs: the same writes with `lance: 'read'` and `lance: 'off'` by turns, small commits in each mode, and Lance's
 * manifest of a table of many fragments, made in the process that wrote the table and in a fresh one.
 * Needs the built package: npm run build.
 *
 *   node bench/lance.mjs [--pairs 9] [--commits 1000] [--scale 1] [--fragments 1000,10000] [--only TEXT]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '9' },
    commits: { type: 'string', default: '1000' },
    scale: { type: 'string', default: '1' },
    fragments: { type: 'string', default: '1000,10000' },
    only: { type: 'string', default: '' },
    dist: { type: 'string', default: new URL('../dist', import.meta.url).pathname },
    manifest: { type: 'string' },
  },
});
const { connect } = await import(join(values.dist, 'index.js'));
const arrow = await import('apache-arrow');
const MODES = ['off', 'read'];

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

/** Wall and CPU milliseconds of some work. */
async function timed(work) {
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const started = performance.now();
  await work();
  const wall = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return { wall, cpu: (user + system) / 1000 };
}

/** The longest time that some work held the event loop. */
async function held(work) {
  let longest = 0;
  let last = performance.now();
  let over = false;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!over) setImmediate(look);
  };
  setImmediate(look);
  await work();
  over = true;
  await new Promise(setImmediate);
  return longest;
}

function columns(rows) {
  const floats = Float64Array.from({ length: rows }, (_, at) => at / 7);
  const texts = Array.from({ length: rows }, (_, at) => `text number ${at % 5000}`);
  return new arrow.Table({
    id: arrow.vectorFromArray(
      BigInt64Array.from({ length: rows }, (_, at) => BigInt(at)),
      new arrow.Int64(),
    ),
    x: arrow.makeVector(floats),
    y: arrow.makeVector(Float32Array.from(floats)),
    n: arrow.vectorFromArray(
      Array.from({ length: rows }, (_, at) => (at % 10 === 0 ? null : at)),
      new arrow.Int32(),
    ),
    flag: arrow.vectorFromArray(
      Array.from({ length: rows }, (_, at) => at % 3 === 0),
      new arrow.Bool(),
    ),
    text: arrow.vectorFromArray(texts, new arrow.Utf8()),
    at: arrow.vectorFromArray(
      Array.from({ length: rows }, (_, at) => new Date(at * 1000)),
      new arrow.TimestampMillisecond('UTC'),
    ),
  });
}

function vectors(rows) {
  const numbers = arrow.makeVector(Float32Array.from({ length: rows * 128 }, (_, at) => at % 97));
  const type = new arrow.FixedSizeList(128, new arrow.Field('item', new arrow.Float32(), true));
  const data = arrow.makeData({ type, length: rows, nullCount: 0, child: numbers.data[0] });
  return new arrow.Table({ vector: new arrow.Vector([data]) });
}

async function inCatalog(lance, work) {
  const root = mkdtempSync(join(tmpdir(), 'dirspace-bench-'));
  const db = await connect(root, { lance, durability: 'relaxed' });
  try {
    return await work(db, root);
  } finally {
    await db.close();
    rmSync(root, { recursive: true, force: true });
  }
}

const fragmentBytes = (root) => {
  const folder = join(root, 'data/t.table/data');
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
};

async function pairs(name, write) {
  if (!name.includes(values.only)) return;
  const ratios = { wall: [], cpu: [] };
  const times = { off: [], read: [] };
  const bytes = {};
  for (let pair = -1; pair < Number(values.pairs); pair++) {
    const found = {};
    // Each mode goes first every other time.
    for (const mode of pair % 2 === 0 ? MODES : [...MODES].reverse()) {
      found[mode] = await inCatalog(mode, async (db, root) => {
        const time = await timed(() => write(db));
        bytes[mode] = fragmentBytes(root);
        return time;
      });
    }
    // The first pair warms up.
    if (pair < 0) continue;
    for (const mode of MODES) times[mode].push(found[mode].wall);
    for (const kind of ['wall', 'cpu']) ratios[kind].push(found.read[kind] / found.off[kind]);
  }
  const percent = (part) => `${((part - 1) * 100).toFixed(1)} %`;
  console.log(
    `${name}: off ${median(times.off).toFixed(0)} ms, read ${median(times.read).toFixed(0)} ms; median of ${values.pairs} pairs: wall ${percent(median(ratios.wall))}, CPU ${percent(median(ratios.cpu))}, bytes ${percent(bytes.read / bytes.off)}`,
  );
}

/** Commits of one row to a table of each mode, a block of them by turns: what a commit takes grows with the table alike. */
async function commitsByTurns(count) {
  const name = `${count} commits of one row`;
  if (!name.includes(values.only)) return;
  const block = 20;
  const tables = [];
  for (const mode of ['off', 'read', 'sync', 'write']) {
    const root = mkdtempSync(join(tmpdir(), 'dirspace-bench-'));
    const db = await connect(root, { lance: mode, durability: 'relaxed' });
    const table = await db.createTable('t', one);
    tables.push({ mode, root, db, table, wall: [], cpu: [] });
  }
  // The first blocks warm up.
  for (let at = -10; at < count / block; at++) {
    for (const each of tables) {
      const time = await timed(async () => {
        for (let commit = 0; commit < block; commit++) await each.table.add(one);
      });
      if (at < 0) continue;
      each.wall.push(time.wall / block);
      each.cpu.push(time.cpu / block);
    }
    tables.push(tables.shift());
  }
  const off = tables.find(({ mode }) => mode === 'off');
  for (const { mode, wall, cpu } of tables) {
    const ratio = (kind) => median(kind.of.map((time, at) => time / off[kind.name][at])).toFixed(2);
    console.log(
      `${name}, ${mode}: ${(median(cpu) * 1000).toFixed(0)} us CPU each; of off: CPU ${ratio({ name: 'cpu', of: cpu })}, wall ${ratio({ name: 'wall', of: wall })}`,
    );
  }
  for (const { db, root } of tables) {
    await db.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Asks for the manifest of the newest version. */
async function manifest(db, where) {
  await db.namespace.describeTable({ id: ['t'] });
  let bytes = 0;
  let time;
  const longest = await held(async () => {
    time = await timed(async () => {
      const { version } = await db.namespace.describeTableVersion(
        { id: ['t'] },
        { forLance: true },
      );
      bytes = version.manifest_size;
    });
  });
  console.log(
    `  manifest ${where}: ${time.wall.toFixed(1)} ms, CPU ${time.cpu.toFixed(1)}, ${bytes} bytes, event loop held ${longest.toFixed(1)} ms`,
  );
}

if (values.manifest !== undefined) {
  const db = await connect(values.manifest);
  await manifest(db, 'in a fresh process');
  await db.close();
  process.exit(0);
}

const scale = Number(values.scale);
const [flat, wide] = [columns(1_000_000 * scale), vectors(100_000 * scale)];
await pairs('bulk of 1M rows x 7 columns', (db) => db.createTable('t', flat));
await pairs('bulk of 100k vectors of 128', (db) => db.createTable('t', wide));
const one = columns(1);
await commitsByTurns(Number(values.commits));

for (const count of 'manifest'.includes(values.only) ? values.fragments.split(',') : []) {
  await inCatalog('read', async (db, root) => {
    const table = await db.createTable('t', one);
    for (let at = 1; at < Number(count); at++) await table.add(one);
    console.log(`${count} fragments of 7 columns`);
    // Of a version of its own, which is the first that the process is asked for.
    await table.add(one);
    const fresh = [fileURLToPath(import.meta.url), '--dist', values.dist, '--manifest', root];
    process.stdout.write(execFileSync(process.execPath, fresh));
    await table.add(one);
    await manifest(db, 'of the process that wrote the table');
    await table.add(one);
    await manifest(db, 'of the next version');
  });
}
