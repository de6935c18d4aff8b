/**
 * Exports the access to bytes by path, on disk or in memory: stores with atomic writes, folder
 * moves, advisory locks, change notices. The engine, the catalog and the SDK use a file system
 * through this file alone; the command line and the server read files of their own.
 */

export {
  type DirectoryEntry,
  type Durability,
  type FileStat,
  type FileSystem,
  isFailedFlush,
  isMissingFolder,
} from './disk/index.ts';
export { FileStore, openFileStore } from './file-store.ts';
export { withLock } from './lock.ts';
export { hasDied, parseProcessTag, processTag } from './process-identity.ts';
export { type Processes, systemProcesses } from './processes.ts';
export type {
  Awaitable,
  ObjectFacts,
  ObjectReader,
  ObjectWriter,
  ReadableStore,
  Store,
  WritableStore,
} from './store.ts';
export { type FolderWatch, type Hint, watchFolder } from './watch.ts';
