/** Buckets of numbers whose range is not known before. */
import { expect, test } from 'vitest';
import { Histogram } from '../../../src/table/profile/histogram.ts';
import { seeded } from '../../helpers/seeded.ts';

function filled(parts: readonly (readonly number[])[], whole = false): Histogram {
  const histogram = new Histogram(whole);
  for (const part of parts) {
    histogram.add(Float64Array.from(part), null, Math.min(...part), Math.max(...part));
  }
  return histogram;
}

function check(parts: readonly (readonly number[])[], most: number, whole = false): void {
  const found = filled(parts, whole).buckets(most);
  const { edges = [], counts = [] } = found ?? {};
  expect(counts.length).toBeLessThanOrEqual(most);
  expect(edges.length).toBe(counts.length + 1);
  const values = parts.flat();
  const expected = counts.map(
    (_, at) =>
      values.filter((value) => {
        const isLast = at === counts.length - 1 && edges[at + 1] === Number.MAX_VALUE;
        return value >= (edges[at] ?? 0) && (value < (edges[at + 1] ?? 0) || isLast);
      }).length,
  );
  expect(counts).toEqual(expected);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
}

const M = Number.MAX_VALUE;

test.each<[string, readonly (readonly number[])[]]>([
  ['one value', [[7]]],
  ['zero', [[0], [-0]]],
  ['a range that grows', [[1, 2], [1_000], [-1e6], [1e9, 3]]],
  ['all doubles', [[0], [M], [-M], [Number.MIN_VALUE, 1]]],
  ['the least doubles', [[Number.MIN_VALUE], [3 * Number.MIN_VALUE], [1e-300]]],
  ['far from zero', [[2 ** 53, 2 ** 53 + 2], [2 ** 53 + 4]]],
  ['from small to large', [[1e-300], [1e300]]],
])('%s', (_, parts) => {
  for (const most of [1, 2, 7, 20, 1_000]) check(parts, most);
});

test('random numbers', () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = seeded(seed);
    const whole = random() < 0.5;
    const parts = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
      Array.from({ length: 1 + Math.floor(random() * 50) }, () => {
        const value = (random() - 0.5) * 10 ** Math.floor(random() * 12 - 2);
        return whole ? Math.round(value) : value;
      }),
    );
    check(parts, 1 + Math.floor(random() * 30), whole);
  }
});

test('buckets of whole numbers are as wide as one at least', () => {
  expect(filled([[0, 1, 2, 2]], true).buckets(20)).toEqual({
    edges: [0, 1, 2, 3],
    counts: [1, 1, 2],
  });
});

test('what is no finite number is left out', () => {
  const histogram = new Histogram(false);
  histogram.add(Float64Array.of(1, Number.NaN, Number.POSITIVE_INFINITY), null, 1, 1);
  expect(histogram.buckets(5)?.counts).toEqual([1]);
  expect(new Histogram(false).buckets(5)).toBeUndefined();
});
