/**
 * `Workbench` prepares rows for an IVF index in the memory of the WebAssembly kernels. Up to 256
 * rows are written to `rows` and rotated by `turn`. `assign` gives rows to the nearest centroid,
 * after `measure` has seen a sample and `load` the centroids; its result holds until the next call.
 * Rows are compared as whole numbers of 16 bits, whose scale is set by the sample, so a row between
 * two centroids may get either.
 */
import { type PartitionKernels, reserve } from '../../vector/index.ts';
import { signsOf, spanOf } from './turning.ts';

/** Rows handled at once. */
export const BENCH_ROWS = 256;
/** Larger elements than so many times the usual size are cut off where rows are compared. */
const MOST_TIMES = 8;
/** Elements looked at between two steps. */
const STEP_ELEMENTS = 1 << 20;
/** Above every score: of centroids that fill up the last four. */
const FARTHEST = 0x3fffffff;

export class Workbench {
  /** The rows, turned by `turn`. */
  rows: Float32Array;
  readonly #kernels: PartitionKernels;
  readonly #length: number;
  readonly #count: number;
  readonly #places: Readonly<
    Record<'signs' | 'rows' | 'numbers' | 'found' | 'halves' | 'centroids', number>
  >;
  #most = 0;
  #scale = 0;

  /** @param centroids at most */
  constructor(kernels: PartitionKernels, length: number, centroids: number) {
    this.#kernels = kernels;
    this.#length = length;
    this.#count = Math.ceil(centroids / 4) * 4;
    let end = 0;
    const place = (bytes: number): number => {
      const at = end;
      end += Math.ceil(bytes / 64) * 64;
      return at;
    };
    this.#places = {
      signs: place(16 * length),
      rows: place(BENCH_ROWS * length * 4),
      numbers: place((BENCH_ROWS + 1) * length * 2),
      found: place((BENCH_ROWS + 1) * 4),
      halves: place(this.#count * 4),
      centroids: place(this.#count * length * 2),
    };
    reserve(kernels.memory, end);
    const { buffer } = kernels.memory;
    new Float32Array(buffer, this.#places.signs, 4 * length).set(signsOf(length));
    this.rows = new Float32Array(buffer, this.#places.rows, BENCH_ROWS * length);
  }

  /** Turns the first rows of `rows`. */
  turn(count: number): void {
    const { rows, signs } = this.#places;
    const length = this.#length;
    this.#kernels.rotate(rows, length * 4, count, signs, spanOf(length) * 4);
  }

  /** Takes what the elements of turned vectors are like, before the first `load`. */
  *measure(sample: Float32Array): Generator<void> {
    let squares = 0;
    let largest = 0;
    for (let i = 0; i < sample.length; i += 1) {
      const value = sample[i] as number;
      squares += value * value;
      largest = Math.max(largest, Math.abs(value));
      if (i % STEP_ELEMENTS === STEP_ELEMENTS - 1) yield;
    }
    const usual = Math.sqrt(squares / Math.max(1, sample.length)) * MOST_TIMES;
    // No sum of so many products leaves 30 bits.
    this.#most = Math.min(32_767, Math.floor(Math.sqrt(2 ** 29 / this.#length)));
    this.#scale = largest > 0 ? this.#most / Math.min(largest, usual) : 0;
  }

  /** The centroids that rows are given to from now on. */
  load(centroids: Float32Array): void {
    const length = this.#length;
    const { buffer } = this.#kernels.memory;
    const count = centroids.length / length;
    const numbers = new Int16Array(buffer, this.#places.centroids, this.#count * length);
    const halves = new Int32Array(buffer, this.#places.halves, this.#count);
    this.#toNumbers(centroids, centroids.length, numbers);
    halves.fill(FARTHEST);
    for (let centroid = 0; centroid < count; centroid += 1) {
      let sum = 0;
      for (let i = centroid * length; i < (centroid + 1) * length; i += 1) {
        sum += (numbers[i] as number) ** 2;
      }
      halves[centroid] = sum >> 1;
    }
  }

  /** The centroid of each of the first rows of `rows`, until the next call. */
  assign(rows: Float32Array, count: number): Int32Array {
    const { numbers, centroids, halves, found } = this.#places;
    const { buffer } = this.#kernels.memory;
    const length = this.#length;
    this.#toNumbers(rows, count * length, new Int16Array(buffer, numbers, count * length));
    this.#kernels.assign(numbers, length * 2, count, centroids, halves, this.#count, found);
    return new Int32Array(buffer, found, count);
  }

  #toNumbers(values: Float32Array, count: number, into: Int16Array): void {
    const most = this.#most;
    const scale = this.#scale;
    for (let i = 0; i < count; i += 1) {
      const value = (values[i] as number) * scale;
      into[i] = value > most ? most : value < -most ? -most : value;
    }
  }
}
