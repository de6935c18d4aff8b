/**
 * Puts the manifests of a branch where Lance looks for them by the table's path. `placeVersion`
 * does so for a new version, and for those before it if they lack one, `placedManifest` for any
 * one, and `placeVersions` for all versions of the branch. `placeVersions` also takes back those of
 * versions that are gone, and with `thorough` compares each manifest with its version.
 * `foundByPath` tells what Lance finds there, and `isPlaced` whether it finds a version. A manifest
 * of another program that is in the way is set aside. If something keeps coming in the way,
 * ServiceUnavailable is thrown, and TableNotFound if the table left its place.
 *
 * Several processes may do this at once, and a crash does no harm. The manifests are links from a
 * folder of this very table, so a late writer cannot change a newer table of the same name.
 */
import { DirspaceError } from '../../errors.ts';
import {
  isStrangeLanceManifest,
  LANCE_CATALOG,
  LANCE_CATALOG_STALE,
  lanceFenceFile,
  lanceManifestFile,
  lanceVersionFile,
  lanceVersionsFolder,
  MAIN_BRANCH,
  parseLanceVersionFile,
} from '../../format/index.ts';
import {
  type Engine,
  type Snapshot,
  type TableBranch,
  tableLeft,
  visibleSnapshot,
  visibleVersions,
} from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import {
  keptManifest,
  keptManifestsFolder,
  type LanceManifestFile,
  newManifest,
} from './lance-files.ts';
import { datasetOf, isOwn, moveAside, setStrangersAside } from './lance-strangers.ts';

export interface PlacedVersions {
  /** Versions that Lance finds by path. */
  readonly versions: number;
  /** Manifests that were given their name, or lost it. */
  readonly written: number;
  readonly removed: number;
  /**
   * The new paths of manifests of other programs, which had the number of a version or a number
   * without one.
   */
  readonly setAside: readonly string[];
  /**
   * Folders and links that have the name of a manifest: they stay, and Lance may take them for one.
   */
  readonly inTheWay: readonly string[];
}

