/**
 * Creates the functions extract (`extractField`) and date_trunc (`truncateTo`) for one field or
 * unit and one type. They read a timestamp with a time zone in that zone, except for its epoch;
 * `momentOf` gives the day and the time of day there. A truncated value out of range throws
 * InvalidInput, and so does a time zone that the runtime does not know. `DATE_FIELDS`,
 * `CLOCK_FIELDS` (of a time of day) and `TRUNCATIONS` list the accepted names, and `fieldName`
 * resolves aliases. date-columns.ts computes whole columns if it can.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  civilFromDays,
  daysFromCivil,
  exactToDouble,
  floorDivide,
  fromWallClock,
  isoWeek,
  isoWeekday,
  NANOS_PER_CLOCK_UNIT,
  NANOS_PER_DAY,
  toWallClock,
} from '../../values/index.ts';
import { clockZoneOf, isWide, nanosPerUnit, type RowFunction, type Value } from '../typed/index.ts';
import { type FieldOf, fieldOfColumn, truncatedColumn } from './date-columns.ts';
import { quicker, strict } from './rows.ts';

interface Moment {
  /** Days since the epoch, by the clocks of the zone. */
  readonly days: number;
  /** Nanoseconds since midnight. */
  readonly nanos: bigint;
}

export function momentOf(value: Value, type: DataType): Moment {
  let nanos = BigInt(value as number | bigint) * nanosPerUnit(type);
  const zone = clockZoneOf(type);
  if (zone !== null) nanos = toWallClock(nanos, zone);
  const days = floorDivide(nanos, NANOS_PER_DAY);
  return { days: Number(days), nanos: nanos - days * NANOS_PER_DAY };
}

const { hour: HOUR, minute: MINUTE } = NANOS_PER_CLOCK_UNIT;
/** Nanoseconds of a day and of what is shorter are exact as doubles. */
const [HOUR_NANOS, MINUTE_NANOS] = [Number(HOUR), Number(MINUTE)];

/** The first century is of the years 1 to 100. The year before it is of the first century before that, -1. */
const centuryOf = (year: number): number =>
  year > 0 ? Math.ceil(year / 100) : Math.floor(year / 100) - (year % 100 === 0 ? 1 : 0);
const millenniumOf = (year: number): number =>
  year > 0 ? Math.ceil(year / 1000) : Math.floor(year / 1000) - (year % 1000 === 0 ? 1 : 0);

const FIELDS: Readonly<Record<string, FieldOf>> = {
  year: { day: (days) => civilFromDays(days).year },
  quarter: { day: (days) => Math.floor((civilFromDays(days).month - 1) / 3) + 1 },
  month: { day: (days) => civilFromDays(days).month },
  week: { day: (days) => isoWeek(days).week },
  isoyear: { day: (days) => isoWeek(days).year },
  day: { day: (days) => civilFromDays(days).day },
  dow: { day: (days) => isoWeekday(days) % 7 },
  isodow: { day: (days) => isoWeekday(days) },
  decade: { day: (days) => Math.floor(civilFromDays(days).year / 10) },
  century: { day: (days) => centuryOf(civilFromDays(days).year) },
  millennium: { day: (days) => millenniumOf(civilFromDays(days).year) },
  doy: { day: (days) => days - daysFromCivil(civilFromDays(days).year, 1, 1) + 1 },
  hour: { clock: (nanos) => Math.floor(nanos / HOUR_NANOS) },
  minute: { clock: (nanos) => Math.floor(nanos / MINUTE_NANOS) % 60 },
  second: { clock: (nanos) => (nanos % MINUTE_NANOS) / 1e9 },
  millisecond: { clock: (nanos) => (nanos % MINUTE_NANOS) / 1e6 },
  microsecond: { clock: (nanos) => (nanos % MINUTE_NANOS) / 1e3 },
  nanosecond: { clock: (nanos) => nanos % MINUTE_NANOS },
};

