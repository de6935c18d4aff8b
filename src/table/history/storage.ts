/**
 * What lies in the folder of a table that readers see no version of. Nothing, for a table that is
 * only declared; what a writer of the first version leaves until it commits, and after a crash; or
 * the files of a table: of another program, such as LanceDB, or of one that lost its manifests.
 */
import {
  isObject,
  isOwnTemporary,
  joinPath,
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

/** Folders of a dataset of Lance: manifests first, then what they refer to, and its branches. */
const LANCE_FOLDERS = ['_versions', '_transactions', '_deletions', '_indices', '_refs', 'tree'];

export interface FoundStorage {
  /** `fragments` are ours and no manifest refers to them; `versions` are of another incarnation. */
  readonly kind: 'lance' | 'fragments' | 'versions' | 'files';
  /** One of the files or folders that show it. */
  readonly path: string;
}

/** Of the main branch; undefined for a table that is only declared. */
export async function findStorage(
  engine: Engine,
  branch: TableBranch,
): Promise<FoundStorage | undefined> {
  const { store } = engine;
  const { tableFolder } = branch;
  const isFilled = async (path: string): Promise<boolean> =>
    ((await store.list(path)) ?? [undefined]).length > 0;
  const entries = (await store.list(tableFolder)) ?? [];
  const kindOf = new Map(entries.map(({ name, kind }) => [name, kind]));
  for (const name of LANCE_FOLDERS) {
    const path = joinPath(tableFolder, name);
    if (kindOf.has(name) && (await isFilled(path))) return { kind: 'lance', path };
  }
  const data = joinPath(tableFolder, 'data');
  if (kindOf.has('data') && kindOf.get('data') !== 'folder') return { kind: 'files', path: data };
  // Listed before the writers: one in progress is announced before its first fragment.
  const listed = (await store.list(data)) ?? [];
  const pending = listed.length > 0 ? await pendingFragments(engine, branch) : () => true;
  for (const { name, kind } of listed) {
    const path = joinPath(data, name);
    if (kind === 'folder' && !(await isFilled(path))) continue;
    if (kind !== 'file' || !isObject('data', name)) {
      if (kind === 'file' && isOwnTemporary(name)) continue;
      return { kind: name.endsWith('.lance') ? 'lance' : 'files', path };
    }
    if (!pending(name)) return { kind: 'fragments', path };
  }
  const branches = joinPath(tableFolder, 'branches');
  if (kindOf.has('branches') && (await isFilled(branches)))
    return { kind: 'versions', path: branches };
  // A writer of the first version may have made these; otherwise versions that are lost did.
  const isWritten = await hasAnnouncement(engine, branch);
  for (const folder of isWritten ? [] : (['deletions', 'chunks'] as const)) {
    const path = joinPath(tableFolder, folder);
    const found = kindOf.has(folder) ? ((await store.list(path)) ?? []) : [];
    const file = found.find(({ kind, name }) => kind === 'file' && isObject(folder, name));
    if (file !== undefined) return { kind: 'fragments', path: joinPath(path, file.name) };
  }
  for (const { name } of entries) {
    const path = joinPath(tableFolder, name);
    if (!name.startsWith('versions-') || path === branch.folder) continue;
    const versions = (await store.list(path)) ?? [];
    if (versions.some((entry) => parseVersionFile(entry.name) !== undefined))
      return { kind: 'versions', path };
  }
  return undefined;
}

/** Whether any writer of the table announced itself and did not take it back. */
export async function hasAnnouncement(engine: Engine, branch: TableBranch): Promise<boolean> {
  const entries = (await engine.store.list(branch.tableFolder)) ?? [];
  return entries.some(({ name }) => parseWriter(name) !== undefined);
}

/**
 * Tells the names of fragments, listed before, that are not lost though readers see no version: of
 * writers that announced themselves and did not take it back, and of versions that a batch left
 * undecided or aborted.
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
    const manifest = await readManifest(engine, branch, version);
    if (manifest === undefined) continue;
    const snapshot = new Snapshot(engine, branch, manifest, '', 0);
    for (const { file } of await snapshot.fragments()) files.add(`${file}.arrow`);
  }
  return (name) => files.has(name) || writers.has(writerOf(name) ?? '');
}
