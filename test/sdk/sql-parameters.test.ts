/** Values of a program in statements: they are literals, whatever they hold. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from '../statements/catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
  await catalog.db.createTable('odd', [
    { id: 1, text: "'); DROP --" },
    { id: 2, text: '$1 ?' },
  ]);
});

const answer = async (sql: string, parameters: unknown): Promise<unknown[][]> =>
  (
    await catalog.db
      .sql<Record<string, unknown>>(sql, { parameters: parameters as unknown[] })
      .toArray()
  ).map((row) =>
    Object.values(row).map((value) => (typeof value === 'bigint' ? Number(value) : value)),
  );

test.each<[sql: string, parameters: unknown, rows: unknown[][]]>([
  ['SELECT name FROM prod.people WHERE age > ? AND city = ?', [30, 'Rome'], [['eve']]],
  ['SELECT name FROM prod.people WHERE age > $2 AND city = $1 AND $2 > 1', ['Rome', 30], [['eve']]],
  ['SELECT name FROM prod.people WHERE name = $who', { who: 'cy' }, [['cy']]],
  ["SELECT id FROM odd WHERE text = ? OR text = '?' OR text = $$?$$ -- ?", ["'); DROP --"], [[1]]],
  ['SELECT id FROM odd WHERE text=?', ['$1 ?'], [[2]]],
  [
    'SELECT id FROM odd WHERE id = ANY (?) ORDER BY id LIMIT ? OFFSET ?',
    [[1n, 2n, 3], 1, 1],
    [[2]],
  ],
  ['SELECT 5-?, 5 -?, ?+?', [-3, 2, 1, 0], [[8, 3, 1]]],
  ['SELECT ? IS NULL, ? AS b, ?', [null, true, 1.5], [[true, true, 1.5]]],
  [
    'SELECT ? = 0.1e0 + 0.2e0, 1 / ?, ? > 1, isnan(?)',
    [0.1 + 0.2, -0, Number.POSITIVE_INFINITY, Number.NaN],
    [[true, Number.NEGATIVE_INFINITY, true, true]],
  ],
  [
    'SELECT octet_length(?), extract(year FROM ?)',
    [Buffer.from([0, 255]), new Date(0)],
    [[2, 1970]],
  ],
  ['SELECT count(*) FROM prod.people WHERE name LIKE $1 OR name IN ($1, $2)', ['a%', 'eve'], [[2]]],
  ['SELECT typeof(?), typeof(?)', [9007199254740993n, 2 ** 60], [['BIGINT', 'DOUBLE']]],
  ['SELECT 1', [], [[1]]],
])('%s with %o', async (sql, parameters, rows) => {
  expect(await answer(sql, parameters)).toEqual(rows);
});

test('the text of a query is the one given', () => {
  expect(catalog.db.sql('SELECT ?', { parameters: [1] }).text).toBe('SELECT ?');
});

test.each<[sql: string, parameters: unknown, message: string]>([
  ['SELECT ?, ?', [1], 'There is no parameter number 2; 1 is given (at position 11)'],
  ['SELECT $name', { other: 1 }, 'There is no parameter $name; other is given (at position 8)'],
  ['SELECT $1', [1, 2], 'The statement has no place for the parameter 2; 1, 2 are given'],
  ['SELECT ?, $2', [1, 2], '? and $2 are not mixed in one statement'],
  ['SELECT ?', [undefined], 'The parameter 1 is undefined'],
  ['SELECT ?', [{ a: 1 }], 'The parameter 1 is no value of SQL'],
  ['SELECT ?', [[[Symbol.iterator]]], 'The parameter 1 is no value of SQL'],
  ['SELECT ?', [new Date(Number.NaN)], 'The parameter 1 is no value of SQL'],
  ['SELECT ?', 5, 'parameters takes an array or an object of values, and was given'],
  ["SELECT '?", [1], 'is never closed'],
  ['SELECT E?', ['a'], 'The type e is not known'],
])('refuses %s with %o', async (sql, parameters, message) => {
  await expect(async () => answer(sql, parameters)).rejects.toThrow(message);
});

test('without values a placeholder is refused with the way to give one', async () => {
  await expect(catalog.db.sql('SELECT ?').toArray()).rejects.toThrow('{ parameters }');
});

test('an array that holds itself is refused', async () => {
  const circular: unknown[] = [];
  circular.push(circular);
  await expect(async () => answer('SELECT ?', [circular])).rejects.toThrow('more than 20 deep');
});
