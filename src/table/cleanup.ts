/**
 * Removing old versions and the files nothing refers to any more. Keeps the newest version of every
 * branch, whatever tags name, and files young enough to belong to a write in progress.
 */
import { DirspaceError } from '../errors.ts';
import type { Manifest } from '../format/manifest.ts';
import {
  CLOCK_PREFIX,
  chunkFile,
  deletionFile,
  fragmentFile,
  isObject,
  isStagedManifest,
  isTemporary,
  OBJECT_FOLDERS,
  PRIVATE_FOLDER,
  parseWriter,
  tagsFolder,
  versionFile,
  writerOf,
} from '../format/paths.ts';
import { processTag } from '../store/process-identity.ts';
import { listBranches, mainBranch } from './branches.ts';
import { deleteVersions, keptVersions } from './delete-versions.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { readChunk } from './snapshot.ts';
import { pendingFragments } from './storage.ts';
import {
  listedVersions,
  listedVersionsOf,
  readManifest,
  readVersion,
  sortedVersions,
} from './version-files.ts';

export interface CleanupOptions {
  /** Versions with an older timestamp go, in milliseconds. */
  readonly olderThan: number;
  /** Unreferenced files younger than this stay, in milliseconds. */
  readonly orphanGrace: number;
  readonly dryRun: boolean;
}

export interface CleanupReport {
  readonly versions: number;
  readonly files: number;
  readonly bytes: number;
}

/** How long a writer may take between its first file and its commit. */
export const DEFAULT_ORPHAN_GRACE: number = 7 * 24 * 3_600_000;

export async function cleanup(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  options: CleanupOptions,
): Promise<CleanupReport> {
  /** Versions whose deletion is only imagined: those that were deleted are not seen any more. */
  const doomed = new Map<string, ReadonlySet<number>>();
  let versions = 0;
  const branches = await allBranches(engine, tableFolder, incarnation);
  for (const branch of branches) {
    const expired = await expiredVersions(engine, branch, options.olderThan);
    if (options.dryRun) doomed.set(branch.folder, new Set(expired));
    versions += options.dryRun ? expired.length : await deleteVersions(engine, branch, expired);
  }
  const candidates = await oldFiles(engine, tableFolder, branches, options.orphanGrace);
  // The references are collected after the candidates: what was committed up to now is among them.
  if (candidates.size === 0) return { versions, files: 0, bytes: 0 };
  const used = await referencedFiles(engine, tableFolder, incarnation, branches, doomed);
  const isLost = await lostFragments(engine, mainBranch(tableFolder, incarnation));
  const orphans = [...candidates].filter(([file]) => !used.has(file) && !isLost(file));
  let bytes = 0;
  for (const [file, size] of orphans) {
    bytes += size;
    if (!options.dryRun) await engine.store.delete(file);
  }
  return { versions, files: orphans.length, bytes };
}

/**
 * Tells the fragments of a table that has no version any more: that nothing refers to them says
 * nothing, and they may be all that is left of it. Repair moves them into quarantine.
 */
async function lostFragments(
  engine: Engine,
  main: TableBranch,
): Promise<(file: string) => boolean> {
  if ((await listedVersions(engine, main)).length > 0) return () => false;
  const isPending = await pendingFragments(engine, main);
  const data = `${main.tableFolder}/data/`;
  return (file) => file.startsWith(data) && !isPending(file.slice(data.length));
}

async function allBranches(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
): Promise<TableBranch[]> {
  return [
    mainBranch(tableFolder, incarnation),
    ...(await listBranches(engine, tableFolder, incarnation)),
  ];
}

async function expiredVersions(
  engine: Engine,
  branch: TableBranch,
  olderThan: number,
): Promise<number[]> {
  const newest = engine.env.now() - olderThan;
  // Listed before it is known which is the newest: what is committed in between is not looked at.
  const { visible, marked } = await sortedVersions(engine, branch);
  const kept = await keptVersions(engine, branch);
  const expired: number[] = [];
  // Somebody began to delete these and did not come to the end.
  for (const version of marked) {
    if (kept.has(version)) continue;
    if ((await readManifest(engine, branch, version)) !== undefined) expired.push(version);
  }
  for (const version of visible) {
    if (kept.has(version) || version === visible.at(-1)) continue;
    const manifest = await readManifest(engine, branch, version);
    // Timestamps never decrease along a branch: all later versions are younger still.
    if (manifest !== undefined && manifest.timestamp > newest) break;
    if (manifest !== undefined) expired.push(version);
  }
  return expired;
}

