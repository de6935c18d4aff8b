/**
 * `placeRefs` writes the tags and branches of a table as files in `_refs`, where Lance looks for
 * them, and places the manifests of branches below `tree/`. It removes the engine's files of tags
 * and branches that no longer exist. It overwrites a file of another program only if a tag or
 * branch has its name, and not a tag that a client of Lance has just moved in a table that it may
 * write. It throws TableNotFound if the table left its place. `wantedRefs` computes the files
 * without writing them. `clientTag` reads a tag that a client of Lance wrote, and returns undefined
 * if its version is gone or the table changed the tag later. `deleteClientRef` removes the file of
 * a tag or branch if it names the given version; `isOwnRef` and `isSameRef` compare files.
 */
import {
  encodeLanceBranch,
  encodeLanceTag,
  isLanceRef,
  isOwnLanceRef,
  LANCE_HINT,
  type LanceRefKind,
  lanceBranchesFolder,
  lanceBranchesTree,
  lanceDataset,
  lanceDeletionsFolder,
  lanceRefFile,
  lanceTagsFolder,
  lanceVersionsFolder,
  lanceWriterFolders,
  MAIN_BRANCH,
  type NamedByRef,
  namesSame,
  parseLanceDeletion,
  parseLanceRef,
  parseLanceRefFile,
  parseLanceVersionFile,
  tagFile,
} from '../../format/index.ts';
import {
  type Engine,
  type FoundBranch,
  findBranch,
  listBranches,
  listTags,
  mainBranch,
  resolveHead,
  type Snapshot,
  type TableBranch,
  visibleSnapshot,
  visibleVersions,
} from '../versions/index.ts';
import { holds, manifestSizeOf } from './lance-files.ts';
import { isOwn } from './lance-strangers.ts';
import { type PlacedVersions, type PlaceOptions, placeVersions } from './lance-versions.ts';

export interface PlacedRefs extends PlacedVersions {
  /** Tags and branches that Lance has no such name for. */
  readonly unnamed: readonly string[];
  /** Files that another program wrote for tags and branches which the table does not have. */
  readonly strangers: readonly string[];
}

/**
 * Places the versions of all branches but main, then the tags and branches, and takes back what is
 * gone.
 * @throws TableNotFound where the table left its place
 */
export async function placeRefs(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  options: PlaceOptions = {},
): Promise<PlacedRefs> {
  const found = new Refs(engine, mainBranch(tableFolder, incarnation), options);
  await found.place();
  return found;
}

/** What the files of tags and branches have to hold, by name. Reads and writes none of them. */
export interface WantedRefs {
  readonly branches: ReadonlyMap<string, Uint8Array>;
  readonly tags: ReadonlyMap<string, Uint8Array>;
  readonly unnamed: readonly string[];
}

export async function wantedRefs(engine: Engine, main: TableBranch): Promise<WantedRefs> {
  const { tableFolder, incarnation } = main;
  const found = await listBranches(engine, tableFolder, incarnation);
  const unnamed: string[] = [];
  const branches = new Map<string, Uint8Array>();
  for (const branch of found) {
    if (isLanceRef(branch.branch))
      branches.set(branch.branch, await branchFile(engine, branch, found));
    else unnamed.push(`branch ${branch.branch}`);
  }
  const tags = new Map<string, Uint8Array>();
  for (const [tag, record] of await listTags(engine, tableFolder, incarnation)) {
    const named = found.find((known) => known.branch === record.branch);
    const isMain = record.branch === MAIN_BRANCH;
    if (!isMain && (named === undefined || !isLanceRef(named.branch))) continue;
    if (!isLanceRef(tag)) {
      unnamed.push(`tag ${tag}`);
      continue;
    }
    const snapshot = await visibleSnapshot(engine, named ?? main, record.version);
    if (snapshot === undefined) continue;
    const { version, timestamp } = snapshot.manifest;
    const branch = isMain ? null : record.branch;
    const manifestSize = await manifestSizeOf(engine, snapshot);
    tags.set(tag, encodeLanceTag({ branch, version, timestamp, manifestSize }));
  }
  return { branches, tags, unnamed };
}

