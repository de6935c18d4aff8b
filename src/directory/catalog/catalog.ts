/**
 * Defines `Catalog`, one open catalog with its store and engine, which every operation gets. Other
 * functions find the namespace, table or branch that a request names: those named `find...` and
 * `readTableRecord` return undefined if it is missing, and those named `require...` and
 * `readNamespace` throw the error that the caller gets, such as TableNotFound. `storedTable` gives
 * the versions, tags and branches of a table that was found, and `locationOf` the location of a
 * folder. `namespaceId` and `tableId` check ids, and `requireRoom` throws InvalidInput for an id
 * whose path would be too long. Every write starts with `beginWrite`, which throws ReadOnly for a
 * read-only catalog and sets up the root of a new one.
 */
import type { AllowedLocation } from '../../allowed-locations.ts';
import type { Env } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import {
  decodeNamespace,
  decodeTable,
  joinPath,
  MAIN_BRANCH,
  NAMESPACE_FILE,
  type NamespaceRecord,
  TABLE_FILE,
  type TableRecord,
} from '../../format/index.ts';
import type { LanceMode } from '../../lance-mode.ts';
import { checkPath, errorNaming, formatId, type ObjectPath } from '../../protocol/index.ts';
import type { Store } from '../../store/index.ts';
import {
  type Branch,
  type Engine,
  openTable,
  type StoredTable,
  tableMadeAnew,
} from '../../table/index.ts';

/** Asked for what `vend_credentials` wants; the local default vends none. */
export type CredentialVendor = (table: {
  readonly id: ObjectPath;
  readonly location: string;
}) => Promise<Readonly<Record<string, string>> | undefined>;

/** What the catalog's format file says; see catalog-root.ts. */
export interface CatalogFormat {
  /** Why nothing may be done but verify and repair; undefined where the catalog can be used. */
  readonly refusal: DirspaceError | undefined;
  /** What is wrong with the file now. */
  check(): Promise<DirspaceError | undefined>;
  /** What repair would write. */
  propose(): Promise<ProposedFormat>;
  /** Writes the file anew. */
  mend(foldsCase: boolean, managed: boolean, lance: LanceMode): Promise<void>;
}

export interface ProposedFormat {
  readonly foldsCase: boolean;
  /** Undefined where nothing tells it. */
  readonly managed: boolean | undefined;
  readonly lance: LanceMode;
}

export interface Catalog {
  readonly engine: Engine;
  readonly store: Store;
  readonly env: Env;
  /** What `location` starts with: the absolute path of the root, or the URI of a catalog in memory. */
  readonly root: string;
  readonly readOnly: boolean;
  readonly managedVersioning: boolean;
  readonly format: CatalogFormat;
  /** How long the trash keeps what was dropped, in milliseconds. */
  readonly trashRetention: number;
  /** Sets up the root on its first write: what the disk can do is found out and noted. */
  prepareRoot(): Promise<void>;
  readonly vendor: CredentialVendor | undefined;
  /** Where tables may lie outside the root. */
  readonly locations: readonly AllowedLocation[];
  /** An absolute path without symbolic links, as far as it is there. Throws what the file system throws. */
  realPath(path: string): string;
  /** What holds the files below a folder outside the root; undefined where the folder is not there. */
  openOutside(folder: string): Store | undefined;
}

export interface Table {
  readonly id: ObjectPath;
  readonly folder: string;
  readonly record: TableRecord;
}

export const showId = (id: ObjectPath): string => (id.length === 0 ? 'the root' : formatId(id));

/** The id of a namespace: the root if absent. @throws InvalidInput */
export function namespaceId(id: readonly string[] | undefined): ObjectPath {
  return checkPath(id ?? []);
}

/** The id of a table. @throws InvalidInput */
export function tableId(id: readonly string[] | undefined): ObjectPath {
  if (id === undefined || id.length === 0) {
    throw new DirspaceError(
      'InvalidInput',
      'The request names no table: its id must list the namespace parts and the table name.',
    );
  }
  return checkPath(id);
}

/** Every write operation starts with this. @throws ReadOnly */
export async function beginWrite(catalog: Catalog): Promise<void> {
  if (catalog.readOnly) {
    throw new DirspaceError(
      'ReadOnly',
      'The catalog was opened read-only; open it without readOnly to change it.',
    );
  }
  await catalog.prepareRoot();
}

/** Undefined when there is no such namespace. The root is always there. */
export async function findNamespace(
  catalog: Catalog,
  id: ObjectPath,
  isOftenMissing = false,
): Promise<NamespaceRecord | undefined> {
  if (id.length === 0) return { id: 'root', properties: {} };
  const folder = catalog.engine.names.namespaceFolder(id);
  if (!(await catalog.store.enter(folder, isOftenMissing))) return undefined;
  const file = joinPath(folder, NAMESPACE_FILE);
  const bytes = await catalog.store.get(file, true);
  return bytes === undefined ? undefined : decodeNamespace(bytes, file);
}

/** @throws NamespaceNotFound */
export async function readNamespace(catalog: Catalog, id: ObjectPath): Promise<NamespaceRecord> {
  return (await findNamespace(catalog, id)) ?? missingNamespace(id);
}

