/**
 * Defines the results of a table's changes, of `stats` and of `optimize`, and converts the
 * protocol's responses to them (`writeResult`, `addResult` and others). Other results are defined
 * next to their methods, such as MergeResult in merge-insert.ts. A figure that the catalog does not
 * report is absent, 0 or, as `numAttempts`, 1.
 */
import type {
  DeleteFromTableResponse,
  GetTableStatsResponse,
  InsertIntoTableResponse,
  MergeInsertIntoTableResponse,
  OptimizeTableResponse,
  UpdateTableResponse,
} from '../../protocol/index.ts';
import { type Defined, defined } from '../handles/index.ts';
import type { MergeResult } from './merge-insert.ts';

/** A change of a table; `version` is 0 where the catalog does not tell. */
export interface WriteResult {
  readonly version: number;
  readonly transactionId?: string;
}

/** What adding columns made. */
export type AddColumnsResult = WriteResult;

/** What altering columns made. */
export type AlterColumnsResult = WriteResult;

/** What dropping columns made. */
export type DropColumnsResult = WriteResult;

/** What a change of fields' metadata made. */
export type UpdateFieldMetadataResult = WriteResult;

/** What an insertion made; the count is absent where the catalog does not tell. */
export interface AddResult extends WriteResult {
  readonly numInsertedRows?: number;
}

/** How many rows got new values, the same ones included. */
export interface UpdateResult extends WriteResult {
  readonly rowsUpdated: number;
}

/** How many rows were deleted; 0 makes no version. Absent where the catalog does not tell. */
export interface DeleteResult extends WriteResult {
  readonly numDeletedRows?: number;
}

/** How rows are spread over fragments: extremes, mean and percentiles. */
export interface FragmentSummaryStats {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p99: number;
}

/** Fragments of the newest version. */
export interface FragmentStatistics {
  readonly numFragments: number;
  /** Those of fewer than 100,000 rows. */
  readonly numSmallFragments: number;
  /** Rows per fragment, deleted ones included until compaction drops them. */
  readonly lengths: FragmentSummaryStats;
}

/** Sizes of the newest version; `totalBytes` are those of its files. */
export interface TableStatistics {
  /** On disk, in bytes, without manifests. */
  readonly totalBytes: number;
  readonly numRows: number;
  readonly numIndices: number;
  readonly fragmentStats: FragmentStatistics;
}

/** Fragments that compaction joined, and their files in the newest version. */
export interface CompactionStats {
  readonly fragmentsRemoved: number;
  readonly fragmentsAdded: number;
  readonly filesRemoved: number;
  readonly filesAdded: number;
}

/** What cleanup removed from the disk. */
export interface RemovalStats {
  readonly bytesRemoved: number;
  readonly oldVersionsRemoved: number;
  readonly filesRemoved: number;
  /** Files that no version uses and that stay, as a writer may be about to commit them. */
  readonly filesKept?: number;
}

/** What was done, or would be in a dry run. */
export interface OptimizeStats {
  readonly compaction: CompactionStats;
  readonly prune: RemovalStats;
  readonly dryRun: boolean;
}

export const writeResult = (answer: {
  version?: number;
  transaction_id?: string;
}): Defined<{ version: number; transactionId: string | undefined }> =>
  defined({ version: answer.version ?? 0, transactionId: answer.transaction_id });

export const addResult = (answer: InsertIntoTableResponse): AddResult =>
  defined({ ...writeResult(answer), numInsertedRows: answer.num_inserted_rows });

export const updateResult = (answer: UpdateTableResponse): UpdateResult => ({
  ...writeResult(answer),
  rowsUpdated: answer.updated_rows,
});

export const deleteResult = (answer: DeleteFromTableResponse): DeleteResult =>
  defined({ ...writeResult(answer), numDeletedRows: answer.num_deleted_rows });

export const mergeResult = (answer: MergeInsertIntoTableResponse): MergeResult => ({
  ...writeResult(answer),
  numInsertedRows: answer.num_inserted_rows ?? 0,
  numUpdatedRows: answer.num_updated_rows ?? 0,
  numDeletedRows: answer.num_deleted_rows ?? 0,
  numAttempts: answer.num_attempts ?? 1,
  numRows: (answer.num_inserted_rows ?? 0) + (answer.num_updated_rows ?? 0),
});

export const tableStatistics = (answer: GetTableStatsResponse): TableStatistics => ({
  totalBytes: answer.total_bytes,
  numRows: answer.num_rows,
  numIndices: answer.num_indices,
  fragmentStats: {
    numFragments: answer.fragment_stats.num_fragments,
    numSmallFragments: answer.fragment_stats.num_small_fragments,
    lengths: { ...answer.fragment_stats.lengths },
  },
});

export const optimizeStats = (answer: OptimizeTableResponse): OptimizeStats => ({
  compaction: {
    fragmentsRemoved: answer.fragments_removed,
    fragmentsAdded: answer.fragments_added,
    filesRemoved: answer.files_removed,
    filesAdded: answer.files_added,
  },
  prune: {
    bytesRemoved: answer.bytes_removed,
    oldVersionsRemoved: answer.versions_removed,
    filesRemoved: answer.unused_files_removed,
    ...(answer.unused_files_kept === undefined ? {} : { filesKept: answer.unused_files_kept }),
  },
  dryRun: answer.dry_run,
});
