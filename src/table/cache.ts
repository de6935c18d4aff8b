/** Keys remembered of things that were read once and not kept. */
const SEEN = 16_384;

/** A least-recently-used cache bounded by bytes. */
export class ByteCache {
  readonly #limit: number;
  readonly #entries = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  readonly #seen = new Set<string>();
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Most bytes held. */
  get limit(): number {
    return this.#limit;
  }

  get<Value>(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value as Value;
  }

  set(key: string, value: unknown, bytes: number): void {
    if (bytes > this.#limit) return;
    this.delete(key);
    this.#entries.set(key, { value, bytes });
    this.#used += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#used <= this.#limit) break;
      this.delete(oldest);
    }
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
    this.#used -= entry.bytes;
  }
}
