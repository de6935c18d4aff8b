/**
 * Declares the operations beyond the protocol (`CatalogExtensions`), and the types of most of them,
 * such as undrop, optimize, verify and trash. The types of the others are in branch-diff.ts,
 * events.ts, models/jobs.ts and table-insight.ts. Every method is optional: a catalog leaves out
 * the operations that it cannot carry out, and callers check for a method before they call it.
 * `progressTo` passes on the progress of work on rows, such as compaction, with the names of the
 * protocol.
 */
import type { RecordBatchStream } from '../arrow/index.ts';
import type {
  CherryPickTableBranchRequest,
  CherryPickTableBranchResponse,
  DiffTableBranchRequest,
  DiffTableBranchResponse,
} from './branch-diff.ts';
import type { CatalogWatch, WatchRequest } from './events.ts';
import type {
  BeginJobRequest,
  CancelJobRequest,
  DescribeJobRequest,
  JobContent,
  ListJobsRequest,
  ListJobsResponse,
} from './models/index.ts';
import type { CallOptions } from './namespace.ts';
import type {
  DiffTableRequest,
  DiffTableResponse,
  ExplainSqlRequest,
  ExplainSqlResponse,
  FetchBlobsRequest,
  ListTableFilesRequest,
  ListTableFilesResponse,
  ProfileTableRequest,
  ProfileTableResponse,
  RunSqlRequest,
  TakeRowsRequest,
} from './table-insight.ts';

/** The id that the table was dropped under, from the root down. */
export interface UndropTableRequest {
  readonly id: readonly string[];
  /** Which of several dropped under that id, as ListTrash names it; the last one if absent. */
  readonly trash_id?: string;
}

/** Where the table is again. */
export interface UndropTableResponse {
  readonly id: readonly string[];
  readonly location: string;
}

/** Changes single properties: the others stay. */
export interface UpdateNamespacePropertiesRequest {
  readonly id: readonly string[];
  /** Set or replaced. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Removed; names that are not there are ignored. */
  readonly removals?: readonly string[];
}

/** Rows to delete by id, from the main branch if none is named. */
export interface DeleteRowsRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly branch?: string;
  /** `_rowid` values; those that name no live row are ignored. */
  readonly row_ids: readonly bigint[];
}

/** The version that was made; the one there was where no row was deleted. */
export interface DeleteRowsResponse {
  readonly transaction_id?: string;
  readonly version: number;
  readonly num_deleted_rows: number;
}

/** An index to read into memory before it is asked. */
export interface PrewarmTableIndexRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly branch?: string;
  readonly version?: number;
  readonly index_name: string;
}

/** What was read of an index. */
export interface PrewarmTableIndexResponse {
  /** Bytes of its files. */
  readonly bytes: number;
}

/** A table that gets the rows, columns and indexes of a version of another one, in its first version. */
export interface CloneTableRequest {
  /** The new table. */
  readonly id: readonly string[];
  /** The other table; in place of it, `source_location` may say where it lies. */
  readonly source_id?: readonly string[];
  readonly source_location?: string;
  /** The newest version of the main branch where none of these is given; a tag stands alone. */
  readonly source_branch?: string;
  readonly source_version?: number;
  readonly source_tag?: string;
  /** False copies all files; otherwise both tables share them on the disk. */
  readonly is_shallow?: boolean;
  /** Properties that replace those of the other table. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** The new table, and which version it has the content of. */
export interface CloneTableResponse {
  readonly location: string;
  readonly incarnation: string;
  readonly version: number;
  readonly transaction_id: string;
  readonly source_version: number;
}

/** What may be removed of a table, in ages of milliseconds. */
export interface CleanupTableRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  /**
   * Versions that were superseded longer ago go, with the files that only they use; save the newest
   * of each branch and what tags name.
   */
  readonly older_than_millis: number;
  /**
   * Files that no version refers to and of which it is not known that their writer has ended are
   * kept this long. Those of a writer in progress stay however old they are.
   */
  readonly orphan_grace_millis?: number;
  /** Says what would go and removes nothing. */
  readonly dry_run?: boolean;
}

/** What was removed from the disk, or would be in a dry run. */
export interface CleanupTableResponse {
  readonly versions_removed: number;
  readonly files_removed: number;
  readonly bytes_removed: number;
  /** Files that no version refers to and that stayed, as a writer may be about to commit them. */
  readonly files_kept?: number;
  readonly dry_run: boolean;
}

