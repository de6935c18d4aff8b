/** Commits of a catalog with managed versioning: staged, then published by the version operations. */
import { isDirspaceError } from '../errors.ts';
import { stagedManifestFile } from '../format/paths.ts';
import { isMissingFolder } from '../store/store-error.ts';
import type { TableBranch } from '../table/head.ts';
import { tableGone } from '../table/incarnation.ts';
import { writeObject } from '../table/write-object.ts';
import type { Catalog } from './catalog.ts';
import { deleteQuietly, publishStaged, readStagedVersion } from './staged-versions.ts';

/** False when the version exists already. */
export async function publishManaged(
  catalog: Catalog,
  branch: TableBranch,
  version: number,
  bytes: Uint8Array,
  transaction: string,
  after: Promise<unknown> | undefined,
): Promise<boolean> {
  const path = stagedManifestFile(branch.folder, `${transaction}-${catalog.env.uuid()}`);
  try {
    await writeObject(catalog.store, path, bytes);
    await after;
    const staged = await readStagedVersion(catalog, branch, { version, manifest_path: path });
    await publishStaged(catalog, branch, staged, undefined);
    return true;
  } catch (error) {
    if (isMissingFolder(error)) throw tableGone(error);
    await deleteQuietly(catalog, path);
    if (isDirspaceError(error, 'ConcurrentModification')) return false;
    throw error;
  }
}
