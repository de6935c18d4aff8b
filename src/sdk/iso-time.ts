/**
 * Exact reading of ISO 8601 dates, times and timestamps to nanoseconds, and conversion between
 * units. Knows nothing of columns; text without a zone counts as UTC.
 */
import { TimeUnit } from '../arrow.ts';

/** Seconds since the epoch and the nanoseconds (0 to 999,999,999) past them. */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

const DATE = /^([+-]\d{6}|\d{4})-(\d\d)-(\d\d)(?:[T ](.+))?$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d\d(?::?\d\d)?)?$/;

const PER_SECOND: Record<number, bigint> = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1_000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
};

/** How many of `unit` make a second. */
export const unitsPerSecond = (unit: TimeUnit): bigint => PER_SECOND[unit] ?? 1n;

export function parseInstant(text: string): Instant | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, rest] = match;
  const days = daysFromCivil(Number(year), Number(month), Number(day));
  if (days === undefined) return undefined;
  if (rest === undefined) return { seconds: days * 86_400, nanos: 0 };
  const time = parseTime(rest, true);
  return time && { seconds: days * 86_400 + time.seconds, nanos: time.nanos };
}

/** Seconds and nanoseconds of a time of day; with `zone` the offset is taken off. */
export function parseTime(text: string, zone = false): Instant | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, hour, minute, second = '0', fraction = '', offset = ''] = match;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  if (h > 23 || m > 59 || s > 59 || (offset !== '' && !zone)) return undefined;
  const seconds = h * 3600 + m * 60 + s - offsetSeconds(offset);
  return { seconds, nanos: Number(fraction.padEnd(9, '0')) };
}

function offsetSeconds(offset: string): number {
  if (offset === '' || offset === 'Z' || offset === 'z') return 0;
  const size = Number(offset.slice(1, 3)) * 3600 + Number(offset.slice(3).replace(':', '')) * 60;
  return offset.startsWith('-') ? -size : size;
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar; undefined for no such day. */
function daysFromCivil(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const days = date.getTime() / 86_400_000;
  return Number.isNaN(days) ? undefined : days;
}

/** The instant counted in `unit`; undefined when it is finer than that. */
export function inUnit(instant: Instant, unit: TimeUnit): bigint | undefined {
  const perSecond = unitsPerSecond(unit);
  const nanosPerUnit = Number(1_000_000_000n / perSecond);
  if (instant.nanos % nanosPerUnit !== 0) return undefined;
  return BigInt(instant.seconds) * perSecond + BigInt(instant.nanos / nanosPerUnit);
}

/** A count of one unit as a count of another; undefined when that loses something. */
export function convertUnit(value: bigint, from: TimeUnit, to: TimeUnit): bigint | undefined {
  const [have, want] = [unitsPerSecond(from), unitsPerSecond(to)];
  if (want >= have) return value * (want / have);
  const factor = have / want;
  return value % factor === 0n ? value / factor : undefined;
}
