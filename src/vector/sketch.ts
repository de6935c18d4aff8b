/**
 * Builds the sketch of a batch of vectors of float32 or float16 (`Sketcher`, `sketchOf`). A sketch
 * approximates each element by one byte, and has a bound on the resulting error for each row, by
 * which sieve.ts rules out rows. A batch is worth a sketch if it has 1,024 rows or more, of 32 to
 * 32,768 elements (`isSketchable`). The caller gives the place for it, of `sketchBytes` bytes. This
 * file also defines the layout of sketches and the interfaces of the kernels that read them.
 * sketch-cache.ts keeps sketches in bounded memory.
 */
import { getBit } from '../arrow/index.ts';
import type { ElementType, VectorValues } from './elements.ts';
import { type KernelMemory, reserve } from './residents.ts';

export interface SketchKernels {
  readonly memory: KernelMemory;
  readonly quantise: (
    rows: number,
    stride: number,
    count: number,
    centre: number,
    codes: number,
    group: number,
    facts: number,
  ) => void;
  readonly sift: (
    group: number,
    count: number,
    sizes: number,
    query: number,
    end: number,
    slope: number,
    reach: number,
    weight: number,
    least: number,
    row: number,
    found: number,
  ) => number;
}

/** The kernels of partitioned vectors (indexes/ivf), as kernels.wat describes them. */
export interface PartitionKernels extends SketchKernels {
  readonly rotate: (
    rows: number,
    stride: number,
    count: number,
    signs: number,
    span: number,
  ) => void;
  readonly assign: (
    rows: number,
    stride: number,
    count: number,
    centroids: number,
    halves: number,
    centroidCount: number,
    found: number,
  ) => void;
  readonly estimate: (
    block: number,
    count: number,
    tables: number,
    end: number,
    sums: number,
    weight: number,
    slope: number,
    offset: number,
    reach: number,
    least: number,
    row: number,
    found: number,
  ) => number;
  readonly refine: (
    numbers: number,
    count: number,
    rows: number,
    stride: number,
    query: number,
    end: number,
    weight: number,
    slope: number,
    out: number,
  ) => void;
}

/** A block of rows in the memory of the kernels. */
export interface LoadedRows {
  readonly capacity: number;
  /** Bytes from one row to the next: a multiple of 32, filled up with zeros. */
  readonly stride: number;
  /** Where the rows loaded last begin. */
  readonly at: number;
  /** Nothing of the block lies from here on. */
  readonly end: number;
  load(values: VectorValues, rows: Uint32Array | undefined, from: number, count: number): void;
}

/** Makes sketches, and gives the memory in which they are sifted. */
export interface Sketching {
  readonly kernels: SketchKernels;
  openRows(elementType: ElementType, dimension: number): LoadedRows;
  /** The same kernels with another memory of one page. @throws RangeError if there is no memory */
  openMemory(): PartitionKernels;
}

/** The place for a new sketch: its bytes, and room for a group after them. */
export interface SketchPlace {
  readonly kernels: PartitionKernels;
  readonly at: number;
}

/**
 * A sketch in the memory of kernels: the centre, whose float32 are as many as a row's, then groups.
 * A group past it can be read.
 *
 * The sketch of a row x is the vector centre + step * code, where the codes are whole numbers of
 * -127 to 127, and `left` is at least as large as the norm of x - centre - step * code. Rows of
 * other lengths are filled up with zeros to whole groups of eight elements, whose products and
 * differences are 0. A half float is the float32 of the same value.
 */
export interface Sketch extends SketchPlace {
  readonly rows: number;
  readonly dimension: number;
}

/** The rows that a sketch is made of. */
export interface SketchedRows {
  readonly values: VectorValues;
  readonly rows: number;
  readonly validity?: Uint8Array | undefined;
  readonly validityOffset?: number | undefined;
}

/** Four rows make a group, whose head is four float32 of each of these, then come their codes. */
export const GROUP_ROWS = 4;
export const HEAD_BYTES = 64;
/**
 * The squared norm of step * code, made less by what roundings may add, less the square of `left`.
 */
