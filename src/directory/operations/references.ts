/** Creates, lists, moves and deletes tags and branches. */
import { DirspaceError } from '../../errors.ts';
import { MAIN_BRANCH, type TagRecord } from '../../format/index.ts';
import type {
  BranchContents,
  CreateTableBranchRequest,
  CreateTableTagRequest,
  DeleteTableBranchRequest,
  DeleteTableTagRequest,
  GetTableTagVersionRequest,
  GetTableTagVersionResponse,
  ListTableBranchesRequest,
  ListTableBranchesResponse,
  ListTableTagsRequest,
  ListTableTagsResponse,
  TagContents,
  UpdateTableTagRequest,
} from '../../protocol/index.ts';
import { isMissingFolder } from '../../store/index.ts';
import {
  createBranch,
  createTag,
  deleteBranch,
  deleteTag,
  type FoundBranch,
  findBranch,
  findTag,
  hintNamed,
  leftAtThatMoment,
  listBranches,
  listTags,
  mainBranch,
  replaceTag,
  resolveHead,
  type TableBranch,
  tableLeft,
  visibleSnapshot,
  withHold,
} from '../../table/index.ts';
import {
  beginWrite,
  byCodeUnits,
  type Catalog,
  missingBranch,
  missingTag,
  pageOf,
  requireStill,
  requireTable,
  resolveTarget,
  type Table,
  withoutVersion,
} from '../catalog/index.ts';

export async function listTableTags(
  catalog: Catalog,
  request: ListTableTagsRequest,
): Promise<ListTableTagsResponse> {
  const table = await requireTable(catalog, request);
  const tags = [...(await listTags(catalog.engine, table.folder, table.record.id))];
  const { items, page_token } = pageOf(sorted(tags), request, ([name]) => name);
  const contents: [string, TagContents][] = [];
  for (const [name, record] of items) {
    contents.push([name, await tagContents(catalog, table, record)]);
  }
  await requireStill(catalog, table);
  return {
    tags: Object.fromEntries(contents),
    ...(page_token === undefined ? {} : { page_token }),
  };
}

/** @throws TableTagNotFound */
export async function getTableTagVersion(
  catalog: Catalog,
  request: GetTableTagVersionRequest,
): Promise<GetTableTagVersionResponse> {
  const table = await requireTable(catalog, request);
  const record = await findTag(catalog.engine, table.folder, table.record.id, request.tag);
  if (record === undefined) throw missingTag(table, request.tag);
  return { version: record.version, ...branchMember(record.branch) };
}

/** @throws TableTagAlreadyExists, TableVersionNotFound */
export async function createTableTag(
  catalog: Catalog,
  request: CreateTableTagRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  return withTagged(catalog, request, async (table, record, branch) => {
    await createTag(catalog.engine, table.folder, request.tag, record);
    if ((await catalog.engine.store.list(branch.folder)) !== undefined) return;
    if (await takeBack(catalog, table, request.tag, record)) throw tableLeft();
    throw leftAtThatMoment(`The tag ${request.tag}`);
  });
}

/** @throws TableTagNotFound, TableVersionNotFound */
export async function updateTableTag(
  catalog: Catalog,
  request: UpdateTableTagRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  return withTagged(catalog, request, async (table, record, branch) => {
    const known = await findTag(catalog.engine, table.folder, table.record.id, request.tag);
    if (known === undefined) throw missingTag(table, request.tag);
    await replaceTag(catalog.engine, table.folder, request.tag, record);
    if ((await catalog.engine.store.list(branch.folder)) !== undefined) return;
    if (await takeBack(catalog, table, request.tag, record, known)) throw tableLeft();
    throw leftAtThatMoment(`The tag ${request.tag}`);
  });
}

/** @throws TableTagNotFound */
export async function deleteTableTag(
  catalog: Catalog,
  request: DeleteTableTagRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request);
  const known = await findTag(catalog.engine, table.folder, table.record.id, request.tag);
  const { engine } = catalog;
  if (known !== undefined && (await deleteTag(engine, table.folder, table.record.id, request.tag)))
    return {};
  throw missingTag(table, request.tag);
}

export async function listTableBranches(
  catalog: Catalog,
  request: ListTableBranchesRequest,
): Promise<ListTableBranchesResponse> {
  const table = await requireTable(catalog, request);
  const all = await listBranches(catalog.engine, table.folder, table.record.id);
  const branches = all.sort((left, right) => byCodeUnits(left.branch, right.branch));
  const { items, page_token } = pageOf(branches, request, ({ branch }) => branch);
  const contents: [string, BranchContents][] = [];
  for (const branch of items) contents.push([branch.branch, await branchContents(catalog, branch)]);
  await requireStill(catalog, table);
  return {
    branches: Object.fromEntries(contents),
    ...(page_token === undefined ? {} : { page_token }),
  };
}

