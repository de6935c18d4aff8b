/**
 * `verifyLance` checks the files that a table keeps for Lance: manifests in a folder of their own,
 * and deletion files. A manifest that is not what the engine would write is a problem. A manifest
 * without a version is a leftover, and so is a deletion file that no version refers to.
 * verify-lance-path.ts checks the manifests, tags and branches that Lance finds by the table's
 * path.
 */
import {
  isLanceTemporary,
  isLanceWriterFile,
  lanceBranchesTree,
  lanceDeletionId,
  lanceDeletionsFolder,
  lanceFolder,
  objectId,
  parseLanceDeletion,
  parseLanceManifest,
} from '../../format/index.ts';
import { holdsManifestOf, keptManifestsFolder } from '../lance/index.ts';
import { type Engine, type TableBranch, visibleSnapshot } from '../versions/index.ts';
import { problemIn } from './verify-files.ts';
import type { FolderInspector } from './verify-folder.ts';
import type { VerifiedBranch } from './verify-manifest.ts';

/** @param referenced paths of the files that versions refer to */
export async function verifyLance(
  engine: Engine,
  tableFolder: string,
  branches: readonly VerifiedBranch[],
  referenced: ReadonlySet<string>,
  inspector: FolderInspector,
): Promise<void> {
  const byFolder = new Map(
    branches.map((found) => [keptManifestsFolder(engine, found.branch), found]),
  );
  for (const folder of await inspector.list(lanceFolder(tableFolder))) {
    const found = byFolder.get(folder.path);
    for (const entry of await inspector.list(folder.path)) {
      const version = parseLanceManifest(entry.name);
      if (version === undefined || entry.kind !== 'file') inspector.stray(entry);
      else if (found?.versions.some((known) => known.version === version) !== true)
        inspector.leftover(entry.path, 'orphan');
      else {
        const problem = await problemIn(() =>
          checkManifest(engine, found.branch, version, entry.path),
        );
        if (problem !== undefined) inspector.problem(entry.path, 'manifest', problem);
      }
    }
  }
  const ids = new Set([...referenced].map((path) => lanceDeletionId(objectId(path))));
  const isDeclared = branches.every(({ versions }) => versions.length === 0);
  const trees = await inspector.list(lanceBranchesTree(tableFolder));
  const datasets = trees.flatMap(({ kind, path }) => (kind === 'folder' ? [path] : []));
  for (const dataset of [tableFolder, ...datasets])
    await checkDeletions(inspector, lanceDeletionsFolder(dataset), ids, isDeclared);
}

/** Checks the deletion files under Lance's names that a branch has. */
async function checkDeletions(
  inspector: FolderInspector,
  folder: string,
  ids: ReadonlySet<bigint>,
  isDeclared: boolean,
): Promise<void> {
  for (const entry of await inspector.list(folder)) {
    const name = entry.kind === 'file' ? entry.name : '';
    const id = parseLanceDeletion(name);
    if (id !== undefined) {
      if (!ids.has(id)) inspector.leftover(entry.path, 'orphan');
      // What others put into a table that has no version is theirs.
    } else if (isDeclared) continue;
    else if (isLanceWriterFile(folder, name)) inspector.leftover(entry.path, 'orphan');
    else if (isLanceTemporary(name)) inspector.leftover(entry.path, 'temporary');
    else inspector.stray(entry);
  }
}

async function checkManifest(
  engine: Engine,
  branch: TableBranch,
  version: number,
  path: string,
): Promise<void> {
  const snapshot = await visibleSnapshot(engine, branch, version);
  if (snapshot === undefined) return;
  if (await holdsManifestOf(engine, snapshot, path)) return;
  // Cleanup may go by meanwhile.
  if ((await engine.store.head(path)) !== undefined) {
    throw new Error(`It is not what Lance is to read as version ${version}.`);
  }
}
