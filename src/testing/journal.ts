/**
 * `Journal`: the newest requests that a fixture answered, so that tests see what a client sent.
 * It keeps no headers and no bodies, so no keys.
 */

/** A request that a fixture answered. */
export interface FixtureRequest {
  /** From 1 on, since the beginning or the last reset. */
  readonly number: number;
  readonly method: string;
  /** The path and the query, as they were sent. */
  readonly path: string;
  /** The name of the operation, such as `QueryTable`; absent where the address is of none. */
  readonly operation?: string;
  readonly status: number;
}

export class Journal {
  readonly #most: number;
  #requests: FixtureRequest[] = [];
  #count = 0;

  /** @param most requests that are kept; the oldest go first */
  constructor(most: number) {
    this.#most = most;
  }

  add(request: Omit<FixtureRequest, 'number'>): void {
    this.#count += 1;
    this.#requests.push({ number: this.#count, ...request });
    if (this.#requests.length >= 2 * this.#most) this.#requests = this.newest();
  }

  /** A copy, oldest first. */
  newest(): FixtureRequest[] {
    return this.#requests.slice(-this.#most);
  }

  clear(): void {
    this.#requests = [];
    this.#count = 0;
  }
}
