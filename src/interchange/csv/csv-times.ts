/**
 * Reads dates, times of day and timestamps from fields of a CSV file (`dateOf`, `timeOf`,
 * `momentOf`; undefined for other texts). It parses the common ISO forms of dates and timestamps
 * from the bytes, because this is fast; values/ parses other texts. While types are guessed
 * (`strict`), only ISO forms count, so that `20200131` stays a number. `momentOf` returns the same
 * object each time, so each call overwrites the result of the last one.
 */
import { daysFromCivil, daysInMonth, parseDateTime, parseTimeOfDay } from '../../values/index.ts';
import { plainText } from './csv-numbers.ts';

const ISO = /^\d{4}-\d{1,2}-\d{1,2}(?:$|[T ]\d)/i;
const ISO_TIME = /^\d{1,2}:\d\d:\d\d(?:\.\d+)?$/;
const ZERO = 48;
const DASH = 45;

const digitAt = (bytes: Uint8Array, at: number): number => {
  const digit = (bytes[at] as number) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : Number.NaN;
};

const twoDigits = (bytes: Uint8Array, at: number): number =>
  digitAt(bytes, at) * 10 + digitAt(bytes, at + 1);

/** Dates repeat from row to row: the last month and its first day. */
let [lastYear, lastMonth, lastDays, lastLength] = [0, 0, 0, 0];

/** Days from 1970-01-01 of `YYYY-MM-DD`; NaN for other bytes. */
function isoDays(bytes: Uint8Array, start: number): number {
  if (bytes[start + 4] !== DASH || bytes[start + 7] !== DASH) return Number.NaN;
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  if (month !== lastMonth || year !== lastYear) {
    if (!(month >= 1 && month <= 12 && year >= 0)) return Number.NaN;
    [lastYear, lastMonth] = [year, month];
    lastDays = daysFromCivil(year, month, 1) - 1;
    lastLength = daysInMonth(year, month);
  }
  return day >= 1 && day <= lastLength ? lastDays + day : Number.NaN;
}

/** Days from 1970-01-01; undefined for other text and for a timestamp. */
export function dateOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  strict: boolean,
): number | undefined {
  if (end - start === 10) {
    const days = isoDays(bytes, start);
    if (!Number.isNaN(days)) return days;
  }
  const text = plainText(bytes, start, end);
  if (strict && !ISO.test(text)) return undefined;
  const found = parseDateTime(text);
  return found === undefined || found.nanos !== undefined ? undefined : found.days;
}

/** A moment: the time that is written, and the offset of its zone where it has one. */
export interface Moment {
  days: number;
  /** Of the day, 0 to 86,400. */
  seconds: number;
  /** Of the second. */
  nanos: number;
  /** Seconds east of UTC; undefined where no zone is written. */
  offset: number | undefined;
}

/** Answered again and again: a moment for each row would be garbage. */
const moment: Moment = { days: 0, seconds: 0, nanos: 0, offset: undefined };

/** The moment, in memory that the next call uses again; undefined for other text. */
export function momentOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  strict: boolean,
): Moment | undefined {
  if (end - start >= 19 && fastMoment(bytes, start, end)) return moment;
  const text = plainText(bytes, start, end);
  if (strict && !ISO.test(text)) return undefined;
  const found = parseDateTime(text);
  if (found === undefined) return undefined;
  const nanos = found.nanos ?? 0;
  moment.days = found.days;
  moment.seconds = Math.floor(nanos / 1e9);
  moment.nanos = nanos % 1e9;
  moment.offset = found.offset;
  return moment;
}

/** `YYYY-MM-DD HH:MM:SS`, with `T`, with up to nine digits of a fraction, with `Z`. */
function fastMoment(bytes: Uint8Array, start: number, end: number): boolean {
  const separator = bytes[start + 10];
  if (separator !== 32 && separator !== 84) return false;
  const days = isoDays(bytes, start);
  const seconds = clock(bytes, start + 11);
  if (Number.isNaN(days) || seconds < 0) return false;
  let at = start + 19;
  let nanos = 0;
  if (at < end && bytes[at] === 46) {
    let unit = 100_000_000;
    for (at++; at < end && at < start + 29; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      nanos += digit * unit;
      unit /= 10;
    }
    if (at === start + 20) return false;
  }
  const hasZone = at === end - 1 && bytes[at] === 90;
  if (!hasZone && at !== end) return false;
  moment.days = days;
  moment.seconds = seconds;
  moment.nanos = nanos;
  moment.offset = hasZone ? 0 : undefined;
  return true;
}

/** Seconds of `HH:MM:SS`, before 24:00; -1 for other bytes. */
function clock(bytes: Uint8Array, at: number): number {
  if (bytes[at + 2] !== 58 || bytes[at + 5] !== 58) return -1;
  const hours = twoDigits(bytes, at);
  const minutes = twoDigits(bytes, at + 3);
  const seconds = twoDigits(bytes, at + 6);
  return hours < 24 && minutes < 60 && seconds < 60 ? hours * 3600 + minutes * 60 + seconds : -1;
}

/** Nanoseconds since midnight; undefined for other text. */
export function timeOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  strict: boolean,
): number | undefined {
  const text = plainText(bytes, start, end);
  return strict && !ISO_TIME.test(text) ? undefined : parseTimeOfDay(text);
}
