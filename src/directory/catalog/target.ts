/**
 * `resolveTarget` finds the table, branch and version that a request names; by default, the newest
 * version of main. How far it looks is told by `Depth`: the version is undefined if it was not
 * looked up, or if the branch has none. What is missing throws an error of its own, such as
 * TableTagNotFound. `targetToRead`, `snapshotToRead` and `describedTarget` do so for reads, with
 * fewer calls to the file system if nothing has changed; `snapshotToRead` throws for a table
 * without a version. A tag names both a branch and a version, so it is refused beside either.
 * `lanceTarget` finds a version that another program wrote. `newestOfMain` finds the newest version
 * of main. `failureWithin` turns an error inside a table into the error that the caller gets.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { MAIN_BRANCH } from '../../format/index.ts';
import { errorNaming } from '../../protocol/index.ts';
import type { Awaitable } from '../../store/index.ts';
import { type Branch, isEmptyTable, type Snapshot, tableGone } from '../../table/index.ts';
import {
  type Catalog,
  type NamedTable,
  requireBranch,
  requireIncarnation,
  requireTable,
  showId,
  storedTable,
  type Table,
  tableId,
} from './catalog.ts';
import { lanceHome, lanceVersion, lanceVersions } from './lance-tables.ts';
import { withoutVersion } from './without-version.ts';

/** What a request says of the version that it is for. */
export interface NamedVersion extends NamedTable {
  readonly branch?: string | undefined;
  readonly version?: number | undefined;
  readonly tag?: string | undefined;
}

/**
 * How far a target is looked up: its branch alone, for writes, which find the newest version themselves;
 * the version too where one is `named` by number or tag; or, as `version`, the newest where none is.
 */
export type Depth = 'branch' | 'named' | 'version';

export interface Target {
  readonly table: Table;
  readonly branch: Branch;
  /** Undefined where it was not looked up, and where the branch has none. */
  readonly snapshot: Snapshot | undefined;
}

/**
 * What a request means, with the table's record read anew.
 * @throws TableNotFound, TableBranchNotFound, TableTagNotFound, TableVersionNotFound, InvalidInput
 */
export async function resolveTarget(
  catalog: Catalog,
  named: NamedVersion,
  depth: Depth,
): Promise<Target> {
  refuseTwoNames(named);
  return targetIn(catalog, await requireTable(catalog, named), named, depth);
}

/** As resolveTarget, with one look at the record where it has not changed. */
export async function targetToRead(
  catalog: Catalog,
  named: NamedVersion,
  depth: Depth,
): Promise<Target> {
  refuseTwoNames(named);
  return targetIn(catalog, await tableToRead(catalog, named), named, depth);
}

/**
 * The version that a read is for; with three looks at the disk, and at once, where it is the newest of
 * main and the same as before. @throws InvalidTableState for a table without a version
 */
export function snapshotToRead(catalog: Catalog, named: NamedVersion): Awaitable<Snapshot> {
  if (!isVersionNamed(named)) {
    const { engine } = catalog;
    const unchanged = engine.heads.unchangedMain(engine.names.tableFolder(tableId(named.id)));
    const isWanted =
      named.incarnation === undefined || named.incarnation === unchanged?.branch.incarnation;
    if (unchanged !== undefined && isWanted) return unchanged;
  }
  return soughtSnapshot(catalog, named);
}

async function soughtSnapshot(catalog: Catalog, named: NamedVersion): Promise<Snapshot> {
  const { table, snapshot } = await resolveTarget(catalog, named, 'version');
  if (snapshot === undefined) throw await withoutVersion(catalog, table);
  return snapshot;
}

/** What DescribeTable needs of a table. */
export interface DescribedTarget {
  readonly table: Table;
  /** The version described; undefined where it was not asked for, and where there is none. */
  readonly snapshot: Snapshot | undefined;
  /**
   * The newest version of main, whose properties are the table's. Where it is damaged or lost, the
   * version described in its place: the properties are then those that the table had by then, and what
   * is sound can still be opened.
   */
  readonly newest: Snapshot | undefined;
}

/** With one look at the record, and three at the newest version, where both are unchanged. */
export async function describedTarget(
  catalog: Catalog,
  named: NamedVersion,
  depth: Depth,
): Promise<DescribedTarget> {
  if (!isVersionNamed(named)) {
    const table = await tableToRead(catalog, named);
    const newest = await newestOfMain(catalog, table);
    return { table, snapshot: newest, newest };
  }
  const { table, snapshot } = await targetToRead(catalog, named, depth);
  try {
    return { table, snapshot, newest: await newestOfMain(catalog, table) };
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt')) return { table, snapshot, newest: snapshot };
    throw error;
  }
}

/**
 * What a request means whose version was missed, where it is a version that others wrote.
 * @throws `error` where it is not
 */
