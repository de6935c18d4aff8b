/**
 * Creates, moves, removes and flushes folders. `createFolder` and `makeFolders` also make the
 * missing folders above one; `makeFolder` makes one alone. `deleteFolder` removes a folder with all
 * that it holds, if there is one, and `deleteEmptyFolder` only an empty one. `moveFolder` is one
 * rename, and returns `moved`, `taken` or `missing`. It never replaces content, but it may replace
 * an empty folder that appears at that moment. So a folder that claims a name is moved there with
 * its marker inside. With full durability, `createFolder` and `moveFolder` flush the folders that
 * hold the names, as `syncFolders` does; a failed flush of a move throws CommitStateUnknown.
 */

import { DirspaceError } from '../../errors.ts';
import { nextRound } from '../../event-loop.ts';
import { parentFolder } from '../../paths.ts';
import type { Disk } from './disk.ts';
import { flushFolders } from './durable-write.ts';
import { errnoOf, type FileStat, readFolder } from './file-system.ts';
import { absolutePath, enterFolder, lookAt, requireFolder } from './safe-path.ts';
import { missingFolder, outcomeUnknown, storeError, symbolicLink } from './store-error.ts';

/** Calls between two turns of the event loop while a tree is removed. */
const CALLS_A_TURN = 256;
/** How often a folder that others still write into is emptied before giving up. */
const EMPTYING_ROUNDS = 8;

/** Makes what is missing of the chain below the root; returns the folders that got a new entry. */
export function makeFolders(disk: Disk, folder: string, within?: string): string[] {
  if (enterFolder(disk, folder)) return [];
  // The root was made when the store was opened: a new one in place of a lost one would hide that.
  if (folder === within || folder === '') throw missingFolder(folder);
  const changed: string[] = [];
  const parent = parentFolder(folder);
  changed.push(...makeFolders(disk, parent, within));
  if (makeFolder(disk, folder)) changed.push(parent);
  return changed;
}

/** Makes one folder in an existing parent. False when it exists already. */
export function makeFolder(disk: Disk, folder: string): boolean {
  try {
    disk.fs.mkdirSync(absolutePath(disk, folder), { mode: 0o700 });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') {
      if (enterFolder(disk, folder)) return false;
      throw new DirspaceError(
        'InvalidInput',
        `cannot make the folder \`${folder}\`: something that is not a folder stands there`,
        { cause: error, details: { path: folder } },
      );
    }
    if (errno === 'ENOENT') throw missingFolder(parentFolder(folder), error);
    throw storeError(error, 'make the folder', folder);
  }
  disk.changed(parentFolder(folder));
  return true;
}

/**
 * After a failed flush the new folders are removed again where they are still empty: whoever found
 * them there the next time would take their names for durable.
 */
export async function createFolder(disk: Disk, folder: string, within?: string): Promise<void> {
  const changed = makeFolders(disk, folder, within);
  if (!disk.full || changed.length === 0) return;
  try {
    await flushFolders(disk, changed);
  } catch (error) {
    for (let made = folder; changed.includes(parentFolder(made)); made = parentFolder(made)) {
      removeIfEmpty(disk, made);
      if (parentFolder(made) === '') break;
    }
    throw error;
  }
}

function removeIfEmpty(disk: Disk, folder: string): void {
  try {
    disk.fs.rmdirSync(absolutePath(disk, folder));
  } catch {
    // Others use it by now, or the disk refuses everything.
  }
}

/**
 * The target is checked first, and the system refuses to replace a folder that has received content
 * since. An empty folder that appears in between is replaced.
 */
