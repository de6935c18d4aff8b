/**
 * Creates, replaces, links, renames and removes whole files atomically. `put` and `renameFile` may
 * replace a file. `putIfAbsent` and `linkObject` return false if the name is taken; `nameAgain`
 * throws then, and returns undefined if the file system has no hard links. With full durability,
 * new contents are flushed, and so is the folder of a new name, except by `nameAgain`, whose caller
 * flushes it. A failed flush of a folder throws CommitStateUnknown. A missing folder throws
 * InvalidTableState, but `renameFile` and `remove` return false. Removals are not flushed.
 * `putHint` is neither atomic nor flushed, and ignores failures.
 */
import { parentFolder, TEMPORARY_PREFIX } from '../../paths.ts';
import { type Disk, SMALL } from './disk.ts';
import {
  closeQuietly,
  flushFile,
  flushFolder,
  unlinkQuietly,
  writeAll,
  writeSmall,
} from './durable-write.ts';
import { errnoOf, type FileSystem } from './file-system.ts';
import { absolutePath, enterFolder, lookAt, requireFolder } from './safe-path.ts';
import {
  isSystemFailure,
  isWithoutLinks,
  missingFolder,
  outcomeUnknown,
  storeError,
} from './store-error.ts';

/** False if the name is taken. An error before the name is made leaves at most a temporary file. */
export async function putIfAbsent(
  disk: Disk,
  path: string,
  bytes: Uint8Array,
  after?: Promise<unknown>,
  via: string = parentFolder(path),
): Promise<boolean> {
  // Until it is awaited below, its rejection must not count as unhandled.
  after?.catch(() => {});
  const absolute = absolutePath(disk, path);
  const folder = parentFolder(path);
  requireFolder(disk, folder);
  if (via !== folder) requireFolder(disk, via);
  const temporary = await writeTemporary(disk, path, via, bytes);
  try {
    if (after !== undefined) await after;
    if (!link(disk, path, folder, temporary, absolute)) return false;
    disk.changed(folder);
    if (disk.full) await confirm(disk, path, folder, via);
    return true;
  } finally {
    unlinkQuietly(disk.fs, temporary);
  }
}

/** Gives an existing object, which must never change, another name. */
export async function linkObject(disk: Disk, from: string, to: string): Promise<boolean> {
  const [source, target] = [absolutePath(disk, from), absolutePath(disk, to)];
  const folder = parentFolder(to);
  requireFolder(disk, folder);
  if (lookAt(disk, from)?.isFile() !== true) return false;
  try {
    disk.fs.linkSync(source, target);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' || errnoOf(error) === 'ENOENT') return false;
    throw failure(error, 'publish', to, folder);
  }
  disk.changed(folder);
  if (disk.full) await confirm(disk, to, folder);
  return true;
}

/**
 * A second name for an object that never changes, whose folder is the caller's to flush; false where there
 * is no such object, undefined where the file system gives none.
 */
export function nameAgain(disk: Disk, from: string, to: string): boolean | undefined {
  const [source, target] = [absolutePath(disk, from), absolutePath(disk, to)];
  const folder = parentFolder(to);
  requireFolder(disk, folder);
  if (!enterFolder(disk, parentFolder(from)) || lookAt(disk, from)?.isFile() !== true) return false;
  try {
    disk.fs.linkSync(source, target);
  } catch (error) {
    if (isWithoutLinks(error)) return undefined;
    if (errnoOf(error) === 'ENOENT' && lookAt(disk, from) === undefined) return false;
    throw failure(error, 'link', to, folder);
  }
  disk.changed(folder);
  return true;
}

export async function put(
  disk: Disk,
  path: string,
  bytes: Uint8Array,
  via: string = parentFolder(path),
): Promise<void> {
  const absolute = absolutePath(disk, path);
  const folder = parentFolder(path);
  requireFolder(disk, folder);
  if (via !== folder) requireFolder(disk, via);
  const temporary = await writeTemporary(disk, path, via, bytes);
  try {
    disk.fs.renameSync(temporary, absolute);
  } catch (error) {
    unlinkQuietly(disk.fs, temporary);
    throw failure(error, 'replace', path, folder);
  }
  disk.changed(folder);
  if (disk.full) await confirm(disk, path, folder, via);
}

/** Does not look for an object at the target first: callers use names that no other process takes. */
export async function renameFile(disk: Disk, from: string, to: string): Promise<boolean> {
  const source = absolutePath(disk, from);
  const target = absolutePath(disk, to);
  const folder = parentFolder(to);
  const stat = lookAt(disk, from);
  if (stat === undefined || !enterFolder(disk, folder)) return false;
  if (!stat.isFile()) return false;
  try {
    disk.fs.renameSync(source, target);
  } catch (error) {
    // A network file system may lose the answer to a rename that it did.
    const found = lookAt(disk, to);
    if (found === undefined || found.ino !== stat.ino || found.dev !== stat.dev) {
      if (errnoOf(error) === 'ENOENT') return false;
      throw storeError(error, 'rename', from);
    }
  }
  disk.changed(folder);
  if (disk.full) await confirm(disk, to, folder);
  return true;
}

