// Random SELECTs, through tables of ours and through DuckDB: groups, joins, windows, sets, queries of WITH, in
// FROM and in place of values. Rows are compared without their order, unless the statement gives all of it.
// node statements.mjs [--cases N] [--seed N] [--built FOLDER], after `npm run differential` has compiled the modules
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import * as arrow from 'apache-arrow';
import { generator, makePredicates } from './predicates.mjs';
import { randomRows } from './rows.mjs';

const { values: args } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000' },
    rows: { type: 'string', default: '700' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    show: { type: 'string', default: '6' },
    built: { type: 'string', default: '../../../.build/src' },
  },
});
const seed = Number(args.seed);
const cases = Number(args.cases);
const ROWS = Number(args.rows);
console.log(`seed ${seed}, ${cases} cases`);

const base = new URL(`${args.built}/`, args.built.startsWith('/') ? 'file:///' : import.meta.url);
const { connect } = await import(new URL('index.js', base).href);

const rng = generator(seed);
const { random, int, pick } = rng;
const { db: duck, vectors } = await randomRows(rng, ROWS);
const folder = mkdtempSync(`${tmpdir()}/statements-`);
const ours = await connect(folder, { durability: 'relaxed' });
const rid = arrow.makeVector(Int32Array.from({ length: ROWS }, (_, row) => row));
const whole = new arrow.Table({ ...vectors, rid });
const parts = [0, ROWS >> 3, ROWS >> 1, ROWS];
const t = await ours.createTable('t', whole.slice(0, parts[1]));
for (let part = 1; part < 3; part++) await t.add(whole.slice(parts[part], parts[part + 1]));
await t.delete('rid % 17 = 3');
await duck.run('ALTER TABLE t RENAME TO raw');
await duck.run(
  'CREATE TABLE t AS SELECT *, CAST(rowid AS INTEGER) AS rid FROM raw WHERE rowid % 17 <> 3',
);
const small = Array.from({ length: 60 }, (_, row) => ({
  k: random() < 0.1 ? null : int(40) - 20,
  name: random() < 0.1 ? null : pick(['a', 'ab', 'abc', 'ABC', 'k01', 'k02', '日本', '']),
  w: random() * 10,
  uid: row,
}));
await ours.createTable(
  'u',
  new arrow.Table({
    k: arrow.vectorFromArray(
      small.map(({ k }) => k),
      new arrow.Int16(),
    ),
    name: arrow.vectorFromArray(
      small.map(({ name }) => name),
      new arrow.Utf8(),
    ),
    w: arrow.vectorFromArray(
      small.map(({ w }) => w),
      new arrow.Float64(),
    ),
    uid: arrow.vectorFromArray(
      small.map(({ uid }) => uid),
      new arrow.Int32(),
    ),
  }),
);
await duck.run('CREATE TABLE u (k SMALLINT, name VARCHAR, w DOUBLE, uid INTEGER)');
for (const { k, name, w, uid } of small) {
  await duck.run(
    `INSERT INTO u VALUES (${k}, ${name === null ? 'NULL' : `'${name}'`}, '${w}'::DOUBLE, ${uid})`,
  );
}

const both = (text) => [text, text];
const glued = (parts) =>
  [0, 1].map((side) =>
    parts.map((part) => (typeof part === 'string' ? part : part[side])).join(''),
  );
const listed = (items, between = ', ') =>
  glued(items.flatMap((item, at) => (at === 0 ? [item] : [between, item])));
const some = (list, most) => Array.from({ length: 1 + int(most) }, () => pick(list));
const { condition } = makePredicates(rng);
// Row ids differ once rows are deleted.
const predicate = (depth) => {
  for (;;) {
    const made = condition(depth);
    if (!made[0].includes('_rowid')) return made;
  }
};

