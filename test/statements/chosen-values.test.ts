/** Aggregates that choose one value of a group, quantiles, bits, and the order within a call. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const P = 'prod.people';
const answer = async (sql: string): Promise<unknown[][]> =>
  (await catalog.db.sql<Record<string, unknown>>(sql).toArray()).map((row) => Object.values(row));
/** One value of rows (g, n, x) that a list of VALUES gives. */
const over = (call: string, rows: string): string => `SELECT ${call} FROM (VALUES ${rows}) v(n, x)`;

test.each<[about: string, sql: string, rows: unknown[][]]>([
  [
    'decimals that a CASE gives as they are',
    over(
      'var_pop(y), median(y), stddev_pop(y), quantile_cont(y, 0.25), avg(y), max(y)'.replaceAll(
        'y',
        "CASE WHEN x THEN CAST('4.5' AS decimal(9, 2)) ELSE CAST('-2.5' AS decimal(9, 2)) END",
      ),
      '(1, true), (2, false)',
    ),
    [[12.25, 1, 3.5, -0.75, 1, '4.50']],
  ],
  [
    'the first and the last row, whose values may be null',
    `SELECT first(age ORDER BY id), last(score ORDER BY id), first(age ORDER BY id DESC), last(age ORDER BY name DESC), arbitrary(name), any_value(age ORDER BY age) FROM ${P} WHERE id > 2`,
    [[null, 4, 51n, null, 'cy', 20n]],
  ],
  [
    'in the order in which rows are read, of groups',
    `SELECT city, first(name), last(name), first(age), last(age) FROM ${P} GROUP BY city ORDER BY 1`,
    [
      ['Oslo', 'ada', 'cy', 36n, null],
      ['Rome', 'bob', 'eve', 20n, 51n],
      [null, 'dee', 'dee', 20n, 20n],
    ],
  ],
  [
    'of windows',
    `SELECT id, first(id) OVER (ORDER BY id), last(id) OVER (ORDER BY id) FROM ${P} WHERE id < 3 ORDER BY id`,
    [
      [1, 1, 1],
      [2, 1, 2],
    ],
  ],
  [
    'the row of the least and the greatest value',
    `SELECT arg_min(name, age), max_by(name, score), min_by(score, id), argmax(id, name), arg_max(city, id) FROM ${P}`,
    [['bob', 'eve', 1.5, 5, 'Rome']],
  ],
  [
    'with NaN above all numbers, and the first of equal ones',
    over(
      "arg_max(n, x), arg_min(n, x), arg_max(n, 'a'), arg_min(n, x ORDER BY n DESC)",
      "(1, 2e0), (2, CAST('nan' AS double)), (3, 2e0), (NULL, 0e0), (4, NULL)",
    ),
    [[2n, 1n, 1n, 3n]],
  ],
  [
    'of no rows',
    `SELECT first(id), last(name), arg_min(id, age), mode(id), quantile_cont(id, 0.5), quantile_disc(name, 0.5), bit_and(id), sum(score ORDER BY id), any_value(id ORDER BY id) FROM ${P} WHERE id > 9`,
    [[null, null, null, null, null, null, null, null, null]],
  ],
  [
    'the most frequent value, of several the one that comes first',
    `SELECT mode(age), mode(city), mode(name), mode(name ORDER BY id DESC), mode() WITHIN GROUP (ORDER BY name DESC) FROM ${P}`,
    [[20n, 'Oslo', 'ada', 'eve', 'eve']],
  ],
  [
    'of lists, and of each group',
    `SELECT id > 2 AS late, mode([city]), mode(age) FROM ${P} GROUP BY 1 ORDER BY 1`,
    [
      [false, ['Oslo'], 36n],
      [true, ['Oslo'], 20n],
    ],
  ],
  [
    'quantiles between values',
    `SELECT quantile_cont(age, 0.25), quantile_cont(age, 0), percentile_cont(1) WITHIN GROUP (ORDER BY age), percentile_cont(0.9) WITHIN GROUP (ORDER BY age DESC), quantile_cont(score, 0.5) FROM ${P}`,
    [[20, 20, 51, 20, 2]],
  ],
  [
    'quantiles that are values',
    `SELECT quantile_disc(name, 0.4), quantile(name, 0.41), percentile_disc(0) WITHIN GROUP (ORDER BY name DESC), quantile_disc(age, 0.5), quantile_disc(active, 1), quantile_disc(DISTINCT age, 0.34) FROM ${P}`,
    [['bob', 'cy', 'eve', 20n, true, 36n]],
  ],
  [
    'the share counts in its digits',
    // 0.07 * 100 is 7.000000000000001 as doubles.
    'SELECT quantile_disc(a.x + b.x, 0.07) FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) a(x), (VALUES (0), (10), (20), (30), (40), (50), (60), (70), (80), (90)) b(x)',
    [[6n]],
  ],
  [
    'bits of whole numbers, beyond 2^53 too',
    over(
      'bit_and(n), bit_or(n), bit_xor(n), bit_or(x)',
      '(9007199254740993, 6), (9223372036854775807, -8), (NULL, NULL)',
    ),
    [[9007199254740993n, 9223372036854775807n, 9214364837600034814n, -2n]],
  ],
  [
    'bits of narrow and of unsigned numbers',
    'SELECT bit_and(a), bit_xor(a), bit_or(CAST(a AS bigint)) FROM (SELECT id AS a FROM prod.people) q',
    [[0, 1, 7n]],
  ],
  [
    'sums of floats in the order of the call',
    over(
      'sum(x ORDER BY n), sum(x ORDER BY n DESC), avg(x ORDER BY n) * 3, sum(n ORDER BY x)',
      '(1, 1e16), (2, 1e0), (3, -1e16)',
    ),
    [[0, 0, 0, 6n]],
  ],
  [
    'which may make a difference',
    over('sum(x ORDER BY n), sum(x ORDER BY n DESC)', '(1, 1e16), (2, -1e16), (3, 1e0)'),
    [[1, 0]],
  ],
  [
    'of partitions',
    `SELECT id, mode(age) OVER (PARTITION BY city), arg_max(name, id) OVER (PARTITION BY city), percentile_cont(0.5) WITHIN GROUP (ORDER BY age) OVER (), bit_or(id) FILTER (WHERE id < 3) OVER () FROM ${P} WHERE city = 'Oslo' ORDER BY id`,
    [
      [1, 36n, 'cy', 36, 1],
      [3, 36n, 'cy', 36, 1],
    ],
  ],
  [
    'names of columns as written',
    `SELECT count(*) FROM (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age DESC) FILTER (WHERE id > 1) FROM ${P}) q("Q") WHERE "Q" = 20`,
    [[1n]],
  ],
])('%s', async (_, sql, rows) => {
  expect(await answer(sql)).toEqual(rows);
});