async function branchFile(
  engine: Engine,
  branch: FoundBranch,
  all: readonly FoundBranch[],
): Promise<Uint8Array> {
  const { parentBranch, parentVersion, createdAt } = branch.record;
  const chain: [number, string][] = [];
  let at: FoundBranch | undefined = branch;
  // A branch may be made from a branch. A parent that is gone ends the chain, and a circle ends
  // too.
  while (at !== undefined && chain.length <= all.length) {
    const { record }: FoundBranch = at;
    chain.unshift([record.parentVersion, record.id.replaceAll('-', '')]);
    at = all.find((other) => other.branch === record.parentBranch);
  }
  const [first] = await visibleVersions(engine, branch);
  const snapshot = first === undefined ? undefined : await visibleSnapshot(engine, branch, first);
  return encodeLanceBranch({
    parentBranch: parentBranch === MAIN_BRANCH ? null : parentBranch,
    chain,
    parentVersion,
    createdAt,
    manifestSize: snapshot === undefined ? 0 : await manifestSizeOf(engine, snapshot),
  });
}

class Refs implements PlacedRefs {
  versions = 0;
  written = 0;
  removed = 0;
  unnamed: readonly string[] = [];
  readonly setAside: string[] = [];
  readonly inTheWay: string[] = [];
  readonly strangers: string[] = [];
  readonly #engine: Engine;
  readonly #main: TableBranch;
  readonly #options: PlaceOptions;

  constructor(engine: Engine, main: TableBranch, options: PlaceOptions) {
    this.#engine = engine;
    this.#main = main;
    this.#options = options;
  }

