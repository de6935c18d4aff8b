/** Work in steps, run to its end at once. */
import type { VectorSearch } from '../../src/vector/search.ts';

export function run<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

export interface Match {
  /** Which of the query vectors. */
  readonly query: number;
  readonly position: number;
  readonly distance: number;
}

/** For each query its matches, nearest first. Ends the search. */
export const finished = (search: VectorSearch): Match[][] =>
  run(search.finish()).map(({ positions, distances }, query) =>
    Array.from(positions, (position, at) => {
      return { query, position, distance: distances[at] as number };
    }),
  );
