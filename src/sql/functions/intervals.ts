/**
 * Moves dates and timestamps by intervals (`moveDate`, `moveTimestamp`, and `moveInstant` for one
 * value), and negates and adds intervals (`negateInterval`, `sumIntervals`). Months are added
 * first, by the calendar, then days, both by the clock of the timestamp's time zone, and then
 * nanoseconds. Dates move by months and days only. A date or timestamp out of range throws
 * InvalidInput; the counts of an interval are not checked here.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  addMonths,
  floorDivide,
  type IntervalValue,
  instantOfWallClock,
  SECONDS_PER_DAY,
  unitsPerSecond,
  zoneOffset,
} from '../../values/index.ts';
import { type Column, clockZoneOf, timeUnitOf } from '../typed/index.ts';
import { movedColumn } from './date-columns.ts';
import { quicker, strict } from './rows.ts';

function outOfRange(what: string): never {
  throw new DirspaceError('InvalidInput', `The ${what} of this calculation is out of range`);
}

/** Moves an instant by clocks of `zone` for months and days, by elapsed time for the rest. */
export function moveInstant(value: bigint, step: IntervalValue, type: DataType): bigint {
  const perSecond = unitsPerSecond(timeUnitOf(type));
  let moved = value;
  if (step.months !== 0 || step.days !== 0) {
    const zone = clockZoneOf(type);
    const seconds = floorDivide(value, perSecond);
    const fraction = value - seconds * perSecond;
    const instant = Number(seconds);
    const wall = instant + (zone === null ? 0 : zoneOffset(zone, instant));
    const day = Math.floor(wall / SECONDS_PER_DAY);
    const newDay = (step.months === 0 ? day : addMonths(day, step.months)) + step.days;
    const newWall = newDay * SECONDS_PER_DAY + (wall - day * SECONDS_PER_DAY);
    if (!Number.isSafeInteger(newWall)) outOfRange('timestamp');
    const end = zone === null ? newWall : instantOfWallClock(zone, newWall);
    moved = BigInt(end) * perSecond + fraction;
  }
  const perUnit = 1_000_000_000n / perSecond;
  moved += floorDivide(step.nanos, perUnit);
  return BigInt.asIntN(64, moved) === moved ? moved : outOfRange('timestamp');
}

let last = { months: 0, move: (day: number): number => day };

/** The same function for slices of a column, which are moved one after the other. */
function monthMover(months: number): (day: number) => number {
  if (last.months !== months) last = { months, move: (day) => addMonths(day, months) };
  return last.move;
}

/** By one interval for all rows; null where a result may be out of range, or the rows are not plain. */
function movedBy(
  [column, by]: readonly Column[],
  type: DataType,
  hasClock: boolean,
): Column | null {
  if (by?.form !== 'constant' || by.value === null) return null;
  const { months, days, nanos } = by.value as IntervalValue;
  const movedDay = months === 0 ? null : monthMover(months);
  return movedColumn(column, type, movedDay, days, hasClock ? Number(nanos) : 0);
}

export const moveTimestamp = quicker(
  strict(
    '+ interval',
    ([value, step], type) => moveInstant(value as bigint, step as IntervalValue, type),
    { fallible: true },
  ),
  (args, { type }) => movedBy(args, type, true),
);

const dateByValue = strict(
  '+ interval',
  ([value, step]) => {
    const { months, days } = step as IntervalValue;
    const moved = (months === 0 ? (value as number) : addMonths(value as number, months)) + days;
    return Math.abs(moved) < 2 ** 31 ? moved : outOfRange('date');
  },
  { fallible: true },
);

export const moveDate = quicker(dateByValue, (args, { type }) => {
  const moved = movedBy(args, type, false);
  const isIn = moved?.form === 'number' && moved.values.every((day) => Math.abs(day) < 2 ** 31);
  return isIn ? moved : null;
});

export const negateInterval = strict('- interval', ([step]) => {
  const { months, days, nanos } = step as IntervalValue;
  return { months: 0 - months, days: 0 - days, nanos: -nanos };
});

export const sumIntervals = strict('+ interval', ([a, b]) => {
  const [x, y] = [a as IntervalValue, b as IntervalValue];
  return { months: x.months + y.months, days: x.days + y.days, nanos: x.nanos + y.nanos };
});
