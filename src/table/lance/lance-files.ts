/**
 * Creates the files that Lance needs to open one version: a manifest in the table's `lance` folder
 * (`keptManifest`, or `newManifest` for a version just made, which returns undefined if there is
 * one), and deletion files under Lance's names in the `_deletions` folder of its branch. They are
 * created when first needed and then kept. For a version that Lance cannot read, the manifest makes
 * Lance's readers refuse it. A deletion file of the version that is missing throws Corrupt.
 * `keptManifestsFolder` names the folder of a branch, `manifestSizeOf` tells the size of a manifest
 * without writing it, and `holdsManifestOf` and `holds` compare what a file holds.
 */
import { createHash } from 'node:crypto';
import {
  closedLanceManifest,
  type DeletionEntry,
  deletionFile,
  encodeDeletions,
  type FragmentOutline,
  lanceDeletionFile,
  lanceDeletionId,
  lanceDeletionsFolder,
  lanceManifestBytes,
  lanceManifestFile,
  lanceManifestForms,
  lanceManifestsFolder,
  MAIN_BRANCH,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import { deletedRows } from '../fragments/index.ts';
import type { Engine, Snapshot, TableBranch } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import { datasetOf } from './lance-strangers.ts';
import { lanceDone, lanceFacts, lanceView } from './lance-view.ts';

export interface LanceManifestFile {
  /** Relative to the root. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Lance's manifest of a version, made if it is not there yet, after all that it refers to. Where
 * Lance cannot read the version, the manifest says so to Lance's readers.
 * @param anew compares what was made before with what the version says, and replaces it where it
 * differs
 */
export async function keptManifest(
  engine: Engine,
  snapshot: Snapshot,
  anew = false,
): Promise<LanceManifestFile> {
  const { store } = engine;
  const { branch, version } = snapshot;
  const folder = keptManifestsFolder(engine, branch);
  const path = lanceManifestFile(folder, version);
  const made = await store.head(path);
  if (made !== undefined && !anew) return { path, bytes: made.size };
  const bytes = await writtenWithDeletions(engine, snapshot);
  if (made === undefined) {
    // What is written there looks again whether a link leads to it.
    if (!(await store.hasFolder(folder))) await store.createFolder(folder, branch.tableFolder);
    await store.putIfAbsent(path, bytes, undefined, branch.folder);
  } else if (!(await holds(engine, path, bytes))) {
    await store.put(path, bytes, branch.folder);
  }
  return { path, bytes: bytes.length };
}

/**
 * The path of the manifest of a version that has just been made, whose folder is there; undefined
 * where one is there already, which is left alone.
 */
export async function newManifest(engine: Engine, snapshot: Snapshot): Promise<string | undefined> {
  const { branch, version } = snapshot;
  const path = lanceManifestFile(keptManifestsFolder(engine, branch), version);
  const bytes = await writtenWithDeletions(engine, snapshot);
  const isNew = await engine.store.putIfAbsent(path, bytes, undefined, branch.folder);
  return isNew ? path : undefined;
}

/** A manifest to be written, once the deletion files that it refers to are there. */
async function writtenWithDeletions(engine: Engine, snapshot: Snapshot): Promise<Uint8Array> {
  const { bytes, deleted } = await manifestBytes(engine, snapshot);
  await linkDeletions(engine, snapshot, deleted);
  return bytes;
}

/**
 * Where the manifests of a branch are kept. Those of main name no place; the others name the
 * table's folder, so that they are others once the table or the catalog has moved.
 */
export function keptManifestsFolder(engine: Engine, branch: TableBranch): string {
  const { tableFolder, folder } = branch;
  if (branch.branch === MAIN_BRANCH) return lanceManifestsFolder(tableFolder, folder);
  const dependsOn = `${BRANCH_FORM} ${engine.locate(tableFolder)}`;
  const place = createHash('sha256').update(dependsOn).digest('hex').slice(0, 8);
  return lanceManifestsFolder(tableFolder, folder, place);
}

/** Raised where manifests of branches become others for the same version: they are made anew then. */
const BRANCH_FORM = 2;

/**
 * The size of the manifest that Lance is to read as a version, whether it was made already or not.
 */
export async function manifestSizeOf(engine: Engine, snapshot: Snapshot): Promise<number> {
  const folder = keptManifestsFolder(engine, snapshot.branch);
  const made = await engine.store.head(lanceManifestFile(folder, snapshot.version));
  return made?.size ?? (await manifestBytes(engine, snapshot)).bytes.length;
}

/**
 * The manifest that Lance is to read as a version, and the fragments whose deletion files it then
 * looks for.
 */
async function manifestBytes(
  engine: Engine,
  snapshot: Snapshot,
): Promise<{ readonly bytes: Uint8Array; readonly deleted: readonly FragmentOutline[] }> {
  const view = await lanceView(engine, snapshot);
  if (!view.opens) return { bytes: closedManifest(snapshot), deleted: [] };
  const steps = lanceManifestBytes(view.version);
  const bytes = await inTurns(new Turn(engine.env), steps, undefined);
  return { bytes, deleted: view.version.fragments.flatMap((run) => lanceFacts(run).deleted) };
}

/**
 * Whether a file is what Lance is to read as a version, as this release makes it or as earlier ones
 * did: those stay, because Lance reads the same rows by them.
 */
export async function holdsManifestOf(
  engine: Engine,
  snapshot: Snapshot,
  path: string,
): Promise<boolean> {
  const view = await lanceView(engine, snapshot);
  if (!view.opens) return holds(engine, path, closedManifest(snapshot));
  const steps = lanceManifestForms(view.version);
  for (const bytes of await inTurns(new Turn(engine.env), steps, undefined)) {
    if (await holds(engine, path, bytes)) return true;
  }
  return false;
}

function closedManifest({ manifest }: Snapshot): Uint8Array {
  const { version, timestamp, transaction } = manifest;
  return closedLanceManifest({ version, timestamp, transaction, done: lanceDone(manifest) });
}

/** Whether a file holds these bytes; one of another size is not read. */
export async function holds(engine: Engine, path: string, bytes: Uint8Array): Promise<boolean> {
  if ((await engine.store.head(path))?.size !== bytes.length) return false;
  const found = await engine.store.get(path);
  return found !== undefined && Buffer.compare(found, bytes) === 0;
}

/** Files made at once: each is flushed before the next in its place. */
const AT_ONCE = 16;

/**
 * Gives the deletion files of fragments the names that Lance looks for. A fragment that shares a
 * file with others gets one of its own.
 */
async function linkDeletions(
  engine: Engine,
  snapshot: Snapshot,
  fragments: readonly FragmentOutline[],
): Promise<void> {
  const { store } = engine;
  const dataset = datasetOf(snapshot.branch);
  let hasFolder = false;
  const making = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  try {
    for (const fragment of fragments) {
      const { deletion } = fragment;
      if (deletion === undefined) continue;
      if (failures.length > 0) break;
      const name = lanceDeletionFile(dataset, fragment.id, lanceDeletionId(deletion.file));
      if ((await store.head(name)) !== undefined) continue;
      if (!hasFolder)
        await store.createFolder(lanceDeletionsFolder(dataset), snapshot.branch.tableFolder);
      hasFolder = true;
      const made = makeDeletions(engine, snapshot, fragment, deletion, name)
        .catch((error) => failures.push(error))
        .finally(() => making.delete(made));
      making.add(made);
      if (making.size >= AT_ONCE) await Promise.race(making);
    }
  } finally {
    await Promise.all(making);
  }
  if (failures.length > 0) throw failures[0];
}

async function makeDeletions(
  engine: Engine,
  snapshot: Snapshot,
  fragment: FragmentOutline,
  deletion: DeletionEntry,
  name: string,
): Promise<void> {
  const { store } = engine;
  const { tableFolder, folder } = snapshot.branch;
  if (deletion.offset === undefined) {
    const file = deletionFile(tableFolder, deletion.file);
    const bytes = await store.get(file);
    if (bytes === undefined) throw corrupt(file, 'it is missing, and a version refers to it');
    if (hasLanceColumn(bytes)) {
      await store.link(file, name);
      return;
    }
  }
  const deleted = await deletedRows(engine, snapshot, fragment);
  const bytes = encodeDeletions(deleted?.offsets ?? new Uint32Array(0), fragment.rows);
  await store.putIfAbsent(name, bytes, undefined, folder);
}

/** Whether Lance reads the deletion file: earlier releases gave its one column another name. */
const hasLanceColumn = ({ buffer, byteOffset, byteLength }: Uint8Array): boolean =>
  Buffer.from(buffer, byteOffset, byteLength).includes('row_id');
