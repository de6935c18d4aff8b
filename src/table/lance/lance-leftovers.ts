/**
 * Finds what was made for Lance's readers and has no version any more: manifests of versions that are gone,
 * and Lance's names of deletion files that nothing refers to.
 */
import {
  deletionsFolder,
  lanceDeletionId,
  lanceDeletionsFolder,
  lanceFolder,
  lanceManifestsFolder,
  objectId,
  parseLanceDeletion,
  parseLanceManifest,
} from '../../format/index.ts';
import { type Engine, type TableBranch, visibleVersions } from '../versions/index.ts';

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
  const folders = (await engine.store.list(lanceFolder(tableFolder))) ?? [];
  if (folders.length === 0) return [];
  const living = new Map<string, ReadonlySet<number>>();
  for (const branch of branches) {
    const gone = doomed.get(branch.folder);
    const there = (await visibleVersions(engine, branch)).filter((version) => !gone?.has(version));
    living.set(lanceManifestsFolder(tableFolder, branch.folder), new Set(there));
  }
  const found: LanceLeftover[] = [];
  for (const { name, kind } of folders) {
    if (kind !== 'folder') continue;
    const folder = `${lanceFolder(tableFolder)}/${name}`;
    const versions = living.get(folder);
    found.push(
      ...(await filesIn(engine, folder, (file) => {
        const version = parseLanceManifest(file);
        return version !== undefined && versions?.has(version) !== true;
      })),
    );
  }
  return found;
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
  return filesIn(engine, lanceDeletionsFolder(tableFolder), (file) => {
    const id = parseLanceDeletion(file);
    return id !== undefined && !ids.has(id);
  });
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
