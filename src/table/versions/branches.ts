/**
 * Creates, finds, lists and deletes branches of a table (`createBranch`, `findBranch`,
 * `listBranches`, `deleteBranch`). A branch is a folder with a record and version files of its own.
 * Its first version is a copy of the version it was made from, with the same number, so the branch
 * stays readable when that one is deleted. `createBranch` throws TableBranchAlreadyExists, or
 * TableNotFound if the table left its place. `findBranch` returns undefined and `deleteBranch`
 * false if there is no such branch. `deleteBranch` moves the branch into the trash and calls the
 * caller's check there. If that throws, it moves the branch back, or throws ConcurrentModification
 * if its name was taken meanwhile. `mainBranch` returns main, which has no record.
 *
 * Branches of an earlier table in the same folder are not found, and make room. Callers hold the
 * version that a branch is made from, and check that nothing needs a branch that they delete
 * (history/).
 */

import { DirspaceError } from '../../errors.ts';
import {
  type BranchRecord,
  branchesFolder,
  branchFile,
  branchFileIn,
  branchFolder,
  decodeBranch,
  decodeRef,
  encodeBranch,
  encodeManifest,
  MAIN_BRANCH,
  TRASH_FOLDER,
  versionFile,
  versionsFolder,
  versionsFolderIn,
} from '../../format/index.ts';
import { stagingFolder, writeObject } from '../work/index.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { incarnationAt, leftAtThatMoment, tableLeft, tableNamed } from './incarnation.ts';
import type { Snapshot } from './snapshot.ts';
import { lanceWritten } from './stored-properties.ts';

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

/**
 * @param lanceTransaction what the writer of Lance that made the branch says it did
 * @throws TableBranchAlreadyExists, TableNotFound when the table left its place meanwhile, and
 * CommitStateUnknown when it left with the branch
 */
export async function createBranch(
  engine: Engine,
  name: string,
  from: Snapshot,
  lanceTransaction?: string,
): Promise<void> {
  const { tableFolder, incarnation } = from.branch;
  if (name === MAIN_BRANCH) throw branchExists(engine, tableFolder, name);
  const target = branchFolder(tableFolder, name);
  const id = engine.env.uuid();
  const staging = stagingFolder(engine.env);
  const record: BranchRecord = {
    id,
    table: incarnation,
    parentBranch: from.branch.branch,
    parentVersion: from.version,
    createdAt: engine.env.now(),
  };
  const manifest = await lanceWritten(engine, from.branch, {
    ...from.manifest,
    // Set even to undefined: what a writer of Lance did in that version, it did on the other
    // branch.
    lanceTransaction,
    branch: name,
    parent: { version: from.version, branch: from.branch.branch, checksum: from.checksum },
  });
  const { bytes } = encodeManifest(manifest);
  await engine.store.createFolder(versionsFolderIn(staging, id));
  await Promise.all([
    writeObject(engine.store, branchFileIn(staging), encodeBranch(record)),
    writeObject(engine.store, versionFile(versionsFolderIn(staging, id), from.version), bytes),
  ]);
  await engine.store.syncFolders([staging, versionsFolderIn(staging, id)]);
  await engine.store.createFolder(branchesFolder(tableFolder), tableFolder);
  let outcome = await engine.store.moveFolder(staging, target);
  const foreign = outcome === 'taken' ? await foreignBranch(engine, from.branch, name) : undefined;
  if (foreign !== undefined) {
    await deleteBranch(engine, tableFolder, name, foreign);
    outcome = await engine.store.moveFolder(staging, target);
  }
  if (outcome === 'moved') {
    const main = mainBranch(tableFolder, incarnation);
    if ((await engine.store.list(main.folder)) !== undefined) return;
    // It may be in the folder of another table, which has the name by now.
    if (await deleteBranch(engine, tableFolder, name, id)) throw tableLeft();
    throw leftAtThatMoment(`The branch ${name}`);
  }
  await engine.store.deleteFolder(staging);
  const found = await incarnationAt(engine, tableFolder);
  if (outcome === 'taken' && found === incarnation) throw branchExists(engine, tableFolder, name);
  throw tableLeft(incarnation, found);
}

/** The id of a hidden branch of an earlier table in this folder, which stands in the way. */
async function foreignBranch(
  engine: Engine,
  table: TableBranch,
  name: string,
): Promise<string | undefined> {
  const file = branchFile(table.tableFolder, name);
  const bytes = await engine.store.get(file);
  const record = bytes === undefined ? undefined : decodeBranch(bytes, file);
  if (record === undefined || record.table === table.incarnation) return undefined;
  const main = mainBranch(table.tableFolder, table.incarnation);
  return (await engine.store.list(main.folder)) === undefined ? undefined : record.id;
}

/**
 * Moves the branch into the trash, checks it there, where no writer reaches it, and removes it.
 * Another branch of the name, or one that is still needed, is moved back.
 * @param id of the branch
 * @returns false when the branch is not there
 * @throws ConcurrentModification when it cannot be moved back: its name was taken meanwhile
 */
export async function deleteBranch(
  engine: Engine,
  tableFolder: string,
  name: string,
  id: string,
  refuseNeeded: () => Promise<void> = async () => {},
): Promise<boolean> {
  const place = branchFolder(tableFolder, name);
  if (!(await engine.store.enter(versionsFolderIn(place, id)))) return false;
  const trash = `${TRASH_FOLDER}/${engine.env.uuid()}`;
  if ((await engine.store.moveFolder(place, trash)) !== 'moved') return false;
  let found: boolean;
  try {
    found = await engine.store.enter(versionsFolderIn(trash, id));
    if (found) await refuseNeeded();
  } catch (error) {
    await moveBack(error);
    throw error;
  }
  if (found) await engine.store.deleteFolder(trash);
  else await moveBack();
  return found;

  async function moveBack(cause?: unknown): Promise<void> {
    const outcome = await engine.store.moveFolder(trash, place);
    if (outcome !== 'taken') return;
    const { name: shown, details } = tableNamed(engine, tableFolder);
    throw new DirspaceError(
      'ConcurrentModification',
      `The branch ${name} of the table ${shown} was moved aside to be deleted and is kept, but another branch of its name was created meanwhile. Its files are in ${trash} until the trash is purged: rename what took the name and move that folder to ${place}.`,
      { cause, details: { ...details, branch: name } },
    );
  }
}

function branchExists(engine: Engine, tableFolder: string, branch: string): DirspaceError {
  const { name, details } = tableNamed(engine, tableFolder);
  return new DirspaceError(
    'TableBranchAlreadyExists',
    `The branch ${branch} of the table ${name} already exists. Use it, delete it first, or choose another name.`,
    { details: { ...details, branch } },
  );
}
