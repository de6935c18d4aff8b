/**
 * Reads and lists the version files of a branch. `readVersion` reads one, or the tombstone in its
 * place; `readManifest` reads its manifest. Both return undefined if there is none.
 * `listedVersions` and `highestListed` list numbers that have a file, tombstones included. All of
 * these also return versions that readers may not see, because their multi-table commit is
 * undecided or was aborted; `isVisible` tells them apart. `visibleSnapshot` returns undefined for
 * such a version. `visibleVersions` leaves out only versions whose deletion is marked, unless a tag
 * names one of them; `sortedVersions` separates the marked ones from the others. A file that is
 * damaged, or of another version, branch or table, throws Corrupt. head.ts finds the newest
 * version.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  decodeVersion,
  latestFile,
  type Manifest,
  parseDeletedRun,
  parseVersionFile,
  type VersionDocument,
  type VersionRun,
  versionFile,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { isMultiTableCommitted } from './multi-table-commit.ts';
import { Snapshot } from './snapshot.ts';
import { listTags } from './tags.ts';

/**
 * Undefined when the version is missing, deleted, or part of an undecided or aborted multi-table
 * commit.
 */
export async function visibleSnapshot(
  engine: Engine,
  branch: TableBranch,
  version: number,
): Promise<Snapshot | undefined> {
  const found = await readVersion(engine, branch, version);
  if (found === undefined || !('manifest' in found)) return undefined;
  if (!(await isVisible(engine, found.manifest))) return undefined;
  return new Snapshot(engine, branch, found.manifest, found.checksum, found.bytes);
}

/** A version's manifest whether or not readers may see it; undefined when there is none. */
export async function readManifest(
  engine: Engine,
  branch: TableBranch,
  version: number,
): Promise<Manifest | undefined> {
  const found = await readVersion(engine, branch, version);
  return found !== undefined && 'manifest' in found ? found.manifest : undefined;
}

/** A version or the tombstone in its place. `entered` as for the store. @throws Corrupt */
export async function readVersion(
  engine: Engine,
  branch: TableBranch,
  version: number,
  entered = false,
): Promise<VersionDocument | undefined> {
  if (version < 1) return undefined;
  const file = versionFile(branch.folder, version);
  const bytes = await bytesOf(engine, file, entered);
  if (bytes === undefined) return undefined;
  const document = decodeVersion(bytes, file);
  if (!('manifest' in document)) return document;
  const { manifest } = document;
  if (
    manifest.version !== version ||
    manifest.table !== branch.incarnation ||
    manifest.branch !== branch.branch
  ) {
    throw corrupt(
      file,
      `it is the manifest of version ${manifest.version} of branch ${manifest.branch} of table ${manifest.table}`,
    );
  }
  return document;
}

/** A link or a folder where a version should be is damage like any other. @throws Corrupt */
async function bytesOf(
  engine: Engine,
  file: string,
  entered: boolean,
): Promise<Uint8Array | undefined> {
  try {
    return await engine.store.get(file, entered);
  } catch (error) {
    // Not one in the chain of folders above, which leads out of the catalog.
    const isOther = isDirspaceError(error, 'InvalidInput') && error.details.path === file;
    throw isOther ? corrupt(file, error.message) : error;
  }
}

/**
 * Whether readers may see it: not while its multi-table commit is undecided, nor after that was
 * aborted.
 */
export const isVisible = (engine: Engine, { batch }: Manifest): Promise<boolean> =>
  isCommitted(engine, batch);

/** Whether the multi-table commit that a version names was committed; true if it names none. */
export const isCommitted = async (engine: Engine, batch: string | undefined): Promise<boolean> =>
  batch === undefined || isMultiTableCommitted(engine, batch);

/** All version numbers with a file, ascending; includes tombstones. */
export async function listedVersions(engine: Engine, branch: TableBranch): Promise<number[]> {
  return (await listedVersionsOf(engine, branch)) ?? [];
}

/**
 * Does the same, but gives undefined if there is no such folder, for callers that delete what is
 * not listed.
 */
export async function listedVersionsOf(
  engine: Engine,
  branch: TableBranch,
): Promise<number[] | undefined> {
  const entries = await engine.store.list(branch.folder);
  return entries
    ?.flatMap((entry) => parseVersionFile(entry.name) ?? [])
    .sort((one, other) => one - other);
}

/** The highest version number with a file, whatever it holds; undefined where there is none. */
export async function highestListed(
  engine: Engine,
  branch: TableBranch,
  entered = false,
): Promise<number | undefined> {
  return (await listedBranch(engine, branch, entered)).highest;
}

/** The same, with whether there is a file where the hint is kept. */
export async function listedBranch(
  engine: Engine,
  branch: TableBranch,
  entered: boolean,
): Promise<{ readonly highest: number | undefined; readonly hasHint: boolean }> {
  let highest: number | undefined;
  let hasHint = false;
  const hint = latestFile(branch.folder);
  for (const { name } of (await engine.store.list(branch.folder, entered)) ?? []) {
    const version = parseVersionFile(name);
    if (version === undefined) hasHint ||= `${branch.folder}/${name}` === hint;
    else if (version > (highest ?? -1)) highest = version;
  }
  return { highest, hasHint };
}

/**
 * Version numbers that were not deleted, ascending. Versions of undecided multi-table commits are
 * among them, and those that a tag names: whoever marks one sees the tag before it deletes
 * anything, and may have died in between.
 */
export const visibleVersions = async (engine: Engine, branch: TableBranch): Promise<number[]> =>
  visibleOf(engine, branch, await sortedVersions(engine, branch));

/** Does the same for versions that were listed and sorted before. */
export async function visibleOf(
  engine: Engine,
  branch: TableBranch,
  { visible: unmarked, marked }: SortedVersions,
): Promise<number[]> {
  const visible = [...unmarked];
  if (marked.length === 0) return visible;
  const tags = await listTags(engine, branch.tableFolder, branch.incarnation);
  const named = new Set<number>();
  for (const tag of tags.values()) if (tag.branch === branch.branch) named.add(tag.version);
  for (const version of marked) {
    if (!named.has(version)) continue;
    if ((await readManifest(engine, branch, version)) !== undefined) visible.push(version);
  }
  return visible.sort((one, other) => one - other);
}

/**
 * Versions with a file, ascending: those whose deletion is marked, tombstones among them, and the
 * others.
 */
export interface SortedVersions {
  readonly visible: readonly number[];
  readonly marked: readonly number[];
}

export async function sortedVersions(engine: Engine, branch: TableBranch): Promise<SortedVersions> {
  const entries = (await engine.store.list(branch.folder)) ?? [];
  const runs: VersionRun[] = [];
  const versions: number[] = [];
  for (const { name } of entries) {
    const version = parseVersionFile(name);
    const run = version === undefined ? parseDeletedRun(name) : undefined;
    if (version !== undefined) versions.push(version);
    if (run !== undefined) runs.push(run);
  }
  versions.sort((one, other) => one - other);
  if (runs.length === 0) return { visible: versions, marked: [] };
  const isMarked = (version: number): boolean =>
    runs.some((run) => run.first <= version && version <= run.last);
  return {
    visible: versions.filter((version) => !isMarked(version)),
    marked: versions.filter(isMarked),
  };
}
