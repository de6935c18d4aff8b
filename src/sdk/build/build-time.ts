/**
 * Builds date, time, timestamp, duration and interval columns (`buildDate`, `buildTime` and so on)
 * from JavaScript values. Dates and timestamps take a Date, milliseconds since the epoch, or text;
 * a bigint counts the column's own unit. The text of a timestamp is read with its own offset, or
 * without one in the column's time zone, which is UTC if the column has none. Times take text or a
 * count of their unit, durations a count, intervals an object of their parts or Arrow's array of
 * numbers. A value that cannot be read, or does not fit the column's unit exactly, throws
 * TableSchemaValidation.
 */
import {
  type Data,
  type DataType,
  type Date_,
  DateUnit,
  type Duration,
  type Interval,
  IntervalUnit,
  type Time,
  type Timestamp,
  TimeUnit,
} from '../../arrow/index.ts';
import {
  convertUnit,
  DATE_FORMS,
  instantOf,
  integerFrom,
  inUnit,
  isKnownZone,
  MILLIS_PER_DAY,
  NANOS_OF_DAY,
  parseDateTime,
  parseTimeOfDay,
  SECONDS_PER_DAY,
  TIME_FORMS,
  TIMESTAMP_FORMS,
  unitsPerSecond,
  ZONE_FORMS,
} from '../../values/index.ts';
import { setWide } from './build-numbers.ts';
import { arrowData, type BuildContext, findNulls, misfit, type Place } from './column-data.ts';
import { asItems, isDate, isRecord } from './js-values.ts';

type Values = readonly unknown[];

/** Fills a 64-bit column; `read` gives the count as safe number or bigint, undefined to refuse. */
function wideColumn(
  type: DataType,
  values: Values,
  place: Place,
  context: BuildContext,
  read: (value: unknown) => number | bigint | undefined,
  forms?: string,
): Data {
  const nulls = findNulls(type, values, place, context);
  const out = new BigInt64Array(values.length);
  const halves = new Int32Array(out.buffer);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    const count = read(value);
    if (typeof count === 'number' && Number.isSafeInteger(count)) setWide(halves, i, count);
    else if (typeof count !== 'bigint') throw refused(value, type, place, i, context, forms);
    else {
      out[i] = count;
      if (out[i] !== count) throw misfit(place, i, value, type, context, 'out of range');
    }
  }
  return arrowData(type, values.length, nulls, { values: out });
}

function narrowColumn(
  type: DataType,
  values: Values,
  place: Place,
  context: BuildContext,
  read: (value: unknown) => number | undefined,
  forms: string | undefined,
): Data {
  const nulls = findNulls(type, values, place, context);
  const out = new Int32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    const count = read(value);
    if (count === undefined || (count | 0) !== count) {
      throw refused(value, type, place, i, context, forms);
    }
    out[i] = count;
  }
  return arrowData(type, values.length, nulls, { values: out });
}

/** Milliseconds since the epoch of a Date, a number or text. */
function milliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (isDate(value)) return value.getTime();
  if (typeof value !== 'string') return undefined;
  const read = parseDateTime(value);
  // The end of a day is no day: SQL takes that text for the day it ends, an instant is the next one.
  if (read === undefined || read.nanos === NANOS_OF_DAY) return undefined;
  const count = inUnit(instantOf(read, null), TimeUnit.MILLISECOND);
  return count === undefined ? undefined : Number(count);
}

/** Says of a text that cannot be read, or is finer than the column, how texts are written. */
function refused(
  value: unknown,
  type: DataType,
  place: Place,
  row: number,
  context: BuildContext,
  forms: string | undefined,
): Error {
  const why = forms !== undefined && typeof value === 'string' ? `text is written ${forms}` : '';
  return misfit(place, row, value, type, context, why);
}

export function buildDate(type: Date_, values: Values, place: Place, context: BuildContext): Data {
  if (type.unit === DateUnit.MILLISECOND) {
    const read = (value: unknown): number | bigint | undefined =>
      typeof value === 'bigint' ? value : milliseconds(value);
    return wideColumn(type, values, place, context, read, DATE_FORMS);
  }
  const read = (value: unknown): number | undefined => {
    if (typeof value === 'bigint') return Number(value);
    // Only whole days: cutting off a time of day could silently move a date by one.
    const time = milliseconds(value);
    return time === undefined ? undefined : time / MILLIS_PER_DAY;
  };
  return narrowColumn(type, values, place, context, read, DATE_FORMS);
}

