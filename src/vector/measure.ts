/**
 * `createMeasure` computes the distances of stored vectors from a query, one block of rows at a
 * time. The kernels (kernels.ts) compute sums; this file turns the sums into distances. The
 * distance of `l2` is the squared one, and that of `dot` is 1 minus the product. That of `cosine`
 * is NaN if a vector is zero. One loaded block serves many queries of the same metric, element type
 * and dimension.
 */
import type { ElementType, Metric, VectorValues } from './elements.ts';
import type { Kernels, VectorBlock } from './kernels.ts';
import { type PreparedQuery, zeros } from './query.ts';
import type { LoadedRows } from './sketch.ts';

export interface Measure {
  /** How many rows one load may hold. */
  readonly capacity: number;
  /** As VectorBlock's. */
  readonly loaded: LoadedRows | undefined;
  /** As VectorBlock's. */
  begin(values: VectorValues): void;
  /** As VectorBlock's. */
  load(values: VectorValues, rows: Uint32Array | undefined, from: number, count: number): void;
  /** Fills the head of `into` with the distances of the current rows from `query`. */
  distances(query: PreparedQuery, into: Float32Array): void;
}

/** Queries given to the result must be prepared for the same metric, type and dimension. */
export function createMeasure(
  kernels: Kernels,
  metric: Metric,
  elementType: ElementType,
  dimension: number,
): Measure {
  const block = kernels.openBlock(elementType, dimension);
  if (metric === 'cosine') return cosineMeasure(block, elementType, dimension);
  const sums = new Float64Array(block.capacity);
  const kind = metric === 'l2' ? 'squares' : metric === 'dot' ? 'products' : 'bits';
  let loaded = 0;
  return {
    capacity: block.capacity,
    loaded: block.loaded,
    begin: block.begin,
    load(values, rows, from, count) {
      loaded = count;
      block.load(values, rows, from, count);
    },
    distances(query, into) {
      block.sums(kind, query.vector, sums);
      if (metric === 'dot') {
        for (let index = 0; index < loaded; index += 1) into[index] = 1 - (sums[index] as number);
      } else {
        for (let index = 0; index < loaded; index += 1) into[index] = sums[index] as number;
      }
    },
  };
}

/** Below, a sum of squares may have lost digits; it is zero, or infinite, or such a row is rare. */
const LEAST_NORM = { float16: 0, float32: 1e-30, float64: 1e-280, uint8: 0 } as const;

function cosineMeasure(block: VectorBlock, elementType: ElementType, dimension: number): Measure {
  const products = new Float64Array(block.capacity);
  const norms = new Float64Array(block.capacity);
  const least = LEAST_NORM[elementType];
  const wide = elementType === 'float32' || elementType === 'float64';
  let loaded = 0;
  let current: VectorValues = new Uint8Array(0);
  let numbers: Uint32Array | undefined;
  let first = 0;
  let normsKnown = false;

  function load(
    values: VectorValues,
    rows: Uint32Array | undefined,
    from: number,
    count: number,
  ): void {
    loaded = count;
    current = values;
    numbers = rows;
    first = from;
    normsKnown = false;
    block.load(values, rows, from, count);
  }

  function distances(query: PreparedQuery, into: Float32Array): void {
    if (!normsKnown) block.sums('squares', zeros(query.vector), norms);
    normsKnown = true;
    block.sums('products', query.vector, products);
    for (let index = 0; index < loaded; index += 1) {
      const norm = norms[index] as number;
      if (wide && !(norm >= least && norm * query.norm < Infinity)) {
        const row = numbers === undefined ? first + index : (numbers[first + index] as number);
        into[index] = scaledCosine(current, row * dimension, query, dimension);
      } else {
        into[index] = cosine(products[index] as number, norm, query.norm);
      }
    }
  }

  const { capacity, begin } = block;
  return { capacity, loaded: block.loaded, begin, load, distances };
}

/** Equal vectors have equal sums, so that their distance is exactly 0; roundings never pass it. */
function cosine(product: number, norm: number, otherNorm: number): number {
  const distance = 1 - product / Math.sqrt(norm * otherNorm);
  return Math.max(distance, 0);
}

/** For rows whose squares leave the range of their type: scaled first, then summed in doubles. */
function scaledCosine(
  values: VectorValues,
  at: number,
  query: PreparedQuery,
  size: number,
): number {
  let largest = 0;
  for (let i = at; i < at + size; i += 1) {
    largest = Math.max(largest, Math.abs(values[i] as number));
  }
  let product = 0;
  let norm = 0;
  for (let i = 0; i < size; i += 1) {
    const value = (values[at + i] as number) / largest;
    product += value * (query.vector[i] as number);
    norm += value * value;
  }
  return cosine(product, norm, query.norm);
}
