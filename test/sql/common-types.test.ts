/** Decimals beside floats and beside longer literals, dates beside text: as PostgreSQL 15 has them. */
import { describe, expect, it } from 'vitest';
import {
  Bool,
  DateDay,
  Decimal,
  Duration,
  Field,
  Float16,
  Float32,
  Float64,
  Int32,
  makeData,
  makeVector,
  Schema,
  Timestamp,
  TimestampMicrosecond,
  TimeUnit,
  type Vector,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { bindValue } from '../../src/sql/bind/index.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { parseExpression } from '../../src/sql/parse/index.ts';
import { seededChoices } from '../helpers/random-expression.ts';

function decimals(values: readonly bigint[], type: Decimal): Vector {
  const words = new BigInt64Array(2 * values.length);
  for (const [row, value] of values.entries()) {
    words[2 * row] = value;
    words[2 * row + 1] = value < 0n ? -1n : 0n;
  }
  const data = new Uint32Array(words.buffer);
  return makeVector(makeData({ type, length: values.length, nullCount: 0, data } as never));
}

const money = new Decimal(2, 12, 128);
const vectors: Readonly<Record<string, Vector>> = {
  i: vectorFromArray([5, 6], new Int32()),
  e: vectorFromArray([99.99, 0.1], new Float64()),
  m: decimals([9999n, 10n], money),
  n: decimals([1000n, -1000n], new Decimal(4, 14, 128)),
  f: vectorFromArray([true, false], new Bool()),
  dt: vectorFromArray([new Date('2020-02-29'), new Date('2020-03-01')], new DateDay()),
};
const schema = new Schema(
  Object.entries(vectors).map(([name, { type }]) => new Field(name, type, true)),
);
const source = { numRows: 2, getChild: (name: string) => vectors[name] ?? null };

async function values(sql: string): Promise<unknown[]> {
  const compiled = await compileExpression(`CAST(${sql} AS text)`, schema);
  const vector = compiled.evaluate(source);
  return [vector.get(0), vector.get(1)];
}

describe('a decimal beside a float is compared as float64', () => {
  it.each([
    ['e = m', 'true'],
    ['m = e', 'true'],
    ['e <> m', 'false'],
    ['e > m', 'false'],
    ['e < m', 'false'],
    ['e >= m', 'true'],
    ['e IS DISTINCT FROM m', 'false'],
    ['CAST(m AS double) = m', 'true'],
    ['CAST(m AS double) IN (m)', 'true'],
    ['CAST(m AS double) IN (m, 7)', 'true'],
    ['e IN (m, 1)', 'true'],
    ['e = ANY(make_array(m, 1))', 'true'],
    ['nullif(e, m)', null],
    ['CASE e WHEN m THEN 1 ELSE 0 END', '1'],
    ['e BETWEEN m AND m', 'true'],
    ['m BETWEEN e AND 100', ['true', 'true']],
    ['m IN (CAST(99.99 AS double), CAST(0.1 AS double))', 'true'],
    ['m = CAST(99.99 AS double) OR m = CAST(0.1 AS double)', 'true'],
    ['m BETWEEN CAST(0.1 AS double) AND 99.99', 'true'],
    ['e = CAST(99.99 AS decimal(12, 2)) OR e = CAST(0.1 AS decimal(12, 2))', 'true'],
    ['e IN (CAST(99.99 AS decimal(12, 2)), CAST(0.1 AS decimal(12, 2)))', 'true'],
    ['CAST(0.1 AS decimal(3, 1)) = CAST(0.1 AS double)', 'true'],
    ["m < CAST('NaN' AS double)", 'true'],
    ["m > CAST('-inf' AS double)", 'true'],
    ['e - m = 0', 'true'],
    // The float of 0.1 lies above 0.1, which exact digits would tell.
    ['CAST(0.1 AS double) > CAST(0.1 AS decimal(3, 1))', 'false'],
    ['CAST(CAST(0.1 AS float) AS double) = CAST(0.1 AS decimal(3, 1))', 'false'],
  ])('%s', async (sql, expected) => {
    const both = Array.isArray(expected) ? expected : [expected, expected];
    expect(await values(sql)).toEqual(both);
  });

  it('never loses a row to statistics that the comparison keeps', async () => {
    const random = seededChoices(Number(process.env.PRUNE_SEED ?? 7));
    const decided = { none: 0, some: 0, all: 0 };
    for (let n = 0; n < 400; n++) {
      const cents = Array.from({ length: 2 }, () => BigInt(random.int(40)));
      const floats = cents.map((cent) => Number(cent + BigInt(random.int(2))) / 100);
      const columns: Record<string, Vector> = {
        m: decimals(cents, money),
        e: vectorFromArray(floats, new Float64()),
      };
      const of = { numRows: 2, getChild: (name: string) => columns[name] ?? null };
      const two = new Schema(
        ['m', 'e'].map((name) => new Field(name, columns[name]?.type as Decimal, true)),
      );
      const number = (random.int(40) / 100).toString();
      const constant = random.pick([
        `CAST(${number} AS double)`,
        `CAST(${number} AS decimal(9, 2))`,
        number,
      ]);
      const op = random.pick(['=', '<>', '<', '<=', '>', '>=']);
      const side = random.pick(['m', 'e']);
      const sql = random.pick([
        `${side} ${op} ${constant}`,
        `${side} IN (${constant}, 0.07)`,
        `NOT (${side} ${op} ${constant})`,
        `${side} BETWEEN ${constant} AND CAST(0.3 AS double)`,
        `e ${op} m`,
      ]);
      const compiled = await compilePredicate(sql, two);
      const order = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : 1);
      const pruned = compiled.prune(([name]) => {
        const all = (name === 'm' ? cents : floats).toSorted(order);
        return { rows: 2, nulls: 0, hasNaN: false, min: all[0], max: all[1] };
      });
      decided[pruned]++;
      const matching = compiled.count(of);
      if (pruned === 'none') expect(matching, sql).toBe(0);
      if (pruned === 'all') expect(matching, sql).toBe(2);
    }
    expect(decided.none).toBeGreaterThan(20);
    expect(decided.all).toBeGreaterThan(20);
  });
});

