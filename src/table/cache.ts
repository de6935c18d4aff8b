import { CacheCounts } from './counters.ts';

/** Keys remembered of things that were read once and not kept. */
const SEEN = 16_384;

interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly bytes: number;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/**
 * A least-recently-used cache bounded by bytes. The order of use is a list of its own: taking an
 * entry out of the map and putting it back would cost more than all else a look-up does.
 */
export class ByteCache {
  readonly #limit: number;
  readonly #counts: CacheCounts;
  readonly #entries = new Map<string, Entry>();
  readonly #seen = new Set<string>();
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
  #used = 0;

  /** @param counts is told of every look-up */
  constructor(limit: number, counts: CacheCounts = new CacheCounts()) {
    this.#limit = limit;
    this.#counts = counts;
  }

  /** Most bytes held. */
  get limit(): number {
    return this.#limit;
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

  set(key: string, value: unknown, bytes: number): void {
    if (bytes > this.#limit) return;
    this.delete(key);
    const entry: Entry = { key, value, bytes, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    this.#used += bytes;
    while (this.#used > this.#limit && this.#oldest !== undefined) this.delete(this.#oldest.key);
  }

  /** Whether the key was noted before, lately. Notes it: what is asked for twice is worth keeping. */
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
