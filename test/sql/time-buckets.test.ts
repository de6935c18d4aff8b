/** time_bucket and date_bin: what DuckDB and PostgreSQL answer, and whole columns as single values. */
import { describe, expect, it } from 'vitest';
import {
  DateDay,
  Field,
  makeData,
  Schema,
  Timestamp,
  TimestampMicrosecond,
  TimeUnit,
} from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { bucketStart } from '../../src/sql/functions/time-buckets.ts';
import { reader } from '../../src/sql/typed/column.ts';
import { seeded } from '../helpers/seeded.ts';

const none = new Schema([]);

async function textOf(sql: string): Promise<unknown> {
  const expression = await compileExpression(`CAST(${sql} AS varchar)`, none);
  return expression.evaluate(recordBatch(none, [], 1)).get(0);
}

describe('the start of a bucket', () => {
  it.each([
    ["time_bucket(INTERVAL '15 minutes', TIMESTAMP '2024-05-06 07:08:09')", '2024-05-06T07:00:00'],
    ["time_bucket(INTERVAL '7 days', TIMESTAMP '2024-05-08 07:08:09')", '2024-05-06T00:00:00'],
    ["time_bucket(INTERVAL '2 weeks', DATE '1999-12-31')", '1999-12-20'],
    ["time_bucket(INTERVAL '36 hours', DATE '2000-01-05')", '2000-01-04'],
    [
      "CAST(time_bucket(INTERVAL '36 hours', arrow_cast(DATE '2000-01-05', 'Date64')) AS bigint)",
      '946944000000',
    ],
    ["time_bucket(INTERVAL '7 months', DATE '1717-01-02')", '1716-07-01'],
    ["time_bucket('1 year', TIMESTAMP '1999-12-31 23:59:59')", '1999-01-01T00:00:00'],
    // An origin, and an offset.
    [
      "time_bucket(INTERVAL '1 hour', TIMESTAMP '2024-05-06 07:08:09', TIMESTAMP '2000-01-01 00:30:00')",
      '2024-05-06T06:30:00',
    ],
    [
      "time_bucket(INTERVAL '1 hour', TIMESTAMP '2024-05-06 07:08:09', INTERVAL '10 minutes')",
      '2024-05-06T06:10:00',
    ],
    ["time_bucket(INTERVAL '1 month', DATE '2024-03-10', INTERVAL '14 days')", '2024-02-15'],
    [
      "time_bucket(INTERVAL '1 month', DATE '2024-03-10', TIMESTAMP '2000-01-01')",
      '2024-03-01T00:00:00',
    ],
    // PostgreSQL's own example, and DataFusion's origin.
    [
      "date_bin(INTERVAL '15 minutes', TIMESTAMP '2020-02-11 15:44:17', TIMESTAMP '2001-01-01 00:02:30')",
      '2020-02-11T15:32:30',
    ],
    ["date_bin(INTERVAL '7 days', TIMESTAMP '1970-01-09 01:00:00')", '1970-01-08T00:00:00'],
    ["time_bucket(INTERVAL '1 day', NULL)", null],
    ["time_bucket(NULL, DATE '2024-01-01')", null],
  ])('%s', async (sql, expected) => {
    expect(await textOf(sql)).toBe(expected);
  });

  it('is by the clock of the zone, an hour that comes twice being two', async () => {
    const type = new Timestamp(TimeUnit.MICROSECOND, 'Europe/Berlin');
    const schema = new Schema([new Field('t', type, true)]);
    const starts = async (width: string, ...times: string[]): Promise<string[]> => {
      const values = BigInt64Array.from(times, (time) => BigInt(Date.parse(time)) * 1000n);
      const data = makeData({ type, length: values.length, data: values });
      const expression = await compileExpression(`time_bucket(INTERVAL '${width}', t)`, schema);
      const column = expression.evaluate(recordBatch(schema, [data], values.length));
      return times.map((_, row) => new Date(Number(column.get(row))).toISOString().slice(0, 16));
    };
    // On the last Sunday of October, clocks go from 03:00 back to 02:00 at 01:00 UTC.
    const [first, second] = ['2024-10-27T00:20:00Z', '2024-10-27T01:20:00Z'];
    expect(await starts('1 hour', first, second)).toEqual(['2024-10-27T00:00', '2024-10-27T01:00']);
    expect(await starts('1 day', first, second)).toEqual(['2024-10-26T22:00', '2024-10-26T22:00']);
    expect(await starts('1 month', first)).toEqual(['2024-09-30T22:00']);
    // On the last Sunday of March they go from 02:00 to 03:00: both are after 23:00 of the day before.
    const spring = await starts('5 hours', '2024-03-31T00:55:00Z', '2024-03-31T01:25:00Z');
    expect(spring).toEqual(['2024-03-30T22:00', '2024-03-30T22:00']);
    expect(await starts('5 hours', '2024-03-30T22:00:00Z')).toEqual(['2024-03-30T22:00']);
  });
});