describe('the type of decimals and literals is a decimal of all their digits', () => {
  it.each([
    ['coalesce(m, 0.001)', ['99.990', '0.100']],
    ['coalesce(NULL, m, 0.125)', ['99.990', '0.100']],
    ['coalesce(m, 1e-3)', ['99.990', '0.100']],
    ['coalesce(nullif(m, m), 0.001)', ['0.001', '0.001']],
    ['coalesce(m, 12345678901234567.89)', ['99.99', '0.10']],
    [
      'coalesce(nullif(m, m), 12345678901234567.89)',
      ['12345678901234567.89', '12345678901234567.89'],
    ],
    ['CASE WHEN f THEN m ELSE 0.125 END', ['99.990', '0.125']],
    ['greatest(m, 0.125)', ['99.990', '0.125']],
    ['least(m, 0.125)', ['0.125', '0.100']],
    ['coalesce(m, n)', ['99.9900', '0.1000']],
    ['coalesce(m, i)', ['99.99', '0.10']],
    ['nullif(m, 0.10000)', ['99.99', null]],
    // A constant of a decimal type of its own.
    ['coalesce(m, CAST(3 AS decimal(18, 3)))', ['99.990', '0.100']],
    ['CASE WHEN f THEN m ELSE CAST(3 AS decimal(18, 3)) END', ['99.990', '3.000']],
    ['CASE WHEN f THEN CAST(3 AS decimal(18, 3)) ELSE i END', ['3.000', '6.000']],
    // Of a decimal and a float it is float64.
    ['coalesce(m, e)', ['99.99', '0.1']],
    ['greatest(m, CAST(0.5 AS double))', ['99.99', '0.5']],
    ['CASE WHEN f THEN m ELSE e END', ['99.99', '0.1']],
    ['coalesce(e, m, 0.001)', ['99.99', '0.1']],
  ])('%s', async (sql, expected) => {
    expect(await values(sql)).toEqual(expected);
  });

  it('has 38 digits at most, and a column keeps what it can hold', async () => {
    await expect(values('coalesce(m, 1e-39)')).rejects.toThrow('38 digits');
    await expect(values('coalesce(m, 1e38)')).rejects.toThrow('38 digits');
    const tree = parseExpression('12345678901.00');
    expect(() => bindValue(tree, schema, money)).toThrow('without loss');
    expect(bindValue(parseExpression('1234567890.12'), schema, money)).toMatchObject({
      value: 123456789012n,
    });
  });
});

describe('sums, differences and products of literals keep all digits', () => {
  it.each([
    ['0.06 + 0.01 = 0.07', ['true', 'true']],
    ['CAST(0.07 AS decimal(4, 2)) BETWEEN 0.06 - 0.01 AND 0.06 + 0.01', ['true', 'true']],
    ['1.1 * 1.1', ['1.21', '1.21']],
    ['-(0.1 + 0.2)', ['-0.3', '-0.3']],
    ['m + (0.1 - 3)', ['97.09', '-2.80']],
    ['coalesce(m, 0.001 + 1)', ['99.990', '0.100']],
    // Beyond 38 digits, and of doubles, as of doubles.
    ['1e308 * 10', ['inf', 'inf']],
    ['1e-30 * 1e-30', ['1.0000000000000001e-60', '1.0000000000000001e-60']],
    ['CAST(0.1 AS double) + 0.2 = 0.3', ['false', 'false']],
    // Whole numbers are still divided as such.
    ['(1 + 2) / 2', ['1', '1']],
  ])('%s', async (sql, expected) => {
    expect((await values(sql)).map((value) => (value === null ? null : String(value)))).toEqual(
      expected,
    );
  });
});

