/**
 * Chooses the fragments that a segment is built from. `fragmentGroups` cuts the fragments of a
 * version into groups of neighbours of at most `segmentRows` rows; a larger fragment is a group of
 * its own. `partOf` returns a snapshot of a group in which deleted rows count as live, so that
 * positions stay right when other rows are deleted later. `runsOf` makes the runs of a group.
 */
import {
  type FragmentEntry,
  type IndexRun,
  MOST_POSITIONS,
  storedBytes,
} from '../../format/index.ts';
import { type IndexedField, runOf } from '../indexes/index.ts';
import { type Engine, Snapshot } from '../versions/index.ts';

/** Neighbours of together at most `segmentRows` rows; a larger one is alone. */
export function fragmentGroups(
  segmentRows: number,
  entries: readonly FragmentEntry[],
): FragmentEntry[][] {
  const most = Math.min(segmentRows, MOST_POSITIONS);
  const groups: FragmentEntry[][] = [];
  let rows = 0;
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group === undefined || rows + entry.rows > most) {
      groups.push([entry]);
      rows = 0;
    } else group.push(entry);
    rows += entry.rows;
  }
  return groups;
}

/** Just these fragments of a version, in their order, none of their rows deleted. */
export function partOf(
  engine: Engine,
  snapshot: Snapshot,
  entries: readonly FragmentEntry[],
): Snapshot {
  const fragments = entries.map((entry) => ({ ...entry, deletion: undefined }));
  const totals = {
    rows: fragments.reduce((sum, { rows }) => sum + rows, 0),
    deletedRows: 0,
    bytes: fragments.reduce((sum, entry) => sum + storedBytes(entry), 0),
    fragments: fragments.length,
  };
  const manifest = { ...snapshot.manifest, chunks: [], fragments, totals, indexes: undefined };
  return new Snapshot(engine, snapshot.branch, manifest, snapshot.checksum, snapshot.manifestBytes);
}

export const runsOf = (
  entries: readonly FragmentEntry[],
  { top }: Pick<IndexedField, 'top'>,
): IndexRun[] => entries.map((entry) => runOf(entry, top.id));
