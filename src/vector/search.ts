/**
 * `createSearch` finds the k vectors nearest to each query, exactly, in batches that the caller
 * adds. It works in steps. `finish` returns the matches once; after it, `add` throws Closed. Null
 * rows and rows at distance NaN do not match. A sketch of a batch can be made while it is added
 * (`addSketched`); a later search can rule out rows by it without measuring them (`sift`). Options
 * or batches that do not fit each other throw InvalidInput. `kernelsFor` chooses the kernels of the
 * runtime. `openPartitions` opens those of vector indexes, or returns undefined in a runtime
 * without WebAssembly SIMD (`hasPartitions`). table/query/nearest.ts supplies batches from tables.
 */

import { getBit } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import {
  checkMetric,
  checkValues,
  checkWanted,
  type ElementType,
  invalid,
  type Metric,
  type VectorValues,
} from './elements.ts';
import type { Kernels } from './kernels.ts';
import { createMeasure } from './measure.ts';
import { createNearest, type Nearest } from './nearest.ts';
import { plainKernels } from './plain-kernels.ts';
import { prepareQuery } from './query.ts';
import { Sifting } from './sifting.ts';
import { loadSimdKernels } from './simd-kernels.ts';
import {
  isSketchable,
  type LoadedRows,
  type PartitionKernels,
  type Sketch,
  Sketcher,
  type Sketching,
  type SketchPlace,
  sketchOf,
} from './sketch.ts';

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
  /** The index in `validity` of the bit of row 0; 0 if not given. */
  readonly validityOffset?: number | undefined;
  /** The rows to look at, each below `rows`; all if not given. */
  readonly selection?: Uint32Array | undefined;
  /** The number to add to `firstPosition` for each row; its own number if not given. */
  readonly numbers?: Uint32Array | undefined;
  /** Whether later searches bring the same array, which then may be kept in the kernels' memory. */
  readonly again?: boolean | undefined;
}

/** Rows to measure. */
export interface Sifted {
  /** Ascending. */
  readonly rows: Uint32Array;
  /**
   * True if the rows are to be passed to `limit`, after which `sift` is called again; false if to `add`.
   */
  readonly forLimit: boolean;
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
  /** Does the same, and makes the batch's sketch at the place given. */
  addSketched(
    batch: VectorBatch,
    firstPosition: number,
    place: SketchPlace,
  ): Generator<void, Sketch>;
  /** Whether batches of so many rows are worth a sketch. */
  sketchable(rows: number): boolean;
  /** Whether this search can use one. */
  sifts(rows: number): boolean;
  /** Opens a memory for sketches of sketchable batches. @throws RangeError where there is none */
  openMemory(): PartitionKernels;
  /**
   * The rows of a batch that have to be measured, of those selected; the others are farther than
   * the nearest ones that are known. Undefined where all have to be.
   */
  sift(sketch: Sketch, selection?: Uint32Array): Generator<void, Sifted | undefined>;
  /**
   * Learns from some rows of the search how far the nearest can be. Finds none: that is for `add`.
   */
  limit(batch: VectorBatch): Generator<void>;
  /**
   * For each query its matches, of equal distances the lower position first, whatever the order of
   * batches. A row at no distance (NaN) is not among them. Ends the search: `add` and `finish`
   * throw Closed afterwards.
   */
  finish(): Generator<void, Matches[]>;
}

/** Elements compared between two steps: about a millisecond's work. */
const STEP_ELEMENTS = 1 << 20;
/** Looking at the distance of a row costs as much as comparing this many elements. */
const ROW_COST = 16;

/** If a larger share of a batch's rows than this is wanted, sifting does not pay. */
const MOST_WANTED = 1 / 32;

