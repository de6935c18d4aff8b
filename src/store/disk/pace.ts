/**
 * `Pace` decides whether large reads are synchronous. They are while a piece of 1 MiB takes less
 * than 2 ms. After a slower piece, the next 64 pieces go to the thread pool.
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
