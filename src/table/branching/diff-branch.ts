/**
 * `diffBranch`: compares the newest versions of a branch and of main: columns, indexes, and rows. Rows are
 * told apart by the file that they were written to and their place in it, so a row that was rewritten,
 * by an update that moved it or by a compaction, counts as a new one. No column is read.
 */
import { type FragmentEntry, type IndexEntry, liveRows } from '../../format/index.ts';
import { deletedRows } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { type ColumnDifferences, columnDifferences } from './column-differences.ts';

export interface BranchDifference {
  readonly columns: ColumnDifferences;
  readonly addedIndexes: readonly IndexEntry[];
  readonly removedIndexes: readonly IndexEntry[];
  readonly rows: {
    /** In both, with the same values. */
    readonly unchanged: number;
    /** In both, with a column that was written anew on one side. */
    readonly changed: number;
    readonly onMain: number;
    readonly onBranch: number;
  };
}

export async function diffBranch(
  engine: Engine,
  main: Snapshot,
  branch: Snapshot,
): Promise<BranchDifference> {
  const indexes = main.manifest.indexes ?? [];
  const others = branch.manifest.indexes ?? [];
  const isIn = (list: readonly IndexEntry[], { id }: IndexEntry): boolean =>
    list.some((one) => one.id === id);
  return {
    columns: columnDifferences(main.fields, branch.fields),
    addedIndexes: others.filter((index) => !isIn(indexes, index)),
    removedIndexes: indexes.filter((index) => !isIn(others, index)),
    rows: await rowDifferences(engine, main, branch),
  };
}

async function rowDifferences(
  engine: Engine,
  main: Snapshot,
  branch: Snapshot,
): Promise<BranchDifference['rows']> {
  const known = new Map((await main.fragments()).map((entry) => [entry.file, entry]));
  let unchanged = 0;
  let changed = 0;
  for (const entry of await branch.fragments()) {
    const other = known.get(entry.file);
    if (other === undefined) continue;
    const both = await liveInBoth(engine, [main, other], [branch, entry]);
    if (overlaysOf(entry) === overlaysOf(other)) unchanged += both;
    else changed += both;
  }
  const common = unchanged + changed;
  return {
    unchanged,
    changed,
    onMain: main.rowCount - common,
    onBranch: branch.rowCount - common,
  };
}

const overlaysOf = ({ overlays = [] }: FragmentEntry): string =>
  overlays.map(({ file }) => file).join();

type Placed = readonly [Snapshot, FragmentEntry];

/** Rows of a fragment that neither version has deleted. */
async function liveInBoth(engine: Engine, ...[one, other]: [Placed, Placed]): Promise<number> {
  const [first, second] = [one[1], other[1]];
  if (JSON.stringify(first.deletion) === JSON.stringify(second.deletion)) return liveRows(first);
  if (first.deletion === undefined) return liveRows(second);
  if (second.deletion === undefined) return liveRows(first);
  const gone = new Set<number>();
  for (const [snapshot, entry] of [one, other]) {
    const deleted = await deletedRows(engine, snapshot, entry);
    for (const offset of deleted?.offsets ?? []) gone.add(offset);
  }
  return first.rows - gone.size;
}
