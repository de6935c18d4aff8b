/**
 * `joinedIndexes` computes the index entries of a version after some of its fragments were joined,
 * or undefined if it has no index. In the runs of each segment it replaces neighbouring fragments
 * without deleted rows by the fragments that hold the same rows now. No file of an index changes,
 * because positions count rows over the runs. `runOf` makes the run of a fragment, and `rowsIn`
 * adds up the rows of fragments or runs.
 */
import {
  columnStamp,
  type FragmentEntry,
  type IndexEntry,
  type IndexRun,
  type IndexSegment,
} from '../../format/index.ts';
import type { Snapshot } from '../versions/index.ts';
import { indexedField } from './coverage.ts';

/** Neighbouring fragments, and those that hold their live rows in the same order. */
export interface JoinedFragments {
  readonly before: readonly FragmentEntry[];
  readonly after: readonly FragmentEntry[];
}

/** @param joined of the version, in any order */
export function joinedIndexes(
  snapshot: Snapshot,
  joined: readonly JoinedFragments[],
): readonly IndexEntry[] | undefined {
  return snapshot.manifest.indexes?.map((index) => {
    const place = indexedField(snapshot, index);
    if (place === undefined) return index;
    const segments = index.segments.map((segment) => joinedSegment(segment, joined, place.top.id));
    const isSame = segments.every((segment, at) => segment === index.segments[at]);
    return isSame ? index : { ...index, segments };
  });
}

function joinedSegment(
  segment: IndexSegment,
  joined: readonly JoinedFragments[],
  field: number,
): IndexSegment {
  let { runs } = segment;
  for (const { before, after } of joined) {
    const [first] = before;
    const at = runs.findIndex(({ fragment }) => fragment === first?.id);
    if (at < 0 || !before.every((entry, next) => isRunOf(runs[at + next], entry, field))) continue;
    const fresh = after.map((entry) => runOf(entry, field));
    if (rowsIn(before) !== rowsIn(after)) continue;
    runs = [...runs.slice(0, at), ...fresh, ...runs.slice(at + before.length)];
  }
  return runs === segment.runs ? segment : { ...segment, runs };
}

const isRunOf = (run: IndexRun | undefined, entry: FragmentEntry, field: number): boolean =>
  run?.fragment === entry.id &&
  run.rows === entry.rows &&
  run.stamp === columnStamp(entry, field) &&
  entry.deletion === undefined;

export const runOf = (entry: FragmentEntry, field: number): IndexRun => ({
  fragment: entry.id,
  rows: entry.rows,
  stamp: columnStamp(entry, field),
});

/** Deleted rows among them. */
export const rowsIn = (entries: readonly { readonly rows: number }[]): number =>
  entries.reduce((sum, { rows }) => sum + rows, 0);
