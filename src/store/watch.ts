/**
 * `watchFolder` reports hints that something below a catalog's root changed, until its `close` is
 * called or its signal aborts. It watches the disk (disk-watch.ts), or the changes of this process
 * in another file system, such as one in memory (change-hints.ts). Private and temporary files and
 * the rows of tables give no hints (`isHidden`). Errors go to `onError`.
 *
 * A hint may be late, come twice, come without a change, or be missing. So callers read the state
 * from the store, and also check it from time to time.
 */
import { relative } from 'node:path';
import { type Env, systemEnv } from '../env.ts';
import { isRowsFolder, isTableFolder, isTemporary, PRIVATE_FOLDER } from '../paths.ts';
import { hintsOf } from './change-hints.ts';
import { type FileSystem, isNodeFileSystem } from './disk/index.ts';
import { DiskWatch } from './disk-watch.ts';

/** The entries of a folder changed, its path relative to the root; or anything may have. */
export type Hint =
  | { readonly path: string; readonly rescan?: never }
  | { readonly rescan: true; readonly path?: never };

export interface WatchOptions {
  /** The file system as it was given to the store; node:fs when left out. */
  readonly fs?: FileSystem;
  onHint(hint: Hint): void;
  /** Told, not thrown: watching goes on, by polling where the system has no watches left. */
  onError?(error: unknown): void;
  readonly signal?: AbortSignal | undefined;
  /** Polls from the start: network file systems report nothing. */
  readonly polling?: boolean;
  readonly env?: Env;
}

export interface FolderWatch {
  /** Resolves once changes are noticed, right after a first rescan hint. */
  readonly ready: Promise<void>;
  /** Nothing is called any more from the moment of the call; resolves when all is released. */
  close(): Promise<void>;
}

/**
 * Watches the folders under a store's canonical root. Bulk data, temporary files and what the
 * engine keeps for itself are left out. A watch alone does not keep the process alive.
 */
export function watchFolder(root: string, options: WatchOptions): FolderWatch {
  const { fs, signal } = options;
  const watch: FolderWatch =
    fs === undefined || isNodeFileSystem(fs)
      ? new DiskWatch({
          root,
          hidden: (folder) => isHidden(relativeTo(root, folder)),
          onChange: (folder) => options.onHint({ path: relativeTo(root, folder) }),
          onRescan: () => options.onHint({ rescan: true }),
          onError: (error) => options.onError?.(error),
          polling: options.polling ?? false,
          env: options.env ?? systemEnv,
        })
      : watchProcess(root, fs, options);
  if (signal === undefined) return watch;
  const abort = (): void => {
    void watch.close();
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    ready: watch.ready,
    close() {
      signal.removeEventListener('abort', abort);
      return watch.close();
    },
  };
}

function watchProcess(root: string, fs: FileSystem, options: WatchOptions): FolderWatch {
  const prefix = root.endsWith('/') ? root : `${root}/`;
  let closed = false;
  const remove = hintsOf(fs).add((folder) => {
    if (folder !== root && !folder.startsWith(prefix)) return;
    const path = folder === root ? '' : folder.slice(prefix.length);
    if (!isHidden(path)) options.onHint({ path });
  });
  const ready = Promise.resolve().then(() => {
    if (!closed) options.onHint({ rescan: true });
  });
  return {
    ready,
    async close() {
      closed = true;
      remove();
    },
  };
}

function relativeTo(root: string, path: string): string {
  return relative(root, path).replaceAll('\\', '/');
}

/** What is never hinted: private and temporary names, and the bulk data inside a table. */
export function isHidden(path: string): boolean {
  const parts = path.split('/');
  return parts.some((part, index) => {
    if (isTemporary(part)) return true;
    if (part === PRIVATE_FOLDER) return index === 0;
    return isRowsFolder(part) && isTableFolder(parts[index - 1] ?? '');
  });
}
