// Takes tables through random histories here and in DuckDB, with indexes created, dropped and brought up to date in
// between, and compares which rows conditions match, how many they are, and the first rows of orders. A catalog that
// uses an index wherever one answers is asked, and its plans say how often it did.
// node indexes.mjs [--histories N] [--seed N] [--built FOLDER], after `npm run differential` has compiled the modules
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import * as arrow from 'apache-arrow';
import { generator, makePredicates, quote, WORDS } from './predicates.mjs';
import { randomRows } from './rows.mjs';

const { values: args } = parseArgs({
  options: {
    histories: { type: 'string', default: '12' },
    steps: { type: 'string', default: '12' },
    rows: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    built: { type: 'string', default: '../../../.build/src' },
  },
});
const seed = Number(args.seed);
const ROWS = Number(args.rows);
console.log(`seed ${seed}, ${args.histories} histories`);

const base = new URL(`${args.built}/`, args.built.startsWith('/') ? 'file:///' : import.meta.url);
const built = (path) => import(new URL(path, base).href);
const { openDirectoryNamespace } = await built('directory/directory-namespace.js');
const { toRecordBatchStream } = await built('sdk/convert/data.js');
const { collectRows } = await built('sdk/convert/rows.js');

/** Columns, and the types of index that they can have. */
const INDEXES = {
  i8: ['BTREE', 'BITMAP'],
  i32: ['BTREE'],
  u32: ['BTREE'],
  n64: ['BTREE'],
  i64: ['BTREE', 'BITMAP'],
  f: ['BTREE'],
  g: ['BTREE', 'BITMAP'],
  s: ['BTREE', 'BITMAP'],
  c: ['BTREE', 'BITMAP'],
  dict: ['BTREE', 'BITMAP'],
  b: ['BITMAP', 'BTREE'],
  d: ['BTREE'],
  ts: ['BTREE'],
  dec: ['BTREE'],
  l: ['LABEL_LIST'],
  'st.a': ['BTREE', 'BITMAP'],
};
const ORDERED = Object.keys(INDEXES).filter((column) => column !== 'l');
const id = ['t'];

let asked = 0;
let used = 0;
let different = 0;
function differ(what, ours, theirs) {
  different++;
  if (different < 6)
    console.log(`${what}\n  ours   ${ours.slice(0, 200)}\n  DuckDB ${theirs.slice(0, 200)}`);
}

