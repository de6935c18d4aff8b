/**
 * `diffBranch` compares the columns, indexes and rows of a version of a branch with those of a
 * version of main. A row is identified by the file that it was written to and its place there. So a
 * row that an update or a compaction moved counts twice, once for each side. A row that stayed in
 * its place counts as changed if a column of its fragment was written anew. Indexes are compared by
 * their ids. No column is read.
 */
import type { IndexEntry } from '../../format/index.ts';
import { fragmentDifferences, rowDifferences } from '../diff/index.ts';
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
  const fragments = await fragmentDifferences(engine, main, branch);
  const rows = await rowDifferences(engine, main, branch, fragments);
  return {
    columns: columnDifferences(main.fields, branch.fields),
    addedIndexes: others.filter((index) => !isIn(indexes, index)),
    removedIndexes: indexes.filter((index) => !isIn(others, index)),
    rows: {
      unchanged: rows.unchanged,
      changed: rows.changed,
      onMain: rows.removed,
      onBranch: rows.added,
    },
  };
}
