/**
 * Defines `Kernels`, the functions that compare a query with each row of a block of vectors: they
 * sum squared differences, products or differing bits. simd-kernels.ts and plain-kernels.ts
 * implement it, and their sums are equal to the last bit; only the first can make sketches. Loaded
 * rows are current until any block is loaded, so a search that paused between steps has to load its
 * rows again. `gatherRows` copies rows into a block.
 */
import type { ElementType, QueryVector, VectorValues } from './elements.ts';
import type { LoadedRows, Sketching } from './sketch.ts';

/** What is summed: squared differences, products, or (bytes only) bits that differ. */
export type SumKind = 'squares' | 'products' | 'bits';

/** Rows of one element type and dimension, a block at a time. */
export interface VectorBlock {
  /** How many rows one load may hold. */
  readonly capacity: number;
  /** The current rows, where they can be sketched. */
  readonly loaded: LoadedRows | undefined;
  /** Tells that a search of all these rows begins: those that are searched again may be kept. */
  begin(values: VectorValues): void;
  /**
   * Makes `count` rows current, those at `from`, or those whose numbers are in `rows` at `from`.
   * They stay so until another block is loaded, be it this one's or that of another search.
   */
  load(values: VectorValues, rows: Uint32Array | undefined, from: number, count: number): void;
  /** Fills the head of `into` with one sum for each current row. */
  sums(kind: SumKind, query: QueryVector, into: Float64Array): void;
}

export interface Kernels {
  readonly name: 'simd' | 'plain';
  openBlock(elementType: ElementType, dimension: number): VectorBlock;
  /** Undefined where rows cannot be sketched. */
  readonly sketching: Sketching | undefined;
}

/** Copies rows as `load` names them to `target`, neighbours in one piece. */
export function gatherRows(
  values: VectorValues,
  rows: Uint32Array | undefined,
  from: number,
  count: number,
  dimension: number,
  target: VectorValues,
): void {
  if (rows === undefined) {
    target.set(values.subarray(from * dimension, (from + count) * dimension));
    return;
  }
  const end = from + count;
  for (let at = from; at < end; ) {
    const first = rows[at] as number;
    let next = at + 1;
    while (next < end && rows[next] === first + next - at) next += 1;
    const piece = values.subarray(first * dimension, (first + next - at) * dimension);
    target.set(piece, (at - from) * dimension);
    at = next;
  }
}