const KEYS = [
  'i8',
  'i32',
  'u32',
  'n64',
  'i64',
  's',
  'c',
  'dict',
  'b',
  'd',
  'ts',
  'dec',
  'g',
  'st.a',
  'st.b',
];
const COMPUTED = [
  'i8 % 3',
  'n64 + 1',
  'upper(s)',
  "CASE WHEN i8 > 0 THEN 'p' WHEN i8 < -50 THEN 'n' END",
  'i32 IS NULL',
  'coalesce(s, c)',
  'abs(i8)',
  'length(s)',
  "c || '-' || c",
  'i8 > 3',
  'CAST(i8 AS double)',
  'f > 0',
  "translate(s, 'ab1', 'x')",
  "levenshtein(c, 'k1')",
  "string_split(s, 'a')",
  "string_split(c, '0')[-1]",
  's[2:3]',
  'c[:-2]',
  'l[2:]',
  'l[-2:-2]',
  'len(l)',
  "strftime(d, '%a %A %w %u %d %-d %b %B %m %y %Y %j %U %W %V %G %x')",
  "strftime(ts, '%c.%f %g %-H %I %-I %p %M %-S')",
  "strptime(strftime(d, '%d/%m/%Y'), '%d/%m/%Y')",
  "try_strptime(c, 'k%d')",
  "regexp_extract_all(s, '[a-z]')",
  "regexp_extract_all(c, '([a-z])(x)?(.)', 3)",
  "regexp_extract(s, '([a-z])([0-9])?', 1)",
  'typeof(i8)',
  'typeof(dec)',
];
const NUMBERS = ['i8', 'i32', 'u32', 'n64', 'dec', 'f', 'i8 + 1', 'n64 * 2', 'CAST(i8 AS double)'];
const ORDERED = KEYS.filter((name) => !name.startsWith('st.'));
const SHARES = ['0', '0.1', '0.25', '0.3', '0.5', '0.9', '0.999', '1'];
const key = () => (random() < 0.75 ? pick(KEYS) : pick(COMPUTED));
const aggregate = () => {
  const call = pick([
    () => 'count(*)',
    () => `count(${pick(KEYS)})`,
    () => `count(DISTINCT ${key()})`,
    () => `sum(${pick(NUMBERS)})`,
    () => `avg(${pick(NUMBERS)})`,
    () => `min(${pick(KEYS)})`,
    () => `max(${pick(KEYS)})`,
    () =>
      `${pick(['stddev_samp', 'stddev_pop', 'var_samp', 'var_pop', 'stddev', 'variance'])}(${pick(['i8', 'n64', 'f', 'dec'])})`,
    () => `median(${pick(['i8', 'n64', 'f'])})`,
    () => `bool_and(${pick(['b', 'i8 > 0'])})`,
    () => `bool_or(${pick(['b', 'i8 > 0'])})`,
    () => `sum(DISTINCT ${pick(['i8', 'n64'])})`,
    () => "string_agg(s, '|' ORDER BY s DESC, rid)",
    () => 'array_agg(i8 ORDER BY rid)',
    () => 'any_value(c || c) IS NULL',
    () => `sum(${pick(['i8', 'n64'])}) + count(*)`,
    () =>
      `${pick(['first', 'last', 'arbitrary', 'any_value'])}(${key()} ORDER BY ${pick(['rid', 'rid DESC', 'i8 NULLS FIRST, rid', 's DESC NULLS LAST, rid'])})`,
    // To DuckDB's mode each NaN is a value of its own.
    () =>
      `mode(${pick(KEYS.filter((name) => name !== 'g'))} ORDER BY ${pick(['rid', 'rid DESC', 's NULLS FIRST, rid'])})`,
    () => `${pick(['sum', 'avg'])}(${pick(['f', 'n64', 'dec', 'i8 / 3.0e0'])} ORDER BY rid DESC)`,
    () => `quantile_cont(${pick(['i8', 'n64', 'f', 'u32'])}, ${pick(SHARES)})`,
    () => `quantile_cont(${pick(['i8', 'n64', 'u32'])}, [${pick(SHARES)}, ${pick(SHARES)}])`,
    () => `quantile_disc(${pick(ORDERED)}, [${pick(SHARES)}, ${pick(SHARES)}])`,
    () => `${pick(['regr_count', 'regr_avgx', 'regr_avgy', 'covar_pop', 'covar_samp'])}(i8, rid)`,
    () => `${pick(['quantile', 'quantile_disc'])}(${pick(ORDERED)}, ${pick(SHARES)})`,
    () =>
      `percentile_${pick(['cont', 'disc'])}(${pick(SHARES)}) WITHIN GROUP (ORDER BY ${pick(['i8', 'n64', 'f'])})`,
    () => `percentile_disc(${pick(SHARES)}) WITHIN GROUP (ORDER BY ${pick(ORDERED)})`,
    // DuckDB takes the least value for a share of 0 in descending order.
    () =>
      `percentile_${pick(['cont', 'disc'])}(${pick(SHARES.slice(1))}) WITHIN GROUP (ORDER BY ${pick(['i8', 'n64', 'f'])} DESC)`,
    () => `percentile_disc(${pick(SHARES.slice(1))}) WITHIN GROUP (ORDER BY ${pick(ORDERED)} DESC)`,
    () => `quantile_disc(DISTINCT ${pick(ORDERED)}, ${pick(SHARES)})`,
    () =>
      `${pick(['arg_min', 'arg_max', 'min_by', 'max_by'])}(${key()}, ${pick(['rid', '-rid', 'c || CAST(rid AS text)'])})`,
    () =>
      `${pick(['arg_min', 'arg_max'])}(${pick(['s', 'i8', 'd'])}, ${pick(['f', 'ts', 'i64', 'dec'])} ORDER BY rid)`,
    () => `${pick(['bit_and', 'bit_or', 'bit_xor'])}(${pick(['i8', 'i32', 'u32', 'n64', 'i64'])})`,
  ])();
  const takesFilter = /\)$/.test(call) && random() < 0.2;
  return takesFilter
    ? `${call} FILTER (WHERE ${pick(['i8 > 0', 'b', 's IS NOT NULL', "c = 'k01'"])})`
    : call;
};
const where = () => (random() < 0.5 ? glued([' WHERE ', predicate(2)]) : both(''));
const aliased = (items) => listed(items.map((item, at) => `${item} AS x${at}`));

