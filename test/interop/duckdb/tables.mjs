/**
 * Gives DuckDB the rows of tables through `dirspace/duckdb` and asks it in SQL for what they are: every type
 * by its text in DuckDB, nulls, nested values, versions, filters, refusals. Then 1,000,000 rows of 5 columns, with the
 * time they take. Needs the built package, which is copied beside DuckDB's: npm run differential.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const here = import.meta.dirname;
const project = join(here, '..', '..', '..');
const installed = join(here, 'node_modules', 'dirspace');
rmSync(installed, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
for (const part of ['dist', 'package.json']) {
  cpSync(join(project, part), join(installed, part), { recursive: true });
}

const { DuckDBInstance } = createRequire(import.meta.url)('@duckdb/node-api');
const { connect } = await import('dirspace');
const { registerTable, registerTables } = await import('dirspace/duckdb');
const arrow = await import('apache-arrow');
const { Field, Schema, makeData, vectorFromArray, RecordBatch, Struct, Table } = arrow;

const duck = await (await DuckDBInstance.create(':memory:')).connect();
const db = await connect('memory://');
const rowsOf = async (sql) => (await duck.runAndReadAll(sql)).getRows();
const texts = async (sql) =>
  (await rowsOf(sql)).map((row) => row.map((one) => one?.toString() ?? null));

const {
  Utf8,
  LargeUtf8,
  Utf8View,
  Binary,
  FixedSizeBinary,
  List,
  FixedSizeList,
  Map_,
  Dictionary,
} = arrow;
const big = (...values) => BigInt64Array.from(values);
const raw = (type, data, length = 3, nullBitmap) =>
  makeData({
    type,
    length,
    data,
    ...(nullBitmap === undefined ? {} : { nullBitmap, nullCount: 1 }),
  });
const text = (type, values) => vectorFromArray(values, type).data[0];

/** Name, column of three rows, DuckDB's type, and the values as DuckDB shows them. */
const COLUMNS = [
  ['i8', raw(new arrow.Int8(), Int8Array.of(-128, 0, 127)), 'TINYINT', ['-128', '0', '127']],
  [
    'i16',
    raw(new arrow.Int16(), Int16Array.of(-32768, 0, 32767)),
    'SMALLINT',
    ['-32768', '0', '32767'],
  ],
  [
    'i32',
    raw(new arrow.Int32(), Int32Array.of(-(2 ** 31), 0, 5), 3, Uint8Array.of(0b101)),
    'INTEGER',
    ['-2147483648', null, '5'],
  ],
  [
    'i64',
    raw(new arrow.Int64(), big(-(2n ** 63n), 2n ** 53n + 1n, 2n ** 63n - 1n)),
    'BIGINT',
    ['-9223372036854775808', '9007199254740993', '9223372036854775807'],
  ],
  [
    'i64n',
    raw(new arrow.Int64(), big(1n, 2n, 3n), 3, Uint8Array.of(0b011)),
    'BIGINT',
    ['1', '2', null],
  ],
  ['u8', raw(new arrow.Uint8(), Uint8Array.of(0, 1, 255)), 'UTINYINT', ['0', '1', '255']],
  ['u16', raw(new arrow.Uint16(), Uint16Array.of(0, 1, 65535)), 'USMALLINT', ['0', '1', '65535']],
  [
    'u32',
    raw(new arrow.Uint32(), Uint32Array.of(0, 1, 2 ** 32 - 1)),
    'UINTEGER',
    ['0', '1', '4294967295'],
  ],
  [
    'u64',
    raw(new arrow.Uint64(), BigUint64Array.of(0n, 1n, 2n ** 64n - 1n)),
    'UBIGINT',
    ['0', '1', '18446744073709551615'],
  ],
  [
    'f16',
    raw(new arrow.Float16(), Uint16Array.of(0x3c00, 0xc000, 0x7bff)),
    'FLOAT',
    ['1.0', '-2.0', '65504.0'],
  ],
  [
    'f32',
    raw(new arrow.Float32(), Float32Array.of(0.5, Number.NaN, -Infinity)),
    'FLOAT',
    ['0.5', 'nan', '-inf'],
  ],
  [
    'f64',
    raw(new arrow.Float64(), Float64Array.of(0.1, 1e300, -0)),
    'DOUBLE',
    ['0.1', '1e+300', '-0.0'],
  ],
  [
    'b',
    raw(new arrow.Bool(), Uint8Array.of(0b110), 3, Uint8Array.of(0b101)),
    'BOOLEAN',
    ['false', null, 'true'],
  ],
  [
    'utf8',
    text(new Utf8(), ['', 'é 🦆 and more than twelve bytes', null]),
    'VARCHAR',
    ['', 'é 🦆 and more than twelve bytes', null],
  ],
  ['large', text(new LargeUtf8(), ['a', 'b', 'c']), 'VARCHAR', ['a', 'b', 'c']],
  [
    'bin',
    text(new Binary(), [Uint8Array.of(0, 255), null, new Uint8Array(0)]),
    'BLOB',
    ['\\x00\\xFF', null, ''],
  ],
  [
    'fixed',
    text(new FixedSizeBinary(2), [Uint8Array.of(1, 2), Uint8Array.of(3, 4), null]),
    'BLOB',
    ['\\x01\\x02', '\\x03\\x04', null],
  ],
  [
    'dec',
    raw(
      new arrow.Decimal(2, 38, 128),
      Uint32Array.of(1230, 0, 0, 0, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0, 0, 0, 1),
    ),
    'DECIMAL(38,2)',
    ['12.30', '-0.01', '792281625142643375935439503.36'],
  ],
  [
    'dec9',
    raw(
      new arrow.Decimal(3, 9, 128),
      Uint32Array.of(1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0),
      3,
      Uint8Array.of(0b110),
    ),
    'DECIMAL(9,3)',
    [null, '0.002', '0.003'],
  ],
  [
    'day',
    raw(new arrow.DateDay(), Int32Array.of(-1, 0, 20000)),
    'DATE',
    ['1969-12-31', '1970-01-01', '2024-10-04'],
  ],
  [
    'dayms',
    raw(new arrow.DateMillisecond(), big(-86400000n, 0n, 86400000n)),
    'DATE',
    ['1969-12-31', '1970-01-01', '1970-01-02'],
  ],
  [
    't32',
    raw(new arrow.TimeMillisecond(), Int32Array.of(0, 1, 86399999)),
    'TIME',
    ['00:00:00', '00:00:00.001', '23:59:59.999'],
  ],
  [
    't64',
    raw(new arrow.TimeMicrosecond(), big(0n, 1n, 86399999999n)),
    'TIME',
    ['00:00:00', '00:00:00.000001', '23:59:59.999999'],
  ],
  [
    'tns',
    raw(new arrow.TimeNanosecond(), big(0n, 1n, 1000n)),
    'TIME_NS',
    ['00:00:00', '00:00:00.000000001', '00:00:00.000001'],
  ],
  [
    'tss',
    raw(new arrow.TimestampSecond(), big(-1n, 0n, 1n)),
    'TIMESTAMP_S',
    ['1969-12-31 23:59:59', '1970-01-01 00:00:00', '1970-01-01 00:00:01'],
  ],
  [
    'tsms',
    raw(new arrow.TimestampMillisecond(), big(-1n, 0n, 1n)),
    'TIMESTAMP_MS',
    ['1969-12-31 23:59:59.999', '1970-01-01 00:00:00', '1970-01-01 00:00:00.001'],
  ],
  [
    'tsus',
    raw(new arrow.TimestampMicrosecond(), big(-1n, 0n, 1n), 3, Uint8Array.of(0b101)),
    'TIMESTAMP',
    ['1969-12-31 23:59:59.999999', null, '1970-01-01 00:00:00.000001'],
  ],
  [
    'tsns',
    raw(new arrow.TimestampNanosecond(), big(-1n, 0n, 1n)),
    'TIMESTAMP_NS',
    ['1969-12-31 23:59:59.999999999', '1970-01-01 00:00:00', '1970-01-01 00:00:00.000000001'],
  ],
  [
    'tz',
    raw(new arrow.TimestampMillisecond('Europe/Berlin'), big(-1n, 0n, 1n)),
    'TIMESTAMP WITH TIME ZONE',
    ['1969-12-31 23:59:59.999+00', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00.001+00'],
  ],
  [
    'tzns',
    raw(new arrow.TimestampNanosecond('UTC'), big(-1000n, 0n, 1000n)),
    'TIMESTAMP WITH TIME ZONE',
    ['1969-12-31 23:59:59.999999+00', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00.000001+00'],
  ],
  [
    'dur',
    raw(new arrow.DurationSecond(), big(-1n, 0n, 90n)),
    'INTERVAL',
    ['-00:00:01', '00:00:00', '00:01:30'],
  ],
  [
    'months',
    raw(new arrow.IntervalYearMonth(), Int32Array.of(-1, 0, 14)),
    'INTERVAL',
    ['-1 month', '00:00:00', '1 year 2 months'],
  ],
  [
    'l',
    text(new List(new Field('item', new arrow.Int32(), true)), [[1, null], null, []]),
    'INTEGER[]',
    ['[1, NULL]', null, '[]'],
  ],
  [
    'ls',
    text(new List(new Field('item', new Struct([new Field('a', new Utf8(), true)]), true)), [
      [{ a: 'x' }, null],
      [],
      [{ a: null }],
    ]),
    'STRUCT(a VARCHAR)[]',
    ["[{'a': x}, NULL]", '[]', "[{'a': NULL}]"],
  ],
  [
    'v',
    text(new FixedSizeList(2, new Field('item', new arrow.Float32(), true)), [
      [1, 2],
      null,
      [3, 0.5],
    ]),
    'FLOAT[2]',
    ['[1.0, 2.0]', null, '[3.0, 0.5]'],
  ],
  [
    's',
    text(
      new Struct([
        new Field('a b', new arrow.Int32(), true),
        new Field('t', new List(new Field('item', new Utf8(), true)), true),
      ]),
      [{ 'a b': 1, t: ['x'] }, null, { 'a b': null, t: null }],
    ),
    'STRUCT("a b" INTEGER, t VARCHAR[])',
    ["{'a b': 1, 't': [x]}", null, "{'a b': NULL, 't': NULL}"],
  ],
  [
    'm',
    text(
      new Map_(
        new Field(
          'entries',
          new Struct([
            new Field('key', new Utf8(), false),
            new Field('value', new arrow.Int32(), true),
          ]),
          false,
        ),
      ),
      [
        new Map([
          ['a', 1],
          ['b', null],
        ]),
        new Map(),
        null,
      ],
    ),
    'MAP(VARCHAR, INTEGER)',
    ['{a=1, b=NULL}', '{}', null],
  ],
  [
    'dict',
    text(new Dictionary(new Utf8(), new arrow.Int8()), ['x', 'y', null]),
    'VARCHAR',
    ['x', 'y', null],
  ],
  ['nothing', makeData({ type: new arrow.Null(), length: 3 }), 'INTEGER', [null, null, null]],
];

const fields = COLUMNS.map(([name, data]) => new Field(name, data.type, true));
const schema = new Schema(fields);
const children = COLUMNS.map(([, data]) => data);
const whole = new Table([
  new RecordBatch(schema, makeData({ type: new Struct(fields), length: 3, children })),
]);

await duck.run("SET TimeZone = 'UTC'");
const types = await db.createTable('types', whole);
const made = await registerTable(duck, types);
assert.deepEqual(made, { name: 'types', version: 1, rows: 3 });
const described = Object.fromEntries(
  (await rowsOf('SELECT column_name, column_type FROM (DESCRIBE types)')).map(([name, type]) => [
    name,
    type,
  ]),
);
let compared = 0;
for (const [name, , type, expected] of COLUMNS) {
  assert.equal(described[name], type, name);
  const found = await texts(`SELECT "${name}"::VARCHAR FROM types`);
  assert.deepEqual(found.flat(), expected, name);
  compared += 3;
}
assert.equal(Object.keys(described).length, COLUMNS.length);
// Views are stored plainly and read as views.
const views = await db.createTable(
  'views',
  [{ v: 'a text of more than twelve bytes' }, { v: null }],
  [],
  {
    schema: new Schema([new Field('v', new Utf8View(), true)]),
  },
);
await registerTable(duck, views);
assert.deepEqual(await texts('SELECT v FROM views'), [
  ['a text of more than twelve bytes'],
  [null],
]);

// What DuckDB would hold as another value is refused, and nothing is left.
const refusals = [
  [
    raw(new arrow.TimestampNanosecond('UTC'), big(1n, 0n, 0n)),
    /c holds the value 1, which is no number of microseconds/,
  ],
  [raw(new arrow.DurationNanosecond(), big(0n, 0n, 7n)), /c holds the value 7/],
  [raw(new arrow.TimestampSecond('UTC'), big(2n ** 60n, 0n, 0n)), /microseconds of 64 bits/],
  [raw(new arrow.DateMillisecond(), big(1n, 0n, 0n)), /no number of days/],
  [
    raw(new arrow.Decimal(0, 76, 256), new Uint32Array(24)),
    /c is of decimal256.*DuckDB has no type/,
  ],
];
const left = `SELECT table_name FROM duckdb_tables() WHERE database_name = 'temp' AND table_name NOT IN ('types', 'views')`;
for (const [at, [data, message]] of refusals.entries()) {
  const type = new Struct([new Field('c', data.type, true)]);
  const batch = new RecordBatch(
    new Schema(type.children),
    makeData({ type, length: 3, children: [data] }),
  );
  const table = await db.createTable(`refused${at}`, new Table([batch]));
  await assert.rejects(registerTable(duck, table), { code: 'Unsupported', message });
  assert.deepEqual(await rowsOf(left), []);
}
const cased = await db.createTable('cased', [{ Id: 1, id: 2 }]);
await assert.rejects(registerTable(duck, cased), { code: 'Unsupported', message: /"Id" and "id"/ });
await registerTable(duck, cased, { columns: { Id: '"Id"', id_2: 'id' } });
assert.deepEqual(await rowsOf('SELECT "Id", id_2 FROM cased'), [[1, 2]]);

// Versions, tags, branches, filters, names.
const users = await db.createTable('users', [
  { id: 1n, name: 'Ada' },
  { id: 2n, name: 'Alan' },
]);
await (await users.tags()).create('first', 1);
await users.add([{ id: 3n, name: 'Grace' }]);
const side = await (await users.branches()).create('side', 'main', 1);
await side.add([{ id: 9n, name: 'Side' }]);
await (await users.tags()).create('side-tag', 2, { branch: 'side' });
const ids = async (name) => (await rowsOf(`SELECT id FROM "${name}" ORDER BY id`)).flat();
assert.deepEqual(await registerTable(duck, users), { name: 'users', version: 2, rows: 3 });
await registerTables(duck, {
  old: { table: users, version: 1 },
  tagged: { table: users, tag: 'first' },
  'side"s': { table: users, tag: 'side-tag' },
  branch: side,
  some: { table: users, where: 'id > 1', columns: ['id'] },
});
assert.deepEqual(await ids('old'), [1n, 2n]);
assert.deepEqual(await ids('tagged'), [1n, 2n]);
assert.deepEqual(await ids('side""s'), [1n, 2n, 9n]);
assert.deepEqual(await ids('branch'), [1n, 2n, 9n]);
assert.deepEqual(await ids('some'), [2n, 3n]);
const joined = 'SELECT u.name FROM users u JOIN "some" s ON u.id = s.id ORDER BY 1 DESC';
assert.deepEqual(await rowsOf(joined), [['Grace'], ['Alan']]);

// A name that is taken, and one that is replaced.
const taken = { code: 'InvalidInput', message: /has a table or view "users".*replace: true/ };
await assert.rejects(registerTable(duck, users), taken);
await registerTable(duck, users, { replace: true, where: 'id = 1' });
assert.deepEqual(await ids('users'), [1n]);
await duck.run('CREATE TABLE theirs (id BIGINT)');
await duck.run('CREATE VIEW seen AS SELECT 1 AS id');
for (const name of ['theirs', 'THEIRS', 'seen']) {
  await assert.rejects(registerTable(duck, users, { name, replace: true }), {
    code: 'InvalidInput',
  });
}
// All or none; what is there stays.
await assert.rejects(registerTables(duck, { fresh: users, cased2: cased }), {
  code: 'Unsupported',
});
await assert.rejects(
  registerTables(duck, { users: { table: users, replace: true, where: 'nonsense >' } }),
);
await assert.rejects(registerTables(duck, { x: users, X: users }), { code: 'InvalidInput' });
assert.deepEqual(await rowsOf("SELECT 1 FROM duckdb_tables() WHERE table_name = 'fresh'"), []);
assert.deepEqual(await ids('users'), [1n]);
await assert.rejects(
  registerTable(duck, users, { name: 'a', versoin: 1 }),
  /did you mean "version"/,
);
await assert.rejects(registerTable({}, users, { name: 'a' }), { code: 'InvalidInput' });
const aborted = AbortSignal.abort(new Error('enough'));
await assert.rejects(registerTable(duck, users, { name: 'a', signal: aborted }), /enough/);
// Within a transaction of the program.
await duck.run('BEGIN');
await registerTable(duck, users, { name: 'within' });
await duck.run('ROLLBACK');
assert.deepEqual(await rowsOf("SELECT 1 FROM duckdb_tables() WHERE table_name = 'within'"), []);

// What the page shows.
const page = readFileSync(join(project, 'docs', 'files.md'), 'utf8');
const [, example] = /^## DuckDB in Node[\s\S]*?^```text\n([\s\S]*?)^```$/m.exec(page);
writeFileSync(join(here, 'node_modules', 'example.mjs'), example);
const printed = execFileSync(process.execPath, [join(here, 'node_modules', 'example.mjs')]);
assert.equal(String(printed).trim(), /\/\/ (.*)$/m.exec(example)[1]);

// 1,000,000 rows of 5 columns.
const COUNT = 1_000_000;
const rows = Array.from({ length: 10 }, (_, part) => {
  const first = (part * COUNT) / 10;
  return Array.from({ length: COUNT / 10 }, (_, at) => ({
    id: BigInt(first + at),
    x: (first + at) / 4,
    name: `name ${(first + at) % 1000}`,
    at: new Date(first + at),
    ok: at % 2 === 0,
  }));
});
const many = await db.createTable('many', rows[0]);
for (const part of rows.slice(1)) await many.add(part);
let longest = 0;
let last = performance.now();
const watch = setInterval(() => {
  longest = Math.max(longest, performance.now() - last - 5);
  last = performance.now();
}, 5);
const began = performance.now();
const before = process.cpuUsage();
await registerTable(duck, many);
const took = performance.now() - began;
const { user, system } = process.cpuUsage(before);
clearInterval(watch);
const [sums] = await texts(
  'SELECT count(*), sum(id), sum(x), count(DISTINCT name), max("at"), sum(ok::INT) FROM many',
);
assert.deepEqual(sums, [
  '1000000',
  '499999500000',
  '124999875000',
  '1000',
  '1970-01-01 00:16:39.999',
  '500000',
]);
console.log(
  `${compared} values of ${COLUMNS.length} types are equal. 1,000,000 rows of 5 columns: ${Math.round(took)} ms, ${Math.round((user + system) / 1000)} ms of processor time, longest turn ${Math.round(longest)} ms.`,
);
