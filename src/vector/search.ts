/**
 * `createSearch`: finds the vectors nearest to each query, exactly, in batches that callers add.
 * It keeps at most k rows for each query, handles nulls, selections and distance bounds, and works
 * in steps. `distances` returns the distance of each row of one array. table/query/search.ts
 * supplies batches from tables.
 */

import { getBit } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import {
  checkMetric,
  checkValues,
  type ElementType,
  elementTypeOf,
  invalid,
  type Metric,
  type VectorValues,
} from './elements.ts';
import type { Kernels } from './kernels.ts';
import { createMeasure } from './measure.ts';
import { createNearest, type Nearest } from './nearest.ts';
import { plainKernels } from './plain-kernels.ts';
import { type PreparedQuery, prepareQuery } from './query.ts';
import { SIFTED_ROWS, type Sieve } from './sieve.ts';
import { loadSimdKernels } from './simd-kernels.ts';

export interface SearchOptions {
  readonly metric: Metric;
  /** Elements in each vector, 1 to MAX_DIMENSION. */
  readonly dimension: number;
  readonly elementType: ElementType;
  /** One or more vectors; each is first rounded to `elementType`. */
  readonly queries: readonly ArrayLike<number>[];
  /** How many to find for each query: a whole number from 1 on, or Infinity for all. */
  readonly k: number;
  /** Distances from here on, itself included; taken to float32 as distances are. */
  readonly lowerBound?: number | undefined;
  /** Distances up to here, itself not included; taken to float32 as distances are. */
  readonly upperBound?: number | undefined;
  /** Which kernels to use, for tests; the results are the same. Default: SIMD where it is known. */
  readonly kernels?: 'simd' | 'plain' | undefined;
}

export interface VectorBatch {
  /** Row r's elements begin at r * dimension, be the row null or not. */
  readonly values: VectorValues;
  readonly rows: number;
  /** A bit for each row, lowest first, 0 where the vector is null; such a row never matches. */
  readonly validity?: Uint8Array | undefined;
  /** Where in `validity` the bit of row 0 is; 0 if not given. */
  readonly validityOffset?: number | undefined;
  /** The rows to look at, each below `rows`; all if not given. */
  readonly selection?: Uint32Array | undefined;
}

/** The matches of one query, nearest first. */
export interface Matches {
  readonly positions: Float64Array;
  readonly distances: Float32Array;
}

/** Generators of steps of a few milliseconds, so that callers can yield to the event loop. */
export interface VectorSearch {
  /** Bytes that the matches kept so far take. */
  readonly heldBytes: number;
  /** Searches a batch whose row r has the position `firstPosition` + r. */
  add(batch: VectorBatch, firstPosition: number): Generator<void>;
  /**
   * For each query its matches, of equal distances the lower position first, whatever the order of
   * batches. A row at no distance (NaN) is not among them. Ends the search.
   */
  finish(): Generator<void, Matches[]>;
}

/** Elements compared between two steps: about a millisecond's work. */
const STEP_ELEMENTS = 1 << 20;
/** What looking at the distance of a row costs, in elements compared. */
const ROW_COST = 16;

/** Where more of the rows than this are wanted, or measured after all, sifting does not pay. */
const MOST_KEPT = 1 / 128;
const MOST_MEASURED = 1 / 4;
/** Candidates are copied one by one, which is slower than measuring rows as they lie. */
const MOST_CANDIDATES = 1 / 8;

