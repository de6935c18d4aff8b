// Compares the functions of JSON texts here and in DuckDB: random documents, each with all paths, those
// of several values too. Numbers with exponents and escapes of plain letters are left out: DuckDB writes
// them anew, and here they stay as they are.
// node json.mjs [--documents N] [--seed N] [--built FOLDER], after `npm run differential` has compiled the modules
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { generator } from './predicates.mjs';

const { values: args } = parseArgs({
  options: {
    documents: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    built: { type: 'string', default: '../../../.build/src' },
  },
});
const seed = Number(args.seed);
console.log(`seed ${seed}, ${args.documents} documents`);
const base = new URL(`${args.built}/`, args.built.startsWith('/') ? 'file:///' : import.meta.url);
const { connect } = await import(new URL('index.js', base).href);

const { int, pick } = generator(seed);
const NAMES = ['a', 'b', 'c', 'é', 'a b', '0', '1', '', 'x"y', 'a long name', '\u0001', 'a\\b'];
const TEXTS = ['', 'x', 'é😀', 'q"\\/\n\t', 'a'.repeat(40), '{"a":[1]}', '\u2028 \u0000z'];

function value(depth) {
  const kind = int(depth > 3 ? 6 : 10);
  if (kind === 0) return int(100_000) - 50_000;
  if (kind === 1) return int(1_000_000) / 7;
  if (kind === 2) return pick(TEXTS);
  if (kind === 3) return pick([null, true, false]);
  if (kind === 4) return pick([{}, []]);
  if (kind === 5) return int(10) * 12_345_678_901;
  const items = Array.from({ length: int(6) }, () => value(depth + 1));
  return kind > 7 ? items : Object.fromEntries(items.map((item) => [pick(NAMES), item]));
}

const documents = Array.from({ length: Number(args.documents) }, () =>
  JSON.stringify(value(0), null, pick([0, 0, 1])),
);
documents.push('123456789012345678901234567890', '-9223372036854775808', '18446744073709551615');
documents.push('{"a":1,"a":2}', '  [ 1 , 2 ] ');
const rows = documents.map((doc, id) => ({ id, doc }));

const PATHS = [
  ...[
    '$',
    '$.a',
    '$.b',
    '$.a.b',
    '$.é',
    '$."a b"',
    '$[0]',
    '$[1].a',
    '$[#-1]',
    '$.a[0]',
    '$.c[#-2]',
  ],
  ...['/a/0', '/0', '/a/b', 'a', 'x"y', '$.*', '$[*]', '$.a[*]', '$.*.a', '$[*][#-1]', '$.*[*].b'],
];
const CALLS = PATHS.map((path) => `'${path}'`).flatMap((path) => [
  ...[`doc -> ${path}`, `doc ->> ${path}`, `json_type(doc, ${path})`],
  ...[`json_array_length(doc, ${path})`, `json_keys(doc, ${path})`],
]);
CALLS.push('doc -> 0', 'doc ->> -1', 'json_type(doc)', 'json_valid(doc)', 'json_keys(doc)');

/** A value of either as plain JSON. */
function plain(given) {
  if (typeof given === 'bigint') return Number(given);
  if (typeof given !== 'object' || given === null) return given ?? null;
  return Array.from('items' in given ? given.items : given, plain);
}

const folder = mkdtempSync(`${tmpdir()}/json-`);
let different = 0;
let compared = 0;
try {
  const file = `${folder}/rows.ndjson`;
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  await duck.run(
    `CREATE TABLE t AS SELECT * FROM read_json('${file}', columns={id: 'BIGINT', doc: 'VARCHAR'})`,
  );
  const db = await connect(`${folder}/catalog`, { durability: 'relaxed' });
  await db.createTable('t', rows);
  for (const call of CALLS) {
    const sql = `SELECT ${call} AS v FROM t ORDER BY id`;
    const theirs = (await duck.runAndReadAll(sql)).getRows();
    const ours = await db.sql(sql).toArray();
    for (const [row, { v }] of ours.entries()) {
      compared++;
      const [mine, other] = [plain(v), plain(theirs[row][0])].map((one) => JSON.stringify(one));
      if (mine === other) continue;
      if (different++ < 10) console.log(`${call} of ${documents[row]}: ${mine}, DuckDB ${other}`);
    }
  }
  await db.close();
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${compared} values compared, ${different} differ`);
process.exitCode = different > 0 ? 1 : 0;