/** What compaction aims at. */
export interface CompactionParameters {
  /** Rows of a fragment, at most; about a million if absent. */
  readonly target_rows?: number;
  /** Bytes of a fragment, at most; 256 MiB if absent. */
  readonly target_bytes?: number;
  /** From 0 to 1: a fragment of which more rows are deleted is rewritten. */
  readonly max_deleted_share?: number;
  /**
   * Also rewrites each fragment whose files other programs cannot read alone: with deleted rows, with columns
   * in several files, or with other columns than the version.
   */
  readonly plain?: boolean;
}

/** Compaction of one branch, an update of its indexes, and then cleanup of the whole table. */
export interface OptimizeTableRequest {
  readonly id: readonly string[];
  readonly incarnation?: string;
  readonly branch?: string;
  /** With the usual aims if absent; `false` rewrites nothing. */
  readonly compact?: CompactionParameters | false;
  /**
   * `auto`, `zstd` or `none`: how the table is compressed from now on. Fragments that are there are written
   * anew accordingly, unless `compact` is `false`.
   */
  readonly compression?: string;
  /** Removes versions superseded longer ago, as CleanupTable does; none if absent. */
  readonly cleanup_older_than_millis?: number;
  readonly orphan_grace_millis?: number;
  /** Says what would be done and changes nothing. */
  readonly dry_run?: boolean;
}

/** What was done, or would be in a dry run; counts are 0 where nothing was. */
export interface OptimizeTableResponse {
  readonly fragments_removed: number;
  readonly fragments_added: number;
  /** Fragment and deletion files that the newest version stopped using. */
  readonly files_removed: number;
  readonly files_added: number;
  /** What cleanup removed from the disk. */
  readonly versions_removed: number;
  readonly unused_files_removed: number;
  readonly bytes_removed: number;
  /** As `files_kept` of CleanupTable. */
  readonly unused_files_kept?: number;
  readonly dry_run: boolean;
  /** The version that compaction, or the indexes brought up to date after it, made; absent when none was made. */
  readonly version?: number;
}

/** Rows of the fragments that are being rewritten. */
export interface OptimizeProgress {
  readonly rows_done: number;
  readonly rows_total: number;
}

/** Options of one call of `optimizeTable`. */
export interface OptimizeCallOptions extends CallOptions {
  /** Called as compaction gets on. */
  readonly on_progress?: (progress: OptimizeProgress) => void;
}

/** Tells the progress of work on rows in the protocol's form. */
export const progressTo =
  (tell: OptimizeCallOptions['on_progress']) =>
  ({ rowsDone, rowsTotal }: { readonly rowsDone: number; readonly rowsTotal: number }): void =>
    tell?.({ rows_done: rowsDone, rows_total: rowsTotal });

/** What to check. */
export interface VerifyRequest {
  /** The namespace to look through, with all below it; the whole catalog if absent. */
  readonly id?: readonly string[];
  /** Reads the tables in the trash too, where the whole catalog is looked through. */
  readonly trash?: boolean;
}

/** How much was looked at so far. */
export interface VerifyProgress {
  readonly tables: number;
  /** Bytes whose checksums were computed. */
  readonly bytes: number;
}

/** Options of one call of `verify`. */
export interface VerifyCallOptions extends CallOptions {
  /** Called for each file that was read. A remote catalog does not call it. */
  readonly on_progress?: (progress: VerifyProgress) => void;
}

/**
 * The kind of a file or folder, as the catalog knows it; `unknown` for what the engine never makes.
 */
export type VerifiedKind =
  | 'format'
  | 'namespace'
  | 'table'
  | 'manifest'
  | 'chunk'
  | 'fragment'
  | 'deletions'
  | 'index'
  | 'tag'
  | 'branch'
  | 'transaction'
  | 'key'
  | 'intent'
  | 'trash'
  | 'unknown';

/** Something that is not as it must be. */
export interface VerifyProblem {
  /** Relative to the root. */
  readonly path: string;
  readonly kind: VerifiedKind;
  /** In words; for people. */
  readonly what: string;
}

/**
 * Something harmless: what nothing refers to, which cleanup removes once it is old enough; a file of
 * others in the folder of the catalog (`foreign`), which nothing touches; or the place of a file that
 * follows commits for Lance's readers and lags behind (`unsynced`).
 */
export interface VerifyLeftover {
  readonly path: string;
  readonly kind:
    | 'staging'
    | 'trash'
    | 'detached'
    | 'quarantine'
    | 'temporary'
    | 'intent'
    | 'transaction'
    | 'orphan'
    | 'empty folder'
    | 'unsynced'
    | 'ghost'
    | 'foreign';
}

