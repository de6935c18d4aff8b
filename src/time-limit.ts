/**
 * `endingAfter` makes an abort signal that aborts with a TimeoutError when a time is over (24 days
 * at most), or when a given signal aborts. `AbortSignal.any` joins the two signals, but does not
 * keep the timer of the first from garbage collection, and a lost timer would never fire. So this
 * file keeps the timer for as long as the joined signal lives. `TimeLimit` has such a signal for one
 * call, and says in the TimeoutError which call ran out of time.
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

/** The time that one call may take: none at all for 0. `subject` opens the message of its end. */
export class TimeLimit {
  /** Aborts when the time is over, or with the reason of the signal that was given. */
  readonly signal: AbortSignal;
  readonly #given: AbortSignal | undefined;
  readonly #over: string;

  constructor(subject: string, timeoutMs: number, given: AbortSignal | undefined) {
    this.#given = given;
    this.#over = `${subject} after ${timeoutMs} ms (timeoutMs).`;
    this.signal =
      timeoutMs === 0 ? AbortSignal.abort(this.#error()) : endingAfter(timeoutMs, given);
  }

  /** What to throw for an error of the call: the TimeoutError of this limit where that is what ended it. */
  told(error: unknown): unknown {
    const isOver = this.signal.aborted && error === this.signal.reason;
    return isOver && error !== this.#given?.reason ? this.#error() : error;
  }

  #error(): DOMException {
    return new DOMException(this.#over, 'TimeoutError');
  }
}
