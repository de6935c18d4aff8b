/** What statements answer. test/interop/duckdb compares random ones with DuckDB. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  Decimal,
  Dictionary,
  Field,
  Float64,
  Int8,
  Int32,
  Int64,
  Map_,
  Struct,
  Table,
  Uint64,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/index.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { type Column, reader } from '../../src/sql/index.ts';
import { Quantiles } from '../../src/statements/aggregates/quantiles.ts';
import { IntegerSums } from '../../src/statements/aggregates/sums.ts';
import { drained } from '../../src/steps.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

const vectorTable = (rows: number): Table =>
  new Table({ x: vectorFromArray(Array<number>(rows).fill(1), new Int32()) });

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const P = 'prod.people';
/** Values of the rows in the order of the columns. */
const answer = async (sql: string): Promise<unknown[][]> =>
  (await catalog.rows(sql)).map((row) => Object.values(row));

const CASES: readonly (readonly [about: string, sql: string, rows: readonly unknown[][]])[] = [
  ['no table', "SELECT 1 + 2, upper('a')", [[3, 'A']]],
  ['a condition', `SELECT name FROM ${P} WHERE age = 20 ORDER BY id`, [['bob'], ['dee']]],
  ['quoted names', `SELECT "id" FROM "prod"."people" WHERE "name" = 'cy'`, [[3]]],
  ['an alias of a table', `SELECT p.id FROM ${P} AS p WHERE p.name = 'ada'`, [[1]]],
  [
    'the path of a table before a column',
    `SELECT prod.people.id, people.name FROM ${P} LIMIT 1`,
    [[1, 'ada']],
  ],
  ['names without regard to case', `SELECT ID FROM ${P} WHERE NAME = 'ada'`, [[1]]],
  ['a semicolon at the end', `SELECT count(*) FROM ${P} ; `, [[5]]],
  ['columns of a table renamed', `SELECT c.b FROM cities AS c(a, b) WHERE c.a = 'Oslo'`, [['NO']]],
  [
    'star of one table',
    `SELECT c.* FROM ${P} p JOIN cities c ON p.city = c.name WHERE p.id = 1`,
    [['Oslo', 'NO']],
  ],
  [
    'star without some',
    `SELECT * EXCLUDE (name, city, age, score) FROM ${P} WHERE id = 1`,
    [[1, true]],
  ],
  [
    'groups',
    `SELECT city, count(*), count(age), sum(age), avg(age), min(name), max(score) FROM ${P} GROUP BY city ORDER BY city NULLS FIRST`,
    [
      [null, 1, 1, 20, 20, 'dee', null],
      ['Oslo', 2, 1, 36, 36, 'ada', 1.5],
      ['Rome', 2, 2, 71, 35.5, 'bob', 4],
    ],
  ],
  [
    'groups by number and by alias',
    `SELECT city AS place, count(*) FROM ${P} GROUP BY place ORDER BY 1`,
    [
      ['Oslo', 2],
      ['Rome', 2],
      [null, 1],
    ],
  ],
  [
    'GROUP BY ALL',
    `SELECT active, count(*) AS n FROM ${P} GROUP BY ALL ORDER BY n DESC, active`,
    [
      [true, 3],
      [false, 1],
      [null, 1],
    ],
  ],
  [
    'groups of an expression',
    `SELECT age > 30 AS old, count(*) FROM ${P} GROUP BY age > 30 ORDER BY old NULLS LAST`,
    [
      [false, 2],
      [true, 2],
      [null, 1],
    ],
  ],
  [
    'groups of several keys',
    `SELECT city, active, count(*) FROM ${P} GROUP BY city, active ORDER BY city NULLS LAST, active`,
    [
      ['Oslo', true, 1],
      ['Oslo', null, 1],
      ['Rome', false, 1],
      ['Rome', true, 1],
      [null, true, 1],
    ],
  ],
  [
    'HAVING',
    `SELECT city FROM ${P} GROUP BY city HAVING count(*) > 1 AND sum(age) > 50`,
    [['Rome']],
  ],
  ['aggregates in expressions', `SELECT 100 * count(age) / count(*) FROM ${P}`, [[80]]],
  [
    'aggregates of no rows',
    `SELECT count(*), sum(age), min(name), array_agg(id) FROM ${P} WHERE id > 99`,
    [[0, null, null, null]],
  ],
  ['groups of no rows', `SELECT city, count(*) FROM ${P} WHERE id > 99 GROUP BY city`, []],
  [
    'any_value of the row that ORDER BY puts first',
    `SELECT any_value(name ORDER BY id DESC), any_value(age ORDER BY score), any_value(age ORDER BY id DESC) FILTER (WHERE id IN (1, 3)) FROM ${P}`,
    [['eve', 36, 36]],
  ],
  [
    'any_value of the row that ORDER BY puts first in each group',
    `SELECT city, any_value(name ORDER BY id DESC), any_value(age ORDER BY id DESC), any_value(score ORDER BY id) FROM ${P} GROUP BY city ORDER BY city`,
    [
      ['Oslo', 'cy', 36, 1.5],
      ['Rome', 'eve', 51, 2.5],
      [null, 'dee', 20, null],
    ],
  ],
  [
    'any_value of no rows in order',
    `SELECT any_value(name ORDER BY id), count(*) FROM ${P} WHERE id > 99`,
    [[null, 0]],
  ],
  [
    'means of sums that no double holds',
    `SELECT avg(x), (SELECT avg(x) FROM (VALUES (CAST(30023997515803.31 AS decimal(20, 2))), (30023997515803.31), (30023997515803.31)) d(x)) FROM (VALUES (3002399751580331), (3002399751580331), (3002399751580331)) t(x)`,
    [[3002399751580331, 30023997515803.31]],
  ],
  [
    'means of windows, of sums that no double holds',
    `SELECT avg(x) OVER (ORDER BY x), avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) FROM (VALUES (3002399751580331), (3002399751580331), (3002399751580331)) t(x) LIMIT 1`,
    [[3002399751580331, 3002399751580331]],
  ],
  [
    'distinct aggregates',
    `SELECT count(DISTINCT city), count(DISTINCT age), sum(DISTINCT age) FROM ${P}`,
    [[2, 3, 107]],
  ],
  [
    'distinct aggregates of groups',
    `SELECT city, count(DISTINCT active) FROM ${P} GROUP BY city ORDER BY city`,
    [
      ['Oslo', 1],
      ['Rome', 2],
      [null, 1],
    ],
  ],
  [
    'FILTER',
    `SELECT count(*) FILTER (WHERE active), sum(age) FILTER (WHERE city = 'Rome') FROM ${P}`,
    [[3, 71]],
  ],
  [
    'FILTER with OVER',
    `SELECT id, count(*) FILTER (WHERE active) OVER (ORDER BY id), sum(age) FILTER (WHERE id <> 2) OVER (PARTITION BY city), string_agg(name, '') FILTER (WHERE id > 3) OVER (), max(id) FILTER (WHERE id < 3) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), count(age) FILTER (WHERE active IS NULL) OVER () FROM ${P} ORDER BY id`,
    [
      [1, 1, 36, 'deeeve', 1, 0],
      [2, 1, 51, 'deeeve', 2, 0],
      [3, 1, 36, 'deeeve', 2, 0],
      [4, 2, 20, 'deeeve', null, 0],
      [5, 3, 51, 'deeeve', null, 0],
    ],
  ],
  [
    'ORDER BY ALL',
    `SELECT city, age FROM ${P} WHERE id <> 4 ORDER BY ALL DESC NULLS LAST LIMIT 3`,
    [
      ['Rome', 51],
      ['Rome', 20],
      ['Oslo', 36],
    ],
  ],
  ['ORDER BY ALL of a UNION', 'SELECT 2 AS x UNION SELECT 1 ORDER BY ALL', [[1], [2]]],
  [
    'ORDER BY ALL of groups',
    `SELECT age, count(*) FROM ${P} GROUP BY ALL ORDER BY ALL OFFSET 1`,
    [
      [36, 1],
      [51, 1],
      [null, 1],
    ],
  ],
  [
    'DISTINCT ON',
    `SELECT DISTINCT ON (city) name, id FROM ${P} ORDER BY city, id DESC`,
    [
      ['cy', 3],
      ['eve', 5],
      ['dee', 4],
    ],
  ],
  [
    'DISTINCT ON of names, numbers and expressions',
    `SELECT DISTINCT ON (old, 2) age > 30 AS old, active, name FROM ${P} WHERE active ORDER BY id`,
    [
      [true, true, 'ada'],
      [false, true, 'dee'],
    ],
  ],
  [
    'DISTINCT ON of groups, with a limit',
    `SELECT DISTINCT ON (count(*)) city FROM ${P} GROUP BY city ORDER BY count(*) DESC, city LIMIT 1`,
    [['Oslo']],
  ],
  [
    'NATURAL JOIN',
    'SELECT * FROM (VALUES (1, 2, 3), (4, 5, 6)) a(x, y, z) NATURAL JOIN (VALUES (5, 4, 7), (2, 9, 8)) b(Y, x, w)',
    [[4, 5, 6, 7]],
  ],
  [
    'NATURAL LEFT and FULL JOIN',
    `SELECT a.name, country, b.name FROM cities a NATURAL LEFT JOIN (SELECT 'Oslo' AS name) b NATURAL FULL JOIN (SELECT 'NO' AS country, 'Oslo' AS name) c WHERE country = 'NO'`,
    [['Oslo', 'NO', 'Oslo']],
  ],
  [
    'NATURAL JOIN of tables without a common name',
    'SELECT * FROM (VALUES (1), (2)) a(x) NATURAL JOIN (VALUES (3)) b(y)',
    [
      [1, 3],
      [2, 3],
    ],
  ],
  [
    'conditions on the items of lists of a UNION with a part of nulls',
    `SELECT l[2] FROM (SELECT ['a', name] AS l FROM ${P} UNION ALL SELECT NULL) u WHERE l[2] > 'd' ORDER BY 1`,
    [['dee'], ['eve']],
  ],
  [
    'conditions on a UNION with a part of nulls',
    `SELECT x FROM (SELECT age AS x FROM ${P} UNION ALL SELECT NULL UNION ALL SELECT 50) u WHERE x > 36 OR x IS NULL ORDER BY x`,
    [[50], [51], [null], [null]],
  ],
  ['distinct with FILTER', `SELECT count(DISTINCT age) FILTER (WHERE id > 1) FROM ${P}`, [[2]]],
  [
    'deviations',
    `SELECT var_pop(age), stddev_samp(id), variance(id) FROM ${P} WHERE age IN (20, 36)`,
    [[56.888888888888886, 1.5275252316519465, 2.333333333333333]],
  ],
  [
    'a deviation of one row',
    `SELECT stddev(age), stddev_pop(age) FROM ${P} WHERE id = 1`,
    [[null, 0]],
  ],
  ['median', `SELECT median(age), median(score) FROM ${P}`, [[28, 2]]],
  [
    'booleans',
    `SELECT bool_and(active), bool_or(active), every(id > 0) FROM ${P}`,
    [[false, true, true]],
  ],
  [
    'lists and texts in order',
    `SELECT string_agg(name, '-' ORDER BY name DESC), array_agg(age ORDER BY id) FROM ${P}`,
    [['eve-dee-cy-bob-ada', [36n, 20n, null, 20n, 51n]]],
  ],
  [
    'zeros of both signs are one',
    `SELECT count(*) FROM (SELECT score FROM ${P} WHERE id = 3 UNION SELECT CAST(0 AS double)) q`,
    [[1]],
  ],
  [
    'DISTINCT',
    `SELECT DISTINCT city FROM ${P} ORDER BY city NULLS FIRST`,
    [[null], ['Oslo'], ['Rome']],
  ],
  [
    'an inner join',
    `SELECT p.id, c.country FROM ${P} p JOIN cities c ON p.city = c.name ORDER BY 1`,
    [
      [1, 'NO'],
      [2, 'IT'],
      [3, 'NO'],
      [5, 'IT'],
    ],
  ],
  [
    'a left join',
    `SELECT p.id, c.country FROM ${P} p LEFT JOIN cities c ON p.city = c.name WHERE p.id > 3 ORDER BY 1`,
    [
      [4, null],
      [5, 'IT'],
    ],
  ],
  [
    'a right join',
    `SELECT p.id, c.country FROM ${P} p RIGHT JOIN cities c ON p.city = c.name AND p.id > 3 ORDER BY 1 NULLS LAST, 2`,
    [
      [5, 'IT'],
      [null, '??'],
      [null, 'FR'],
      [null, 'NO'],
    ],
  ],
  [
    'a full join',
    `SELECT p.id, c.country FROM ${P} p FULL JOIN cities c ON p.city = c.name AND c.country = 'IT' ORDER BY 1 NULLS LAST, 2`,
    [
      [1, null],
      [2, 'IT'],
      [3, null],
      [4, null],
      [5, 'IT'],
      [null, '??'],
      [null, 'FR'],
      [null, 'NO'],
    ],
  ],
  [
    'a condition on the kept side of a left join',
    `SELECT p.id, c.country FROM ${P} p LEFT JOIN cities c ON p.city = c.name AND p.id < 2 ORDER BY 1`,
    [
      [1, 'NO'],
      [2, null],
      [3, null],
      [4, null],
      [5, null],
    ],
  ],
  [
    'a join by an inequality',
    `SELECT a.id, b.id FROM ${P} a JOIN ${P} b ON a.age < b.age ORDER BY 1, 2`,
    [
      [1, 5],
      [2, 1],
      [2, 5],
      [4, 1],
      [4, 5],
    ],
  ],
  [
    'tables separated by commas',
    `SELECT count(*) FROM ${P} p, cities c WHERE p.city = c.name`,
    [[4]],
  ],
  ['CROSS JOIN', `SELECT count(*) FROM ${P} CROSS JOIN cities`, [[20]]],
  [
    'USING',
    `SELECT name, n, country FROM (SELECT city AS name, count(*) AS n FROM ${P} GROUP BY city) q JOIN cities USING (name) ORDER BY name`,
    [
      ['Oslo', 2, 'NO'],
      ['Rome', 2, 'IT'],
    ],
  ],
  [
    'USING in a full join',
    `SELECT name FROM (SELECT 'Bern' AS name) q FULL JOIN cities USING (name) ORDER BY name NULLS LAST`,
    [['Bern'], ['Oslo'], ['Paris'], ['Rome'], [null]],
  ],
  [
    'least and greatest values of groups of NaN, of none, and of infinities',
    "SELECT k, min(x), max(x) FROM (VALUES (1, CAST('NaN' AS double)), (1, 2), (2, CAST('NaN' AS double)), (3, NULL), (4, CAST('-Infinity' AS double)), (4, 1), (5, CAST('Infinity' AS double)), (6, 3), (6, CAST('NaN' AS double)), (6, 4)) v(k, x) GROUP BY k ORDER BY k",
    [
      [1, 2, Number.NaN],
      [2, Number.NaN, Number.NaN],
      [3, null, null],
      [4, Number.NEGATIVE_INFINITY, 1],
      [5, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      [6, 3, Number.NaN],
    ],
  ],
  [
    'least and greatest values of more groups than there is room for at first',
    'SELECT count(*), sum(a), sum(b) FROM (SELECT x % 300 AS g, min(x + 0e0) AS a, max(x + 0e0) AS b FROM (SELECT row_number() OVER () AS x FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) p CROSS JOIN (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) q CROSS JOIN (VALUES (1), (2), (3), (4), (5), (6)) r) s GROUP BY 1) t',
    [[300, 45150, 135150]],
  ],
  [
    'all rows counted and added without groups, nulls and a filter among them',
    'SELECT count(*), count(x), sum(x), avg(x), count(*) FILTER (WHERE x > 1), sum(x) FILTER (WHERE x > 1) FROM (SELECT CAST(y AS double) AS x FROM (VALUES (1.5), (NULL), (2), (-4)) w(y)) v',
    [[4, 3, -0.5, -1 / 6, 2, 3.5]],
  ],
  ['a query in two parentheses', 'SELECT * FROM ((SELECT 1 AS a)) t', [[1]]],
  [
    'queries put together in two parentheses',
    'SELECT x FROM ((SELECT 1 AS x) UNION (SELECT 2) EXCEPT (SELECT 3)) t ORDER BY x',
    [[1], [2]],
  ],
  [
    'queries in three parentheses with what they go on with',
    'SELECT t.x + u.y FROM (((SELECT 5 AS x)) ORDER BY 1 LIMIT 1) t JOIN ((((SELECT 6 AS y) INTERSECT (SELECT 6)))) u ON true',
    [[11]],
  ],
  [
    'a join in parentheses that begins with queries in them',
    'SELECT t.a + u.b FROM ((((SELECT 1 AS a)) t JOIN (SELECT 2 AS b) u ON t.a < u.b)) , ((VALUES (1))) v',
    [[3]],
  ],
  [
    'queries in parentheses in queries of FROM',
    'SELECT * FROM (((SELECT max(b) AS c FROM ((SELECT 1 AS b) UNION (SELECT 4)) r) q JOIN ((SELECT 4 AS d)) s ON c = d))',
    [[4, 4]],
  ],
  [
    'keys of different types',
    `SELECT p.id FROM ${P} p JOIN (SELECT CAST(5 AS double) AS k UNION ALL SELECT 2) q ON p.id = q.k ORDER BY 1`,
    [[2], [5]],
  ],
  [
    'a join of three',
    `SELECT count(*) FROM ${P} a JOIN ${P} b ON a.city = b.city JOIN cities c ON b.city = c.name`,
    [[8]],
  ],
  [
    'a full join with a condition on one side',
    `SELECT p.id, c.country FROM ${P} p FULL JOIN cities c ON p.city = c.name WHERE p.id > 3 ORDER BY 1`,
    [
      [4, null],
      [5, 'IT'],
    ],
  ],
  [
    'keys of which one is null',
    `SELECT count(*) FROM ${P} a JOIN ${P} b ON a.city = b.city AND a.active = b.active`,
    [[3]],
  ],
  [
    'distinct values that come first in rows that do not count',
    `SELECT count(DISTINCT city) FILTER (WHERE id > 2), count(DISTINCT age) FILTER (WHERE id > 2), count(DISTINCT name) FILTER (WHERE id > 2) FROM ${P}`,
    [[2, 2, 3]],
  ],
  ['HAVING of one group', `SELECT count(*) FROM ${P} HAVING 1 = 2`, []],
  ['a table that is called user', `WITH "user" AS (SELECT 1 AS x) SELECT x FROM user`, [[1]]],
  [
    'USING three times',
    `SELECT * FROM (SELECT 1 AS id, 2 AS x) a FULL JOIN (SELECT 2 AS id, 3 AS y) b USING (id) FULL JOIN (SELECT 2 AS id, 4 AS z) c USING (id) ORDER BY id`,
    [
      [1, 2, null, null],
      [2, null, 3, 4],
    ],
  ],
  [
    'queries in FROM',
    `SELECT max(n) FROM (SELECT city, count(*) AS n FROM ${P} GROUP BY city) q`,
    [[2]],
  ],
  [
    'WITH',
    `WITH a AS (SELECT id, age FROM ${P} WHERE age IS NOT NULL), b AS (SELECT avg(age) AS m FROM a) SELECT a.id FROM a JOIN b ON a.age > b.m ORDER BY 1`,
    [[1], [5]],
  ],
  [
    'WITH named twice',
    `WITH q AS (SELECT id FROM ${P} WHERE id < 3) SELECT count(*) FROM q a JOIN q b ON a.id = b.id`,
    [[2]],
  ],
  [
    'UNION ALL',
    `SELECT id FROM ${P} WHERE id = 1 UNION ALL SELECT 7 UNION ALL SELECT 7`,
    [[1], [7], [7]],
  ],
  [
    'UNION ALL of decimals, in the type that holds all digits',
    `SELECT 1.5::decimal(3, 1) AS x UNION ALL SELECT 0.1234::decimal(9, 4) UNION ALL SELECT 1.25::decimal(9, 2)`,
    [['1.5000'], ['0.1234'], ['1.2500']],
  ],
  [
    'VALUES of whole numbers and decimals, in the type that holds all digits',
    `VALUES (1), (0.1234::decimal(9, 4)), (1.25::decimal(9, 2))`,
    [['1.0000'], ['0.1234'], ['1.2500']],
  ],
  [
    'UNION ALL of a date and timestamps, in the finest unit',
    `SELECT x = TIMESTAMP '2020-01-01 00:00:00.123456' FROM (SELECT DATE '2020-01-01' AS x UNION ALL SELECT '2020-01-01 00:00:00.123456'::timestamp(6) UNION ALL SELECT '2020-01-01'::timestamp(3)) q`,
    [[false], [true], [false]],
  ],
  [
    'a window function that counts rows, without a number',
    `SELECT lag(id, NULL) OVER w, nth_value(id, NULL) OVER w FROM ${P} WHERE id < 3 WINDOW w AS (ORDER BY id)`,
    [
      [null, null],
      [null, null],
    ],
  ],
  ['UNION', `SELECT 7 AS x UNION SELECT 7 UNION SELECT 8 ORDER BY x DESC`, [[8], [7]]],
  [
    'UNION of a null and a text',
    `SELECT NULL AS x UNION ALL SELECT 'a' ORDER BY x NULLS FIRST`,
    [[null], ['a']],
  ],
  [
    'VALUES',
    `SELECT b, a FROM (VALUES (1, 'x'), (2, NULL)) v(a, b) ORDER BY a DESC`,
    [
      [null, 2],
      ['x', 1],
    ],
  ],
  [
    'order by what is not shown',
    `SELECT name FROM ${P} ORDER BY age DESC NULLS LAST, id LIMIT 2 OFFSET 1`,
    [['ada'], ['bob']],
  ],
  ['order by an expression', `SELECT id FROM ${P} ORDER BY -id LIMIT 2`, [[5], [4]]],
  [
    'nulls last by default, first where it descends',
    `SELECT id FROM ${P} ORDER BY age DESC, id LIMIT 1`,
    [[3]],
  ],
  ['LIMIT 0', `SELECT id FROM ${P} LIMIT 0`, []],
  [
    'a limit within and without',
    `SELECT id FROM (SELECT id FROM ${P} ORDER BY id LIMIT 2) q LIMIT 5`,
    [[1], [2]],
  ],
  [
    'a smaller limit without',
    `SELECT id FROM (SELECT id FROM ${P} ORDER BY id LIMIT 4) q LIMIT 2`,
    [[1], [2]],
  ],
  [
    'row numbers',
    `SELECT id, row_number() OVER (PARTITION BY city ORDER BY id DESC) FROM ${P} ORDER BY id`,
    [
      [1, 2],
      [2, 2],
      [3, 1],
      [4, 1],
      [5, 1],
    ],
  ],
  [
    'ranks',
    `SELECT id, rank() OVER (ORDER BY age), dense_rank() OVER (ORDER BY age), percent_rank() OVER (ORDER BY age) FROM ${P} ORDER BY id`,
    [
      [1, 3, 2, 0.5],
      [2, 1, 1, 0],
      [3, 5, 4, 1],
      [4, 1, 1, 0],
      [5, 4, 3, 0.75],
    ],
  ],
  [
    'lag and lead',
    `SELECT id, lag(name) OVER w, lead(id, 2, 0) OVER w FROM ${P} WINDOW w AS (ORDER BY id) ORDER BY id`,
    [
      [1, null, 3],
      [2, 'ada', 4],
      [3, 'bob', 5],
      [4, 'cy', 0],
      [5, 'dee', 0],
    ],
  ],
  [
    'running sums take equal rows together',
    `SELECT id, sum(id) OVER (ORDER BY age), sum(id) OVER (ORDER BY age ROWS UNBOUNDED PRECEDING) > 0 FROM ${P} ORDER BY id`,
    [
      [1, 7, true],
      [2, 6, true],
      [3, 15, true],
      [4, 6, true],
      [5, 12, true],
    ],
  ],
  [
    'aggregates of whole partitions',
    `SELECT id, count(*) OVER (PARTITION BY city), max(age) OVER () FROM ${P} ORDER BY id`,
    [
      [1, 2, 51],
      [2, 2, 51],
      [3, 2, 51],
      [4, 1, 51],
      [5, 2, 51],
    ],
  ],
  [
    'windows over groups',
    `SELECT city, rank() OVER (ORDER BY count(*) DESC, city) FROM ${P} GROUP BY city ORDER BY 2`,
    [
      ['Oslo', 1],
      ['Rome', 2],
      [null, 3],
    ],
  ],
  [
    'QUALIFY',
    `SELECT name FROM ${P} QUALIFY row_number() OVER (PARTITION BY city ORDER BY id) = 1 ORDER BY name`,
    [['ada'], ['bob'], ['dee']],
  ],
  [
    'ntile',
    `SELECT id, ntile(2) OVER (ORDER BY id) FROM ${P} ORDER BY id`,
    [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 2],
      [5, 2],
    ],
  ],
  [
    'first and last values',
    `SELECT id, first_value(id) OVER (PARTITION BY city ORDER BY id), last_value(id) OVER (PARTITION BY city) FROM ${P} WHERE city = 'Oslo' ORDER BY id`,
    [
      [1, 1, 3],
      [3, 1, 3],
    ],
  ],
  [
    'the nth value of a frame, null where the frame ends before it',
    `SELECT id, nth_value(name, 2) OVER (ORDER BY id), nth_value(id, 2) OVER (PARTITION BY city), nth_value(id, 3) OVER w, nth_value(id, CAST(age AS int) - 19) OVER w FROM ${P} WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY id`,
    [
      [1, null, 3, null, null],
      [2, 'bob', 5, 3, 1],
      [3, 'bob', 3, 4, null],
      [4, 'bob', null, 5, 3],
      [5, 'bob', 5, null, null],
    ],
  ],
  [
    'shares of rows that come no later',
    `SELECT id, cume_dist() OVER (ORDER BY city), cume_dist() OVER (PARTITION BY city ORDER BY id), cume_dist() OVER () FROM ${P} ORDER BY id`,
    [
      [1, 0.4, 0.5, 1],
      [2, 0.8, 0.5, 1],
      [3, 0.4, 1, 1],
      [4, 1, 1, 1],
      [5, 0.8, 1, 1],
    ],
  ],
  [
    'FETCH in place of LIMIT',
    `SELECT id FROM ${P} ORDER BY id OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY`,
    [[2], [3]],
  ],
  ['FETCH of one row', `SELECT id FROM ${P} ORDER BY id DESC FETCH FIRST ROW ONLY`, [[5]]],
  [
    'frames of rows around each one',
    `SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), count(age) OVER (ORDER BY id ROWS 1 PRECEDING), min(age) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), avg(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) FROM ${P} ORDER BY id`,
    [
      [1, 3, 1, 20, null],
      [2, 6, 2, 20, 1],
      [3, 9, 1, 20, 1.5],
      [4, 12, 1, 20, 2],
      [5, 9, 2, 51, 2.5],
    ],
  ],
  [
    'frames that have no rows, and first and last values of frames',
    `SELECT id, sum(id) OVER w, count(*) OVER w, first_value(name) OVER w, last_value(name) OVER w FROM ${P} WINDOW w AS (ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) ORDER BY id`,
    [
      [1, 7, 2, 'cy', 'dee'],
      [2, 9, 2, 'dee', 'eve'],
      [3, 5, 1, 'eve', 'eve'],
      [4, null, 0, null, null],
      [5, null, 0, null, null],
    ],
  ],
  [
    'a query in place of a value',
    `SELECT name FROM ${P} WHERE age = (SELECT max(age) FROM ${P})`,
    [['eve']],
  ],
  ['one without rows is null', `SELECT (SELECT id FROM ${P} WHERE id > 9) IS NULL`, [[true]]],
  [
    'queries among items, in aggregates, keys and HAVING',
    `SELECT age > (SELECT 30) AS older, sum(id + (SELECT 1)), (SELECT count(*) FROM cities) FROM ${P} WHERE age IS NOT NULL GROUP BY 1 HAVING count(*) > (SELECT 1) ORDER BY (SELECT 1), 1`,
    [
      [false, 8, 4],
      [true, 8, 4],
    ],
  ],
  [
    'IN a query',
    `SELECT id FROM ${P} WHERE city IN (SELECT name FROM cities WHERE country <> 'IT') ORDER BY 1`,
    [[1], [3]],
  ],
  [
    'NOT IN with nulls is true of nothing',
    `SELECT id FROM ${P} WHERE city NOT IN (SELECT name FROM cities)`,
    [],
  ],
  [
    'the truth of IN: a hit, none beside a null, null itself, none, no rows',
    `SELECT 'Oslo' IN (SELECT name FROM cities), 'x' IN (SELECT name FROM cities), NULL IN (SELECT 1), 'x' IN (SELECT country FROM cities), NULL IN (SELECT name FROM cities WHERE name = 'x')`,
    [[true, null, null, false, false]],
  ],
  [
    'values that are equal once they are cast count once',
    `SELECT id FROM ${P} WHERE CAST(id AS double) + 9007199254740991 IN (SELECT * FROM (VALUES (9007199254740992), (9007199254740993)) v) ORDER BY 1`,
    [[1], [2]],
  ],
  [
    'ANY and ALL of a query',
    `SELECT id FROM ${P} WHERE id = ANY (SELECT 3) OR id <> ALL (SELECT id FROM ${P} WHERE id < 5) ORDER BY 1`,
    [[3], [5]],
  ],
  [
    'EXISTS',
    `SELECT EXISTS (SELECT 1 FROM cities WHERE country = 'IT'), NOT EXISTS (SELECT * FROM cities WHERE country = 'XX')`,
    [[true, true]],
  ],
  [
    'EXISTS of rows that are equal to those around',
    `SELECT name FROM cities c WHERE EXISTS (SELECT 1 FROM ${P} p WHERE p.city = c.name AND p.age < 40) AND c.country <> 'IT'`,
    [['Oslo']],
  ],
  [
    'no row is equal to null, nor without one',
    `SELECT country, EXISTS (SELECT 1 FROM ${P} p WHERE p.city = c.name) FROM cities c WHERE NOT EXISTS (SELECT 1 FROM ${P} p WHERE c.name = p.city AND p.age > 40) ORDER BY 1`,
    [
      ['??', false],
      ['FR', false],
      ['NO', true],
    ],
  ],
  [
    'the truth of IN with columns of the query around',
    `SELECT id, age IN (SELECT age FROM ${P} q WHERE q.city = p.city AND q.id > 1), age NOT IN (SELECT age + 1 FROM ${P} q WHERE q.city = p.city) FROM ${P} p ORDER BY 1`,
    [
      [1, null, null],
      [2, true, true],
      [3, null, null],
      [4, false, true],
      [5, true, true],
    ],
  ],
  [
    'IN of rows that are equal, as a condition',
    `SELECT id FROM ${P} p WHERE age IN (SELECT age FROM ${P} q WHERE q.active = p.active AND q.id <> 1) ORDER BY 1`,
    [[2], [4], [5]],
  ],
  [
    'values of rows that are equal: of no rows, counts are 0 and others null',
    `SELECT c.name, (SELECT count(*) FROM ${P} WHERE city = c.name), (SELECT max(age) FROM ${P} WHERE c.name = city), (SELECT count(DISTINCT age) * 2 FROM ${P} WHERE city = c.name) FROM cities c ORDER BY 1`,
    [
      ['Oslo', 2, 36, 2],
      ['Paris', 0, null, 0],
      ['Rome', 2, 51, 4],
      [null, 0, null, 0],
    ],
  ],
  [
    'the first row of those that are equal, and the only one',
    `SELECT c.name, (SELECT p.name FROM ${P} p WHERE p.city = c.name ORDER BY p.id DESC LIMIT 1), (SELECT DISTINCT p.city FROM ${P} p WHERE p.city = c.name) FROM cities c WHERE c.country <> '??' ORDER BY 1`,
    [
      ['Oslo', 'cy', 'Oslo'],
      ['Paris', null, null],
      ['Rome', 'eve', 'Rome'],
    ],
  ],
  [
    'queries that read keys of groups',
    `SELECT p.city, count(*), (SELECT c.country FROM cities c WHERE c.name = p.city) FROM ${P} p GROUP BY p.city HAVING EXISTS (SELECT 1 FROM cities c WHERE c.name = p.city AND c.country = 'IT')`,
    [['Rome', 2, 'IT']],
  ],
  [
    'numbers of other types, and values that are equal once they are cast',
    `SELECT id FROM ${P} p WHERE EXISTS (SELECT 1 FROM (VALUES (1.0), (1.00), (3.5)) v(x) WHERE v.x = p.id) ORDER BY 1`,
    [[1]],
  ],
  [
    'running sums are null before the first value, and exact beyond doubles',
    'SELECT sum(x) OVER (ORDER BY n), avg(x) OVER (ORDER BY n), count(x) OVER (ORDER BY n), CAST(sum(y + 0) OVER (ORDER BY n) AS text) FROM (VALUES (1, NULL, 9007199254740991), (2, 3, 9007199254740991), (3, NULL, 9007199254740991)) v(n, x, y) ORDER BY n',
    [
      [null, null, 0, '9007199254740991'],
      [3, 3, 1, '18014398509481982'],
      [3, 3, 1, '27021597764222973'],
    ],
  ],
  [
    'a query of WITH in a query in place of a value',
    `WITH q AS (SELECT max(id) AS m FROM ${P}) SELECT name FROM ${P} WHERE id = (SELECT m FROM q)`,
    [['eve']],
  ],
  [
    'EXCEPT',
    `SELECT city FROM ${P} EXCEPT SELECT name FROM cities WHERE name = 'Rome' ORDER BY 1`,
    [['Oslo'], [null]],
  ],
  [
    'EXCEPT ALL',
    `SELECT city FROM ${P} EXCEPT ALL SELECT name FROM cities ORDER BY 1`,
    [['Oslo'], ['Rome']],
  ],
  [
    'INTERSECT takes nulls as equal',
    `SELECT name FROM cities INTERSECT SELECT city FROM ${P} ORDER BY 1`,
    [['Oslo'], ['Rome'], [null]],
  ],
  [
    'INTERSECT ALL',
    `(SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 2) INTERSECT ALL (SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1)`,
    [[1], [1]],
  ],
  ['INTERSECT binds tighter than UNION', 'SELECT 1 UNION SELECT 2 INTERSECT SELECT 3', [[1]]],
  ['EXCEPT goes from left to right', 'SELECT 1 EXCEPT SELECT 1 UNION ALL SELECT 1', [[1]]],
  ['row ids', `SELECT count(DISTINCT _rowid) FROM ${P}`, [[5]]],
];

