/**
 * `watchCatalog` watches a catalog, or a namespace and all below it, and yields an event for each
 * change after `ready` has resolved. Notifications of the file system only trigger a check: it
 * reads the state from the store and compares it with the last one (catalog-state.ts). So a lost
 * notification delays an event by a few seconds or, if reading the whole state takes long, by about
 * a minute. A change that is undone between two checks may yield none. If the namespace is missing,
 * `ready` and the iteration reject with NamespaceNotFound.
 */
import { elapsed } from '../env.ts';
import { isTableFolder, ROOT_TABLES_FOLDER } from '../format/index.ts';
import {
  type CatalogEvent,
  type CatalogWatch,
  formatId,
  type ObjectPath,
  type WatchRequest,
} from '../protocol/index.ts';
import { type FileStore, type FolderWatch, type Hint, watchFolder } from '../store/index.ts';
import { type Catalog, namespaceId, requireNamespace } from './catalog/index.ts';
import {
  type CatalogState,
  compareStates,
  compareTables,
  readState,
  readTable,
} from './catalog-state.ts';

/** Hints that come within this time are looked into together, in milliseconds. */
const SETTLE = 15;
/** Looks around without any hint this often, in milliseconds: an event is told within 5 seconds. */
const SAFETY_NET = 4_000;
/**
 * A look at the whole takes as long as there are tables. After one that took t, the next is made
 * 4 t later at the earliest, and 8 t later where nothing hints at a change, so that watching takes
 * a fifth of a busy process at most and a ninth of an idle one. Looks of half a second and less
 * keep the 5 seconds. Milliseconds bound both, for clocks that jump.
 */
const REST = { times: 4, most: 10_000 };
const IDLE = { times: 8, most: 60_000 };

/**
 * What happens from the moment `ready` resolves on is told. Iteration and `ready` reject with
 * NamespaceNotFound when there is no such namespace.
 */
export function watchCatalog(
  catalog: Catalog,
  store: FileStore,
  request: WatchRequest,
  signal: AbortSignal,
): CatalogWatch {
  const starting = startWatcher(catalog, request);
  const ready = starting.then(() => {});
  // Whoever iterates or awaits it sees the error.
  ready.catch(() => {});
  const closing = new AbortController();
  const ended = AbortSignal.any([signal, closing.signal]);
  const running = new Set<FolderWatch>();
  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all([...running].map((watch) => watch.close()));
  };
  return {
    ready,
    close,
    [Symbol.asyncDispose]: close,
    [Symbol.asyncIterator]: () => events(catalog, store, starting, running, ended),
  };
}

async function startWatcher(catalog: Catalog, request: WatchRequest): Promise<CatalogWatcher> {
  const below = namespaceId(request.id as string[] | undefined);
  await requireNamespace(catalog, below);
  return new CatalogWatcher(catalog, below, await readState(catalog, below));
}

async function* events(
  catalog: Catalog,
  store: FileStore,
  starting: Promise<CatalogWatcher>,
  running: Set<FolderWatch>,
  signal: AbortSignal,
): AsyncGenerator<CatalogEvent> {
  const watcher = await starting;
  // The first hint is a rescan, so nothing between the first look and now is missed.
  const watch = watchFolder(store.root, {
    fs: store.given,
    onHint: (hint) => watcher.hint(hint),
    signal,
    env: catalog.env,
  });
  running.add(watch);
  try {
    while (!signal.aborted) yield* await watcher.next(signal);
  } finally {
    running.delete(watch);
    await watch.close();
  }
}

class CatalogWatcher {
  readonly #catalog: Catalog;
  readonly #below: ObjectPath;
  #state: CatalogState;
  #rescan = false;
  /** Milliseconds that the last look at the whole took. */
  #took = 0;
  /** The last look at the whole is not long enough ago for the next. */
  #resting = false;
  readonly #tables = new Map<string, ObjectPath>();
  #wake: (() => void) | undefined;

  constructor(catalog: Catalog, below: ObjectPath, state: CatalogState) {
    this.#catalog = catalog;
    this.#below = below;
    this.#state = state;
  }

  hint(hint: Hint): void {
    const table = hint.path === undefined ? undefined : this.#tableAt(hint.path);
    if (table === undefined) this.#rescan = true;
    else if (isWithin(table, this.#below)) this.#tables.set(formatId(table), table);
    else return;
    this.#wake?.();
  }

  /** What happened since the last call; waits for something to look into. */
  async next(signal: AbortSignal): Promise<CatalogEvent[]> {
    if (this.#tables.size === 0 && (this.#resting || !this.#rescan)) {
      const most = Math.max(SAFETY_NET, lasting(this.#took, IDLE));
      if (!(await this.#woken(most, signal))) this.#rescan = true;
    }
    if (signal.aborted) return [];
    await this.#pause(SETTLE, signal);
    if (this.#rescan && !this.#resting) return this.#lookAround(signal);
    return this.#lookAt();
  }

  async #lookAround(signal: AbortSignal): Promise<CatalogEvent[]> {
    this.#rescan = false;
    this.#tables.clear();
    const began = elapsed(this.#catalog.env);
    let state = await readState(this.#catalog, this.#below);
    const vanished = [...this.#state.tables.keys()].some((key) => !state.tables.has(key));
    // A table that moves while the tree is read may be seen in neither place.
    if (vanished) state = await readState(this.#catalog, this.#below);
    const events = compareStates(this.#state, state);
    this.#state = state;
    this.#took = elapsed(this.#catalog.env) - began;
    this.#resting = true;
    void this.#pause(lasting(this.#took, REST), signal).then(() => {
      this.#resting = false;
      if (this.#rescan) this.#wake?.();
    });
    return events;
  }

  /** The tables that hints named. */
  async #lookAt(): Promise<CatalogEvent[]> {
    const ids = [...this.#tables.values()];
    this.#tables.clear();
    const tables = new Map(this.#state.tables);
    const events: CatalogEvent[] = [];
    for (const id of ids) {
      const key = formatId(id);
      const before = tables.get(key);
      const after = await readTable(this.#catalog, id);
      // Created, dropped, moved or recreated: only a look at the whole tells which.
      if (before === undefined || before.incarnation !== after?.incarnation) {
        this.#rescan = true;
        continue;
      }
      events.push(...compareTables(before, after));
      tables.set(key, after);
    }
    this.#state = { ...this.#state, tables };
    return events;
  }

  /** True once there is something to do, false after `most` milliseconds. */
  async #woken(most: number, signal: AbortSignal): Promise<boolean> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#pause(most, AbortSignal.any([signal, woken.signal]));
    this.#wake = undefined;
    return woken.signal.aborted;
  }

  async #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#catalog.env.sleep(milliseconds, signal, true);
    } catch {
      // Aborted: whoever waits looks at the signal.
    }
  }

  /** The table whose folder a path lies in, if it does. */
  #tableAt(path: string): ObjectPath | undefined {
    const parts = path.split('/');
    const { names } = this.#catalog.engine;
    const end = parts.findIndex(isTableFolder);
    if (end < 0) return undefined;
    const atRoot = end === 1 && parts[0] === ROOT_TABLES_FOLDER;
    const decoded = parts
      .slice(atRoot ? 1 : 0, end + 1)
      .map((part, depth) => names.decode(part, depth === 0)?.name);
    return decoded.includes(undefined) ? undefined : (decoded as string[]);
  }
}

const lasting = (took: number, { times, most }: { times: number; most: number }): number =>
  Math.min(Math.max(took, 0) * times, most);

const isWithin = (id: ObjectPath, below: ObjectPath): boolean =>
  below.every((name, depth) => id[depth] === name);