function grouped() {
  const keys = random() < 0.2 ? [] : some([...new Set([key(), key(), key()])], 2);
  const calls = some([aggregate(), aggregate(), aggregate(), aggregate()], 3);
  const by =
    keys.length === 0
      ? ''
      : ` GROUP BY ${random() < 0.5 ? keys.join(', ') : keys.map((_, at) => at + 1).join(', ')}`;
  const having = keys.length > 0 && random() < 0.25 ? ` HAVING count(*) > ${int(8)}` : '';
  return glued(['SELECT ', aliased([...keys, ...calls]), ' FROM t', where(), by, having]);
}

function ordered() {
  const items = [...some(KEYS, 2), 'rid'];
  const order = items.map(
    (_, at) => `${at + 1} ${pick(['ASC', 'DESC'])} NULLS ${pick(['FIRST', 'LAST'])}`,
  );
  const sql = glued([
    'SELECT ',
    aliased(items),
    ' FROM t',
    where(),
    ` ORDER BY ${order.join(', ')}`,
    ` LIMIT ${pick([1, 5, 50, 5000])} OFFSET ${pick([0, 0, 3, 400])}`,
  ]);
  return { sql, inOrder: true };
}

function topGroups() {
  const [by, call] = [key(), aggregate()];
  const order = pick([
    '2 DESC NULLS LAST, 1 NULLS FIRST',
    '1 DESC NULLS FIRST',
    '1 ASC NULLS LAST',
  ]);
  // Lists have no order here.
  if (/array_agg|_split\(s|l\[|_all\(/.test(`${by} ${call}`))
    return both(`SELECT ${by} AS x0, ${call} AS x1 FROM t GROUP BY 1`);
  const sql = glued([
    `SELECT ${by} AS x0, ${call} AS x1 FROM t`,
    where(),
    ` GROUP BY 1 ORDER BY ${order} LIMIT ${pick([1, 4, 100])}`,
  ]);
  return { sql, inOrder: true };
}

const ON = [
  'a.i8 = b.k',
  'a.s = b.name',
  'a.i32 = b.k',
  'a.n64 = b.k AND a.s = b.name',
  'a.i8 = b.k AND a.f > b.w',
  'a.dec = b.k',
  'a.i8 = b.k AND b.w > 3',
  'a.i8 % 5 = b.k % 5 AND a.rid < 40',
  'a.f = b.k',
  'a.u32 = b.k',
];
function joins() {
  const join = pick([
    'JOIN',
    'LEFT JOIN',
    'RIGHT JOIN',
    'FULL JOIN',
    'LEFT OUTER JOIN',
    'INNER JOIN',
  ]);
  const filter =
    random() < 0.4
      ? ` WHERE ${pick(['a.i8 > 0', 'b.w < 5', 'a.s IS NOT NULL', 'b.k IS NULL', 'a.rid < 100 AND b.uid < 30', 'a.i8 = b.k'])}`
      : '';
  if (random() < 0.3) {
    return both(
      `SELECT count(*) AS x0, sum(b.uid) AS x1, min(a.c) AS x2 FROM t a ${join} u b ON ${pick(ON)}${filter}`,
    );
  }
  if (random() < 0.3) {
    return both(
      `SELECT b.name AS x0, count(*) AS x1, avg(a.f) AS x2 FROM t a ${join} u b ON ${pick(ON)}${filter} GROUP BY b.name`,
    );
  }
  return both(
    `SELECT a.rid AS x0, b.uid AS x1, ${pick(['a.s', 'b.name', 'a.d', 'a.i8 + b.k'])} AS x2 FROM t a ${join} u b ON ${pick(ON)}${filter}`,
  );
}

function commas() {
  return both(
    pick([
      'SELECT count(*) AS x0 FROM t a, u b WHERE a.i8 = b.k',
      'SELECT b.uid AS x0, c.uid AS x1 FROM u b, u c WHERE b.k = c.k AND b.uid < c.uid',
      'SELECT a.rid AS x0, b.uid AS x1, c.uid AS x2 FROM t a, u b, u c WHERE a.i8 = b.k AND b.name = c.name AND a.rid < 200',
      'SELECT count(*) AS x0 FROM u b CROSS JOIN u c WHERE b.w < c.w',
      'SELECT k AS x0, count(*) AS x1 FROM u b JOIN (SELECT k, uid FROM u WHERE w > 4) q USING (k) GROUP BY k',
      'SELECT k AS x0, b.uid AS x1, q.m AS x2 FROM u b FULL JOIN (SELECT k, max(w) AS m FROM u WHERE k > 0 GROUP BY k) q USING (k)',
    ]),
  );
}

function windows() {
  const part =
    random() < 0.7 ? `PARTITION BY ${listed(some(['c', 'i8 % 4', 's', 'b'], 2))[0]} ` : '';
  const order = `ORDER BY ${pick(['i8 NULLS FIRST, rid', 'rid DESC', 's DESC NULLS LAST, rid', 'd NULLS FIRST, rid'])}`;
  const ties = `ORDER BY ${pick(['i8 NULLS FIRST', 'c', 'dec DESC NULLS LAST'])}`;
  const call = pick([
    () => `row_number() OVER (${part}${order})`,
    () => `rank() OVER (${part}${ties})`,
    () => `dense_rank() OVER (${part}${ties})`,
    () => `percent_rank() OVER (${part}${ties})`,
    () => `cume_dist() OVER (${part}${ties})`,
    () => `nth_value(rid, ${1 + int(3)}) OVER (${part}${order})`,
    () => `ntile(4) OVER (${part}${order})`,
    () => `lag(${pick(['i8', 's', 'd'])}) OVER (${part}${order})`,
    () => `lead(rid, 2, -1) OVER (${part}${order})`,
    () => `sum(${pick(['i8', 'n64', 'dec'])}) OVER (${part}${ties})`,
    () => `count(${pick(['*', 's'])}) OVER (${part}${ties})`,
    () => `avg(n64) OVER (${part}${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`,
    () => `max(s) OVER (${part}${ties})`,
    () => `min(i8) OVER (${part || 'PARTITION BY c'})`,
    () => `sum(i8) OVER (${part}${order} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)`,
    () => `first_value(rid) OVER (${part}${order})`,
    () =>
      `last_value(rid) OVER (${part}${order} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)`,
  ]);
  const kind = random();
  if (kind >= 0.6) {
    const frame = frames();
    const framed = () =>
      `${pick(['sum(i8)', 'sum(n64)', 'sum(dec)', 'avg(n64)', 'avg(f)', 'sum(i8 / 2.0)', 'count(*)', 'count(s)', 'min(i8)', 'max(s)', 'max(d)', 'bool_and(b)', 'first_value(rid)', 'last_value(s)', 'nth_value(rid, 2)'])} OVER (${part}${order} ${frame})`;
    const [distances, any] = [rangeFrames(part), anyFramed(part, order)];
    const more = kind > 0.8 ? () => pick([distances, any])() : framed;
    return glued([`SELECT rid AS x0, ${framed()} AS x1, ${more()} AS x2 FROM t`, where()]);
  }
  if (kind < 0.2)
    return both(
      `SELECT rid AS x0, ${call()} AS x1 FROM t QUALIFY row_number() OVER (PARTITION BY c ${order}) <= ${1 + int(3)}`,
    );
  if (kind < 0.35)
    return both(
      `SELECT c AS x0, count(*) AS x1, rank() OVER (ORDER BY count(*) DESC, c) AS x2 FROM t GROUP BY c`,
    );
  return glued([`SELECT rid AS x0, ${call()} AS x1, ${call()} AS x2 FROM t`, where()]);
}

/** Frames of RANGE with distances and of GROUPS, over aggregates that do not ask for the order of rows. */
const rangeFrames = (part) => () => {
  const distances = (list) => {
    const [a, b] = [pick(list), pick(list)];
    return pick([
      `BETWEEN ${a} PRECEDING AND ${b} FOLLOWING`,
      `BETWEEN ${a} PRECEDING AND CURRENT ROW`,
      `BETWEEN CURRENT ROW AND ${a} FOLLOWING`,
      `BETWEEN UNBOUNDED PRECEDING AND ${a} PRECEDING`,
      `${a} PRECEDING`,
    ]);
  };
  const direction = pick(['NULLS FIRST', 'NULLS LAST', 'DESC NULLS FIRST', 'DESC NULLS LAST']);
  const frame = pick([
    () => `i8 ${direction} RANGE ${distances(['0', '1', '7', '30'])}`,
    () => `dec ${direction} RANGE ${distances(['0', '0.5', '12.25'])}`,
    () => `f ${direction} RANGE ${distances(['0', '0.5', '3'])}`,
    () =>
      `d ${direction} RANGE ${distances(["INTERVAL '1 day'", "INTERVAL '1 month'", "INTERVAL '0 days'"])}`,
    () => `c ${direction} GROUPS ${distances(['0', '1', '2'])}`,
  ])();
  const call = pick([
    'sum(i8)',
    'count(*)',
    'min(d)',
    'max(s)',
    'avg(n64)',
    'var_pop(i8)',
    'count(DISTINCT s)',
    'sum(DISTINCT i8)',
    'quantile_disc(i8, 0.25)',
    'bit_xor(i8)',
  ]);
  return `${call} OVER (${part}ORDER BY ${frame})`;
};

/** Aggregates over frames of rows, and values that pass over nulls. */
const anyFramed = (part, order) => () =>
  pick([
    () => `string_agg(s, '|') OVER (${part}${order} ${frames()})`,
    () => `array_agg(i8) OVER (${part}${order} ${frames()})`,
    () => `stddev_pop(i8) OVER (${part}${order} ${frames()})`,
    () => `count(DISTINCT c) OVER (${part}${order})`,
    () =>
      `${pick(['first_value', 'last_value'])}(${pick(['s', 'i8'])} IGNORE NULLS) OVER (${part}${order} ${frames()})`,
    () => `nth_value(s, 2 IGNORE NULLS) OVER (${part}${order} ${frames()})`,
    () => `${pick(['lag', 'lead'])}(i8, ${int(3)} IGNORE NULLS) OVER (${part}${order})`,
  ])();

/** Frames of rows; their ends are in order. */
function frames() {
  const bound = (place) =>
    place === 0 ? 'CURRENT ROW' : `${Math.abs(place)} ${place < 0 ? 'PRECEDING' : 'FOLLOWING'}`;
  const [a, b] = [int(21) - 10, int(21) - 10].sort((one, other) => one - other);
  const start = random() < 0.15 ? 'UNBOUNDED PRECEDING' : bound(a);
  const end = random() < 0.15 ? 'UNBOUNDED FOLLOWING' : bound(b);
  return a <= 0 && random() < 0.1 ? `ROWS ${bound(a)}` : `ROWS BETWEEN ${start} AND ${end}`;
}

/** Queries in place of values. */
function subqueries() {
  const value = () =>
    pick([
      '(SELECT max(i8) FROM t)',
      '(SELECT min(k) FROM u WHERE w > 3)',
      '(SELECT k FROM u WHERE uid = 3)',
      '(SELECT k FROM u WHERE uid < 0)',
      `(SELECT count(*) FROM u WHERE k > ${int(20)})`,
      '(SELECT n64 FROM t ORDER BY rid LIMIT 1)',
    ]);
  const list = () =>
    pick([
      'i8 IN (SELECT k FROM u)',
      'i8 IN (SELECT k FROM u WHERE k IS NOT NULL)',
      's IN (SELECT name FROM u)',
      "s IN (SELECT name FROM u WHERE name IS NOT NULL AND name <> 'a')",
      'n64 IN (SELECT k FROM u WHERE uid > 30)',
      'f IN (SELECT k FROM u WHERE k IS NOT NULL)',
      'dec IN (SELECT k FROM u WHERE k IS NOT NULL)',
      'i8 IN (SELECT w FROM u)',
      'i8 IN (SELECT k FROM u WHERE uid < 0)',
      'rid IN (SELECT rid FROM t WHERE b)',
      'rid IN (SELECT max(rid) FROM t GROUP BY c)',
      '5 IN (SELECT k FROM u)',
      '(SELECT max(k) FROM u) IN (SELECT k FROM u)',
      'i8 = ANY (SELECT k FROM u)',
      'i8 <> ALL (SELECT k FROM u WHERE k IS NOT NULL)',
      'i8 IN (SELECT k FROM u INTERSECT SELECT i8 FROM t)',
      `i8 ${pick(['<', '<=', '>', '>=', '<>', '='])} ${pick(['ANY', 'ALL'])} (SELECT k FROM u${pick(['', ' WHERE k IS NOT NULL', ' WHERE k = 3', ' WHERE uid < 0', ' WHERE k > 900', ' WHERE k > 2 AND k < 5'])})`,
      `f ${pick(['<', '>', '<>'])} ${pick(['ANY', 'ALL'])} (SELECT w FROM u WHERE uid > 50)`,
      `s ${pick(['<', '>=', '<>'])} ${pick(['ANY', 'ALL'])} (SELECT name FROM u WHERE name ${pick(["> 'ab'", 'IS NULL', 'IS NOT NULL'])})`,
      `n64 ${pick(['<', '>'])} ALL (SELECT g FROM t WHERE g IS NOT NULL)`,
      // To DuckDB two rows with nulls are equal or not; in PostgreSQL it is unknown.
      '(rid, rid % 2) IN ((1, 0), (2, 0), (4, 0), (5, 1), (6, 1))',
      "(c, rid % 5) NOT IN (('k01', 1), ('k00', 2))",
      "(c, rid % 3) = ('k01', 1)",
      "(c, rid % 3) <> ('k01', 2)",
    ]);
  const exists = () =>
    pick([
      'EXISTS (SELECT 1 FROM u WHERE k > 3)',
      'EXISTS (SELECT * FROM u WHERE k > 900)',
      'EXISTS (SELECT max(k) FROM u WHERE k > 900)',
    ]);
  const not = () => (random() < 0.4 ? 'NOT ' : '');
  const truth = () =>
    pick([list, list, exists, () => `i8 > ${value()}`, () => `i8 = ${value()}`])();
  const term = () => `${not()}(${truth()})`;
  const condition = () =>
    pick([term, truth, () => `${term()} AND ${truth()}`, () => `${term()} OR ${truth()}`])();
  return pick([
    () => both(`SELECT rid AS x0 FROM t WHERE ${condition()}`),
    () => glued([`SELECT rid AS x0 FROM t WHERE ${condition()} AND `, predicate(1)]),
    () => both(`SELECT rid AS x0, ${value()} AS x1, ${term()} AS x2 FROM t WHERE rid < 300`),
    () => both(`SELECT ${value()} AS x0, ${exists()} AS x1`),
    () =>
      both(
        `SELECT rid AS x0 FROM t WHERE (${pick(['i8, s', 'n64, c', 'i8 + 1, dict'])}) IN (SELECT ${pick(['k, name', 'k, name', 'uid - 20, name'])} FROM u) AND (${condition()})`,
      ),
    () =>
      both(
        `SELECT a.rid AS x0, a.s AS x1 FROM t a ${pick(['SEMI', 'ANTI'])} JOIN u b ON ${pick(['a.i8 = b.k', 'a.s = b.name', 'a.n64 = b.k AND a.s = b.name', 'a.i8 = b.k AND b.w > 3', 'a.i8 = b.k AND a.rid < 99', 'a.f = b.k', 'a.dec = b.k', 'a.i8 % 5 = b.k % 5 AND b.uid = 3'])} WHERE ${pick(['a.rid < 300', 'a.s IS NOT NULL', 'true'])}`,
      ),
    () =>
      both(
        `SELECT k AS x0, count(*) AS x1 FROM u ${pick(['SEMI', 'ANTI'])} JOIN (SELECT i8 AS k, c AS name FROM t) q USING (${pick(['k', 'k, name', 'name'])}) GROUP BY k`,
      ),
    () =>
      both(
        `SELECT c AS x0, sum(i8 + ${value()}) AS x1, ${value()} AS x2 FROM t GROUP BY c HAVING count(*) > ${value()} OR ${exists()}`,
      ),
    () => both(`SELECT ${term()} AS x0, count(*) AS x1 FROM t GROUP BY 1`),
    () => both(`SELECT c AS x0, count(*) FILTER (WHERE ${truth()}) AS x1 FROM t GROUP BY c`),
    () =>
      both(`SELECT a.rid AS x0, b.uid AS x1 FROM t a JOIN u b ON a.i8 = b.k WHERE ${condition()}`),
    () =>
      both(
        `SELECT rid AS x0, max(i8) OVER (PARTITION BY c) + ${value()} AS x1 FROM t WHERE ${condition()} QUALIFY row_number() OVER (PARTITION BY s ORDER BY rid) < ${value()}`,
      ),
    () =>
      both(
        `WITH q AS (SELECT k AS g FROM u WHERE w > 2) SELECT count(*) AS x0 FROM t WHERE ${not()}i8 IN (SELECT g FROM q)`,
      ),
  ])();
}

/** Queries in place of values that compare columns with those of the query around them. */
function correlated() {
  const on = () =>
    pick([
      'u.k = a.i8',
      'u.name = a.s',
      'a.n64 = u.k',
      'u.k = a.f',
      'u.k = a.dec',
      'u.k % 5 = a.i8 % 5',
      'u.k = a.i8 AND u.name = a.s',
      'u.k = a.i8 AND u.w > 3',
      'u.name = a.s AND u.uid < 30',
      'lower(u.name) = a.s',
    ]);
  const value = () =>
    pick([
      () => `(SELECT count(*) FROM u WHERE ${on()})`,
      () => `(SELECT max(u.w) FROM u WHERE ${on()})`,
      () => `(SELECT sum(u.uid) + count(u.name) FROM u WHERE ${on()})`,
      () => `(SELECT count(DISTINCT u.name) FROM u WHERE ${on()})`,
      () => `(SELECT min(u.uid) FROM u JOIN t b ON u.k = b.i8 WHERE ${on()})`,
      () => '(SELECT u.uid FROM u WHERE u.uid = a.i8)',
      () => `(SELECT u.uid FROM u WHERE ${on()} ORDER BY u.uid DESC LIMIT 1)`,
      () => `(SELECT u.name FROM u WHERE ${on()} ORDER BY u.w NULLS LAST, u.uid LIMIT 1)`,
      () => '(SELECT DISTINCT u.k FROM u WHERE u.k = a.i8)',
    ])();
  const truth = () =>
    pick([
      () => `EXISTS (SELECT 1 FROM u WHERE ${on()})`,
      () => `EXISTS (SELECT * FROM u WHERE ${on()})`,
      () => `a.i8 IN (SELECT u.k FROM u WHERE ${on()})`,
      () => `a.rid % 60 IN (SELECT u.uid FROM u WHERE ${on()})`,
      () => `a.s IN (SELECT u.name FROM u WHERE ${on()})`,
      () => `7 IN (SELECT u.uid FROM u WHERE ${on()})`,
      () => `a.i8 > ${value()}`,
      () =>
        `a.i8 ${pick(['<', '>=', '<>', '='])} ${pick(['ANY', 'ALL'])} (SELECT u.uid FROM u WHERE ${on()})`,
      () =>
        `EXISTS (SELECT 1 FROM u WHERE ${on()} AND u.k IN (SELECT b.i8 FROM t b WHERE b.s = u.name))`,
    ])();
  const term = () => (random() < 0.4 ? `NOT (${truth()})` : truth());
  const condition = () =>
    pick([term, term, () => `${term()} AND ${truth()}`, () => `${term()} OR ${truth()}`])();
  return pick([
    () => both(`SELECT a.rid AS x0 FROM t a WHERE ${condition()}`),
    () => both(`SELECT a.rid AS x0, ${term()} AS x1 FROM t a WHERE a.rid < 300`),
    () => both(`SELECT a.rid AS x0, ${value()} AS x1 FROM t a WHERE a.rid < 300`),
    () =>
      both(
        `SELECT a.c AS x0, count(*) AS x1, sum(a.i8) AS x2 FROM t a WHERE ${condition()} GROUP BY a.c`,
      ),
    () => both(`SELECT a.c AS x0, count(*) FILTER (WHERE ${truth()}) AS x1 FROM t a GROUP BY a.c`),
    () =>
      both(
        'SELECT a.i8 AS x0, count(*) AS x1, (SELECT max(u.uid) FROM u WHERE u.k = a.i8) AS x2 FROM t a GROUP BY a.i8',
      ),
    () =>
      both(
        'SELECT a.s AS x0, count(*) AS x1 FROM t a GROUP BY a.s HAVING EXISTS (SELECT 1 FROM u WHERE u.name = a.s)',
      ),
  ])();
}

function sets() {
  const arm = () =>
    pick([
      'SELECT i8 AS x0, s AS x1 FROM t',
      'SELECT k AS x0, name AS x1 FROM u',
      "SELECT 1 AS x0, 'one' AS x1",
      'SELECT n64 AS x0, c AS x1 FROM t WHERE rid < 40',
      'SELECT NULL AS x0, s AS x1 FROM t WHERE rid < 9',
    ]);
  const word = () =>
    pick(['UNION ALL', 'UNION', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL']);
  const more = () => (random() < 0.3 ? ` ${word()} ${arm()}` : '');
  const sql = `${arm()} ${word()} ${arm()}${more()}${more()}`;
  return random() < 0.3
    ? {
        sql: both(`${sql} ORDER BY 1 NULLS FIRST, 2 NULLS LAST LIMIT ${1 + int(60)}`),
        inOrder: true,
      }
    : both(sql);
}

function nested() {
  return pick([
    () =>
      glued([
        'SELECT x0, count(*) AS x1 FROM (',
        `SELECT ${key()} AS x0, rid FROM t`,
        where(),
        ') q GROUP BY x0',
      ]),
    () =>
      both(
        `WITH q AS (SELECT ${pick(['c', 's', 'b'])} AS g, sum(i8) AS n FROM t GROUP BY 1), r AS (SELECT max(n) AS m FROM q) SELECT g AS x0, n AS x1 FROM q JOIN r ON q.n = r.m`,
      ),
    () => glued(['SELECT DISTINCT ', aliased(some([key(), key(), key()], 2)), ' FROM t', where()]),
    () =>
      both(
        `SELECT * FROM (SELECT i8 AS x0, count(*) AS x1 FROM t GROUP BY i8) q WHERE x0 > ${int(60)} AND x1 > 1`,
      ),
    () =>
      both(
        `SELECT a.x0 AS x0, b.x1 AS x1 FROM (SELECT c AS x0, count(*) AS n FROM t GROUP BY c) a LEFT JOIN (SELECT c AS x1, count(*) AS n FROM t WHERE i8 > 0 GROUP BY c) b ON a.n > b.n`,
      ),
    () => both(`SELECT count(*) AS x0 FROM (SELECT DISTINCT ${key()} AS k FROM t) q`),
    () =>
      both(
        `SELECT x0, x1 FROM (VALUES (1, 'a'), (2, NULL), (3, 'c')) v(x0, x1) WHERE x0 > ${int(3)}`,
      ),
    () =>
      both(
        `SELECT count(*) AS x0 FROM t WHERE ${pick(['i8 > 3', "c = 'k01'", 's IS NULL', 'i8 BETWEEN -5 AND 30'])}`,
      ),
  ])();
}

const rounded = (number) => {
  if (Number.isNaN(number)) return 'NaN';
  if (!Number.isFinite(number)) return String(number);
  if (Number.isInteger(number) && Math.abs(number) < 2 ** 53)
    return String(number === 0 ? 0 : number);
  const text = Math.abs(number) < 1e6 ? String(Number(number.toFixed(5))) : number.toPrecision(9);
  return Number(text) === 0 ? '0' : String(Number(text));
};
function canon(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return rounded(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return `date ${value.getTime()}`;
  if (Array.isArray(value)) return value.map(canon);
  if ('days' in value && !('micros' in value)) return `date ${value.days * 86_400_000}`;
  if ('micros' in value && 'days' in value) return String(value);
  if ('micros' in value) return String(value.micros);
  if ('scale' in value) return rounded(Number(value.value) / 10 ** value.scale);
  if ('items' in value) return value.items.map(canon);
  if ('entries' in value) return canonOfMembers(value.entries);
  return canonOfMembers(value);
}
const canonOfMembers = (members) =>
  Object.fromEntries(Object.entries(members).map(([name, item]) => [name, canon(item)]));
/** Decimals come as texts of ours, and numbers that are written so are one. */
const loose = (value) =>
  typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) && value.length < 17
    ? rounded(Number(value))
    : value;
const rowText = (row) =>
  JSON.stringify(row.map((value) => (Array.isArray(value) ? value : loose(value))));

const KINDS = {
  grouped,
  ordered,
  topGroups,
  joins,
  commas,
  windows,
  sets,
  nested,
  subqueries,
  correlated,
};
const counts = Object.fromEntries(
  Object.keys(KINDS).map((name) => [name, { same: 0, different: 0, refused: 0, duck: 0 }]),
);
let shown = 0;
for (let at = 0; at < cases; at++) {
  const kind = pick(Object.keys(KINDS));
  const made = KINDS[kind]();
  const {
    sql: [mine, theirs],
    inOrder,
  } = Array.isArray(made) ? { sql: made, inOrder: false } : made;
  const outcome = async (work) => {
    try {
      return { rows: await work() };
    } catch (error) {
      return { error };
    }
  };
  const a = await outcome(async () => {
    const rows = await ours.sql(mine).toArray();
    return rows.map((row) => rowText(Object.values(row).map(canon)));
  });
  const b = await outcome(async () => {
    const rows = (await duck.runAndReadAll(theirs)).getRows();
    return rows.map((row) => rowText(row.map(canon)));
  });
  const tell = (what) => {
    if (shown++ < Number(args.show)) console.log(`${kind}: ${mine}\n  ${what}\n`);
  };
  if (b.error !== undefined) {
    counts[kind].duck++;
    if (process.env.DUCK) tell(`DuckDB: ${b.error.message.slice(0, 300)}`);
    continue;
  }
  if (a.error !== undefined) {
    counts[kind].refused++;
    tell(`refused: ${a.error.message.slice(0, 300)}`);
    continue;
  }
  if (!inOrder) {
    a.rows.sort();
    b.rows.sort();
  }
  if (a.rows.join() === b.rows.join()) {
    counts[kind].same++;
    continue;
  }
  counts[kind].different++;
  const place = a.rows.findIndex((row, index) => row !== b.rows[index]);
  tell(
    `rows ${a.rows.length} / ${b.rows.length}, at ${place}: ours ${a.rows[place]}, DuckDB ${b.rows[place]}`,
  );
}
console.table(counts);
await ours.close();
rmSync(folder, { recursive: true, force: true });
const bad = Object.values(counts).reduce(
  (sum, { different, refused }) => sum + different + refused,
  0,
);
process.exitCode = bad === 0 ? 0 : 1;