describe('statements', () => {
  test.each(CASES)('%s', async (_, sql, expected) => {
    expect(await answer(sql)).toEqual(expected);
  });

  test('rows that come often are given in batches', async () => {
    const rows = 300_000;
    const many = Array.from({ length: 3 }, () => ({ x: 1 }));
    await catalog.db.createTable('ones', many);
    await catalog.db.createTable('often', vectorTable(rows));
    const sql = 'SELECT x FROM often EXCEPT ALL SELECT x FROM ones';
    let found = 0;
    let most = 0;
    for await (const batch of catalog.db.sql(sql)) {
      found += batch.numRows;
      most = Math.max(most, batch.numRows);
    }
    expect([found, most]).toEqual([rows - 3, 65_536]);
  });

  test('members of a struct that is grouped by, and of distinct ones', async () => {
    await catalog.db.createTable('structs', [
      { st: { a: 2, b: 'x' } },
      { st: { a: 1, b: 'y' } },
      { st: { a: 2, b: 'x' } },
    ]);
    const of = (sql: string): Promise<unknown[][]> => answer(sql);
    expect(await of('SELECT st.b, count(*) FROM structs GROUP BY st ORDER BY st.a')).toEqual([
      ['y', 1],
      ['x', 2],
    ]);
    expect(await of('SELECT DISTINCT st FROM structs s ORDER BY s.st.b DESC')).toEqual([
      [{ a: 1, b: 'y' }],
      [{ a: 2, b: 'x' }],
    ]);
  });

  test.each([
    ['SELECT m, count(*) FROM maps GROUP BY m', 39],
    ['SELECT DISTINCT m FROM maps', 1],
    ['SELECT m FROM maps UNION SELECT m FROM maps', 1],
    ['SELECT m FROM maps EXCEPT SELECT m FROM maps', 1],
    ['SELECT 1 FROM maps WHERE m IN (SELECT m FROM maps)', 28],
  ])('maps are no keys: %s', async (sql, position) => {
    if (!(await catalog.db.tableNames()).includes('maps')) {
      const entries = new Struct([new Field('key', new Utf8()), new Field('value', new Int32())]);
      const type = new Map_(new Field('entries', entries, false));
      const data = vectorFromArray([new Map([['k', 1]])], type);
      await catalog.db.createTable('maps', new Table({ m: data }));
    }
    await expect(answer(sql)).rejects.toMatchObject({
      message: expect.stringContaining('Maps are no keys of GROUP BY'),
      details: { position },
    });
  });

  test('a query in place of a value has one row at most', async () => {
    await expect(answer(`SELECT (SELECT id FROM ${P})`)).rejects.toThrow(
      'The sub-select (SELECT id FROM prod.people) gives several rows in place of one value (at position 8)',
    );
    await expect(answer(`SELECT 1 FROM cities WHERE 1 = (SELECT id FROM ${P})`)).rejects.toThrow(
      'several rows',
    );
    expect(await answer(`SELECT (SELECT id FROM ${P} ORDER BY id DESC LIMIT 1)`)).toEqual([[5]]);
    const named = `(SELECT id FROM ${P} p WHERE p.city = c.name)`;
    await expect(answer(`SELECT ${named} FROM cities c`)).rejects.toThrow(
      `The sub-select ${named} gives several rows in place of one value (at position 8)`,
    );
    // Rows of keys that no row around it has do not count.
    expect(await answer(`SELECT ${named} FROM cities c WHERE name = 'Paris'`)).toEqual([[null]]);
  });

  test('the number of a value in a frame begins with 1', async () => {
    const none = answer(`SELECT nth_value(id, id - 1) OVER () FROM ${P}`);
    await expect(none).rejects.toThrow('nth_value takes a number from 1 on.');
  });

  test('a wide frame adds each value a few times', async () => {
    const values = await answer(
      'SELECT max(s) FROM (SELECT sum(x) OVER (ORDER BY x ROWS BETWEEN 99999 PRECEDING AND 99999 FOLLOWING) AS s FROM often) q',
    );
    expect(values).toEqual([[199_999]]);
  });

  test('sums of floats in frames are those of their rows alone', async () => {
    const sums = await answer(
      'SELECT sum(x) OVER (ORDER BY n ROWS 1 PRECEDING) FROM (VALUES (1, 1e300), (2, 1), (3, 2)) v(n, x) ORDER BY n',
    );
    expect(sums).toEqual([[1e300], [1e300], [3]]);
  });

  test('columns of one name are told apart', async () => {
    expect(
      await catalog.rows(`SELECT a.id, b.id FROM ${P} a JOIN ${P} b ON a.id = b.id LIMIT 1`),
    ).toEqual([{ id: 1, id_1: 1 }]);
  });

  test('columns have the names of what they are', async () => {
    const schema = await catalog.db
      .sql(`SELECT id, p.age, count(*), avg(score) AS mean, ID + 1 FROM ${P} p GROUP BY 1, 2, 5`)
      .outputSchema();
    expect(schema.fields.map(({ name }) => name)).toEqual(
      ['id', 'age', 'count(*)', 'mean', 'ID + 1'].map((name) => name.replace('ID + 1', '"ID" + 1')),
    );
  });

  test('sums of integers are exact, and refused where they do not fit', async () => {
    const big = 9_007_199_254_740_993n;
    await catalog.db.createTable('big', [{ x: big }, { x: big }, { x: -1n }]);
    expect(await catalog.db.sql('SELECT sum(x) AS s FROM big').toArray()).toEqual([
      { s: big * 2n - 1n },
    ]);
    await catalog.db.createTable('huge', [{ x: 2n ** 62n }, { x: 2n ** 62n }]);
    await expect(catalog.db.sql('SELECT sum(x) FROM huge').toArray()).rejects.toThrow(
      'A sum is 9223372036854775808, which int64 does not hold',
    );
    for (const frame of ['UNBOUNDED', '1']) {
      const over = `OVER (ORDER BY x ROWS BETWEEN ${frame} PRECEDING AND CURRENT ROW)`;
      await expect(catalog.db.sql(`SELECT sum(x) ${over} FROM huge`).toArray()).rejects.toThrow(
        'A running sum is 9223372036854775808, which int64 does not hold',
      );
    }
    const [row] = await catalog.db
      .sql('SELECT sum(CAST(x AS decimal(38, 0))) AS s FROM huge')
      .toArray();
    expect(String(row?.s)).toBe('9223372036854775808');
  });

  test('columns with dictionaries go through UNION, and have an order', async () => {
    const data = vectorFromArray(['b', 'a'], new Dictionary(new Utf8(), new Int8()));
    await catalog.db.createTable('coded', new Table({ d: data }));
    const sql = "SELECT d FROM coded UNION SELECT 'zz' UNION SELECT d FROM coded ORDER BY 1";
    expect(await answer(sql)).toEqual([['a'], ['b'], ['zz']]);
  });

  test('unsigned integers are no negative ones', async () => {
    const field = (name: string, type: string) => ({ name, type: { type }, nullable: false });
    const schema = (type: string) => ({ fields: [field('x', type)] }) as never;
    await catalog.db.createTable('unsigned', [{ x: 2n ** 64n - 1n }, { x: 7n }], [], {
      schema: schema('uint64'),
    });
    await catalog.db.createTable('signed', [{ x: -1n }, { x: 7n }], [], {
      schema: schema('int64'),
    });
    const joined = 'SELECT u.x FROM unsigned u JOIN signed s ON u.x = s.x';
    expect(await catalog.db.sql(joined).toArray()).toEqual([{ x: 7n }]);
  });

  test('the median of more values than are sorted at once, NaN above all others', () => {
    const type = new Float64();
    const call = { name: 'median', type, argument: type, separator: '', order: [] };
    const quantiles = new Quantiles({ ...call, memory: new RequestMemory() });
    const count = 140_001;
    const values = Float64Array.from({ length: count }, (_, at) =>
      at % 7 === 3 ? Number.NaN : (at * 7919) % count,
    );
    const rows = { form: 'number', type, length: count, values, valid: null } as const;
    quantiles.add(new Int32Array(count), 1, [rows]);
    const sorted = values.slice().sort();
    const found = reader(drained(quantiles.result({ from: 0, to: 1 })) as Column)(0);
    expect(found).toBe(sorted[70_000]);
    expect(Number.isNaN(sorted.at(-1))).toBe(true);
  });

  test('values of groups in order, whatever the sizes of the groups', async () => {
    const sql = `SELECT city, string_agg(name, '+' ORDER BY id DESC), array_agg(id ORDER BY age NULLS FIRST, id) FROM ${P} GROUP BY city ORDER BY city NULLS LAST`;
    expect(await answer(sql)).toEqual([
      ['Oslo', 'cy+ada', [3, 1]],
      ['Rome', 'eve+bob', [2, 5]],
      [null, 'dee', [4]],
    ]);
  });

  test.each([
    [-1n, 40],
    // Their high halves alone are beyond 2^53.
    [2n ** 62n + 2n ** 32n + 12_345n, 150],
    [-(2n ** 62n) - 12_345n, 150],
  ])('sums of %d carry, however many rows there are', (value, batches) => {
    const type = new Decimal(2, 38, 128);
    const call = { name: 'sum', type, argument: type, separator: '', order: [] };
    const sums = new IntegerSums({ ...call, memory: new RequestMemory() });
    const values = new BigInt64Array(1 << 16).fill(value);
    const rows = { form: 'wide', type, length: values.length, values, valid: null } as const;
    const groups = new Int32Array(values.length);
    for (let batch = 0; batch < batches; batch++) sums.add(groups, 1, [rows]);
    for (let batch = 0; batch < batches; batch++) sums.addWhole(values.length, [rows]);
    expect(reader(sums.result({ from: 0, to: 1 }))(0)).toBe(value * BigInt(batches) * 131_072n);
  });

  test.each([
    ['int32', new Int32(), Int32Array.of(7, -2_147_483_648, 5, 2_147_483_647)],
    ['int64', new Int64(), BigInt64Array.of(7n, -(2n ** 63n), 5n, 2n ** 62n)],
    ['uint64', new Uint64(), BigUint64Array.of(7n, 2n ** 64n - 1n, 5n, 2n ** 63n)],
    ['float64', new Int64(), Float64Array.of(7, -(2 ** 53), 5, 2 ** 40)],
  ])('sums of all rows of %s are those of one group', (_, argument, values) => {
    const type = new Decimal(0, 38, 128);
    const call = { name: 'sum', type, argument, separator: '', order: [] };
    const form = typeof values[0] === 'bigint' ? 'wide' : 'number';
    const sum = (valid: Uint8Array | null): unknown => {
      const column = { form, type: argument, length: 4, values, valid } as Column;
      const sums = new IntegerSums({ ...call, memory: new RequestMemory() });
      sums.addWhole(4, [column]);
      return reader(sums.result({ from: 0, to: 1 }))(0);
    };
    const all = [...values].map(BigInt);
    expect(sum(null)).toBe(all.reduce((a, b) => a + b));
    expect(sum(Uint8Array.of(1, 0, 1, 1))).toBe(all.reduce((a, b) => a + b) - (all[1] as bigint));
    expect(sum(new Uint8Array(4))).toBeNull();
  });
});
