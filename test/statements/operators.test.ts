/** Operators of bits and powers, SIMILAR TO, BETWEEN SYMMETRIC, and functions beside them. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

async function found(expression: string): Promise<unknown> {
  const rows = `(VALUES (6, CAST(3 AS tinyint), 2.5e0, 'ab', NULL, true)) v(n, i, x, t, z, b)`;
  const [row] = await catalog.rows(`SELECT ${expression} AS v FROM ${rows}`);
  return row?.v;
}

test.each<[expression: string, value: unknown]>([
  ['n & i', 2],
  ['n | 9', 15],
  ['n # i', 5],
  ['xor(n, 3)', 5],
  ['n << 2', 24],
  ['-1 >> 1', -1],
  ['1 << 63', -(2 ** 63)],
  ['~n', -7],
  ['n & 3 + 1', 4],
  ['n & z', null],
  ['-2 ^ 2', 4],
  ['2 * i ^ 2', 18],
  ['2 ^ 3 ^ 2', 64],
  ['2 ** -1', 0.5],
  ['2^-1', 0.5],
  ['-7 // 2', -3],
  ['x // 2', 1.25],
  ["if(n > 5, 'more', 'less')", 'more'],
  ['if(z, 1, 2)', 2],
  ['if(b, NULL, 2)', null],
  ['if(n IS NULL, 1, 2.5e0)', 2.5],
  ['log(100)', 2],
  ['log(2, 8)', 3],
  ['log(z)', null],
  ['round(2 * pi())', 6],
  ['chr(8364)', '€'],
  ["concat_ws('-', t, z, n, b)", 'ab-6-true'],
  ["concat_ws(z, 'a')", null],
  ["concat_ws('-', z)", ''],
  ['3 BETWEEN SYMMETRIC 5 AND 1', true],
  ['3 NOT BETWEEN SYMMETRIC 5 AND 1', false],
  ['6 BETWEEN SYMMETRIC 5 AND z', null],
  ["t SIMILAR TO 'a%'", true],
  ["t SIMILAR TO 'a'", false],
  ["t SIMILAR TO '(a|c)[a-c]'", true],
  ["t NOT SIMILAR TO '_{2}'", false],
  ["'a.b' SIMILAR TO 'a.b'", true],
  ["'axb' SIMILAR TO 'a.b'", false],
  ["'a%b' SIMILAR TO 'a\\%b'", true],
  ["'axb' SIMILAR TO 'a#%b' ESCAPE '#'", false],
  ["'a\nb' SIMILAR TO 'a%b'", true],
  ["'^$' SIMILAR TO '^$'", true],
  ["'%' SIMILAR TO '[%]'", true],
  ["z SIMILAR TO 'a'", null],
  ['t SIMILAR TO NULL', null],
])('%s', async (expression, value) => {
  expect(await found(expression)).toEqual(value);
});

test('conditions with operators are told to the reading of a table', async () => {
  const sql = `SELECT name FROM prod.people WHERE id & 1 = 1 AND id ^ 2 > 8 AND name SIMILAR TO '(c|e)%' AND if(id > 3, true, id < 4) ORDER BY id`;
  expect((await catalog.rows(sql)).map(({ name }) => name)).toEqual(['cy', 'eve']);
});

test.each<[expression: string, message: string]>([
  ['1 << 64', '<< takes 0 to 63 bits, not 64'],
  ['1 >> -1', '>> takes 0 to 63 bits, not -1'],
  ['x & 1', '& takes a whole number here'],
  ['~t', 'xor takes a whole number here'],
  ['if(n, 1, 2)', 'if takes a condition'],
  ["if(b, 1, 'a')", 'if'],
  ['chr(55296)', 'There is no character of the number 55296'],
  ['t SIMILAR TO t', 'SIMILAR TO takes a pattern in single quotes'],
  ["t SIMILAR TO 'a' ESCAPE 'ab'", 'ESCAPE takes a string of one character'],
  ["t SIMILAR TO '('", '('],
  ['pi(1)', 'pi takes no arguments'],
  ["concat_ws('-')", 'concat_ws takes at least 2 arguments'],
])('refuses %s', async (expression, message) => {
  await expect(found(expression)).rejects.toThrow(message);
});
