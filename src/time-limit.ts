/**
 * `endingAfter` makes the signal of a time limit, which also aborts with a signal that is given. It
 * exists because a joined signal holds its parts only weakly. The garbage collector could take the
 * clock, and the time would never end.
 */

/** Clocks by the signals that are joined of them. */
const clocks = new WeakMap<AbortSignal, AbortSignal>();

/** Aborts with a TimeoutError after `timeoutMs`, or with the reason of `given`. */
export function endingAfter(timeoutMs: number, given?: AbortSignal): AbortSignal {
  const clock = AbortSignal.timeout(timeoutMs);
  if (given === undefined) return clock;
  const signal = AbortSignal.any([clock, given]);
  clocks.set(signal, clock);
  return signal;
}
