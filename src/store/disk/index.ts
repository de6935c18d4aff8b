/**
 * Exports the operations on one file system: durable writes, atomic names, folder moves, links,
 * safe paths, checks of the root and of the file system, and typed errors for failed system calls.
 * Also exports the file system in memory (`memoryFileSystem`).
 */

export * as atomic from './atomic-put.ts';
export { ChangeTimes } from './change-times.ts';
export { type Disk, type Durability, SMALL } from './disk.ts';
export { closeQuietly, flushFile, unlinkQuietly, writeAll, writeSmall } from './durable-write.ts';
export {
  completed,
  type DirectoryEntry,
  errnoOf,
  type FileStat,
  type FileSystem,
  openFlags,
  readFolder,
} from './file-system.ts';
export { aliasFolder, type FolderAlias, findAlias } from './folder-alias.ts';
export * as folders from './folder-moves.ts';
export { memoryFileSystem } from './memory-fs.ts';
export { Pace, PIECE_BYTES } from './pace.ts';
export { type Capabilities, probeCapabilities } from './probe.ts';
export {
  absoluteFolder,
  absolutePath,
  enterFolder,
  enterIfThere,
  lookAt,
  requireFolder,
} from './safe-path.ts';
export {
  isFailedFlush,
  isMissingFolder,
  isSystemFailure,
  missingFolder,
  storeError,
  symbolicLink,
  tellsMissing,
} from './store-error.ts';
export { canonicalRoot, realPathSoFar } from './store-root.ts';
export { isNodeFileSystem, strictFileSystem } from './strict-fs.ts';
