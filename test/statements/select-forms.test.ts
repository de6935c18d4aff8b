/** FROM without or before SELECT, `* REPLACE`, and UNION BY NAME. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

test.each<[sql: string, rows: object[]]>([
  ["FROM cities WHERE name = 'Oslo'", [{ name: 'Oslo', country: 'NO' }]],
  ["FROM cities SELECT name WHERE country = 'IT'", [{ name: 'Rome' }]],
  ['FROM cities c SELECT count(*) AS n', [{ n: 4 }]],
  [
    'SELECT q.n FROM (FROM cities SELECT DISTINCT length(country) AS n) q, range(2) r(x) ORDER BY x',
    [{ n: 2 }, { n: 2 }],
  ],
  ['FROM range(3) UNION ALL FROM range(1) ORDER BY 1 LIMIT 2', [{ range: 0 }, { range: 0 }]],
  [
    "SELECT * REPLACE (lower(country) AS country) FROM cities WHERE name = 'Rome'",
    [{ name: 'Rome', country: 'it' }],
  ],
  [
    "SELECT c.* EXCLUDE (name) REPLACE (name || '!' AS COUNTRY), 1 AS one FROM cities c WHERE name = 'Rome'",
    [{ country: 'Rome!', one: 1 }],
  ],
  [
    'SELECT * REPLACE (sum(x) OVER (ORDER BY x) AS y) FROM (VALUES (1, 2), (3, 4)) v(x, y)',
    [
      { x: 1, y: 1 },
      { x: 3, y: 4 },
    ],
  ],
  [
    'SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3 AS B, 4 AS c UNION ALL BY NAME SELECT NULL AS a',
    [
      { a: 1, b: 2, c: null },
      { a: null, b: 3, c: 4 },
      { a: null, b: null, c: null },
    ],
  ],
  [
    'SELECT 1 AS a, 2 AS b UNION BY NAME SELECT 2 AS b, 1 AS a UNION BY NAME SELECT 5 AS b ORDER BY b',
    [
      { a: 1, b: 2 },
      { a: null, b: 5 },
    ],
  ],
])('%s', async (sql, rows) => {
  expect(await catalog.rows(sql)).toEqual(rows);
});

test.each<[sql: string, message: string]>([
  ['FROM', 'the name of a table is expected'],
  ['FROM cities DISTINCT name', 'syntax error at or near "DISTINCT"'],
  ['FROM cities SELECT name FROM cities', 'syntax error at or near "FROM"'],
  ['SELECT * REPLACE (1 AS nam) FROM cities', 'REPLACE names nam, which is no column of it'],
  ['SELECT * REPLACE (1 AS name, 2 AS NAME) FROM cities', 'REPLACE names NAME twice'],
  ['SELECT * FROM cities, LATERAL cities c', 'LATERAL stands before a function of FROM'],
  ['SELECT * REPLACE (1 name) FROM cities', 'syntax error at or near "name"'],
  [
    'SELECT 1 AS a, 2 AS A UNION BY NAME SELECT 3 AS a',
    'takes different names, and a part has a, A',
  ],
  ["SELECT 1 AS a UNION BY NAME SELECT 'x' AS a", 'UNION'],
  ['SELECT 1 AS a EXCEPT BY NAME SELECT 1 AS a', 'EXCEPT BY NAME is not supported'],
  [
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION BY NAME SELECT n FROM r) SELECT n FROM r',
    'r reads itself, which UNION BY NAME cannot',
  ],
])('refuses %s', async (sql, message) => {
  await expect(catalog.rows(sql)).rejects.toThrow(message);
});

test('REPLACE takes the place of each column of the name', async () => {
  expect(
    await catalog.rows('SELECT * REPLACE (0 AS a) FROM (VALUES (1, 2)) x(a, b), (VALUES (3)) y(a)'),
  ).toEqual([{ a: 0, b: 2, a_1: 0 }]);
});

test('FROM may begin a query in parentheses', async () => {
  const sql =
    'SELECT 1 AS one WHERE 2 IN (FROM (VALUES (2)) v(x)) AND EXISTS (FROM (VALUES (1)) w(y))';
  expect(await catalog.rows(sql)).toEqual([{ one: 1 }]);
});

test('parts of UNION BY NAME have a bounded number of names together', async () => {
  const parts = Array.from({ length: 30 }, (_, part) => {
    const items = Array.from({ length: 50 }, (__, at) => `1 a${part * 50 + at}`);
    return `SELECT ${items.join(', ')}`;
  });
  await expect(catalog.rows(parts.join(' UNION ALL BY NAME '))).rejects.toThrow(
    'columns of UNION BY NAME',
  );
});