export async function lanceTarget(
  catalog: Catalog,
  named: NamedVersion,
  error: unknown,
): Promise<DescribedTarget> {
  const { version, branch = MAIN_BRANCH, tag } = named;
  const isOfMain = version !== undefined && branch === MAIN_BRANCH && tag === undefined;
  if (!isOfMain || !isDirspaceError(error, 'TableVersionNotFound')) throw error;
  const table = await requireTable(catalog, named);
  const isOwn = (await newestOfMain(catalog, table)) !== undefined;
  // Places outside the root are not looked at here; opening the table shows what is there.
  const isAway = lanceHome(table) === undefined;
  const isThere = isAway || (await lanceVersion(catalog, table, version)) !== undefined;
  if (isOwn) throw error;
  if (isThere) return { table, snapshot: undefined, newest: undefined };
  const newest = (await lanceVersions(catalog, table)).at(-1)?.version;
  if (newest === undefined) throw error;
  throw new DirspaceError(
    'TableVersionNotFound',
    `Version ${version} of the table ${showId(table.id)} was not found; its newest is ${newest}. Versions that Lance has cleaned up cannot be read again.`,
    { details: { id: table.id, version } },
  );
}

/** The newest version of the main branch of a table that was found; undefined when there is none. */
export function newestOfMain(catalog: Catalog, table: Table): Awaitable<Snapshot | undefined> {
  const unchanged = catalog.engine.heads.unchangedMain(table.folder);
  // The table may have been made anew after its record was read, and read again by another request.
  return unchanged?.branch.incarnation === table.record.id
    ? unchanged
    : newestOf(catalog, storedTable(catalog, table).main);
}

/**
 * What an operation on something inside a table failed with, told as it is: the folder may have
 * vanished meanwhile, as another writer drops or moves the table; a branch, tag or version is missed
 * where another table has its name by then; and of a table without a version it is told why it has none.
 */
export async function failureWithin(
  catalog: Catalog,
  named: NamedTable,
  error: unknown,
): Promise<unknown> {
  const gone = tableGone(error);
  if (gone !== error || isMissed(error)) await requireTable(catalog, named);
  return isEmptyTable(error) ? withoutVersion(catalog, await requireTable(catalog, named)) : gone;
}

export const missingTag = (table: Table, tag: string): DirspaceError =>
  errorNaming(
    'TableTagNotFound',
    // Programs search for "does not exist", which LanceDB says.
    (show) =>
      `The tag ${tag} does not exist in table ${show(table.id)}. List its tags, or create it first.`,
    { details: { id: table.id, tag } },
  );

/** Whether something inside a table was missed, which is so as well when the table is another one. */
const isMissed = (error: unknown): boolean =>
  isDirspaceError(error, 'TableBranchNotFound', 'TableTagNotFound', 'TableVersionNotFound');

const isVersionNamed = ({ branch, version, tag }: NamedVersion): boolean =>
  branch !== undefined || version !== undefined || tag !== undefined;

/** @throws InvalidInput */
function refuseTwoNames({ branch, version, tag }: NamedVersion): void {
  if (tag === undefined || (version === undefined && branch === undefined)) return;
  throw new DirspaceError(
    'InvalidInput',
    `tag ${JSON.stringify(tag)} cannot be combined with ${version === undefined ? 'branch' : 'version'}: a tag names one version of one branch by itself.`,
  );
}

async function targetIn(
  catalog: Catalog,
  table: Table,
  named: NamedVersion,
  depth: Depth,
): Promise<Target> {
  try {
    return await meantIn(catalog, table, named, depth);
  } catch (error) {
    if (isMissed(error)) await requireTable(catalog, named);
    throw error;
  }
}

async function meantIn(
  catalog: Catalog,
  table: Table,
  named: NamedVersion,
  depth: Depth,
): Promise<Target> {
  const tagged = named.tag === undefined ? named : await storedTable(catalog, table).tag(named.tag);
  if (tagged === undefined) throw missingTag(table, named.tag as string);
  const branch = await requireBranch(catalog, table, tagged.branch);
  if (depth === 'branch') return { table, branch, snapshot: undefined };
  if (tagged.version !== undefined)
    return { table, branch, snapshot: await branch.snapshot(tagged.version) };
  if (depth === 'named') return { table, branch, snapshot: undefined };
  return { table, branch, snapshot: await newestOf(catalog, branch) };
}

/** Of a branch of a table whose record was read. */
async function newestOf({ engine }: Catalog, branch: Branch): Promise<Snapshot | undefined> {
  const head = await branch.head();
  if (head !== undefined) await engine.heads.noteMain(head);
  return head?.snapshot;
}

/** The table that a read is for. @throws TableNotFound */
function tableToRead(catalog: Catalog, named: NamedTable): Awaitable<Table> {
  const { heads, names } = catalog.engine;
  const id = tableId(named.id);
  const folder = names.tableFolder(id);
  const record = heads.unchangedRecord(folder);
  if (record === undefined) return soughtTable(catalog, folder, named);
  const table = { id, folder, record };
  requireIncarnation(table, named.incarnation);
  return table;
}

/** The table with its record read, and the record's file remembered. @throws TableNotFound */
async function soughtTable(catalog: Catalog, folder: string, named: NamedTable): Promise<Table> {
  const { heads } = catalog.engine;
  // Before the record is read: one that takes its place in between is not taken for it.
  const facts = heads.recordFacts(folder);
  const table = await requireTable(catalog, named);
  const known = heads.record(folder);
  // Another request may have read another record meanwhile. A young one is read again.
  if (facts?.settled === true && known?.record === table.record)
    heads.keepRecord(folder, { ...known, facts });
  return table;
}
