/**
 * `floatsOf` converts a vector of any element type to the float32 values that an IVF index is made
 * of. It also tells how the index treats the vector. A `plain` vector is laid out in the index,
 * scaled to length 1 for cosine. An `odd` vector has numbers that are too large for this, so every
 * search computes its distance. A `none` vector has no distance that is a number, for example
 * because it holds NaN.
 */

import { halfValue } from '../../values/index.ts';
import { LARGEST, type Metric, type VectorValues } from '../../vector/index.ts';

export type IvfMetric = Exclude<Metric, 'hamming'>;
export type RowKind = 'plain' | 'odd' | 'none';

/** Writes the vector at `from` of `values` to the head of `into`. */
export function floatsOf(
  metric: IvfMetric,
  values: VectorValues | ArrayLike<number>,
  from: number,
  dimension: number,
  into: Float32Array,
): RowKind {
  let largest = 0;
  const isHalf = values instanceof Uint16Array;
  let sum = 0;
  for (let i = 0; i < dimension; i += 1) {
    const stored = values[from + i] as number;
    const value = isHalf ? halfValue(stored) : stored;
    into[i] = value;
    const size = value < 0 ? -value : value;
    if (size > largest) largest = size;
    sum += value;
  }
  if (Number.isNaN(sum) && hasNaN(values, from, dimension)) return 'none';
  if (metric !== 'cosine') return largest <= LARGEST ? 'plain' : 'odd';
  if (largest === 0) return 'none';
  if (largest === Infinity) return 'odd';
  let norm = 0;
  for (let i = 0; i < dimension; i += 1) {
    const stored = values[from + i] as number;
    const value = (isHalf ? halfValue(stored) : stored) / largest;
    norm += value * value;
    into[i] = value;
  }
  const scale = 1 / Math.sqrt(norm);
  for (let i = 0; i < dimension; i += 1) into[i] = (into[i] as number) * scale;
  return 'plain';
}

/** The sum of both infinities is not a number either. */
function hasNaN(
  values: VectorValues | ArrayLike<number>,
  from: number,
  dimension: number,
): boolean {
  const isHalf = values instanceof Uint16Array;
  for (let i = from; i < from + dimension; i += 1) {
    const stored = values[i] as number;
    if (Number.isNaN(isHalf ? halfValue(stored) : stored)) return true;
  }
  return false;
}
