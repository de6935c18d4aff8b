/** What is sent: requests that cost much for their length, none of them written for the engine as it is. */
import * as zlib from 'node:zlib';
import { arrow, batch, DIMENSION, field, mixed, narrowAt, numbers, wideSchema } from './data.mjs';

const { Int32, Float64, List, Schema, Utf8, makeData, tableToIPC, Table } = arrow;

const several = (count, of, joint) => Array.from({ length: count }, (_, at) => of(at)).join(joint);
const aliases = (count, of) => ({
  columns: {
    column_aliases: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`y${at}`, of(at)]),
    ),
  },
});

const query = (name, table, members, more = {}) => ({
  name,
  path: `/v1/table/${table}/query`,
  body: () => ({ k: 10, vector: {}, ...members }),
  ...more,
});
const count = (name, table, predicate, more = {}) => ({
  name,
  path: `/v1/table/${table}/count_rows`,
  body: () => ({ predicate: typeof predicate === 'function' ? predicate() : predicate }),
  ...more,
});
const take = (name, table, members) => ({
  name,
  path: `/v1/dirspace/table/${table}/take_rows`,
  body: () => members(),
});
const post = (name, path, body, more = {}) => ({
  name,
  path,
  body: typeof body === 'function' ? body : () => body,
  ...more,
});

export const ipc = (...batches) => tableToIPC(new Table(batches), 'stream');

/** Rows of the narrow table, all in one message. */
const narrowRows = (first, rows) => ipc(narrowAt(first, rows));

/** A SELECT over the first million rows of the narrow table, or what else it names. */
const statement = (name, sql, more = {}) =>
  post(
    `statement: ${name}`,
    '/v1/dirspace/sql',
    { sql, id: [] },
    { timeout: 60, table: 'narrow', ...more },
  );
const MILLION = '(SELECT * FROM narrow WHERE id < 1000000) n';

const day = (at) => new Date(at * 86_400_000).toISOString().slice(0, 10);

/** Bytes that Node compresses; written by hand as Arrow's own compression is not in this release. */
const order = (column_name, more = {}) => ({ order_by: [{ column_name, ...more }] });