const ALIASES: Readonly<Record<string, string>> = {
  years: 'year',
  quarters: 'quarter',
  months: 'month',
  weeks: 'week',
  days: 'day',
  hours: 'hour',
  minutes: 'minute',
  seconds: 'second',
  milliseconds: 'millisecond',
  microseconds: 'microsecond',
  nanoseconds: 'nanosecond',
  decades: 'decade',
  centuries: 'century',
  dayofweek: 'dow',
  weekday: 'dow',
  dayofyear: 'doy',
};

export function fieldName(text: string): string {
  const lower = text.toLowerCase();
  return (Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : undefined) ?? lower;
}

export const DATE_FIELDS: readonly string[] = [...Object.keys(FIELDS), 'epoch'];

/** Those that a time of day has. */
export const CLOCK_FIELDS: readonly string[] = [
  ...Object.keys(FIELDS).filter((name) => FIELDS[name]?.clock !== undefined),
  'epoch',
];

/** extract(field from x), a double: a second has a fraction. `type` is that of x. */
export function extractField(field: string, type: DataType): RowFunction {
  const unit = nanosPerUnit(type);
  if (field === 'epoch') {
    return strict('epoch', ([value]) => {
      return exactToDouble({ unscaled: BigInt(value as number | bigint) * unit, scale: 9 });
    });
  }
  const of = FIELDS[field] ?? {};
  const byValue = strict(field, ([value]) => {
    const { days, nanos } = momentOf(value, type);
    return of.day?.(days) ?? of.clock?.(Number(nanos)) ?? 0;
  });
  return quicker(byValue, ([column], whole) => fieldOfColumn(column, of, type, whole.type));
}

export const TRUNCATIONS: readonly string[] = [
  'microsecond',
  'millisecond',
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
  'decade',
  'century',
];

function firstDay(days: number, unit: string): number {
  const { year, month } = civilFromDays(days);
  switch (unit) {
    case 'week':
      return days - isoWeekday(days) + 1;
    case 'month':
      return daysFromCivil(year, month, 1);
    case 'quarter':
      return daysFromCivil(year, month - ((month - 1) % 3), 1);
    case 'year':
      return daysFromCivil(year, 1, 1);
    case 'decade':
      return daysFromCivil(Math.floor(year / 10) * 10, 1, 1);
    case 'century':
      return daysFromCivil(Math.floor((year - 1) / 100) * 100 + 1, 1, 1);
    default:
      return days;
  }
}

/** One function for each unit, as what it gave is remembered by the function. */
const FIRST_DAYS = Object.fromEntries(
  TRUNCATIONS.map((unit) => [unit, (day: number): number => firstDay(day, unit)]),
);

const CLOCK_UNITS: Readonly<Record<string, bigint>> = NANOS_PER_CLOCK_UNIT;

/** date_trunc(unit, x), of x's own type. */
export function truncateTo(unit: string, type: DataType): RowFunction {
  const zone = clockZoneOf(type);
  const perUnit = nanosPerUnit(type);
  const clock = CLOCK_UNITS[unit];
  const least = -(1n << (isWide(type) ? 63n : 31n));
  const compute = ([value]: readonly Value[]): Value => {
    const { days, nanos } = momentOf(value, type);
    const wall =
      clock === undefined
        ? BigInt(firstDay(days, unit)) * NANOS_PER_DAY
        : BigInt(days) * NANOS_PER_DAY + (nanos / clock) * clock;
    let instant = wall;
    if (zone !== null) {
      const original = BigInt(value as bigint) * perUnit;
      const offset = BigInt(days) * NANOS_PER_DAY + nanos - original;
      // Within a day the offset is kept: a repeated hour stays the one it was.
      instant = clock !== undefined ? wall - offset : fromWallClock(wall, zone);
    }
    const counted = floorDivide(instant, perUnit);
    if (counted < least) {
      throw new DirspaceError(
        'InvalidInput',
        `The result of date_trunc('${unit}', ..) is out of range`,
      );
    }
    return isWide(type) ? counted : Number(counted);
  };
  const byValue = strict('date_trunc', compute, { fallible: true });
  const ofDay = FIRST_DAYS[unit] as (day: number) => number;
  return quicker(byValue, ([column]) =>
    truncatedColumn(column, type, clock === undefined ? undefined : Number(clock), ofDay),
  );
}
