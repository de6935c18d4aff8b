/** Frames of RANGE with distances, of GROUPS, any aggregate over them, DISTINCT and IGNORE NULLS. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const listed = (list: object): unknown[] =>
  [...(list as Iterable<unknown>)].map((item) => (typeof item === 'bigint' ? Number(item) : item));

/** The values of a column `w` over rows (n, k, t), in the order of n. */
async function column(call: string, rows: string): Promise<unknown[]> {
  const sql = `SELECT n, ${call} AS w FROM (VALUES ${rows}) v(n, k, t) ORDER BY n`;
  return (await catalog.rows(sql)).map(({ w }) => (w instanceof Object ? listed(w) : w));
}
const NUMBERS =
  "(1, 1, 'a'), (2, 2, 'b'), (3, 2, NULL), (4, 5, 'b'), (5, NULL, 'c'), (6, NULL, 'a')";
const DAYS =
  "(1, date '2024-01-31', 'a'), (2, date '2024-02-29', 'b'), (3, date '2024-03-01', 'c'), (4, NULL, 'd')";

test.each<[call: string, values: unknown[]]>([
  ['sum(n) OVER (ORDER BY k RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)', [6, 6, 6, 4, 11, 11]],
  ['sum(n) OVER (ORDER BY k DESC RANGE 3 PRECEDING)', [6, 9, 9, 4, 11, 11]],
  ['count(*) OVER (ORDER BY k RANGE BETWEEN 1 FOLLOWING AND 3 FOLLOWING)', [2, 1, 1, 0, 2, 2]],
  [
    'count(*) OVER (ORDER BY k RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)',
    [3, 3, 3, 4, 6, 6],
  ],
  [
    'count(*) OVER (ORDER BY k NULLS FIRST RANGE BETWEEN 0 PRECEDING AND UNBOUNDED FOLLOWING)',
    [4, 3, 3, 1, 6, 6],
  ],
  [
    'count(*) OVER (ORDER BY k RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)',
    [6, 5, 5, 3, 2, 2],
  ],
  ['count(*) OVER (ORDER BY k / 2.0e0 RANGE 0.5 PRECEDING)', [1, 3, 3, 1, 2, 2]],
  ['count(*) OVER (ORDER BY k GROUPS 1 PRECEDING)', [1, 3, 3, 3, 3, 3]],
  ['count(*) OVER (ORDER BY k GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)', [3, 3, 3, 2, 0, 0]],
  [
    'first_value(n) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 PRECEDING)',
    [null, 1, 1, 2, 4, 4],
  ],
  ["string_agg(t, '') OVER (ORDER BY n)", ['a', 'ab', 'ab', 'abb', 'abbc', 'abbca']],
  [
    'array_agg(k) OVER (ORDER BY n ROWS 1 PRECEDING)',
    [[1], [1, 2], [2, 2], [2, 5], [5, null], [null, null]],
  ],
  ['median(n) OVER (ORDER BY k RANGE 1 PRECEDING)', [1, 2, 2, 4, 5.5, 5.5]],
  [
    'var_pop(n) OVER (ORDER BY n ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)',
    [0.25, 0.25, 0.25, 0.25, 0, null],
  ],
  ['var_pop(n) OVER (ORDER BY n)', [0, 0.25, 2 / 3, 1.25, 2, 35 / 12]],
  ['count(DISTINCT t) OVER (ORDER BY n)', [1, 2, 2, 2, 3, 3]],
  [
    'count(DISTINCT t) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)',
    [2, 2, 1, 2, 3, 2],
  ],
  ['sum(DISTINCT k) OVER ()', [8, 8, 8, 8, 8, 8]],
  ['sum(DISTINCT k) OVER (PARTITION BY t)', [1, 7, 2, 7, null, 1]],
  ['last_value(t IGNORE NULLS) OVER (ORDER BY n)', ['a', 'b', 'b', 'b', 'c', 'a']],
  ['first_value(k) IGNORE NULLS OVER (ORDER BY n DESC)', [5, 5, 5, 5, null, null]],
  [
    'first_value(t RESPECT NULLS) OVER (ORDER BY n ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)',
    ['b', null, 'b', 'c', 'a', null],
  ],
  [
    'nth_value(t, 2 IGNORE NULLS) OVER (ORDER BY n ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING)',
    ['b', 'b', 'c', 'c', 'a', null],
  ],
  ['last_value(k IGNORE NULLS) OVER (PARTITION BY t)', [1, 5, 2, 5, null, 1]],
  ['lag(t, 1, CAST(n AS text) IGNORE NULLS) OVER (ORDER BY n)', ['1', 'a', 'b', 'b', 'b', 'c']],
  ['lead(k, 2 IGNORE NULLS) OVER (ORDER BY n)', [2, 5, null, null, null, null]],
  ['lag(k, 0 IGNORE NULLS) OVER (ORDER BY n)', [1, 2, 2, 5, null, null]],
])('%s', async (call, values) => {
  expect(await column(call, NUMBERS)).toEqual(values);
});

