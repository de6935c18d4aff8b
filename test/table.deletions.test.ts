/** Deleted rows of a fragment, as its batches ask for them. */
import { expect, test } from 'vitest';
import { DeletedRows } from '../src/table/deletions.ts';

const deleted = new DeletedRows(Uint32Array.of(0, 3, 4, 9, 12, 13, 19));

test('live rows of a batch are those no offset names, counted from its first', () => {
  const kept = (first: number, rows: number) => {
    const found = deleted.keptBetween(first, rows);
    return found === undefined ? undefined : Array.from(found);
  };
  expect(kept(0, 10)).toEqual([1, 2, 5, 6, 7, 8]);
  expect(kept(10, 10)).toEqual([0, 1, 4, 5, 6, 7, 8]);
  expect(kept(3, 2)).toEqual([]);
  expect(kept(5, 4)).toBeUndefined();
  expect(kept(20, 5)).toBeUndefined();
});

test('of rows that were found those that are deleted go, in any batch', () => {
  const live = (rows: number[], first: number) =>
    Array.from(deleted.liveOf(Uint32Array.from(rows), first));
  expect(live([0, 1, 2, 3, 4, 5, 9], 0)).toEqual([1, 2, 5]);
  expect(live([0, 2, 3, 4, 9], 10)).toEqual([0, 4]);
  expect(live([2, 3], 10)).toEqual([]);
  expect(live([0, 1, 3], 5)).toEqual([0, 1, 3]);
  expect(live([5, 6], 10)).toEqual([5, 6]);
  expect(live([], 0)).toEqual([]);
});