export const REQUESTS = [
  // Expressions
  query('1,000 computed columns', 'narrow', { ...aliases(1_000, (at) => `x + ${at}`), k: 100_000 }),
  query('1,000 computed columns of texts', 'narrow', {
    ...aliases(1_000, (at) => `concat(s, '${at}')`),
    k: 2_000,
  }),
  query('CASE of 900 branches', 'narrow', {
    ...aliases(
      1,
      () => `CASE ${several(900, (at) => `WHEN id = ${at * 7} THEN ${at}`, ' ')} ELSE -1 END`,
    ),
    k: 200_000,
  }),
  count(
    'CASE of 900 branches in a filter',
    'narrow',
    `CASE ${several(900, (at) => `WHEN id % 1000 = ${at} THEN ${at}`, ' ')} ELSE -1 END = 17`,
    { timeout: 4 },
  ),
  count(
    '900 ORs of arithmetic',
    'narrow',
    several(900, (at) => `id * ${at} + x > ${at}e15`, ' OR '),
    { timeout: 4 },
  ),
  count('IN of 90,000 texts', 'narrow', () => `s IN (${several(90_000, (at) => `'t${at}'`, ',')})`),
  count(
    'IN of 60,000 dates',
    'narrow',
    () => `day IN (${several(60_000, (at) => `DATE '${day(at % 30_000)}'`, ',')})`,
  ),
  count(
    'IN of 60,000 texts as dates',
    'narrow',
    () => `day IN (${several(60_000, (at) => `'${day(at % 30_000)}'`, ',')})`,
  ),
  count(
    'IN of 90,000 decimals',
    'money',
    () => `price IN (${several(90_000, (at) => `${at}.25`, ',')})`,
  ),
  count(
    'IN of 90,000 integers of 64 bits',
    'money',
    () => `id IN (${several(90_000, (at) => String(at * 31), ',')})`,
  ),
  count(
    'IN of computed texts',
    'narrow',
    () => `upper(s) IN (${several(50_000, (at) => `'T${at}'`, ',')})`,
    { timeout: 4 },
  ),
  count(
    'NOT IN of 90,000 and NULL',
    'narrow',
    () => `id NOT IN (${several(90_000, (at) => String(at), ',')}, NULL)`,
  ),
  count(
    'IN of 90,000 negative numbers',
    'narrow',
    () => `id + 1 IN (${several(90_000, (at) => String(-at), ',')})`,
  ),
  count(
    'IN of 200,000 short numbers',
    'narrow',
    () => `id IN (${several(200_000, (at) => String(-(at % 10)), ',')})`,
  ),
  count('14,000 ORs', 'narrow', () => several(14_000, (at) => `id = ${at}`, ' OR '), {
    timeout: 4,
  }),
  query('a list of 29,000 items', 'narrow', {
    ...aliases(1, () => `array_length([${several(29_000, (at) => String(at), ',')}])`),
    k: 200,
  }),
  query('a list of 15,000 items and a column', 'narrow', {
    ...aliases(1, () => `array_length([id, ${several(15_000, (at) => String(at), ',')}])`),
    k: 200,
  }),
  count(
    'COALESCE of 500',
    'narrow',
    `coalesce(${several(500, (at) => `nullif(id % 500, ${at})`, ', ')}, 1) = 3`,
    { timeout: 4 },
  ),
  count(
    '300 LIKEs',
    'narrow',
    several(300, (at) => `s LIKE '%${at}%z%'`, ' OR '),
    { timeout: 4 },
  ),
  count(
    'sums 400 deep',
    'narrow',
    `${'('.repeat(400)}x${several(400, (at) => ` + ${at})`, '')} > 5`,
    { timeout: 4 },
  ),
  count('\\w for the first time', 'narrow', "regexp_like(s, '^\\w+\\W\\w+$')", { timeout: 4 }),
  count(
    'classes of many names',
    'narrow',
    "regexp_like(s, '[[:alpha:]][[:digit:]][^[:space:]]+\\d\\D\\s\\S', 'i')",
    { timeout: 4 },
  ),
  count('a repeated class', 'narrow', "regexp_like(s, '(\\w{0,100}){9}q$')", { timeout: 4 }),
  count(
    '500 patterns',
    'narrow',
    several(500, (at) => `regexp_like(s, '${at}+[a-f]?z')`, ' OR '),
    { timeout: 4 },
  ),
  count(
    'arithmetic of decimals',
    'money',
    several(200, (at) => `price * ${at}.5 > 1e15`, ' OR '),
    { timeout: 4 },
  ),
  count(
    'array_has_any of 5,000',
    'money',
    () => `array_has_any(tags, [${several(5_000, (at) => String(at + 2_000), ',')}])`,
    { timeout: 4 },
  ),
  count(
    'array_has_all of 5,000',
    'money',
    () => `array_has_all(tags, [${several(5_000, (at) => String(at), ',')}])`,
    { timeout: 4 },
  ),
  count('array_has_any of long lists', 'lists', 'array_has_any(l, l)', { timeout: 10 }),
  count('array_has_all of long lists', 'lists', 'array_has_all(l, l)', { timeout: 10 }),
  count('length of a list', 'lists', 'array_length(l) > 3'),
  count('casts of texts', 'narrow', 'TRY_CAST(s AS int) IS NULL AND CAST(x AS text) <> s', {
    timeout: 4,
  }),
  // Long values
  count('upper of a text of 100 MB', 'huge', "upper(s) = 'X'", { timeout: 20 }),
  count('LIKE over a text of 100 MB', 'huge', "s LIKE '%q%qq%zz%'", { timeout: 20 }),
  count('a pattern over a text of 100 MB', 'huge', "regexp_like(s, 'q+z{3}[a-c]+!')", {
    timeout: 20,
  }),
  count('length of a text of 100 MB', 'huge', 'length(s) = 3', { timeout: 20 }),
  count('equal texts of 100 MB', 'huge', 's = s AND s <> substr(s, 2)', { timeout: 20 }),
  query('rows with a text of 100 MB', 'huge', {}),
  query('order of texts of 100 MB', 'huge', order('s')),
  query('rows with lists of 10,000,000', 'lists', {}),
  count('LIKE over long texts', 'texts', "s LIKE '%zzzz%q%'", { timeout: 10 }),
  query('rows of long texts', 'texts', { k: 5_000 }),
  query('order of long texts', 'texts', { ...order('s'), k: 1_000 }),
  // Orderings, takes, counts
  query('order of 24,000,000 numbers', 'narrow', { ...order('x'), k: 10 }),
  query(
    'order of all texts, far away',
    'narrow',
    { ...order('s'), k: 100, offset: 900_000 },
    { timeout: 8 },
  ),
  query('rows far away', 'narrow', { k: 100, offset: 23_000_000 }),
  query('2,000,000 rows', 'narrow', { k: 2_000_000 }),
  query('2,000,000 rows with row ids', 'narrow', {
    k: 2_000_000,
    with_row_id: true,
    filter: 'id % 3 = 0',
  }),
  take('500,000 row ids', 'narrow', () => ({
    row_ids: Array.from({ length: 500_000 }, (_, at) => mixed(at) % 4_000_000),
  })),
  take('900,000 offsets', 'narrow', () => ({
    offsets: Array.from({ length: 900_000 }, (_, at) => mixed(at) % 24_000_000),
    columns: { column_names: ['id'] },
  })),
  take('900,000 offsets of all columns', 'narrow', () => ({
    offsets: Array.from({ length: 900_000 }, (_, at) => mixed(at) % 24_000_000),
  })),
  take('50,000 offsets of vectors', 'vectors', () => ({
    offsets: Array.from({ length: 20_000 }, (_, at) => mixed(at) % 200_000),
    columns: { column_names: ['vector'] },
  })),
  count(
    '_rowid IN of 90,000',
    'narrow',
    () => `_rowid IN (${several(90_000, (at) => String(at * 13), ',')})`,
  ),
  post('delete of 300,000 row ids', '/v1/dirspace/table/narrow/delete_rows', () => ({
    row_ids: Array.from({ length: 300_000 }, (_, at) => at * 5),
  })),
  // Vectors
  query('a vector', 'vectors', {
    vector: { single_vector: Array.from({ length: DIMENSION }, (_, at) => at % 7) },
  }),
  query(
    '150 vectors',
    'vectors',
    {
      vector: {
        multi_vector: Array.from({ length: 150 }, (_, v) =>
          Array.from({ length: DIMENSION }, (__, at) => (at * v) % 7),
        ),
      },
    },
    { timeout: 10 },
  ),
  query('a vector and a filter', 'vectors', {
    filter: 'id % 3 = 0',
    k: 5_000,
    distance_type: 'cosine',
    vector: { single_vector: Array.from({ length: DIMENSION }, (_, at) => at % 5) },
  }),
  query('a vector and 100,000 rows', 'vectors', {
    k: 100_000,
    columns: { column_names: ['id'] },
    vector: { single_vector: Array.from({ length: DIMENSION }, (_, at) => at % 3) },
  }),
  // Many fragments and columns
  count('filter of 10,000 fragments', 'many', "x > 1 AND s LIKE '%a%'"),
  query('rows of 10,000 fragments', 'many', { k: 500_000 }),
  query('order of 10,000 fragments', 'many', { ...order('s'), k: 1_000 }),
  post('stats of 10,000 fragments', '/v1/table/many/stats', {}),
  post('describe with stats', '/v1/table/many/describe', {
    load_detailed_metadata: true,
    with_table_uri: true,
  }),
  query('all columns of 1,000', 'wide', { k: 50_000 }),
  query('all columns of 1,000 fragments', 'widemany', { k: 8_000 }),
  count(
    'a filter of 1,000 columns',
    'wide',
    several(1_000, (at) => `c${at} > 4e9`, ' OR '),
    { timeout: 10 },
  ),
  query('order by 60 of 1,000 columns', 'wide', {
    order_by: Array.from({ length: 60 }, (_, at) => ({ column_name: `c${at}` })),
    k: 10,
  }),
  post(
    'update of all rows, 1 of 1,000 columns',
    '/v1/table/wide/update',
    { updates: [['c7', 'c8 + 1']] },
    { timeout: 60 },
  ),
  post(
    'compaction of 1,000 fragments of 1,000 columns',
    '/v1/dirspace/table/widemany/optimize',
    {},
    { timeout: 60 },
  ),
  post('compaction of 10,000 fragments', '/v1/dirspace/table/many/optimize', {}, { timeout: 60 }),
  // Bodies
  post('insert of 1,000,000 rows in a message', '/v1/table/narrow/insert', () =>
    narrowRows(30_000_000, 1_000_000),
  ),
  post(
    'merge of 1,000,000 numbers',
    '/v1/table/narrow/merge_insert?on=id&when_not_matched_insert_all=true',
    () => narrowRows(0, 1_000_000),
    { timeout: 60 },
  ),
  post(
    'merge of 300,000 texts',
    '/v1/table/narrow/merge_insert?on=s&when_matched_update_all=true',
    () => narrowRows(5, 300_000),
    { timeout: 60 },
  ),
  post('insert of 1,000 columns', '/v1/table/wide/insert', () =>
    ipc(
      batch(
        wideSchema,
        10_000,
        wideSchema.fields.map((_, column) =>
          numbers(new Float64(), new Float64Array(10_000).fill(column)),
        ),
      ),
    ),
  ),
  post('insert of a text of 100 MB', '/v1/table/huge/insert', () => {
    const data = new Uint8Array(100_000_000).fill(120);
    const text = makeData({
      type: new Utf8(),
      length: 1,
      valueOffsets: Int32Array.of(0, data.length),
      data,
    });
    return ipc(
      batch(new Schema([field('id', new Int32()), field('s', new Utf8())]), 1, [
        numbers(new Int32(), Int32Array.of(9)),
        text,
      ]),
    );
  }),
  post('insert of 2,000,000 small lists', '/v1/table/new1/create?mode=overwrite', () => {
    const rows = 2_000_000;
    const type = new List(field('item', new Int32()));
    const lists = makeData({
      type,
      length: rows,
      valueOffsets: Int32Array.from({ length: rows + 1 }, (_, at) => at),
      child: numbers(new Int32(), new Int32Array(rows)),
    });
    return ipc(batch(new Schema([field('l', type)]), rows, [lists]));
  }),
  post('a body of 8 MiB of JSON', '/v1/table/narrow/query', () => ({
    k: 1,
    vector: { single_vector: Array.from({ length: 1_500_000 }, (_, at) => at % 10) },
  })),
  post('JSON of 990,000 awkward numbers', '/v1/table/narrow/query', () => ({
    k: 1,
    vector: {
      single_vector: Array.from({ length: 990_000 }, (_, at) =>
        Number(`${at % 90}e-${90 + (at % 9)}`),
      ),
    },
  })),
  post('JSON of many members', '/v1/table/narrow/describe', () =>
    Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`m${at}`, at])),
  ),
  post(
    'update by a filter',
    '/v1/table/narrow/update',
    {
      predicate: 'id % 50 = 0',
      updates: [
        ['x', 'x + 1'],
        ['s', "concat(s, 'q')"],
      ],
    },
    { timeout: 60 },
  ),
  post(
    'delete by a filter',
    '/v1/table/narrow/delete',
    { predicate: 'id % 50 = 1' },
    { timeout: 60 },
  ),
  post(
    'add of a computed column',
    '/v1/table/money/add_columns',
    { new_columns: [{ name: `c${Date.now()}`, expression: 'id * 2 + 1' }] },
    { timeout: 60 },
  ),
  statement('groups of a million keys', `SELECT id, count(*) FROM ${MILLION} GROUP BY id`),
  statement('groups of a million texts', `SELECT s, count(*) FROM ${MILLION} GROUP BY s`),
  statement(
    'a million texts in order in one',
    `SELECT length(string_agg(s, ',' ORDER BY s)) FROM ${MILLION}`,
  ),
  statement('a list of a million', `SELECT array_agg(x ORDER BY s DESC) FROM ${MILLION}`),
  statement(
    '500 aggregates',
    `SELECT ${several(500, (at) => `sum(x + ${at})`, ', ')} FROM ${MILLION}`,
  ),
  statement(
    'IN of 50,000 values',
    `SELECT count(*) FROM narrow WHERE id IN (${several(50_000, (at) => at * 7, ', ')})`,
  ),
  statement(
    'VALUES of 5,000 rows',
    `SELECT sum(column1) FROM (VALUES ${several(5_000, (at) => `(${at}, 'a${at}')`, ', ')}) v`,
  ),
  statement(
    'different values of groups',
    `SELECT id % 4, count(DISTINCT id), count(DISTINCT s) FROM ${MILLION} GROUP BY id % 4`,
  ),
  statement(
    'a join of a million rows',
    `SELECT count(*) FROM ${MILLION} JOIN ${MILLION.replace(') n', ') o')} ON n.id = o.id`,
  ),
  statement(
    'a window over a million rows',
    `SELECT row_number() OVER (PARTITION BY id % 1000 ORDER BY x), lag(s) OVER (PARTITION BY id % 1000 ORDER BY x) FROM ${MILLION}`,
  ),
  statement('all rows in order', 'SELECT x, s FROM narrow ORDER BY s, x LIMIT 1000000'),
  post('verify', '/v1/dirspace/namespace/$/verify', {}, { timeout: 60 }),
];

if (typeof zlib.zstdCompressSync === 'function') REQUESTS.zstd = true;
