/**
 * `clustersOf` finds centroids of sampled vectors by Lloyd's iterations (k-means). The sample has
 * to be in random order, and the workbench has to have measured it. Between two iterations, it
 * moves a centroid that was left without rows next to the centroid that has the most.
 */
import { BENCH_ROWS, type Workbench } from './workbench.ts';

export interface ClusterOptions {
  /** Elements of a turned vector. */
  readonly length: number;
  /** At most as many as there are vectors. */
  readonly count: number;
  readonly iterations: number;
}

/**
 * @param sample turned vectors, in an order that says nothing of them; yields after each block of
 * rows
 */
export function* clustersOf(
  bench: Workbench,
  sample: Float32Array,
  { length, count, iterations }: ClusterOptions,
): Generator<void, Float32Array> {
  const rows = sample.length / length;
  const centroids = new Float32Array(count * length);
  for (let centroid = 0; centroid < count; centroid += 1) {
    const row = Math.floor(((centroid + 0.5) * rows) / count);
    centroids.set(sample.subarray(row * length, (row + 1) * length), centroid * length);
  }
  const sums = new Float64Array(count * length);
  const counts = new Uint32Array(count);
  for (let round = 0; round < iterations; round += 1) {
    bench.load(centroids);
    sums.fill(0);
    counts.fill(0);
    for (let from = 0; from < rows; from += BENCH_ROWS) {
      const some = Math.min(BENCH_ROWS, rows - from);
      const block = sample.subarray(from * length, (from + some) * length);
      const found = bench.assign(block, some);
      for (let row = 0; row < some; row += 1) {
        const centroid = found[row] as number;
        counts[centroid] = (counts[centroid] as number) + 1;
        const at = centroid * length;
        for (let i = 0; i < length; i += 1) {
          sums[at + i] = (sums[at + i] as number) + (block[row * length + i] as number);
        }
      }
      yield;
    }
    for (let centroid = 0; centroid < count; centroid += 1) {
      const own = counts[centroid] as number;
      if (own === 0) continue;
      for (let i = centroid * length; i < (centroid + 1) * length; i += 1) {
        centroids[i] = (sums[i] as number) / own;
      }
    }
    if (round < iterations - 1) splitLargest(centroids, counts, length);
  }
  return centroids;
}

/** Moves centroids without rows beside those with the most. */
function splitLargest(centroids: Float32Array, counts: Uint32Array, length: number): void {
  for (const [centroid, own] of counts.entries()) {
    if (own > 0) continue;
    let largest = 0;
    for (const [other, rows] of counts.entries()) {
      if (rows > (counts[largest] as number)) largest = other;
    }
    const half = (counts[largest] as number) >> 1;
    if (half === 0) return;
    counts[largest] = half;
    counts[centroid] = half;
    for (let i = 0; i < length; i += 1) {
      const value = centroids[largest * length + i] as number;
      centroids[centroid * length + i] = value * (i % 2 === 0 ? 1.001 : 0.999);
    }
  }
}
