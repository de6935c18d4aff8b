/**
 * `ReaderPace` measures how long an answer waits for its reader, or a request body for its sender.
 * Call `wait` when the waiting begins, and `took` with the bytes that moved. A peer of at least 64
 * KiB a second is never slow. When memory is short, `ServerMemory` (request-memory.ts) aborts the
 * answer or body that has waited longest, if that is at least five seconds.
 */
import { SLOW_MILLIS, type SlowAnswer } from '../../request-memory.ts';

/** Bytes a second; a reader that takes as many is never slow. */
const LEAST_RATE = 65_536;
const WINDOW_BYTES = (LEAST_RATE * SLOW_MILLIS) / 1_000;

/** Counts the time spent waiting for one reader or sender; it starts again after each `WINDOW_BYTES` bytes. */
export class ReaderPace implements SlowAnswer {
  readonly #now: () => number;
  readonly #end: () => void;
  #bytes = 0;
  #millis = 0;
  #since: number | undefined;

  /** @param end breaks the answer off */
  constructor(end: () => void, now: () => number = () => performance.now()) {
    this.#end = end;
    this.#now = now;
  }

  /** From now on it is the reader that the answer waits for. */
  wait(): void {
    this.#since = this.#now();
  }

  /** The reader took so many bytes. */
  took(bytes: number): void {
    this.#millis += this.#since === undefined ? 0 : this.#now() - this.#since;
    this.#since = undefined;
    this.#bytes += bytes;
    if (this.#bytes < WINDOW_BYTES) return;
    this.#bytes = 0;
    this.#millis = 0;
  }

  waited(): number {
    return this.#since === undefined ? 0 : this.#millis + this.#now() - this.#since;
  }

  end(): void {
    this.#end();
  }
}
