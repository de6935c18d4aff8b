/** A watch of a catalog, its events in short forms. */
import type { CatalogEvent, CatalogWatch, WatchRequest } from '../../src/protocol/events.ts';
import type { CallOptions } from '../../src/protocol/namespace.ts';

/** Short forms, so that lists of events read well. */
export function shortEvent(event: CatalogEvent): string {
  if ('namespace' in event) return `${event.type} ${event.namespace.join('/')}`;
  const name = event.table.join('/');
  switch (event.type) {
    case 'version_committed':
      return `${event.type} ${name} ${event.branch} ${event.version}`;
    case 'table_renamed':
      return `${event.type} ${event.from.join('/')} -> ${name}`;
    case 'tag_created':
    case 'tag_updated':
      return `${event.type} ${name} ${event.tag}=${event.version}`;
    case 'tag_deleted':
      return `${event.type} ${name} ${event.tag}`;
    case 'branch_created':
    case 'branch_deleted':
      return `${event.type} ${name} ${event.branch}`;
    default:
      return `${event.type} ${name}`;
  }
}

export interface Watchable {
  watch(request: WatchRequest, options?: CallOptions): CatalogWatch;
}

export class Watched {
  readonly seen: string[] = [];
  /** When each event came, as `performance.now()` says it. */
  readonly times = new Map<string, number>();
  /** What ended the watch, if something but `end` did. */
  failure: unknown;
  readonly ready: Promise<void>;
  readonly #ending = new AbortController();
  readonly #done: Promise<void>;
  #changed: () => void = () => {};

  constructor(catalog: Watchable, id?: string[]) {
    const request = id === undefined ? {} : { id };
    const events = catalog.watch(request, { signal: this.#ending.signal });
    this.ready = events.ready;
    this.#done = this.#follow(events).catch((error: unknown) => {
      this.failure = error;
      this.#changed();
    });
  }

  async #follow(events: CatalogWatch): Promise<void> {
    for await (const event of events) {
      const text = shortEvent(event);
      this.seen.push(text);
      this.times.set(text, performance.now());
      this.#changed();
    }
  }

  /** Resolves once every event listed has come; the limit of a test ends a wait in vain. */
  async until(...expected: string[]): Promise<void> {
    await this.within(undefined, ...expected);
  }

  /** As `until`, but gives up after that many milliseconds: false when something is missing. */
  async within(milliseconds: number | undefined, ...expected: string[]): Promise<boolean> {
    const missing = new Set(expected);
    const late = AbortSignal.timeout(milliseconds ?? 2 ** 31 - 1);
    late.addEventListener('abort', () => this.#changed(), { once: true });
    let looked = 0;
    for (;;) {
      for (; looked < this.seen.length; looked++) missing.delete(this.seen[looked] as string);
      if (missing.size === 0) return true;
      if (this.failure !== undefined) throw this.failure;
      if (late.aborted) return false;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#done;
    if (this.failure !== undefined) throw this.failure;
  }
}
