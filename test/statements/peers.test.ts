/** Rows that are equal in all keys of a window's ORDER BY, and windows of more rows than a step. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

const ROWS = 40_000;
let catalog: Catalog;

beforeAll(async () => {
  catalog = await statementCatalog();
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n, p: n % 2, k: Math.floor(n / 6) }));
  await catalog.db.createTable('many', rows);
});

const LONG = 'x'.repeat(300);

test.each([
  ['whole numbers', '(3), (1), (3), (NULL), (1)', '1,1,2,2,3'],
  ['of 64 bits', '(9223372036854775807), (-9223372036854775808), (9223372036854775806)', '1,2,3'],
  ['that only a whole word tells apart', '(4294967296), (0), (4294967296), (1)', '1,2,3,3'],
  [
    'doubles, both zeros and NaN among them',
    "(-0e0), (0e0), (CAST('nan' AS double)), (CAST('nan' AS double)), (CAST('inf' AS double))",
    '1,1,2,3,3',
  ],
  ['decimals', '(1.50), (1.5), (-1.50), (1.51)', '1,2,2,3'],
  ['texts of one beginning', "('abcdefgh'), ('abcdefg'), ('abcdefgh'), ('')", '1,2,3,3'],
  ['long texts', `('${LONG}a'), ('${LONG}b'), ('${LONG}a')`, '1,1,2'],
  ['truth', '(true), (false), (NULL), (true), (NULL)', '1,2,2,3,3'],
  ['days', "(date '2024-01-02'), (date '2024-01-01'), (date '2024-01-02')", '1,2,2'],
  ['nulls alone', '(NULL), (NULL)', '1,1'],
])('peers by %s', async (_, values, ranks) => {
  const found = await catalog.rows(
    `SELECT dense_rank() OVER (ORDER BY k) AS r FROM (VALUES ${values}) v(k) ORDER BY r`,
  );
  expect(found.map(({ r }) => r).join()).toBe(ranks);
});

test('peers by several keys differ where one of them does', async () => {
  const found = await catalog.rows(
    `SELECT rank() OVER (ORDER BY a DESC, b) AS r FROM (VALUES (1, 'x'), (1, 'y'), (2, 'x'), (1, 'x')) v(a, b) ORDER BY r`,
  );
  expect(found.map(({ r }) => r)).toEqual([1, 2, 2, 4]);
});

test('functions of windows go on from one step to the next', async () => {
  const found = await catalog.rows(
    `SELECT n,
       row_number() OVER w AS row, rank() OVER w AS rank, dense_rank() OVER w AS dense,
       lag(n) OVER w AS before, lead(n, 3) OVER w AS after,
       sum(n) OVER w AS sum, count(*) OVER w AS count, avg(n) OVER (PARTITION BY p ORDER BY n ROWS UNBOUNDED PRECEDING) AS mean,
       max(n) OVER (PARTITION BY p) AS most
     FROM many WINDOW w AS (PARTITION BY p ORDER BY k) ORDER BY n`,
  );
  expect(found).toHaveLength(ROWS);
  const isRight = (row: Record<string, unknown>): boolean => {
    const n = row.n as number;
    const p = n % 2;
    // Rows of a partition are p, p + 2, p + 4 ..; three in a row are peers.
    const at = (n - p) / 2;
    const [first, end] = [at - (at % 3), Math.min(at - (at % 3) + 3, ROWS / 2)];
    const sum = (rows: number): number => rows * (rows - 1) + p * rows;
    return (
      row.row === at + 1 &&
      row.rank === first + 1 &&
      row.dense === first / 3 + 1 &&
      row.before === (at === 0 ? null : n - 2) &&
      row.after === (n + 6 < ROWS ? n + 6 : null) &&
      row.sum === sum(end) &&
      row.count === end &&
      row.mean === sum(at + 1) / (at + 1) &&
      row.most === ROWS - 2 + p
    );
  };
  expect(found.find((row) => !isRight(row))).toBeUndefined();
});

test('so do aggregates that keep the rows of their groups', async () => {
  const found = await catalog.rows(
    `SELECT p, median(n) AS middle, mode(k) AS often, len(array_agg(n)) AS rows, array_agg(n)[20000] AS last
     FROM many GROUP BY p ORDER BY p`,
  );
  expect(found).toEqual([
    { p: 0, middle: ROWS / 2 - 1, often: 0, rows: ROWS / 2, last: ROWS - 2 },
    { p: 1, middle: ROWS / 2, often: 0, rows: ROWS / 2, last: ROWS - 1 },
  ]);
});