/** Throws InvalidInput for options that do not fit each other, here and from `add`. */
export function createSearch(options: SearchOptions): VectorSearch {
  const { metric, elementType, dimension, k } = options;
  checkMetric(metric, elementType, dimension);
  if (!(k >= 1 && (Number.isInteger(k) || k === Infinity))) {
    throw invalid(`A search for the nearest ${k} vectors is not possible; ask for 1 or more.`);
  }
  if (options.queries.length === 0) throw invalid('A vector search needs a query vector.');
  const lower = bound(options.lowerBound, 'lower') ?? -Infinity;
  const upper = bound(options.upperBound, 'upper');
  const queries = options.queries.map((numbers) =>
    prepareQuery(metric, elementType, dimension, numbers),
  );
  const found = queries.map(() => createNearest(k));
  const kernels = kernelsFor(options.kernels);
  const measure = createMeasure(kernels, metric, elementType, dimension);
  const sketches = lower === -Infinity ? kernels.sketchesOf(dimension) : undefined;
  const distances = new Float32Array(measure.capacity);
  let finished = false;

  function* add(batch: VectorBatch, firstPosition: number): Generator<void> {
    if (finished) throw new DirspaceError('Closed', 'This vector search has been finished.');
    checkValues(batch.values, elementType, dimension, batch.rows);
    checkSelection(batch);
    const first = yield* sift(batch, firstPosition);
    if (first < queries.length) yield* measureAll(batch, firstPosition, first);
  }

  /** Measures all rows for the queries from `first` on: a block of rows for each, then the next block. */
  function* measureAll(batch: VectorBatch, firstPosition: number, first: number): Generator<void> {
    const { values, rows, selection } = batch;
    const length = selection?.length ?? rows;
    if (selection === undefined) measure.begin(values);
    let compared = 0;
    for (let from = 0; from < length; from += measure.capacity) {
      const count = Math.min(measure.capacity, length - from);
      measure.load(values, selection, from, count);
      for (let index = first; index < queries.length; index++) {
        measure.distances(queries[index] as PreparedQuery, distances);
        keep(found[index] as Nearest, batch, firstPosition, from, count);
        compared += count * (dimension + ROW_COST);
        if (compared < STEP_ELEMENTS) continue;
        compared = 0;
        yield;
        // Other searches lay their rows at the same place.
        measure.load(values, selection, from, count);
      }
    }
  }

  /**
   * Measures only what may be among the nearest, where there is a sketch to tell. Answers the first
   * query for which there was none.
   */
  function* sift(batch: VectorBatch, firstPosition: number): Generator<void, number> {
    const { values, rows, selection } = batch;
    if (sketches === undefined || selection !== undefined || k > rows * MOST_KEPT) return 0;
    let place = sketches.placeOf(values, rows);
    let measured = 0;
    let compared = 0;
    let index = 0;
    for (; index < queries.length && place !== undefined; index++) {
      const query = queries[index] as PreparedQuery;
      const sieve = sketches.sieve(place, metric, query);
      if (sieve === undefined) break;
      measured += siftFor(query, found[index] as Nearest, sieve, batch, firstPosition);
      compared += rows * (dimension / 4 + ROW_COST);
      if (compared < STEP_ELEMENTS) continue;
      compared = 0;
      yield;
      // Its room may have been given to others meanwhile.
      place = sketches.keptPlaceOf(values);
    }
    if (index > 0) sketches.judge(values, measured <= rows * index * MOST_MEASURED);
    return index;
  }

  /** How many rows it measured. */
  function siftFor(
    query: PreparedQuery,
    nearest: Nearest,
    sieve: Sieve,
    batch: VectorBatch,
    firstPosition: number,
  ): number {
    const { values, rows } = batch;
    const look = (selection: Uint32Array | undefined, from: number, count: number): void => {
      measure.load(values, selection, from, count);
      measure.distances(query, distances);
      keep(nearest, { ...batch, selection }, firstPosition, from, count);
      measured += count;
    };
    let measured = 0;
    /** Rows before it are measured without asking the sieve: the limit sinks meanwhile. */
    let straightUpTo = nearest.limit === Infinity ? SIFTED_ROWS : 0;
    let straightRows = SIFTED_ROWS;
    for (let from = 0; from < rows; ) {
      const limit = Math.min(nearest.limit, upper ?? Infinity);
      if (limit === Infinity || from < straightUpTo) {
        const count = Math.min(measure.capacity, rows - from);
        look(undefined, from, count);
        from += count;
        continue;
      }
      const count = Math.min(SIFTED_ROWS, rows - from);
      const candidates = sieve.candidates(limit, from, count);
      for (let at = 0; at < candidates.length; at += measure.capacity) {
        look(candidates, at, Math.min(measure.capacity, candidates.length - at));
      }
      from += count;
      if (candidates.length <= count * MOST_CANDIDATES) continue;
      straightUpTo = from + straightRows;
      straightRows *= 2;
    }
    return measured;
  }

  function keep(
    nearest: Nearest,
    batch: VectorBatch,
    firstPosition: number,
    from: number,
    count: number,
  ): void {
    const { selection, validity, validityOffset = 0 } = batch;
    let { limit } = nearest;
    for (let index = 0; index < count; index += 1) {
      const distance = distances[index] as number;
      if (!(distance <= limit) || distance < lower) continue;
      if (upper !== undefined && distance >= upper) continue;
      const row = selection === undefined ? from + index : (selection[from + index] as number);
      if (validity !== undefined && !getBit(validity, validityOffset + row)) continue;
      nearest.offer(distance, firstPosition + row);
      limit = nearest.limit;
    }
  }

  function* finish(): Generator<void, Matches[]> {
    if (finished) throw new DirspaceError('Closed', 'This vector search has been finished.');
    finished = true;
    const matches: Matches[] = [];
    for (const nearest of found) matches.push(yield* nearest.drain());
    return matches;
  }

  return {
    get heldBytes() {
      return found.reduce((sum, nearest) => sum + nearest.heldBytes, 0);
    },
    add,
    finish,
  };
}

/**
 * The distance of each of `rows` vectors in `values` from `query`, NaN where there is none. Nulls
 * are the caller's: the bytes under them are measured like any other. A Uint16Array holds halves.
 */
export function distances(
  metric: Metric,
  query: ArrayLike<number>,
  values: VectorValues,
  dimension: number,
  rows: number,
  kernels?: 'simd' | 'plain',
): Float32Array {
  const elementType = elementTypeOf(values);
  checkMetric(metric, elementType, dimension);
  checkValues(values, elementType, dimension, rows);
  const prepared: PreparedQuery = prepareQuery(metric, elementType, dimension, query);
  const measure = createMeasure(kernelsFor(kernels), metric, elementType, dimension);
  const out = new Float32Array(rows);
  measure.begin(values);
  for (let from = 0; from < rows; from += measure.capacity) {
    measure.load(values, undefined, from, Math.min(measure.capacity, rows - from));
    measure.distances(prepared, out.subarray(from));
  }
  return out;
}

let best: Kernels | undefined;

function kernelsFor(name: 'simd' | 'plain' | undefined): Kernels {
  if (name === 'plain') return plainKernels;
  best ??= loadSimdKernels() ?? plainKernels;
  if (name === 'simd' && best.name !== 'simd') {
    throw new DirspaceError('Unsupported', 'This runtime has no WebAssembly SIMD.');
  }
  return best;
}

function bound(value: number | undefined, side: string): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isNaN(value)) throw invalid(`The ${side} bound of a distance cannot be NaN.`);
  return Math.fround(value);
}

function checkSelection({ selection, rows }: VectorBatch): void {
  if (selection === undefined) return;
  for (const row of selection) {
    if (row >= rows) throw invalid(`Row ${row} was selected of a batch of ${rows} rows.`);
  }
}
