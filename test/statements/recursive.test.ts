/** WITH RECURSIVE: queries that read the rows of their round before. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
  await catalog.db.createTable('edges', [
    { f: 1, t: 2 },
    { f: 2, t: 3 },
    { f: 3, t: 1 },
    { f: 3, t: 4 },
    { f: 7, t: 8 },
  ]);
});

const answer = async (sql: string): Promise<unknown[][]> =>
  (await catalog.rows(sql)).map((row) => Object.values(row));

test.each<[about: string, sql: string, rows: unknown[][]]>([
  [
    'rows by rows of the round before',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT n FROM r',
    [[1], [2], [3], [4]],
  ],
  [
    'what can be reached, each once',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT e.t FROM r JOIN edges e ON e.f = r.n) SELECT n FROM r ORDER BY n',
    [[1], [2], [3], [4]],
  ],
  [
    'rows of nulls and of several columns, each once',
    "WITH RECURSIVE r(n, s) AS (VALUES (NULL, 'a'), (1, NULL) UNION SELECT CASE WHEN n < 3 THEN n + 1 END, s FROM r) SELECT n, s FROM r ORDER BY n, s",
    [
      [1, null],
      [2, null],
      [3, null],
      [null, 'a'],
      [null, null],
    ],
  ],
  [
    'several parts that read it, and several readers',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n * 2 FROM r WHERE n < 3 UNION ALL SELECT n * 3 FROM r WHERE n < 3) SELECT count(*), sum(a.n) FROM r a JOIN r b ON a.n = b.n',
    [[5, 16]],
  ],
  [
    'types that widen: text, decimals of a first whole number',
    "WITH RECURSIVE r(n, p) AS (SELECT 1, 'a' UNION ALL SELECT n + CAST(0.5 AS double), p || 'b' FROM r WHERE n < 2) SELECT n, p FROM r",
    [
      [1, 'a'],
      [1.5, 'ab'],
      [2, 'abb'],
    ],
  ],
  [
    'as long as rows are asked for',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r LIMIT 3',
    [[1], [2], [3]],
  ],
  [
    'groups of the round before, and a condition on all rows',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT max(n) + 1 FROM r HAVING max(n) < 5) SELECT n FROM r WHERE n > 3',
    [[4], [5]],
  ],
  [
    'after a query of WITH, and within a value',
    'WITH RECURSIVE s AS (SELECT min(f) AS f FROM edges), r(n) AS (SELECT f FROM s UNION SELECT t FROM edges, r WHERE f = n) SELECT count(*), (WITH RECURSIVE q(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM q WHERE n < 9) SELECT max(n) FROM q) FROM r',
    [[4, 9]],
  ],
  [
    'without a row to begin with',
    'WITH RECURSIVE r(n) AS (SELECT 1 WHERE false UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r',
    [[0]],
  ],
  [
    'a name that an inner WITH hides',
    'WITH RECURSIVE r(n) AS (WITH r(n) AS (SELECT 3) SELECT n FROM r ORDER BY n) SELECT n FROM r',
    [[3]],
  ],
  [
    'a name that an inner WITH hides after it was read',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL (WITH r AS (SELECT n FROM r WHERE n < 3) SELECT n + 1 FROM r)) SELECT n FROM r',
    [[1], [2], [3]],
  ],
  ['not read by itself', 'WITH RECURSIVE r AS (SELECT 1 AS n) SELECT n FROM r', [[1]]],
])('%s', async (_, sql, rows) => {
  expect(await answer(sql)).toEqual(rows);
});

test('the plan tells of its rounds', async () => {
  const sql =
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT n FROM r';
  const plan = await catalog.db.sql(sql).explainPlan();
  expect(plan).toContain('Rounds of r: the first rows, then what comes of those before');
  expect(plan).toContain('The rows of the round before');
});

const ENDLESS =
  'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r';

test('one that never ends is aborted, or refused after its rounds', async () => {
  await expect(catalog.db.sql(ENDLESS).toArray({ timeoutMs: 1 })).rejects.toThrow();
  await expect(answer(ENDLESS)).rejects.toThrow('r goes on after 100000 rounds');
});

test('one whose rows multiply is refused by its memory', async () => {
  const small = await statementCatalog({ requestMemory: 16 << 20 });
  const sql =
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT a.n + b.n FROM r a, r b UNION ALL SELECT n FROM r) SELECT count(*) FROM r';
  await expect(small.rows(sql)).rejects.toThrow('requestMemory');
});

test.each<[sql: string, message: string]>([
  ['WITH RECURSIVE r(n) AS (SELECT n FROM r) SELECT 1 FROM r', 'r reads itself, which only'],
  [
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r LIMIT 5) SELECT 1 FROM r',
    'without ORDER BY and LIMIT of its own',
  ],
  [
    'WITH RECURSIVE r(n) AS (SELECT n FROM r UNION ALL SELECT 1) SELECT 1 FROM r',
    'has to give its first rows',
  ],
  [
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n, n FROM r) SELECT 1 FROM r',
    'The parts of r have 1 and 2 columns',
  ],
  ["WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT 'a' FROM r) SELECT 1 FROM r", 'UNION'],
  ['WITH r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT 1 FROM r', 'r'],
])('refuses %s', async (sql, message) => {
  await expect(answer(sql)).rejects.toThrow(message);
});