/** As readNamespace, for those who need only know that it is there. @throws NamespaceNotFound */
export async function requireNamespace(catalog: Catalog, id: ObjectPath): Promise<void> {
  if (id.length === 0) return;
  const folder = catalog.engine.names.namespaceFolder(id);
  if (!(await catalog.store.enter(folder))) missingNamespace(id);
  const marker = await catalog.store.head(joinPath(folder, NAMESPACE_FILE));
  if (marker === undefined) missingNamespace(id);
}

export function missingNamespace(id: ObjectPath): never {
  throw new DirspaceError(
    'NamespaceNotFound',
    `The namespace ${showId(id)} was not found. List the namespaces to see what is there; one is created after those it is in.`,
    { details: { id } },
  );
}

export async function findTable(catalog: Catalog, id: ObjectPath): Promise<Table | undefined> {
  const folder = catalog.engine.names.tableFolder(id);
  const record = await readTableRecord(catalog, folder);
  return record === undefined ? undefined : { id, folder, record };
}

export async function readTableRecord(
  catalog: Catalog,
  folder: string,
): Promise<TableRecord | undefined> {
  if (!(await catalog.store.enter(folder))) return undefined;
  const file = joinPath(folder, TABLE_FILE);
  const bytes = await catalog.store.get(file, true);
  if (bytes === undefined) return undefined;
  // Read every time, as the table may be another one by now; decoded only when it is.
  const { heads } = catalog.engine;
  const known = heads.record(folder);
  if (known !== undefined && Buffer.compare(known.bytes, bytes) === 0) return known.record;
  const record = decodeTable(bytes, file);
  heads.keepRecord(folder, { bytes, record, facts: undefined });
  return record;
}

/** What a request says of the table that it is for. */
export interface NamedTable {
  readonly id?: readonly string[] | undefined;
  /** Whichever table has the name, if absent. */
  readonly incarnation?: string | undefined;
}

/** @throws TableNotFound, also where another incarnation than the one asked for has the name */
export async function requireTable(
  catalog: Catalog,
  { id, incarnation }: NamedTable,
): Promise<Table> {
  const path = tableId(id);
  const table = await findTable(catalog, path);
  if (table !== undefined) {
    requireIncarnation(table, incarnation);
    return table;
  }
  const namespace = path.slice(0, -1);
  const known = (await findNamespace(catalog, namespace)) !== undefined;
  throw errorNaming(
    'TableNotFound',
    (show) =>
      `The table ${show(path)} was not found${known ? '' : `, nor was the namespace ${show(namespace)}`}. List the tables to see what is there.`,
    { details: { id: path } },
  );
}

/**
 * For answers that are made of several looks.
 * @throws TableNotFound where the table left its name between them
 */
export async function requireStill(catalog: Catalog, { id, record }: Table): Promise<void> {
  await requireTable(catalog, { id, incarnation: record.id });
}

/** Any table will do where the request names no incarnation. @throws TableNotFound */
export function requireIncarnation({ id, record }: Table, wanted: string | undefined): void {
  if (wanted !== undefined && wanted !== record.id) throw tableMadeAnew(wanted, record.id, id);
}

/** The versions, tags and branches of a table that was found. */
export const storedTable = ({ engine }: Catalog, { folder, record }: Table): StoredTable =>
  openTable(engine, folder, record.id);

/** Once a table has another place: what tells other programs of its place follows. Never rejects. */
export async function followMove(catalog: Catalog, id: ObjectPath): Promise<void> {
  try {
    const table = await findTable(catalog, id);
    if (table !== undefined) await storedTable(catalog, table).moved();
  } catch {
    // The table has moved, whatever its record says of it.
  }
}

/** The branch a request names, main if absent. @throws TableBranchNotFound */
export async function requireBranch(
  catalog: Catalog,
  table: Table,
  name: string = MAIN_BRANCH,
): Promise<Branch> {
  const stored = storedTable(catalog, table);
  const branch = name === MAIN_BRANCH ? stored.main : await stored.branch(name);
  if (branch === undefined) throw missingBranch(table, name);
  return branch;
}

export const missingBranch = (table: Table, name: string): DirspaceError =>
  errorNaming(
    'TableBranchNotFound',
    (show) =>
      `The table ${show(table.id)} has no branch ${name}. List its branches, or create it first.`,
    { details: { id: table.id, branch: name } },
  );

/** The root of a file system ends in the slash that others are followed by. */
export const locationOf = ({ root }: Catalog, folder: string): string =>
  root.endsWith('/') ? root + folder : `${root}/${folder}`;

const LONGEST_PATH = process.platform === 'darwin' ? 1_024 : 4_096;
/** Bytes for the engine's own names below a table's or namespace's folder, temporary ones too. */
const ROOM_WITHIN = 160;

/**
 * A folder can be renamed to a place where nothing in it could be reached, so this is asked before.
 * @throws InvalidInput
 */
export function requireRoom(catalog: Catalog, id: ObjectPath, folder: string): void {
  const bytes = Buffer.byteLength(locationOf(catalog, folder));
  if (bytes + ROOM_WITHIN < LONGEST_PATH) return;
  throw new DirspaceError(
    'InvalidInput',
    `${showId(id).slice(0, 80)}... needs a path of ${bytes} bytes; less than ${LONGEST_PATH - ROOM_WITHIN} are possible. Nest less deeply, or choose shorter names.`,
    { details: { depth: id.length, bytes } },
  );
}
