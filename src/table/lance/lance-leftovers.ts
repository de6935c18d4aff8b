/**
 * Finds files in a table that were written for Lance or by Lance and are no longer needed; callers
 * delete them, most of them only from some age on. `goneManifests` finds manifests of versions that
 * are gone, `goneDeletions` deletion files that no version needs, and `asideFiles` files that were
 * renamed to hide them from Lance. `writerFiles` finds what Lance's writers left that had finished,
 * `lanceDebris` what refused ones left, and `lanceTemporaries` what killed ones were writing. While
 * Lance reads a manifest of another program, `lanceDebris` lists nothing, and `writerFiles` nothing
 * of a table that Lance's clients may no longer write.
 */
import {
  deletionsFolder,
  fragmentsFolder,
  isLanceAside,
  isLanceData,
  isLanceTemporary,
  isLanceTransaction,
  isLanceWriterFile,
  isStrangeLanceManifest,
  lanceBranchesTree,
  lanceDeletionId,
  lanceDeletionsFolder,
  lanceFolder,
  lanceTagsFolder,
  lanceTemporaryFolders,
  lanceTransactionsFolder,
  lanceVersionsFolder,
  lanceWriterFolders,
  lastName,
  objectId,
  parseLanceDeletion,
  parseLanceManifest,
  parseLanceVersionFile,
} from '../../format/index.ts';
import { type Engine, resolveHead, type TableBranch, visibleVersions } from '../versions/index.ts';
import { isFenceInUse } from './lance-fence.ts';
import { keptManifestsFolder } from './lance-files.ts';
import { datasetOf, isOwn } from './lance-strangers.ts';

export interface LanceLeftover {
  readonly file: string;
  readonly size: number;
  readonly modified: number;
}