describe('a date compares with the day that a text says', () => {
  it.each([
    ["dt = '2020-02-29 12:00'", ['true', 'false']],
    ["'2020-02-29 12:00' = dt", ['true', 'false']],
    ["dt < '2020-02-29 12:00'", ['false', 'false']],
    ["dt <= '2020-02-29 12:00'", ['true', 'false']],
    ["dt > '2020-02-29 12:00'", ['false', 'true']],
    ["dt <> '2020-02-29 12:00'", ['false', 'true']],
    ["dt IN ('2020-02-29 12:00')", ['true', 'false']],
    ["dt IN ('2020-02-29 12:00', '1999-01-01')", ['true', 'false']],
    ["dt NOT IN ('2020-02-29 12:00', '1999-01-01')", ['false', 'true']],
    ["dt BETWEEN '2020-02-29 12:00' AND '2020-02-29 01:00'", ['true', 'false']],
    ["dt = '2020-02-29T23:00:00+05:00'", ['true', 'false']],
    ["dt = '2020-02-29T23:00:00-05:00'", ['true', 'false']],
    ["CASE dt WHEN '2020-02-29 12:00' THEN 1 ELSE 0 END", ['1', '0']],
    ["nullif(dt, '2020-02-29 12:00')", [null, '2020-03-01']],
    ["dt IS DISTINCT FROM '2020-02-29 12:00'", ['false', 'true']],
    ["dt = ANY(ARRAY['2020-02-29 12:00'])", ['true', 'false']],
    ["dt = date '2020-02-29 12:00'", ['true', 'false']],
    // A timestamp is no text: midnight is compared with it.
    ["dt = timestamp '2020-02-29 12:00'", ['false', 'false']],
    ["dt < timestamp '2020-02-29 12:00'", ['true', 'false']],
  ])('%s', async (sql, expected) => {
    expect(await values(sql)).toEqual(expected);
  });

  it('holds no time of day as data', () => {
    expect(() => bindValue(parseExpression("'2020-02-29 12:00'"), schema, new DateDay())).toThrow();
  });
});

describe('numbers beyond the doubles are out of range', () => {
  it.each(['1e309', '1e400', '1e401', '-1e309', `1${'0'.repeat(309)}`])('%s', async (number) => {
    for (const sql of [
      number,
      `e < ${number}`,
      `e IN (${number}, 1)`,
      `m IN (${number}, 1)`,
      `i IN (${number}, 1)`,
    ]) {
      await expect(values(sql), sql).rejects.toThrow('is out of range');
    }
    await expect(values(`CAST('${number}' AS double)`)).rejects.toThrow('does not fit float64');
  });

  it('numbers in a base have digits of it, in texts too', async () => {
    expect(await values("CAST('0b11' AS int) + CAST('-0o17' AS int) = -12")).toEqual([
      'true',
      'true',
    ]);
    for (const text of ['0b2', '0o8', '0x', '0xg', '0b'])
      await expect(values(`CAST('${text}' AS int)`), text).rejects.toMatchObject({
        code: 'InvalidInput',
      });
  });

  it('and the largest is not', async () => {
    expect(await values('e < 1.7976931348623157e308')).toEqual(['true', 'true']);
    expect(await values("CAST('inf' AS double) > e")).toEqual(['true', 'true']);
  });
});

describe('a literal beyond the type that it meets', () => {
  const fine = new Timestamp(TimeUnit.NANOSECOND, null);
  it.each([
    ["'9999-01-01'", fine],
    ["TIMESTAMP '9999-01-01'", fine],
    ["'9999999-01-01'", new TimestampMicrosecond()],
    ["'9999999-01-01'", new DateDay()],
    ["'300000 days'", new Duration(TimeUnit.NANOSECOND)],
    ['1e39', new Float32()],
    ['-1e300', new Float32()],
    ['65520.0', new Float16()],
  ])('%s is no value of %s', (sql, type) => {
    expect(() => bindValue(parseExpression(sql), schema, type)).toThrow('without loss');
  });

  it.each([
    ["'2262-04-11 23:47:16.854775807'", fine, 2n ** 63n - 1n],
    ["'1677-09-21 00:12:43.145224192'", fine, -(2n ** 63n)],
    ["'5881580-07-11'", new DateDay(), 2 ** 31 - 1],
    ["'-5877641-06-23'", new DateDay(), -(2 ** 31)],
    ['3.4028235e38', new Float32(), 3.4028234663852886e38],
    ['65504.0', new Float16(), 65504],
  ])('%s is the last one of %s', (sql, type, value) => {
    expect(bindValue(parseExpression(sql), schema, type)).toMatchObject({ value });
  });

  it('has a wider type beside a float, and none beside a time', async () => {
    const beside = 'CASE WHEN f THEN CAST(e AS real) ELSE 1e39 END > 1e38';
    expect(await values(beside)).toEqual(['false', 'true']);
    expect(await values("isnan(coalesce(CAST('NaN' AS real), 1e39))")).toEqual(['true', 'true']);
    const of = "CAST('2020-01-01' AS timestamp(9))";
    await expect(values(`coalesce(${of}, '9999-01-01')`)).rejects.toThrow('no type in common');
    await expect(values(`greatest(${of}, TIMESTAMP '9999-01-01')`)).rejects.toThrow(
      'cannot be taken as timestamp(ns) without loss',
    );
  });
});
