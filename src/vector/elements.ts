/**
 * Defines the metrics of vector search (l2, cosine, dot, hamming) and the element types of vectors.
 * `checkMetric`, `checkValues` and `checkWanted` throw InvalidInput for a metric, element type,
 * dimension, values or number of rows that do not go together or are out of bounds; vectors have at
 * most 262,144 elements. `elementTypeOf` tells the type that a typed array stands for: a
 * Uint16Array is taken for half floats. `invalid` makes the error.
 */
import { DirspaceError } from '../errors.ts';

/**
 * l2: the squared Euclidean distance. cosine: 1 - cos, NaN where a vector is zero. dot: 1 - the
 * inner product. hamming: how many bits differ, of uint8 only.
 */
export type Metric = 'l2' | 'cosine' | 'dot' | 'hamming';

export type ElementType = 'float16' | 'float32' | 'float64' | 'uint8';

/** Elements as Arrow holds them: a float16 is its 16 bits. */
export type VectorValues = Uint16Array | Float32Array | Float64Array | Uint8Array;

/** Numbers as the kernels take them: a float16 has become a float32. */
export type QueryVector = Float32Array | Float64Array | Uint8Array;

/** The longest vector whose sums of bytes fit the kernels' lanes. */
export const MAX_DIMENSION = 2 ** 18;

const METRICS: readonly string[] = ['l2', 'cosine', 'dot', 'hamming'] satisfies Metric[];

const ARRAYS = {
  float16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  uint8: Uint8Array,
} as const;

/** The element type a typed array stands for; of Uint16Array that is float16. */
export function elementTypeOf(values: VectorValues): ElementType {
  if (values instanceof Float32Array) return 'float32';
  if (values instanceof Uint16Array) return 'float16';
  return values instanceof Float64Array ? 'float64' : 'uint8';
}

/** @throws InvalidInput unless `k` is a whole number of at least 1, or Infinity, which is all of them */
export function checkWanted(k: number, what: 'rows' | 'vectors'): void {
  if (k >= 1 && (Number.isInteger(k) || k === Infinity)) return;
  throw invalid(`A search for the nearest ${k} ${what} is not possible; ask for 1 or more.`);
}

/** Refuses a metric that is unknown or does not go with the elements, and a bad dimension. */
export function checkMetric(metric: string, elementType: string, dimension: number): void {
  if (!METRICS.includes(metric)) {
    throw invalid(`There is no distance '${metric}'; use one of ${METRICS.join(', ')}.`);
  }
  if (!Object.hasOwn(ARRAYS, elementType)) {
    const known = Object.keys(ARRAYS).join(', ');
    throw invalid(`Vectors of ${elementType} cannot be searched, only those of ${known}.`);
  }
  if (metric === 'hamming' && elementType !== 'uint8') {
    throw invalid(
      `The hamming distance compares vectors of uint8, and these are of ${elementType}; use l2, cosine or dot.`,
    );
  }
  if (!Number.isInteger(dimension) || dimension < 1 || dimension > MAX_DIMENSION) {
    throw invalid(
      `Vectors of ${dimension} elements cannot be searched, only those of 1 to ${MAX_DIMENSION}.`,
    );
  }
}

/** Refuses values that are of another type, or end before the last row does. */
export function checkValues(
  values: VectorValues,
  elementType: ElementType,
  dimension: number,
  rows: number,
): void {
  if (!(values instanceof ARRAYS[elementType])) {
    throw invalid(`Vectors of ${elementType} must come in a ${ARRAYS[elementType].name}.`);
  }
  if (!Number.isInteger(rows) || rows < 0 || values.length < rows * dimension) {
    throw invalid(
      `${rows} vectors of ${dimension} elements need ${rows * dimension} values; found ${values.length}.`,
    );
  }
}

export function invalid(message: string): DirspaceError {
  return new DirspaceError('InvalidInput', message);
}
