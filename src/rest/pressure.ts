/** How late the event loop is, looked at by requests as they come: no timer wakes a server for it. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two looks of the monitor, and the fewest between two readings of them. */
const RESOLUTION = 10;
const INTERVAL = 1_000;

/** Late are turns of the event loop that come more than `maxDelayMs` after they were due; 0 for never. */
export class EventLoopPressure {
  readonly #maxDelayMs: number;
  readonly #delays: IntervalHistogram | undefined;
  #readAt = performance.now();
  #late = false;

  constructor(maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs;
    if (maxDelayMs > 0) this.#delays = monitorEventLoopDelay({ resolution: RESOLUTION });
    this.#delays?.enable();
  }

  /** Whether the turns between the last two readings were late on average. */
  get late(): boolean {
    const delays = this.#delays;
    if (delays === undefined) return false;
    const now = performance.now();
    const elapsed = now - this.#readAt;
    if (elapsed < INTERVAL) return this.#late;
    // No look at all: the loop has not turned since.
    const delay = delays.count === 0 ? elapsed : delays.mean / 1e6 - RESOLUTION;
    this.#late = delay > this.#maxDelayMs;
    this.#readAt = now;
    delays.reset();
    return this.#late;
  }

  close(): void {
    this.#delays?.disable();
  }
}
