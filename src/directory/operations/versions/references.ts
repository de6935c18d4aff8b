/**
 * Carries out the operations on tags (create, list, read, move, delete) and branches (create, list,
 * delete), such as `createTableTag` and `deleteTableBranch`. The branch main cannot be deleted,
 * which throws InvalidInput. A branch that a tag names stays, with InvalidTableState; so does the
 * parent of a branch that Lance's clients may write. Each kind of missing or taken name has an
 * error of its own, such as TableTagNotFound and TableBranchAlreadyExists. A tag of a branch that
 * is gone is still listed.
 */
import { DirspaceError } from '../../../errors.ts';
import { MAIN_BRANCH, type TagRecord } from '../../../format/index.ts';
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
} from '../../../protocol/index.ts';
import type { Branch, SideBranch } from '../../../table/index.ts';
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
  storedTable,
  type Table,
  type Target,
  withoutVersion,
} from '../../catalog/index.ts';

export async function listTableTags(
  catalog: Catalog,
  request: ListTableTagsRequest,
): Promise<ListTableTagsResponse> {
  const table = await requireTable(catalog, request);
  const tags = [...(await storedTable(catalog, table).tags())];
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
  const record = await storedTable(catalog, table).tag(request.tag);
  if (record === undefined) throw missingTag(table, request.tag);
  return { version: record.version, ...branchMember(record.branch) };
}

/** @throws TableTagAlreadyExists, TableVersionNotFound */
export async function createTableTag(
  catalog: Catalog,
  request: CreateTableTagRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  const { table, branch } = await toBeTagged(catalog, request);
  await storedTable(catalog, table).createTag(request.tag, branch, request.version);
  return {};
}

/** @throws TableTagNotFound, TableVersionNotFound */
export async function updateTableTag(
  catalog: Catalog,
  request: UpdateTableTagRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  const { table, branch } = await toBeTagged(catalog, request);
  const { tag, version } = request;
  if (await storedTable(catalog, table).updateTag(tag, branch, version)) return {};
  throw missingTag(table, tag);
}

/** @throws TableTagNotFound */
export async function deleteTableTag(
  catalog: Catalog,
  request: DeleteTableTagRequest,
): Promise<Record<string, never>> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request);
  if (await storedTable(catalog, table).deleteTag(request.tag)) return {};
  throw missingTag(table, request.tag);
}

export async function listTableBranches(
  catalog: Catalog,
  request: ListTableBranchesRequest,
): Promise<ListTableBranchesResponse> {
  const table = await requireTable(catalog, request);
  const all = await storedTable(catalog, table).branches();
  const branches = all.sort((left, right) => byCodeUnits(left.branch, right.branch));
  const { items, page_token } = pageOf(branches, request, ({ branch }) => branch);
  const contents: [string, BranchContents][] = [];
  for (const branch of items) contents.push([branch.branch, await branchContents(branch)]);
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
  await parent.branchOff(request.name, from);
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
  const stored = storedTable(catalog, table);
  const branch = await stored.branch(request.name);
  if (branch === undefined) throw missingBranch(table, request.name);
  if (await stored.deleteBranch(branch)) return {};
  const left = await stored.branch(request.name);
  if (left?.record.id !== branch.record.id) throw missingBranch(table, request.name);
  throw new DirspaceError(
    'ServiceUnavailable',
    `The branch ${request.name} is there, but its folder cannot be found to be moved away. Nothing was changed; try again.`,
    { details: { branch: request.name } },
  );
}

/** The branch of the version that a tag is to name. */
function toBeTagged(
  catalog: Catalog,
  { id, incarnation, branch, version }: UpdateTableTagRequest,
): Promise<Target> {
  return resolveTarget(catalog, { id, incarnation, branch, version }, 'named');
}

/** Undefined where the branch is not there any more. */
async function branchOf(catalog: Catalog, table: Table, name: string): Promise<Branch | undefined> {
  const stored = storedTable(catalog, table);
  return name === MAIN_BRANCH ? stored.main : stored.branch(name);
}

async function tagContents(
  catalog: Catalog,
  table: Table,
  record: TagRecord,
): Promise<TagContents> {
  const branch = await branchOf(catalog, table, record.branch);
  const snapshot = await branch?.snapshotIfThere(record.version);
  return {
    version: record.version,
    manifestSize: snapshot?.manifestBytes ?? 0,
    ...branchMember(record.branch),
  };
}

async function branchContents(branch: SideBranch): Promise<BranchContents> {
  const newest = await branch.newest();
  const { parentBranch, parentVersion, createdAt } = branch.record;
  return {
    ...(parentBranch === MAIN_BRANCH ? {} : { parentBranch }),
    parentVersion,
    createAt: Math.floor(createdAt / 1000),
    manifestSize: newest?.manifestBytes ?? 0,
  };
}

/** Main goes without saying. */
const branchMember = (branch: string): { branch?: string } =>
  branch === MAIN_BRANCH ? {} : { branch };

const sorted = <Value>(entries: [string, Value][]): [string, Value][] =>
  entries.sort(([left], [right]) => byCodeUnits(left, right));
