/**
 * Makes tests by which a cursor (fragments/fragment-cursor.ts) skips runs, which are neighbouring
 * fragments in the fragment list. With the test of `runsWithIds`, which sorts the given array, it
 * skips the runs that cannot hold one of the given fragment ids; with that of `runsWithOffsets`,
 * those that hold none of the rows at the given offsets. For more than 4,096 ids or offsets there
 * is no test (undefined), and the cursor reads all runs.
 */

import { firstAbove } from '../../binary-search.ts';
import type { RunWanted } from '../fragments/index.ts';

/** Runs are told apart for so many fragments or rows; of more, most runs have one. */
const MOST_NAMED = 4_096;

/** Runs that may hold one of the fragments. */
export function runsWithIds(ids: number[]): RunWanted | undefined {
  if (ids.length > MOST_NAMED) return undefined;
  const sorted = ids.sort((one, other) => one - other);
  const holdsBetween = rangesOf(sorted);
  return ({ firstId, lastId }) => holdsBetween(firstId, lastId + 1);
}

/** Runs that hold the row of one of the offsets. */
export function runsWithOffsets(offsets: readonly bigint[]): RunWanted | undefined {
  if (offsets.length > MOST_NAMED) return undefined;
  const sorted = offsets.map(Number).sort((one, other) => one - other);
  const holdsBetween = rangesOf(sorted);
  return ({ rows, deletedRows: deleted }, position) =>
    holdsBetween(position, position + rows - deleted);
}

/**
 * Tells whether one of the ascending whole numbers is at least `from` and below `to`. It remembers
 * the number that it found last, so that ascending ranges up to that number need no search.
 */
function rangesOf(ascending: readonly number[]): (from: number, to: number) => boolean {
  let since = Number.POSITIVE_INFINITY;
  let next = Number.NEGATIVE_INFINITY;
  return (from, to) => {
    if (from < since || from > next) {
      since = from;
      next = ascending[firstAbove(ascending, from - 1)] ?? Number.POSITIVE_INFINITY;
    }
    return next < to;
  };
}
