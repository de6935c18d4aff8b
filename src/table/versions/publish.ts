/**
 * `publish` publishes one version under its number, with the engine's own `publish` function. It
 * returns false if another version has that number or cleanup has deleted the number. `stands`
 * checks the latter just after publishing: if cleanup deleted the number and the version's base
 * meanwhile, it removes the version again and returns false.
 *
 * CommitStateUnknown means that the version may or may not be there, or may have been built on: a
 * flush failed, what was published or its base could not be looked at, or cleanup deleted the
 * version after others may have been built on it. Any other error means that the version was not
 * published.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  decodeVersion,
  fileIds,
  type Manifest,
  parseDeletedRun,
  versionFile,
} from '../../format/index.ts';
import { isFailedFlush } from '../../store/index.ts';
import type { Engine } from './engine.ts';
import { isStillThere, resolveHead, type TableBranch } from './head.ts';
import { abortAbandoned } from './settle-undecided.ts';
import { Snapshot } from './snapshot.ts';
import { readManifest, visibleSnapshot } from './version-files.ts';

/** Publishes the version; false when another writer has its number, or the number was deleted. */
export async function publish(
  engine: Engine,
  branch: TableBranch,
  manifest: Manifest,
  base: Snapshot | undefined,
  bytes: Uint8Array,
  after: Promise<unknown> | undefined,
): Promise<boolean> {
  const file = versionFile(branch.folder, manifest.version);
  let published: boolean;
  try {
    published = await engine.publish(branch, manifest.version, bytes, manifest.transaction, after);
  } catch (error) {
    published = await resolveUnknown(engine, branch, manifest, error);
  }
  if (!published) {
    const winner = await winnerOf(engine, branch, manifest);
    // A store may report our own success as a conflict, after a lost reply for instance.
    if (winner?.transaction !== manifest.transaction) {
      if (winner?.batch !== undefined) await abortAbandoned(engine, winner.batch);
      return false;
    }
  }
  return stands(engine, file, manifest, base);
}

/**
 * The manifest that has the number of one that could not be published.
 * @throws CommitStateUnknown where it cannot be read: it may be that very one. Corrupt and
 * UnsupportedFormat, as what cannot be decoded is another's
 */
export async function winnerOf(
  engine: Engine,
  branch: TableBranch,
  { version, transaction }: Manifest,
): Promise<Manifest | undefined> {
  try {
    return await readManifest(engine, branch, version);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) throw error;
    throw new DirspaceError(
      'CommitStateUnknown',
      `It is not known whether version ${version} was committed: its number is taken, and what has it could not be read. Open the table again and look for transaction ${transaction} before repeating the change.`,
      { cause: error, details: { version, transaction } },
    );
  }
}

/**
 * Removes a version just published if cleanup had deleted its number meanwhile, together with its base:
 * newer versions exist beyond it, and no reader would ever find it. False then: the change has to be
 * built again.
 * @throws CommitStateUnknown
 */
export async function stands(
  engine: Engine,
  file: string,
  manifest: Manifest,
  base: Snapshot | undefined,
): Promise<boolean> {
  try {
    if (base === undefined || (await isStillThere(engine, base))) return true;
    for (;;) {
      const fate = await fateOf(engine, base.branch, file, manifest.version);
      if (fate === 'stands') return true;
      // What is not there to be deleted was moved or swept meanwhile, so it is looked at again.
      if (fate === 'freed' && (await engine.store.delete(file))) return false;
      // Cleanup deletes versions that others were built on, and sweeps freed numbers.
      if (fate === 'gone') break;
    }
    if (await isInNewest(engine, manifest, base)) return true;
  } catch (error) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `Version ${manifest.version} was published, but what it builds on could not be looked at. Open the table again and look for transaction ${manifest.transaction} before repeating the change.`,
      { cause: error, details: { version: manifest.version, transaction: manifest.transaction } },
    );
  }
  throw new DirspaceError(
    'CommitStateUnknown',
    `Version ${manifest.version} was published, and cleanup has deleted it together with what it builds on: it is not known whether later versions were built on it. Look for what the change did before repeating it.`,
    { details: { version: manifest.version, transaction: manifest.transaction } },
  );
}

/** What became of a version whose base was deleted: `freed` if its number had been deleted too. */
async function fateOf(
  engine: Engine,
  branch: TableBranch,
  file: string,
  version: number,
): Promise<'stands' | 'freed' | 'gone'> {
  const isMarked = async (): Promise<boolean> => {
    const entries = (await engine.store.list(branch.folder)) ?? [];
    const runs = entries.flatMap(({ name }) => parseDeletedRun(name) ?? []);
    return runs.some(({ first, last }) => first <= version && version <= last);
  };
  // Cleanup may have removed the base because this very version is the newest now. A list of a
  // folder in which one mark takes the place of another may miss both, so it is read twice.
  if (!(await isMarked()) && !(await isMarked())) return 'stands';
  const bytes = await engine.store.get(file);
  const own = bytes === undefined ? undefined : decodeVersion(bytes, file);
  if (own === undefined || !('manifest' in own)) return 'gone';
  // The run may also have been deleted after other versions were built on ours: then ours was
  // valid.
  const next = await readManifest(engine, branch, version + 1);
  return next?.parent?.checksum === own.checksum ? 'stands' : 'freed';
}

/** Whether the newest version has a file that this one was the first to name. */
async function isInNewest(engine: Engine, manifest: Manifest, base: Snapshot): Promise<boolean> {
  const before = await filesOf(base);
  const own = await filesOf(new Snapshot(engine, base.branch, manifest, '', 0));
  const head = await resolveHead(engine, base.branch);
  if (head === undefined) return false;
  for (const file of await filesOf(head.snapshot)) {
    if (own.has(file) && !before.has(file)) return true;
  }
  return false;
}

/** Ids of the files of fragments and of their deleted rows that a version names. */
async function filesOf(snapshot: Snapshot): Promise<ReadonlySet<string>> {
  const files = new Set<string>();
  for (const fragment of await snapshot.fragments()) {
    for (const id of fileIds(fragment)) files.add(id);
    if (fragment.deletion !== undefined) files.add(fragment.deletion.file);
  }
  return files;
}

/**
 * After an error, reads the version's file to tell whether the commit took place. Not after a
 * failed flush: the version is visible, but whether it survives a power loss cannot be known.
 */
async function resolveUnknown(
  engine: Engine,
  branch: TableBranch,
  manifest: Manifest,
  error: unknown,
): Promise<boolean> {
  if (isFailedFlush(error)) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `Version ${manifest.version} was published, but the disk failed to make it durable, and asking it again would prove nothing. Look at the disk, then open the table and look for transaction ${manifest.transaction} before repeating the change.`,
      { cause: error, details: { version: manifest.version, transaction: manifest.transaction } },
    );
  }
  let found: Snapshot | undefined;
  try {
    found = await visibleSnapshot(engine, branch, manifest.version);
    if (found?.manifest.transaction === manifest.transaction) {
      await engine.store.syncFolders([branch.folder]);
      return true;
    }
  } catch (readError) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `It is not known whether version ${manifest.version} was committed: publishing it failed and so did reading it back. Open the table again and look for transaction ${manifest.transaction} before repeating the change.`,
      {
        cause: readError,
        details: { version: manifest.version, transaction: manifest.transaction },
      },
    );
  }
  if (found !== undefined) return false;
  throw error;
}
