/**
 * Lists a whole tree of folders, for verify, repair and cleanup. Names from the disk are passed to
 * the library as folders and never as part of a pattern, so that no name is read as one. The hot
 * paths list single folders through FileStore.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errnoOf, type FileSystem, storeError } from './disk/index.ts';
import type { FileStore } from './file-store.ts';

const LOOKS_A_TURN = 256;
const OPEN_FOLDERS = 64;

export interface DeepEntry {
  /** Relative to the folder listed, parts joined by "/". */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'other';
  /** Bytes and milliseconds since the epoch, with `stats` only. */
  readonly size?: number;
  readonly modified?: number;
}

export interface DeepListOptions {
  /** Levels below the folder: 1 lists its own entries only. */
  readonly depth: number;
  readonly only?: 'files' | 'folders';
  readonly stats?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Everything below a folder, hidden and temporary names too, sorted by path in code-unit order;
 * undefined when there is no such folder. Links are listed as `other` and not followed. What
 * cannot be read is an error, never left out; what vanishes meanwhile is left out.
 */
export async function listDeep(
  store: FileStore,
  folder: string,
  options: DeepListOptions,
): Promise<DeepEntry[] | undefined> {
  options.signal?.throwIfAborted();
  if (!store.enter(folder)) return undefined;
  const { default: glob } = await import('fast-glob');
  const found = await glob('**', {
    cwd: store.locate(folder),
    deep: options.depth,
    dot: true,
    onlyFiles: options.only === 'files',
    onlyDirectories: options.only === 'folders',
    objectMode: true,
    unique: false,
    followSymbolicLinks: false,
    suppressErrors: false,
    concurrency: OPEN_FOLDERS,
    fs: listFileSystem(store.fs),
  }).catch((error: unknown) => {
    throw storeError(error, 'list', folder);
  });
  options.signal?.throwIfAborted();
  const entries: DeepEntry[] = found.map((entry) => ({
    path: entry.path,
    kind: entry.dirent.isFile() ? 'file' : entry.dirent.isDirectory() ? 'folder' : 'other',
  }));
  entries.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return options.stats === true ? withStats(store, folder, entries, options.signal) : entries;
}

/**
 * The library's own `stats` option is not used: one file that vanishes between listing and stat
 * would silently take its whole folder with it.
 */
async function withStats(
  store: FileStore,
  folder: string,
  entries: readonly DeepEntry[],
  signal: AbortSignal | undefined,
): Promise<DeepEntry[]> {
  const out: DeepEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    if (index % LOOKS_A_TURN === LOOKS_A_TURN - 1) {
      await nextTurn();
      signal?.throwIfAborted();
    }
    const path = folder === '' ? entry.path : `${folder}/${entry.path}`;
    try {
      const stat = store.fs.lstatSync(store.locate(path), { throwIfNoEntry: false });
      if (stat !== undefined) out.push({ ...entry, size: stat.size, modified: stat.mtimeMs });
    } catch (error) {
      const errno = errnoOf(error);
      if (errno !== 'ENOENT' && errno !== 'ENOTDIR') throw storeError(error, 'look at', path);
    }
  }
  return out;
}

/** Complete: whatever is left out, the library takes from the real disk. */
function listFileSystem(fs: FileSystem): Record<string, unknown> {
  return {
    lstat: fs.lstat.bind(fs),
    stat: fs.stat.bind(fs),
    readdir: fs.readdir.bind(fs),
    lstatSync: fs.lstatSync.bind(fs),
    statSync: fs.statSync.bind(fs),
    readdirSync: fs.readdirSync.bind(fs),
  };
}
