/**
 * The bounds of the sketches where they are nearly reached: with any of their three parts left out (what
 * rounding adds to a sum, how far the query is from its codes, how far a row is from its sketch), a row
 * within the limit is ruled out, or a bound stands below what it bounds.
 */
import { describe, expect, test } from 'vitest';
import type { Metric } from '../../src/vector/elements.ts';
import { prepareQuery } from '../../src/vector/query.ts';
import { sieveOf } from '../../src/vector/sieve.ts';
import {
  GROUP_ROWS,
  groupBytes,
  groupsAt,
  HEAD_BYTES,
  NORMS_AT,
  SQUARES_AT,
} from '../../src/vector/sketch.ts';
import { distances } from '../helpers/distances.ts';
import { seeded } from '../helpers/seeded.ts';
import { bytesOf, sketched } from '../helpers/sketched.ts';

/** Every 64th part of the rows begins with one of zeros, so that the centre is 0. */
function rowsAbout(target: Float32Array): Float32Array {
  const dimension = target.length;
  const values = new Float32Array(128 * dimension);
  for (let row = 1; row < 128; row += 2) values.set(target, row * dimension);
  return values;
}

/** Whether the rows that are not zeros are kept at the distance that the kernels measure. */
function isKept(metric: Metric, query: readonly number[], values: Float32Array): boolean {
  const dimension = query.length;
  const rows = values.length / dimension;
  const sketch = sketched(dimension, { values, rows });
  const prepared = prepareQuery(metric, 'float32', dimension, query);
  const limit = distances(metric, query, values, dimension, rows)[1] as number;
  const kept = sieveOf(sketch, metric, prepared)?.candidates(limit, 0, rows);
  return kept?.includes(1) === true;
}

/** How far the kernels' sum is from the exact one, relative to it. */
function errorOf(metric: Metric, query: readonly number[], row: Float32Array): number {
  const measured = distances(metric, query, row, row.length, 1)[0] as number;
  let exact = 0;
  for (const [at, x] of row.entries()) {
    const q = query[at] as number;
    exact += metric === 'l2' ? (x - q) ** 2 : x * q;
  }
  return ((metric === 'l2' ? measured : 1 - measured) - exact) / exact;
}

describe('gamma: what roundings add to a sum', () => {
  // One and the same product again and again: every addition errs to the same side.
  test.each<[Metric, number]>([
    ['l2', -1],
    ['dot', 1],
  ])('%s of constant vectors', (metric, side) => {
    const dimension = 8192;
    const random = seeded(26);
    let worst = { error: 0, query: [] as number[], row: new Float32Array(0) };
    for (let tries = 0; tries < 60; tries++) {
      const row = new Float32Array(dimension).fill(metric === 'l2' ? 1 : 127);
      const query = new Array<number>(dimension).fill(Math.fround(1e4 * (1 + random())));
      const error = side * errorOf(metric, query, row);
      if (error > worst.error) worst = { error, query, row };
    }
    expect(worst.error).toBeGreaterThan(100 * 2 ** -24);
    expect(isKept(metric, worst.query, rowsAbout(worst.row))).toBe(true);
  });
});

test('gamma of cosine, where the product errs to one side and the norms to the other', () => {
  const dimension = 8192;
  const random = seeded(27);
  // A quarter of the query is 0: distances stay away from 0, where they would end.
  const query = Array.from({ length: dimension }, (_, j) => (j % 4 === 3 ? 0 : 1));
  let worst = { error: 0, row: new Float32Array(0) };
  for (let tries = 0; tries < 100; tries++) {
    const row = new Float32Array(dimension).fill(1 + random());
    const measured = distances('cosine', query, row, dimension, 1)[0] as number;
    const error = 1 - Math.sqrt(0.75) - measured;
    if (error > worst.error) worst = { error, row };
  }
  expect(worst.error).toBeGreaterThan(100 * 2 ** -24);
  expect(isKept('cosine', query, rowsAbout(worst.row))).toBe(true);
});

describe('e: how far the query is from its codes', () => {
  const dimension = 32;
  /** Rows are sketched exactly; the query's elements lie between two codes. */
  const scale = 127 / 32_767;

  test('l2, where every code is farther from the row than the query', () => {
    const random = seeded(3);
    const row = Float32Array.from({ length: dimension }, (_, j) =>
      j === 0 ? 127 : Math.floor(random() * 60) - 30,
    );
    const query = Array.from(row, (s, j) =>
      j === 0 ? 127 : (Math.ceil((s + 25) / scale) + 0.51) * scale,
    );
    expect(isKept('l2', query, rowsAbout(row))).toBe(true);
  });

  test('dot, where every code is smaller than the query', () => {
    const random = seeded(4);
    const row = Float32Array.from({ length: dimension }, (_, j) =>
      j === 0 ? 127 : Math.floor(random() * 60) + 40,
    );
    const query = Array.from(row, (s, j) =>
      j === 0 ? 127 : (Math.floor(s / scale) + 0.49) * scale,
    );
    expect(isKept('dot', query, rowsAbout(row))).toBe(true);
  });
});

describe('left: how far a row is from its sketch', () => {
  test.each([32, 50, 64, 1536])('is at least that far, in %i dimensions', (dimension) => {
    const random = seeded(dimension);
    const rows = 256;
    const values = Float32Array.from({ length: rows * dimension }, () => random() - 0.5);
    const { buffer } = bytesOf(sketched(dimension, { values, rows }));
    const centre = new Float32Array(buffer, 0, dimension);
    const group = groupBytes(dimension);
    let closest = Infinity;
    for (let row = 0; row < rows; row++) {
      const at = groupsAt(dimension) + Math.floor(row / GROUP_ROWS) * group;
      const lane = row % GROUP_ROWS;
      const head = new Float32Array(buffer, at, HEAD_BYTES / 4);
      const [step, left] = [head[lane] as number, head[GROUP_ROWS + lane] as number];
      let [residual, sketch, norm] = [0, 0, 0];
      for (let j = 0; j < dimension; j++) {
        // Eight codes of a row stand together, those of four rows in turn.
        const code = new Int8Array(buffer, at + HEAD_BYTES + (j >> 3) * 32 + lane * 8 + (j & 7), 1);
        const x = values[row * dimension + j] as number;
        const s = step * (code[0] as number);
        residual += (x - (centre[j] as number) - s) ** 2;
        sketch += s * s;
        norm += x * x;
      }
      expect(left).toBeGreaterThanOrEqual(Math.sqrt(residual));
      expect(head[SQUARES_AT / 4 + lane]).toBeLessThanOrEqual(sketch - residual);
      expect(Math.abs((head[NORMS_AT / 4 + lane] as number) / Math.sqrt(norm) - 1)).toBeLessThan(
        1e-4,
      );
      closest = Math.min(closest, left / Math.sqrt(residual));
    }
    // Not so large either that the sketches rule nothing out.
    expect(closest).toBeLessThan(1.01);
  });

  test('a row that is rounded away from its query is kept', () => {
    const dimension = 32;
    // Each element is half a step from its code, on the side of the query.
    const row = Float32Array.from({ length: dimension }, (_, j) => (j === 0 ? 127 : 40.499));
    const query = Array.from(row, (x, j) => (j === 0 ? 127 : Math.round((x + 1) / 0.5) * 0.5));
    for (const metric of ['l2', 'dot', 'cosine'] as const) {
      expect(isKept(metric, query, rowsAbout(row)), metric).toBe(true);
    }
  });
});
