/**
 * `bucketStart` creates the function that returns the start of the bucket that a date or timestamp
 * is in, for time_bucket and date_bin. All buckets have the same width. Of those in nanoseconds one
 * begins at the origin. Those in months begin on the first day of a month, and one of them in the
 * month of the origin, whatever its day. A timestamp with a time zone is bucketed by the clock of
 * that zone. A start that is out of range throws InvalidInput.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  daysFromCivil,
  floorDivide,
  fromWallClock,
  monthNumber,
  NANOS_PER_DAY,
  toWallClock,
} from '../../values/index.ts';
import { clockZoneOf, isWide, nanosPerUnit, type RowFunction, type Value } from '../typed/index.ts';
import { bucketedColumn, truncatedColumn } from './date-columns.ts';
import { momentOf } from './dates.ts';
import { quicker, strict } from './rows.ts';

/** Either a whole number of months or of nanoseconds, above 0. */
export type BucketWidth = { readonly months: number } | { readonly nanos: bigint };

/**
 * @param name of the function, for its message
 * @param type of the times and of the result; its unit divides a width in nanoseconds, and the origin
 * @param origin nanoseconds since 1970, by the clock of the type's zone
 */
export function bucketStart(
  name: string,
  width: BucketWidth,
  origin: bigint,
  type: DataType,
): RowFunction {
  const zone = clockZoneOf(type);
  const perUnit = nanosPerUnit(type);
  const bits = isWide(type) ? 64 : 32;
  const firstDay = 'months' in width ? firstDayOf(width.months, origin) : undefined;
  const nanos = 'nanos' in width ? width.nanos : undefined;
  const compute = ([value]: readonly Value[]): Value => {
    const moment = momentOf(value, type);
    const clock = BigInt(moment.days) * NANOS_PER_DAY + moment.nanos;
    const start =
      nanos === undefined
        ? BigInt(firstDay?.(moment.days) ?? 0) * NANOS_PER_DAY
        : origin + floorDivide(clock - origin, nanos) * nanos;
    let instant = start;
    if (zone !== null) {
      // The moment that long before, if clocks were not set in between: of an hour that comes twice
      // it is in the same one.
      const before = BigInt(value as bigint) * perUnit - (clock - start);
      instant = toWallClock(before, zone) === start ? before : fromWallClock(start, zone);
    }
    const counted = floorDivide(instant, perUnit);
    if (BigInt.asIntN(bits, counted) !== counted) {
      throw new DirspaceError('InvalidInput', `The result of ${name} is out of range`);
    }
    return isWide(type) ? counted : Number(counted);
  };
  return quicker(strict(name, compute, { fallible: true }), ([column]) =>
    nanos === undefined
      ? truncatedColumn(column, type, undefined, firstDay as (day: number) => number)
      : bucketedColumn(column, type, nanos / perUnit, origin / perUnit),
  );
}

/** The first day of the bucket of a day: buckets begin with the first day of a month. */
function firstDayOf(months: number, origin: bigint): (day: number) => number {
  const first = monthNumber(Number(floorDivide(origin, NANOS_PER_DAY)));
  return (day) => {
    const month = first + Math.floor((monthNumber(day) - first) / months) * months;
    return daysFromCivil(Math.floor(month / 12), (((month % 12) + 12) % 12) + 1, 1);
  };
}
