/**
 * `TopRows` keeps the best of the rows that are added, up to a limit, by their scores. Scores are
 * rounded to 32 bits and must not be NaN. Of equal scores, the row with the lower number is better.
 * `finish` returns the rows in steps, the best first.
 */
import { createNearest, type Nearest } from '../vector/index.ts';

export interface RankedRows {
  readonly rows: Float64Array;
  readonly scores: Float32Array;
}

export class TopRows {
  readonly #nearest: Nearest;

  /** @param limit at least 1 */
  constructor(limit: number) {
    this.#nearest = createNearest(limit);
  }

  get heldBytes(): number {
    return this.#nearest.heldBytes;
  }

  /** Lower scores change nothing; -Infinity while there is room. */
  get threshold(): number {
    return -this.#nearest.limit;
  }

  add(row: number, score: number): void {
    this.#nearest.offer(Math.fround(-score), row);
  }

  *finish(): Generator<void, RankedRows> {
    const { distances, positions } = yield* this.#nearest.drain();
    return { rows: positions, scores: distances.map((distance) => -distance) };
  }
}
