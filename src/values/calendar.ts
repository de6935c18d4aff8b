/**
 * Converts between days since 1970-01-01 and dates of the proleptic Gregorian calendar
 * (`daysFromCivil`, `civilFromDays`), for years before 0 too. `addMonths` adds months, and takes
 * the last day of a month that has fewer days. `isoWeek` and `isoWeekday` compute ISO weeks and
 * weekdays, and `formatDate` and `formatTimeOfDay` write texts. Arguments are not checked.
 * `NANOS_PER_CLOCK_UNIT` has the units of the clock. `floorDivide` divides bigints and rounds down.
 * zones.ts has time zones, and date-time-text.ts parses text.
 */

export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

export const SECONDS_PER_DAY = 86_400;
export const MILLIS_PER_DAY = 86_400_000;
export const NANOS_PER_SECOND = 1_000_000_000n;
export const NANOS_PER_DAY = 86_400n * NANOS_PER_SECOND;

/** Nanoseconds in each unit of the clock, by the name that SQL gives it. */
export const NANOS_PER_CLOCK_UNIT = {
  hour: 3_600n * NANOS_PER_SECOND,
  minute: 60n * NANOS_PER_SECOND,
  second: NANOS_PER_SECOND,
  millisecond: 1_000_000n,
  microsecond: 1_000n,
} as const;

/** Days since 1970-01-01 of a civil date. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The civil date of a day since 1970-01-01. */
export function civilFromDays(days: number): CivilDate {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Adds months and keeps the day, or takes the month's last day where it has fewer. */
export function addMonths(days: number, months: number): number {
  const { year, month, day } = civilFromDays(days);
  const total = year * 12 + (month - 1) + months;
  const newYear = Math.floor(total / 12);
  const newMonth = total - newYear * 12 + 1;
  return daysFromCivil(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
}

/** Months from the beginning of the year 0 to the month of a day. */
export function monthNumber(days: number): number {
  const { year, month } = civilFromDays(days);
  return year * 12 + month - 1;
}

/** 1 (Monday) to 7 (Sunday). */
export function isoWeekday(days: number): number {
  return ((((days + 3) % 7) + 7) % 7) + 1;
}

/** ISO 8601 week and the year it belongs to. */
export function isoWeek(days: number): { year: number; week: number } {
  const thursday = days - isoWeekday(days) + 4;
  const { year } = civilFromDays(thursday);
  return { year, week: Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1 };
}

/** Division that rounds down, for negative numbers too. */
export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by !== 0n && value < 0n !== by < 0n ? quotient - 1n : quotient;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** `2020-01-31`; years beyond four digits carry a sign. */
export function formatDate(days: number): string {
  const { year, month, day } = civilFromDays(days);
  const text =
    year >= 0 && year <= 9999 ? pad(year, 4) : `${year < 0 ? '-' : '+'}${pad(Math.abs(year), 6)}`;
  return `${text}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** `01:02:03`, with a fraction of 3, 6 or 9 digits where there is one. */
export function formatTimeOfDay(nanos: bigint): string {
  const seconds = Number(nanos / 1_000_000_000n);
  const fraction = Number(nanos % 1_000_000_000n);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = clock.map((part) => pad(part, 2)).join(':');
  if (fraction === 0) return text;
  const digits = pad(fraction, 9).replace(/(000){1,2}$/, '');
  return `${text}.${digits}`;
}
