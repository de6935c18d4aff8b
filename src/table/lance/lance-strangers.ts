/**
 * Recognises manifests in `_versions` that other programs wrote (`isOwn` is false). `moveAside`
 * renames one, so that Lance's readers do not find it, and returns the new path, or undefined if
 * nothing was renamed. `setStrangersAside` renames those above the newest version of a branch.
 * Lance would take such a manifest for the newest version, although it is no version of the table.
 * `datasetOf` names the folder by which Lance opens a branch.
 */
import {
  isOwnLanceManifest,
  lanceAsideFile,
  lanceDataset,
  lanceVersionFile,
  lanceVersionsFolder,
  lastName,
  MAIN_BRANCH,
  MAX_LANCE_MANIFEST_BYTES,
  parseLanceVersionFile,
} from '../../format/index.ts';
import { type Engine, resolveHead, type TableBranch } from '../versions/index.ts';

/** The folder by which Lance opens the branch. */
export const datasetOf = ({ tableFolder, branch }: TableBranch): string =>
  lanceDataset(tableFolder, branch === MAIN_BRANCH ? undefined : branch);

/** Whether a file that Lance takes for a manifest was made by an engine of this kind. */
export async function isOwn(engine: Engine, path: string): Promise<boolean> {
  const size = (await engine.store.head(path))?.size ?? 0;
  // The engine makes none that large.
  if (size > MAX_LANCE_MANIFEST_BYTES) return false;
  const bytes = await engine.store.get(path);
  return bytes !== undefined && isOwnLanceManifest(bytes);
}

/**
 * Takes a manifest away from Lance's readers that this engine did not make; cleanup removes it one
 * day. An engine at work beside this one may have done so just now, and have put its own there,
 * which gets its name back. Undefined where nothing was set aside.
 */
export async function moveAside(engine: Engine, path: string): Promise<string | undefined> {
  const { store } = engine;
  const aside = lanceAsideFile(path, engine.env.uuid());
  if (!(await store.renameFile(path, aside))) return undefined;
  const isVersion = parseLanceVersionFile(lastName(path)) !== undefined;
  if (!isVersion || !(await isOwn(engine, aside))) return aside;
  await store.link(aside, path);
  await store.delete(aside);
  return undefined;
}

/**
 * Sets aside all that stands above the newest version of a branch where Lance looks for its
 * versions.
 */
export async function setStrangersAside(engine: Engine, branch: TableBranch): Promise<void> {
  const dataset = datasetOf(branch);
  // Before the newest version: each is visible before it has a manifest there.
  const entries = (await engine.store.list(lanceVersionsFolder(dataset))) ?? [];
  const newest = (await resolveHead(engine, branch))?.snapshot.version;
  if (newest === undefined) return;
  for (const { name, kind } of entries) {
    const version = kind === 'file' ? (parseLanceVersionFile(name) ?? 0) : 0;
    const path = lanceVersionFile(dataset, version);
    if (version > newest && !(await isOwn(engine, path))) await moveAside(engine, path);
  }
}