export function buildTimestamp(
  type: Timestamp,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const { unit } = type;
  const zone = type.timezone || null;
  const clocks = zone === null || isKnownZone(zone);
  const read = (value: unknown): number | bigint | undefined => {
    if (typeof value === 'bigint') return value;
    if (typeof value === 'string') {
      const text = parseDateTime(value);
      if (text === undefined || (text.offset === undefined && !clocks)) return undefined;
      return inUnit(instantOf(text, zone), unit);
    }
    const time = typeof value === 'number' || isDate(value) ? Number(value) : undefined;
    if (time === undefined || !Number.isSafeInteger(time)) return undefined;
    if (unit === TimeUnit.MILLISECOND) return time;
    return convertUnit(BigInt(time), TimeUnit.MILLISECOND, unit);
  };
  const forms = clocks
    ? TIMESTAMP_FORMS
    : `with an offset, as 2020-01-31T04:05:06Z: the time zone "${zone}" of the column is not known, which would be ${ZONE_FORMS}`;
  return wideColumn(type, values, place, context, read, forms);
}

export function buildTime(type: Time, values: Values, place: Place, context: BuildContext): Data {
  const { unit } = type;
  const day = BigInt(SECONDS_PER_DAY) * unitsPerSecond(unit);
  const read = (value: unknown): bigint | undefined => {
    let count: bigint | undefined;
    if (typeof value === 'string') {
      // Digits alone are refused, as in SQL: 040506 could be a count or six minutes past four.
      const nanos = parseTimeOfDay(value);
      if (nanos === undefined) return undefined;
      count = inUnit(instantOf({ days: 0, nanos, offset: 0 }, null), unit);
    } else count = integerFrom(value);
    return count !== undefined && count >= 0n && count < day ? count : undefined;
  };
  if (type.bitWidth === 64) return wideColumn(type, values, place, context, read, TIME_FORMS);
  const narrow = (value: unknown): number | undefined => {
    const count = read(value);
    return count === undefined ? undefined : Number(count);
  };
  return narrowColumn(type, values, place, context, narrow, TIME_FORMS);
}

export function buildDuration(
  type: Duration,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  return wideColumn(type, values, place, context, integerFrom);
}

/** Members of an interval as users write them, in the order they are stored. */
const PARTS: Record<number, readonly string[]> = {
  [IntervalUnit.YEAR_MONTH]: ['months'],
  [IntervalUnit.DAY_TIME]: ['days', 'milliseconds'],
  [IntervalUnit.MONTH_DAY_NANO]: ['months', 'days', 'nanoseconds'],
};

export function buildInterval(
  type: Interval,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  const words = type.unit === IntervalUnit.MONTH_DAY_NANO ? 4 : 1 + type.unit;
  const out = new Int32Array(values.length * words);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    const found = intervalWords(type.unit, value);
    if (found === undefined) throw misfit(place, i, value, type, context);
    out.set(found, i * words);
  }
  return arrowData(type, values.length, nulls, { values: out });
}

function intervalWords(unit: IntervalUnit, value: unknown): Int32Array | undefined {
  const yearMonth = unit === IntervalUnit.YEAR_MONTH;
  if (yearMonth && typeof value === 'number') return int32s([value]);
  const items = asItems(value);
  // Arrow's own form: years and months, or the words as they are stored.
  if (items !== undefined) {
    if (items.length !== (unit === IntervalUnit.MONTH_DAY_NANO ? 4 : 2)) return undefined;
    const numbers = Array.from(items, (item) => (typeof item === 'number' ? item : Number.NaN));
    return int32s(yearMonth ? [(numbers[0] ?? 0) * 12 + (numbers[1] ?? 0)] : numbers);
  }
  if (!isRecord(value)) return undefined;
  const names = PARTS[unit] ?? [];
  const known = (name: string): boolean => names.includes(name) || (yearMonth && name === 'years');
  if (!Object.keys(value).every(known)) return undefined;
  const counts = names.map((name) => integerFrom(value[name] ?? 0));
  if (counts.includes(undefined)) return undefined;
  if (unit !== IntervalUnit.MONTH_DAY_NANO) {
    const years = yearMonth ? Number(value.years ?? 0) : 0;
    return int32s(counts.map((count) => Number(count) + years * 12));
  }
  const nanos = counts[2] ?? 0n;
  if (BigInt.asIntN(64, nanos) !== nanos) return undefined;
  const low = Number(BigInt.asIntN(32, nanos));
  return int32s([Number(counts[0]), Number(counts[1]), low, Number(nanos >> 32n)]);
}

function int32s(numbers: readonly number[]): Int32Array | undefined {
  return numbers.every((number) => (number | 0) === number) ? Int32Array.from(numbers) : undefined;
}
