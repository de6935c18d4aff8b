/**
 * Computes functions of dates and times besides extract and date_trunc. `unitNumber` numbers the
 * unit that a time is in (`DIFFERENCES` lists the units); date_diff is the difference of two such
 * numbers, and in weeks that of days or microseconds. `spanField` gives a field of a duration
 * (`SPAN_FIELDS`). `dayName` and `monthName` give names, `makeDate` and `makeTimestamp` make dates
 * and timestamps of numbers, and `scaleInterval` multiplies intervals. A date or time that does not
 * exist throws InvalidInput, and so do a timestamp and an interval out of range.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  civilFromDays,
  daysFromCivil,
  floorDivide,
  type IntervalValue,
  monthNumber,
  NANOS_PER_CLOCK_UNIT,
  NANOS_PER_DAY,
} from '../../values/index.ts';
import { nanosPerUnit, type RowFunction, type Value } from '../typed/index.ts';
import { numberedColumn } from './date-columns.ts';
import { momentOf } from './dates.ts';
import { quicker, strict } from './rows.ts';

/** Numbers of units of days, from any day on. */
const OF_DAY: Readonly<Record<string, (day: number) => number>> = {
  day: (day) => day,
  month: monthNumber,
  quarter: (day) => Math.floor(monthNumber(day) / 3),
  year: (day) => civilFromDays(day).year,
  decade: (day) => Math.floor(civilFromDays(day).year / 10),
  century: (day) => Math.floor((civilFromDays(day).year - 1) / 100),
};

const OF_CLOCK: Readonly<Record<string, bigint>> = NANOS_PER_CLOCK_UNIT;
const { hour: HOUR, minute: MINUTE } = NANOS_PER_CLOCK_UNIT;

/** Units of date_diff. Weeks are counted in days or microseconds. */
export const DIFFERENCES: readonly string[] = [
  ...Object.keys(OF_CLOCK),
  ...Object.keys(OF_DAY),
  'week',
];

/** The number of the unit that a time of `type` is in, by its clocks. @param unit of DIFFERENCES but week */
export function unitNumber(unit: string, type: DataType): RowFunction {
  const [ofDay, ofClock] = [OF_DAY[unit], OF_CLOCK[unit] ?? 1n];
  const byValue = strict(`number of ${unit}`, ([value]) => {
    const { days, nanos } = momentOf(value as Value, type);
    if (ofDay !== undefined) return BigInt(ofDay(days));
    return floorDivide(BigInt(days) * NANOS_PER_DAY + nanos, ofClock);
  });
  return quicker(byValue, ([column], whole) =>
    numberedColumn(column, ofDay ?? Number(ofClock), type, whole.type),
  );
}

const SPANS: Readonly<Record<string, (nanos: bigint) => number>> = {
  day: (nanos) => Number(nanos / NANOS_PER_DAY),
  hour: (nanos) => Number((nanos % NANOS_PER_DAY) / HOUR),
  minute: (nanos) => Number((nanos % HOUR) / MINUTE),
  second: (nanos) => Number(nanos % MINUTE) / 1e9,
};

export const SPAN_FIELDS: readonly string[] = Object.keys(SPANS);

/** A field of a duration of `type`, cut towards zero. @param field of SPAN_FIELDS */
export function spanField(field: string, type: DataType): RowFunction {
  const of = SPANS[field] as (nanos: bigint) => number;
  const unit = nanosPerUnit(type);
  return strict(field, ([value]) => of((value as bigint) * unit));
}

const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');
const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

/** Of a day of the week from 1, Monday, on. */
export const dayName: RowFunction = strict('dayname', ([day]) => DAYS[Number(day) - 1] ?? null);
export const monthName: RowFunction = strict(
  'monthname',
  ([month]) => MONTHS[Number(month) - 1] ?? null,
);

/** Days since the epoch. @throws InvalidInput for what is no date */
function dayOf(year: Value, month: Value, day: Value): number {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const isNear = Math.abs(y) < 1e6 && m >= 1 && m <= 12 && d >= 1 && d <= 31;
  const days = isNear ? daysFromCivil(y, m, d) : 0;
  if (isNear && civilFromDays(days).month === m) return days;
  throw new DirspaceError('InvalidInput', `There is no date of year ${y}, month ${m}, day ${d}`);
}

export const makeDate: RowFunction = strict(
  'make_date',
  ([year, month, day]) => dayOf(year as Value, month as Value, day as Value),
  { fallible: true },
);

/** In microseconds. */
export const makeTimestamp: RowFunction = strict(
  'make_timestamp',
  ([year, month, day, hour, minute, second]) => {
    const days = dayOf(year as Value, month as Value, day as Value);
    const [h, m, s] = [Number(hour), Number(minute), Number(second)];
    if (!(h >= 0 && h < 24 && m >= 0 && m < 60 && s >= 0 && s < 60)) {
      throw new DirspaceError('InvalidInput', `There is no time of day ${h}:${m}:${s}`);
    }
    const clock = (h * 60 + m) * 60_000_000 + Math.round(s * 1e6);
    const micros = BigInt(days) * 86_400_000_000n + BigInt(clock);
    if (BigInt.asIntN(64, micros) === micros) return micros;
    throw new DirspaceError('InvalidInput', 'The result of make_timestamp is out of range');
  },
  { fallible: true },
);

/** So many times an interval. */
export const scaleInterval: RowFunction = strict(
  '* interval',
  ([step, by]) => {
    const { months, days, nanos } = step as IntervalValue;
    const times = BigInt(by as number | bigint);
    const scaled = {
      months: months * Number(times),
      days: days * Number(times),
      nanos: nanos * times,
    };
    const isIn = Math.abs(scaled.months) < 2 ** 31 && Math.abs(scaled.days) < 2 ** 31;
    if (isIn && BigInt.asIntN(64, scaled.nanos) === scaled.nanos) return scaled;
    throw new DirspaceError('InvalidInput', 'The interval of this calculation is out of range');
  },
  { fallible: true },
);
