/** Arithmetic of dates and intervals, date_diff, and functions that make times and take them apart. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const DAY = "date '2024-02-29'";
const TIME = "timestamp '2024-02-29 13:14:15.678901'";

/** A value as text, so that dates and times are told by their digits. */
async function textOf(expression: string): Promise<unknown> {
  const [row] = await catalog.rows(
    `SELECT CAST(${expression} AS text) AS v FROM (VALUES (${DAY}, ${TIME}, 3), (NULL, NULL, NULL)) v(d, t, n) LIMIT 1`,
  );
  return row?.v;
}

test.each<[expression: string, value: string | null]>([
  ["d - date '2024-01-01'", '59'],
  ["date '2024-01-01' - d", '-59'],
  ["d - '2024-02-28'", '1'],
  ['d - NULL', null],
  ['d + 1', '2024-03-01'],
  ['n + d', '2024-03-03'],
  ['d - n', '2024-02-26'],
  ['d + INTERVAL 1 DAY', '2024-03-01'],
  ['d + INTERVAL 1 YEAR', '2025-02-28'],
  ['t + INTERVAL (n) HOURS', '2024-02-29T16:14:15.678901'],
  ["t - n * INTERVAL '10 seconds'", '2024-02-29T13:13:45.678901'],
  ["t + INTERVAL '1 day' * (n - 4)", '2024-02-28T13:14:15.678901'],
  ['t + INTERVAL 1.5 DAYS', '2024-03-02T01:14:15.678901'],
  ['t + INTERVAL 2 WEEKS', '2024-03-14T13:14:15.678901'],
  ["t - timestamp '2024-02-28' > INTERVAL '1 day 13 hours'", 'true'],
  ["t - timestamp '2024-02-28' > INTERVAL '1 day 13:14:15.678901'", 'false'],
  ["INTERVAL 1 DAY < t - timestamp '2024-02-28'", 'true'],
  ["extract(day FROM t - timestamp '2024-02-27')", '2.0'],
  ["extract(hour FROM t - timestamp '2024-03-01')", '-10.0'],
  ["extract(minute FROM t - timestamp '2024-02-29')", '14.0'],
  ["extract(second FROM t - timestamp '2024-02-29')", '15.678901'],
  ["epoch(t - timestamp '2024-02-29')", '47655.678901'],
  ["date_diff('day', date '2023-12-31', d)", '60'],
  ["date_diff('month', date '2023-12-31', d)", '2'],
  ["date_diff('year', date '2023-12-31', d)", '1'],
  ["date_diff('quarter', d, date '2023-12-31')", '-1'],
  ["date_diff('century', date '2000-12-31', d)", '1'],
  ["date_diff('week', date '2024-02-23', d)", '0'],
  ["date_diff('week', date '2024-02-22', t)", '1'],
  ["datediff('hours', timestamp '2024-02-29 12:59:59', t)", '1'],
  ["date_diff('minute', t, timestamp '2024-02-29 13:13:59')", '-1'],
  ["date_diff('microsecond', timestamp '2024-02-29 13:14:15.6789', t)", '1'],
  ["date_diff('day', timestamptz '2024-01-01 23:00-02', timestamptz '2024-01-02 00:00Z')", '0'],
  ["date_diff('day', NULL, d)", null],
  ["date_diff('day', '2024-02-28', d)", '1'],
  ['dayname(d)', 'Thursday'],
  ['monthname(t)', 'February'],
  ['last_day(t)', '2024-02-29'],
  ["last_day(date '2023-02-01')", '2023-02-28'],
  ["last_day(date '2024-12-31')", '2024-12-31'],
  ['second(t)', '15'],
  ['isodow(d)', '4'],
  ["isoyear(date '2024-12-30')", '2025'],
  ['decade(d)', '202'],
  ['century(d)', '21'],
  ["century(date '2000-12-31')", '20'],
  ["extract(millennium FROM date '0001-01-01')", '1.0'],
  ["extract(century FROM date '0000-12-31')", '-1.0'],
  ['make_date(2024, 2, n)', '2024-02-03'],
  ['make_timestamp(2024, 2, 29, 13, 14, 15.5)', '2024-02-29T13:14:15.500'],
  ['make_timestamp(294247, 1, 10, 4, 0, 54.775807)', '+294247-01-10T04:00:54.775807'],
  ['make_date(2024, NULL, 1)', null],
  ['epoch_ms(t)', '1709212455678'],
  ["epoch_ms(timestamp '1969-12-31 23:59:59.9995')", '0'],
  ["epoch_ms(timestamp '1969-12-31 23:59:58.0015')", '-1998'],
  ['epoch_us(t)', '1709212455678901'],
  ['epoch_ns(d)', '1709164800000000000'],
  ['epoch(t)', '1709212455.678901'],
  ['epoch_ms(1709212455678)', '2024-02-29T13:14:15.678'],
  ['to_timestamp(1709212455)', '2024-02-29T13:14:15Z'],
  ['to_timestamp(0.25)', '1970-01-01T00:00:00.250Z'],
])('%s', async (expression, value) => {
  expect(await textOf(expression)).toBe(value);
});

