/** Finding rows by their hashes, also where hashes share a slot and rows share a hash. */
import { expect, test } from 'vitest';
import { drained } from '../../../src/steps.ts';
import { Buckets, RowList } from '../../../src/table/diff/row-lists.ts';

const listOf = (hashes: readonly (readonly [low: number, high: number])[]): RowList => {
  const list = new RowList();
  const words = {
    low: Int32Array.from(hashes, ([low]) => low),
    high: Int32Array.from(hashes, ([, high]) => high),
  };
  const other = { low: words.high, high: words.low };
  for (const row of hashes.keys()) list.push(words, other, row, row, 2 ** 32 - 1 - row);
  return list;
};

test('each row is taken once, the first one first', () => {
  const list = listOf([
    [7, 1],
    [7, 2],
    [7, 1],
    [23, 9],
    [7, 1],
  ]);
  const buckets = drained(Buckets.of(list, 'row'));
  expect([buckets.take(7, 1), buckets.take(7, 1), buckets.take(7, 1)]).toEqual([0, 2, 4]);
  expect(buckets.take(7, 1)).toBe(-1);
  // Behind slots all of whose rows were taken.
  expect([buckets.take(7, 2), buckets.take(23, 9), buckets.take(23, 8)]).toEqual([1, 3, -1]);
  expect([0, 1, 2, 3, 4].every((row) => buckets.isTaken(row))).toBe(true);
  const byKey = drained(Buckets.of(list, 'key'));
  expect([byKey.take(2, 7), byKey.take(7, 2)]).toEqual([1, -1]);
});

test('lists grow, and keep where rows are', () => {
  const list = listOf(Array.from({ length: 3_000 }, (_, row) => [row, -row] as const));
  expect(list.length).toBe(3_000);
  expect(list.rowId(2_999)).toBe((2_999n << 32n) | (2n ** 32n - 3_000n));
  const copy = new RowList();
  copy.pushFrom(list, 2_500);
  expect([copy.low(0, 'row'), copy.high(0, 'row'), copy.low(0, 'key')]).toEqual([
    2_500, -2_500, -2_500,
  ]);
  expect(copy.rowId(0)).toBe(list.rowId(2_500));
});
