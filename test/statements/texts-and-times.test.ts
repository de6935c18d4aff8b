/** Slices, parts of texts, formats of dates and times, and names of types. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const value = async (sql: string): Promise<unknown> => {
  const rows = await catalog.db.sql<Record<string, unknown>>(`SELECT ${sql}`).toArray();
  return Object.values(rows[0] ?? {})[0];
};
const LONG = "repeat('ab,', 100000)";

test.each<[sql: string, result: unknown]>([
  ['[1, 2, 3, 4][2:3]', [2n, 3n]],
  ['[1, 2, 3, 4][0:2]', [1n, 2n]],
  ['[1, 2, 3, 4][:-2]', [1n, 2n, 3n]],
  ['[1, 2, 3, 4][-2:]', [3n, 4n]],
  ['[1, 2, 3, 4][-9:2]', [1n, 2n]],
  ['[1, 2, 3, 4][3:9]', [3n, 4n]],
  ['[1, 2, 3, 4][3:2]', []],
  ['[1, 2, 3][:]', [1n, 2n, 3n]],
  ['[1, 2][NULL:2]', null],
  ['[1, 2, 3][2]', 2n],
  ['ARRAY[1, 2, 3][2:][1]', 2n],
  ["'hello'[2:3]", 'el'],
  ["'h😀llo'[2:2]", '😀'],
  ["list_slice('hello', -2, -1)", 'lo'],
  ['len([1, NULL])', 2n],
  ["length('abc')", 3n],
  ["string_split('a,b,,c', ',')", ['a', 'b', '', 'c']],
  ["string_split('', ',')", ['']],
  ["string_split('日本', '')", ['日', '本']],
  ["string_split('', '')", ['']],
  ["CAST(CAST('-0' AS float) AS text)", '-0.0'],
  ['radians(1e308)', 1.7453292519943295e306],
  ['degrees(radians(90))', 90],
  ["string_split('a-b', '-')[2]", 'b'],
  ["str_split('a', NULL)", null],
  [`len(string_split(${LONG}, ','))`, 100_001n],
  [`len(string_split(${LONG}, ''))`, 300_000n],
  [`length(translate(${LONG}, 'b', ''))`, 200_000n],
  ["translate('12345', '143', 'ax')", 'a2x5'],
  ["translate('aab', 'aa', 'xy')", 'xxb'],
  ["translate('a😀', '😀', 'b')", 'ab'],
  ["levenshtein('kitten', 'sitting')", 3n],
  ["levenshtein('', 'abc')", 3n],
  // DuckDB counts bytes.
  ["levenshtein('über', 'uber')", 1n],
  ["levenshtein(repeat('a', 3000), repeat('b', 3001))", 3_001n],
  ["regexp_extract('a1b22', '([a-z])([0-9]+)', 2)", '1'],
  ["regexp_extract('abc', 'x')", ''],
  ["regexp_extract('abc', '(x)?b', 1)", ''],
  ["regexp_extract_all('a1b22c', '[0-9]+')", ['1', '22']],
  ["regexp_extract_all('a1b22', '([a-z])([0-9]+)', 2)", ['1', '22']],
  ["regexp_extract_all('abc', '(x)?b', 1)", [null]],
  ["regexp_extract_all('abc', 'x*')", ['', '', '', '']],
  ["regexp_extract_all(NULL, 'a')", null],
  ['typeof(1)', 'BIGINT'],
  ['typeof(NULL)', '"NULL"'],
  ["typeof(['a'])", 'VARCHAR[]'],
  ['typeof(CAST(1 AS decimal(9, 2)))', 'DECIMAL(9,2)'],
  ["typeof(TIMESTAMPTZ '2020-01-01 00:00Z')", 'TIMESTAMP WITH TIME ZONE'],
  ["typeof(strptime('1', '%n'))", 'TIMESTAMP_NS'],
  [
    "strftime(TIMESTAMP '2005-01-02 03:04:05.067891', '%a|%A|%w|%u|%d|%-d|%b|%B|%m|%-m|%y|%-y|%Y|%H|%-H|%I|%p')",
    'Sun|Sunday|0|7|02|2|Jan|January|01|1|05|5|2005|03|3|03|AM',
  ],
  [
    "strftime(TIMESTAMP '2005-01-02 03:04:05.067891', '%M|%S|%f|%g|%n|%j|%-j|%U|%W|%V|%G|%c|%x|%X|%z|%Z|%%')",
    '04|05|067891|067|067891000|002|2|01|00|53|2004|2005-01-02 03:04:05|2005-01-02|03:04:05|+00||%',
  ],
  ["strftime('%-I %p', TIMESTAMP '2005-01-02 00:04')", '12 AM'],
  ["strftime(TIMESTAMP '1969-12-31 23:59:59.5', '%c.%f')", '1969-12-31 23:59:59.500000'],
  ["strftime(DATE '2024-12-30', '%Y-%m-%d %H %V %G')", '2024-12-30 00 01 2025'],
  [
    "strftime(arrow_cast(TIMESTAMP '2024-07-01 12:00', 'Timestamp(Millisecond, Some(\"Asia/Kolkata\"))'), '%H:%M %z %Z')",
    '12:00 +05:30 Asia/Kolkata',
  ],
  ["strftime(CAST(NULL AS date), '%Y')", null],
  ["year(DATE '2024-12-30')", 2024n],
  ["CAST(quarter(DATE '2024-12-30') AS text) || '/' || month(DATE '2024-12-30')", '4/12'],
  ["week(DATE '2024-12-30') * 100 + weekofyear(DATE '2021-01-03')", 153n],
  ["day(DATE '2024-12-30') * 100 + dayofmonth(TIMESTAMP '1969-02-03 04:05')", 3003n],
  ["dayofweek(DATE '2024-12-29') * 1000 + dayofyear(DATE '2024-12-30')", 365n],
  ["hour(TIMESTAMP '1969-02-03 04:05:59.9') * 100 + minute(TIME '04:05:59.9')", 405n],
  ["typeof(year(DATE '2024-12-30'))", 'BIGINT'],
  ['year(CAST(NULL AS date))', null],
])('%s', async (sql, result) => {
  expect(await value(sql)).toEqual(result);
});

test.each<[text: string, format: string, result: string | null]>([
  ['2020-01-31', '%Y-%m-%d', '2020-01-31 00:00'],
  ['  2020-1-3  4:5 ', '%Y-%m-%d %H:%M', '2020-01-03 04:05'],
  ['31 January 2020', '%d %B %Y', '2020-01-31 00:00'],
  ['fri jan 31 2020', '%a %b %d %Y', '2020-01-31 00:00'],
  ['05:06:07.5 PM 2020-01-01', '%I:%M:%S.%f %p %Y-%m-%d', '2020-01-01 17:06:07.5'],
  ['12 AM', '%I %p', '1900-01-01 00:00'],
  ['20200131', '%Y%m%d', '2020-01-31 00:00'],
  ['69', '%y', '1969-01-01 00:00'],
  ['68', '%y', '2068-01-01 00:00'],
  ['2020-060', '%Y-%j', '2020-02-29 00:00'],
  ['2020-01-01 03:04:05', '%c', '2020-01-01 03:04:05'],
  ['100%', '%j%%', '1900-04-10 00:00'],
  ['13:00 PM', '%H:%M %p', null],
  ['2020-02-30', '%Y-%m-%d', null],
  ['2019-366', '%Y-%j', null],
  ['2020-13-01', '%Y-%m-%d', null],
  ['99999', '%Y', null],
  ['2020-01-01x', '%Y-%m-%d', null],
  ['', '%Y', null],
  ['2020-01', '%Y %m', null],
])('%s as %s', async (text, format, result) => {
  const read = `try_strptime('${text}', '${format}')`;
  const wanted = result === null ? `${read} IS NULL` : `${read} = TIMESTAMP '${result}'`;
  expect(await value(wanted)).toBe(true);
  if (result !== null) return;
  await expect(value(`strptime('${text}', '${format}')`)).rejects.toThrow(
    `strptime cannot read ${JSON.stringify(text)} as ${format}. try_strptime gives NULL`,
  );
});

test('an offset makes an instant, and finer digits nanoseconds', async () => {
  const [offset, fine] = [
    "strptime('2020-01-01 00:00 +02:30', '%Y-%m-%d %H:%M %z')",
    "strptime('.123456789', '.%n')",
  ];
  expect(await value(`${offset} = TIMESTAMPTZ '2019-12-31 21:30Z'`)).toBe(true);
  expect(
    await value(
      `${fine} = arrow_cast(TIMESTAMP '1900-01-01 00:00:00.123456789', 'Timestamp(Nanosecond, None)')`,
    ),
  ).toBe(true);
  expect(await value("try_strptime('9999', '%Y%n')")).toBe(null);
});

test.each<[sql: string, message: string]>([
  ["strftime(DATE '2020-01-01', '%q')", 'The format has %q; there are %a'],
  ["strftime(DATE '2020-01-01', '%-f')", 'The format has %-f'],
  [
    "strftime(DATE '2020-01-01', '%Y%')",
    'The format ends within a %; %% is a percent sign. (at position 36)',
  ],
  ["strftime(DATE '2020-01-01', '')", 'The format is empty'],
  ["strftime(TIME '10:00', '%H')", 'strftime takes a date or a timestamp, not'],
  [
    'strftime(name, name) FROM cities',
    "strftime takes a format in single quotes, such as '%Y-%m-%d'",
  ],
  ["strptime('2020', '%G')", '%G is written by strftime only; strptime does not read it'],
  ["strptime(1, '%Y')", 'strptime takes text here, not'],
  ["regexp_extract_all('a', '(a)', 2)", 'The pattern has 1 groups; there is no group 2'],
  ['1[1:2]', 'syntax error'],
  ['(1)[1:2]', 'A slice is of a list or a text, not of'],
  ["[1]['a':2]", 'A slice takes a whole number here, not'],
  ['[1, 2][1:2:1]', 'A slice takes no step (at position 18)'],
  ["levenshtein(repeat('a', 20000), 'a')", 'levenshtein takes texts of at most 16384 characters'],
  ['typeof(1, 2)', 'typeof takes one argument'],
  ["string_split('a')", 'string_split takes 2 arguments, not 1'],
])('%s is refused', async (sql, message) => {
  await expect(value(sql)).rejects.toThrow(message);
});
