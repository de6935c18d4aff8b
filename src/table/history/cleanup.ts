/**
 * `cleanup` removes versions that were superseded longer ago than asked, with the files that only
 * they used. It also removes files that no version refers to, once they are old enough or their
 * writer has died. It keeps the newest version of every branch, tagged and held versions, versions
 * that Lance's clients need as the origin of a branch, the files of writers in progress, and the
 * fragments of a table that lost all its versions. With `dryRun` it only counts. If something that
 * versions need cannot be found, it throws ServiceUnavailable and removes no file besides the
 * expired versions; it throws TableNotFound if the table left its place. `fileSystemTime` tells the
 * time by the file system's clock.
 *
 * After it has removed versions, it lists files first, then writers, then the versions that remain:
 * table/versions/writers.ts explains why this order is safe.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  CLOCK_PREFIX,
  chunkFile,
  decodeVersion,
  deletionFile,
  fileIds,
  fragmentFile,
  fragmentsFolder,
  indexFile,
  indexFileIds,
  isObject,
  isOwnTemporary,
  isStagedManifest,
  isTemporary,
  type Manifest,
  objectFolders,
  PRIVATE_FOLDER,
  parseWriter,
  tagsFolder,
  versionFile,
  writerOf,
} from '../../format/index.ts';
import { processTag } from '../../store/index.ts';
import {
  asideFiles,
  goneDeletions,
  goneManifests,
  type LanceLeftover,
  lanceTemporaries,
  writerFiles,
} from '../lance/index.ts';
import {
  announcedWriters,
  type Engine,
  incarnationAt,
  isVisible,
  listBranches,
  listedVersions,
  listedVersionsOf,
  mainBranch,
  readChunk,
  readManifest,
  readVersion,
  Supersession,
  sortedVersions,
  type TableBranch,
  tableLeft,
} from '../versions/index.ts';
import { deleteVersions, keptVersions } from './delete-versions.ts';
import { hasAnnouncement, pendingFragments } from './storage.ts';

export interface CleanupOptions {
  /** Versions superseded so long ago go, in milliseconds. */
  readonly olderThan: number;
  /**
   * In milliseconds: files that no version refers to stay while they are younger, and longer while
   * their writer is at work. Those of versions that this cleanup removes, and of writers that died
   * before they took their announcement back, go at once.
   */
  readonly orphanGrace: number;
  readonly dryRun: boolean;
}

export interface CleanupReport {
  readonly versions: number;
  readonly files: number;
  readonly bytes: number;
  /**
   * Files that no version refers to and that stay for now; undefined where none is old enough to
   * go, and so it was not looked for any.
   */
  readonly kept: number | undefined;
}

/** How long a writer may take between its first file and its commit, where it announced nothing. */
export const DEFAULT_ORPHAN_GRACE: number = 7 * 24 * 3_600_000;
/**
 * Temporary files are not told apart by their writer: younger ones always stay, in milliseconds.
 */
const TEMPORARY_GRACE = 3_600_000;

/**
 * If something that the remaining versions need cannot be found, no file is removed besides the
 * expired versions themselves.
 * @throws ServiceUnavailable then, TableNotFound when the table left its place meanwhile
 */
export async function cleanup(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  options: CleanupOptions,
): Promise<CleanupReport> {
  try {
    return await cleanUp(engine, tableFolder, incarnation, options);
  } catch (error) {
    if (!isDirspaceError(error, 'ServiceUnavailable')) throw error;
    const found = await incarnationAt(engine, tableFolder);
    throw found === incarnation ? error : tableLeft(incarnation, found);
  }
}

