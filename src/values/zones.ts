/**
 * Converts between instants and the local times of time zones (`toWallClock`, `fromWallClock`,
 * `instantOfWallClock`, `zoneOffset`). The rules of named zones come from the JavaScript runtime
 * (Intl). An unknown zone throws RangeError; `isKnownZone` tells beforehand. `instantOf`, or
 * `instantNanosOf` in nanoseconds, finds the instant that a parsed text names: by the text's own
 * offset, or if it has none by the zone of its column, or by UTC if the column has none. A local
 * time that comes twice is the first one; one that is skipped is taken with the offset before it.
 */
import { daysFromCivil, floorDivide, NANOS_PER_SECOND, SECONDS_PER_DAY } from './calendar.ts';
import type { DateTimeText } from './date-time-text.ts';

/** Zone rules change on quarter-hours, so that one look-up serves all of one. */
const QUARTER = 900;
const MAX_CACHED = 100_000;

interface Zone {
  /** Fixed offset in seconds, or null. */
  readonly fixed: number | null;
  readonly format: Intl.DateTimeFormat | null;
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone>();

/** Throws RangeError for a zone the runtime does not know. */
function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) {
    const fixed = fixedOffset(name);
    const format =
      fixed !== null
        ? null
        : new Intl.DateTimeFormat('en-US', {
            timeZone: name,
            hourCycle: 'h23',
            era: 'short',
            year: 'numeric',
            month: 'numeric',
            day: 'numeric',
            hour: 'numeric',
            minute: 'numeric',
            second: 'numeric',
          });
    zone = { fixed, format, offsets: new Map() };
    if (zones.size < 1000) zones.set(name, zone);
  }
  return zone;
}

/** For messages: which zones are known. */
export const ZONE_FORMS =
  'UTC, an offset such as +02:00, or a name of the IANA database such as Europe/Berlin';

/** Seconds east of UTC for `UTC`, `Z` and `+05:30`; null for a named zone. */
export function fixedOffset(name: string): number | null {
  if (/^(utc|z|gmt|etc\/utc)$/i.test(name)) return 0;
  const found = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/.exec(name);
  if (found === null) return null;
  const seconds = Number(found[2]) * 3600 + Number(found[3] ?? 0) * 60;
  return found[1] === '-' ? -seconds : seconds;
}

export function isKnownZone(name: string): boolean {
  try {
    zoneOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Seconds east of UTC in `name` at an instant given in seconds since the epoch. */
export function zoneOffset(name: string, epochSeconds: number): number {
  const zone = zoneOf(name);
  if (zone.fixed !== null || zone.format === null) return zone.fixed ?? 0;
  const quarter = Math.floor(epochSeconds / QUARTER);
  let offset = zone.offsets.get(quarter);
  if (offset === undefined) {
    offset = lookUp(zone.format, quarter * QUARTER);
    if (zone.offsets.size >= MAX_CACHED) zone.offsets.clear();
    zone.offsets.set(quarter, offset);
  }
  return offset;
}

function lookUp(format: Intl.DateTimeFormat, epochSeconds: number): number {
  // Dates that JavaScript cannot hold have no zone rules either.
  const limit = 8.64e12;
  if (Math.abs(epochSeconds) >= limit) return 0;
  const fields = new Map<string, string>();
  for (const { type, value } of format.formatToParts(epochSeconds * 1000)) fields.set(type, value);
  const number = (type: string): number => Number(fields.get(type) ?? 0);
  const year = fields.get('era')?.startsWith('B') ? 1 - number('year') : number('year');
  const days = daysFromCivil(year, number('month'), number('day'));
  const clock = number('hour') * 3600 + number('minute') * 60 + number('second');
  return days * SECONDS_PER_DAY + clock - epochSeconds;
}

/**
 * The instant (seconds since the epoch) at which clocks in `name` show `wallSeconds`. A time that
 * a change of clocks skips is taken with the offset before it; one that comes twice, the first.
 */
export function instantOfWallClock(name: string, wallSeconds: number): number {
  const before = zoneOffset(name, wallSeconds - SECONDS_PER_DAY);
  const guess = wallSeconds - before;
  if (zoneOffset(name, guess) === before) return guess;
  const after = zoneOffset(name, wallSeconds + SECONDS_PER_DAY);
  const second = wallSeconds - after;
  return zoneOffset(name, second) === after ? second : guess;
}

/** What clocks in `zone` show at an instant; both in nanoseconds since 1970-01-01 00:00. */
export function toWallClock(nanos: bigint, zone: string): bigint {
  const seconds = Number(floorDivide(nanos, NANOS_PER_SECOND));
  return nanos + BigInt(zoneOffset(zone, seconds)) * NANOS_PER_SECOND;
}

/** The instant at which clocks in `zone` show `nanos`, as instantOfWallClock decides. */
export function fromWallClock(nanos: bigint, zone: string): bigint {
  const seconds = floorDivide(nanos, NANOS_PER_SECOND);
  const instant = instantOfWallClock(zone, Number(seconds));
  return nanos + (BigInt(instant) - seconds) * NANOS_PER_SECOND;
}

/** Seconds since the epoch and the nanoseconds (0 to 999,999,999) past them. */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

/**
 * The instant of a text in a column of `zone` (null: the column has none). The offset of the text
 * comes first; a text without one shows the clocks of the zone, or UTC where there is no zone.
 */
export function instantOf(read: DateTimeText, zone: string | null): Instant {
  const { days, nanos = 0, offset } = read;
  const second = Math.floor(nanos / 1e9);
  const wall = days * SECONDS_PER_DAY + second;
  const zoned = offset === undefined && zone !== null;
  const seconds = zoned ? instantOfWallClock(zone, wall) : wall - (offset ?? 0);
  return { seconds, nanos: nanos - second * 1e9 };
}

/** The same, in nanoseconds since the epoch. */
export function instantNanosOf(read: DateTimeText, zone: string | null): bigint {
  const { seconds, nanos } = instantOf(read, zone);
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos);
}
