/**
 * `plainKernels` implements the kernels in JavaScript, for runtimes without WebAssembly SIMD and as
 * a reference in tests. Rows are read in place, except for half floats, which are converted first.
 * `plainSum` chooses among the loops of plain-sums.ts, also for the norms of queries.
 */

import { halfValues } from '../values/index.ts';
import type { ElementType, QueryVector, VectorValues } from './elements.ts';
import type { Kernels, SumKind, VectorBlock } from './kernels.ts';
import {
  bitsU8,
  productsF32,
  productsF64,
  productsU8,
  squaresF32,
  squaresF64,
  squaresU8,
} from './plain-sums.ts';

const CAPACITY = 1024;

/** One sum over the `size` values at `at`; the types of both arrays go together. */
type RowSum = (values: VectorValues, at: number, query: QueryVector, size: number) => number;

/** The function that compares rows with a query of such elements and sums the result. */
export function plainSum(kind: SumKind, elementType: ElementType): RowSum {
  const squares = kind === 'squares';
  if (elementType === 'uint8') {
    return (kind === 'bits' ? bitsU8 : squares ? squaresU8 : productsU8) as RowSum;
  }
  if (elementType === 'float64') return (squares ? squaresF64 : productsF64) as RowSum;
  return (squares ? squaresF32 : productsF32) as RowSum;
}

function openBlock(elementType: ElementType, dimension: number): VectorBlock {
  const capacity = CAPACITY;
  const floats = elementType === 'float16' ? new Float32Array(capacity * dimension) : undefined;
  let current: VectorValues = new Uint8Array(0);
  let numbers: Uint32Array | undefined;
  let first = 0;
  let length = 0;
  return {
    capacity,
    loaded: undefined,
    begin() {},
    load(values, rows, from, count) {
      length = count;
      current = values;
      numbers = rows;
      first = from;
      if (floats === undefined) return;
      widenRows(values, rows, from, count, dimension, floats);
      current = floats;
      numbers = undefined;
      first = 0;
    },
    sums(kind, query, into) {
      const sum = plainSum(kind, elementType);
      for (let index = 0; index < length; index += 1) {
        const row = numbers === undefined ? first + index : (numbers[first + index] as number);
        into[index] = sum(current, row * dimension, query, dimension);
      }
    },
  };
}

function widenRows(
  halves: VectorValues,
  rows: Uint32Array | undefined,
  from: number,
  count: number,
  dimension: number,
  target: Float32Array,
): void {
  const table = halfValues();
  let to = 0;
  for (let index = from; index < from + count; index += 1) {
    let at = (rows === undefined ? index : (rows[index] as number)) * dimension;
    for (const end = to + dimension; to < end; to += 1) {
      target[to] = table[halves[at] as number] as number;
      at += 1;
    }
  }
}

export const plainKernels: Kernels = {
  name: 'plain',
  openBlock,
  sketching: undefined,
};
