/**
 * `aliasFolder` gives a folder of the root a second path by a symbolic link, for other programs;
 * the store itself follows no links. The link is relative, so it still works after the root was
 * copied or moved. A link that leads elsewhere is replaced. The result is false if the link cannot
 * be made, for example on Windows or where a file stands, and in a read-only store unless the link
 * exists. `findAlias` reads such a link, or returns undefined if there is none; `folder` is
 * undefined if the link leads out of the root.
 */

import { posix } from 'node:path';
import { parentFolder } from '../../paths.ts';
import type { Disk } from './disk.ts';
import { errnoOf } from './file-system.ts';
import { makeFolder } from './folder-moves.ts';
import { absolutePath, enterFolder, lookAt } from './safe-path.ts';

/**
 * A link that leads elsewhere is replaced. False on Windows, where links are not possible, where
 * something else stands at the path, and in a read-only store unless the link exists.
 */
export function aliasFolder(disk: Disk, path: string, folder: string): boolean {
  const { fs } = disk;
  // Windows makes links to folders for administrators only.
  if (fs.symlinkSync === undefined || fs.readlinkSync === undefined || process.platform === 'win32')
    return false;
  const absolute = absolutePath(disk, path);
  absolutePath(disk, folder);
  const parent = parentFolder(path);
  const isThere = enterFolder(disk, parent);
  const target = posix.relative(parent, folder);
  if (!isThere && disk.readOnly) return false;
  if (!isThere) makeFolder(disk, parent);
  // Others may make or remove the same link meanwhile.
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    try {
      if (String(fs.readlinkSync(absolute)) === target) return true;
      if (disk.readOnly) return false;
      fs.unlinkSync(absolute);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || disk.readOnly) return false;
    }
    // Not under another name first: memfs renames what a link leads to.
    try {
      fs.symlinkSync(target, absolute);
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') continue;
      return false;
    }
    disk.changed(parent);
    return true;
  }
  return false;
}

const MOST_ATTEMPTS = 4;

/** A second path of a folder, as `aliasFolder` makes it. */
export interface FolderAlias {
  /** The folder of the root that it leads to, or led to; undefined where it leads out of the root. */
  readonly folder: string | undefined;
  /** When it was made, in milliseconds since the epoch. */
  readonly made: number;
}

/** Undefined where no link is. */
export function findAlias(disk: Disk, path: string): FolderAlias | undefined {
  const { fs } = disk;
  const parent = parentFolder(path);
  if (fs.readlinkSync === undefined || !enterFolder(disk, parent)) return undefined;
  const found = lookAt(disk, path);
  if (found?.isSymbolicLink() !== true) return undefined;
  let target: string;
  try {
    target = String(fs.readlinkSync(absolutePath(disk, path)));
  } catch {
    return undefined;
  }
  const folder = posix.join(parent, target);
  const isInside = !posix.isAbsolute(target) && folder !== '..' && !folder.startsWith('../');
  return { folder: isInside ? folder : undefined, made: Number(found.mtimeMs) };
}
