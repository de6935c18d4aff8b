// Random statements over tables of 1,000 to 300,000 rows, through dirspace and through DuckDB on one thread: compares
// their rows, and lists those that take dirspace more than ten times the processor time of DuckDB and more than 200 ms.
// node outliers.mjs [--cases N] [--seed N] [--scale 1] [--statements further-statements.mjs] [--built FOLDER]
// [--list FILE], after `npm run build`; --statements names the file that makes the statements.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { generator } from './predicates.mjs';

const { values: args } = parseArgs({
  options: {
    cases: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    scale: { type: 'string', default: '1' },
    built: { type: 'string', default: '../../../dist' },
    list: { type: 'string' },
    statements: { type: 'string', default: 'outlier-statements.mjs' },
    sql: { type: 'string', multiple: true },
  },
});
const seed = Number(args.seed);
const scale = Number(args.scale);
const base = new URL(`${args.built}/`, args.built.startsWith('/') ? 'file:///' : import.meta.url);
const { connect } = await import(new URL('index.js', base).href);
const { statement } = await import(new URL(args.statements, import.meta.url).href);
const TIMES = 10;
const LEAST = 200;
const MOST_SECONDS = 20;

const rows = generator(7);
const { random, int, pick } = rows;
const DAY = 86_400_000;
const WORDS = [
  'amber',
  'birch',
  'cedar',
  'delta',
  'ember',
  'frost',
  'grove',
  'heath',
  'inlet',
  'jade',
];
const word = () => pick(WORDS);
const maybe = (share, make) => (random() < share ? null : make());
const make = (count, of) => Array.from({ length: count }, (_, row) => of(row));
const vector = (type, values) => arrow.vectorFromArray(values, type);
const sizes = { f: 300_000, g: 70_000, h: 10_000, m: 1_000 };
const count = (name) => Math.max(1_000, Math.round(sizes[name] * scale));
const ids = (name, nulls) => () => maybe(nulls, () => int(count(name)));
const int32 = new arrow.Int32();
const text = new arrow.Utf8();
const columns = {
  f: {
    id: [int32, (row) => row],
    gid: [int32, ids('g', 0.05)],
    hid: [int32, ids('h', 0.05)],
    mid: [int32, ids('m', 0)],
    k: [new arrow.Int64(), () => maybe(0.02, () => BigInt(int(50_000)))],
    c: [text, () => maybe(0.03, () => `${word()}-${int(100)}`)],
    s: [text, () => `${word()} ${word()} ${int(1e6)} ${word()}`],
    x: [new arrow.Float64(), () => maybe(0.05, () => random() * 1000)],
    b: [new arrow.Bool(), () => maybe(0.1, () => random() < 0.5)],
    d: [new arrow.DateDay(), () => maybe(0.02, () => new Date((int(4000) + 15_000) * DAY))],
    ts: [new arrow.TimestampMicrosecond(), () => (int(4000) + 15_000) * DAY + int(DAY)],
  },
  g: {
    id: [int32, (row) => row],
    fid: [int32, ids('f', 0.05)],
    hid: [int32, ids('h', 0.1)],
    k: [new arrow.Int64(), () => maybe(0.02, () => BigInt(int(50_000)))],
    c: [text, () => maybe(0.03, () => `${word()}-${int(100)}`)],
    y: [int32, () => int(100)],
    d: [new arrow.DateDay(), () => maybe(0.02, () => new Date((int(4000) + 15_000) * DAY))],
  },
  h: {
    id: [int32, (row) => row],
    mid: [int32, ids('m', 0.1)],
    name: [text, (row) => `${word()}-${row % 100}-${row}`],
    z: [new arrow.Float64(), () => maybe(0.05, () => Math.round(random() * 500) / 10)],
    c: [text, () => `${word()}-${int(100)}`],
  },
  m: {
    id: [int32, (row) => row],
    label: [text, () => maybe(0.05, word)],
    w: [int32, () => maybe(0.05, () => int(50))],
    c: [text, (row) => `${WORDS[row % 10]}-${Math.floor(row / 10)}`],
  },
};

const folder = mkdtempSync(`${tmpdir()}/outliers-`);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const ours = await connect(`${folder}/catalog`, { durability: 'relaxed' });
const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const duck = await instance.connect();
for (const [name, fields] of Object.entries(columns)) {
  const vectors = Object.entries(fields).map(([field, [type, of]]) => [
    field,
    vector(type, make(count(name), of)),
  ]);
  const table = await ours.createTable(name, new arrow.Table(Object.fromEntries(vectors)));
  const file = `${folder}/${name}.parquet`;
  await table.query().toParquet(file);
  await duck.run(`CREATE TABLE ${name} AS SELECT * FROM '${file}'`);
}
console.log(`seed ${seed}, ${args.cases} cases, rows ${Object.keys(sizes).map(count).join(', ')}`);

