/**
 * `lancedbDiff` and `lancedbCherryPick`: translate the comparison of a branch with main, and its outcome, into
 * the members that LanceDB's clients read.
 */
import type {
  BranchColumn,
  BranchIndex,
  CherryPickTableBranchResponse,
  DiffTableBranchResponse,
} from '../../protocol/index.ts';

type Errors = readonly { readonly code: string; readonly message: string }[];

export function lancedbDiff(told: DiffTableBranchResponse, errors: Errors = []): object {
  return {
    fromBranch: told.from_branch,
    parentVersion: told.parent_version,
    mainVersion: told.main_version,
    branchVersion: told.branch_version,
    baseMoved: told.main_version !== told.parent_version,
    rowCountMain: told.row_count_main,
    rowCountBranch: told.row_count_branch,
    rowSummary: {
      unchanged: told.rows_unchanged,
      newOnBase: told.rows_on_main,
      newOnBranch: told.rows_on_branch,
      staleRecompute: 0,
      inputsChanged: told.rows_changed,
      deltaAvailable: true,
    },
    addedColumns: told.added_columns.map(column),
    removedColumns: told.removed_columns.map(column),
    changedColumns: told.changed_columns.map(({ name, main, branch }) => ({
      name,
      main: column(main),
      branch: column(branch),
    })),
    addedIndexes: told.added_indexes.map(index),
    removedIndexes: told.removed_indexes.map(index),
    errors,
  };
}

const STATUSES = { ready: 'ready', failed: 'failed', cherry_picked: 'cherryPicked' } as const;

export function lancedbCherryPick(told: CherryPickTableBranchResponse): object {
  const { status, diff, error, version } = told;
  const promotedColumns = status === 'failed' ? [] : diff.added_columns.map(({ name }) => name);
  return {
    status: STATUSES[status],
    diff: lancedbDiff(diff, error === undefined ? [] : [error]),
    preview: { promotedColumns },
    ...(version === undefined ? {} : { mainVersionAfter: version }),
  };
}

const column = ({ name, data_type: dataType, nullable }: BranchColumn): object => ({
  name,
  dataType,
  nullable,
});

const index = ({ index_name, columns, index_type }: BranchIndex): object => ({
  indexName: index_name,
  columns,
  indexType: index_type,
  status: 'done',
});