export const SQUARES_AT = 32;
/** The norm of the row itself, off by a factor of 1 + gamma and by 1e-18 at most. */
export const NORMS_AT = 48;
const LEFTS = 4;
const SQUARES = SQUARES_AT / 4;
const NORMS = NORMS_AT / 4;

/** No element that is farther from 0, or from the centre, can be sketched. */
export const LARGEST = 1e15;
/** Many times what the few roundings of one formula of float32 can add, relative to its terms. */
export const ETA: number = 2 ** -19;
const CENTRE_ROWS = 64;
/** With fewer rows, or shorter ones, measuring all takes as long. */
const LEAST_ROWS = 1024;
const LEAST_DIMENSION = 32;
const MOST_DIMENSION = 32_768;
/** Rows sketched between two steps: about a millisecond's work of 128 elements. */
const STEP_ELEMENTS = 1 << 19;

/** At least the relative error of a sum of `dimension` products of float32, in whatever order. */
export const gammaOf = (dimension: number): number => (dimension + 64) * 2 ** -23;

/** Elements of a row with the zeros that fill it up. */
export const paddedOf = (dimension: number): number => Math.ceil(dimension / 8) * 8;

export const groupBytes = (dimension: number): number =>
  HEAD_BYTES + GROUP_ROWS * paddedOf(dimension);

/** Where the groups of a sketch begin. */
export const groupsAt = (dimension: number): number => paddedOf(dimension) * 4;

/** Bytes of a sketch, and of the group past it. */
export const sketchBytes = (rows: number, dimension: number): number =>
  groupsAt(dimension) + (Math.ceil(rows / GROUP_ROWS) + 1) * groupBytes(dimension);

/** Whether vectors are worth a sketch: those of float64 and uint8 have none. */
export const isSketchable = (elementType: ElementType, dimension: number, rows: number): boolean =>
  (elementType === 'float32' || elementType === 'float16') &&
  rows >= LEAST_ROWS &&
  dimension >= LEAST_DIMENSION &&
  dimension <= MOST_DIMENSION;

/**
 * Makes the sketch of rows that are sketchable, block by block as they are loaded.
 *
 * Why `left` is at least the norm of x - centre - step * code, with u = 2^-24: the kernel computes
 * (x - c) - step * code in three roundings. Their errors are at most u * |x - c| + u * |step *
 * code| + u * |the result|, and as |x - c| is at most 127.01 * step, below 2^-15 * step for each
 * element. The sum of squares of n results is off by a factor of 1 + gamma at most, and by n *
 * 2^-150 where squares are too small for a float32: a norm of 2^-75 for each element, and no step
 * is below 1e-18. So sqrt(sum) * (1 + gamma) + sqrt(n) * 2^-13 * step is enough.
 */
export class Sketcher {
  readonly #sketching: Sketching;
  readonly #dimension: number;
  readonly #batch: SketchedRows;
  readonly #place: SketchPlace;
  readonly #centre: Float32Array;

