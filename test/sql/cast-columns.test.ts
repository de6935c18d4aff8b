/** Casts of whole columns give what casts value by value give, and are taken where they can be. */
import { describe, expect, it } from 'vitest';
import {
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Duration,
  Float16,
  Float32,
  Float64,
  Int32,
  Int64,
  TimeMillisecond,
  Timestamp,
  TimestampNanosecond,
  TimestampSecond,
  TimeUnit,
  Utf8,
} from '../../src/arrow/apache.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { castColumn } from '../../src/sql/evaluate/cast.ts';
import { type Column, columnOf, reader } from '../../src/sql/typed/column.ts';
import { isWide } from '../../src/sql/typed/types.ts';
import { doubleToExact } from '../../src/values/index.ts';
import { seeded } from '../helpers/seeded.ts';

const day = new DateDay();
const millis = new DateMillisecond();
const seconds = new TimestampSecond();
const nanos = new TimestampNanosecond();
const int64 = new Int64();
const zoned = new Timestamp(TimeUnit.SECOND, 'Europe/Berlin');
const memory = new RequestMemory(2 ** 40).batch();

/** From a type with numbers below a bound to another; `inOne` where all values are cast in one pass. */
const CASES: readonly (readonly [from: DataType, most: number, to: DataType, inOne: boolean])[] = [
  [day, 2 ** 17, int64, true],
  [day, 2 ** 17, seconds, true],
  [day, 2 ** 17, nanos, false],
  [day, 2 ** 17, millis, true],
  [day, 2 ** 17, new Utf8(), true],
  [millis, 2 ** 43, day, true],
  [millis, 2 ** 43, new Utf8(), true],
  [seconds, 2 ** 35, day, true],
  [seconds, 2 ** 35, int64, true],
  [seconds, 2 ** 35, new Int32(), false],
  [seconds, 2 ** 22, nanos, true],
  [nanos, 2 ** 52, seconds, true],
  [nanos, 2 ** 52, millis, true],
  [day, 2 ** 17, zoned, false],
  [zoned, 2 ** 35, day, false],
  [int64, 2 ** 20, day, true],
  [int64, 2 ** 40, day, false],
  [int64, 2 ** 40, seconds, true],
  [int64, 2 ** 20, new Duration(TimeUnit.MILLISECOND), true],
  [new Duration(TimeUnit.MILLISECOND), 2 ** 40, int64, true],
  [new TimeMillisecond(), 2 ** 26, int64, true],
  [new Decimal(2, 15, 128), 2 ** 50, int64, true],
  [new Decimal(0, 15, 128), 2 ** 50, int64, true],
  [new Decimal(2, 15, 128), 2 ** 50, new Float64(), true],
  [new Decimal(7, 15, 128), 2 ** 50, new Float32(), true],
  [new Decimal(4, 15, 128), 2 ** 30, new Float16(), false],
  [new Decimal(2, 15, 128), 2 ** 45, new Int32(), false],
  [new Decimal(2, 15, 128), 2 ** 45, new Decimal(1, 15, 128), true],
  [new Decimal(3, 15, 128), 2 ** 45, new Decimal(1, 15, 128), true],
  [new Decimal(2, 15, 128), 2 ** 38, new Decimal(5, 38, 128), true],
  [new Decimal(2, 15, 128), 2 ** 45, new Decimal(2, 9, 128), false],
  [int64, 2 ** 30, new Decimal(4, 18, 128), true],
  [new Int32(), 2 ** 20, new Decimal(2, 10, 128), true],
  [int64, 2 ** 50, new Decimal(6, 38, 128), false],
];

/** A column of numbers as they are loaded, every seventh of which is null. */
function given(
  type: DataType,
  most: number,
): { column: Column; values: (number | bigint | null)[] } {
  const random = seeded(most % 1009);
  const values = Array.from({ length: 300 }, (_, row) => {
    const number = Math.floor((random() - 0.5) * most);
    if (row % 7 === 3) return null;
    return isWide(type) || type instanceof Decimal ? BigInt(number) : number;
  });
  return { column: columnOf(type, values), values };
}

