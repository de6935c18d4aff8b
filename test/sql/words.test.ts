/** What statements are completed with. */
import { expect, test } from 'vitest';
import { parseStatement, SQL_WORDS } from '../../src/sql/index.ts';

test('functions of values, aggregates and windows are listed once, in order', () => {
  const { functions } = SQL_WORDS;
  for (const name of ['lower', 'count', 'row_number', 'first_value']) {
    expect(functions.filter((one) => one === name)).toEqual([name]);
  }
  expect(functions).toEqual([...functions].sort());
});

test('keywords are those that statements have', () => {
  const statements = [
    "WITH a AS (SELECT ALL x FROM b FOR VERSION AS OF 1), c AS (SELECT * FROM b FOR TAG AS OF 't') SELECT DISTINCT x FROM a",
    "SELECT x FROM a FOR BRANCH AS OF 'b' INNER JOIN c USING (x) LEFT JOIN d ON TRUE RIGHT JOIN e ON FALSE FULL JOIN f ON TRUE CROSS JOIN g",
    "SELECT CASE WHEN a LIKE 'x' OR a ILIKE 'y' AND NOT b IS NULL THEN CAST(c AS int) ELSE d END FROM t WHERE a BETWEEN 1 AND 2 OR b IN (1) OR EXISTS (SELECT 1)",
    'SELECT a, count(*) FILTER (WHERE b), sum(a) OVER (PARTITION BY b) FROM t GROUP BY a HAVING TRUE ORDER BY a ASC NULLS FIRST, b DESC NULLS LAST LIMIT 1 OFFSET 2',
    'SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT VALUES (1)',
  ];
  for (const sql of statements) expect(() => parseStatement(sql), sql).not.toThrow();
  const used = new Set(statements.join(' ').split(/[^A-Z]+/));
  expect(SQL_WORDS.keywords.filter((word) => !used.has(word))).toEqual([]);
});

test('words that need quotes as names', () => {
  expect(SQL_WORDS.reserved).toEqual(expect.arrayContaining(['user', 'select', 'left']));
  expect(SQL_WORDS.reserved).not.toContain('name');
});
