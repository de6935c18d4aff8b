/**
 * Lets a scan skip fragments and batches that hold none of the rows it needs. A predicate may name
 * rows by id or offset, such as `_rowid = 7`, or an index may have found them. `namesRowsOf`
 * returns false for a fragment that holds none of these rows. `namesRowsBetween` does so for a run
 * of fragments, by the predicate alone. `namedRowsOf` returns these rows of a batch, or undefined
 * if the predicate names no rows and no index covers the batch.
 */

import { firstAtLeast } from '../../binary-search.ts';
import { type FragmentEntry, type FragmentExtent, liveRows } from '../../format/index.ts';
import type { BatchPlace } from './batch-rows.ts';
import type { ScanPlan } from './scan-plan.ts';

/** False when the predicate names rows and none of them is in the fragment. */
export function namesRowsOf(plan: ScanPlan, entry: FragmentEntry, position: number): boolean {
  const { rowIds, rowOffsets, indexed } = plan;
  if (indexed?.covered.has(entry.id) === true) return indexed.rows.has(entry.id);
  if (rowIds !== undefined) {
    const first = BigInt(entry.id) << 32n;
    if (!holdsAny(rowIds.values, first, first + BigInt(entry.rows))) return false;
  }
  if (rowOffsets !== undefined) {
    const first = BigInt(position);
    if (!holdsAny(rowOffsets.values, first, first + BigInt(liveRows(entry)))) return false;
  }
  return true;
}

/** False when the predicate names rows and none of them can be in a run of fragments. */
export function namesRowsBetween(plan: ScanPlan, run: FragmentExtent, position: number): boolean {
  const { rowIds, rowOffsets } = plan;
  if (rowIds !== undefined) {
    const first = BigInt(run.firstId) << 32n;
    if (!holdsAny(rowIds.values, first, (BigInt(run.lastId) + 1n) << 32n)) return false;
  }
  if (rowOffsets === undefined) return true;
  const first = BigInt(position);
  return holdsAny(rowOffsets.values, first, first + BigInt(run.rows - run.deletedRows));
}

export interface NamedRows {
  /** Rows of the batch, ascending; they may be deleted ones. */
  readonly rows: Uint32Array;
  /** True when every live one of them matches. */
  readonly complete: boolean;
}

/**
 * The rows of a batch that the predicate names; undefined where it names none, and no index covers
 * them.
 */
export function namedRowsOf(plan: ScanPlan, place: BatchPlace): NamedRows | undefined {
  const { rowIds, rowOffsets, indexed } = plan;
  if (indexed?.covered.has(place.entry.id) === true) {
    const all = indexed.rows.get(place.entry.id) ?? NO_ROWS;
    return { rows: offsetsWithin(all, place.first, place.rows), complete: indexed.exact };
  }
  if (rowIds !== undefined) {
    const first = (BigInt(place.entry.id) << 32n) | BigInt(place.first);
    const rows = numbersWithin(rowIds.values, first, first + BigInt(place.rows));
    return { rows, complete: rowIds.complete };
  }
  if (rowOffsets !== undefined) {
    const kept = place.deleted?.keptBetween(place.first, place.rows);
    const live = kept === undefined ? place.rows : kept.length;
    const first = BigInt(place.position);
    const numbers = numbersWithin(rowOffsets.values, first, first + BigInt(live));
    const rows = kept === undefined ? numbers : numbers.map((number) => kept[number] as number);
    return { rows, complete: rowOffsets.complete };
  }
  return undefined;
}

const NO_ROWS = new Uint32Array(0);

/** The numbers of `sorted` that are rows of a batch, counted from its first row. */
function offsetsWithin(sorted: Uint32Array, first: number, rows: number): Uint32Array {
  const from = firstAtLeast(sorted, first);
  const to = firstAtLeast(sorted, first + rows);
  return from === to ? NO_ROWS : sorted.subarray(from, to).map((row) => row - first);
}

const holdsAny = (sorted: readonly bigint[], first: bigint, end: bigint): boolean =>
  firstAtLeast(sorted, first) < firstAtLeast(sorted, end);

/** The numbers of `sorted` from `first` to before `end`, counted from `first`. */
function numbersWithin(sorted: readonly bigint[], first: bigint, end: bigint): Uint32Array {
  const from = firstAtLeast(sorted, first);
  const to = firstAtLeast(sorted, end);
  return Uint32Array.from({ length: to - from }, (_, at) =>
    Number((sorted[from + at] as bigint) - first),
  );
}
