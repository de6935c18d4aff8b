/**
 * `findStorage` looks into the folder of a table that has no visible version, and returns one file
 * or folder that shows what is there: data of Lance, data files that no version refers to, versions
 * of a branch or of another table that stood there (incarnation), or foreign files. For a table
 * that is only declared it returns undefined. It ignores files of writers that have announced
 * themselves, and of multi-table commits that are undecided or aborted; `pendingFragments` tells
 * these by the names of fragments, and `hasAnnouncement` whether any writer is announced.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  branchesFolder,
  chunksFolder,
  deletionsFolder,
  fragmentName,
  fragmentsFolder,
  indexesFolder,
  isLanceFenceName,
  isLanceFragment,
  isObject,
  isOwnTemporary,
  isVersionsFolder,
  joinPath,
  LANCE_FOLDERS,
  lanceFolder,
  lastName,
  parseVersionFile,
  parseWriter,
  writerOf,
} from '../../format/index.ts';
import {
  type Engine,
  listedVersions,
  readManifest,
  Snapshot,
  type TableBranch,
} from '../versions/index.ts';

export interface FoundStorage {
  /** `fragments` are ours and no manifest refers to them; `versions` are of another incarnation. */
  readonly kind: 'lance' | 'fragments' | 'versions' | 'files';
  /** One of the files or folders that show it. */
  readonly path: string;
}

/** Finds what is in the folder of the main branch; undefined for a table that is only declared. */
export async function findStorage(
  engine: Engine,
  branch: TableBranch,
): Promise<FoundStorage | undefined> {
  const { store } = engine;
  const { tableFolder } = branch;
  // The fence against Lance's writers is the engine's own.
  const isFilled = async (path: string): Promise<boolean> =>
    ((await store.list(path)) ?? [{ name: '' }]).some(({ name }) => !isLanceFenceName(name));
  const entries = (await store.list(tableFolder)) ?? [];
  const kindOf = new Map(entries.map(({ name, kind }) => [name, kind]));
  // Beside manifests that the engine made for Lance, such folders are its own.
  const isOurs = kindOf.has(lastName(lanceFolder(tableFolder)));
  for (const name of isOurs ? [] : LANCE_FOLDERS) {
    const path = joinPath(tableFolder, name);
    if (kindOf.has(name) && (await isFilled(path))) return { kind: 'lance', path };
  }
  const data = fragmentsFolder(tableFolder);
  const kindOfData = kindOf.get(lastName(data));
  if (kindOfData !== undefined && kindOfData !== 'folder') return { kind: 'files', path: data };
  // Listed before the writers: one in progress is announced before its first fragment.
  const listed = (await store.list(data)) ?? [];
  const pending = listed.length > 0 ? await pendingFragments(engine, branch) : () => true;
  for (const { name, kind } of listed) {
    const path = joinPath(data, name);
    if (kind === 'folder' && !(await isFilled(path))) continue;
    if (kind !== 'file' || !isObject(data, name)) {
      if (kind === 'file' && isOwnTemporary(name)) continue;
      return { kind: isLanceFragment(name) ? 'lance' : 'files', path };
    }
    if (!pending(name)) return { kind: 'fragments', path };
  }
  const branches = branchesFolder(tableFolder);
  if (kindOf.has(lastName(branches)) && (await isFilled(branches)))
    return { kind: 'versions', path: branches };
  // A writer of the first version may have made these; otherwise versions that are lost did.
  const isWritten = await hasAnnouncement(engine, branch);
  for (const path of isWritten ? [] : ownFolders(tableFolder)) {
    const found = kindOf.has(lastName(path)) ? ((await store.list(path)) ?? []) : [];
    const file = found.find(({ kind, name }) => kind === 'file' && isObject(path, name));
    if (file !== undefined) return { kind: 'fragments', path: joinPath(path, file.name) };
  }
  for (const { name } of entries) {
    const path = joinPath(tableFolder, name);
    if (!isVersionsFolder(name) || path === branch.folder) continue;
    const versions = (await store.list(path)) ?? [];
    if (versions.some((entry) => parseVersionFile(entry.name) !== undefined))
      return { kind: 'versions', path };
  }
  return undefined;
}

const ownFolders = (tableFolder: string): string[] => [
  deletionsFolder(tableFolder),
  chunksFolder(tableFolder),
  indexesFolder(tableFolder),
];

/** Whether any writer of the table announced itself and did not take it back. */
export async function hasAnnouncement(engine: Engine, branch: TableBranch): Promise<boolean> {
  const entries = (await engine.store.list(branch.tableFolder)) ?? [];
  return entries.some(({ name }) => parseWriter(name) !== undefined);
}

/**
 * Tells the names of fragments, listed before, that are not lost though readers see no version: of
 * writers that announced themselves and did not take it back, and of versions whose multi-table
 * commit is undecided or was aborted. A damaged version tells nothing, so the fragments of it count
 * as lost.
 */
export async function pendingFragments(
  engine: Engine,
  branch: TableBranch,
): Promise<(name: string) => boolean> {
  const writers = new Set<string>();
  for (const { name } of (await engine.store.list(branch.tableFolder)) ?? []) {
    const mark = parseWriter(name);
    if (mark !== undefined) writers.add(mark.id);
  }
  const files = new Set<string>();
  for (const version of await listedVersions(engine, branch)) {
    try {
      const manifest = await readManifest(engine, branch, version);
      if (manifest === undefined) continue;
      const snapshot = new Snapshot(engine, branch, manifest, '', 0);
      for (const { file } of await snapshot.fragments()) files.add(fragmentName(file));
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt')) throw error;
    }
  }
  return (name) => files.has(name) || writers.has(writerOf(name) ?? '');
}
