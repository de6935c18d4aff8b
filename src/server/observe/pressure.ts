/**
 * `EventLoopPressure` measures how late the event loop runs its tasks, with Node's monitor. `late`
 * tells whether the mean delay was above a limit, and `delays` returns totals and percentiles for
 * metrics. `late` and the percentiles describe the interval between the last two readings, a second
 * or more. Before the first interval, `late` is false and the percentiles are NaN. `close` stops
 * the monitor.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two looks of the monitor, and the fewest between two readings of them. */
const RESOLUTION = 10;
const INTERVAL = 1_000;

/** In seconds. */
export interface LoopDelays {
  /** Looks since the start, and all of their delays together. */
  readonly count: number;
  readonly seconds: number;
  /** The median of the looks between the last two readings, a second or more apart; NaN before. */
  readonly median: number;
  /** The 99th percentile. */
  readonly high: number;
  readonly longest: number;
}

/** Late are turns of the event loop that come more than `maxDelayMs` after they were due; 0 for never. */
export class EventLoopPressure {
  readonly #maxDelayMs: number;
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  #readAt = performance.now();
  #late = false;
  /** Totals of the looks before the last reading. */
  #count = 0;
  #seconds = 0;
  #window = { median: Number.NaN, high: Number.NaN, longest: Number.NaN };

  constructor(maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs;
    this.#delays.enable();
  }

  /** Whether the turns between the last two readings were late on average. */
  get late(): boolean {
    this.#read();
    return this.#late;
  }

  get delays(): LoopDelays {
    this.#read();
    return {
      count: this.#count + this.#delays.count,
      seconds: this.#seconds + this.#sum(),
      ...this.#window,
    };
  }

  #read(): void {
    const delays = this.#delays;
    const now = performance.now();
    const elapsed = now - this.#readAt;
    if (elapsed < INTERVAL) return;
    // No look at all: the loop has not turned since.
    const isStuck = delays.count === 0;
    const delay = isStuck ? elapsed : delays.mean / 1e6 - RESOLUTION;
    this.#late = this.#maxDelayMs > 0 && delay > this.#maxDelayMs;
    const [median, high, longest] = isStuck
      ? [elapsed / 1e3, elapsed / 1e3, elapsed / 1e3]
      : [secondsOf(delays.percentile(50)), secondsOf(delays.percentile(99)), secondsOf(delays.max)];
    this.#window = { median, high, longest };
    this.#count += delays.count;
    this.#seconds += this.#sum();
    this.#readAt = now;
    delays.reset();
  }

  #sum(): number {
    const { count, mean } = this.#delays;
    return count === 0 ? 0 : count * secondsOf(mean);
  }

  close(): void {
    this.#delays.disable();
  }
}

/** From the nanoseconds between two looks. */
const secondsOf = (nanoseconds: number): number =>
  Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1e3);
