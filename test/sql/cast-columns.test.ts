/** Casts of whole columns give what casts value by value give, and are taken where they can be. */
import { describe, expect, it } from 'vitest';
import {
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Duration,
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
