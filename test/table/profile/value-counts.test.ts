/** Counting values in bounded memory: what stays exact, and how good estimates are. */
import { Float64, vectorFromArray } from 'apache-arrow';
import { expect, test } from 'vitest';
import { hashValues, loadColumn } from '../../../src/sql/index.ts';
import { ValueCounts } from '../../../src/table/profile/value-counts.ts';

const add = (counts: ValueCounts, values: readonly number[], first: number): void => {
  const data = vectorFromArray(values, new Float64()).data[0];
  if (data === undefined) throw new Error('no data');
  counts.add(hashValues(loadColumn(data)), null, 0, (row) => first + row);
};

test('beyond the number that is counted exactly, frequent values still are', () => {
  const counts = new ValueCounts(1_000, 3);
  const frequent = (from: number): number[] =>
    Array.from({ length: 1_000 }, (_, at) => (at % 10 === 0 ? (at % 30) / 10 - 10 : from + at));
  for (let from = 0; from < 20_000; from += 1_000) add(counts, frequent(from), from);
  expect(counts.isExact).toBe(false);
  expect(counts.top()).toMatchObject([
    { count: 680, offset: 0 },
    { count: 660, offset: 10 },
    { count: 660, offset: 20 },
  ]);
  const { values, single } = counts.distinct;
  // 18,000 values that occur once and 3 others: the error of a thousand kept ones is 3 %.
  expect(Math.abs(values / 18_003 - 1)).toBeLessThan(0.25);
  expect(single).toBeGreaterThan(0.7 * values);
  expect(counts.bytes).toBeLessThan(1 << 18);
});

test('up to it all is exact, and of equal counts those that stand first are told', () => {
  const counts = new ValueCounts(1_000, 2);
  add(
    counts,
    Array.from({ length: 1_000 }, (_, at) => at >> 1),
    0,
  );
  expect(counts.isExact).toBe(true);
  expect(counts.distinct).toEqual({ values: 500, single: 0 });
  expect(counts.top()).toMatchObject([
    { offset: 0, count: 2 },
    { offset: 2, count: 2 },
  ]);
});

test('values that occur once are told where all of them are', () => {
  const few = new ValueCounts(1_000, 3);
  add(few, [5, 6], 0);
  expect(few.top()).toHaveLength(2);
  add(few, [7, 8, 5], 2);
  expect(few.top()).toMatchObject([{ offset: 0, count: 2 }]);
});
