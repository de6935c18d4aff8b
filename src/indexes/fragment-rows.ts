/**
 * Defines `FragmentRows`, a set of rows grouped by fragment. For each fragment it has the offsets
 * of the rows, ascending and without repeats. `union` and `intersection` combine two sets; the
 * result may share arrays with them. Index segments store rows as positions over runs of fragments
 * (`PlacedRun`). `rowsAtPositions` converts such positions, which must ascend, to a set, and leaves
 * out fragments that the caller does not count as covered. A position past the last run throws
 * Corrupt.
 */
import { corrupt } from '../json.ts';

/** By fragment id; a fragment without rows is left out. */
export type FragmentRows = ReadonlyMap<number, Uint32Array>;

export const NO_FRAGMENT_ROWS: FragmentRows = new Map();

export function union(one: FragmentRows, other: FragmentRows): FragmentRows {
  if (one.size === 0) return other;
  const joined = new Map(one);
  for (const [fragment, rows] of other) {
    const known = joined.get(fragment);
    joined.set(fragment, known === undefined ? rows : mergedRows(known, rows));
  }
  return joined;
}

export function intersection(one: FragmentRows, other: FragmentRows): FragmentRows {
  const shared = new Map<number, Uint32Array>();
  for (const [fragment, rows] of one) {
    const also = other.get(fragment);
    const both = also === undefined ? undefined : sharedRows(rows, also);
    if (both !== undefined && both.length > 0) shared.set(fragment, both);
  }
  return shared;
}

function mergedRows(one: Uint32Array, other: Uint32Array): Uint32Array {
  const merged = new Uint32Array(one.length + other.length);
  let [left, right, count] = [0, 0, 0];
  while (left < one.length && right < other.length) {
    const [a, b] = [one[left] as number, other[right] as number];
    merged[count++] = Math.min(a, b);
    if (a <= b) left++;
    if (b <= a) right++;
  }
  while (left < one.length) merged[count++] = one[left++] as number;
  while (right < other.length) merged[count++] = other[right++] as number;
  return merged.subarray(0, count);
}

function sharedRows(one: Uint32Array, other: Uint32Array): Uint32Array {
  const shared = new Uint32Array(Math.min(one.length, other.length));
  let [left, right, count] = [0, 0, 0];
  while (left < one.length && right < other.length) {
    const [a, b] = [one[left] as number, other[right] as number];
    if (a === b) shared[count++] = a;
    if (a <= b) left++;
    if (b <= a) right++;
  }
  return shared.subarray(0, count);
}

/** A fragment whose rows have the positions from `start` on. */
export interface PlacedRun {
  readonly fragment: number;
  readonly rows: number;
  readonly start: number;
}

/**
 * The rows at ascending positions; those of fragments that are not in `covered` are left out.
 * @param positions may have repeats
 * @param file that they were read from
 * @throws Corrupt for positions past the last run
 */
export function rowsAtPositions(
  positions: Uint32Array,
  runs: readonly PlacedRun[],
  covered: ReadonlySet<number>,
  file: string,
): FragmentRows {
  const found = new Map<number, Uint32Array>();
  let at = 0;
  while (at < positions.length) {
    const run = runAt(runs, positions[at] as number);
    const end = run === undefined ? 0 : run.start + run.rows;
    if (run === undefined || (positions[at] as number) >= end) {
      throw corrupt(file, 'it holds a row that it does not cover');
    }
    const rows = new Uint32Array(Math.min(positions.length - at, run.rows));
    let count = 0;
    for (; at < positions.length && (positions[at] as number) < end; at++) {
      const row = (positions[at] as number) - run.start;
      if (count === 0 || rows[count - 1] !== row) rows[count++] = row;
    }
    if (covered.has(run.fragment)) found.set(run.fragment, rows.slice(0, count));
  }
  return found;
}

/** The run that has a position; the last one for those past it, undefined where there is none. */
function runAt(runs: readonly PlacedRun[], position: number): PlacedRun | undefined {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((runs[middle] as PlacedRun).start <= position) low = middle;
    else high = middle - 1;
  }
  return runs[low];
}