/** All that was found, and how much was looked at. */
export interface VerifyResponse {
  /** True when there is no problem; leftovers are none. */
  readonly ok: boolean;
  readonly problems: readonly VerifyProblem[];
  readonly leftovers: readonly VerifyLeftover[];
  readonly counts: {
    readonly namespaces: number;
    readonly tables: number;
    readonly branches: number;
    readonly tags: number;
    readonly versions: number;
    readonly fragments: number;
    /** Bytes whose checksums were computed. */
    readonly bytes: number;
  };
  /** Whether the tables in the trash were read too; of older servers it is not known. */
  readonly trash_checked?: boolean;
}

/** What to repair. Nobody else may be writing meanwhile. */
export interface RepairRequest {
  readonly id?: readonly string[];
  /** Moves what is damaged into quarantine; without it nothing is changed. */
  readonly apply?: boolean;
  /** For a catalog whose format file is lost: whether its versions were managed. */
  readonly managed_versioning?: boolean;
}

/** One thing that is taken out of the way: moved, never deleted. Or a version that is lost. */
export interface RepairAction {
  /** What is taken out of the way, or is missing. */
  readonly path: string;
  /** What verify says of it, and which older version is accepted in its place. */
  readonly why: string;
  /** Where it lies now; absent while nothing is changed, and of what is missing. */
  readonly quarantined?: string;
}

/** What was done, or would be if `applied` is false. */
export interface RepairResponse {
  readonly applied: boolean;
  readonly actions: readonly RepairAction[];
  /** What verify finds and repair cannot mend. */
  readonly left: readonly VerifyProblem[];
}

/** What Lance is to find by path: a table, or a namespace with all below it; the whole catalog if absent. */
export interface SyncLanceRequest {
  readonly id?: readonly string[];
}

/** What Lance finds of one table. */
export interface SyncLanceTable {
  /** Its folder, relative to the root. */
  readonly location: string;
  /** Whether the newest version opens; `reason` says why not, in whole sentences. */
  readonly opens: boolean;
  readonly reason?: string;
  /** Versions of all branches that Lance finds; those that it cannot read are refused there. */
  readonly versions: number;
  /** Files that were written, and removed, just now. */
  readonly written: number;
  readonly removed: number;
  /** Where manifests of other programs went, which Lance took for versions of the table. */
  readonly set_aside: readonly string[];
  /** Files of other programs that stay, and tags and branches whose names Lance does not take. */
  readonly left: readonly string[];
}

/** What was written for Lance's readers. */
export interface SyncLanceResponse {
  readonly tables: readonly SyncLanceTable[];
  /** What Lance's directory namespace finds; of a whole catalog alone. */
  readonly catalog?: {
    /** The folder of its table, relative to the root. */
    readonly location: string;
    readonly version: number;
    readonly namespaces: number;
    readonly tables: number;
    readonly written: boolean;
  };
}

/** What to list of the trash. */
export interface ListTrashRequest {
  /** What was dropped at or below this namespace; everything if absent. */
  readonly id?: readonly string[];
  /** Tables that were deregistered, in place of what was dropped. */
  readonly detached?: boolean;
}

/** Something that was dropped, and can be brought back until it is purged. */
export interface TrashItem {
  /** What UndropTable takes to name it. */
  readonly trash_id: string;
  /** `table`, `namespace`, `detached` of a deregistered table, or `unknown` where its record is lost. */
  readonly kind: string;
  /** The id that it was dropped under; empty where that is not known. */
  readonly id: readonly string[];
  /** Milliseconds since the epoch, by the clock of who dropped it; numbers order drops, not this. */
  readonly dropped_at?: number;
  /** Of a namespace: the ids of the tables that were dropped with it, at most a thousand. */
  readonly tables?: readonly (readonly string[])[];
  /** Of a deregistered table: what RegisterTable takes. */
  readonly location?: string;
}

/** What was dropped, newest first. */
export interface ListTrashResponse {
  readonly entries: readonly TrashItem[];
}

/** What to remove for good of all that was dropped. */
export interface PurgeTrashRequest {
  /** Dropped longer ago than this. */
  readonly older_than_millis: number;
  /** Tables that were deregistered longer ago, in place of what was dropped. */
  readonly detached?: boolean;
  readonly dry_run?: boolean;
}

/** How many dropped tables and namespaces were removed, or would be in a dry run. */
export interface PurgeTrashResponse {
  readonly removed: number;
  readonly dry_run: boolean;
}

