/** Statements that are refused, each with the place in the text and what to do. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const CASES: readonly (readonly [sql: string, message: string])[] = [
  ['', 'The statement is empty'],
  ['DELETE FROM cities', 'DELETE is no query; SELECT reads tables'],
  ['cities', 'A statement begins with SELECT, WITH or VALUES'],
  ['SELECT * FROM cities; SELECT 1', "';' is not part of a statement"],
  ['SELECT name FRM cities', 'Cannot read the statement: syntax error at or near "cities"'],
  ['SELECT nam FROM cities', 'There is no column nam; did you mean name?'],
  ['SELECT c.nam FROM cities c', 'There is no column c.nam; did you mean name?'],
  ['SELECT name FROM cities a, cities b', 'The column name name is ambiguous: 2 columns have it'],
  ['SELECT country, count(*) FROM cities', 'country is of one row; name it in GROUP BY'],
  ['SELECT name FROM cities WHERE count(*) > 1', 'count(..) is not possible in WHERE'],
  ['SELECT 1 FROM ((SELECT 1) UNION t) q', 'syntax error at or near "t"'],
  ['SELECT 1 FROM ((SELECT 1) q', "'(' is never closed"],
  ['SELECT 1 FROM (((SELECT 1))', "'(' is never closed"],
  ['SELECT sum(count(*)) FROM cities', 'sum(..) is given another aggregate'],
  ['SELECT sum(name) FROM cities', 'sum takes numbers, not utf8'],
  ['SELECT coun(*) FROM cities', 'coun is no aggregate; did you mean count?'],
  ['SELECT row_number() FROM cities', 'row_number needs a window'],
  [
    'SELECT array_agg(name ORDER BY [name]) FROM cities',
    'Rows cannot be ordered by ARRAY[name]: values of list<utf8> have no order here (at position 32)',
  ],
  [
    'SELECT rank() OVER (ORDER BY name, [name]) FROM cities',
    'Rows cannot be ordered by ARRAY[name]: values of list<utf8> have no order here (at position 36)',
  ],
  [
    'SELECT c.name, (SELECT first(p.id ORDER BY [p.id]) FROM prod.people p WHERE p.city = c.name) FROM cities c',
    'values of list<int32> have no order here (at position 44)',
  ],
  ["SELECT CAST(X'00ff' AS text)", "X'00ff' does not fit utf8; TRY_CAST gives NULL instead"],
  [
    'SELECT nth_value(name, 1.5) OVER () FROM cities',
    'nth_value takes a whole number, not float64',
  ],
  ['SELECT nth_value(name) OVER () FROM cities', 'nth_value takes 2 arguments'],
  ['SELECT ntile(2.5) OVER () FROM cities', 'ntile takes a whole number, not float64'],
  ['SELECT lag(name, name) OVER () FROM cities', 'lag takes a whole number, not utf8'],
  ["SELECT lag(name, 1, '', 2) OVER () FROM cities", 'lag takes 1 to 3 arguments'],
  [
    'SELECT count(*) OVER w FROM cities WINDOW w AS (), v AS (), W AS (ORDER BY name)',
    'WINDOW defines W twice',
  ],
  ['WITH a AS (SELECT 1 AS x), A AS (SELECT 2 AS x) SELECT * FROM a', 'WITH defines A twice'],
  [
    'SELECT array_agg(DISTINCT name ORDER BY name, country) FROM cities',
    'With DISTINCT, ORDER BY of array_agg(..) takes what the call is given',
  ],
  [
    'SELECT country, group_concat(name) FROM cities GROUP BY country',
    "The function group_concat is not known; write string_agg(x, ',')",
  ],
  ['SELECT lead(name, 0.5, name) OVER () FROM cities', 'lead takes a whole number, not float64'],
  [
    'SELECT count(*) FILTER (WHERE name) FROM cities',
    'column name (utf8) is no condition; a boolean is needed',
  ],
  [
    'SELECT name FROM cities FETCH FIRST 3 ROWS WITH TIES',
    'FETCH .. WITH TIES is not supported; rank() with QUALIFY does it',
  ],
  ['SELECT name FROM cities LIMIT 1 FETCH FIRST ROW ONLY', 'syntax error at or near "FETCH"'],
  ['SELECT name FROM cities FETCH FIRST 3', 'syntax error at the end'],
  ['SELECT upper(name) OVER () FROM cities', 'upper is no window function'],
  ['SELECT sum(1) OVER (ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) FROM cities', 'ends after it'],
  ['SELECT sum(1) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM cities', 'ends there or'],
  ['SELECT sum(1) OVER (ROWS 1 FOLLOWING) FROM cities', 'ends after it'],
  ['SELECT sum(1) OVER (ROWS -1 PRECEDING) FROM cities', 'a number of rows is expected'],
  ['SELECT sum(1) OVER (ROWS 1234567890 PRECEDING) FROM cities', 'of at most 9 digits'],
  ['SELECT sum(1) OVER (ROWS 1 PRECEDING EXCLUDE TIES) FROM cities', 'EXCLUDE is not supported'],
  ['SELECT name FROM cities ORDER BY 2', 'There is no column 2; there are 1'],
  ['SELECT name FROM cities ORDER BY -1', 'There is no column -1; there are 1'],
  ['SELECT name FROM cities GROUP BY -1', 'There is no column -1; there are 1'],
  [
    'SELECT DISTINCT name FROM cities ORDER BY country',
    'With DISTINCT, ORDER BY takes what is selected',
  ],
  ['SELECT name FROM cities LIMIT -1', 'LIMIT takes a number of rows, not -1'],
  ['SELECT name FROM cities LIMIT true', 'LIMIT takes a number of rows, not true'],
  ["SELECT name FROM cities OFFSET DATE '1970-01-03'", 'OFFSET takes a number of rows, not '],
  ['SELECT name FROM cities LIMIT 1.5', 'LIMIT takes a number of rows, not 1.5'],
  ['SELECT name FROM cities UNION SELECT 1, 2', 'The parts of UNION have 1 and 2 columns'],
  ["SELECT 1 UNION SELECT 'a'", 'Column 1 of the parts of UNION has types that do not go together'],
  ['SELECT 1 EXCEPT SELECT 1, 2', 'The parts of EXCEPT have 1 and 2 columns'],
  ["SELECT 1 INTERSECT ALL SELECT 'a'", 'Column 1 of the parts of INTERSECT has types'],
  ['SELECT 1 INTERSECT BY NAME SELECT 1', 'INTERSECT BY NAME is not supported'],
  [
    'SELECT * FROM prod/cities',
    'syntax error at or near "/"; namespaces and tables are joined by dots here',
  ],
  ['SELECT * FROM cities NATURAL CROSS JOIN cities c', 'CROSS JOIN has no condition'],
  ['SELECT * FROM cities NATURAL JOIN cities c ON true', 'syntax error at or near "ON"'],
  ['SELECT * FROM cities NATURAL WHERE true', 'JOIN is expected'],
  ['SELECT DISTINCT ON name FROM cities', "'(' is expected"],
  ['SELECT DISTINCT ON (2) name FROM cities', 'There is no column 2; there are 1'],
  [
    'SELECT (SELECT DISTINCT ON (c.name) c.name FROM cities c WHERE c.name = p.city) FROM prod.people p',
    'has DISTINCT ON, which is not supported',
  ],
  ['SELECT name FROM cities ORDER BY ALL, name', 'syntax error'],
  [
    "SELECT c.l FROM (SELECT [name, 'x'] AS l FROM cities) b JOIN (SELECT [country] AS l FROM cities) c ON b.l <> c.l ORDER BY c.l",
    'Rows cannot be ordered by c.l: values of list<utf8> have no order here (at position 123)',
  ],
  ['SELECT rank() OVER (ORDER BY ALL) FROM cities', 'syntax error at or near "ALL"'],
  [
    'SELECT row_number() FILTER (WHERE true) OVER () FROM cities',
    'FILTER is not supported with OVER for row_number',
  ],
  [
    'SELECT array_agg(name) FILTER (WHERE true) OVER () FROM cities',
    'FILTER is not supported with OVER for array_agg',
  ],
  [
    'SELECT sum(1) FILTER (WHERE rank() OVER () = 1) OVER () FROM cities',
    'A window function is given another one',
  ],
  ['SELECT * FROM cities a JOIN cities b', 'ON or USING is expected'],
  [
    'SELECT * FROM cities a JOIN prod.people b ON a.name = b.id',
    'column name (utf8) cannot be compared with column id (int32)',
  ],
  ['SELECT * FROM cities a JOIN cities b ON a.name', 'a boolean is needed'],
  ["SELECT * FROM cities FOR TIMESTAMP AS OF '2020-01-01'", 'A version is not found by its time'],
  ['SELECT * FROM cities FOR VERSION AS OF 99', 'Version 99 of the table cities was not found'],
  ["SELECT * FROM cities FOR TAG 'none'", 'none'],
  ['SELECT * FROM nothing', 'nothing'],
  ['SELECT x.* FROM cities', 'There is no table x in FROM'],
  ['SELECT * EXCLUDE (nope) FROM cities', 'EXCLUDE names nope, which is no column of it'],
  ['SELECT (SELECT 1, 2) FROM cities', 'has one column, and this one has 2'],
  ['SELECT name FROM cities WHERE name IN (SELECT 1)', 'IN compares utf8 with int64; cast one'],
  ['SELECT name ~ ANY (SELECT name FROM cities) FROM cities', '~ ANY is not supported'],
  [
    'SELECT name FROM cities JOIN prod.people p ON p.id IN (SELECT 1)',
    'sub-select is not supported',
  ],
  ['SELECT name FROM cities LIMIT (SELECT 1)', 'A sub-select is not supported here'],
  ['VALUES ((SELECT 1))', 'A sub-select is not supported here'],
  [
    'SELECT name FROM cities UNION SELECT city FROM prod.people ORDER BY (SELECT 1)',
    'ORDER BY of a',
  ],
  [
    'SELECT EXISTS (SELECT 1 FROM prod.people p WHERE p.city > c.name) FROM cities c',
    'The sub-select reads c.name of the query around it in a term other than "column = c.name", which is not supported; write a join in its place (at position 59)',
  ],
  [
    'SELECT name FROM cities c WHERE c.name IN (SELECT city FROM prod.people p WHERE p.city = c.name OR p.id = 1)',
    'reads c.name of the query around it in a term other than "column = c.name"',
  ],
  [
    "SELECT name FROM cities c WHERE c.name = 'x' OR EXISTS (SELECT 1 FROM prod.people p WHERE p.city = c.name AND c.country = 'NO')",
    'reads c.country of the query around it in a term other than "column = c.country"',
  ],
  [
    'SELECT (SELECT p.city || c.name FROM prod.people p WHERE p.city = c.name) FROM cities c',
    'reads c.name of the query around it elsewhere than in an equation of its WHERE',
  ],
  [
    'SELECT name FROM cities c WHERE 3 IN (SELECT id FROM prod.people p WHERE p.city = c.name LIMIT 2)',
    'reads columns of the query around it and has LIMIT 2, which',
  ],
  [
    'SELECT (SELECT max(id) FROM prod.people p WHERE p.city = c.name GROUP BY age) FROM cities c',
    'and has GROUP BY, which is not supported',
  ],
  [
    'SELECT (SELECT count(*) FROM prod.people p WHERE p.city = c.name HAVING count(*) > 1) FROM cities c',
    'and has HAVING, which is not supported',
  ],
  [
    'SELECT EXISTS (SELECT max(id) FROM prod.people p WHERE p.city = c.name) FROM cities c',
    'and has aggregates, which is not supported',
  ],
  [
    'SELECT (SELECT rank() OVER (ORDER BY id) FROM prod.people p WHERE p.city = c.name) FROM cities c',
    'and has window functions, which is not supported',
  ],
  [
    'SELECT (SELECT id FROM prod.people p WHERE p.city = c.name OFFSET 1) FROM cities c',
    'and has OFFSET, which is not supported',
  ],
  [
    'SELECT (SELECT id, age FROM prod.people p WHERE p.city = c.name) FROM cities c',
    'A sub-select in place of a value has one column, and this one has 2',
  ],
  [
    'SELECT EXISTS (SELECT id FROM prod.people p WHERE p.city = c.name UNION SELECT 2) FROM cities c',
    'reads c.name of the query around it elsewhere than in an equation of its WHERE',
  ],
  [
    'SELECT EXISTS (SELECT 1 FROM prod.people p WHERE p.active = c.name) FROM cities c',
    'cannot be compared',
  ],
  [
    'SELECT EXISTS (SELECT 1 FROM cities d WHERE d.name = c.name AND EXISTS (SELECT 1 FROM prod.people p WHERE p.city = c.country)) FROM cities c',
    'reads c.country of the query around it elsewhere',
  ],
  [
    'SELECT id FROM prod.people WHERE city IN (SELECT name FROM cities GROUP BY name HAVING max(score) > 1)',
    'The sub-select reads score of the query around it',
  ],
  [
    'SELECT id FROM prod.people p WHERE EXISTS (SELECT 1 FROM (SELECT 1 FROM cities WHERE name = p.city) q)',
    'The sub-select reads p.city of the query around it',
  ],
  ['SELECT name FROM cities WHERE name IN (SELECT nope FROM cities)', 'There is no column nope'],
  ['SELECT (SELECT name FROM nothing) FROM cities', 'nothing'],
  [
    'SELECT string_agg(name, name) FROM cities',
    'The separator of string_agg is a text in single quotes',
  ],
  ['SELECT lag(name) OVER w FROM cities', 'WINDOW defines no w'],
  ["SELECT name FROM cities ORDER BY 'name'", 'A text orders and groups nothing'],
  ['SELECT 1 FROM cities x, prod.people x', 'The alias x stands for two tables'],
];

test.each(CASES)('%s', async (sql, message) => {
  const query = catalog.db.sql(sql);
  await expect(query.toArray()).rejects.toThrow(message);
  await expect(query.explainPlan()).rejects.toThrow(message);
});

test('what takes long to plan is bounded, and equal names are told apart at once', async () => {
  const of = (count: number, make: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => make(at)).join(', ');
  const refused = async (sql: string, message: string): Promise<void> => {
    await expect(catalog.db.sql(sql).toArray()).rejects.toThrow(message);
  };
  await refused(`SELECT ${of(1_001, () => '1')}`, 'has 1001 items of SELECT, and 1000 is the most');
  await refused(`SELECT ${of(17, () => '*')} FROM cities`, '17 stars');
  await refused(`SELECT 1 FROM prod.people GROUP BY ${of(101, (at) => `id + ${at}`)}`, '101 keys');
  await refused(
    `SELECT ${of(101, (at) => `sum(id + ${at}) OVER ()`)} FROM prod.people`,
    '101 window',
  );
  await refused(`WITH ${of(101, (at) => `q${at} AS (SELECT 1)`)} SELECT 1`, '101 queries of WITH');
  await refused(Array(101).fill('SELECT 1').join(' UNION ALL '), '101 parts of UNION');
  const [row] = await catalog.rows(`SELECT ${of(1_000, () => 'id')} FROM prod.people LIMIT 1`);
  expect(Object.keys(row ?? {})).toHaveLength(1_000);
});

test('the place of a mistake is told by its line', async () => {
  await expect(
    catalog.db.sql('SELECT name\nFROM cities\nWHERE contry = 1').toArray(),
  ).rejects.toMatchObject({ code: 'TableColumnNotFound', details: { position: 31 } });
});

test('texts of a hostile depth or length are refused before they are planned', async () => {
  const deep = `${'SELECT * FROM ('.repeat(40)}SELECT 1${') q'.repeat(40)}`;
  await expect(catalog.db.sql(deep).toArray()).rejects.toThrow('nested deeper than 32 levels');
  const wide = `SELECT 1 FROM ${Array.from({ length: 40 }, (_, at) => `cities c${at}`).join(', ')}`;
  await expect(catalog.db.sql(wide).toArray()).rejects.toThrow('More than 32 tables');
  const grows = Array.from({ length: 15 }, (_, at) =>
    at === 0
      ? 'q0 AS (SELECT 1 AS x)'
      : `q${at} AS (SELECT a.x FROM q${at - 1} a JOIN q${at - 1} b ON a.x = b.x)`,
  );
  await expect(
    catalog.db.sql(`WITH ${grows.join(', ')} SELECT * FROM q14`).toArray(),
  ).rejects.toThrow('too many times');
  await expect(catalog.db.sql(`SELECT '${'x'.repeat(2 ** 20)}'`).toArray()).rejects.toThrow(
    'longer than',
  );
});