test.each<[call: string, values: unknown[]]>([
  ["count(*) OVER (ORDER BY k RANGE INTERVAL '1 month' PRECEDING)", [1, 2, 2, 1]],
  [
    "count(*) OVER (ORDER BY k RANGE BETWEEN INTERVAL '1 day' PRECEDING AND INTERVAL '1 day' FOLLOWING)",
    [1, 2, 2, 1],
  ],
  [
    "count(*) OVER (ORDER BY CAST(k AS timestamp) DESC RANGE BETWEEN CURRENT ROW AND INTERVAL '36 hours' FOLLOWING)",
    [1, 1, 2, 1],
  ],
])('%s of days', async (call, values) => {
  expect(await column(call, DAYS)).toEqual(values);
});

test('NaN is near to NaN alone', async () => {
  const rows =
    "(1, 1e0, 'a'), (2, CAST('nan' AS double), 'a'), (3, CAST('inf' AS double), 'a'), (4, 2e0, 'a')";
  const call = 'count(*) OVER (ORDER BY k RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)';
  expect(await column(call, rows)).toEqual([2, 1, 1, 2]);
});

test('all frames of a window of many rows are those of its rows', async () => {
  const rows = Array.from({ length: 3000 }, (_, n) => ({ n, k: (n * 37) % 1000, p: n % 3 }));
  await catalog.db.createTable('long', rows);
  const found = await catalog.rows(
    `SELECT n, k, p, stddev_pop(n) OVER w AS s, count(DISTINCT k % 10) OVER w AS d,
       bit_xor(CAST(n AS int)) OVER (PARTITION BY p ORDER BY k RANGE UNBOUNDED PRECEDING) AS x
     FROM long WINDOW w AS (PARTITION BY p ORDER BY k RANGE BETWEEN 20 PRECEDING AND 5 FOLLOWING)`,
  );
  const values = found as { n: number; k: number; p: number; s: number; d: number; x: number }[];
  for (const { n, k, p, s, d, x } of values.filter((_, at) => at % 97 === 0)) {
    const within = rows.filter((row) => row.p === p && row.k >= k - 20 && row.k <= k + 5);
    const mean = within.reduce((sum, row) => sum + row.n, 0) / within.length;
    const square = within.reduce((sum, row) => sum + (row.n - mean) ** 2, 0);
    expect([n, s]).toEqual([n, expect.closeTo(Math.sqrt(square / within.length), 6)]);
    expect([n, d]).toEqual([n, new Set(within.map((row) => row.k % 10)).size]);
    const before = rows.filter((row) => row.p === p && row.k <= k);
    expect([n, x]).toEqual([n, before.reduce((bits, row) => bits ^ row.n, 0)]);
  }
});

test('lists of growing frames count against the memory of the request', async () => {
  const small = await statementCatalog({ requestMemory: 16 << 20 });
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ n }));
  await small.db.createTable('rows', rows);
  const sql = 'SELECT array_agg(n) OVER (ORDER BY n) AS w FROM rows';
  await expect(small.rows(sql)).rejects.toThrow('requestMemory');
});

test('the columns of window functions count against the memory of the request', async () => {
  const small = await statementCatalog({ requestMemory: 16 << 20 });
  await small.db.createTable(
    'rows',
    Array.from({ length: 60_000 }, (_, n) => ({ n })),
  );
  const calls = Array.from({ length: 40 }, (_, at) => `lag(n, ${at}) OVER (ORDER BY n) AS c${at}`);
  const sql = (most: number): string => `SELECT ${calls.slice(0, most).join(', ')} FROM rows`;
  await expect(small.rows(sql(40))).rejects.toThrow('The rows of a window');
  expect(await small.rows(sql(2))).toHaveLength(60_000);
});

test.each<[call: string, message: string]>([
  ['sum(n) OVER (ORDER BY t RANGE 1 PRECEDING)', 'The operator - does not work on'],
  ['sum(n) OVER (ORDER BY k, n RANGE 1 PRECEDING)', 'needs an ORDER BY of one value'],
  ['sum(n) OVER (RANGE 1 PRECEDING)', 'needs an ORDER BY of one value'],
  ['sum(n) OVER (GROUPS 1 PRECEDING)', 'A frame of GROUPS needs an ORDER BY'],
  ["sum(n) OVER (ORDER BY k RANGE INTERVAL '1 day' PRECEDING)", 'The operator - does not work on'],
  ["sum(n) OVER (ORDER BY date '2024-01-01' RANGE INTERVAL '-1 day' PRECEDING)", 'not below zero'],
  ['sum(n) OVER (ORDER BY k RANGE k PRECEDING)', 'a distance such as 5'],
  ['sum(n) OVER (ORDER BY k RANGE BETWEEN 1 FOLLOWING AND CURRENT ROW)', 'ends after it'],
  ['sum(n) OVER (ORDER BY k ROWS 1.5 PRECEDING)', 'a number of rows'],
  ['sum(n) OVER (ORDER BY k ROWS 1 PRECEDING EXCLUDE TIES)', 'EXCLUDE is not supported'],
  ['sum(n IGNORE NULLS) OVER (ORDER BY k)', 'takes no IGNORE NULLS'],
  ['nth_value(n, 0 IGNORE NULLS) OVER (ORDER BY k)', 'takes a number from 1 on'],
])('refuses %s', async (call, message) => {
  await expect(column(call, NUMBERS)).rejects.toThrow(message);
});