/** The operations themselves. A catalog has those that its engine can do. */
export interface CatalogExtensions {
  /** @throws TableNotFound where the trash has none, TableAlreadyExists where the name is taken */
  undropTable?(request: UndropTableRequest, options?: CallOptions): Promise<UndropTableResponse>;
  /** Makes a table of a version of another one. @throws TableNotFound, TableAlreadyExists, NamespaceNotFound */
  cloneTable?(request: CloneTableRequest, options?: CallOptions): Promise<CloneTableResponse>;
  /** Answers all properties after the change. @throws NamespaceNotFound */
  updateNamespaceProperties?(
    request: UpdateNamespacePropertiesRequest,
    options?: CallOptions,
  ): Promise<{ readonly properties: Readonly<Record<string, string>> }>;
  /** @throws TableNotFound, TableBranchNotFound */
  deleteRows?(request: DeleteRowsRequest, options?: CallOptions): Promise<DeleteRowsResponse>;
  /** In the order asked for, repeats kept; numbers that name no live row are left out. */
  takeRows?(request: TakeRowsRequest, options?: CallOptions): Promise<RecordBatchStream>;
  /** The bytes of blobs, or a range of each. @throws InvalidInput for an id without a row, TableColumnNotFound */
  fetchBlobs?(request: FetchBlobsRequest, options?: CallOptions): Promise<RecordBatchStream>;
  /** Lists the files of a version, page by page. @throws InvalidInput for a page token of another version */
  listTableFiles?(
    request: ListTableFilesRequest,
    options?: CallOptions,
  ): Promise<ListTableFilesResponse>;
  /** Answers a SELECT. @throws InvalidInput with the place in the text, TableNotFound */
  runSql?(request: RunSqlRequest, options?: CallOptions): Promise<RecordBatchStream>;
  /** How a SELECT is carried out, in words. */
  explainSql?(request: ExplainSqlRequest, options?: CallOptions): Promise<ExplainSqlResponse>;
  /** Tells what columns are like: of all rows, or of a sample where the time is up. */
  profileTable?(request: ProfileTableRequest, options?: CallOptions): Promise<ProfileTableResponse>;
  /** Compares two versions. @throws TableVersionNotFound, TableBranchNotFound, TableTagNotFound */
  diffTable?(request: DiffTableRequest, options?: CallOptions): Promise<DiffTableResponse>;
  /** Reads an index into memory, as far as there is room for it. @throws TableIndexNotFound */
  prewarmTableIndex?(
    request: PrewarmTableIndexRequest,
    options?: CallOptions,
  ): Promise<PrewarmTableIndexResponse>;
  /** Compares columns, indexes and rows of a branch with those of main. @throws TableBranchNotFound */
  diffTableBranch?(
    request: DiffTableBranchRequest,
    options?: CallOptions,
  ): Promise<DiffTableBranchResponse>;
  /** Brings to main what a branch changed, as one version, or says why that cannot be. */
  cherryPickTableBranch?(
    request: CherryPickTableBranchRequest,
    options?: CallOptions,
  ): Promise<CherryPickTableBranchResponse>;
  /** Removes old versions of all branches, and the files that only they used. */
  cleanupTable?(request: CleanupTableRequest, options?: CallOptions): Promise<CleanupTableResponse>;
  /** Joins small fragments without a change of rows; row ids change. */
  optimizeTable?(
    request: OptimizeTableRequest,
    options?: OptimizeCallOptions,
  ): Promise<OptimizeTableResponse>;
  /** Checks every byte that anything refers to, and all references. Never throws on damage. */
  verify?(request: VerifyRequest, options?: VerifyCallOptions): Promise<VerifyResponse>;
  /** Takes out of the way what keeps a catalog from being read. Never deletes. */
  repair?(request: RepairRequest, options?: CallOptions): Promise<RepairResponse>;
  /** Brings what Lance finds by the paths of tables, and of the catalog, up to date. */
  syncLance?(request: SyncLanceRequest, options?: CallOptions): Promise<SyncLanceResponse>;
  /** Lists what was dropped and can be brought back. */
  listTrash?(request: ListTrashRequest, options?: CallOptions): Promise<ListTrashResponse>;
  /** Removes for good what was dropped: nothing brings it back. */
  purgeTrash?(request: PurgeTrashRequest, options?: CallOptions): Promise<PurgeTrashResponse>;
  /** Begins one of `JOB_OPERATIONS` in the background. @throws TableNotFound, InvalidInput, Throttling */
  beginJob?(request: BeginJobRequest, options?: CallOptions): Promise<JobContent>;
  /** @throws TransactionNotFound for a job that is not known, or no longer */
  describeJob?(request: DescribeJobRequest, options?: CallOptions): Promise<JobContent>;
  /** The jobs that were begun since the catalog was opened, in that order. */
  listJobs?(request: ListJobsRequest, options?: CallOptions): Promise<ListJobsResponse>;
  /** Ends a job, and answers when it has ended. @throws TransactionNotFound */
  cancelJob?(request: CancelJobRequest, options?: CallOptions): Promise<JobContent>;
  /** Watches from this call on, until the signal or closing ends it. */
  watch?(request: WatchRequest, options?: CallOptions): CatalogWatch;
}
