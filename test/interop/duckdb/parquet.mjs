// Parquet and exports beside DuckDB: files that DuckDB writes of random rows of its types are read here, and
// files that are written here of the same rows, as Parquet, CSV and lines of JSON, are read by DuckDB.
// node parquet.mjs [--cases N] [--seed N], after `npm run build`; DuckDB is that of this folder
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { connect } from '../../../dist/index.js';
import { generator } from './predicates.mjs';

const { values: args } = parseArgs({
  options: {
    cases: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(args.seed);
const { int, pick, random } = generator(seed);
const folder = mkdtempSync(join(tmpdir(), 'parquet-'));
const duck = await (await DuckDBInstance.create()).connect();
await duck.run("SET TimeZone = 'UTC'");
const db = await connect(join(folder, 'catalog'), { durability: 'relaxed' });

/** SQL of a value of each type; i is the number of the row. */
const TYPES = {
  TINYINT: () => `(i * ${int(50) + 1} % 128)`,
  SMALLINT: () => `(i * ${int(500) + 1} % 30000 - 15000)`,
  INTEGER: () => `(i * ${int(5000) + 1} - 100000)`,
  BIGINT: () => `(i * ${int(50_000) + 1}::BIGINT + 9007199254740993)`,
  UTINYINT: () => '(i % 256)',
  USMALLINT: () => '(i % 65536)',
  UINTEGER: () => '(4294967295 - i)',
  UBIGINT: () => '(18446744073709551615::UBIGINT - i)',
  FLOAT: () => pick(['(i / 8)', "'nan'", "'infinity'", '(-i / 4)']),
  DOUBLE: () => pick(['(i / 7)', "'nan'", "'-infinity'", '(1e300 * i)']),
  BOOLEAN: () => `(i % ${int(4) + 1} = 0)`,
  VARCHAR: () =>
    pick(["('text ' || i)", '(\'a,"b"\n\' || i % 3)', "''", "'é𝄞'", "repeat('x', i % 50)"]),
  DATE: () => `(DATE '1969-12-30' + (i * ${int(400) + 1})::INTEGER)`,
  TIME: () => "(TIME '00:00:00.000001' + to_seconds(i % 86000))",
  TIMESTAMP: () => "(TIMESTAMP '1969-12-31 23:59:59.999999' + to_hours(i))",
  TIMESTAMP_NS: () => "(TIMESTAMP '2020-01-01' + to_minutes(i))",
  TIMESTAMP_MS: () => "(TIMESTAMP '2020-01-01' + to_minutes(i))",
  TIMESTAMPTZ: () => "(TIMESTAMPTZ '2020-01-01 00:00:00+02' + to_hours(i))",
  'DECIMAL(4,1)': () => '(i % 900 / 10)',
  'DECIMAL(18,6)': () => '(i / 1000)',
  'DECIMAL(38,10)': () => "('12345678901234567890.0123456789')",
  BLOB: () => "(('bytes ' || i)::BLOB)",
  UUID: () => "('00000000-0000-4000-8000-' || lpad(i::VARCHAR, 12, '0'))",
};
const NESTED = {
  list: (type, value) => [`${type}[]`, `[${value}, NULL, ${value}]`],
  empty: (type, value) => [`${type}[]`, `(CASE WHEN i % 2 = 0 THEN [] ELSE [${value}] END)`],
  struct: (type, value) => [`STRUCT(a ${type}, b INTEGER)`, `{'a': ${value}, 'b': i}`],
  lists: (type, value) => [`${type}[][]`, `[[${value}], [], NULL]`],
  map: (type, value) => [`MAP(INTEGER, ${type})`, `map([i, i + 1], [${value}, NULL])`],
};

function column(at) {
  const type = pick(Object.keys(TYPES));
  let [declared, value] = [type, `${TYPES[type]()}::${type}`];
  if (random() < 0.3) [declared, value] = NESTED[pick(Object.keys(NESTED))](declared, value);
  const nulls = pick([0, 0, 3, 5, 1]);
  const cell = nulls === 0 ? value : `CASE WHEN i % ${nulls} = 0 THEN NULL ELSE ${value} END`;
  return { name: `c${at}`, type, declared, sql: `(${cell})::${declared} AS c${at}` };
}

/** All rows of a query as one text, in their order. */
async function rowsOf(sql) {
  const rows = await (await duck.run(sql)).getRows();
  return rows.map((row) => String(row[0]));
}

/** Columns as text of DuckDB, which is the same however a file has them. */
const asText = (columns) =>
  `[${columns.map(({ name }) => `coalesce(${name}::VARCHAR, '<null>')`).join(', ')}]::VARCHAR`;

let bad = 0;
const count = {};
async function compare(what, sql, expected, told) {
  count[what] = (count[what] ?? 0) + 1;
  const found = await rowsOf(sql).catch((error) => [error.message]);
  const at = expected.findIndex((row, index) => row !== found[index]);
  if (at < 0 && found.length === expected.length) return;
  bad++;
  console.log(`${what}: ${told}\n  row ${at}: ${found[at]}\n  expected ${expected[at]}`);
}

for (let each = 0; each < Number(args.cases); each++) {
  const columns = Array.from({ length: 1 + int(6) }, (_, at) => column(at));
  const rows = pick([0, 1, 7, 100, 3000]);
  const told = columns.map(({ declared }) => declared).join(', ');
  const query = `SELECT ${columns.map(({ sql }) => sql).join(', ')} FROM range(${rows}) r(i)`;
  const file = join(folder, `${each}.parquet`);
  const codec = pick(['snappy', 'zstd', 'gzip', 'brotli', 'lz4_raw', 'uncompressed']);
  const version = pick(['v1', 'v2']);
  const more = `FORMAT parquet, COMPRESSION ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 2048`;
  await duck.run(`COPY (${query}) TO '${file}' (${more})`);
  const expected = await rowsOf(`SELECT ${asText(columns)} FROM '${file}'`);
  const { table } = await db.importFile(file, `t${each}`);
  const compression = pick(['snappy', 'zstd', 'gzip', 'none']);
  const ours = join(folder, `ours${each}.parquet`);
  await table.toParquet(ours, { compression, rowGroupRows: pick([1000, 1_000_000]) });
  await compare(`Parquet`, `SELECT ${asText(columns)} FROM '${ours}'`, expected, told);
  // Formats of text: with the types said, of columns that both write in the same form.
  const plain = columns.filter(
    ({ type, declared }) => type === declared && type !== 'BLOB' && type !== 'UUID',
  );
  if (plain.length === 0) continue;
  const texts = await rowsOf(`SELECT ${asText(plain)} FROM '${file}'`);
  const types = `{${plain.map(({ name, declared }) => `${name}: '${declared}'`).join(', ')}}`;
  const names = plain.map(({ name }) => name);
  const json = join(folder, `${each}.ndjson`);
  await table.query().select(names).toJsonLines(json);
  const reading = `read_json('${json}', columns = ${types}, format = 'newline_delimited')`;
  if (rows > 0) await compare('NDJSON', `SELECT ${asText(plain)} FROM ${reading}`, texts, told);
  const csv = join(folder, `${each}.csv`);
  await table.query().select(names).toCsv(csv, { null: 'NULL' });
  const how = `columns = ${types}, header = true, nullstr = 'NULL', delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false, auto_detect = false`;
  await compare('CSV', `SELECT ${asText(plain)} FROM read_csv('${csv}', ${how})`, texts, told);
}
await db.close();
rmSync(folder, { recursive: true, force: true });
console.log(`seed ${seed}: ${JSON.stringify(count)}, ${bad} differ`);
process.exitCode = bad === 0 ? 0 : 1;
