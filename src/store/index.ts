/**
 * Exports the access to bytes by path, on disk or in memory: stores with atomic writes and folder
 * moves, advisory locks, identities of processes, and change notices. All other folders use a store
 * through this file alone. For files outside of catalogs they call node:fs themselves.
 */

export {
  type DirectoryEntry,
  type Durability,
  type FileStat,
  type FileSystem,
  isFailedFlush,
  isMissingFolder,
  memoryFileSystem,
  tellsMissing,
} from './disk/index.ts';
export { FileStore, openFileStore } from './file-store.ts';
export { isLocked, withLock } from './lock.ts';
export { hasDied, parseProcessTag, processTag } from './process-identity.ts';
export { type Processes, systemProcesses } from './processes.ts';
export type {
  Awaitable,
  Entry,
  FolderFacts,
  ObjectFacts,
  ObjectReader,
  ObjectWriter,
  ReadableStore,
  Store,
  WritableStore,
} from './store.ts';
export { type FolderWatch, type Hint, watchFolder } from './watch.ts';
