/**
 * `IvfBuilder` makes the partitions of an IVF index in two passes over the vectors. In the first
 * pass `sample` takes some of them, and then `train` finds centroids, 32,768 at most (callers check
 * `MOST_PARTITIONS`). In the second, `add` assigns each vector to its nearest centroid, and keeps a
 * byte and a bit for each element. `partitions` then lists the partitions, and `writeBlock` writes
 * the rows of one, 32 at a time. Vectors with too large numbers form a partition of their own. Null
 * vectors, and those without a distance (rows.ts), such as with NaN, are left out.
 */

import { getBit } from '../../arrow/index.ts';
import type { PartitionKernels, VectorBatch } from '../../vector/index.ts';
import { clustersOf } from './clusters.ts';
import { RowEncoder } from './encoder.ts';
import { BLOCK_ROWS, blockBytes, lengthOf, rowBytes } from './layout.ts';
import { floatsOf, type IvfMetric } from './rows.ts';
import { BENCH_ROWS, Workbench } from './workbench.ts';

export interface IvfOptions {
  readonly metric: IvfMetric;
  readonly dimension: number;
  /** Rows that come, null ones among them. */
  readonly rows: number;
  /** At least 1; there are no more than vectors that were sampled. */
  readonly partitions: number;
  /** Vectors sampled for each partition. */
  readonly sampleRate: number;
  readonly iterations: number;
}

export interface Partition {
  readonly centroid: Float32Array;
  /**
   * Rows whose numbers cannot be laid out belong to a last partition; every search measures them.
   */
  readonly isOdd: boolean;
  /** The numbers of its rows, in the order in which rows came. */
  readonly rows: Uint32Array;
  /** The mean squared distance of its rows from the centroid. */
  readonly spread: number;
}

/** Bytes that sampled vectors take at most. */
const MOST_SAMPLED = 128 * 1024 * 1024;
const ODD = 0xffff;
/** Rows handled between two steps where little is done with each. */
const STEP_ROWS = 1 << 18;
export const MOST_PARTITIONS = 32_768;

export class IvfBuilder {
  readonly #options: IvfOptions;
  readonly #length: number;
  readonly #bench: Workbench;
  readonly #sample: Float32Array;
  #sampled = 0;
  #passed = 0;
  #centroids: Float32Array = new Float32Array(0);
  #encoder: RowEncoder;
  #partitionOf = new Uint16Array(0);

  constructor(kernels: PartitionKernels, options: IvfOptions) {
    this.#options = options;
    this.#length = lengthOf(options.dimension);
    this.#bench = new Workbench(kernels, this.#length, options.partitions);
    this.#sample = new Float32Array(IvfBuilder.#sampledRows(options) * this.#length);
    this.#encoder = new RowEncoder(this.#length, 0);
  }

