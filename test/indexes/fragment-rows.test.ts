/** Sets of rows by fragment. test/table/ has them behind the indexes of tables. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { intersection, rowsAtPositions, union } from '../../src/indexes/index.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const runs = (...rows: number[]) => {
  let start = 0;
  return rows.map((count, fragment) => {
    const run = { fragment, rows: count, start };
    start += count;
    return run;
  });
};
const all = (count: number): Set<number> => new Set(Array.from({ length: count }, (_, id) => id));
const plain = (rows: ReadonlyMap<number, Uint32Array>): [number, number[]][] =>
  [...rows].map(([fragment, own]) => [fragment, [...own]]);

describe('rows at positions', () => {
  test('are offsets in their fragments, each once, without fragments that are not covered', () => {
    const positions = Uint32Array.of(0, 2, 2, 2, 3, 3, 5, 9);
    const found = rowsAtPositions(positions, runs(3, 2, 2, 3), new Set([0, 1, 3]), 'a.idx');
    expect(plain(found)).toEqual([
      [0, [0, 2]],
      [1, [0]],
      [3, [2]],
    ]);
  });

  test('past the last run are damage, and so are any where there is no run', () => {
    for (const known of [runs(3), runs()]) {
      expect(() => rowsAtPositions(Uint32Array.of(3), known, all(1), 'a.idx')).toThrow('a.idx');
    }
  });

  test('take memory for the rows of a fragment, not for all positions in each', () => {
    let elements = 0;
    const Plain = Uint32Array;
    class Counted extends Plain {
      constructor(length: number) {
        super(length);
        elements += length;
      }
    }
    const positions = Plain.from({ length: 10_000 }, (_, at) => at);
    vi.stubGlobal('Uint32Array', Counted);
    const found = rowsAtPositions(positions, runs(...Array(1_000).fill(10)), all(1_000), 'a.idx');
    expect(found.size).toBe(1_000);
    expect(elements).toBeLessThanOrEqual(2 * positions.length);
  });
});

test('a union has the rows of either set, an intersection those of both', () => {
  const one = new Map([
    [1, Uint32Array.of(0, 2, 4)],
    [2, Uint32Array.of(7)],
  ]);
  const other = new Map([
    [1, Uint32Array.of(2, 3)],
    [3, Uint32Array.of(1)],
  ]);
  expect(plain(union(one, other))).toEqual([
    [1, [0, 2, 3, 4]],
    [2, [7]],
    [3, [1]],
  ]);
  expect(plain(intersection(one, other))).toEqual([[1, [2]]]);
});
