/** Functions of lists in order, of whole numbers, and digests of texts. */
import { beforeAll, expect, test } from 'vitest';
import { LIST_FUNCTIONS } from '../../src/sql/functions/lists.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

test.each<[expression: string, value: unknown]>([
  ['list_sort([3, NULL, 1])', [1n, 3n, null]],
  ['list_reverse_sort([3, NULL, 1])', [3n, 1n, null]],
  ['array_reverse([3, NULL, 1])', [1n, null, 3n]],
  ["list_sort(['b', 'É', 'a', ''])", ['', 'a', 'b', 'É']],
  ["list_sort([CAST('NaN' AS double), 1.5, -1])", [-1, 1.5, Number.NaN]],
  ['list_sort([NULL])', [null]],
  ['list_sort(NULL)', null],
  ['gcd(12, -18)', 6n],
  ['gcd(0, 0)', 0n],
  ['lcm(-4, 6)', 12n],
  ['lcm(0, 5)', 0n],
  ['gcd(4, NULL)', null],
  ["md5('aé')", '128fda53c8c07c8c66f2a4812187d92f'],
  ["sha256('a')", 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'],
  ["hex('aé')", '61C3A9'],
  ["hex('')", ''],
])('%s', async (expression, value) => {
  const [row] = await catalog.db.sql<{ v: unknown }>(`SELECT ${expression} AS v`).toArray();
  const plain = row?.v;
  expect(plain !== null && typeof plain === 'object' ? [...(plain as never[])] : plain).toEqual(
    value,
  );
});

test('a list of many items is sorted in parts', async () => {
  const [row] = await catalog.rows(
    `SELECT list_sort(l)[1] AS a, list_sort(l)[-1] AS b, list_reverse_sort(l)[2] AS c, list_sort(l)[5000] AS d
       FROM (SELECT array_agg((x * 7919) % 10007) AS l FROM range(10007) r(x)) q`,
  );
  expect(row).toEqual({ a: 0, b: 10_006, c: 10_005, d: 4_999 });
  // Else a tree of one row is evaluated without a break.
  expect(LIST_FUNCTIONS.list_sort?.takesAnyTime).toBe(true);
  expect(LIST_FUNCTIONS.list_reverse_sort?.takesAnyTime).toBe(true);
});

test.each<[expression: string, message: string]>([
  ['list_sort(5)', 'list_sort takes a list here, not 5'],
  ['list_sort([[1]])', 'list_sort takes items that have an order, not list<list<int64>>'],
  ['list_sort([1], 2)', 'list_sort takes one list, not 2 arguments'],
  ['lcm(9223372036854775807, 2)', 'lcm does not fit int64'],
  ['gcd(1.5, 2)', 'gcd takes a whole number here'],
  ['md5(5)', 'md5 takes text here'],
])('refuses %s', async (expression, message) => {
  await expect(catalog.rows(`SELECT ${expression}`)).rejects.toThrow(message);
});
