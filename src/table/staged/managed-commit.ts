/**
 * `publishManaged` publishes a commit in a catalog with managed versioning. It stages the manifest,
 * waits for the caller's files, then checks and publishes the manifest with the code of the
 * table-version operations (read-staged.ts, publish-staged.ts). It returns false if another commit
 * was first, throws TableNotFound if the table left its place, and removes the staged file after
 * any other error.
 */
import { isDirspaceError } from '../../errors.ts';
import { stagedManifestFile } from '../../format/index.ts';
import { isMissingFolder } from '../../store/index.ts';
import { type Engine, type TableBranch, tableGone } from '../versions/index.ts';
import { deleteQuietly, writeObject } from '../work/index.ts';
import { publishUnchanged } from './publish-staged.ts';
import { readStagedVersion } from './read-staged.ts';

/** False when the version exists already. */
export async function publishManaged(
  engine: Engine,
  branch: TableBranch,
  version: number,
  bytes: Uint8Array,
  transaction: string,
  after: Promise<unknown> | undefined,
): Promise<boolean> {
  const path = stagedManifestFile(branch.folder, `${transaction}-${engine.env.uuid()}`);
  try {
    await writeObject(engine.store, path, bytes);
    await after;
    const staged = await readStagedVersion(engine, branch, { version, manifest_path: path });
    await publishUnchanged(engine, branch, staged);
    return true;
  } catch (error) {
    if (isMissingFolder(error)) throw tableGone(error);
    await deleteQuietly(engine.store, path);
    if (isDirspaceError(error, 'ConcurrentModification')) return false;
    throw error;
  }
}
