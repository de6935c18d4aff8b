/**
 * What a catalog can do beyond the protocol. Every method is optional: a catalog that lacks one
 * leaves it out, and callers say so instead of guessing.
 */
import type { RecordBatchStream } from '../arrow.ts';
import type { QueryColumns } from './models.ts';
import type { CallOptions } from './namespace.ts';

export interface UndropTableRequest {
  readonly id: readonly string[];
}

export interface UndropTableResponse {
  readonly id: readonly string[];
  readonly location: string;
}

export interface UpdateNamespacePropertiesRequest {
  readonly id: readonly string[];
  /** Set or replaced. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Removed; names that are not there are ignored. */
  readonly removals?: readonly string[];
}

export interface DeleteRowsRequest {
  readonly id: readonly string[];
  readonly branch?: string;
  /** `_rowid` values; those that name no live row are ignored. */
  readonly row_ids: readonly bigint[];
}

export interface DeleteRowsResponse {
  readonly transaction_id?: string;
  readonly version: number;
  readonly num_deleted_rows: number;
}

/** Rows named one by one: by `row_ids`, or by `offsets` among the live rows of the version. */
export interface TakeRowsRequest {
  readonly id: readonly string[];
  readonly branch?: string;
  readonly version?: number;
  readonly row_ids?: readonly bigint[];
  readonly offsets?: readonly bigint[];
  readonly columns?: QueryColumns;
  readonly with_row_id?: boolean;
}

export interface CleanupTableRequest {
  readonly id: readonly string[];
  /** Versions older than this go, save the newest of each branch and what tags name. */
  readonly older_than_millis: number;
  /** Files that nothing refers to are kept this long; a writer may still be about to use them. */
  readonly orphan_grace_millis?: number;
  /** Says what would go and removes nothing. */
  readonly dry_run?: boolean;
}

export interface CleanupTableResponse {
  readonly versions_removed: number;
  readonly files_removed: number;
  readonly bytes_removed: number;
  readonly dry_run: boolean;
}

export interface PurgeTrashRequest {
  /** Dropped longer ago than this. */
  readonly older_than_millis: number;
  readonly dry_run?: boolean;
}

export interface PurgeTrashResponse {
  readonly removed: number;
  readonly dry_run: boolean;
}

export interface WatchRequest {
  /** The namespace to watch, with all below it; the root if absent. */
  readonly id?: readonly string[];
}

export type CatalogEvent =
  | {
      readonly type: 'namespace_created' | 'namespace_dropped';
      readonly namespace: readonly string[];
    }
  | { readonly type: 'table_created' | 'table_dropped'; readonly table: readonly string[] }
  | {
      readonly type: 'table_renamed';
      readonly table: readonly string[];
      readonly from: readonly string[];
    }
  | {
      readonly type: 'version_committed';
      readonly table: readonly string[];
      readonly branch: string;
      readonly version: number;
    }
  | {
      readonly type: 'tag_created' | 'tag_updated' | 'tag_deleted';
      readonly table: readonly string[];
      readonly tag: string;
      /** What the tag names now; absent once it is deleted. */
      readonly version?: number;
      readonly branch?: string;
    }
  | {
      readonly type: 'branch_created' | 'branch_deleted';
      readonly table: readonly string[];
      readonly branch: string;
    };

export interface CatalogExtensions {
  undropTable?(request: UndropTableRequest, options?: CallOptions): Promise<UndropTableResponse>;
  updateNamespaceProperties?(
    request: UpdateNamespacePropertiesRequest,
    options?: CallOptions,
  ): Promise<{ readonly properties: Readonly<Record<string, string>> }>;
  deleteRows?(request: DeleteRowsRequest, options?: CallOptions): Promise<DeleteRowsResponse>;
  /** In the order asked for, repeats kept; numbers that name no live row are left out. */
  takeRows?(request: TakeRowsRequest, options?: CallOptions): Promise<RecordBatchStream>;
  cleanupTable?(request: CleanupTableRequest, options?: CallOptions): Promise<CleanupTableResponse>;
  purgeTrash?(request: PurgeTrashRequest, options?: CallOptions): Promise<PurgeTrashResponse>;
  /** Events from the moment the first one is asked for, until the signal ends it. */
  watch?(request: WatchRequest, options?: CallOptions): AsyncIterable<CatalogEvent>;
}