describe('a column', () => {
  const micros = new TimestampMicrosecond();
  const day = new DateDay();
  const memory = new RequestMemory(2 ** 30).batch();
  const WEEK = 7n * 86_400_000_000_000n;

  it.each([
    ['hours', { nanos: 3_600_000_000_000n }, 1_800_000_000_000n, micros, 2 ** 45],
    ['odd microseconds', { nanos: 7_001_000n }, -5_000n, micros, 2 ** 52],
    ['weeks of dates', { nanos: WEEK }, -3n * 86_400_000_000_000n, day, 2 ** 20],
    ['months', { months: 5 }, 86_400_000_000_000n, micros, 2 ** 52],
  ])('is bucketed at once, by %s, as values are', (_, width, origin, type, most) => {
    const random = seeded(41);
    const values = Float64Array.from({ length: 500 }, () => Math.floor((random() - 0.5) * most));
    const plain = type === day ? [...values] : Array.from(values, BigInt);
    const run = bucketStart('time_bucket', width, origin, type);
    const base = { type, length: values.length };
    const whole = run.evaluate(
      [{ ...base, form: 'number', values, valid: null }],
      500,
      type,
      memory,
    );
    const single = run.evaluate([{ ...base, form: 'values', values: plain }], 500, type, memory);
    // Numbers, not bigints: the whole column was computed in one pass.
    expect(whole.form === 'number' && whole.values instanceof Float64Array).toBe(true);
    const [one, other] = [reader(whole), reader(single)];
    for (let row = 0; row < 500; row++) expect(one(row)).toEqual(other(row));
  });

  it('falls back where a double does not hold the start', () => {
    const least = Number.MIN_SAFE_INTEGER;
    const run = bucketStart('time_bucket', { nanos: 7_000n }, 0n, micros);
    const column = { form: 'number', type: micros, length: 1, valid: null } as const;
    const made = run.evaluate([{ ...column, values: Float64Array.of(least) }], 1, micros, memory);
    const start = reader(made)(0) as bigint;
    expect(start % 7n).toBe(0n);
    expect(BigInt(least) - start).toBeGreaterThanOrEqual(0n);
    expect(BigInt(least) - start).toBeLessThan(7n);
  });
});

describe('is refused', () => {
  it.each([
    ["time_bucket(INTERVAL '0 days', DATE '2024-01-01')", 'a width above 0'],
    ["time_bucket(INTERVAL '-1 hour', DATE '2024-01-01')", 'a width above 0'],
    ["time_bucket(INTERVAL '1 month 1 day', DATE '2024-01-01')", 'not of both'],
    ["time_bucket(3, DATE '2024-01-01')", 'takes a constant interval first'],
    ["time_bucket(INTERVAL '1 day', 3)", 'takes a date or a timestamp, not'],
    ["time_bucket(INTERVAL '1 day')", 'takes 2 or 3 arguments, not 1'],
    ["date_bin(INTERVAL '1 day', DATE '2024-01-01', 5)", 'takes a date or a timestamp, not'],
    [
      "time_bucket(INTERVAL '1 day', DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00Z')",
      'a constant time without a time zone as the origin',
    ],
  ])('%s', async (sql, message) => {
    await expect(textOf(sql)).rejects.toThrow(message);
  });
});
