/** Aggregates of pairs of numbers, and quantiles of several shares at once. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

/** Lists and decimals as plain values, whole numbers as numbers. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' && /^-?[\d.]+$/.test(value)) return Number(value);
  if (value === null || typeof value !== 'object') return value;
  return [...(value as Iterable<unknown>)].map(plain);
}
const answer = async (sql: string): Promise<unknown[][]> =>
  (await catalog.db.sql<Record<string, unknown>>(sql).toArray()).map((row) =>
    Object.values(row).map(plain),
  );
const over = (calls: string, rows: string): string =>
  `SELECT ${calls} FROM (VALUES ${rows}) v(g, y, x)`;
const ROWS =
  "('a', 1, 2), ('a', 2, 4.5), ('a', 4, 6), ('b', 1, 3), ('b', 2, NULL), (NULL, NULL, 1)";

test.each<[about: string, sql: string, rows: unknown[][]]>([
  [
    'the twelve statistics of pairs',
    over(
      'covar_pop(y, x), covar_samp(y, x), regr_count(y, x), regr_avgx(y, x), regr_avgy(y, x), regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x), round(corr(y, x), 6), round(regr_slope(y, x), 6), round(regr_intercept(y, x), 6), round(regr_r2(y, x), 6)',
      "('a', 1, 2), ('a', 3, 4), ('a', 2, 6), ('a', NULL, 7), ('a', 3, NULL)",
    ),
    [[2 / 3, 1, 3, 4, 2, 8, 2, 2, 0.5, 0.25, 1, 0.25]],
  ],
  [
    'null where there is no value, as in PostgreSQL',
    over(
      'corr(y, x), regr_slope(y, x), covar_samp(y, x), covar_pop(y, x), regr_r2(y, x), regr_count(y, x)',
      "('a', 1, 2)",
    ),
    [[null, null, null, 0, null, 1]],
  ],
  [
    'of no pair',
    over('corr(y, x), regr_count(y, x), regr_sxx(y, x)', "('a', NULL, 2)"),
    [[null, 0, null]],
  ],
  [
    'of no pair, in a sub-select for each row',
    `SELECT w.g, (SELECT regr_count(y, x) FROM (VALUES ${ROWS}) v(g, y, x) WHERE v.g = w.g) FROM (VALUES ('a'), ('c')) w(g) ORDER BY 1`,
    [
      ['a', 3],
      ['c', 0],
    ],
  ],
  [
    'y that are all equal',
    over('corr(y, x), regr_slope(y, x), regr_r2(y, x)', "('a', 5, 1), ('a', 5, 2)"),
    [[null, 0, 1]],
  ],
  [
    'of sums whose product is beyond the range of doubles',
    over('corr(y, x)', "('a', 1e150, 1e150), ('a', -1e150, -1e150)"),
    [[1]],
  ],
  [
    'of groups, windows and with FILTER',
    `${over('g, regr_count(y, x) FILTER (WHERE y < 4), round(covar_pop(y, x), 4)', ROWS)} GROUP BY g ORDER BY g`,
    [
      ['a', 2, 1.9444],
      ['b', 1, 0],
      [null, 0, null],
    ],
  ],
  [
    'over a window',
    `${over('y, regr_count(y, x) FILTER (WHERE y < 4) OVER (PARTITION BY g)', ROWS)} ORDER BY g, y`,
    [
      [1, 2],
      [2, 2],
      [4, 2],
      [1, 1],
      [2, 1],
      [null, 0],
    ],
  ],
  [
    'quantiles of several shares',
    `${over('g, quantile_cont(y, [0, 0.25, 1]), quantile_disc(y, [0.1, 0.9]), quantile_cont(x, [0.5])[1]', ROWS)} GROUP BY g ORDER BY g`,
    [
      ['a', [1, 1.5, 4], [1, 4], 4.5],
      ['b', [1, 1.25, 2], [1, 2], 3],
      [null, null, null, 1],
    ],
  ],
  [
    'from the greatest value on, and of texts',
    over(
      'percentile_cont([0.25, 1]) WITHIN GROUP (ORDER BY y DESC), quantile_disc(g, [0.5])',
      ROWS,
    ),
    [[[2, 1], ['a']]],
  ],
  [
    'of no rows',
    `${over('quantile_cont(y, [0.5]), quantile_disc(g, [0.5]), quantile_disc(g, 0.5)', ROWS)} WHERE false`,
    [[null, null, null]],
  ],
])('%s', async (_, sql, rows) => {
  expect(await answer(sql)).toEqual(rows);
});

test.each<[sql: string, message: string]>([
  [over('corr(y)', ROWS), 'corr takes two numbers'],
  [over('corr(g, x)', ROWS), 'corr takes numbers, not utf8'],
  [over('corr(x, g)', ROWS), 'corr takes numbers here, not utf8'],
  [over('corr(DISTINCT y, x)', ROWS), 'corr(DISTINCT ..) is not supported'],
  [
    over('quantile_cont(y, [0.5, 2])', ROWS),
    'a number from 0 to 1, such as 0.5, or a list of them',
  ],
  [over('quantile_cont(y, [])', ROWS), 'a number from 0 to 1, such as 0.5, or a list of them'],
  [
    over(`quantile_cont(y, [${Array(1001).fill('0.5').join(', ')}])`, ROWS),
    'quantile_cont takes 1000 shares at most',
  ],
])('refuses %s', async (sql, message) => {
  await expect(answer(sql)).rejects.toThrow(message);
});
