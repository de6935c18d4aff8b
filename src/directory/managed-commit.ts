/** Commits of a catalog with managed versioning: staged, then published by the version operations. */
import { isDirspaceError } from '../errors.ts';
import { stagedManifestFile } from '../format/index.ts';
import { isMissingFolder } from '../store/index.ts';
import { type TableBranch, tableGone, writeObject } from '../table/index.ts';
import { type Catalog, deleteQuietly, publishStaged, readStagedVersion } from './catalog/index.ts';

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
