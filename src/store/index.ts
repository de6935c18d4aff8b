/**
 * Reads and writes bytes by path, on a disk or in memory: atomic puts, folder moves, advisory
 * locks, change notices. The engine, the catalog and the SDK call a file system through here
 * alone; the command line and the server read files of their own.
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
