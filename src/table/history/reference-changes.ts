/**
 * Creates and moves tags (`createVersionTag`, `updateVersionTag`) and deletes branches
 * (`deleteUnneededBranch`), safely beside concurrent deletions. A version is held until the tag
 * that names it exists; one that is gone throws TableVersionNotFound. A tag that exists already
 * throws TableTagAlreadyExists; moving a tag or deleting a branch that is not there returns false.
 * A branch stays, with InvalidTableState, if a tag names it, or if another branch was made from it
 * and Lance's clients may write that one. If the table leaves its place meanwhile, TableNotFound or
 * CommitStateUnknown is thrown. versions/tags.ts and versions/branches.ts write the files.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { TagRecord } from '../../format/index.ts';
import { isMissingFolder } from '../../store/index.ts';
import {
  createTag,
  deleteBranch,
  deleteTag,
  type Engine,
  type FoundBranch,
  findTag,
  hintNamed,
  leftAtThatMoment,
  listBranches,
  listTags,
  replaceTag,
  resolveHead,
  type TableBranch,
  tableLeft,
  tableNamed,
} from '../versions/index.ts';
import { withHold } from './holds.ts';

/** @throws TableTagAlreadyExists, TableVersionNotFound, TableNotFound */
export function createVersionTag(
  engine: Engine,
  tag: string,
  branch: TableBranch,
  version: number,
): Promise<void> {
  return holding(engine, branch, version, async (record) => {
    await createTag(engine, branch.tableFolder, tag, record);
    await requireStanding(engine, branch, tag, record);
  });
}

/** False where there is no such tag. @throws TableVersionNotFound, TableNotFound */
export function updateVersionTag(
  engine: Engine,
  tag: string,
  branch: TableBranch,
  version: number,
): Promise<boolean> {
  const { tableFolder, incarnation } = branch;
  return holding(engine, branch, version, async (record) => {
    const known = await findTag(engine, tableFolder, incarnation, tag);
    if (known === undefined) return false;
    await replaceTag(engine, tableFolder, tag, record);
    await requireStanding(engine, branch, tag, record, known);
    return true;
  });
}

/**
 * False where the branch is not there.
 * @throws InvalidTableState where a tag names it, or where clients of Lance may write the table and
 * another branch was made from it: as in Lance, whose cleanup fails without it
 */
export async function deleteUnneededBranch(engine: Engine, branch: FoundBranch): Promise<boolean> {
  const { tableFolder, incarnation, branch: name, record } = branch;
  const refuseTagged = async (): Promise<void> => {
    for (const [tag, { branch: named }] of await listTags(engine, tableFolder, incarnation)) {
      if (named !== name) continue;
      const table = tableNamed(engine, tableFolder);
      throw new DirspaceError(
        'InvalidTableState',
        `The branch ${name} of the table ${table.name} is named by the tag ${tag}. Delete or update that tag first.`,
        { details: { ...table.details, branch: name, tag } },
      );
    }
  };
  const refuseOrigin = async (): Promise<void> => {
    const made = await listBranches(engine, tableFolder, incarnation);
    const child = made.find((other) => other.record.parentBranch === name);
    if (child === undefined || !(await isWrittenByLance(engine, child))) return;
    const table = tableNamed(engine, tableFolder);
    throw new DirspaceError(
      'InvalidTableState',
      `The branch ${child.branch} of the table ${table.name} was made from the branch ${name}, which writers of Lance need as long as it is there. Delete the branch ${child.branch} first.`,
      { details: { ...table.details, branch: name } },
    );
  };
  const refuse = async (): Promise<void> => {
    await refuseTagged();
    await refuseOrigin();
  };
  await refuse();
  // Once more when it is out of sight: whoever makes a tag looks for the branch afterwards.
  return deleteBranch(engine, tableFolder, name, record.id, refuse);
}

async function isWrittenByLance(engine: Engine, branch: TableBranch): Promise<boolean> {
  try {
    return (await resolveHead(engine, branch))?.snapshot.manifest.lanceWrites === true;
  } catch (error) {
    // A branch that lost its versions keeps no other.
    if (!isDirspaceError(error, 'Corrupt')) throw error;
    return false;
  }
}

/** Runs `work` while no other writer can delete the version that a tag is to name. */
async function holding<Result>(
  engine: Engine,
  branch: TableBranch,
  version: number,
  work: (record: TagRecord) => Promise<Result>,
): Promise<Result> {
  const record = { table: branch.incarnation, branch: branch.branch, version };
  await hintNamed(engine, branch, version);
  return withHold(engine, branch, version, () => work(record));
}

/** @throws TableNotFound, CommitStateUnknown where the branch left before its tag was there */
async function requireStanding(
  engine: Engine,
  branch: TableBranch,
  tag: string,
  record: TagRecord,
  known?: TagRecord,
): Promise<void> {
  if ((await engine.store.list(branch.folder)) !== undefined) return;
  if (await takeBack(engine, branch.tableFolder, tag, record, known)) throw tableLeft();
  throw leftAtThatMoment(`The tag ${tag}`);
}

/**
 * Undoes a tag whose branch or table left before it was there. False where it cannot be found, as
 * it has gone with its table, or has changed since.
 */
async function takeBack(
  engine: Engine,
  tableFolder: string,
  tag: string,
  { table, branch, version }: TagRecord,
  known: TagRecord | undefined,
): Promise<boolean> {
  const found = await findTag(engine, tableFolder, table, tag);
  if (found?.branch !== branch || found.version !== version) return false;
  try {
    if (known === undefined) return await deleteTag(engine, tableFolder, table, tag);
    await replaceTag(engine, tableFolder, tag, known);
    return true;
  } catch (error) {
    if (isMissingFolder(error)) return false;
    throw error;
  }
}
