/**
 * `publishStaged` publishes a caller's staged manifest, which read-staged.ts has checked, as the
 * next version of its branch. The version is visible at once or, with a commit id, once that
 * multi-table commit is committed. The engine itself decides what the version says for Lance;
 * `publishUnchanged` publishes a manifest as it is. Both then delete the staged file. If another
 * commit has taken the number, they throw ConcurrentModification (`versionTaken`), and
 * CommitStateUnknown if it is not known whether the version stands.
 */
import { DirspaceError } from '../../errors.ts';
import { encodeManifest, versionFile } from '../../format/index.ts';
import {
  type Engine,
  lanceToldOf,
  madeVisible,
  Snapshot,
  stands,
  type TableBranch,
  winnerOf,
} from '../versions/index.ts';
import { deleteQuietly } from '../work/index.ts';
import type { StagedVersion } from './read-staged.ts';

/**
 * Makes the version visible, or prepares it as part of a multi-table commit.
 * @throws ConcurrentModification
 */
export async function publishStaged(
  engine: Engine,
  branch: TableBranch,
  staged: StagedVersion,
  commitId: string | undefined,
): Promise<Snapshot> {
  const manifest = await lanceToldOf(
    engine,
    branch,
    // This engine decides what Lance is told, not whoever staged the manifest.
    {
      ...staged.manifest,
      batch: commitId,
      lanceWrites: undefined,
      lanceTransaction: undefined,
    },
    staged.base,
  );
  return publishUnchanged(engine, branch, { ...staged, manifest });
}

/**
 * Publishes a staged manifest as it is, with what it says for Lance.
 * @throws ConcurrentModification
 */
export async function publishUnchanged(
  engine: Engine,
  branch: TableBranch,
  staged: StagedVersion,
): Promise<Snapshot> {
  const { manifest } = staged;
  const { bytes, checksum } = encodeManifest(manifest);
  const file = versionFile(branch.folder, manifest.version);
  if (!(await engine.store.putIfAbsent(file, bytes))) {
    const winner = await winnerOf(engine, branch, manifest);
    if (winner?.transaction !== manifest.transaction || winner.batch !== manifest.batch) {
      throw versionTaken(manifest.version);
    }
  }
  if (!(await stands(engine, file, manifest, staged.base))) {
    throw versionTaken(manifest.version);
  }
  await deleteQuietly(engine.store, staged.path);
  const snapshot = new Snapshot(engine, branch, manifest, checksum, bytes.length);
  if (manifest.batch === undefined) {
    await madeVisible(engine, snapshot);
  }
  return snapshot;
}

/**
 * `next` is not always the one after the newest: an aborted multi-table commit uses up its number.
 */
export const versionTaken = (version: number, next?: number): DirspaceError =>
  new DirspaceError(
    'ConcurrentModification',
    `The number ${version} is taken. Read the newest version, build on it, and publish ${next === undefined ? 'it under the next free number' : `it as version ${next}`}.`,
    { details: { version, ...(next === undefined ? {} : { next }) } },
  );