const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function inDuck(sql) {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    duck.interrupt();
  }, MOST_SECONDS * 500);
  const before = used();
  try {
    const reader = await duck.runAndReadAll(sql);
    const time = used() - before;
    const types = reader.columnTypes().map(String);
    return {
      time,
      rows: () =>
        reader.getRows().map((row) => row.map((value, at) => duckValue(value, types[at]))),
    };
  } catch (error) {
    return {
      error: late ? 'timeout' : String(error.message ?? error).split('\n')[0],
      time: used() - before,
    };
  } finally {
    clearTimeout(timer);
  }
}

async function inOurs(sql) {
  const before = used();
  try {
    const table = await ours.sql(sql).toArrow({ timeoutMs: MOST_SECONDS * 1000 });
    const time = used() - before;
    return { time, rows: () => oursOf(table) };
  } catch (error) {
    return { error: String(error.message ?? error).split('\n')[0], time: used() - before };
  }
}

const rounded = (value) =>
  Number.isFinite(value) ? String(Number(value.toPrecision(9)) + 0) : String(value);

function duckValue(value, type) {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return rounded(value);
  if (type.startsWith('DATE')) return String(value.days);
  if (type.startsWith('TIMESTAMP')) return String(value.micros);
  if (type.startsWith('DECIMAL')) return rounded(Number(String(value)));
  if (typeof value === 'bigint') return rounded(Number(value));
  if (typeof value === 'object' && 'items' in value)
    return JSON.stringify(value.items.map((item) => duckValue(item, '')));
  return String(value);
}

function oursOf(table) {
  const readers = table.schema.fields.map(({ type }, at) => {
    const column = table.getChildAt(at);
    if (arrow.DataType.isDate(type))
      return (row) => {
        const v = column.get(row);
        return v === null ? null : String(Math.round(Number(v) / DAY));
      };
    if (arrow.DataType.isTimestamp(type))
      return (row) => {
        const v = column.get(row);
        return v === null ? null : String(Math.round(Number(v) * 1000));
      };
    return (row) => ourValue(column.get(row), type);
  });
  return make(table.numRows, (row) => readers.map((read) => read(row)));
}

function ourValue(value, type) {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return rounded(value);
  if (typeof value === 'bigint') return rounded(Number(value));
  if (arrow.DataType.isDecimal(type)) return rounded(Number(String(value)) / 10 ** type.scale);
  if (arrow.DataType.isList(type))
    return JSON.stringify([...value].map((item) => ourValue(item, type.children[0].type)));
  return String(value);
}

const lines = (found, inOrder) => {
  const all = found.map((row) => JSON.stringify(row));
  return inOrder ? all : all.sort();
};

const rng = generator(seed);
const outliers = [];
const refused = new Map();
let wrong = 0;
let compared = 0;
const given = args.sql?.map((sql) => ({ sql, inOrder: false, group: 'given' }));
const total = given?.length ?? Number(args.cases);
for (let at = 0; at < total; at++) {
  const { sql, inOrder, group } = given?.[at] ?? statement(rng);
  const theirs = await inDuck(sql);
  if (theirs.error !== undefined) {
    if (!/timeout|INTERRUPT/i.test(theirs.error))
      console.log(`DUCKDB REFUSES ${sql}\n  ${theirs.error}`);
    continue;
  }
  const mine = await inOurs(sql);
  if (given !== undefined)
    console.log(`${mine.time.toFixed(0)} ms, DuckDB ${theirs.time.toFixed(0)} ms: ${sql}`);
  if (
    mine.error !== undefined &&
    !/aborted|timed? ?out|took longer|time limit|deadline/i.test(mine.error)
  ) {
    refused.set(mine.error.replace(/ \(at position \d+\)/, '').slice(0, 90), sql);
    if (given !== undefined) console.log(mine.error);
    continue;
  }
  compared++;
  if (mine.error === undefined) {
    const [a, b] = [lines(mine.rows(), inOrder), lines(theirs.rows(), inOrder)];
    const different = a.length !== b.length ? -1 : a.findIndex((line, place) => line !== b[place]);
    if (a.length !== b.length || different >= 0) {
      wrong++;
      const place = Math.max(
        0,
        a.findIndex((line, at) => line !== b[at]),
      );
      console.log(
        `WRONG (case ${at}) ${sql}\n  ours ${a.length} rows: ${a[place]}\n  DuckDB ${b.length} rows: ${b[place]}`,
      );
    }
  }
  if (mine.error !== undefined || (mine.time > LEAST && mine.time > TIMES * theirs.time)) {
    outliers.push({ at, group, ours: mine.time, duck: theirs.time, sql, error: mine.error });
  }
}
outliers.sort((a, b) => b.ours - a.ours);
for (const { at, group, ours: mine, duck: theirs, sql, error } of outliers) {
  console.log(
    `OUTLIER ${group} (${at}): ${mine.toFixed(0)} ms, DuckDB ${theirs.toFixed(0)} ms${error === undefined ? '' : `, ${error}`}\n  ${sql}`,
  );
}
for (const [error, sql] of refused) console.log(`REFUSED ${error}\n  ${sql}`);
console.log(
  `${compared} compared, ${wrong} wrong, ${outliers.length} outliers, ${refused.size} kinds of refusals`,
);
if (args.list !== undefined) writeFileSync(args.list, JSON.stringify(outliers, null, 1));
process.exit(wrong === 0 ? 0 : 1);