/** Throws InvalidInput for options that do not fit each other, here and from `add`. */
export function createSearch(options: SearchOptions): VectorSearch {
  const { metric, elementType, dimension, k } = options;
  checkMetric(metric, elementType, dimension);
  checkWanted(k, 'vectors');
  if (options.queries.length === 0) throw invalid('A vector search needs a query vector.');
  const lower = boundOf(options.lowerBound, 'lower') ?? -Infinity;
  const upper = boundOf(options.upperBound, 'upper');
  const queries = options.queries.map((numbers) =>
    prepareQuery(metric, elementType, dimension, numbers),
  );
  const found = queries.map(() => createNearest(k));
  const kernels = kernelsFor(options.kernels);
  const measure = createMeasure(kernels, metric, elementType, dimension);
  const { sketching } = kernels;
  const sifting =
    lower === -Infinity && sketching !== undefined ? new Sifting(metric, queries) : undefined;
  /** Distances within which k rows are known to be, for each query. */
  const limits = queries.map(() => Infinity);
  const distances = new Float32Array(measure.capacity);
  let finished = false;

  function* add(batch: VectorBatch, firstPosition: number): Generator<void> {
    if (finished) throw new DirspaceError('Closed', 'This vector search has been finished.');
    checkValues(batch.values, elementType, dimension, batch.rows);
    checkSelection(batch);
    yield* measureAll(batch, firstPosition, found);
  }

  function* addSketched(
    batch: VectorBatch,
    firstPosition: number,
    place: SketchPlace,
  ): Generator<void, Sketch> {
    if (batch.selection !== undefined) {
      yield* add(batch, firstPosition);
      return yield* sketchOf(sketching as Sketching, elementType, dimension, batch, place);
    }
    checkValues(batch.values, elementType, dimension, batch.rows);
    const sketcher = new Sketcher(sketching as Sketching, elementType, dimension, batch, place);
    yield* measureAll(batch, firstPosition, found, sketcher);
    return sketcher.sketch;
  }

  /** Measures all rows for all queries: a block of rows for each, then the next block. */
  function* measureAll(
    batch: VectorBatch,
    firstPosition: number,
    into: readonly Nearest[],
    sketcher?: Sketcher,
  ): Generator<void> {
    const { values, rows, selection } = batch;
    const length = selection?.length ?? rows;
    if (selection === undefined && batch.again === true) measure.begin(values);
    let compared = 0;
    for (let from = 0; from < length; from += measure.capacity) {
      const count = Math.min(measure.capacity, length - from);
      measure.load(values, selection, from, count);
      sketcher?.add(measure.loaded as LoadedRows, from, count);
      for (const [index, query] of queries.entries()) {
        measure.distances(query, distances);
        keep(into[index] as Nearest, batch, firstPosition, from, count);
        compared += count * (dimension + ROW_COST);
        if (compared < STEP_ELEMENTS) continue;
        compared = 0;
        yield;
        // Other searches lay their rows at the same place.
        measure.load(values, selection, from, count);
      }
    }
  }

  /** The rows of a batch that have to be measured, by its sketch. */
  function* sift(sketch: Sketch, selection?: Uint32Array): Generator<void, Sifted | undefined> {
    if (sifting === undefined) return undefined;
    const limitOf = (index: number): number =>
      Math.min((found[index] as Nearest).limit, limits[index] as number, upper ?? Infinity);
    const limited = queries.map((_, index) => limitOf(index));
    if (limited.every((limit) => limit < Infinity)) {
      const rows = yield* sifting.candidates(sketch, selection, limited);
      return rows && { rows, forLimit: false };
    }
    const without = (index: number): boolean => limited[index] === Infinity;
    const rows = yield* sifting.guess(sketch, selection, k, without);
    return rows && { rows, forLimit: true };
  }

  function* limit(batch: VectorBatch): Generator<void> {
    checkValues(batch.values, elementType, dimension, batch.rows);
    const near = queries.map(() => createNearest(k));
    yield* measureAll(batch, 0, near);
    for (const [index, { limit: distance }] of near.entries()) {
      limits[index] = Math.min(limits[index] as number, distance);
    }
  }

  function keep(
    nearest: Nearest,
    batch: VectorBatch,
    firstPosition: number,
    from: number,
    count: number,
  ): void {
    const { selection, validity, validityOffset = 0, numbers } = batch;
    let { limit } = nearest;
    for (let index = 0; index < count; index += 1) {
      const distance = distances[index] as number;
      if (!(distance <= limit) || distance < lower) continue;
      if (upper !== undefined && distance >= upper) continue;
      const row = selection === undefined ? from + index : (selection[from + index] as number);
      if (validity !== undefined && !getBit(validity, validityOffset + row)) continue;
      nearest.offer(distance, firstPosition + (numbers?.[row] ?? row));
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
    addSketched,
    sketchable: (rows) => sketching !== undefined && isSketchable(elementType, dimension, rows),
    sifts: (rows) => sifting !== undefined && k <= rows * MOST_WANTED,
    openMemory: () => (sketching as Sketching).openMemory(),
    sift,
    limit,
    finish,
  };
}

/** Whether the runtime has the kernels of partitions. */
export const hasPartitions = (): boolean => kernelsFor(undefined).sketching !== undefined;

/**
 * Opens a memory for the kernels of partitions; undefined where the runtime lacks these.
 * @throws RangeError where there is none
 */
export const openPartitions = (): PartitionKernels | undefined =>
  kernelsFor(undefined).sketching?.openMemory();

let best: Kernels | undefined;

/** The kernels of that name, or the best ones. @throws Unsupported */
export function kernelsFor(name: 'simd' | 'plain' | undefined): Kernels {
  if (name === 'plain') return plainKernels;
  best ??= loadSimdKernels() ?? plainKernels;
  if (name === 'simd' && best.name !== 'simd') {
    throw new DirspaceError('Unsupported', 'This runtime has no WebAssembly SIMD.');
  }
  return best;
}

/** A bound as distances are rounded. @throws InvalidInput */
export function boundOf(value: number | undefined, side: string): number | undefined {
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
