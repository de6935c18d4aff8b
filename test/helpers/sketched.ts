/** Sketches of vectors, and searches that measure what these do not rule out, as tables make them. */
import type { VectorValues } from '../../src/vector/elements.ts';
import { reserve } from '../../src/vector/residents.ts';
import { createSearch, type SearchOptions, type VectorBatch } from '../../src/vector/search.ts';
import { SKETCHES_AT } from '../../src/vector/sieve.ts';
import { loadSimdKernels } from '../../src/vector/simd-kernels.ts';
import {
  type Sketch,
  type SketchedRows,
  type Sketching,
  type SketchPlace,
  sketchBytes,
  sketchOf,
} from '../../src/vector/sketch.ts';
import { finished, type Match, run } from './steps.ts';

export const sketching = loadSimdKernels()?.sketching as Sketching;

/** A place in memory of its own. */
export function newPlace(rows: number, dimension: number): SketchPlace {
  const kernels = sketching.openMemory();
  reserve(kernels.memory, SKETCHES_AT + sketchBytes(rows, dimension));
  return { kernels, at: SKETCHES_AT };
}

export function sketched(dimension: number, batch: SketchedRows): Sketch {
  const type = batch.values instanceof Uint16Array ? 'float16' : 'float32';
  return run(sketchOf(sketching, type, dimension, batch, newPlace(batch.rows, dimension)));
}

/** The bytes of a sketch, without the group past it. */
export function bytesOf({ kernels, at, rows, dimension }: Sketch): Uint8Array {
  const { buffer } = kernels.memory;
  return new Uint8Array(buffer.slice(at, at + sketchBytes(rows - 4, dimension)));
}

export interface Sifted {
  readonly matches: Match[][];
  /** Rows that were measured for matches. */
  readonly measured: number;
  /** Batches of which all rows were. */
  readonly whole: number;
}

/** Searches batches by their sketches, one after the other. */
export function siftedSearch(
  options: SearchOptions,
  batches: readonly VectorBatch[],
  sketches: readonly Sketch[],
): Sifted {
  const search = createSearch(options);
  let position = 0;
  let measured = 0;
  let whole = 0;
  for (const [at, batch] of batches.entries()) {
    let learned = false;
    for (;;) {
      const sifted = search.sifts(batch.rows)
        ? run(search.sift(sketches[at] as Sketch, batch.selection))
        : undefined;
      if (sifted === undefined || (sifted.forLimit && learned)) {
        run(search.add(batch, position));
        whole += 1;
        break;
      }
      learned = sifted.forLimit;
      const some = picked(batch, sifted.rows, options.dimension);
      if (sifted.forLimit) {
        run(search.limit(some));
        continue;
      }
      measured += sifted.rows.length;
      run(search.add({ ...some, numbers: sifted.rows }, position));
      break;
    }
    position += batch.rows;
  }
  return { matches: finished(search), measured, whole };
}

function picked(batch: VectorBatch, rows: Uint32Array, dimension: number): VectorBatch {
  const { values, validity, validityOffset = 0 } = batch;
  const some = values.slice(0, rows.length * dimension) as VectorValues;
  const valid = new Uint8Array(Math.ceil(rows.length / 8)).fill(255);
  for (const [at, row] of rows.entries()) {
    some.set(values.subarray(row * dimension, (row + 1) * dimension), at * dimension);
    const bit = validityOffset + row;
    const is = validity === undefined || (((validity[bit >> 3] as number) >> (bit & 7)) & 1) === 1;
    if (!is) valid[at >> 3] = (valid[at >> 3] as number) & ~(1 << (at & 7));
  }
  return { values: some, rows: rows.length, validity: valid };
}