/** Files old enough to go, with their sizes. Their age is told by the file system's own clock. */
async function oldFiles(
  engine: Engine,
  tableFolder: string,
  branches: readonly TableBranch[],
  grace: number,
): Promise<ReadonlyMap<string, number>> {
  const now = await fileSystemTime(engine);
  const found = new Map<string, number>();
  const collect = async (folder: string, wanted: (name: string) => boolean): Promise<void> => {
    for (const { name, kind } of (await engine.store.list(folder)) ?? []) {
      if (kind !== 'file' || !wanted(name)) continue;
      const file = `${folder}/${name}`;
      const head = await engine.store.head(file);
      if (head !== undefined && now - head.modified >= grace) found.set(file, head.size);
    }
  };
  for (const folder of OBJECT_FOLDERS) {
    const ours = (name: string): boolean => isObject(folder, name) || isTemporary(name);
    await collect(`${tableFolder}/${folder}`, ours);
  }
  for (const { folder } of branches) {
    await collect(folder, (name) => isTemporary(name) || isStagedManifest(name));
  }
  // A writer whose table is moved away cannot remove its temporary file.
  const entries = (await engine.store.list(`${tableFolder}/data`)) ?? [];
  const owners = new Set(entries.map(({ name }) => writerOf(name)));
  // The announcement of a writer goes after its files: it tells what they are.
  const isLeft = (name: string): boolean =>
    isTemporary(name) && !owners.has(parseWriter(name)?.id ?? '');
  for (const folder of [tableFolder, tagsFolder(tableFolder)]) await collect(folder, isLeft);
  return found;
}

/** What the file system's own clock says, in milliseconds; ours may be wrong. */
export async function fileSystemTime(engine: Engine): Promise<number> {
  const file = `${PRIVATE_FOLDER}/${CLOCK_PREFIX}${processTag()}-${engine.env.uuid()}`;
  await engine.store.putHint(file, Buffer.from('now'));
  const head = await engine.store.head(file);
  await engine.store.delete(file);
  return head?.modified ?? engine.env.now();
}

/**
 * Every file that a version which is there refers to, also one whose deletion is marked: it can be
 * read until it is gone. What cannot be found is looked for twice: a file system that denies a
 * version once must not cost the version its files.
 */
async function referencedFiles(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  known: readonly TableBranch[],
  doomed: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  const looked = new Set<string>();
  // A branch is made of a version that is there, so those made meanwhile are looked at afterwards:
  // the version may have been deleted right before its own branch was looked at.
  const more = async (): Promise<TableBranch[]> =>
    (await allBranches(engine, tableFolder, incarnation)).filter(
      ({ folder }) => !looked.has(folder),
    );
  const waiting = [...known];
  for (;;) {
    if (waiting.length === 0) waiting.push(...(await more()));
    const branch = waiting.shift();
    if (branch === undefined) return used;
    looked.add(branch.folder);
    const versions = await listedVersionsOf(engine, branch);
    if (versions === undefined) {
      // A branch that is not listed any more was deleted just now, if anything can be listed.
      const again = await allBranches(engine, tableFolder, incarnation);
      const main = await engine.store.list(mainBranch(tableFolder, incarnation).folder);
      if (main === undefined || again.some(({ folder }) => folder === branch.folder))
        throw unfound(branch.folder);
      continue;
    }
    for (const version of versions) {
      if (doomed.get(branch.folder)?.has(version) === true) continue;
      const found = await readVersion(engine, branch, version);
      if (found === undefined) {
        if ((await listedVersionsOf(engine, branch))?.includes(version) !== false)
          throw unfound(versionFile(branch.folder, version));
      } else if ('manifest' in found) await collectFiles(engine, tableFolder, found.manifest, used);
    }
  }
}

const unfound = (path: string): DirspaceError =>
  new DirspaceError(
    'ServiceUnavailable',
    `${path} is listed and cannot be found, so it is not known which files it needs. No file was removed; try again.`,
    { details: { path } },
  );

async function collectFiles(
  engine: Engine,
  tableFolder: string,
  manifest: Manifest,
  used: Set<string>,
): Promise<void> {
  const add = (fragment: Manifest['fragments'][number]): void => {
    used.add(fragmentFile(tableFolder, fragment.file));
    if (fragment.deletion !== undefined)
      used.add(deletionFile(tableFolder, fragment.deletion.file));
  };
  for (const fragment of manifest.fragments) add(fragment);
  for (const chunk of manifest.chunks) {
    const file = chunkFile(tableFolder, chunk.file);
    // Chunks are shared by many versions and their entries never change.
    if (used.has(file)) continue;
    used.add(file);
    for (const fragment of await readChunk(engine, tableFolder, chunk)) add(fragment);
  }
}
