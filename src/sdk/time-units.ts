/**
 * Instants and counts in the units of Arrow's times, and exact conversion between units. Knows
 * nothing of columns; texts are read by values/date-time-text.ts.
 */
import { TimeUnit } from '../arrow.ts';
import type { DateTimeText } from '../values/date-time-text.ts';

/** Seconds since the epoch and the nanoseconds (0 to 999,999,999) past them. */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

const PER_SECOND: Record<number, bigint> = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1_000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
};

/** How many of `unit` make a second. */
export const unitsPerSecond = (unit: TimeUnit): bigint => PER_SECOND[unit] ?? 1n;

/** The instant of a text that may name a zone, and is in UTC where it names none. */
export function instantOf(read: DateTimeText): Instant {
  const { days, nanos = 0, offset = 0 } = read;
  const second = Math.floor(nanos / 1e9);
  return { seconds: days * 86_400 + second - offset, nanos: nanos - second * 1e9 };
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
