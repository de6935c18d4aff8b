/**
 * `ByteCache` caches immutable values by key within a limit in bytes, and evicts the least recently
 * used. The caller says how many bytes a value takes; one that is larger than the limit is not
 * kept. `CacheBudget` bounds several caches together, and evicts from the one that holds most.
 * `noted` remembers up to 16,384 keys seen recently, so that callers can cache a value only on its
 * second read.
 */
import { CacheCounts } from '../../counters.ts';

/** Admission filter: a value enters the cache on its second read. Holds the keys of first reads. */
const SEEN = 16_384;

interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly bytes: number;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/**
 * The bytes that several caches may hold together, such as those of all catalogs that a server has
 * open. When it is exceeded, the cache that holds most evicts its least recently used entries.
 */
export class CacheBudget {
  readonly limit: number;
  readonly #caches = new Set<ByteCache>();
  #used = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes that the caches hold. */
  get used(): number {
    return this.#used;
  }

  /** Entries of all its caches. */
  get items(): number {
    let items = 0;
    for (const cache of this.#caches) items += cache.items;
    return items;
  }

  /** A cache of the budget holds so many bytes more, or less where it is negative. */
  add(cache: ByteCache, bytes: number): void {
    this.#used += bytes;
    if (cache.used > 0) this.#caches.add(cache);
    else this.#caches.delete(cache);
  }

  /** Makes room until what is held fits; the newest entry of `last`, of so many bytes, stays. */
  shrink(last: ByteCache, bytes: number): void {
    while (this.#used > this.limit) {
      let largest = last;
      let most = last.used - bytes;
      for (const cache of this.#caches) {
        if (cache === last || cache.used <= most) continue;
        largest = cache;
        most = cache.used;
      }
      largest.dropOldest();
    }
  }
}

/**
 * A least-recently-used cache bounded by bytes, its own or those of a shared budget. The order of
 * use is a linked list: removing and re-inserting map entries would cost more than the look-up.
 */
export class ByteCache {
  readonly #budget: CacheBudget;
  readonly #counts: CacheCounts;
  readonly #entries = new Map<string, Entry>();
  readonly #seen = new Set<string>();
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
  #used = 0;

  /**
   * @param limit in bytes, or the budget of this and other caches
   * @param counts is told of every look-up
   */
  constructor(limit: number | CacheBudget, counts: CacheCounts = new CacheCounts()) {
    this.#budget = typeof limit === 'number' ? new CacheBudget(limit) : limit;
    this.#counts = counts;
  }

  /** Most bytes held. */
  get limit(): number {
    return this.#budget.limit;
  }

  /** Bytes held. */
  get used(): number {
    return this.#used;
  }

  /** Bytes that can be added without anything being evicted. */
  get room(): number {
    return Math.max(0, this.#budget.limit - this.#budget.used);
  }

  /** Entries held. */
  get items(): number {
    return this.#entries.size;
  }

  get<Value>(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#counts.misses++;
      return undefined;
    }
    this.#counts.hits++;
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value as Value;
  }

  /** A value that is larger than the limit is not kept; what the key had before goes all the same. */
  set(key: string, value: unknown, bytes: number): void {
    this.delete(key);
    if (bytes > this.limit) return;
    const entry: Entry = { key, value, bytes, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    this.#used += bytes;
    this.#budget.add(this, bytes);
    this.#budget.shrink(this, bytes);
  }

  /**
   * Whether the key was noted before, lately. Notes it: what is asked for twice is worth keeping.
   */
  noted(key: string): boolean {
    if (this.#seen.delete(key)) {
      this.#seen.add(key);
      return true;
    }
    if (this.#seen.size === SEEN) this.#seen.delete(this.#seen.values().next().value as string);
    this.#seen.add(key);
    return false;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unlink(entry);
    this.#used -= entry.bytes;
    this.#budget.add(this, -entry.bytes);
  }

  /** Evicts the least recently used entry. */
  dropOldest(): void {
    if (this.#oldest !== undefined) this.delete(this.#oldest.key);
  }

  #append(entry: Entry): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: Entry): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