async function cleanUp(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  options: CleanupOptions,
): Promise<CleanupReport> {
  /** In a dry run, the versions that would be deleted; a real run finds them gone from the disk. */
  const doomed = new Map<string, ReadonlySet<number>>();
  /** Files that the removed versions referred to. Their writers committed, so no grace applies. */
  const freed = new Set<string>();
  let versions = 0;
  const branches = await allBranches(engine, tableFolder, incarnation);
  for (const branch of branches) {
    const expired = await expiredVersions(engine, branch, options.olderThan);
    for (const manifest of expired) await collectFreed(engine, tableFolder, manifest, freed);
    const numbers = expired.map(({ version }) => version);
    if (options.dryRun) doomed.set(branch.folder, new Set(numbers));
    versions += options.dryRun ? numbers.length : await deleteVersions(engine, branch, numbers);
  }
  const now = await fileSystemTime(engine);
  const { objects, others } = await listedFiles(engine, tableFolder, branches);
  const writers = await announcedWriters(engine, tableFolder, now);
  if (writers === undefined) throw unfound(tableFolder);
  const orphans: Candidate[] = others.filter(
    ({ modified }) => now - modified >= Math.max(options.orphanGrace, TEMPORARY_GRACE),
  );
  const dead = new Set<string | undefined>(writers.ended.map(({ id }) => id));
  const mayGo = ({ file, modified, writer }: Candidate): boolean => {
    if (writer !== undefined && writers.working.has(writer)) return false;
    return freed.has(file) || dead.has(writer) || now - modified >= options.orphanGrace;
  };
  const aside = (await asideFiles(engine, tableFolder)).map(withoutWriter);
  orphans.push(...aside.filter(({ modified }) => now - modified >= options.orphanGrace));
  orphans.push(...(await goneManifests(engine, tableFolder, branches, doomed)).map(withoutWriter));
  const main = mainBranch(tableFolder, incarnation);
  // No announcement tells that a client of Lance is at work: not even who asks for all unused files
  // gets these.
  const grace = Math.max(options.orphanGrace, DEFAULT_ORPHAN_GRACE);
  const graces = { open: options.orphanGrace, closed: grace };
  orphans.push(...(await writerFiles(engine, main, graces, now)).map(withoutWriter));
  const temporaries = await lanceTemporaries(engine, tableFolder);
  const broken = temporaries.filter(({ modified }) => now - modified >= grace);
  orphans.push(...broken.map(withoutWriter));
  const isLost = await lostFragments(engine, main);
  let kept: number | undefined;
  // Reading every version takes long in a long history: not where nothing is old enough to go.
  if (objects.some(mayGo)) {
    const used = await referencedFiles(engine, tableFolder, incarnation, branches, doomed);
    await addStaged(engine, tableFolder, others, used);
    const unused = objects.filter(({ file }) => !used.has(file) && isLost?.(file) !== true);
    const going = unused.filter(mayGo);
    orphans.push(...going);
    kept = unused.length - going.length;
    // Lance's names of deletion files go with those; they are found again from the files that stay.
    const links = await goneDeletions(engine, tableFolder, used);
    orphans.push(...links.map(withoutWriter).filter(mayGo));
  }
  // If no version tells what the files are, the announcement of their writer does: it is removed
  // after them.
  const going = new Set(orphans.map(({ file }) => file));
  const staying = isLost === undefined ? [] : objects.filter(({ file }) => !going.has(file));
  const left = new Set(staying.map(({ writer }) => writer));
  const ended = writers.ended.filter(({ id }) => !left.has(id));
  let bytes = 0;
  for (const { file, size } of orphans) {
    bytes += size;
    if (!options.dryRun) await engine.store.delete(file);
  }
  if (!options.dryRun) for (const { file } of ended) await engine.store.delete(file);
  return { versions, files: orphans.length, bytes, kept };
}

/**
 * Lists the fragments of a table that lost all its versions. Cleanup keeps them, as they may be all
 * that is left of the table; repair moves them into quarantine.
 */
