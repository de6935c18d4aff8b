/**
 * Defines `Counters`, which count the work of the table engine: commits, commit conflicts, and hits
 * and misses of its caches (`CacheCounts`). Code in directory/ and table/ increments them, and
 * server/observe/metrics.ts publishes the numbers.
 */

/** Look-ups of one cache. */
export class CacheCounts {
  hits = 0;
  misses = 0;
}

/** Counts of one catalog, or of all catalogs that a server opens. */
export class Counters {
  /** Versions of tables that were committed; not those that a new branch or a repair makes. */
  commits = 0;
  /** Commit attempts that lost their version number to another writer. */
  conflicts = 0;
  /** Records, footers and other metadata. */
  readonly metadata: CacheCounts = new CacheCounts();
  /** Newest versions of tables. */
  readonly heads: CacheCounts = new CacheCounts();
  /** Columns of tables. */
  readonly buffers: CacheCounts = new CacheCounts();
}
