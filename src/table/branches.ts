/**
 * Branches of a table: a folder with a record and version files of its own. The first of those is
 * a copy of the version the branch was made from, so a branch stands without its parent.
 */
import { DirspaceError } from '../errors.ts';
import { encodeManifest } from '../format/manifest.ts';
import {
  branchesFolder,
  branchFile,
  branchFolder,
  decodeRef,
  MAIN_BRANCH,
  STAGING_FOLDER,
  TRASH_FOLDER,
  versionFile,
  versionsFolder,
} from '../format/paths.ts';
import { type BranchRecord, decodeBranch, encodeBranch } from '../format/records.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import type { Snapshot } from './snapshot.ts';
import { writeObject } from './write-object.ts';

export const mainBranch = (tableFolder: string, incarnation: string): TableBranch => ({
  tableFolder,
  incarnation,
  branch: MAIN_BRANCH,
  folder: versionsFolder(tableFolder, incarnation, MAIN_BRANCH),
});

export interface FoundBranch extends TableBranch {
  readonly record: BranchRecord;
}

/** Undefined when there is no such branch; `main` is not asked for here. */
export async function findBranch(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  branch: string,
): Promise<FoundBranch | undefined> {
  if (!(await engine.store.enter(branchFolder(tableFolder, branch)))) return undefined;
  const file = branchFile(tableFolder, branch);
  const bytes = await engine.store.get(file, true);
  if (bytes === undefined) return undefined;
  const record = decodeBranch(bytes, file);
  // Made for a table that was dropped and recreated meanwhile: not a branch of this one.
  if (record.table !== incarnation) return undefined;
  return {
    tableFolder,
    incarnation,
    branch,
    folder: versionsFolder(tableFolder, record.id, branch),
    record,
  };
}

/** All branches but main, by name. */
export async function listBranches(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
): Promise<FoundBranch[]> {
  const entries = (await engine.store.list(branchesFolder(tableFolder))) ?? [];
  const names = entries.flatMap((entry) => decodeRef(entry.name) ?? []).sort();
  const branches: FoundBranch[] = [];
  for (const name of names) {
    const found = await findBranch(engine, tableFolder, incarnation, name);
    if (found !== undefined) branches.push(found);
  }
  return branches;
}

/** @throws TableBranchAlreadyExists */
export async function createBranch(engine: Engine, name: string, from: Snapshot): Promise<void> {
  const { tableFolder, incarnation } = from.branch;
  if (name === MAIN_BRANCH) throw branchExists(name);
  const target = branchFolder(tableFolder, name);
  const id = engine.env.uuid();
  const staging = `${STAGING_FOLDER}/${engine.env.uuid()}`;
  const record: BranchRecord = {
    id,
    table: incarnation,
    parentBranch: from.branch.branch,
    parentVersion: from.version,
    createdAt: engine.env.now(),
  };
  const { bytes } = encodeManifest({
    ...from.manifest,
    branch: name,
    parent: { version: from.version, branch: from.branch.branch, checksum: from.checksum },
  });
  await engine.store.createFolder(`${staging}/versions-${id}`);
  await Promise.all([
    writeObject(engine.store, `${staging}/branch.json`, encodeBranch(record)),
    writeObject(engine.store, versionFile(`${staging}/versions-${id}`, from.version), bytes),
  ]);
  await engine.store.syncFolders([staging, `${staging}/versions-${id}`]);
  await engine.store.createFolder(branchesFolder(tableFolder), tableFolder);
  let outcome = await engine.store.moveFolder(staging, target);
  if (outcome === 'taken' && (await isForeign(engine, from.branch, name))) {
    await deleteBranch(engine, tableFolder, name);
    outcome = await engine.store.moveFolder(staging, target);
  }
  if (outcome === 'moved') return;
  await engine.store.deleteFolder(staging);
  if (outcome === 'taken') throw branchExists(name);
  throw new DirspaceError(
    'TableNotFound',
    'The table was dropped while the branch was being made.',
  );
}

/** Left by a writer that outlived the table that was here before; hidden, but in the way. */
async function isForeign(engine: Engine, table: TableBranch, name: string): Promise<boolean> {
  const file = branchFile(table.tableFolder, name);
  const bytes = await engine.store.get(file);
  if (bytes === undefined || decodeBranch(bytes, file).table === table.incarnation) return false;
  const main = mainBranch(table.tableFolder, table.incarnation);
  return (await engine.store.list(main.folder)) !== undefined;
}

/** Moves the branch out of sight first; false when there is none. */
export async function deleteBranch(
  engine: Engine,
  tableFolder: string,
  name: string,
): Promise<boolean> {
  const trash = `${TRASH_FOLDER}/${engine.env.uuid()}`;
  const outcome = await engine.store.moveFolder(branchFolder(tableFolder, name), trash);
  if (outcome !== 'moved') return false;
  await engine.store.deleteFolder(trash);
  return true;
}

const branchExists = (name: string): DirspaceError =>
  new DirspaceError(
    'TableBranchAlreadyExists',
    `The table already has a branch ${name}. Use it, delete it first, or choose another name.`,
    { details: { branch: name } },
  );