async function lostFragments(
  engine: Engine,
  main: TableBranch,
): Promise<((file: string) => boolean) | undefined> {
  if ((await listedVersions(engine, main)).length > 0) return undefined;
  const isPending = await pendingFragments(engine, main);
  const isWritten = await hasAnnouncement(engine, main);
  const data = `${fragmentsFolder(main.tableFolder)}/`;
  return (file) => (file.startsWith(data) ? !isPending(file.slice(data.length)) : !isWritten);
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

/**
 * The versions that nothing keeps and that were superseded at least `olderThan` milliseconds ago.
 */
async function expiredVersions(
  engine: Engine,
  branch: TableBranch,
  olderThan: number,
): Promise<Manifest[]> {
  const now = engine.env.now();
  // Listed before it is known which is the newest: what is committed in between is not looked at.
  const { visible, marked } = await sortedVersions(engine, branch);
  const kept = await keptVersions(engine, branch);
  const expired: Manifest[] = [];
  // Marked by a deletion that did not finish.
  for (const version of marked) {
    if (kept.has(version)) continue;
    const manifest = await readManifest(engine, branch, version);
    if (manifest !== undefined) expired.push(manifest);
  }
  const timeOf = async (at: number): Promise<number | undefined> => {
    const manifest = await readManifest(engine, branch, visible[at] as number);
    // A version of a multi-table commit that was not committed has superseded nothing.
    return manifest !== undefined && (await isVisible(engine, manifest))
      ? manifest.timestamp
      : undefined;
  };
  const supersession = new Supersession(visible.length, timeOf, now);
  for (const [at, version] of visible.entries()) {
    if (version === visible.at(-1)) break;
    // Later versions were superseded later still.
    if ((await supersession.at(at)) > now - olderThan) break;
    const manifest = kept.has(version) ? undefined : await readManifest(engine, branch, version);
    if (manifest !== undefined) expired.push(manifest);
  }
  return expired;
}

/** A file that may go, if nothing refers to it. */
interface Candidate {
  readonly file: string;
  readonly size: number;
  /** By the file system's own clock, in milliseconds. */
  readonly modified: number;
  /** The id of the writer that made it, if its name tells. */
  readonly writer: string | undefined;
}

const withoutWriter = (leftover: LanceLeftover): Candidate => ({ ...leftover, writer: undefined });

/** The table's own files, and what else writers leave: temporary files and staged manifests. */
async function listedFiles(
  engine: Engine,
  tableFolder: string,
  branches: readonly TableBranch[],
): Promise<{ readonly objects: readonly Candidate[]; readonly others: readonly Candidate[] }> {
  const collect = async (
    folder: string,
    wanted: (name: string) => boolean,
    found: Candidate[],
  ): Promise<void> => {
    for (const { name, kind } of (await engine.store.list(folder)) ?? []) {
      if (kind !== 'file' || !wanted(name)) continue;
      const file = `${folder}/${name}`;
      const head = await engine.store.head(file);
      if (head === undefined) continue;
      const { size, modified } = head;
      found.push({ file, size, modified, writer: writerOf(name) });
    }
  };
  const objects: Candidate[] = [];
  const others: Candidate[] = [];
  for (const folder of objectFolders(tableFolder)) {
    await collect(folder, (name) => isObject(folder, name), objects);
    await collect(folder, isOwnTemporary, others);
  }
  for (const { folder } of branches) {
    await collect(folder, (name) => isTemporary(name) || isStagedManifest(name), others);
  }
  // A writer whose table is moved away cannot remove its temporary file.
  const isLeft = (name: string): boolean => isTemporary(name) && parseWriter(name) === undefined;
  for (const folder of [tableFolder, tagsFolder(tableFolder)])
    await collect(folder, isLeft, others);
  return { objects, others };
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
 * read until it is gone. The newest come first, as other cleanups delete the older ones meanwhile.
 * What cannot be found is looked for twice: a file system that denies a version once must not cost
 * the version its files.
 */
async function referencedFiles(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  known: readonly TableBranch[],
  doomed: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<Set<string>> {
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
    let versions = await listedVersionsOf(engine, branch);
    if (versions === undefined) {
      // A branch that is not listed any more was deleted just now, if anything can be listed.
      const again = await allBranches(engine, tableFolder, incarnation);
      const main = await engine.store.list(mainBranch(tableFolder, incarnation).folder);
      if (main === undefined || again.some(({ folder }) => folder === branch.folder))
        throw unfound(branch.folder);
      continue;
    }
    for (let at = versions.length - 1; at >= 0; at--) {
      const version = versions[at] as number;
      if (doomed.get(branch.folder)?.has(version) === true) continue;
      if (await collectVersion(engine, branch, version, used)) continue;
      // Another cleanup deleted it, which keeps the newest. If that was published after the list
      // was read, all that it needs may have been needed by versions that are gone by now.
      if (at < versions.length - 1) continue;
      versions = await listedVersionsOf(engine, branch);
      if (versions === undefined) throw unfound(branch.folder);
      at = versions.length;
    }
  }
}

/** Adds the files of one version; false if it was deleted since it was listed. */
async function collectVersion(
  engine: Engine,
  branch: TableBranch,
  version: number,
  used: Set<string>,
): Promise<boolean> {
  const found = await readVersion(engine, branch, version);
  if (found === undefined) {
    if ((await listedVersionsOf(engine, branch))?.includes(version) !== false)
      throw unfound(versionFile(branch.folder, version));
    return false;
  }
  if (!('manifest' in found)) return true;
  try {
    await collectFiles(engine, branch.tableFolder, found.manifest, used);
  } catch (error) {
    // The lists of its fragments go with a version.
    const isThere = (await readManifest(engine, branch, version)) !== undefined;
    if (isThere || !isDirspaceError(error, 'Corrupt')) throw error;
    return false;
  }
  return true;
}

const unfound = (path: string): DirspaceError =>
  new DirspaceError(
    'ServiceUnavailable',
    `${path} is listed and cannot be found, so it is not known which files it needs. No data file was removed; try again.`,
    { details: { path } },
  );

async function collectFiles(
  engine: Engine,
  tableFolder: string,
  manifest: Manifest,
  used: Set<string>,
): Promise<void> {
  const add = (fragment: Manifest['fragments'][number]): void => {
    for (const file of fileIds(fragment)) used.add(fragmentFile(tableFolder, file));
    if (fragment.deletion !== undefined)
      used.add(deletionFile(tableFolder, fragment.deletion.file));
  };
  for (const file of indexFileIds(manifest.indexes)) used.add(indexFile(tableFolder, file));
  for (const fragment of manifest.fragments) add(fragment);
  for (const chunk of manifest.chunks) {
    const file = chunkFile(tableFolder, chunk.file);
    // Chunks are shared by many versions and their entries never change.
    if (used.has(file)) continue;
    used.add(file);
    for (const fragment of await readChunk(engine, tableFolder, chunk)) add(fragment);
  }
}

/**
 * Adds the files that staged manifests refer to: these were handed over and wait to be published.
 */
async function addStaged(
  engine: Engine,
  tableFolder: string,
  others: readonly Candidate[],
  used: Set<string>,
): Promise<void> {
  for (const { file } of others) {
    if (!isStagedManifest(file.slice(file.lastIndexOf('/') + 1))) continue;
    try {
      const bytes = await engine.store.get(file);
      const found = bytes === undefined ? undefined : decodeVersion(bytes, file);
      if (found !== undefined && 'manifest' in found)
        await collectFiles(engine, tableFolder, found.manifest, used);
    } catch (error) {
      // Cut short or damaged: it cannot be published either.
      if (!isDirspaceError(error, 'Corrupt')) throw error;
    }
  }
}

/** Files of a version that goes; of one that is damaged they are not known, and stay a while. */
async function collectFreed(
  engine: Engine,
  tableFolder: string,
  manifest: Manifest,
  freed: Set<string>,
): Promise<void> {
  try {
    await collectFiles(engine, tableFolder, manifest, freed);
  } catch (error) {
    if (!isDirspaceError(error, 'Corrupt')) throw error;
  }
}
