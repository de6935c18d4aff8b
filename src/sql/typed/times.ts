/**
 * `timesOf` reads a column of dates, or of timestamps without a time zone, as numbers in their unit,
 * with the units that a day has. It returns null for other columns, and for values that a double
 * does not hold exactly. `dayOf` returns the day that such a number is in.
 */
import type { DataType } from '../../arrow/index.ts';
import { NANOS_OF_DAY } from '../../values/index.ts';
import { nanosPerUnit } from './coerce.ts';
import { asSafeNumbers, type Column, type NumberArray } from './column.ts';
import { familyOf, timeZoneOf } from './types.ts';

/** Values of a column of dates or timestamps, and how many units of it a day has. */
export interface Times {
  readonly values: NumberArray;
  readonly perDay: number;
  readonly perUnit: number;
  readonly column: Extract<Column, { form: 'number' | 'wide' }>;
}

export function timesOf(column: Column | undefined, type: DataType): Times | null {
  if (column?.form !== 'number' && column?.form !== 'wide') return null;
  const family = familyOf(type);
  if ((family !== 'date' && family !== 'timestamp') || timeZoneOf(type) !== null) return null;
  const values = column.form === 'number' ? column.values : asSafeNumbers(column);
  if (values === null) return null;
  const perUnit = Number(nanosPerUnit(type));
  return { values, perUnit, perDay: NANOS_OF_DAY / perUnit, column };
}

/** Exact: the quotient of whole numbers within 2^53 never rounds to the next whole number. */
export const dayOf = (value: number, perDay: number): number => Math.floor(value / perDay);