test.each<[sql: string, message: string]>([
  ['SELECT quantile_cont(name, 0.5) FROM cities', 'quantile_cont takes numbers, not utf8'],
  ['SELECT quantile_cont(1) FROM cities', 'takes a value and a share from 0 to 1'],
  [
    'SELECT quantile_cont(1, 1.5) FROM cities',
    'a number from 0 to 1, such as 0.5, or a list of them (at position 25)',
  ],
  ['SELECT quantile_disc(1, -0.5) FROM cities', 'a number from 0 to 1, such as 0.5'],
  ["SELECT quantile_disc(1, '0.5') FROM cities", 'a number from 0 to 1, such as 0.5'],
  [
    'SELECT quantile_disc([1], 0.5) FROM cities',
    'takes values that have an order, not list<int64>',
  ],
  ['SELECT quantile_cont(1, 0.5 ORDER BY name) FROM cities', 'takes no ORDER BY (at position 38)'],
  [
    'SELECT percentile_cont(1, 0.5) FROM cities',
    'Write percentile_cont(0.5) WITHIN GROUP (ORDER BY x), or quantile_cont(x, 0.5)',
  ],
  [
    'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY 1, 2) FROM cities',
    'takes a share from 0 to 1, and ORDER BY one value',
  ],
  [
    'SELECT mode(1) WITHIN GROUP (ORDER BY 1) FROM cities',
    'mode(..) WITHIN GROUP takes nothing, and ORDER BY one value',
  ],
  [
    'SELECT sum(1) WITHIN GROUP (ORDER BY 1) FROM cities',
    'WITHIN GROUP is not supported for sum; write the order inside of the call (at position 15)',
  ],
  ['SELECT arg_min(name) FROM cities', 'takes a value and another that has an order'],
  [
    'SELECT arg_min(name, [1]) FROM cities',
    'takes values that have an order here, not list<int64>',
  ],
  ['SELECT first(DISTINCT name) FROM cities', 'first(DISTINCT ..) is not supported'],
  ['SELECT bit_and(1.5) FROM cities', 'bit_and takes whole numbers, not'],
  [
    'SELECT first(name) FILTER (WHERE true) OVER () FROM cities',
    'FILTER is not supported with OVER',
  ],
  ['SELECT 1 FROM cities WHERE first(name) = 1', 'first(..) is not possible in WHERE'],
])('%s is refused', async (sql, message) => {
  await expect(answer(sql)).rejects.toThrow(message);
});
