/**
 * `KeptRows` keeps the row ids that a filtered, ordered or searched read found, so that the page
 * scrolls through them without another search (`rows`). It keeps at most 4,000,000 rows of a filter
 * and 1,000,000 of an ordered read or a text search; `isCut` tells that there were more. All
 * entries together have at most 128 MiB, which count as memory of the server. Entries unused for
 * two minutes, and the least recently used beyond that, are removed; then the search runs again.
 * Callers with different names or rights do not share them. A catalog without row ids throws
 * Unsupported. `close` removes all entries.
 */
import { Type } from '../../arrow/index.ts';
import type { Env } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import type { QueryTableRequest } from '../../protocol/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import type { PageCaller } from './page-caller.ts';

/** Rows of a filter without an order, of an order or a search: more are cut off, and that is said. */
const MOST_FILTERED = 4_000_000;
const MOST_ORDERED = 1_000_000;
/** Bytes of all that is kept together: four filters of the largest size. */
const MOST_BYTES = 128 * 1024 * 1024;
const KEPT_MILLIS = 120_000;

export interface FoundRows {
  readonly ids: BigUint64Array;
  /** Whether there are more than are kept. */
  readonly isCut: boolean;
}

interface Entry {
  readonly found: Promise<FoundRows>;
  /** Of the request that began the search, which ends with it. */
  readonly signal: AbortSignal;
  bytes: number;
  used: number;
  /** Whether the search is still reading rows. */
  isReading: boolean;
  readonly release: () => void;
}

export class KeptRows {
  readonly #env: Env;
  readonly #memory: () => RequestMemory;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #sweeping = false;
  #closed = new AbortController();

  /** @param memory makes the count of what one search keeps */
  constructor(env: Env, memory: () => RequestMemory) {
    this.#env = env;
    this.#memory = memory;
  }

  /** Bytes that are kept now. */
  get bytes(): number {
    let sum = 0;
    for (const entry of this.#entries.values()) sum += entry.bytes;
    return sum;
  }

  /** The rows of a search, kept or found now. Searches of other callers are not shared. */
  async rows(caller: PageCaller, query: QueryTableRequest): Promise<FoundRows> {
    const key = `${caller.scope}\0${JSON.stringify(query)}`;
    const kept = this.#entries.get(key);
    if (kept !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, kept);
      kept.used = this.#env.now();
      try {
        return await kept.found;
      } catch (error) {
        // Whoever asked first may have left; any other failure is that of the search.
        if (!kept.signal.aborted || caller.signal.aborted) throw error;
        return this.rows(caller, query);
      }
    }
    const entry = this.#begin(key, caller, query);
    return await entry.found;
  }

  #begin(key: string, caller: PageCaller, query: QueryTableRequest): Entry {
    const held = this.#memory().hold('The rows that the page keeps');
    const isOrdered = (query.order_by ?? []).length > 0 || query.full_text_query !== undefined;
    const most = isOrdered ? MOST_ORDERED : MOST_FILTERED;
    const grow = (bytes: number): void => {
      entry.bytes = bytes;
      this.#makeRoom(entry);
      held.set(bytes);
    };
    const entry: Entry = {
      found: findRows(caller, query, most, grow),
      signal: caller.signal,
      bytes: 0,
      used: this.#env.now(),
      isReading: true,
      release: () => held.end(),
    };
    this.#entries.set(key, entry);
    const ended = (): void => {
      entry.isReading = false;
      // What was dropped meanwhile held its memory until now.
      if (this.#entries.get(key) !== entry) entry.release();
    };
    entry.found.then(ended, () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      ended();
    });
    this.#sweep();
    return entry;
  }

  /** Forgets an entry; the memory of a search that still reads is given back at its end. */
  #drop(key: string, entry: Entry): void {
    this.#entries.delete(key);
    if (!entry.isReading) entry.release();
  }

  #makeRoom(wanting: Entry): void {
    for (const [key, entry] of this.#entries) {
      if (this.bytes <= MOST_BYTES) return;
      if (entry !== wanting) this.#drop(key, entry);
    }
  }

  /** Runs as long as anything is kept, and does not keep the process alive. */
  async #sweep(): Promise<void> {
    if (this.#sweeping) return;
    this.#sweeping = true;
    const { signal } = this.#closed;
    while (this.#entries.size > 0) {
      await this.#env.sleep(KEPT_MILLIS / 2, signal, true).catch(() => {});
      const oldest = signal.aborted ? Number.POSITIVE_INFINITY : this.#env.now() - KEPT_MILLIS;
      for (const [key, entry] of this.#entries) if (entry.used < oldest) this.#drop(key, entry);
    }
    this.#sweeping = false;
  }

  close(): void {
    this.#closed.abort();
    for (const [key, entry] of this.#entries) this.#drop(key, entry);
  }
}

/** Reads the row ids alone, and grows as they come. */
async function findRows(
  caller: PageCaller,
  query: QueryTableRequest,
  most: number,
  grow: (bytes: number) => void,
): Promise<FoundRows> {
  const rows = await caller.call('QueryTable', {
    ...query,
    columns: { column_names: [] },
    with_row_id: true,
    // One more tells that there are more.
    k: most + 1,
  });
  const at = rows.schema.fields.findIndex(({ name }) => name === '_rowid');
  let ids = new BigUint64Array(1_024);
  grow(ids.byteLength);
  let count = 0;
  for await (const batch of rows) {
    const column = batch.data.children[at];
    if (column === undefined || column.typeId !== Type.Int) {
      throw new DirspaceError('Unsupported', 'The catalog does not tell row ids.');
    }
    const { values, length } = column;
    if (count + length > ids.length) {
      const size = Math.min(most + 1, Math.max(ids.length * 2, count + length));
      grow(size * 8);
      const wider = new BigUint64Array(size);
      wider.set(ids.subarray(0, count));
      ids = wider;
    }
    ids.set((values as BigUint64Array).subarray(0, Math.min(length, ids.length - count)), count);
    count = Math.min(ids.length, count + length);
  }
  const isCut = count > most;
  const kept = ids.slice(0, isCut ? most : count);
  grow(kept.byteLength);
  return { ids: kept, isCut };
}
