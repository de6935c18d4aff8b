/** Rows of several values, comparisons with ANY and ALL of a query, SEMI and ANTI joins. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const P = 'prod.people';
const answer = async (sql: string): Promise<unknown[][]> =>
  (await catalog.rows(sql)).map((row) => Object.values(row));
const ids = (where: string): string => `SELECT id FROM ${P} p WHERE ${where} ORDER BY id`;
const N = '(SELECT n FROM (VALUES (20), (36)) v(n))';
const WITH_NULL = '(SELECT n FROM (VALUES (20), (NULL)) v(n))';
const NONE = '(SELECT age FROM prod.people WHERE id > 9)';

test.each<[sql: string, rows: unknown[][]]>([
  [ids("(name, age) IN (('ada', 36), ('bob', 21), ('eve', 51))"), [[1], [5]]],
  [ids('(id, age) NOT IN ((1, 36), (2, 20))'), [[3], [4], [5]]],
  // Unknown, and so not true, where a value is null and the others are equal.
  [ids('(id, age) NOT IN ((3, 36), (2, 20))'), [[1], [4], [5]]],
  [ids('(age, active) = (20, true)'), [[4]]],
  [ids('NOT (age, active) = (20, true) AND id < 4'), [[1], [2]]],
  [ids('(id, city) <> (1, city)'), [[2], [3], [4], [5]]],
  [
    'SELECT (1, NULL) = (1, 2), (1, NULL) = (2, 2), (1, NULL) <> (2, 2), (1, 2, 3) IN ((1, 2, 3))',
    [[null, false, true, true]],
  ],
  [ids(`(city, age) IN (SELECT city, max(age) FROM ${P} GROUP BY city)`), [[1], [5]]],
  [ids(`(id + 0.5e0, 'Oslo') IN (SELECT score, city FROM ${P})`), [[1]]],
  [ids("(id - 0.5e0, city) IN (SELECT score + 0.5, 'Rome' FROM prod.people) AND id > 1"), [[5]]],
  [
    'SELECT (1, 2) IN (SELECT 1, 2), (1, NULL) IN (SELECT 1, 2), (1, NULL) NOT IN (SELECT 2, 2)',
    [[true, null, true]],
  ],
  [ids('(id, age) NOT IN (SELECT 1, 36) OR id = 1'), [[1], [2], [3], [4], [5]]],
  [ids('(3, age) IN (SELECT id, 20 FROM prod.people) OR id = 5'), [[2], [4], [5]]],
  [ids(`age > ANY ${N}`), [[1], [5]]],
  [ids(`age >= ALL ${N}`), [[1], [5]]],
  [ids(`age < SOME ${N}`), [[2], [4]]],
  [ids(`age <> ANY ${N}`), [[1], [2], [4], [5]]],
  [ids(`age = ALL (SELECT 20)`), [[2], [4]]],
  [ids(`NOT age <> ANY (SELECT 20)`), [[2], [4]]],
  [ids(`age > ALL ${NONE}`), [[1], [2], [3], [4], [5]]],
  [ids(`age > ANY ${NONE}`), []],
  [
    `SELECT id, age > ANY ${WITH_NULL}, age < ALL ${WITH_NULL}, age > ANY ${NONE} FROM ${P} ORDER BY id`,
    [
      [1, true, false, false],
      [2, null, false, false],
      [3, null, null, false],
      [4, null, false, false],
      [5, true, false, false],
    ],
  ],
  [ids(`age >= ALL (SELECT q.age FROM ${P} q WHERE q.city = p.city)`), [[4], [5]]],
  [ids(`id > ANY (SELECT q.id FROM ${P} q WHERE q.city = p.city)`), [[3], [5]]],
  ["SELECT 'b' > ANY (SELECT name FROM cities), 3 < ALL (SELECT 4.5e0)", [[true, true]]],
  [
    `SELECT c.name FROM cities c SEMI JOIN ${P} p ON c.name = p.city ORDER BY 1`,
    [['Oslo'], ['Rome']],
  ],
  [
    `SELECT * FROM cities c ANTI JOIN ${P} p ON c.name = p.city ORDER BY 1`,
    [
      ['Paris', 'FR'],
      [null, '??'],
    ],
  ],
  [
    `SELECT name FROM cities SEMI JOIN (SELECT city AS name FROM ${P} WHERE id = 1) q USING (name)`,
    [['Oslo']],
  ],
  [
    `SELECT c.name FROM cities c SEMI JOIN ${P} p ON c.name = p.city AND p.age > 50 AND c.country > 'A'`,
    [['Rome']],
  ],
  [
    `SELECT c.name FROM cities c ANTI JOIN ${P} p ON c.name = p.city AND c.country = 'NO' ORDER BY 1`,
    [['Paris'], ['Rome'], [null]],
  ],
])('%s', async (sql, rows) => {
  expect(await answer(sql)).toEqual(rows);
});

test.each<[sql: string, message: string]>([
  ['SELECT (1, 2)', 'A row of several values is not supported here (at position 8)'],
  ['SELECT (1, 2) + (1, 3)', 'A row of several values is not supported here'],
  ['SELECT (1, 2) IN ((1, 2, 3))', 'A row of 2 values is compared with one of 3 (at position 19)'],
  ['SELECT (1, 2) IN (3)', 'A row of 2 values is compared with a row'],
  [
    ids('(id, age) IN (SELECT id FROM prod.people)'),
    'A row of 2 values is looked up in the rows of a sub-select that has 1 columns',
  ],
  [ids("(id, age) IN (SELECT 'a', 2)"), 'IN compares int32 with utf8; cast one of them'],
  ['SELECT [1] > ANY (SELECT [2])', 'min takes values that have an order'],
  ["SELECT 1 > ALL (SELECT 'a')", 'cannot be compared'],
  [`SELECT p.id FROM cities c SEMI JOIN ${P} p ON c.name = p.city`, 'There is no column p.id'],
])('%s is refused', async (sql, message) => {
  await expect(answer(sql)).rejects.toThrow(message);
});
