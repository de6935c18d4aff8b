/**
 * `Pace` decides whether the next piece (1 MiB) of a long read is read synchronously. The caller
 * asks `isQuick` before each piece, and reports the time of a synchronous read to `took`. After a
 * piece of 2 ms or more `isQuick` returns false 64 times, and the caller reads through the thread
 * pool.
 */

/** The piece that is timed. */
export const PIECE_BYTES = 1024 * 1024;
/** Milliseconds for a piece; clocks may count whole ones, so that one more or less says nothing. */
const SLOW = 2;
/** Reads that go to the thread pool after a slow piece. */
const REST = 64;

export class Pace {
  #rest = 0;

  /** Asked before each piece. */
  isQuick(): boolean {
    if (this.#rest === 0) return true;
    this.#rest -= 1;
    return false;
  }

  /** How many milliseconds a piece took. */
  took(elapsed: number): void {
    if (elapsed >= SLOW) this.#rest = REST;
  }
}