/** From the newest version of main where nothing else is said. @throws TableBranchAlreadyExists */
export async function createTableBranch(
  catalog: Catalog,
  request: CreateTableBranchRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  const { id, incarnation, from_branch: branch, from_version: version } = request;
  const named = { id, incarnation, branch, version };
  const { table, branch: parent, snapshot: from } = await resolveTarget(catalog, named, 'version');
  if (from === undefined) throw await withoutVersion(catalog, table);
  await hintNamed(catalog.engine, parent, from.version);
  await withHold(catalog.engine, parent, from.version, () =>
    createBranch(catalog.engine, request.name, from),
  );
  return {};
}

/** @throws TableBranchNotFound */
export async function deleteTableBranch(
  catalog: Catalog,
  request: DeleteTableBranchRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request);
  if (request.name === MAIN_BRANCH) {
    throw new DirspaceError(
      'InvalidInput',
      'The branch main cannot be deleted; drop the table instead.',
    );
  }
  const { engine } = catalog;
  const { folder, record } = table;
  const branch = await findBranch(engine, folder, record.id, request.name);
  if (branch === undefined) throw missingBranch(table, request.name);
  const refuseTagged = async (): Promise<void> => {
    for (const [tag, { branch: named }] of await listTags(engine, folder, record.id)) {
      if (named !== request.name) continue;
      throw new DirspaceError(
        'InvalidTableState',
        `The branch ${request.name} is named by the tag ${tag}. Delete or update that tag first.`,
        { details: { branch: request.name, tag } },
      );
    }
  };
  await refuseTagged();
  // Once more when it is out of sight: whoever makes a tag looks for the branch afterwards.
  if (await deleteBranch(engine, folder, request.name, branch.record.id, refuseTagged)) return {};
  const left = await findBranch(engine, folder, record.id, request.name);
  if (left?.record.id !== branch.record.id) throw missingBranch(table, request.name);
  throw new DirspaceError(
    'ServiceUnavailable',
    `The branch ${request.name} is there, but its folder cannot be found to be moved away. Nothing was changed; try again.`,
    { details: { branch: request.name } },
  );
}

/** Runs `work` while a hold keeps the version that the tag is to name. */
async function withTagged(
  catalog: Catalog,
  { id, incarnation, branch: name, version }: UpdateTableTagRequest,
  work: (table: Table, record: TagRecord, branch: TableBranch) => Promise<void>,
): Promise<Record<string, never>> {
  const named = { id, incarnation, branch: name, version };
  const { table, branch } = await resolveTarget(catalog, named, 'named');
  const record = { table: table.record.id, branch: branch.branch, version };
  await hintNamed(catalog.engine, branch, version);
  await withHold(catalog.engine, branch, version, () => work(table, record, branch));
  return {};
}

/**
 * Undoes a tag whose branch or table left before it was there. False where it cannot be found, as it
 * has gone with its table, or has changed since.
 */
async function takeBack(
  catalog: Catalog,
  { folder }: Table,
  tag: string,
  { table, branch, version }: TagRecord,
  known?: TagRecord,
): Promise<boolean> {
  const { engine } = catalog;
  const found = await findTag(engine, folder, table, tag);
  if (found?.branch !== branch || found.version !== version) return false;
  try {
    if (known === undefined) return await deleteTag(engine, folder, table, tag);
    await replaceTag(engine, folder, tag, known);
    return true;
  } catch (error) {
    if (isMissingFolder(error)) return false;
    throw error;
  }
}

async function branchOf(
  catalog: Catalog,
  table: Table,
  name: string,
): Promise<TableBranch | undefined> {
  return name === MAIN_BRANCH
    ? mainBranch(table.folder, table.record.id)
    : findBranch(catalog.engine, table.folder, table.record.id, name);
}

async function tagContents(
  catalog: Catalog,
  table: Table,
  record: TagRecord,
): Promise<TagContents> {
  const branch = await branchOf(catalog, table, record.branch);
  const snapshot = branch && (await visibleSnapshot(catalog.engine, branch, record.version));
  return {
    version: record.version,
    manifestSize: snapshot?.manifestBytes ?? 0,
    ...branchMember(record.branch),
  };
}

async function branchContents(catalog: Catalog, branch: FoundBranch): Promise<BranchContents> {
  const head = await resolveHead(catalog.engine, branch);
  return {
    parentBranch: branch.record.parentBranch,
    parentVersion: branch.record.parentVersion,
    createAt: Math.floor(branch.record.createdAt / 1000),
    manifestSize: head?.snapshot.manifestBytes ?? 0,
  };
}

/** Main goes without saying. */
const branchMember = (branch: string): { branch?: string } =>
  branch === MAIN_BRANCH ? {} : { branch };

const sorted = <Value>(entries: [string, Value][]): [string, Value][] =>
  entries.sort(([left], [right]) => byCodeUnits(left, right));
