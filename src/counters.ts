/** What the table engine counts of its work: plain numbers, which only grow while a process lives. */

/** Look-ups of one cache. */
export class CacheCounts {
  hits = 0;
  misses = 0;
}

/** One object may count for several catalogs, such as those that a server opens. */
export class Counters {
  /** Versions of tables that were committed; not those that a new branch or a repair makes. */
  commits = 0;
  /** Attempts at a version that another writer was faster with. */
  conflicts = 0;
  /** Records, footers and other metadata. */
  readonly metadata: CacheCounts = new CacheCounts();
  /** Newest versions of tables. */
  readonly heads: CacheCounts = new CacheCounts();
  /** Columns of tables. */
  readonly buffers: CacheCounts = new CacheCounts();
}