  static #sampledRows({ dimension, rows, partitions, sampleRate }: IvfOptions): number {
    const most = Math.floor(MOST_SAMPLED / (4 * lengthOf(dimension)));
    return Math.min(rows, partitions * sampleRate, Math.max(most, partitions));
  }

  /** Bytes that a builder holds at most. */
  static bytesOf(options: IvfOptions): number {
    const length = lengthOf(options.dimension);
    const centroids = options.partitions * length * 16;
    const sample = IvfBuilder.#sampledRows(options) * length * 4;
    return sample + centroids + options.rows * IvfBuilder.rowBytes(options.dimension);
  }

  /** Bytes held for each row. */
  static rowBytes(dimension: number): number {
    return RowEncoder.bytesOf(lengthOf(dimension)) + 6;
  }

  /** Samples vectors at even distances among all that come. */
  *sample(batch: VectorBatch): Generator<void> {
    const { rows } = this.#options;
    const { metric, dimension } = this.#options;
    const length = this.#length;
    const wanted = this.#sample.length / length;
    const bench = this.#bench;
    let count = 0;
    const take = (): void => {
      bench.turn(count);
      this.#sample.set(bench.rows.subarray(0, count * length), this.#sampled * length);
      this.#sampled += count;
      count = 0;
    };
    for (let row = 0; row < batch.rows; row += 1) {
      const number = this.#passed++;
      const isTaken =
        Math.floor(((number + 1) * wanted) / rows) > Math.floor((number * wanted) / rows);
      if (!isTaken || !hasVector(batch, row)) continue;
      const into = bench.rows.subarray(count * length, (count + 1) * length);
      into.fill(0, dimension);
      if (floatsOf(metric, batch.values, row * dimension, dimension, into) !== 'plain') continue;
      count += 1;
      if (count < BENCH_ROWS) continue;
      take();
      yield;
    }
    if (count > 0) take();
  }

  *train(): Generator<void> {
    const length = this.#length;
    const { partitions, iterations, rows } = this.#options;
    const sample = this.#sample.subarray(0, this.#sampled * length);
    yield* shuffle(sample, length);
    yield* this.#bench.measure(sample);
    const count = Math.min(partitions, this.#sampled);
    const options = { length, count, iterations };
    this.#centroids =
      count === 0 ? new Float32Array(length) : yield* clustersOf(this.#bench, sample, options);
    this.#bench.load(this.#centroids);
    this.#encoder = new RowEncoder(length, rows);
    this.#partitionOf = new Uint16Array(rows);
  }

  /** @param position of its first row */
  *add(batch: VectorBatch, position: number): Generator<void> {
    const { metric, dimension } = this.#options;
    const length = this.#length;
    const bench = this.#bench;
    const positions = new Uint32Array(BENCH_ROWS);
    let count = 0;
    for (let row = 0; row < batch.rows; row += 1) {
      if (hasVector(batch, row)) {
        const into = bench.rows.subarray(count * length, (count + 1) * length);
        into.fill(0, dimension);
        const kind = floatsOf(metric, batch.values, row * dimension, dimension, into);
        if (kind === 'plain') positions[count++] = position + row;
        else if (kind === 'odd') this.#addOdd(position + row);
      }
      if (count < BENCH_ROWS && row < batch.rows - 1) continue;
      if (count > 0) this.#place(positions, count);
      count = 0;
      yield;
    }
  }

  #place(positions: Uint32Array, count: number): void {
    const bench = this.#bench;
    const length = this.#length;
    bench.turn(count);
    const found = bench.assign(bench.rows, count);
    for (let row = 0; row < count; row += 1) {
      const partition = found[row] as number;
      this.#partitionOf[this.#encoder.count] = partition;
      const position = positions[row] as number;
      this.#encoder.add(bench.rows, row * length, this.#centroids, partition * length, position);
    }
  }

  #addOdd(position: number): void {
    this.#partitionOf[this.#encoder.count] = ODD;
    const nothing = new Float32Array(this.#length);
    this.#encoder.add(nothing, 0, nothing, 0, position);
  }

  /** Lists the partitions that have rows; an empty one if there is none. */
  *partitions(): Generator<void, Partition[]> {
    const length = this.#length;
    const own = this.#partitionOf.subarray(0, this.#encoder.count);
    const count = this.#centroids.length / length;
    const starts = new Uint32Array(count + 2);
    const slotOf = (partition: number): number => (partition === ODD ? count : partition);
    for (let row = 0; row < own.length; row += 1) {
      const slot = slotOf(own[row] as number) + 1;
      starts[slot] = (starts[slot] as number) + 1;
      if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    for (let slot = 1; slot < starts.length; slot += 1) {
      starts[slot] = (starts[slot] as number) + (starts[slot - 1] as number);
    }
    const next = starts.slice();
    const order = new Uint32Array(own.length);
    for (let row = 0; row < own.length; row += 1) {
      const slot = slotOf(own[row] as number);
      const at = next[slot] as number;
      order[at] = row;
      next[slot] = at + 1;
      if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    const partitions: Partition[] = [];
    for (let slot = 0; slot <= count; slot += 1) {
      const rows = order.subarray(starts[slot] as number, starts[slot + 1] as number);
      if (rows.length === 0) continue;
      const isOdd = slot === count;
      let sum = 0;
      for (const row of rows) sum += this.#encoder.sizeOf(row);
      const centroid = isOdd
        ? new Float32Array(length)
        : this.#centroids.subarray(slot * length, (slot + 1) * length);
      partitions.push({ centroid, isOdd, rows, spread: sum / rows.length });
      yield;
    }
    if (partitions.length > 0) return partitions;
    const none = new Uint32Array(0);
    return [{ centroid: new Float32Array(length), isOdd: false, rows: none, spread: 0 }];
  }

  /** Lays out the block that begins with a row of a partition, whose bytes are zero before. */
  writeBlock({ rows }: Partition, from: number, block: Uint8Array, known: Uint8Array): void {
    const some = rows.subarray(from, from + BLOCK_ROWS);
    this.#encoder.writeBlock(some, block);
    this.#encoder.writeRows(some, known);
  }

  get blockBytes(): number {
    return blockBytes(this.#length);
  }

  get knownBytes(): number {
    return BLOCK_ROWS * rowBytes(this.#length);
  }
}

function hasVector({ validity, validityOffset = 0 }: VectorBatch, row: number): boolean {
  return validity === undefined || getBit(validity, validityOffset + row);
}

/**
 * Shuffles always in the same way: centroids begin as vectors at even distances, and neighbours may
 * be alike.
 */
function* shuffle(sample: Float32Array, length: number): Generator<void> {
  const rows = sample.length / length;
  const kept = new Float32Array(length);
  let state = 0x2545f491;
  for (let row = rows - 1; row > 0; row -= 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (row + 1);
    kept.set(sample.subarray(row * length, (row + 1) * length));
    sample.copyWithin(row * length, other * length, (other + 1) * length);
    sample.set(kept, other * length);
    if (row % BENCH_ROWS === 0) yield;
  }
}