/** Removes an object; false when there is none. With `via`, it is first renamed into that folder. */
export function remove(disk: Disk, path: string, via: string | undefined): boolean {
  const absolute = absolutePath(disk, path);
  const folder = parentFolder(path);
  if (!enterFolder(disk, folder)) return false;
  if (via !== undefined) requireFolder(disk, via);
  const aside = via === undefined ? undefined : temporaryIn(disk, via);
  try {
    if (aside === undefined) disk.fs.unlinkSync(absolute);
    else disk.fs.renameSync(absolute, aside);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw storeError(error, 'delete', path);
    if (via !== undefined) requireFolder(disk, via);
    return false;
  }
  // It keeps its age, so cleanup may have swept it by now.
  if (aside !== undefined) unlinkQuietly(disk.fs, aside);
  disk.changed(folder);
  return true;
}

/**
 * Replaces a small file in place. A lost hint is not an error, so nothing the file system says is
 * one either, whatever stands at the name. A file with other names too, or a link, is unlinked and
 * made anew: writing into it would change what lies elsewhere.
 */
export function putHint(disk: Disk, path: string, bytes: Uint8Array): void {
  const absolute = absolutePath(disk, path);
  const { fs, flags } = disk;
  try {
    if (!enterFolder(disk, parentFolder(path))) return;
    if (overwritten(fs, absolute, flags.overwrite, bytes)) return;
    fs.unlinkSync(absolute);
    overwritten(fs, absolute, flags.createNew, bytes);
  } catch (error) {
    if (!isSystemFailure(error)) throw error;
  }
}

/** False for what is not a small file of one name. */
function overwritten(fs: FileSystem, absolute: string, flags: number, bytes: Uint8Array): boolean {
  let fd: number;
  try {
    fd = fs.openSync(absolute, flags, 0o600);
  } catch (error) {
    if (errnoOf(error) === 'ELOOP') return false;
    throw error;
  }
  try {
    const before = fs.fstatSync(fd);
    if (!before.isFile() || before.nlink > 1) return false;
    writeSmall(fs, fd, bytes);
    if (before.size > bytes.byteLength) fs.ftruncateSync(fd, bytes.byteLength);
    return true;
  } finally {
    closeQuietly(fs, fd);
  }
}

async function writeTemporary(
  disk: Disk,
  path: string,
  folder: string,
  bytes: Uint8Array,
): Promise<string> {
  const { fs } = disk;
  const temporary = temporaryIn(disk, folder);
  let fd: number;
  try {
    fd = fs.openSync(temporary, disk.flags.createNew, 0o600);
  } catch (error) {
    throw failure(error, 'write', path, folder);
  }
  let open = true;
  try {
    if (bytes.byteLength <= SMALL) writeSmall(fs, fd, bytes);
    else await writeAll(fs, fd, [bytes]);
    if (disk.full) await flushFile(fs, fd);
    open = false;
    fs.closeSync(fd);
    return temporary;
  } catch (error) {
    if (open) closeQuietly(fs, fd);
    unlinkQuietly(fs, temporary);
    throw failure(error, 'write', path, folder);
  }
}

function temporaryIn(disk: Disk, folder: string): string {
  const name = TEMPORARY_PREFIX + disk.env.uuid();
  return folder === '' ? disk.prefix + name : `${disk.prefix}${folder}/${name}`;
}

/** True when the name is ours now, false when another object had it. */
function link(
  disk: Disk,
  path: string,
  folder: string,
  temporary: string,
  absolute: string,
): boolean {
  try {
    disk.fs.linkSync(temporary, absolute);
    return true;
  } catch (error) {
    // A network file system may lose the answer to a successful link. Only this call knows the
    // temporary name, so a second link to it is the one made here.
    if (linkCount(disk, temporary) === 2) return true;
    if (errnoOf(error) === 'EEXIST') return false;
    throw failure(error, 'publish', path, folder);
  }
}

function linkCount(disk: Disk, absolute: string): number {
  try {
    return disk.fs.lstatSync(absolute, { throwIfNoEntry: false })?.nlink ?? 0;
  } catch {
    return 0;
  }
}

/** Flushes the name, and where it came from another folder, that one: a rename is a change of both. */
async function confirm(disk: Disk, path: string, folder: string, via = folder): Promise<void> {
  let begun = false;
  const begin = (): void => {
    begun = true;
  };
  try {
    if (via !== folder) await flushFolder(disk, via, begin);
    await flushFolder(disk, folder, begin);
  } catch (error) {
    throw outcomeUnknown(path, error, begun);
  }
}

function failure(error: unknown, action: string, path: string, folder: string): unknown {
  return errnoOf(error) === 'ENOENT'
    ? missingFolder(folder, error)
    : storeError(error, action, path);
}