export async function moveFolder(
  disk: Disk,
  from: string,
  to: string,
): Promise<'moved' | 'taken' | 'missing'> {
  const source = absolutePath(disk, from);
  const target = absolutePath(disk, to);
  if (to === from || to.startsWith(`${from}/`)) {
    throw new DirspaceError(
      'InvalidInput',
      `\`${from}\` cannot be moved to \`${to}\`, inside itself`,
    );
  }
  const sourceParent = parentFolder(from);
  const targetParent = parentFolder(to);
  if (!enterFolder(disk, targetParent)) return 'missing';
  // A rename onto an empty folder would succeed, so anything at all counts as taken.
  if (lookAt(disk, to) !== undefined) return 'taken';
  if (!enterFolder(disk, sourceParent)) return 'missing';
  const stat = lookAt(disk, from);
  if (stat === undefined) return 'missing';
  if (stat.isSymbolicLink()) throw symbolicLink(from);
  if (!stat.isDirectory()) {
    throw new DirspaceError('InvalidInput', `\`${from}\` is a file, not a folder`);
  }
  try {
    disk.fs.renameSync(source, target);
  } catch (error) {
    // A network file system may lose the answer to a rename that it did.
    if (!isSameFolder(disk, to, stat)) {
      const outcome = refusal(error, from, to);
      const standsThere = isSameFolder(disk, from, stat) && enterFolder(disk, targetParent);
      if (outcome === 'missing' && standsThere) throw storeError(error, 'move', from);
      return outcome;
    }
  }
  disk.changed(sourceParent);
  disk.changed(targetParent);
  if (disk.full) {
    try {
      await flushFolders(disk, [sourceParent, targetParent]);
    } catch (error) {
      throw outcomeUnknown(to, error, true);
    }
  }
  return 'moved';
}

function isSameFolder(disk: Disk, path: string, before: FileStat): boolean {
  try {
    const found = lookAt(disk, path);
    return found !== undefined && found.ino === before.ino && found.dev === before.dev;
  } catch {
    return false;
  }
}

function refusal(error: unknown, from: string, to: string): 'taken' | 'missing' {
  switch (errnoOf(error)) {
    case 'ENOTEMPTY':
    case 'EEXIST':
    case 'ENOTDIR':
    case 'EISDIR':
      return 'taken';
    case 'ENOENT':
      return 'missing';
    default:
      throw storeError(error, `move to \`${to}\` what is at`, from);
  }
}

/** Removes an empty folder; false, with nothing changed, where it is missing or holds anything. */
export function deleteEmptyFolder(disk: Disk, folder: string): boolean {
  const absolute = absolutePath(disk, folder);
  if (!enterFolder(disk, folder)) return false;
  try {
    disk.fs.rmdirSync(absolute);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTEMPTY' || errno === 'EEXIST') return false;
    throw storeError(error, 'remove', folder);
  }
  disk.changed(parentFolder(folder));
  return true;
}

/** Tolerates others who remove the same tree at the same time. */
export async function deleteFolder(
  disk: Disk,
  folder: string,
  pause: () => Promise<void> = nextRound,
): Promise<void> {
  absolutePath(disk, folder);
  if (!enterFolder(disk, parentFolder(folder))) return;
  const stat = lookAt(disk, folder);
  if (stat === undefined) return;
  if (stat.isSymbolicLink()) throw symbolicLink(folder);
  if (!stat.isDirectory()) {
    throw new DirspaceError('InvalidInput', `\`${folder}\` is a file, not a folder`);
  }
  const pace: Paced = { calls: 0, pause };
  await removeTree(disk, folder, pace);
  disk.changed(parentFolder(folder));
}

interface Paced {
  calls: number;
  readonly pause: () => Promise<void>;
}

async function removeTree(disk: Disk, folder: string, pace: Paced): Promise<void> {
  const { fs } = disk;
  const absolute = absolutePath(disk, folder);
  for (let round = 0; ; round++) {
    for (const entry of attempt(folder, () => readFolder(fs, absolute)) ?? []) {
      const path = `${folder}/${String(entry.name)}`;
      // The kind is looked up again right before the descent: a link is removed, never entered.
      if (entry.isDirectory() && lookAt(disk, path)?.isDirectory()) {
        await removeTree(disk, path, pace);
      } else {
        attempt(path, () => fs.unlinkSync(`${absolute}/${String(entry.name)}`));
      }
      if (++pace.calls % CALLS_A_TURN === 0) await pace.pause();
    }
    try {
      fs.rmdirSync(absolute);
      return;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT') return;
      const filled = errno === 'ENOTEMPTY' || errno === 'EEXIST';
      if (!filled || round >= EMPTYING_ROUNDS) throw storeError(error, 'remove', folder);
    }
  }
}

function attempt<T>(path: string, call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw storeError(error, 'remove', path);
  }
}

export async function syncFolders(disk: Disk, folders: readonly string[]): Promise<void> {
  if (!disk.full) return;
  for (const folder of folders) requireFolder(disk, folder);
  await flushFolders(disk, folders);
}
