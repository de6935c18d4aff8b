/** Forms that users of PostgreSQL write: OVERLAY, rows in order, intervals with fractions and of ISO 8601. */
import { beforeAll, expect, test } from 'vitest';
import { parseInterval } from '../../src/values/index.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});
const value = async (sql: string): Promise<unknown> => {
  const [row] = await catalog.rows(`SELECT ${sql} AS x`);
  return row?.x;
};

test.each([
  ["overlay('Txxxxas' PLACING 'hom' FROM 2 FOR 4)", 'Thomas'],
  ["overlay('abcdef' PLACING 'XX' FROM 2)", 'aXXdef'],
  ["overlay('abc' PLACING 'x' FROM 2 FOR 0)", 'axbc'],
  ["overlay('abc' PLACING 'x' FROM 2 FOR -1)", 'axabc'],
  ["overlay('abc' PLACING 'x' FROM 9)", 'abcx'],
  ["overlay('a😀bc', '😀😀', 2, 1)", 'a😀😀bc'],
  ["overlay('abc' PLACING NULL FROM 1)", null],
  ["overlay('abc' PLACING 'x' FROM NULL)", null],
])('%s', async (sql, expected) => {
  expect(await value(sql)).toBe(expected);
});

test('OVERLAY begins at the first character or later', async () => {
  const message = 'overlay begins at character 1 or later, not at 0';
  await expect(
    value("overlay(name PLACING 'x' FROM 0) FROM cities WHERE name = 'Oslo' --"),
  ).rejects.toThrow(message);
});

test.each([
  ['(1, 2) < (1, 2)', false],
  ['(1, 2) <= (1, 2)', true],
  ['(2, 1, 1) > (2, 1, 0)', true],
  ['(2, 1, 1) >= (2, 1, 2)', false],
  ['(2, 0) >= (1, 9)', true],
  ['(0, 9) >= (1, 0)', false],
  // The first values that are not equal tell, whatever comes behind them.
  ['(1, NULL) < (2, 0)', true],
  ['(2, NULL) < (1, 0)', false],
  ['(1, NULL) < (1, 0)', null],
  ['(NULL, 1) < (1, 0)', null],
  ['NOT (1, 2) < (1, 3)', false],
])('%s', async (sql, expected) => {
  expect(await value(sql)).toBe(expected);
});

test('rows are compared in WHERE, and refused where they differ in length or are too long', async () => {
  const found = await catalog.rows(
    'SELECT id FROM prod.people WHERE (age, id) > (20, 2) ORDER BY id',
  );
  expect(found.map(({ id }) => id)).toEqual([1, 4, 5]);
  await expect(value('(1, 2) < (1, 2, 3)')).rejects.toThrow('A row of 2 values is compared');
  let nested = '(1, 1) < (1, 2)';
  for (let depth = 0; depth < 30; depth++) nested = `(${nested}, 1) < (true, 2)`;
  await expect(value(nested)).rejects.toThrow('Rows that are compared by order are too long');
});

const HOUR = 3_600_000_000_000n;
test.each([
  ['1.5 days', 0, 1, 12n * HOUR],
  ['-1.5 days', 0, -1, -12n * HOUR],
  ['1.5 months', 1, 15, 0n],
  ['0.05 months', 0, 1, 12n * HOUR],
  ['1.5 weeks', 0, 10, 12n * HOUR],
  ['1.5 years', 18, 0, 0n],
  ['P1DT2H', 0, 1, 2n * HOUR],
  ['p1y2m3w4dt5h6m7.5s', 14, 25, 5n * HOUR + 366_000_000_000n + 1_500_000_000n],
  ['PT36H', 0, 0, 36n * HOUR],
  ['P-1DT-2H', 0, -1, -2n * HOUR],
  ['P0.5D', 0, 0, 12n * HOUR],
])('the interval %s', (text, months, days, nanos) => {
  expect(parseInterval(text)).toEqual({ months, days, nanos });
});

test.each(['P', 'PT', 'P1H', 'P1DT', 'PT1D', '1D', 'P1D2', '0.1 years', '0.0000000001 seconds'])(
  '%s is no interval',
  (text) => {
    expect(parseInterval(text)).toBeNull();
  },
);

test('a timestamp is moved by part of a day and by ISO 8601', async () => {
  const moved = async (by: string): Promise<unknown> =>
    value(`CAST(TIMESTAMP '2020-01-01 00:00:00' + INTERVAL '${by}' AS text)`);
  expect(await moved('1.5 days')).toMatch(/^2020-01-02T12:00/);
  expect(await moved('P1DT2H')).toMatch(/^2020-01-02T02:00/);
});