  async place(): Promise<void> {
    const { tableFolder, incarnation } = this.#main;
    for (const branch of await listBranches(this.#engine, tableFolder, incarnation)) {
      if (!isLanceRef(branch.branch)) continue;
      const placed = await placeVersions(this.#engine, branch, this.#options);
      this.versions += placed.versions;
      this.written += placed.written;
      this.removed += placed.removed;
      this.setAside.push(...placed.setAside);
      this.inTheWay.push(...placed.inTheWay);
    }
    const { branches, tags, unnamed } = await wantedRefs(this.#engine, this.#main);
    this.unnamed = unnamed;
    await this.#files(lanceBranchesFolder(tableFolder), branches);
    await this.#goneBranches(branches);
    const newest = (await resolveHead(this.#engine, this.#main))?.snapshot;
    const follows = newest?.manifest.lanceWrites === true;
    await this.#files(lanceTagsFolder(tableFolder), tags, follows);
  }

  /**
   * Lets a folder hold these files, and none of ours besides.
   * @param follows whether tags that a client of Lance moved are left to be followed
   */
  async #files(
    folder: string,
    wanted: ReadonlyMap<string, Uint8Array>,
    follows = false,
  ): Promise<void> {
    const { store } = this.#engine;
    const via = this.#main.folder;
    for (const { name, kind } of (await store.list(folder)) ?? []) {
      const ref = kind === 'file' ? parseLanceRef(name) : undefined;
      if (ref === undefined || wanted.has(ref)) continue;
      const path = `${folder}/${name}`;
      if (!(await isOwnRef(this.#engine, path))) this.strangers.push(path);
      else if (await store.delete(path, via)) this.removed++;
    }
    if (wanted.size > 0) await store.createFolder(folder, this.#main.tableFolder);
    for (const [name, bytes] of wanted) {
      this.#options.signal?.throwIfAborted();
      const path = lanceRefFile(folder, name);
      if (await holds(this.#engine, path, bytes)) continue;
      // A client moved the tag just now; the next change of a tag follows it.
      if (follows && (await clientTag(this.#engine, this.#main, name))?.isOfVersion) continue;
      await store.put(path, bytes, via);
      this.written++;
    }
  }

  /** Takes back the versions of branches that are gone, and the folders that hold nothing then. */
  async #goneBranches(wanted: ReadonlyMap<string, unknown>): Promise<void> {
    const { store } = this.#engine;
    const { tableFolder, folder: via } = this.#main;
    for (const { name, kind } of (await store.list(lanceBranchesTree(tableFolder))) ?? []) {
      if (wanted.has(name)) continue;
      const dataset = lanceDataset(tableFolder, name);
      if (kind !== 'folder') {
        this.strangers.push(dataset);
        continue;
      }
      const versions = lanceVersionsFolder(dataset);
      let kept = 0;
      for (const entry of (await store.list(versions)) ?? []) {
        const path = `${versions}/${entry.name}`;
        const isOurs =
          entry.kind === 'file' &&
          (entry.name === LANCE_HINT ||
            (parseLanceVersionFile(entry.name) !== undefined && (await isOwn(this.#engine, path))));
        if (!isOurs) kept++;
        else if (await store.delete(path, via)) this.removed++;
      }
      const deletions = lanceDeletionsFolder(dataset);
      for (const entry of (await store.list(deletions)) ?? []) {
        const isOurs = entry.kind === 'file' && parseLanceDeletion(entry.name) !== undefined;
        if (isOurs && (await store.delete(`${deletions}/${entry.name}`, via))) this.removed++;
      }
      // Cleanup removes what clients of Lance wrote for versions of the branch.
      if (kept === 0)
        for (const folder of lanceWriterFolders(dataset)) await store.deleteEmptyFolder(folder);
      if (kept > 0 || !(await store.deleteEmptyFolder(dataset))) this.strangers.push(dataset);
    }
  }
}

/** Whether the file of a tag or branch, which may be a client's, says what ours would. */
export async function isSameRef(
  engine: Engine,
  kind: LanceRefKind,
  path: string,
  wanted: Uint8Array,
): Promise<boolean> {
  const bytes = await refBytes(engine, path);
  return bytes !== undefined && namesSame(kind, bytes, wanted);
}

/**
 * Whether a client's tag is one of a version that has its number. A program that writes by path may
 * have had another version of that number, which was set aside since: a tag of it is older, and
 * names another manifest.
 */
async function isClientTagOf(
  engine: Engine,
  snapshot: Snapshot,
  path: string,
  { manifestSize }: NamedByRef,
): Promise<boolean> {
  const [tag, version] = [await engine.store.head(path), await engine.store.head(snapshot.file)];
  if (tag === undefined || version === undefined) return false;
  // A copy of a catalog may have other times.
  if (manifestSize === (await manifestSizeOf(engine, snapshot))) return true;
  return tag.modified >= version.modified;
}

/** A tag as a client of Lance wrote it into `_refs/tags`. */
export interface ClientTag {
  readonly path: string;
  readonly snapshot: Snapshot;
  /** Whether the client meant this version, and none of another program that had its number. */
  readonly isOfVersion: boolean;
}

/**
 * Undefined where there is no such file of a client, where its version is gone, and where the table
 * itself made or moved the tag later than the client.
 */
export async function clientTag(
  engine: Engine,
  main: TableBranch,
  name: string,
): Promise<ClientTag | undefined> {
  const { tableFolder, incarnation } = main;
  const path = lanceRefFile(lanceTagsFolder(tableFolder), name);
  const record = await engine.store.head(tagFile(tableFolder, name));
  const written = await engine.store.head(path);
  if (written === undefined || (record && record.modified >= written.modified)) return undefined;
  const bytes = await refBytes(engine, path);
  // One of ours is what is left of a tag that was moved or deleted.
  const named = bytes && !isOwnLanceRef(bytes) && parseLanceRefFile('tag', bytes);
  if (!named) return undefined;
  const branch = named.branch ?? MAIN_BRANCH;
  const home =
    branch === MAIN_BRANCH ? main : await findBranch(engine, tableFolder, incarnation, branch);
  const snapshot = home && (await visibleSnapshot(engine, home, named.version));
  if (snapshot === undefined) return undefined;
  return { path, snapshot, isOfVersion: await isClientTagOf(engine, snapshot, path, named) };
}

/** Removes the file of a tag or branch, such as a client's, if it names that version. */
export async function deleteClientRef(
  engine: Engine,
  { tableFolder, folder: via }: TableBranch,
  kind: LanceRefKind,
  name: string,
  version: { readonly branch: string; readonly version: number },
): Promise<void> {
  if (!isLanceRef(name)) return;
  const folder = kind === 'tag' ? lanceTagsFolder(tableFolder) : lanceBranchesFolder(tableFolder);
  const path = lanceRefFile(folder, name);
  const bytes = await refBytes(engine, path);
  const named = bytes && parseLanceRefFile(kind, bytes);
  if (named?.version !== version.version || (named.branch ?? MAIN_BRANCH) !== version.branch)
    return;
  await engine.store.delete(path, via);
}

/** Larger files are not of ours: they are not looked into. */
const MOST_BYTES = 1024 * 1024;

/** Whether an engine of this kind wrote the file of a tag or branch. */
export async function isOwnRef(engine: Engine, path: string): Promise<boolean> {
  const bytes = await refBytes(engine, path);
  return bytes !== undefined && isOwnLanceRef(bytes);
}

/** Undefined where the file is not there, and where it is too large for one. */
async function refBytes(engine: Engine, path: string): Promise<Uint8Array | undefined> {
  const facts = await engine.store.head(path);
  if (facts === undefined || facts.size > MOST_BYTES) return undefined;
  return engine.store.get(path);
}