test('over columns of many rows as over one', async () => {
  const rows = Array.from({ length: 5000 }, (_, n) => ({
    n,
    at: new Date(n * 7_654_321_000 - 1e13),
  }));
  await catalog.db.createTable('times', rows);
  for (const unit of ['year', 'quarter', 'month', 'week', 'day', 'hour', 'second', 'century']) {
    const [row] = await catalog.rows(
      `SELECT count(*) AS c FROM times WHERE date_diff('${unit}', at, timestamp '2001-02-03 04:05:06')
         <> date_diff('${unit}', CASE WHEN n >= 0 THEN coalesce(strptime(strftime(at, '%Y-%m-%d %H:%M:%S.%f'), '%Y-%m-%d %H:%M:%S.%f')) END, timestamp '2001-02-03 04:05:06')`,
    );
    expect([unit, row?.c]).toEqual([unit, 0]);
  }
});

test.each([
  '%Y-%m-%d',
  '%H:%M',
  '%H:%M:%S %j',
  '%H h',
  '%I %p',
  '%M',
  '%X',
  '%j %a %V',
  'é%Y',
  '%Y%z',
])('strftime with %s writes many rows as one', async (format) => {
  const name = `moments${format.length}${format.charCodeAt(1)}${format.at(-1)?.charCodeAt(0)}`;
  const rows = Array.from({ length: 5000 }, (_, n) => ({
    at: n % 7 === 0 ? null : new Date((n >> 2) * 1_200_000 - 8e8 + (n & 3)),
  }));
  await catalog.db.createTable(name, rows);
  // With %f each row is written for itself.
  const [row] = await catalog.rows(
    `SELECT count(*) AS c, count(strftime(at, '${format}')) AS n FROM ${name}
         WHERE at IS NULL OR strftime(at, '${format}') || strftime(at, '%f') = strftime(at, '${format}%f')`,
  );
  expect(row).toEqual({ c: 5000, n: 4285 });
});

test.each<[expression: string, message: string]>([
  ["date_diff('era', d, d)", 'date_diff takes one of'],
  ["date_diff('day', d)", 'date_diff takes 3 arguments, not 2'],
  ["date_diff('day', d, 5)", 'date_diff takes a date or a timestamp'],
  ["date_diff('day', t, timestamptz '2024-01-01 00:00Z')", 'two times with a time zone'],
  ['make_date(2023, 2, 29)', 'There is no date of year 2023, month 2, day 29'],
  ['make_timestamp(2023, 2, 2, 24, 0, 0)', 'There is no time of day 24:0:0'],
  ['make_timestamp(300000, 1, 1, 0, 0, 0)', 'The result of make_timestamp is out of range'],
  ['make_timestamp(-300000, 1, n, 0, 0, 0)', 'The result of make_timestamp is out of range'],
  ["to_timestamp('2024')", 'to_timestamp takes a number of seconds'],
  ['d + 4000000000', 'does not fit date32'],
  ['d + 1.5', 'The operator + does not work on'],
  ["t - t > INTERVAL '1 month'", 'cannot be compared'],
  ['INTERVAL (n) x', 'a unit such as DAY is expected'],
  ['INTERVAL 5', 'a unit such as DAY is expected'],
  ["INTERVAL '1 month' * 4000000000", 'out of range'],
])('refuses %s', async (expression, message) => {
  await expect(textOf(expression)).rejects.toThrow(message);
});
