/**
 * `DiskWatch` watches a folder tree on disk with chokidar, and calls `onChange` with each folder
 * whose entries changed, except folders that its caller hides. It needs one system watch for each
 * folder, however many files are in it. If chokidar stops noticing changes, it starts a new
 * watcher; if the system runs out of watches, the new one polls. After each start it calls
 * `onRescan`, which covers missed changes. Errors go to `onError`. `ready` resolves once the root
 * exists and the first watcher runs, or once it is closed. `close` ends the watch.
 */
import { setMaxListeners } from 'node:events';
import nodeFs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FSWatcher } from 'chokidar';
import type { Env } from '../env.ts';
import { isTemporary } from '../paths.ts';
import { errnoOf } from './disk/index.ts';

/** Deeper than any catalog, shallow enough to end. */
const DEPTH = 64;
const POLL_MS = 500;
/** Time for the system's events about one name to arrive before it is looked at. */
const SETTLE_MS = 50;
/** Time by which even a late watch is set. */
const LATE_MS = 1000;
/** Between two fresh starts: a start reads every folder under the root. */
const RESTART_MS = 1000;

export interface DiskWatchOptions {
  readonly root: string;
  readonly polling: boolean;
  readonly env: Env;
  hidden(path: string): boolean;
  onChange(folder: string): void;
  onRescan(): void;
  onError(error: unknown): void;
}

export class DiskWatch {
  readonly ready: Promise<void>;
  readonly #options: DiskWatchOptions;
  readonly #closing = new AbortController();
  /** Folders watched -> what tells a folder from another of the same name. */
  readonly #known = new Map<string, string>();
  readonly #settling = new Set<string>();
  #watcher: FSWatcher | undefined;
  #live = false;
  #polling: boolean;
  #restarting = false;
  #work: Promise<void>;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
    // Every pause listens to it, and a busy catalog has many at once.
    setMaxListeners(0, this.#closing.signal);
    this.#polling = options.polling;
    this.ready = this.#start();
    // Also reported through onError, so callers need not await it.
    this.#work = this.ready.catch((error: unknown) => this.#report(error));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#live = false;
    const closed = this.#watcher?.close();
    await this.#work;
    await closed;
    await this.#watcher?.close();
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #start(): Promise<void> {
    await this.#rootPresent();
    const chokidar = await import('chokidar');
    if (this.#closed) return;
    const { root, hidden } = this.#options;
    this.#known.clear();
    const watcher = chokidar.watch(root, {
      // Shared system watches, as a persistent instance has them, would bring a deaf one back.
      persistent: false,
      // Wanted for the folders there are already; hints before readiness are dropped below.
      ignoreInitial: false,
      followSymlinks: false,
      atomic: false,
      depth: DEPTH,
      usePolling: this.#polling,
      interval: POLL_MS,
      binaryInterval: POLL_MS,
      ignored: (path, stats) => (stats !== undefined && !stats.isDirectory()) || hidden(path),
    });
    this.#watcher = watcher;
    watcher.on('addDir', (path) => this.#added(path));
    watcher.on('unlinkDir', (path) => this.#removed(path));
    watcher.on('raw', (event, name, details) => this.#happened(event, name, details));
    watcher.on('error', (error) => this.#failed(error));
    await new Promise<void>((resolve) => {
      watcher.once('ready', resolve);
      this.#closing.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    // A poll compares with a first look, which is taken only after the instance says it is ready.
    if (this.#polling) await this.#pause(POLL_MS);
    if (this.#closed) return;
    this.#live = true;
    this.#options.onRescan();
  }

  /** Waits while there is no root to watch. */
  async #rootPresent(): Promise<void> {
    while (!this.#closed && identity(this.#options.root) === undefined) await this.#pause(POLL_MS);
  }

  #added(folder: string): void {
    const found = identity(folder);
    if (found !== undefined) this.#known.set(folder, found);
    if (!this.#live) return;
    this.#change(dirname(folder));
    this.#change(folder);
    // Its own watch is set only after this event, on a busy machine long after it: what is made in
    // between shows up here.
    for (const ms of [SETTLE_MS, LATE_MS]) this.#later(() => this.#change(folder), ms);
  }

  #removed(folder: string): void {
    this.#known.delete(folder);
    if (folder === this.#options.root) this.#restart();
    else this.#change(dirname(folder));
  }

  #happened(event: string, name: string | null, details: unknown): void {
    const watched = (details as { readonly watchedPath?: string }).watchedPath;
    if (watched === undefined) {
      // Polling: the name is the folder itself.
      if (name !== null) this.#change(name);
      if (name === this.#options.root) this.#examine(name);
      return;
    }
    const child = name === null ? watched : join(watched, name);
    if (isTemporary(name ?? '') || this.#options.hidden(child)) return;
    this.#change(watched);
    if (event !== 'rename') return;
    this.#examine(child);
    if (watched === this.#options.root && name === basename(watched)) this.#examine(watched);
  }

  /** After a name was made, removed or moved: is the folder still the one that is watched? */
  #examine(folder: string): void {
    if (!this.#known.has(folder) || this.#settling.has(folder)) return;
    this.#settling.add(folder);
    this.#later(() => {
      this.#settling.delete(folder);
      const found = identity(folder);
      const known = this.#known.get(folder);
      if (found === undefined) {
        if (folder === this.#options.root) this.#restart();
      } else if (known !== undefined && found !== known) {
        this.#restart();
      }
    });
  }

  #failed(error: unknown): void {
    if (this.#closed) return;
    const errno = errnoOf(error);
    const exhausted = errno === 'ENOSPC' || errno === 'EMFILE' || errno === 'ENFILE';
    if (exhausted && this.#polling) return;
    this.#options.onError(error);
    if (exhausted) {
      this.#polling = true;
      this.#restart();
    } else if (this.#live) {
      this.#options.onRescan();
    }
  }

  /**
   * A fresh instance takes over; its rescan hint covers what happened meanwhile. Needed where
   * chokidar stops noticing changes: when a folder is replaced under its name, when the root goes
   * away, and when the system runs out of watches, where the fresh instance polls.
   */
  #restart(): void {
    if (this.#restarting || this.#closed) return;
    this.#restarting = true;
    this.#work = this.#work
      .then(() => this.#replace())
      .catch((error: unknown) => this.#report(error));
  }

  async #replace(): Promise<void> {
    await this.#pause(this.#live ? RESTART_MS / 10 : 0);
    this.#live = false;
    await this.#watcher?.close();
    this.#restarting = false;
    await this.#start();
    await this.#pause(RESTART_MS);
  }

  #report(error: unknown): void {
    if (!this.#closed) this.#options.onError(error);
  }

  #change(folder: string): void {
    if (this.#live && !this.#options.hidden(folder)) this.#options.onChange(folder);
  }

  #later(action: () => void, ms = SETTLE_MS): void {
    void this.#pause(ms).then(() => {
      if (!this.#closed) action();
    });
  }

  #pause(ms: number): Promise<void> {
    return this.#options.env.sleep(ms, this.#closing.signal, true).catch(() => {});
  }
}

/** Inode numbers are reused at once, so the time of birth goes with them. */
function identity(folder: string): string | undefined {
  const stat = nodeFs.lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() ? `${stat.dev}:${stat.ino}:${stat.birthtimeMs}` : undefined;
}
