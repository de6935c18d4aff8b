/**
 * `prepareQuery` converts a caller's query vector to the elements that the kernels compare, rounded
 * to the column's precision. A wrong length throws InvalidInput (`wrongLength`), and so does an
 * element that is not a whole number from 0 to 255 for uint8. For cosine it also computes the sum
 * of squares, after scaling a query of floats so that its largest element is near 1. `zeros`
 * returns a query of zeros.
 */

import { nearestHalf } from '../values/index.ts';
import { type ElementType, invalid, type Metric, type QueryVector } from './elements.ts';
import { plainSum } from './plain-kernels.ts';

/** A query, and what its metric needs of it. */
export interface PreparedQuery {
  readonly vector: QueryVector;
  /** The sum of its squares, in the kernels' order of additions; cosine only, else 0. */
  readonly norm: number;
}

/** The error of a query vector of another length, which has the words that LanceDB's programs search for. */
export const wrongLength = (found: number, dimension: number): Error =>
  invalid(
    `The query dim(${found}) doesn't match the column's dim(${dimension}). Give a query vector of ${dimension} elements.`,
  );

/**
 * Takes a query to the precision of the column, as stored vectors were. Throws InvalidInput where
 * its length is not the dimension, or where an element for bytes is not a whole number of 0 to 255.
 */
export function prepareQuery(
  metric: Metric,
  elementType: ElementType,
  dimension: number,
  numbers: ArrayLike<number>,
): PreparedQuery {
  if (numbers.length !== dimension) {
    throw wrongLength(numbers.length, dimension);
  }
  const vector = toElements(elementType, numbers);
  if (metric !== 'cosine') return { vector, norm: 0 };
  if (!(vector instanceof Uint8Array)) scaleToUnit(vector);
  return { vector, norm: plainSum('squares', elementType)(vector, 0, zeros(vector), dimension) };
}

/** A query of zeros: squared differences from it are squares. */
export function zeros(vector: QueryVector): QueryVector {
  if (vector instanceof Float32Array) return new Float32Array(vector.length);
  if (vector instanceof Float64Array) return new Float64Array(vector.length);
  return new Uint8Array(vector.length);
}

function toElements(elementType: ElementType, numbers: ArrayLike<number>): QueryVector {
  switch (elementType) {
    case 'float16':
      return Float32Array.from(numbers, nearestHalf);
    case 'float32':
      return Float32Array.from(numbers);
    case 'float64':
      return Float64Array.from(numbers);
    case 'uint8':
      return Uint8Array.from(numbers, toByte);
  }
}

function toByte(value: number, index: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= 255) return value;
  throw invalid(
    `Element ${index} of the query vector is ${value}; vectors of uint8 are compared with whole numbers of 0 to 255.`,
  );
}

/** Brings the largest element near 1 by a power of two: no angle changes, no digit is lost. */
function scaleToUnit(vector: Float32Array | Float64Array): void {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  if (!(largest > 0 && largest < Infinity)) return;
  const scale = 2 ** Math.min(1023, -Math.ceil(Math.log2(largest)));
  for (let index = 0; index < vector.length; index += 1) {
    vector[index] = (vector[index] as number) * scale;
  }
}
