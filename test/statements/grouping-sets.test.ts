/** GROUP BY with several sets of keys: GROUPING SETS, ROLLUP and CUBE, beside a SELECT for each set. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
  const many = Array.from({ length: 3_000 }, (_, at) => ({
    a: at % 7 === 3 ? null : `a${at % 5}`,
    b: at % 11,
    c: at % 4 === 0,
    x: at,
  }));
  const table = await catalog.db.createTable('many', many.slice(0, 1_000));
  await table.add(many.slice(1_000));
});
afterAll(() => catalog.db.close());

const KEYS = ['a', 'b', 'c'];
const CALLS =
  'count(*) AS n, sum(x) AS s, min(x) AS least, count(DISTINCT b) FILTER (WHERE c) AS d';
const lines = async (sql: string): Promise<string[]> =>
  (await catalog.rows(sql)).map((row) => JSON.stringify(Object.values(row))).sort();

describe.each<[by: string, sets: string[]]>([
  ['GROUPING SETS ((a, b), (c), ())', ['ab', 'c', '']],
  ['GROUPING SETS (a, b, (c, a))', ['a', 'b', 'ca']],
  ['GROUPING SETS (a, a)', ['a', 'a']],
  ['ROLLUP (a, b, c)', ['abc', 'ab', 'a', '']],
  ['ROLLUP ((a, b), c)', ['abc', 'ab', '']],
  ['CUBE (a, b)', ['ab', 'a', 'b', '']],
  ['CUBE (a, (b, c))', ['abc', 'a', 'bc', '']],
  ['c, ROLLUP (a, b)', ['cab', 'ca', 'c']],
  ['ROLLUP (a), ROLLUP (b)', ['ab', 'a', 'b', '']],
  ['GROUPING SETS (ROLLUP (a), CUBE (b, c))', ['a', '', 'bc', 'b', 'c', '']],
  ['GROUPING SETS (GROUPING SETS (a, b), c)', ['a', 'b', 'c']],
  ['a, (b, c)', ['abc']],
  ['()', ['']],
])('GROUP BY %s', (by, sets) => {
  const union = (from: string): string =>
    sets
      .map((set) => {
        const shown = KEYS.map((key) => `${set.includes(key) ? key : 'NULL'} AS k${key}`);
        const group = set === '' ? '' : ` GROUP BY ${[...set].join(', ')}`;
        const bits = KEYS.map((key, at) => (set.includes(key) ? 0 : 4 >> at));
        const number = bits.reduce((sum, bit) => sum + bit, 0);
        return `SELECT ${shown.join(', ')}, ${CALLS}, ${number} AS g FROM ${from}${group}`;
      })
      .join(' UNION ALL ');
  // A key that no set has could not be named.
  const named = KEYS.filter((key) => sets.some((set) => set.includes(key)));
  const shown = KEYS.map((key) => `${named.includes(key) ? key : 'NULL'} AS k${key}`);
  const bits = KEYS.map((key, at) =>
    named.includes(key) ? `${4 >> at} * grouping(${key})` : 4 >> at,
  );

  test.each(['many', '(SELECT * FROM many WHERE x < 0) q', '(SELECT * FROM many LIMIT 0) q'])(
    'has the rows of one SELECT for each set, from %s',
    async (from) => {
      const sql = `SELECT ${shown.join(', ')}, ${CALLS}, ${bits.join(' + ')} AS g FROM ${from} GROUP BY ${by}`;
      expect(await lines(sql)).toEqual(await lines(union(from)));
    },
  );
});

test('keys may be expressions, names and numbers of items, and conditions come after the groups', async () => {
  const sql = `
    SELECT upper(a) AS u, b % 2 AS odd, count(*) AS n, grouping(upper(a), b % 2) AS g
    FROM many WHERE a IS NOT NULL GROUP BY ROLLUP (u, 2) HAVING count(*) > 100 AND (b % 2 = 1 OR grouping(u) = 1)
    ORDER BY g, u NULLS LAST, odd`;
  const found = await catalog.rows(sql);
  expect(found.map(({ g }) => g)).toEqual([0, 0, 0, 0, 0, 3]);
  const odd = await catalog.rows(
    'SELECT a, count(*) AS n FROM many WHERE a IS NOT NULL AND b % 2 = 1 GROUP BY a HAVING count(*) > 100',
  );
  expect(found.filter(({ odd: key }) => key === 1)).toHaveLength(odd.length);
});

test('a condition on a key is not moved below groups that do not have it', async () => {
  const sql = 'SELECT q.a, q.n FROM (SELECT a, count(*) AS n FROM many GROUP BY ROLLUP (a)) q';
  const rows = await catalog.rows(`${sql} WHERE a IS NULL ORDER BY n`);
  expect(rows).toEqual([
    { a: null, n: 429 },
    { a: null, n: 3_000 },
  ]);
});

test('the table is read once, and the plan says the sets', async () => {
  const plan = await catalog.db
    .sql('SELECT a, b, count(*) FROM many GROUP BY GROUPING SETS ((a, b), (b), ())')
    .explainPlan();
  expect(plan).toContain('Sum up by (a, b), (b), (): count(*)');
  expect(plan.match(/Read many/g)).toHaveLength(1);
});

test.each<[sql: string, message: string]>([
  ['SELECT a FROM many GROUP BY ROLLUP ()', 'An expression is missing'],
  ['SELECT a, x FROM many GROUP BY CUBE (a)', 'x is of one row; name it in GROUP BY'],
  ['SELECT grouping(x) FROM many GROUP BY CUBE (a)', 'grouping(..) takes keys of GROUP BY'],
  ['SELECT grouping(a) FROM many', 'grouping'],
  ['SELECT 1 FROM many GROUP BY CUBE (a, b, c, x, 1, 1, 1, 1)', 'more than 128 sets of keys'],
  ['SELECT 1 FROM many GROUP BY CUBE (a, b, c, x), CUBE (a, b, c, x)', 'more than 128 sets'],
  ['SELECT 1 FROM many GROUP BY GROUPING (a)', 'SETS is expected'],
  [`SELECT 1 FROM many GROUP BY ${'GROUPING SETS ('.repeat(40)}`, 'nested deeper than 32 levels'],
])('%s is refused', async (sql, message) => {
  await expect(catalog.rows(sql)).rejects.toThrow(message);
});

test('groups of all sets count against the memory of a request', async () => {
  const own = await statementCatalog({ requestMemory: 1 << 20 });
  await own.db.createTable(
    'many',
    Array.from({ length: 30_000 }, (_, at) => ({ a: at, b: -at })),
  );
  await expect(own.rows('SELECT a, b, count(*) FROM many GROUP BY CUBE (a, b)')).rejects.toThrow(
    'The groups of a statement',
  );
  await own.db.close();
});

test('a constant that is a key is null in groups of other sets', async () => {
  const sql = (by: string): string =>
    `SELECT 7 AS k, 7 + 1 AS more, count(*) AS n FROM many GROUP BY ${by}`;
  expect(await catalog.rows(sql('ROLLUP (k)'))).toEqual([
    { k: 7, more: 8, n: 3_000 },
    { k: null, more: 8, n: 3_000 },
  ]);
  expect(await catalog.rows(sql('k'))).toEqual([{ k: 7, more: 8, n: 3_000 }]);
});
