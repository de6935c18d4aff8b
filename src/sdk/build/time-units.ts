/**
 * Instants and counts in the units of Arrow's times, and exact conversion between units. Knows
 * nothing of columns and of texts.
 */
import { TimeUnit } from '../../arrow/index.ts';
import type { Instant } from '../../values/index.ts';

const PER_SECOND: Record<number, bigint> = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1_000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
};

/** How many of `unit` make a second. */
export const unitsPerSecond = (unit: TimeUnit): bigint => PER_SECOND[unit] ?? 1n;

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
