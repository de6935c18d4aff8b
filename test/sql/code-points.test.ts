/** Sets of code points, against sets of numbers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  intersect,
  negate,
  type PointSet,
  setOf,
  subtract,
  union,
} from '../../src/sql/regexp/code-points.ts';

function has(set: PointSet, point: number): boolean {
  let low = 0;
  let high = set.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (point < (set[2 * middle] as number)) high = middle - 1;
    else if (point > (set[2 * middle + 1] as number)) low = middle + 1;
    else return true;
  }
  return false;
}

const MOST = 40;
const ranges = fc.array(
  fc.tuple(fc.nat(MOST), fc.nat(6)).map(([from, more]) => [from, from + more] as [number, number]),
  {
    maxLength: 8,
  },
);

const pointsOf = (set: PointSet): number[] =>
  Array.from({ length: MOST + 10 }, (_, point) => point).filter((point) => has(set, point));

/** Ranges ascend, and there is a gap between each and the next. */
function expectWhole(set: PointSet): void {
  for (let i = 0; i < set.length; i += 2) {
    expect(set[i]).toBeLessThanOrEqual(set[i + 1] as number);
    if (i > 0) expect(set[i]).toBeGreaterThan((set[i - 1] as number) + 1);
  }
}

test('unions, intersections and complements have the members that they should', () => {
  fc.assert(
    fc.property(fc.array(ranges, { minLength: 2, maxLength: 5 }), (many) => {
      const sets = many.map((each) => setOf(each));
      const all = sets.map((set) => new Set(pointsOf(set)));
      const [a, b] = sets as [PointSet, PointSet];
      const [inA, inB] = all as [Set<number>, Set<number>];
      const points = Array.from({ length: MOST + 10 }, (_, point) => point);
      const cases: [PointSet, (point: number) => boolean][] = [
        [union(...sets), (point) => all.some((set) => set.has(point))],
        [intersect(a, b), (point) => inA.has(point) && inB.has(point)],
        [negate(a), (point) => !inA.has(point)],
        [negate(negate(a)), (point) => inA.has(point)],
        [subtract(a, b), (point) => inA.has(point) && !inB.has(point)],
      ];
      for (const [set, expected] of cases) {
        expectWhole(set);
        expect(pointsOf(set)).toEqual(points.filter(expected));
      }
    }),
    { numRuns: 500 },
  );
});

test('halves of pairs are in no complement', () => {
  expect(negate([])).toEqual([0, 0xd7ff, 0xe000, 0x10ffff]);
  expect(negate([0, 0x10ffff])).toEqual([]);
});
