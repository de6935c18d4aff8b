/**
 * `CurrentCatalog` lets a server keep its address when a fixture is reset. It provides a namespace
 * that forwards each call to the current catalog (`connection`). `replace` sets a new catalog and
 * closes the previous one; calls that are in progress there may fail.
 */
import type { Connection } from '../sdk/index.ts';

export class CurrentCatalog {
  #current: Connection;
  readonly namespace: Connection['namespace'];

  constructor(first: Connection) {
    this.#current = first;
    const namespace = (): Connection['namespace'] => this.#current.namespace;
    this.namespace = new Proxy({} as Connection['namespace'], {
      get: (_, name) => {
        const found: unknown = Reflect.get(namespace(), name);
        return typeof found === 'function' ? found.bind(namespace()) : found;
      },
      has: (_, name) => Reflect.has(namespace(), name),
    });
  }

  get connection(): Connection {
    return this.#current;
  }

  /** What is under way in the one before may fail. */
  async replace(next: Connection): Promise<void> {
    const before = this.#current;
    this.#current = next;
    await before.close();
  }
}
