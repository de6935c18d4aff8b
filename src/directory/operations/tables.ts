/**
 * Drops, renames, deregisters and registers tables as entries of the catalog (`dropTable`,
 * `renameTable`, `deregisterTable`, `registerTable`). The table's folder is moved by a rename: that
 * of a dropped table to the trash, and that of a deregistered one to `.dirspace/detached`. A table
 * outside the root is not moved when it is registered: it gets a new entry, and none of its files
 * is read. A missing table throws TableNotFound, and a location without a table InvalidInput. A
 * name that is taken throws TableAlreadyExists; only registering in mode overwrite replaces the
 * table that has it. list-tables.ts lists tables.
 */
import { outsideLocation } from '../../allowed-locations.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  DETACHED_FOLDER,
  detachedFolder,
  encodeTable,
  isOutside,
  isReservedFolder,
  joinPath,
  parentFolder,
  ROOT_TABLES_FOLDER,
  TABLE_FILE,
  type TableRecord,
  trashRecordFile,
} from '../../format/index.ts';
import {
  type DeregisterTableRequest,
  type DeregisterTableResponse,
  type DropTableRequest,
  type DropTableResponse,
  type ObjectPath,
  parseMode,
  REGISTER_MODES,
  type RegisterTableRequest,
  type RegisterTableResponse,
  type RenameTableRequest,
  type RenameTableResponse,
  renameTarget,
} from '../../protocol/index.ts';
import { openTable, stageDeclared } from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  findTable,
  folderAt,
  followMove,
  isFence,
  locationOf,
  missingNamespace,
  moveToPlace,
  namespaceHasName,
  namespaceInTheWay,
  numberedAnew,
  placeOf,
  prepareTrash,
  readTableRecord,
  recordDetached,
  refuseNamespaceOfThatName,
  replaceFolder,
  requireNamespace,
  requireRoom,
  requireTable,
  settleDrop,
  showId,
  type Table,
  tableExists,
  tableId,
  tableIdAt,
  tablePlaceTaken,
} from '../catalog/index.ts';
import { placeTable } from './place-table.ts';
import { propertiesAt, readableProperties } from './table-properties.ts';

/** Moves the table to the trash, from where undropTable brings it back. @throws TableNotFound */
export async function dropTable(
  catalog: Catalog,
  request: DropTableRequest,
): Promise<DropTableResponse> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request);
  const properties = await readableProperties(catalog, table);
  const first = await prepareTrash(catalog, 'table', table.id);
  await moveAway(catalog, table, first);
  const moved = await incarnationIn(catalog, first);
  const trash = await numberedAnew(catalog, first, table.record.id, moved, 'table', table.id);
  const location = await placeOf(catalog, table);
  await settleDrop(catalog, trash);
  return entryAnswer(table, location, properties);
}

/**
 * Takes the table out of the catalog and keeps its files; `location` says where they are now, and
 * RegisterTable takes it as it is. `context.relative_location` is the same place relative to the
 * root. @throws TableNotFound
 */
export async function deregisterTable(
  catalog: Catalog,
  request: DeregisterTableRequest,
): Promise<DeregisterTableResponse> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request);
  const properties = await readableProperties(catalog, table);
  const aside = detachedFolder(catalog.env.uuid());
  const { location } = table.record;
  const isOwn = location === undefined || (await isFence(catalog, location)) === 'rows';
  await recordDetached(catalog, aside, table.id);
  try {
    await moveAway(catalog, table, aside);
  } catch (error) {
    if (isDirspaceError(error, 'TableNotFound')) await catalog.store.delete(trashRecordFile(aside));
    throw error;
  }
  // What others write stays where it is.
  const place = isOwn ? aside : location;
  return {
    ...entryAnswer(table, isOutside(place) ? place : locationOf(catalog, place), properties),
    context: { relative_location: place },
  };
}

/**
 * Puts a table folder that lies somewhere inside the root into its place in the tree, or makes an
 * entry for an allowed location outside it. @throws InvalidInput for any other location outside the
 * root, and for a folder without a table
 */
export async function registerTable(
  catalog: Catalog,
  request: RegisterTableRequest,
): Promise<RegisterTableResponse> {
  await beginWrite(catalog);
  const id = tableId(request.id);
  const mode = parseMode(request.mode, REGISTER_MODES);
  const outside = outsideLocation(catalog.locations, request.location, catalog.realPath);
  if (outside !== undefined) return registerOutside(catalog, id, outside, request);
  const location = await registeredFolder(catalog, folderAt(catalog, request.location));
  await requireNamespace(catalog, id.slice(0, -1));
  await refuseNamespaceOfThatName(catalog, id);
  const record = await readTableRecord(catalog, location);
  if (record === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `There is no table at ${location}: a table's folder holds the file ${TABLE_FILE}.`,
    );
  }
  refuseRegistered(catalog, location);
  const newest = await openTable(catalog.engine, location, record.id).main.head();
  const properties = { ...propertiesAt({ record }, newest?.snapshot), ...request.properties };
  const existing = await findTable(catalog, id);
  if (existing !== undefined && mode === 'Create') throw tableExists(id);
  const place = catalog.engine.names.tableFolder(id);
  requireRoom(catalog, id, place);
  const isChanged = Object.keys(request.properties ?? {}).length > 0;
  const changed = encodeTable({ ...record, properties, since: newest?.slot });
  if (isChanged) await catalog.store.put(joinPath(location, TABLE_FILE), changed);
  try {
    const isReplaced =
      existing !== undefined &&
      (await replaceFolder(catalog, { kind: 'table', id, place, staging: location }));
    if (!isReplaced) await moveInto(catalog, id, location, place);
  } catch (error) {
    const isRefused = isDirspaceError(error) && error.code !== 'CommitStateUnknown';
    if (isChanged && isRefused) await resetRecord(catalog, location, changed, record);
    throw error;
  }
  // Its record was of the time in which it had no name.
  if (parentFolder(location) === DETACHED_FOLDER) {
    await catalog.store.delete(trashRecordFile(location));
  }
  const answered = await placeOf(catalog, { id, folder: place, record });
  return { location: answered, incarnation: record.id, properties };
}

