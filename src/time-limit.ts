/**
 * `endingAfter` makes an abort signal that aborts with a TimeoutError when a time is over (24 days
 * at most), or when a given signal aborts. `AbortSignal.any` joins the two signals, but does not
 * keep the timer of the first from garbage collection, and a lost timer would never fire. So this
 * file keeps the timer for as long as the joined signal lives.
 */
import { LONGEST_TIMER } from './env.ts';

/** Clocks by the signals that are joined of them. */
const clocks = new WeakMap<AbortSignal, AbortSignal>();

/**
 * Aborts with a TimeoutError after `timeoutMs`, or with the reason of `given`. More than the 24 days
 * that a timer takes count as these.
 */
export function endingAfter(timeoutMs: number, given: AbortSignal | undefined): AbortSignal {
  const clock = AbortSignal.timeout(Math.min(timeoutMs, LONGEST_TIMER));
  if (given === undefined) return clock;
  const signal = AbortSignal.any([clock, given]);
  clocks.set(signal, clock);
  return signal;
}