describe.each(CASES)('%s below %d as %s', (from, most, to, inOne) => {
  it.each(['explicit', 'lenient', 'lossless'] as const)('is the same column, %s', (mode) => {
    const { column, values } = given(from, most);
    const single: Column = { form: 'values', type: from, length: values.length, values };
    const whole = outcome(() => castColumn(column, to, mode, memory));
    expect(whole).toEqual(outcome(() => castColumn(single, to, mode, memory)));
  });

  // Narrow columns are numbers either way.
  const isTold = isWide(to) || to instanceof Utf8;
  it.runIf(isTold)(`is ${inOne ? '' : 'not '}cast in one pass`, () => {
    const { column } = given(from, most);
    const cast = (): Column => castColumn(column, to, 'explicit', memory);
    expect(isOfNumbers(cast)).toBe(inOne);
  });
});

/** The values, or the message of what was thrown. */
function outcome(cast: () => Column): unknown {
  try {
    const column = cast();
    return Array.from({ length: column.length }, (_, row) => reader(column)(row) ?? null);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Values one by one become a wide column, or plain values; dates as texts share their bytes. */
function isOfNumbers(cast: () => Column): boolean {
  try {
    const column = cast();
    if (column.form === 'bytes') return !column.dense;
    return column.form === 'number' && column.values instanceof Float64Array;
  } catch {
    return false;
  }
}

it('keeps the texts of dates of earlier columns while others are written', () => {
  const texts = (first: number): Column =>
    castColumn(
      columnOf(
        day,
        Array.from({ length: 6000 }, (_, at) => first + at),
      ),
      new Utf8(),
      'explicit',
      memory,
    );
  const early = texts(0);
  const late = texts(100_000);
  expect([reader(early)(0), reader(early)(5999)]).toEqual(['1970-01-01', '1986-06-05']);
  expect(reader(late)(0)).toBe('2243-10-17');
});

it('gives the double nearest to a decimal of 64 bits, and the single one nearest to that', () => {
  const random = seeded(11);
  const word = (): bigint => BigInt(Math.floor(random() * 2 ** 32));
  for (const scale of [0, 1, 2, 3, 6, 9, 11, 12]) {
    const power = 10n ** BigInt(scale);
    const unscaled = Array.from({ length: 4_000 }, (_, row) => {
      const value = BigInt.asIntN(64, (word() << 32n) | word()) >> (word() % 40n);
      if (row % 2 === 0) return value;
      // The middle of two doubles, or the decimal nearest to it.
      const double = Math.abs(Number(value)) / 10 ** scale;
      const bits = new BigUint64Array(Float64Array.of(double).buffer)[0] as bigint;
      const next = new Float64Array(BigUint64Array.of(bits + 1n).buffer)[0] as number;
      const [low, high] = [double, next].map(doubleToExact);
      const shared = Math.max(low?.scale ?? 0, high?.scale ?? 0);
      const at = (one: typeof low): bigint =>
        (one?.unscaled ?? 0n) * 10n ** BigInt(shared - (one?.scale ?? 0));
      const middle = ((at(low) + at(high)) * power) / (2n * 10n ** BigInt(shared));
      return BigInt.asIntN(64, row % 4 === 1 ? middle : middle + 1n);
    });
    unscaled.push(2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 2n ** 54n + 2n, 0n, -1n);
    const from = new Decimal(scale, 19, 128);
    const column: Column = {
      ...{ form: 'wide', type: from, length: unscaled.length },
      ...{ values: BigInt64Array.from(unscaled), valid: null },
    };
    const texts = unscaled.map((value) => Number(`${value}e-${scale}`));
    for (const mode of ['explicit', 'lenient'] as const) {
      const whole = castColumn(column, new Float64(), mode, memory);
      expect(whole.form).toBe('number');
      expect(
        unscaled.map((_, row) => reader(whole)(row)),
        `scale ${scale}`,
      ).toEqual(texts);
      const single = castColumn(column, new Float32(), mode, memory);
      expect(unscaled.map((_, row) => reader(single)(row))).toEqual(texts.map(Math.fround));
    }
  }
});
