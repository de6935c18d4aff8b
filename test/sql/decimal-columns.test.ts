/** Functions of decimals over whole columns give what they give value by value, in one pass. */
import { describe, expect, it } from 'vitest';
import { Decimal, Int64 } from '../../src/arrow/apache.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { decimalColumn } from '../../src/sql/evaluate/decimal-columns.ts';
import { evaluateArithmetic } from '../../src/sql/evaluate/evaluate-arithmetic.ts';
import { toVector } from '../../src/sql/evaluate/to-arrow.ts';
import { EXTREME_FUNCTIONS, NUMBER_FUNCTIONS } from '../../src/sql/functions/numbers.ts';
import { type Column, constantColumn, reader } from '../../src/sql/typed/column.ts';
import { seeded } from '../helpers/seeded.ts';

const memory = new RequestMemory(2 ** 40).batch();
const type = new Decimal(2, 38, 128);
const random = seeded(5);
const unscaled = [
  ...[0n, 5n, -5n, 49n, 50n, 51n, -49n, -50n, -51n, 100n, -100n, 149n, 150n, -150n],
  ...Array.from({ length: 300 }, () => BigInt(Math.floor((random() - 0.5) * 2 ** 44))),
];
const valid = Uint8Array.from(unscaled, (_, row) => (row % 11 === 4 ? 0 : 1));
const length = unscaled.length;
const wide: Column = {
  ...{ form: 'wide', type, length },
  ...{ values: BigInt64Array.from(unscaled), valid },
};
const single: Column = {
  ...{ form: 'values', type, length },
  values: unscaled.map((value, row) => (valid[row] === 0 ? null : value)),
};
const read = (column: Column): unknown[] =>
  Array.from({ length }, (_, row) => reader(column)(row) ?? null);

describe.each(['abs', 'negate', 'sign', 'floor', 'ceil', 'trunc', 'round'])('%s', (name) => {
  const run = NUMBER_FUNCTIONS[name];
  const digits =
    name === 'trunc' || name === 'round' ? [undefined, -2n, -1n, 0n, 1n, 2n, 5n] : [undefined];

  it.each(digits)('of decimals, digits %s', (places) => {
    const more = places === undefined ? [] : [constantColumn(new Int64(), places, length)];
    const whole = run?.evaluate([wide, ...more], length, type, memory) as Column;
    expect(whole.form).toBe('number');
    expect(read(whole)).toEqual(
      read(run?.evaluate([single, ...more], length, type, memory) as Column),
    );
    // A negative zero is no decimal.
    expect(whole.form === 'number' && whole.values.some((value) => Object.is(value, -0))).toBe(
      false,
    );
  });

  it('falls back beyond 2^53', () => {
    const big: Column = {
      form: 'wide',
      type,
      length: 1,
      values: BigInt64Array.of(2n ** 60n + 1n),
      valid: null,
    };
    const value = run?.evaluate([big], 1, type, memory) as Column;
    const bySingle = run?.evaluate(
      [{ form: 'values', type, length: 1, values: [2n ** 60n + 1n] }],
      ...([1, type, memory] as const),
    ) as Column;
    expect(reader(value)(0)).toBe(reader(bySingle)(0));
  });
});

it.each(['greatest', 'least'])('%s of decimals', (name) => {
  const other: Column = {
    form: 'wide',
    type,
    length,
    values: BigInt64Array.from(unscaled).reverse(),
    valid: null,
  };
  const single2: Column = { form: 'values', type, length, values: unscaled.toReversed() };
  const run = EXTREME_FUNCTIONS[name];
  const whole = run?.evaluate([wide, other], length, type, memory) as Column;
  expect(whole.form).toBe('number');
  expect(read(whole)).toEqual(
    read(run?.evaluate([single, single2], length, type, memory) as Column),
  );
});

describe('the remainder of decimals', () => {
  it('has the sign of the dividend, at the finer scale', () => {
    const divisor = constantColumn(new Decimal(1, 5, 128), 7n, length);
    const whole = decimalColumn('%', wide, divisor, new Decimal(2, 15, 128));
    expect(whole?.form).toBe('number');
    // 0.7 is 70 hundredths.
    const expected = unscaled.map((value, row) => (valid[row] === 0 ? null : value % 70n));
    expect(read(whole as Column)).toEqual(expected);
  });

  it('is left to the rows where the divisor is zero', () => {
    const zero = constantColumn(type, 0n, length);
    expect(decimalColumn('%', wide, zero, type)).toBeNull();
  });
});

/** Half away from zero, of exact integers. */
function divided(dividend: bigint, divisor: bigint): bigint {
  const [a, b] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
  const size = (2n * a + b) / (2n * b);
  return dividend < 0n === divisor < 0n ? size : -size;
}

