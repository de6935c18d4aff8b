/** Measures the distance of each of many vectors from a query, by the engine's kernels. */
import {
  checkMetric,
  checkValues,
  elementTypeOf,
  type Metric,
  type VectorValues,
} from '../../src/vector/elements.ts';
import { createMeasure } from '../../src/vector/measure.ts';
import { prepareQuery } from '../../src/vector/query.ts';
import { kernelsFor } from '../../src/vector/search.ts';

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
  const prepared = prepareQuery(metric, elementType, dimension, query);
  const measure = createMeasure(kernelsFor(kernels), metric, elementType, dimension);
  const out = new Float32Array(rows);
  measure.begin(values);
  for (let from = 0; from < rows; from += measure.capacity) {
    measure.load(values, undefined, from, Math.min(measure.capacity, rows - from));
    measure.distances(prepared, out.subarray(from));
  }
  return out;
}