/** @param doomed versions that a dry run counts as gone, by the folder of their branch */
export async function goneManifests(
  engine: Engine,
  tableFolder: string,
  branches: readonly TableBranch[],
  doomed: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<LanceLeftover[]> {
  const found: LanceLeftover[] = [];
  /**
   * The manifests in a folder of which no version is there; of all, where they are of no branch.
   */
  const collect = async (
    folder: string,
    branch: TableBranch | undefined,
    parse: (name: string) => number | undefined,
  ): Promise<LanceLeftover[]> => {
    const files = await filesIn(engine, folder, (name) => parse(name) !== undefined);
    const versions = new Set(branch === undefined ? [] : await visibleVersions(engine, branch));
    const gone = branch === undefined ? undefined : doomed.get(branch.folder);
    return files.filter(({ file }) => {
      const version = parse(lastName(file)) as number;
      return gone?.has(version) === true || !versions.has(version);
    });
  };
  const kept = new Map(branches.map((branch) => [keptManifestsFolder(engine, branch), branch]));
  for (const folder of await foldersIn(engine, lanceFolder(tableFolder)))
    found.push(...(await collect(folder, kept.get(folder), parseLanceManifest)));
  const datasets = new Map(branches.map((branch) => [datasetOf(branch), branch]));
  for (const dataset of await datasetsOf(engine, tableFolder)) {
    const folder = lanceVersionsFolder(dataset);
    // Manifests of other programs stay, whatever their number.
    for (const leftover of await collect(folder, datasets.get(dataset), parseLanceVersionFile)) {
      const main = datasets.get(tableFolder);
      if (main !== undefined && (await isFenceInUse(engine, leftover.file, main))) continue;
      if (await isOwn(engine, leftover.file)) found.push(leftover);
    }
  }
  return found;
}

/** The folders that Lance takes for the table and its branches. */
const datasetsOf = async (engine: Engine, tableFolder: string): Promise<string[]> => [
  tableFolder,
  ...(await foldersIn(engine, lanceBranchesTree(tableFolder))),
];

async function foldersIn(engine: Engine, folder: string): Promise<string[]> {
  const entries = (await engine.store.list(folder)) ?? [];
  return entries.flatMap(({ name, kind }) => (kind === 'folder' ? [`${folder}/${name}`] : []));
}

/**
 * Data files and transactions that refused writers of Lance left: none while Lance may read a
 * manifest that a program of its own wrote, which may refer to them. Young ones may be those of a
 * client at work.
 */
export async function lanceDebris(engine: Engine, tableFolder: string): Promise<LanceLeftover[]> {
  const found = await filesIn(engine, fragmentsFolder(tableFolder), isLanceData);
  const datasets = await datasetsOf(engine, tableFolder);
  for (const dataset of datasets) {
    const folder = lanceTransactionsFolder(dataset);
    found.push(...(await filesIn(engine, folder, isLanceTransaction)));
  }
  return found.length === 0 || (await isWrittenByOthers(engine, datasets)) ? [] : found;
}

/** Whether Lance may read a manifest there that this engine did not make. */
async function isWrittenByOthers(engine: Engine, datasets: readonly string[]): Promise<boolean> {
  const isManifest = (name: string): boolean =>
    parseLanceVersionFile(name) !== undefined || isStrangeLanceManifest(name);
  for (const dataset of datasets)
    for (const { file } of await filesIn(engine, lanceVersionsFolder(dataset), isManifest))
      if (!(await isOwn(engine, file))) return true;
  return false;
}

/**
 * Files that Lance's object store was writing: a client of Lance that was killed never comes back to
 * them. Young ones may be those of a client at work, which no announcement tells.
 */
export async function lanceTemporaries(
  engine: Engine,
  tableFolder: string,
): Promise<LanceLeftover[]> {
  const found: LanceLeftover[] = [];
  for (const dataset of await datasetsOf(engine, tableFolder))
    for (const folder of lanceTemporaryFolders(tableFolder, dataset))
      found.push(...(await filesIn(engine, folder, isLanceTemporary)));
  return found;
}

/** What was set aside, in the folders where Lance finds manifests and refs. */
export async function asideFiles(engine: Engine, tableFolder: string): Promise<LanceLeftover[]> {
  const found: LanceLeftover[] = [];
  const datasets = await datasetsOf(engine, tableFolder);
  for (const folder of [...datasets.map(lanceVersionsFolder), lanceTagsFolder(tableFolder)])
    found.push(...(await filesIn(engine, folder, isLanceAside)));
  return found;
}

/**
 * What clients of Lance wrote for versions of theirs: the versions have files of their own, but a
 * client goes on to read its own files until it opens the table anew. Where Lance may not write any
 * more, none while it may read a manifest that another program made, which may refer to them.
 * @param graces ages in milliseconds from which they go, while Lance may write the table and while
 * it may not
 */
export async function writerFiles(
  engine: Engine,
  main: TableBranch,
  graces: { readonly open: number; readonly closed: number },
  now: number,
): Promise<LanceLeftover[]> {
  const found: LanceLeftover[] = [];
  const datasets = await datasetsOf(engine, main.tableFolder);
  for (const dataset of datasets)
    for (const folder of lanceWriterFolders(dataset))
      found.push(...(await filesIn(engine, folder, (name) => isLanceWriterFile(folder, name))));
  if (found.length === 0) return [];
  const newest = (await resolveHead(engine, main))?.snapshot;
  if (newest === undefined) return [];
  const isOpen = newest.manifest.lanceWrites === true;
  const grace = isOpen ? graces.open : graces.closed;
  const old = found.filter(({ modified }) => now - modified >= grace);
  if (isOpen || old.length === 0) return old;
  return (await isWrittenByOthers(engine, datasets)) ? [] : old;
}

/** @param used paths of all files that versions refer to */
export async function goneDeletions(
  engine: Engine,
  tableFolder: string,
  used: ReadonlySet<string>,
): Promise<LanceLeftover[]> {
  const folder = deletionsFolder(tableFolder);
  const ids = new Set<bigint>();
  for (const path of used) {
    if (!path.startsWith(`${folder}/`)) continue;
    ids.add(lanceDeletionId(objectId(path)));
  }
  const isGone = (file: string): boolean => {
    const id = parseLanceDeletion(file);
    return id !== undefined && !ids.has(id);
  };
  const found: LanceLeftover[] = [];
  for (const dataset of await datasetsOf(engine, tableFolder))
    found.push(...(await filesIn(engine, lanceDeletionsFolder(dataset), isGone)));
  return found;
}

async function filesIn(
  engine: Engine,
  folder: string,
  wanted: (name: string) => boolean,
): Promise<LanceLeftover[]> {
  const found: LanceLeftover[] = [];
  for (const { name, kind } of (await engine.store.list(folder)) ?? []) {
    if (kind !== 'file' || !wanted(name)) continue;
    const file = `${folder}/${name}`;
    const facts = await engine.store.head(file);
    if (facts !== undefined) found.push({ file, size: facts.size, modified: facts.modified });
  }
  return found;
}
