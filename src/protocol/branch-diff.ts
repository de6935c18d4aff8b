/**
 * Defines the requests and responses of the operations that compare a branch with main and
 * cherry-pick its changes to main. `branchDiff` and `cherryPickResult` convert the responses to the
 * types of LanceDB's SDK, for programs that were written for it: our SDK returns these types, and
 * the server sends them to LanceDB's clients.
 */
/** The branch to compare with main. */
export interface DiffTableBranchRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly from_branch: string;
}

/** A top-level column. */
export interface BranchColumn {
  readonly name: string;
  readonly data_type: string;
  readonly nullable: boolean;
}

/** What the newest versions of a branch and of main have apart from each other. */
export interface DiffTableBranchResponse {
  readonly from_branch: string;
  /** The version of main that the branch was made of; main is at `main_version`. */
  readonly parent_version: number;
  readonly main_version: number;
  readonly branch_version: number;
  readonly row_count_main: number;
  readonly row_count_branch: number;
  /** Rows that both have, with the same values; with others; and that only one of them has. */
  readonly rows_unchanged: number;
  readonly rows_changed: number;
  readonly rows_on_main: number;
  readonly rows_on_branch: number;
  readonly added_columns: readonly BranchColumn[];
  readonly removed_columns: readonly BranchColumn[];
  readonly changed_columns: readonly {
    readonly name: string;
    readonly main: BranchColumn;
    readonly branch: BranchColumn;
  }[];
  readonly added_indexes: readonly BranchIndex[];
  readonly removed_indexes: readonly BranchIndex[];
}

/** An index that only one of two branches has. */
export interface BranchIndex {
  readonly index_name: string;
  readonly columns: readonly string[];
  readonly index_type: string;
}

/** The branch whose changes are brought to main. */
export interface CherryPickTableBranchRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly from_branch: string;
  /** Says whether it would be done, and changes nothing. */
  readonly dry_run?: boolean;
}

/** What was done, or why nothing was. */
export interface CherryPickTableBranchResponse {
  /** `ready` of a dry run that would be done. */
  readonly status: 'ready' | 'failed' | 'cherry_picked';
  /** Before anything was changed. */
  readonly diff: DiffTableBranchResponse;
  /** Why it failed. */
  readonly error?: { readonly code: string; readonly message: string };
  /** The version of main that was made. */
  readonly version?: number;
  readonly transaction_id?: string;
}

/** A top-level column. */
export interface BranchColumnSummary {
  readonly name: string;
  readonly dataType: string;
  readonly nullable: boolean;
}

/** A column that main and the branch define differently. */
export interface BranchColumnChange {
  readonly name: string;
  readonly main: BranchColumnSummary;
  readonly branch: BranchColumnSummary;
}

/** An index that only one of them has. */
export interface BranchIndexSummary {
  readonly indexName: string;
  readonly columns: string[];
  readonly indexType?: string;
  readonly status: string;
}

/** Rows, told apart by where they were written: one that was moved counts as new. */
export interface BranchRowCountSummary {
  /** In both, with the same values. */
  readonly unchanged: number;
  readonly newOnBase: number;
  readonly newOnBranch: number;
  /** Always 0: computed values that are stale are null, and counted nowhere. */
  readonly staleRecompute: number;
  /** In both, with other values in a column. */
  readonly inputsChanged: number;
  readonly deltaAvailable: boolean;
}

/** Why a branch cannot be brought to main. */
export interface CherryPickError {
  readonly code: string;
  readonly message: string;
}

/** The newest versions of a branch and of main beside each other. */
export interface BranchDiff {
  readonly fromBranch: string;
  /** The version of main that the branch was made of. */
  readonly parentVersion: number;
  readonly mainVersion: number;
  readonly branchVersion: number;
  /** Whether main went on since. */
  readonly baseMoved: boolean;
  readonly rowCountMain: number;
  readonly rowCountBranch: number;
  readonly rowSummary: BranchRowCountSummary;
  readonly addedColumns: BranchColumnSummary[];
  readonly removedColumns: BranchColumnSummary[];
  readonly changedColumns: BranchColumnChange[];
  readonly addedIndexes: BranchIndexSummary[];
  readonly removedIndexes: BranchIndexSummary[];
  /** The reasons why a cherry-pick cannot be done. */
  readonly errors: CherryPickError[];
}

/** The columns that main gets. */
export interface CherryPickPreview {
  readonly promotedColumns: string[];
}

/** What a cherry-pick did, or would do. */
export interface CherryPickResult {
  readonly status: 'ready' | 'failed' | 'notImplemented' | 'cherryPicked' | 'unknown';
  /** From before it. */
  readonly diff: BranchDiff;
  readonly preview: CherryPickPreview;
  readonly mainVersionAfter?: number;
}

export function branchDiff(
  told: DiffTableBranchResponse,
  errors: readonly CherryPickError[] = [],
): BranchDiff {
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
    errors: [...errors],
  };
}

const STATUSES = { ready: 'ready', failed: 'failed', cherry_picked: 'cherryPicked' } as const;

export function cherryPickResult(told: CherryPickTableBranchResponse): CherryPickResult {
  const { status, diff, error, version } = told;
  const promotedColumns = status === 'failed' ? [] : diff.added_columns.map(({ name }) => name);
  return {
    status: STATUSES[status],
    diff: branchDiff(diff, error === undefined ? [] : [error]),
    preview: { promotedColumns },
    ...(version === undefined ? {} : { mainVersionAfter: version }),
  };
}

const column = ({ name, data_type: dataType, nullable }: BranchColumn): BranchColumnSummary => ({
  name,
  dataType,
  nullable,
});

const index = ({ index_name, columns, index_type }: BranchIndex): BranchIndexSummary => ({
  indexName: index_name,
  columns: [...columns],
  indexType: index_type,
  status: 'done',
});