/** Takes the change of a record back, if the table still lies there and nobody changed it again. */
async function resetRecord(
  catalog: Catalog,
  folder: string,
  changed: Uint8Array,
  record: TableRecord,
): Promise<void> {
  const path = joinPath(folder, TABLE_FILE);
  const found = await catalog.store.get(path);
  if (found === undefined || Buffer.compare(found, changed) !== 0) return;
  await catalog.store.put(path, encodeTable(record));
}

/** A new entry for a table whose rows lie outside the root, where nothing is looked at. */
async function registerOutside(
  catalog: Catalog,
  id: ObjectPath,
  location: string,
  { mode, properties = {} }: RegisterTableRequest,
): Promise<RegisterTableResponse> {
  const { engine, env, store } = catalog;
  await requireNamespace(catalog, id.slice(0, -1));
  await refuseNamespaceOfThatName(catalog, id);
  const place = engine.names.tableFolder(id);
  requireRoom(catalog, id, place);
  const existing = await findTable(catalog, id);
  if (existing !== undefined && parseMode(mode, REGISTER_MODES) === 'Create') throw tableExists(id);
  const record = { id: env.uuid(), createdAt: env.now(), properties, location };
  const staging = await stageDeclared(engine, record);
  const isReplaced =
    existing !== undefined && (await replaceFolder(catalog, { kind: 'table', id, place, staging }));
  if (!isReplaced && (await placeTable(catalog, id, staging, 0)) === 'taken') {
    await store.deleteFolder(staging);
    throw await tablePlaceTaken(catalog, id, tableExists(id));
  }
  return { location, incarnation: record.id, properties: { ...properties } };
}

/** The folder of the table that was deregistered and has its rows at the reserved place given. */
async function registeredFolder(catalog: Catalog, given: string): Promise<string> {
  if (!isReservedFolder(given)) return given;
  for (const { name, kind } of (await catalog.store.list(DETACHED_FOLDER)) ?? []) {
    if (kind !== 'folder') continue;
    const folder = joinPath(DETACHED_FOLDER, name);
    if ((await readTableRecord(catalog, folder))?.location === given) return folder;
  }
  throw new DirspaceError(
    'InvalidInput',
    `No table was deregistered from ${given}: a place there is of one table, which has a name, is in the trash, or was removed.`,
    { details: { member: 'location' } },
  );
}

/** Renames the table, also into another namespace. @throws TableAlreadyExists, NamespaceNotFound */
export async function renameTable(
  catalog: Catalog,
  request: RenameTableRequest,
): Promise<RenameTableResponse> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request);
  const namespace = renameTarget(request) ?? table.id.slice(0, -1);
  const target = tableId([...namespace, request.new_table_name]);
  await requireNamespace(catalog, target.slice(0, -1));
  await refuseNamespaceOfThatName(catalog, target);
  await moveInto(catalog, target, table.folder, catalog.engine.names.tableFolder(target));
  return {};
}

async function moveInto(
  catalog: Catalog,
  id: ObjectPath,
  from: string,
  place: string,
): Promise<void> {
  if (from === place) throw nameTaken(id);
  if (id.length === 1) await catalog.store.createFolder(ROOT_TABLES_FOLDER);
  requireRoom(catalog, id, place);
  const outcome = await moveToPlace(catalog, id, from, place);
  if (outcome === 'taken') throw await tablePlaceTaken(catalog, id, nameTaken(id));
  if (outcome === 'missing') {
    if (await catalog.store.enter(from)) missingNamespace(id.slice(0, -1));
    throw new DirspaceError(
      'TableNotFound',
      'Another writer moved or dropped the table. Look for it again.',
    );
  }
  if (!(await namespaceHasName(catalog, id))) return followMove(catalog, id);
  await catalog.store.moveFolder(place, from);
  throw namespaceInTheWay(id);
}

const nameTaken = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'TableAlreadyExists',
    `The table ${showId(id)} already exists. Choose another name, or drop or rename that table first.`,
    { details: { id } },
  );

async function moveAway(catalog: Catalog, table: Table, place: string): Promise<void> {
  if ((await catalog.store.moveFolder(table.folder, place)) === 'moved') return;
  throw new DirspaceError(
    'TableNotFound',
    `Another writer moved or dropped the table ${showId(table.id)}. Look for it again.`,
    { details: { id: table.id } },
  );
}

/** Of a table that was moved; undefined where nothing tells. Never fails. */
async function incarnationIn(catalog: Catalog, folder: string): Promise<string | undefined> {
  try {
    return (await readTableRecord(catalog, folder))?.id;
  } catch {
    return undefined;
  }
}

const entryAnswer = (
  table: Table,
  location: string,
  properties: Record<string, string>,
): DropTableResponse => ({ id: [...table.id], location, properties });

/** A folder that is in the tree already is a table under its own name. */
function refuseRegistered(catalog: Catalog, location: string): void {
  const id = tableIdAt(catalog, location);
  if (id === undefined) return;
  throw new DirspaceError(
    'InvalidInput',
    `The location ${location} is the table ${showId(id)} already. Rename that table instead.`,
    { details: { id } },
  );
}
