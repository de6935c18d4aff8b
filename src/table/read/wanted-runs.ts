/**
 * Tells a `FragmentCursor` which runs of fragments hold some of the fragments or rows that a read
 * asks for (`runsWithIds`, `runsWithOffsets`), so that it reads no other part of the list.
 */
import type { RunWanted } from '../fragments/index.ts';

/** Runs are told apart for so many fragments or rows; of more, most runs have one. */
const MOST_NAMED = 4_096;

/** Runs that may hold one of the fragments. */
export function runsWithIds(ids: number[]): RunWanted | undefined {
  if (ids.length > MOST_NAMED) return undefined;
  const sorted = ids.sort((one, other) => one - other);
  return ({ firstId, lastId }) => holdsBetween(sorted, firstId, lastId + 1);
}

/** Runs that hold the row of one of the offsets. */
export function runsWithOffsets(offsets: readonly bigint[]): RunWanted | undefined {
  if (offsets.length > MOST_NAMED) return undefined;
  const sorted = offsets.map(Number).sort((one, other) => one - other);
  return ({ rows, deletedRows: deleted }, position) =>
    holdsBetween(sorted, position, position + rows - deleted);
}

/** Whether one of the ascending numbers is at least `from` and below `to`. */
function holdsBetween(ascending: readonly number[], from: number, to: number): boolean {
  const found = ascending[firstAbove(ascending, from - 1)];
  return found !== undefined && found < to;
}

/** Where the first of the ascending numbers above `value` is. */
export function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
