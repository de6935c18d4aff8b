/**
 * Defines the types for watching a catalog. `WatchRequest` says what to watch, `CatalogWatch`
 * iterates over the events, and `CatalogEvent` is one event. directory/watch.ts produces the
 * events.
 */

/** What to watch. */
export interface WatchRequest {
  /** The namespace to watch, with all below it; the root if absent. */
  readonly id?: readonly string[];
}

/**
 * Events, iterated once: what is different each time the catalog is looked at, every new version of
 * every branch once. What came and went between two looks, some milliseconds apart, is not told: a
 * tag that was deleted again, a table that was dropped again with all its versions.
 */
export interface CatalogWatch extends AsyncIterable<CatalogEvent>, AsyncDisposable {
  /** Resolves once the catalog was looked at: changes from then on are told. */
  readonly ready: Promise<void>;
  /** Ends the events, also for who waits for one, and lets go of the file system. */
  close(): Promise<void>;
}

/** Something that happened. Paths go from the root down; `table` includes the table's name. */
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
