/** Functions of decimals over whole columns give what they give value by value, in one pass. */
import { describe, expect, it } from 'vitest';
import { Decimal, Int64 } from '../../src/arrow/apache.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { decimalColumn } from '../../src/sql/evaluate/decimal-columns.ts';
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
