/**
 * `createLateSearch` finds the k nearest rows when both the query and each row hold several vectors
 * (late interaction). For each vector of the query it takes the distance to the nearest vector of
 * the row; the sum of these is the distance of the row. The search is exact. A row does not match
 * if one of the distances is missing, as for a row without vectors. `add` searches a batch, and
 * `finish` returns the matches once, nearest first, both in steps. Options or batches that do not
 * fit each other throw InvalidInput.
 */
import { getBit } from '../arrow/index.ts';
import { checkMetric, checkValues, checkWanted, invalid } from './elements.ts';
import { createMeasure } from './measure.ts';
import { createNearest } from './nearest.ts';
import { prepareQuery } from './query.ts';
import {
  boundOf,
  kernelsFor,
  type Matches,
  type SearchOptions,
  type VectorBatch,
} from './search.ts';

/** As of other searches: `queries` are the vectors of the one query, and `k` counts rows. */
export type LateSearchOptions = SearchOptions;

/** Rows of a batch, each with a run of vectors. */
export interface LateBatch {
  /** The vectors of all rows; those that are not valid count for nothing. */
  readonly vectors: Omit<VectorBatch, 'selection' | 'numbers' | 'again'>;
  /** The rows to look at. */
  readonly rows: Uint32Array;
  /** The indexes at which the vectors of each of these rows begin, and before which they end. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

export interface LateSearch {
  /** Bytes that the matches kept so far take. */
  readonly heldBytes: number;
  /** Searches rows whose row r has the position `firstPosition` + r. */
  add(batch: LateBatch, firstPosition: number): Generator<void>;
  /** The matches, nearest first; of equal distances the lower position first. Ends the search. */
  finish(): Generator<void, Matches>;
}

/** Elements compared between two steps: about a millisecond's work. */
const STEP_ELEMENTS = 1 << 20;
/** Distances kept for the rows of one part of a batch, at most. */
const MOST_DISTANCES = 1 << 18;

/** @throws InvalidInput for options that do not fit each other, here and from `add` */
export function createLateSearch(options: LateSearchOptions): LateSearch {
  const { metric, elementType, dimension, k } = options;
  checkMetric(metric, elementType, dimension);
  checkWanted(k, 'rows');
  if (options.queries.length === 0) throw invalid('A vector search needs a query vector.');
  const lower = boundOf(options.lowerBound, 'lower') ?? -Infinity;
  const upper = boundOf(options.upperBound, 'upper') ?? Infinity;
  const queries = options.queries.map((numbers) =>
    prepareQuery(metric, elementType, dimension, numbers),
  );
  const nearest = createNearest(k);
  const measure = createMeasure(kernelsFor(options.kernels), metric, elementType, dimension);
  const distances = new Float32Array(measure.capacity);
  const rowsAtOnce = Math.max(1, Math.floor(MOST_DISTANCES / queries.length));

  function* add(batch: LateBatch, firstPosition: number): Generator<void> {
    checkValues(batch.vectors.values, elementType, dimension, batch.vectors.rows);
    for (let from = 0; from < batch.rows.length; from += rowsAtOnce) {
      const to = Math.min(batch.rows.length, from + rowsAtOnce);
      const least = yield* leastOf(batch, from, to);
      for (let at = from; at < to; at += 1) {
        let sum = 0;
        for (let query = 0; query < queries.length; query += 1) {
          sum += least[(at - from) * queries.length + query] as number;
        }
        const distance = Math.fround(sum);
        if (!(distance <= nearest.limit)) continue;
        // Also where a query vector has no distance to the row.
        if (distance < lower || distance >= upper) continue;
        nearest.offer(distance, firstPosition + (batch.rows[at] as number));
      }
      yield;
    }
  }

  /**
   * The distance of the row's nearest vector for each row and query vector; Infinity if it has
   * none.
   */
  function* leastOf(batch: LateBatch, from: number, to: number): Generator<void, Float32Array> {
    const { vectors, starts, ends } = batch;
    const { values, validity, validityOffset = 0 } = vectors;
    const least = new Float32Array((to - from) * queries.length).fill(Infinity);
    const numbers = new Uint32Array(measure.capacity);
    const owners = new Uint32Array(measure.capacity);
    let count = 0;
    let compared = 0;
    const measured = function* (): Generator<void> {
      for (const [query, prepared] of queries.entries()) {
        // Other searches lay their vectors at the same place between steps.
        if (query === 0 || compared >= STEP_ELEMENTS) {
          if (compared >= STEP_ELEMENTS) yield;
          compared = 0;
          measure.load(values, numbers, 0, count);
        }
        measure.distances(prepared, distances);
        for (let at = 0; at < count; at += 1) {
          const slot = (owners[at] as number) * queries.length + query;
          // Never true of NaN: a vector without a distance counts for nothing.
          if ((distances[at] as number) < (least[slot] as number)) {
            least[slot] = distances[at] as number;
          }
        }
        compared += count * dimension;
      }
      count = 0;
    };
    for (let row = from; row < to; row += 1) {
      for (let at = starts[row] as number; at < (ends[row] as number); at += 1) {
        if (validity !== undefined && !getBit(validity, validityOffset + at)) continue;
        numbers[count] = at;
        owners[count] = row - from;
        count += 1;
        if (count === measure.capacity) yield* measured();
      }
    }
    if (count > 0) yield* measured();
    return least;
  }

  return {
    get heldBytes() {
      return nearest.heldBytes;
    },
    add,
    finish: () => nearest.drain(),
  };
}
