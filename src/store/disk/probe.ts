/**
 * `probeCapabilities` tests the file system under a root with temporary files in `.dirspace`, a
 * folder that it makes if needed. It finds out whether hard links work and never replace a file,
 * and whether names that differ only by case are the same. In a read-only store nothing is written,
 * and it assumes that hard links work. Failures throw the errors of store-error.ts. The caller
 * decides whether to refuse a root.
 */
import { PRIVATE_FOLDER, TEMPORARY_PREFIX } from '../../paths.ts';
import type { Disk } from './disk.ts';
import { closeQuietly, unlinkQuietly } from './durable-write.ts';
import { errnoOf } from './file-system.ts';
import { makeFolders } from './folder-moves.ts';
import { enterFolder, lookAt } from './safe-path.ts';
import { isWithoutLinks, storeError } from './store-error.ts';

export interface Capabilities {
  /** Hard links work and never replace: what publishing a version rests on. */
  readonly hardLinks: boolean;
  /** Names that differ by case alone are one name. */
  readonly foldsCase: boolean;
}

export function probeCapabilities(disk: Disk): Capabilities {
  // Without writing only an existing name can be asked for, and nothing will be published.
  if (disk.readOnly) {
    return {
      hardLinks: true,
      foldsCase:
        enterFolder(disk, PRIVATE_FOLDER) &&
        lookAt(disk, PRIVATE_FOLDER.toUpperCase()) !== undefined,
    };
  }
  makeFolders(disk, PRIVATE_FOLDER);
  const { fs } = disk;
  const name = `${TEMPORARY_PREFIX}${disk.env.uuid()}-probe`;
  const file = `${disk.prefix}${PRIVATE_FOLDER}/${name}`;
  const linked = `${file}-link`;
  try {
    closeQuietly(fs, fs.openSync(file, disk.flags.createNew, 0o600));
    const foldsCase = lookAt(disk, `${PRIVATE_FOLDER}/${name.toUpperCase()}`) !== undefined;
    return { hardLinks: linksExclusively(disk, file, linked), foldsCase };
  } catch (error) {
    throw storeError(error, 'probe', PRIVATE_FOLDER);
  } finally {
    unlinkQuietly(fs, linked);
    unlinkQuietly(fs, file);
  }
}

function linksExclusively(disk: Disk, file: string, linked: string): boolean {
  try {
    disk.fs.linkSync(file, linked);
  } catch (error) {
    if (isWithoutLinks(error)) return false;
    throw error;
  }
  try {
    disk.fs.linkSync(file, linked);
    return false;
  } catch (error) {
    return errnoOf(error) === 'EEXIST';
  }
}
