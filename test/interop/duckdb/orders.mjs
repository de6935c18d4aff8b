// Orders random rows here and in DuckDB by random keys, both directions, nulls first and last, with limits
// and offsets, and compares the rows. Equal rows keep their row order here; DuckDB gets its row number as last key.
// node orders.mjs [--cases N] [--seed N] [--built FOLDER], after `npm run differential` has compiled the modules
import { parseArgs } from 'node:util';
import { generator } from './predicates.mjs';
import { randomRows } from './rows.mjs';

const { values: args } = parseArgs({
  options: {
    cases: { type: 'string', default: '500' },
    rows: { type: 'string', default: '900' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    built: { type: 'string', default: '../../../.build/src' },
  },
});
const seed = Number(args.seed);
const cases = Number(args.cases);
const ROWS = Number(args.rows);
console.log(`seed ${seed}, ${cases} cases`);

const base = new URL(`${args.built}/`, args.built.startsWith('/') ? 'file:///' : import.meta.url);
const { connect } = await import(new URL('index.js', base).href);
const { mkdtempSync, rmSync } = await import('node:fs');
const { tmpdir } = await import('node:os');

const rng = generator(seed);
const { random, int, pick } = rng;
const { db, table } = await randomRows(rng, ROWS);
const folder = mkdtempSync(`${tmpdir()}/orders-`);
const connection = await connect(folder, { durability: 'relaxed' });
const parts = [0, 70, 400, ROWS];
const ours = await connection.createTable('t', table.slice(0, parts[1]));
for (let part = 1; part < 3; part++) await ours.add(table.slice(parts[part], parts[part + 1]));

const KEYS = [
  'i8',
  'i32',
  'u32',
  'n64',
  'i64',
  'f',
  'g',
  's',
  'c',
  'dict',
  'b',
  'd',
  'ts',
  'dec',
  'st.a',
  'st.b',
];
let different = 0;
for (let at = 0; at < cases; at++) {
  const keys = Array.from({ length: 1 + int(3) }, () => ({
    columnName: pick(KEYS),
    ascending: random() < 0.5,
    nullsFirst: random() < 0.5,
  }));
  const limit = pick([1, 7, 60, ROWS]);
  const offset = pick([0, 0, 5, ROWS >> 1]);
  const filter = pick([undefined, undefined, 'i8 > 0', 's IS NOT NULL']);
  let query = ours.query().orderBy(keys).limit(limit).offset(offset).withRowId().select(['c']);
  if (filter !== undefined) query = query.where(filter);
  const mine = [];
  for (const { _rowid: id } of await query.toArray()) {
    mine.push(parts[Number(id >> 32n)] + Number(id & 0xffffffffn));
  }
  const order = keys.map(
    ({ columnName, ascending, nullsFirst }) =>
      `${columnName} ${ascending ? 'ASC' : 'DESC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`,
  );
  const where = filter === undefined ? '' : `WHERE ${filter}`;
  const sql = `SELECT rowid FROM t ${where} ORDER BY ${order.join(', ')}, rowid LIMIT ${limit} OFFSET ${offset}`;
  const theirs = (await db.runAndReadAll(sql)).getRows().map(([id]) => Number(id));
  if (mine.join() === theirs.join()) continue;
  different++;
  const row = mine.findIndex((id, place) => id !== theirs[place]);
  if (different < 6)
    console.log(`${sql}\n  place ${row}: ours ${mine[row]}, DuckDB ${theirs[row]}`);
}
console.log(`${cases - different} agree, ${different} differ`);
await connection.close();
rmSync(folder, { recursive: true });
process.exitCode = different > 0 ? 1 : 0;
