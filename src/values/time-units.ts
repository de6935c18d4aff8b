/**
 * Converts between Arrow's time units (s, ms, us, ns): a count of one unit into another
 * (`convertUnit`), or an instant into a count (`inUnit`). The result is undefined if it would lose
 * precision. `TIME_UNITS` names the units by their numbers, and `unitsPerSecond` tells their
 * lengths. Ranges are not checked.
 */
import type { Instant } from './zones.ts';

/** Names by the number of the unit. */
export const TIME_UNITS = ['s', 'ms', 'us', 'ns'] as const;
const PER_SECOND = [1n, 1_000n, 1_000_000n, 1_000_000_000n] as const;

/** How many of `unit` make a second. */
export const unitsPerSecond = (unit: number): bigint => PER_SECOND[unit] ?? 1n;

/** The instant counted in `unit`; undefined when it is finer than that. */
export function inUnit(instant: Instant, unit: number): bigint | undefined {
  const perSecond = unitsPerSecond(unit);
  const nanosPerUnit = Number(1_000_000_000n / perSecond);
  if (instant.nanos % nanosPerUnit !== 0) return undefined;
  return BigInt(instant.seconds) * perSecond + BigInt(instant.nanos / nanosPerUnit);
}

/** A count of one unit as a count of another; undefined when that loses something. */
export function convertUnit(value: bigint, from: number, to: number): bigint | undefined {
  const [have, want] = [unitsPerSecond(from), unitsPerSecond(to)];
  if (want >= have) return value * (want / have);
  const factor = have / want;
  return value % factor === 0n ? value / factor : undefined;
}