export interface PlaceOptions {
  /**
   * Compares every manifest with its version, makes new what differs, and sets manifests aside
   * whose number no version has, or at whose name Lance opens no version. Otherwise what is there
   * is taken for right.
   */
  readonly thorough?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Gives a version its manifest, and those before it that have none: at once where the version
 * before has one. For callers that have just made the version visible.
 */
export async function placeVersion(engine: Engine, snapshot: Snapshot): Promise<void> {
  const { branch, version } = snapshot;
  if (version === 1) await place(engine, snapshot, false, []);
  else if (!(await isPlaced(engine, branch, version - 1))) await placeVersions(engine, branch);
  else if (!(await placeNext(engine, snapshot))) await place(engine, snapshot, false, []);
  await clearAbove(engine, snapshot);
}

/**
 * Where clients of Lance may write, nothing keeps a writer by path off: what it put above a version
 * is set aside, unless it is the next version of this engine by now. One look where nothing is
 * there.
 */
async function clearAbove(engine: Engine, { branch, version, manifest }: Snapshot): Promise<void> {
  if (manifest.lanceWrites !== true) return;
  const next = lanceVersionFile(datasetOf(branch), version + 1);
  if ((await engine.store.head(next)) === undefined) return;
  if (!(await isPlaced(engine, branch, version + 1))) await setStrangersAside(engine, branch);
}

/**
 * What Lance finds by the path of a table: manifests of the engine's versions, the fence, or
 * neither.
 */
export type FoundByPath = 'versions' | 'fence' | 'nothing';

/**
 * What stands where Lance finds the versions of a branch by path, up to this version. Each commit
 * of a table that was not synchronized asks: two looks tell of the fence alone. The manifest of the
 * version before tells where all is as it should be.
 */
export async function foundByPath(
  engine: Engine,
  branch: TableBranch,
  version: number,
): Promise<FoundByPath> {
  const { store } = engine;
  const dataset = datasetOf(branch);
  const isFenced = (await store.head(lanceFenceFile(branch.tableFolder))) !== undefined;
  const before = version > 1 ? lanceVersionFile(dataset, version - 1) : undefined;
  const hasBefore = before !== undefined && (await store.head(before)) !== undefined;
  // A fence that came just as the table was synchronized says nothing.
  if (isFenced && !hasBefore) return 'fence';
  const folder = lanceVersionsFolder(dataset);
  if (!hasBefore && !(await store.hasFolder(folder))) return 'nothing';
  if (hasBefore && (await isPlaced(engine, branch, version - 1))) return 'versions';
  const found: number[] = [];
  for (const { name, kind } of (await store.list(folder)) ?? []) {
    const number = kind === 'file' ? (parseLanceVersionFile(name) ?? 0) : 0;
    if (number > 0 && number <= version) found.push(number);
  }
  for (const number of found.sort((a, b) => b - a).slice(0, MOST_LOOKED_AT))
    if (await isOwn(engine, lanceVersionFile(dataset, number))) return 'versions';
  return isFenced ? 'fence' : 'nothing';
}

/** At most this many manifests are looked at: some may have been left by other programs. */
const MOST_LOOKED_AT = 8;

/** The manifest of a version in the place where Lance finds it by path. */
export async function placedManifest(
  engine: Engine,
  snapshot: Snapshot,
): Promise<LanceManifestFile> {
  const path = lanceVersionFile(datasetOf(snapshot.branch), snapshot.version);
  if (!(await isPlaced(engine, snapshot.branch, snapshot.version)))
    await place(engine, snapshot, false, []);
  await clearAbove(engine, snapshot);
  const facts = await engine.store.head(path);
  if (facts === undefined) throw tableLeft();
  return { path, bytes: facts.size };
}

/**
 * Gives every version of a branch its manifest, and takes back those of versions that are gone.
 * @throws TableNotFound where the table left its place
 */
export async function placeVersions(
  engine: Engine,
  branch: TableBranch,
  { thorough = false, signal }: PlaceOptions = {},
): Promise<PlacedVersions> {
  const { store } = engine;
  const turn = new Turn(engine.env);
  const dataset = datasetOf(branch);
  const setAside: string[] = [];
  const aside = async (path: string): Promise<void> => {
    const moved = await moveAside(engine, path);
    if (moved !== undefined) setAside.push(moved);
  };
  // Before the versions: each is visible before it has a manifest, so that one that is not is gone.
  const found = new Set<number>();
  const inTheWay: string[] = [];
  const taken = new Set<number>();
  for (const { name, kind } of (await store.list(lanceVersionsFolder(dataset))) ?? []) {
    const version = parseLanceVersionFile(name);
    if (version === undefined && !isStrangeLanceManifest(name)) continue;
    const path = `${lanceVersionsFolder(dataset)}/${name}`;
    if (kind !== 'file') {
      inTheWay.push(path);
      if (version !== undefined) taken.add(version);
    } else if (version !== undefined) found.add(version);
    else if (thorough) await aside(path);
  }
  // The fence is no version.
  if (branch.branch === MAIN_BRANCH && ![...found].some((version) => version > 0))
    await noteInCatalog(engine);
  const versions = await visibleVersions(engine, branch);
  // Branches of one name follow each other in one folder: that a number is taken says nothing.
  const trusted =
    thorough || branch.branch !== MAIN_BRANCH ? 0 : await lastPlaced(engine, branch, versions);
  let [written, removed, placed] = [0, 0, 0];
  for (const version of versions) {
    signal?.throwIfAborted();
    if (turn.isOver()) await turn.pass();
    if (taken.has(version)) continue;
    placed++;
    if (found.delete(version) && version <= trusted) continue;
    const snapshot = await visibleSnapshot(engine, branch, version);
    // Cleanup may go by meanwhile.
    if (snapshot === undefined) placed--;
    else if (await place(engine, snapshot, thorough, setAside)) written++;
  }
  for (const version of found) {
    if (turn.isOver()) await turn.pass();
    const path = lanceVersionFile(dataset, version);
    if (await isOwn(engine, path)) {
      if (await store.delete(path, branch.folder)) removed++;
    } else if (thorough) await aside(path);
  }
  return { versions: placed, written, removed, setAside, inTheWay };
}

/**
 * Places the manifest of a version that is likely to have none yet without looking for one first: its
 * folders are there, because the version before has its manifest. False where something is there.
 */
async function placeNext(engine: Engine, snapshot: Snapshot): Promise<boolean> {
  const made = await newManifest(engine, snapshot);
  if (made === undefined) return false;
  return engine.store.link(made, lanceVersionFile(datasetOf(snapshot.branch), snapshot.version));
}

/** True where the manifest got its name just now. */
async function place(
  engine: Engine,
  snapshot: Snapshot,
  thorough: boolean,
  setAside: string[],
): Promise<boolean> {
  const { store } = engine;
  const { branch } = snapshot;
  const dataset = datasetOf(branch);
  const target = lanceVersionFile(dataset, snapshot.version);
  // Where a client of Lance pruned the name, it removed the deletion files of the version too.
  const isMissing = (await store.head(target)) === undefined;
  const made = await keptManifest(engine, snapshot, thorough || isMissing);
  const folder = lanceVersionsFolder(dataset);
  if (!(await store.hasFolder(folder))) await store.createFolder(folder, branch.tableFolder);
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    if (await store.link(made.path, target)) return true;
    if (await isSame(engine, made, target)) return false;
    const bytes =
      (await store.head(made.path)) === undefined ? undefined : await store.get(made.path);
    if (bytes === undefined) throw tableLeft();
    if ((await store.head(target)) === undefined) continue;
    if (await isOwn(engine, target)) {
      // Of a branch that had the name before, or of the place where the table was before.
      await store.put(target, bytes, branch.folder);
      return true;
    }
    const moved = await moveAside(engine, target);
    if (moved !== undefined) setAside.push(moved);
  }
  throw new DirspaceError(
    'ServiceUnavailable',
    `${target}, where Lance looks for version ${snapshot.version}, cannot be given its manifest: something else is there or keeps coming. The version itself is committed. Move away what is there, and look for other writers of this folder, then synchronize the table again.`,
    { details: { path: target, version: snapshot.version } },
  );
}

