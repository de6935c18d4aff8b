/**
 * `canonicalRoot` resolves the root folder of a store to an absolute path without symbolic links.
 * It creates a missing root with the folders above it, unless the store is read-only. It throws
 * InvalidInput if a file is there, or if no folder can exist there, as below /proc. Its other
 * failures throw the errors of store-error.ts. `realPathSoFar` resolves any path the same way
 * without creating anything; parts that do not exist yet are kept as given. It throws the file
 * system's own errors.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { DirspaceError } from '../../errors.ts';
import { flushFolderSync } from './durable-write.ts';
import { canonicalPath, errnoOf, type FileSystem } from './file-system.ts';
import { storeError } from './store-error.ts';

export interface RootAccess {
  readonly readOnly: boolean;
  /** Whether the names of folders that are made are to be on disk too. */
  readonly durable: boolean;
}

/**
 * The root's absolute path without links. One that is not there is made, unless nothing may be.
 * @throws InvalidInput where there is a file, or nothing can be made
 */
export function canonicalRoot(fs: FileSystem, given: string, access: RootAccess): string {
  const absolute = resolve(given);
  const { readOnly } = access;
  try {
    if (!readOnly && !fs.existsSync(absolute)) {
      makeRoot(fs, absolute, access.durable);
    }
    const root = canonicalPath(fs, absolute);
    if (fs.statSync(root).isDirectory()) return root;
    throw new DirspaceError(
      'InvalidInput',
      `cannot open the catalog \`${given}\`: it is a file. Name a folder; one that is not there is made.`,
    );
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') {
      if (readOnly) return absolute;
      throw new DirspaceError(
        'InvalidInput',
        `cannot open the catalog \`${given}\`: it is not there, and no folder can be made in its place`,
        { cause: error },
      );
    }
    throw storeError(error, 'open the catalog', given);
  }
}

/**
 * An absolute path without links: what is not there yet follows the real path of what is.
 * @throws the file system's error, as for a link to nothing
 */
export function realPathSoFar(fs: FileSystem, path: string): string {
  const missing: string[] = [];
  let there = resolve(path);
  while (fs.lstatSync(there, { throwIfNoEntry: false }) === undefined && there !== dirname(there)) {
    missing.unshift(basename(there));
    there = dirname(there);
  }
  return join(canonicalPath(fs, there), ...missing);
}

/** What is made in a root whose own name is not on disk would be lost with it. */
function makeRoot(fs: FileSystem, root: string, durable: boolean): void {
  const missing = [root];
  // A file system that finds nothing at all, such as memfs without a working folder, has no end.
  for (let above = dirname(root); above !== dirname(above); above = dirname(above)) {
    if (fs.existsSync(above)) break;
    missing.unshift(above);
  }
  // One by one: where nothing can be made, such as /proc, Node's recursive call never ends.
  for (const folder of missing) makeRootFolder(fs, folder);
  if (!durable) return;
  for (const folder of missing) flushFolderSync(fs, dirname(folder));
}

function makeRootFolder(fs: FileSystem, folder: string): void {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}
