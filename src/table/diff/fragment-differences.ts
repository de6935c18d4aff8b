/**
 * `fragmentDifferences` finds which fragments two versions share, which only one of them has, and
 * which differ in deleted rows or overlays. From this `rowDifferences` counts the rows that are
 * unchanged, changed, added and removed. A row is identified by the file that it was written to and
 * its place there, so a row that was moved counts as removed and added. No column is read.
 * `hasSameValues` tells whether a fragment has no column rewritten in between.
 */
import { type FragmentEntry, liveRows } from '../../format/index.ts';
import { deletedRows } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';

export interface FragmentPair {
  readonly from: FragmentEntry;
  readonly to: FragmentEntry;
}

export interface FragmentDifferences {
  /** Fragments that are the same in both, and their live rows. */
  readonly kept: number;
  readonly keptRows: number;
  /** The same file with other deleted rows or overlays. */
  readonly changed: readonly FragmentPair[];
  readonly added: readonly FragmentEntry[];
  readonly removed: readonly FragmentEntry[];
}

/** Two versions of one table, of whatever branches. */
export async function fragmentDifferences(
  engine: Engine,
  from: Snapshot,
  to: Snapshot,
): Promise<FragmentDifferences> {
  const before = await from.fragmentRuns();
  const after = await to.fragmentRuns();
  const turn = new Turn(engine.env);
  // Chunks that both share are the same list while they are in memory.
  const others = new Set(after);
  const shared = new Set(before.filter((run) => others.has(run)));
  let kept = 0;
  let keptRows = 0;
  const keep = (entry: FragmentEntry): void => {
    kept += 1;
    keptRows += liveRows(entry);
  };
  for (const run of shared) for (const entry of run) keep(entry);
  const known = new Map<string, FragmentEntry>();
  for (const run of before) {
    if (!shared.has(run)) for (const entry of run) known.set(entry.file, entry);
  }
  const changed: FragmentPair[] = [];
  const added: FragmentEntry[] = [];
  for (const run of after) {
    if (shared.has(run)) continue;
    for (const entry of run) {
      if (turn.isOver()) await turn.pass();
      const other = known.get(entry.file);
      known.delete(entry.file);
      if (other === undefined) added.push(entry);
      else if (isSame({ from: other, to: entry })) keep(entry);
      else changed.push({ from: other, to: entry });
    }
  }
  return { kept, keptRows, changed, added, removed: [...known.values()] };
}

const isSame = (pair: FragmentPair): boolean => hasSameDeletion(pair) && hasSameValues(pair);

const hasSameDeletion = ({ from, to }: FragmentPair): boolean =>
  JSON.stringify(from.deletion) === JSON.stringify(to.deletion);

/** Whether the rows that both have are the same: no column was written anew. */
export const hasSameValues = ({ from, to }: FragmentPair): boolean =>
  overlaysOf(from) === overlaysOf(to);

const overlaysOf = ({ overlays = [] }: FragmentEntry): string =>
  overlays.map(({ file }) => file).join();

export interface RowDifferences {
  /** In both, with the same values. */
  readonly unchanged: number;
  /** In both, with a column that was written anew. */
  readonly changed: number;
  /** In one of them alone. */
  readonly added: number;
  readonly removed: number;
}

/** A row that was moved, by an update or a compaction, counts as removed and added. */
export async function rowDifferences(
  engine: Engine,
  from: Snapshot,
  to: Snapshot,
  fragments: FragmentDifferences,
): Promise<RowDifferences> {
  let unchanged = fragments.keptRows;
  let changed = 0;
  for (const pair of fragments.changed) {
    const both = await liveInBoth(engine, from, to, pair);
    if (hasSameValues(pair)) unchanged += both;
    else changed += both;
  }
  const common = unchanged + changed;
  return { unchanged, changed, added: to.rowCount - common, removed: from.rowCount - common };
}

/** Rows of a fragment that neither version has deleted. */
async function liveInBoth(
  engine: Engine,
  from: Snapshot,
  to: Snapshot,
  pair: FragmentPair,
): Promise<number> {
  // The rows need not be read where only one version has deleted some, or both the same.
  if (pair.from.deletion === undefined || hasSameDeletion(pair)) return liveRows(pair.to);
  if (pair.to.deletion === undefined) return liveRows(pair.from);
  const one = await deletedRows(engine, from, pair.from);
  const other = await deletedRows(engine, to, pair.to);
  const gone = new Set([...(one?.offsets ?? []), ...(other?.offsets ?? [])]);
  return pair.from.rows - gone.size;
}