for (let history = 0; history < Number(args.histories); history++) {
  const rng = generator(seed + history);
  const { random, int, pick } = rng;
  const { db, table } = await randomRows(rng, ROWS);
  const { condition } = makePredicates(rng);
  const root = mkdtempSync(`${tmpdir()}/indexes-`);
  const limits = {
    indexedRows: 0,
    indexedShare: 8,
    batchRows: 32,
    fragmentRows: 128,
    segmentRows: 256,
  };
  const catalog = await openDirectoryNamespace({ root, durability: 'relaxed', limits });
  const numbered = table.assign(
    new arrow.Table({
      id: arrow.vectorFromArray(
        Array.from({ length: ROWS }, (_, at) => at),
        new arrow.Int32(),
      ),
    }),
  );
  await db.run('CREATE TABLE all_rows AS SELECT CAST(rowid AS INTEGER) AS id, * FROM t');
  let next = 0;
  const append = async (count) => {
    const to = Math.min(ROWS, next + count);
    if (to === next) return;
    const rows = toRecordBatchStream(numbered.slice(next, to));
    if (next === 0) {
      await catalog.createTable({ id }, await rows);
      await db.run(`CREATE TABLE u AS SELECT * FROM all_rows WHERE id < ${to}`);
    } else {
      await catalog.insertIntoTable({ id }, await rows);
      await db.run(`INSERT INTO u SELECT * FROM all_rows WHERE id >= ${next} AND id < ${to}`);
    }
    next = to;
  };

  /** A condition that an index may answer, in both dialects. */
  const test = () => {
    const value = {
      i8: () => int(256) - 128,
      i32: () => int(20) - 10,
      u32: () => int(20),
      n64: () => int(2000) - 1000,
      i64: () => pick(['0', '1', '9007199254740993', '9223372036854775807']),
      f: () => pick(['0.0', '0.1', '0.5', '-1.0', '100.0']),
      g: () => int(20) / 2,
      dec: () => (int(20000) - 10000) / 100,
      s: () => quote(pick(WORDS)),
      c: () => quote(`k0${int(6)}`),
      dict: () => quote(pick(WORDS.slice(0, 9))),
      d: () => `DATE '${1960 + int(80)}-0${1 + int(9)}-1${int(9)}'`,
      ts: () => `TIMESTAMP '${1960 + int(80)}-0${1 + int(9)}-1${int(9)} 0${int(9)}:00:00'`,
      'st.a': () => int(20) - 10,
    };
    const same = (text) => [text, text];
    if (random() < 0.1) {
      const word = quote(pick(WORDS));
      return [`array_has(l, ${word})`, `list_contains(l, ${word})`];
    }
    const known = indexed.filter((column) => column in value);
    const column = random() < 0.8 && known.length > 0 ? pick(known) : pick(Object.keys(value));
    const literal = value[column];
    switch (int(6)) {
      case 0:
        return same(`${column} = ${literal()}`);
      case 1:
        return same(`${column} ${pick(['<', '<=', '>', '>='])} ${literal()}`);
      case 2:
        return same(`${column} IN (${literal()}, ${literal()}, ${literal()})`);
      case 3:
        return same(`${column} BETWEEN ${literal()} AND ${literal()}`);
      case 4:
        return same(`${column} IS ${pick(['', 'NOT '])}NULL`);
      default:
        return same(`s LIKE '${pick(['a', 'k', 'k0', 'über', ''])}%'`);
    }
  };
  const where = (depth = 0) => {
    if (random() < 0.15) {
      const made = condition(2);
      // Rows have other numbers there once some are deleted.
      if (!made[0].includes('row')) return made;
    }
    if (depth > 1 || random() < 0.5) return test();
    const parts = Array.from({ length: 2 + int(2) }, () => where(depth + 1));
    const word = pick([' AND ', ' OR ']);
    return [0, 1].map((side) => `(${parts.map((part) => part[side]).join(word)})`);
  };

  const createIndex = async () => {
    const column = pick(Object.keys(INDEXES));
    await catalog.createTableIndex({ id, column, index_type: pick(INDEXES[column]) });
  };
  /** Columns that have an index. */
  let indexed = [];

  const STEPS = [
    () => append(1 + int(120)),
    createIndex,
    createIndex,
    async () => {
      const { indexes } = await catalog.listTableIndices({ id });
      if (indexes.length > 3)
        await catalog.dropTableIndex({ id, index_name: pick(indexes).index_name });
    },
    () => catalog.optimizeTable({ id }),
    async () => {
      const [ours, theirs] = test();
      if (random() < 0.6) return;
      await catalog.deleteFromTable({ id, predicate: ours });
      await db.run(`DELETE FROM u WHERE ${theirs}`);
    },
    async () => {
      const [ours, theirs] = test();
      await catalog.updateTable({ id, predicate: ours, updates: [['i32', '5']] });
      await db.run(`UPDATE u SET i32 = 5 WHERE ${theirs}`);
    },
  ];

  const ids = async (request) => {
    const stream = await catalog.queryTable({ id, columns: { column_names: ['id'] }, ...request });
    return (await collectRows(stream)).map((row) => row.id).join(' ');
  };
  const theirIds = async (sql) =>
    (await db.runAndReadAll(sql))
      .getRows()
      .map(([one]) => one)
      .join(' ');

  const compare = async () => {
    const [filter, sql] = where();
    const hasFilter = random() < 0.7;
    const known = indexed.filter((column) => ORDERED.includes(column));
    const ordered = () => (random() < 0.7 && known.length > 0 ? pick(known) : pick(ORDERED));
    const key = () => [ordered(), random() < 0.5, random() < 0.5];
    const keys = [...Array.from({ length: 1 + int(2) }, key), ['id', random() < 0.5, false]];
    const k = pick([1, 5, 40]);
    const offset = pick([0, 0, 3]);
    const order_by = keys.map(([column_name, ascending, nulls_first]) => ({
      column_name,
      ascending,
      nulls_first,
    }));
    const order = keys.map(
      ([column, ascending, nulls]) =>
        `${column} ${ascending ? 'ASC' : 'DESC'} NULLS ${nulls ? 'FIRST' : 'LAST'}`,
    );
    const condition = hasFilter ? `WHERE ${sql}` : '';
    const requests = [
      [
        { filter, k: 1e6, order_by: [{ column_name: 'id' }] },
        `SELECT id FROM u WHERE ${sql} ORDER BY id`,
      ],
      [
        { ...(hasFilter ? { filter } : {}), k, offset, order_by },
        `SELECT id FROM u ${condition} ORDER BY ${order.join(', ')} LIMIT ${k} OFFSET ${offset}`,
      ],
    ];
    for (const [request, text] of requests) {
      let theirs;
      let ours;
      try {
        theirs = await theirIds(text);
      } catch {
        // A condition that overflows there may be answered here.
        continue;
      }
      try {
        ours = await ids(request);
      } catch (error) {
        if (error.code === 'InvalidInput') continue;
        throw error;
      }
      asked++;
      if (ours !== theirs) differ(`seed ${seed + history}: ${text}`, ours, theirs);
      const plan = JSON.stringify(
        await catalog.explainTableQueryPlan({ id, query: { id, ...request } }),
      );
      if (/Index: (?!none)/.test(plan)) used++;
    }
    try {
      const theirs = await theirIds(`SELECT CAST(count(*) AS INTEGER) FROM u WHERE ${sql}`);
      const { count } = await catalog.countTableRows({ id, predicate: filter });
      asked++;
      if (String(count) !== theirs)
        differ(`seed ${seed + history}: count of ${sql}`, String(count), theirs);
    } catch (error) {
      if (error.code !== undefined && error.code !== 'InvalidInput') throw error;
    }
  };

  await append(200);
  for (let made = 0; made < 4; made++) await createIndex();
  for (let step = 0; step < Number(args.steps); step++) {
    await pick(STEPS)();
    const { indexes } = await catalog.listTableIndices({ id });
    indexed = indexes.flatMap(({ columns }) => columns);
    for (let query = 0; query < 8; query++) await compare();
  }
  await catalog.close();
  rmSync(root, { recursive: true });
}
console.log(
  `${asked - different} agree, ${different} differ; ${used} of the queries used an index`,
);
process.exitCode = different > 0 || used === 0 ? 1 : 0;