  constructor(
    sketching: Sketching,
    elementType: ElementType,
    dimension: number,
    batch: SketchedRows,
    place: SketchPlace,
  ) {
    this.#sketching = sketching;
    this.#dimension = dimension;
    this.#batch = batch;
    this.#place = place;
    const block = sketching.openRows(elementType, dimension);
    this.#centre = new Float32Array(paddedOf(dimension));
    this.#centre.set(centreOf(block, sketching.kernels, batch, dimension));
    new Float32Array(place.kernels.memory.buffer, place.at).set(this.#centre);
  }

  /** Takes the rows that are loaded, whose first is `from`, a multiple of 4. */
  add(block: LoadedRows, from: number, count: number): void {
    const { kernels } = this.#sketching;
    const dimension = this.#dimension;
    const centre = this.#centre;
    const group = groupBytes(dimension);
    const groups = Math.ceil(count / GROUP_ROWS);
    const centreAt = block.end;
    const factsAt = centreAt + centre.byteLength;
    const codesAt = factsAt + groups * GROUP_ROWS * 16;
    reserve(kernels.memory, codesAt + groups * group);
    const { buffer } = kernels.memory;
    new Float32Array(buffer, centreAt, centre.length).set(centre);
    kernels.quantise(block.at, block.stride, count, centreAt, codesAt + HEAD_BYTES, group, factsAt);
    const facts = new Float32Array(buffer, factsAt, groups * GROUP_ROWS * 4);
    const heads = new Float32Array(buffer, codesAt, (groups * group) / 4);
    for (let row = 0; row < count; row += GROUP_ROWS) {
      const has = (lane: number): boolean => hasVector(this.#batch, from + row + lane);
      writeHead(heads, ((row / GROUP_ROWS) * group) / 4, facts, row, dimension, has);
    }
    const at = this.#place.at + groupsAt(dimension) + (from / GROUP_ROWS) * group;
    const own = new Uint8Array(this.#place.kernels.memory.buffer);
    own.set(new Uint8Array(buffer, codesAt, groups * group), at);
  }

  /** Once all rows were added. */
  get sketch(): Sketch {
    return { ...this.#place, rows: this.#batch.rows, dimension: this.#dimension };
  }
}

/** Loads rows into the kernels and makes their sketch, for rows that no search measures at the same time. */
export function* sketchOf(
  sketching: Sketching,
  elementType: ElementType,
  dimension: number,
  batch: SketchedRows,
  place: SketchPlace,
): Generator<void, Sketch> {
  const sketcher = new Sketcher(sketching, elementType, dimension, batch, place);
  const block = sketching.openRows(elementType, dimension);
  let since = 0;
  for (let from = 0; from < batch.rows; from += block.capacity) {
    const count = Math.min(block.capacity, batch.rows - from);
    block.load(batch.values, undefined, from, count);
    sketcher.add(block, from, count);
    since += count * dimension;
    if (since < STEP_ELEMENTS) continue;
    since = 0;
    yield;
  }
  return sketcher.sketch;
}

function hasVector({ rows, validity, validityOffset = 0 }: SketchedRows, row: number): boolean {
  return row < rows && (validity === undefined || getBit(validity, validityOffset + row));
}

/**
 * Writes the head of a group to `heads` from `at` on.
 * @param has whether there is a vector in the lane; a row that has none is always ruled out
 */
function writeHead(
  heads: Float32Array,
  at: number,
  facts: Float32Array,
  row: number,
  dimension: number,
  has: (lane: number) => boolean,
): void {
  const gamma = gammaOf(dimension);
  for (let lane = 0; lane < GROUP_ROWS; lane += 1) {
    if (!has(lane)) {
      heads[at + lane] = 0;
      heads[at + LEFTS + lane] = -Infinity;
      heads[at + SQUARES + lane] = 0;
      heads[at + NORMS + lane] = 0;
      continue;
    }
    const fact = (row + lane) * 4;
    const step = facts[fact] as number;
    const residual = Math.sqrt(facts[fact + 1] as number) * (1 + gamma);
    const left = (residual + Math.sqrt(dimension) * 2 ** -13 * step) * (1 + ETA);
    const size = step * step * (facts[fact + 2] as number);
    heads[at + lane] = step;
    heads[at + LEFTS + lane] = left;
    heads[at + SQUARES + lane] = size * (1 - ETA) - left * left * (1 + ETA);
    heads[at + NORMS + lane] = Math.sqrt(facts[fact + 3] as number);
  }
}

/** About the mean: anything will do, but from the middle of the rows the steps are least. */
function centreOf(
  block: LoadedRows,
  { memory }: SketchKernels,
  { values, rows }: SketchedRows,
  dimension: number,
): Float32Array {
  const apart = Math.ceil(rows / CENTRE_ROWS);
  const sums = new Float64Array(dimension);
  let count = 0;
  for (let row = 0; row < rows; row += apart) {
    count += 1;
    block.load(values, undefined, row, 1);
    const numbers = new Float32Array(memory.buffer, block.at, dimension);
    for (let i = 0; i < dimension; i += 1) {
      sums[i] = (sums[i] as number) + (numbers[i] as number);
    }
  }
  return Float32Array.from(sums, (sum) => {
    const mean = sum / count;
    return Math.abs(mean) <= LARGEST ? mean : 0;
  });
}