describe('the quotient of decimals', () => {
  const rows = 3_000;
  const some = (most: number): bigint => {
    const bits = 1 + Math.floor(random() * most);
    const value = BigInt.asUintN(
      bits,
      BigInt(Math.floor(random() * 2 ** 32)) * 0x9e3779b97f4a7c15n,
    );
    return random() < 0.5 ? -value : value;
  };
  const column = (scale: number, values: BigInt64Array, present: Uint8Array | null): Column => ({
    ...{ form: 'wide', type: new Decimal(scale, 19, 128), length: rows },
    ...{ values, valid: present },
  });

  it.each([
    [0, 0, 0, 63, 63],
    [2, 0, 6, 40, 63],
    [0, 3, 12, 20, 20],
    [4, 2, 8, 45, 40],
    [2, 2, 19, 3, 5],
    [0, 9, 10, 2, 63],
    [10, 4, 6, 63, 63],
  ])('is exact, of scales %d and %d to %d, of %d and %d bits', (s, t, scale, a, b) => {
    const present = Uint8Array.from({ length: rows }, (_, row) => (row % 13 === 5 ? 0 : 1));
    const left = BigInt64Array.from({ length: rows }, () => some(a));
    // Small divisors have remainders of a half.
    const right = BigInt64Array.from({ length: rows }, (_, row) =>
      present[row] === 0 ? 0n : some(row % 3 === 0 ? 3 : b) || 1n,
    );
    const power = 10n ** BigInt(scale + t - s);
    const expected = Array.from(left, (value, row) =>
      present[row] === 0 ? null : divided(value * power, right[row] as bigint),
    );
    const type = new Decimal(scale, 38, 128);
    const whole = decimalColumn('/', column(s, left, present), column(t, right, present), type);
    expect(Array.from({ length: rows }, (_, row) => whole && reader(whole)(row))).toEqual(expected);
    const computed = evaluateArithmetic(
      '/',
      column(s, left, present),
      column(t, right, present),
      type,
    );
    expect(Array.from({ length: rows }, (_, row) => reader(computed)(row) ?? null)).toEqual(
      expected,
    );
  });

  it('is exact at the ends of 64 and of 128 bits, and left to the rows beyond its digits', () => {
    const ends = [2n ** 63n - 1n, -(2n ** 63n), 1n, -1n, 2n ** 32n, 2n ** 32n - 1n, -5n];
    const divisors = [...ends, 3n, -2n, 2n ** 32n + 1n, 10n ** 18n];
    for (const scale of [0, 1, 9, 18, 19]) {
      const type = new Decimal(scale, 38, 128);
      for (const dividend of ends) {
        for (const divisor of divisors) {
          const left = new BigInt64Array(rows).fill(dividend);
          const right = new BigInt64Array(rows).fill(divisor);
          const expected = divided(dividend * 10n ** BigInt(scale), divisor);
          const fits = expected < 10n ** 38n && expected > -(10n ** 38n);
          const whole = decimalColumn('/', column(0, left, null), column(0, right, null), type);
          expect(whole && reader(whole)(rows - 1), `${dividend} / ${divisor}`).toBe(
            fits ? expected : null,
          );
        }
      }
    }
  });

  it('has few of many bits among others', () => {
    const left = BigInt64Array.from({ length: 20_000 }, (_, row) => BigInt(row - 10_000));
    left[9_000] = 10n ** 18n;
    const of = { form: 'wide', length: left.length, valid: null } as const;
    const given: Column = { ...of, type: new Decimal(0, 19, 128), values: left };
    const by = constantColumn(new Decimal(0, 1, 128), -3n, left.length);
    const whole = decimalColumn('/', given, by, new Decimal(12, 38, 128)) as Column;
    const expected = Array.from(left, (value) => divided(value * 10n ** 12n, -3n));
    expect(Array.from(left, (_, row) => reader(whole)(row))).toEqual(expected);
  });
});

it('decimals of any width become words of Arrow', () => {
  const values = [0n, 1n, -1n, 2n ** 53n, -(2n ** 63n), 2n ** 63n - 1n, null];
  const present = Uint8Array.from(values, (value) => (value === null ? 0 : 1));
  for (const bits of [64, 128, 256]) {
    const of = { type: new Decimal(3, 18, bits), length: values.length };
    const plain = values.map((value) => value ?? 0n);
    const columns: Column[] = [
      { ...of, form: 'wide', values: BigInt64Array.from(plain), valid: present },
      { ...of, form: 'wide', values: plain, valid: present },
      { ...of, form: 'values', values },
    ];
    const safe = values.map((value) =>
      value !== null && value < 2n ** 62n && value > -(2n ** 62n) ? Number(value) : 0,
    );
    const words = columns.map((column) => toVector(column, of.type, memory).data[0]?.values);
    expect(words[1]).toEqual(words[0]);
    expect(words[2]).toEqual(words[0]);
    const numbers = {
      ...of,
      form: 'number',
      values: Float64Array.from(safe),
      valid: null,
    } as const;
    const bigints = { ...of, form: 'values', values: safe.map(BigInt) } as const;
    expect(toVector(numbers, of.type, memory).data[0]?.values).toEqual(
      toVector(bigints, of.type, memory).data[0]?.values,
    );
  }
});
