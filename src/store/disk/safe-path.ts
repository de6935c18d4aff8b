/**
 * Checks that paths stay within the root of a store. `absolutePath` throws InvalidInput for a path
 * that is absolute or empty or could leave the root; `absoluteFolder` takes '' as the root.
 * `enterFolder` throws InvalidInput for a symbolic link on the way to a folder, and returns false
 * if no folder is there; `requireFolder` throws InvalidTableState then. `lookAt` inspects a path
 * without following a link at its end, and returns undefined if nothing is there. These checks do
 * not protect from a process of the same user that swaps a folder for a link after a check.
 */
import { DirspaceError } from '../../errors.ts';
import type { Disk } from './disk.ts';
import { canonicalPath, errnoOf } from './file-system.ts';
import { missingFolder, storeError, symbolicLink, tellsMissing } from './store-error.ts';

/** Matches whatever is absolute, empty, or has an empty, `.` or `..` part. */
const UNSAFE = /[\0\\]|(?:^|\/)\.{0,2}(?:\/|$)/;

function refuse(path: string): never {
  throw new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(path)} is not a path inside the catalog: give parts joined by "/", none of them empty, "." or ".."`,
  );
}

/** The absolute path of an object or a folder below the root. */
export function absolutePath(disk: Disk, path: string): string {
  if (UNSAFE.test(path)) refuse(path);
  return disk.prefix + path;
}

/** As `absolutePath`, but '' is the root. */
export function absoluteFolder(disk: Disk, folder: string): string {
  return folder === '' ? disk.root : absolutePath(disk, folder);
}

/**
 * True when the folder stands below the root without a link in its chain, false when it is
 * missing. One system call where nothing is wrong; names the link where one is.
 */
export function enterFolder(disk: Disk, folder: string): boolean {
  const absolute = absoluteFolder(disk, folder);
  try {
    // The kernel resolves the whole chain at once: half the cost of one lstat a component.
    // The dot makes it refuse a file.
    if (canonicalPath(disk.fs, `${absolute}/.`) === absolute) return true;
  } catch (error) {
    if (!tellsMissing(error) && errnoOf(error) !== 'ELOOP') {
      throw storeError(error, 'enter', folder);
    }
  }
  return walkFolder(disk, folder);
}

/** As `enterFolder`, where the folder is often missing: an exception costs ten times the look. */
export function enterIfThere(disk: Disk, folder: string): boolean {
  const isThere = lookAt(disk, folder) !== undefined;
  return isThere ? enterFolder(disk, folder) : walkFolder(disk, folder);
}

/** Throws the missing-folder error where `enterFolder` answers false. */
export function requireFolder(disk: Disk, folder: string): void {
  if (!enterFolder(disk, folder)) throw missingFolder(folder);
}

function walkFolder(disk: Disk, folder: string): boolean {
  const parts = folder === '' ? [] : folder.split('/');
  for (let depth = 0; depth <= parts.length; depth++) {
    const path = parts.slice(0, depth).join('/');
    const stat = lookAt(disk, path);
    if (stat === undefined) return false;
    if (stat.isSymbolicLink()) throw symbolicLink(path);
    if (!stat.isDirectory()) return false;
  }
  return true;
}

/** What stands at the path itself, a link not followed; undefined when nothing does. */
export function lookAt(disk: Disk, path: string): ReturnType<Disk['fs']['lstatSync']> | undefined {
  try {
    return disk.fs.lstatSync(absoluteFolder(disk, path), { throwIfNoEntry: false });
  } catch (error) {
    if (tellsMissing(error)) return undefined;
    throw storeError(error, 'look at', path);
  }
}