/**
 * A table that was there before opens by path from now on: the list of the catalog's tables, where
 * there is one, does not name it yet. The operation of a table's first version sees to that itself.
 */
async function noteInCatalog({ store }: Engine): Promise<void> {
  if (await store.enter(lanceVersionsFolder(LANCE_CATALOG))) await store.mark(LANCE_CATALOG_STALE);
}

/**
 * The newest version that has its manifest: another program may have taken the numbers of those
 * after it while their commits could not place theirs.
 */
async function lastPlaced(
  engine: Engine,
  branch: TableBranch,
  versions: readonly number[],
): Promise<number> {
  for (const version of versions.toReversed())
    if (await isPlaced(engine, branch, version)) return version;
  return 0;
}

/** Others may place the same manifest, or take away what is in the way, between two looks. */
const MOST_ATTEMPTS = 8;

/** Whether Lance finds the version's own manifest, as it was made last. */
export async function isPlaced(
  engine: Engine,
  branch: TableBranch,
  version: number,
): Promise<boolean> {
  const { store } = engine;
  const target = await store.head(lanceVersionFile(datasetOf(branch), version));
  if (target === undefined) return false;
  const folder = keptManifestsFolder(engine, branch);
  const made = await store.head(lanceManifestFile(folder, version));
  return made?.inode === target.inode;
}

/** Two names of one file, or copies: a catalog that was copied has no links any more. */
async function isSame(
  engine: Engine,
  { path, bytes }: LanceManifestFile,
  target: string,
): Promise<boolean> {
  const { store } = engine;
  const [made, there] = [await store.head(path), await store.head(target)];
  if (made === undefined || there === undefined || there.size !== bytes) return false;
  if (made.inode === there.inode) return true;
  const [own, other] = [await store.get(path), await store.get(target)];
  return own !== undefined && other !== undefined && Buffer.compare(own, other) === 0;
}
