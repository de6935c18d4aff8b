/**
 * Makes the files that Lance's readers need to open one version: a manifest, in the table's `lance` folder,
 * and its deletion files, under Lance's names in `_deletions`. They are made when the manifest is asked for
 * (`lanceManifestOf`) and kept; lance-leftovers.ts finds those that cleanup removes.
 */
import { DirspaceError } from '../../errors.ts';
import {
  decodeDeletions,
  deletionFile,
  encodeDeletions,
  type FragmentEntry,
  lanceDeletionFile,
  lanceDeletionId,
  lanceDeletionsFolder,
  lanceManifest,
  lanceManifestFile,
  lanceManifestsFolder,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { lanceView } from './lance-view.ts';

export interface LanceManifestFile {
  /** Relative to the root. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Lance's manifest of a version, made if it is not there yet, after all that it refers to.
 * @throws Unsupported saying why, where Lance cannot read the version
 */
export async function lanceManifestOf(
  engine: Engine,
  snapshot: Snapshot,
): Promise<LanceManifestFile> {
  const { tableFolder, folder } = snapshot.branch;
  const manifests = lanceManifestsFolder(tableFolder, folder);
  const path = lanceManifestFile(manifests, snapshot.version);
  const made = await engine.store.head(path);
  if (made !== undefined) return { path, bytes: made.size };
  const view = await lanceView(snapshot);
  if (!view.opens)
    throw new DirspaceError('Unsupported', `Lance cannot read the table. ${view.reason}`);
  await linkDeletions(engine, tableFolder, view.version.fragments);
  const bytes = lanceManifest(view.version);
  await engine.store.createFolder(manifests, tableFolder);
  await engine.store.putIfAbsent(path, bytes);
  return { path, bytes: bytes.length };
}

/** Gives the deletion files of fragments the names that Lance looks for. */
async function linkDeletions(
  engine: Engine,
  tableFolder: string,
  fragments: readonly FragmentEntry[],
): Promise<void> {
  const { store } = engine;
  let hasFolder = false;
  for (const fragment of fragments) {
    const { deletion } = fragment;
    if (deletion === undefined) continue;
    const name = lanceDeletionFile(tableFolder, fragment.id, lanceDeletionId(deletion.file));
    if ((await store.head(name)) !== undefined) continue;
    if (!hasFolder) await store.createFolder(lanceDeletionsFolder(tableFolder), tableFolder);
    hasFolder = true;
    const file = deletionFile(tableFolder, deletion.file);
    const bytes = await store.get(file);
    if (bytes === undefined) throw corrupt(file, 'it is missing, and a version refers to it');
    if (isReadByLance(bytes)) await store.link(file, name);
    else {
      const offsets = decodeDeletions(bytes, fragment.rows, file);
      await store.putIfAbsent(name, encodeDeletions(offsets, fragment.rows));
    }
  }
}

/** Earlier releases gave the one column another name. */
const isReadByLance = (bytes: Uint8Array): boolean => Buffer.from(bytes).includes('row_id');
