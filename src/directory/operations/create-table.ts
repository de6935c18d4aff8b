/**
 * Carries out CreateTable, DeclareTable and CloneTable (`createTable`, `declareTable`,
 * `cloneTable`). A new table is built in the staging folder and renamed to its place
 * (place-table.ts), so readers see all of it or nothing. CreateTable can overwrite an existing
 * table or fill a declared one: its rows are committed as a new version. Otherwise a taken name
 * throws TableAlreadyExists, unless the mode is exist_ok. A table declared without a location gets
 * a folder where other programs may write it. A given location must be the place of its name, or an
 * allowed one outside the root; any other throws InvalidInput, and so do storage options of
 * CreateTable. A clone has the content of one version of another table, without its history, tags
 * and branches.
 */

import { outsideLocation } from '../../allowed-locations.ts';
import type { ArrowBody, RecordBatchStream } from '../../arrow/index.ts';
import { compressionProperty, DEFAULT_COMPRESSION } from '../../compression.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  joinPath,
  lanceTableOf,
  type Properties,
  reservedFolder,
  TABLE_FILE,
  type TableRecord,
} from '../../format/index.ts';
import { lanceProperty } from '../../lance-mode.ts';
import {
  type CallOptions,
  type CloneTableRequest,
  type CloneTableResponse,
  CREATE_MODES,
  type CreateMode,
  type CreateTableRequest,
  type CreateTableResponse,
  type DeclareTableRequest,
  type DeclareTableResponse,
  type ObjectPath,
  parseMode,
} from '../../protocol/index.ts';
import {
  type Committed,
  openTable,
  query,
  type Snapshot,
  type StagedTable,
  stageClone,
  stageDeclared,
  stageTable,
} from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  claimForRows,
  failureWithin,
  findTable,
  folderAt,
  isOnlyDeclared,
  lancePlace,
  locationOf,
  newestOfMain,
  refuseNamespaceOfThatName,
  refuseStorage,
  requireNamespace,
  requireRoom,
  requireTable,
  showId,
  snapshotToRead,
  storedTable,
  type Table,
  tableExists,
  tableId,
  tableIdAt,
  tablePlace,
  tablePlaceTaken,
} from '../catalog/index.ts';
import { withRows } from './arrow-body.ts';
import { vendedOptions } from './credentials.ts';
import { placeTable } from './place-table.ts';
import { repeatedCommit, writeOptions } from './rows.ts';
import { propertiesAt } from './table-properties.ts';

/** Rows can be read once. */
interface GivenRows {
  readonly data: ArrowBody;
  areTaken: boolean;
}

/** How often others may take the name and leave it again before a creator gives up. */
const MOST_ATTEMPTS = 64;

/** @throws NamespaceNotFound, TableAlreadyExists, TableSchemaValidation */
export async function createTable(
  catalog: Catalog,
  request: CreateTableRequest,
  data: ArrowBody,
  options: CallOptions = {},
): Promise<CreateTableResponse> {
  await beginWrite(catalog);
  refuseStorageOptions(request.storage_options);
  const id = tableId(request.id);
  const mode = parseMode(request.mode, CREATE_MODES);
  await refuseNamespaceOfThatName(catalog, id);
  await requireNamespace(catalog, id.slice(0, -1));
  const given: GivenRows = { data, areTaken: false };
  for (let attempt = 1; ; attempt++) {
    const existing = await findIfThere(catalog, id);
    if (existing === undefined) break;
    const repeated = await repeatedCommit(catalog, existing, options);
    if (repeated !== undefined)
      return committedAnswer(catalog, existing, repeated, repeated.manifest.transaction);
    try {
      return await fillTable(catalog, existing, mode, request.properties, given, options);
    } catch (error) {
      // Dropped since it was found: the name is free again, and no row was asked for yet.
      const isFree = isDirspaceError(error, 'TableNotFound') && !given.areTaken;
      if (!isFree || attempt === MOST_ATTEMPTS) throw error;
    }
  }
  requireRoom(catalog, id, catalog.engine.names.tableFolder(id));

  const staged = await withRows(catalog, data, (stream) =>
    stageNew(catalog, request.properties, stream, options),
  );
  for (let attempt = 1; ; attempt++) {
    const outcome = await placeTable(catalog, id, staged.folder, 1);
    if (outcome === 'placed') {
      catalog.engine.counters.commits++;
      return createdAnswer(catalog, id, staged);
    }
    // Another creator was faster; the data is in staging, so it can still be used.
    const winner = await findTable(catalog, id);
    let isFree =
      winner === undefined && !(await catalog.store.enter(catalog.engine.names.tableFolder(id)));
    if (isFree && attempt < MOST_ATTEMPTS) continue;
    try {
      if (winner === undefined) throw await tablePlaceTaken(catalog, id, tableExists(id));
      const rows: GivenRows = { data: await stagedRows(catalog, staged), areTaken: false };
      return await fillTable(catalog, winner, mode, request.properties, rows, options);
    } catch (error) {
      // Dropped since it was found, and before it had a row: the name is free again.
      isFree = isDirspaceError(error, 'TableNotFound') && attempt < MOST_ATTEMPTS;
      if (!isFree) throw error;
    } finally {
      if (!isFree) await catalog.store.deleteFolder(staged.folder);
    }
  }
}

/** Builds a new table with its first version in the staging folder. */
function stageNew(
  catalog: Catalog,
  properties: Properties = {},
  stream: RecordBatchStream,
  options: CallOptions,
): Promise<StagedTable> {
  const record = newRecord(catalog, properties);
  const write = writeOptions({ incarnation: record.id }, options);
  return stageTable(catalog.engine, record, stream, write);
}

/** As `findTable`, for a table that is most likely not there: a look costs less than a miss. */
async function findIfThere(catalog: Catalog, id: ObjectPath): Promise<Table | undefined> {
  const record = joinPath(catalog.engine.names.tableFolder(id), TABLE_FILE);
  return (await catalog.store.head(record)) === undefined ? undefined : findTable(catalog, id);
}

/**
 * A location must be an allowed one outside the root, or the place that the table's name gives.
 * @throws NamespaceNotFound, TableAlreadyExists, InvalidInput
 */
export async function declareTable(
  catalog: Catalog,
  request: DeclareTableRequest,
  incarnation?: string,
): Promise<DeclareTableResponse> {
  await beginWrite(catalog);
  const id = tableId(request.id);
  const folder = catalog.engine.names.tableFolder(id);
  const outside =
    request.location === undefined
      ? undefined
      : outsideLocation(catalog.locations, request.location, catalog.realPath);
  if (request.location !== undefined && outside === undefined)
    refuseOtherPlace(catalog, id, folder, request.location);
  await requireNamespace(catalog, id.slice(0, -1));
  await refuseNamespaceOfThatName(catalog, id);
  if ((await findTable(catalog, id)) !== undefined) throw tableExists(id);
  requireRoom(catalog, id, folder);
  lanceProperty(request.properties ?? {});
  compressionProperty(request.properties ?? {});
  const made = newRecord(catalog, request.properties ?? {}, incarnation);
  const location = request.location === undefined ? reservedFolder(made.id) : outside;
  const record = location === undefined ? made : { ...made, location };
  const staging = await stageDeclared(catalog.engine, record);
  if ((await placeTable(catalog, id, staging, 0)) === 'taken') {
    await catalog.store.deleteFolder(staging);
    throw await tablePlaceTaken(catalog, id, tableExists(id));
  }
  const place = lancePlace(catalog, { id, folder, record });
  return {
    location: place,
    incarnation: record.id,
    properties: { ...record.properties },
    managed_versioning: catalog.managedVersioning && outside === undefined,
    ...(await vendedOptions(catalog, id, place, request.vend_credentials)),
  };
}

/**
 * A location may repeat the place that the table's name says, in any spelling: what programs of others
 * write then lies there, and moves with the name.
 */
function refuseOtherPlace(
  catalog: Catalog,
  id: ObjectPath,
  folder: string,
  location: string,
): void {
  const given = folderAt(catalog, location);
  if (given === folder) return;
  const other = tableIdAt(catalog, given);
  const whose = other === undefined ? '' : `, which is the place of the table ${showId(other)}`;
  throw new DirspaceError(
    'InvalidInput',
    `A table lies where its name says: ${showId(id)} at ${folder}, not at ${given}${whose}. Leave location out, or register a folder that is there already.`,
    { details: { member: 'location', folder } },
  );
}

/**
 * Writes into a table that is there: its first version if it is only declared. Properties given
 * join those of a declaration, and replace those of a table that is overwritten.
 */
async function fillTable(
  catalog: Catalog,
  table: Table,
  mode: CreateMode,
  properties: Properties | undefined,
  given: GivenRows,
  options: CallOptions,
): Promise<CreateTableResponse> {
  const stored = storedTable(catalog, table);
  const newest = await newestOfMain(catalog, table);
  if (newest !== undefined && mode === 'ExistOk') return existingAnswer(catalog, table);
  if (newest !== undefined && mode === 'Create') throw tableExists(table.id);
  if (newest === undefined) {
    if (mode === 'ExistOk' && !(await isOnlyDeclared(catalog, table)))
      return existingAnswer(catalog, table);
    await refuseStorage(catalog, table, mode);
  }
  if (newest === undefined) await stored.requireVersionsFolder();
  let committed: Committed;
  try {
    given.areTaken = true;
    committed = await withRows(catalog, given.data, (stream) =>
      stored.main.overwrite(newest, stream, {
        ...writeOptions(stored, options),
        lance: lanceProperty({
          // Of a table that has versions, they say what was last asked for.
          ...(newest === undefined ? table.record.properties : {}),
          ...properties,
        }),
        // Properties that are replaced say it anew, or nothing.
        compression:
          properties === undefined
            ? undefined
            : (compressionProperty({
                ...(newest === undefined ? table.record.properties : {}),
                ...properties,
              }) ?? DEFAULT_COMPRESSION),
        // Once more, right before the version is published: another program may write there as well.
        beforeFirst: () => claimForRows(catalog, table, mode),
        ...(mode === 'Overwrite' ? {} : { onlyFirst: () => tableExists(table.id) }),
        ...(properties === undefined
          ? {}
          : {
              properties: (first) =>
                first ? { ...table.record.properties, ...properties } : properties,
            }),
      }),
    );
  } catch (error) {
    if (mode !== 'ExistOk' || !isDirspaceError(error, 'TableAlreadyExists')) throw error;
    return existingAnswer(catalog, table);
  }
  return committedAnswer(catalog, table, committed.snapshot, committed.transaction);
}

const committedAnswer = (
  catalog: Catalog,
  table: Table,
  snapshot: Snapshot,
  transaction: string | undefined,
): CreateTableResponse => ({
  location: locationOf(catalog, table.folder),
  incarnation: table.record.id,
  version: snapshot.version,
  properties: propertiesAt(table, snapshot),
  ...(transaction === undefined ? {} : { transaction_id: transaction }),
});

const newRecord = (
  catalog: Catalog,
  properties: Readonly<Record<string, string>>,
  id: string = catalog.env.uuid(),
): TableRecord => ({ id, createdAt: catalog.env.now(), properties });

async function stagedRows(catalog: Catalog, staged: StagedTable): Promise<RecordBatchStream> {
  const { main } = openTable(catalog.engine, staged.folder, staged.record.id);
  const newest = await main.newest();
  if (newest === undefined) throw new DirspaceError('Internal', 'The staged table has no version.');
  return query(catalog.engine, newest, {});
}

const createdAnswer = (
  catalog: Catalog,
  id: ObjectPath,
  staged: StagedTable,
): CreateTableResponse => ({
  location: locationOf(catalog, catalog.engine.names.tableFolder(id)),
  incarnation: staged.record.id,
  version: 1,
  properties: { ...staged.record.properties },
  transaction_id: staged.transaction,
});

async function existingAnswer(catalog: Catalog, table: Table): Promise<CreateTableResponse> {
  const newest = await newestOfMain(catalog, table);
  return {
    location: tablePlace(catalog, table, newest !== undefined),
    incarnation: table.record.id,
    properties: propertiesAt(table, newest),
    ...(newest === undefined ? {} : { version: newest.version }),
  };
}

function refuseStorageOptions(options: Readonly<Record<string, string>> | undefined): void {
  const names = Object.keys(options ?? {});
  if (names.length === 0) return;
  throw new DirspaceError(
    'InvalidInput',
    `A directory catalog takes no storage options, and was given ${names.join(', ')}. Leave storage_options out.`,
  );
}

/** @throws TableNotFound, TableVersionNotFound, TableAlreadyExists, NamespaceNotFound, InvalidInput */
export async function cloneTable(
  catalog: Catalog,
  request: CloneTableRequest,
  options: CallOptions = {},
): Promise<CloneTableResponse> {
  await beginWrite(catalog);
  const { engine, env, store } = catalog;
  const id = tableId(request.id);
  const source = sourceOf(catalog, request);
  await requireNamespace(catalog, id.slice(0, -1));
  await refuseNamespaceOfThatName(catalog, id);
  const taken = tableExists(id, 'Choose another name for the clone, or drop it first.');
  if ((await findTable(catalog, id)) !== undefined) throw taken;
  requireRoom(catalog, id, engine.names.tableFolder(id));
  const { source_branch: branch, source_version: version, source_tag: tag } = request;
  const named = { id: source, branch, version, tag };
  try {
    const snapshot = await snapshotToRead(catalog, named);
    const table = await requireTable(catalog, named);
    const given = propertiesAt(table, await newestOfMain(catalog, table));
    const properties = { ...given, ...request.properties };
    lanceProperty(properties);
    compressionProperty(properties);
    const record = { id: env.uuid(), createdAt: env.now(), properties };
    const staged = await stageClone(engine, record, snapshot, {
      ...writeOptions({ incarnation: record.id }, options),
      copies: request.is_shallow === false,
    });
    if ((await placeTable(catalog, id, staged.folder, 1)) === 'taken') {
      await store.deleteFolder(staged.folder);
      throw await tablePlaceTaken(catalog, id, taken);
    }
    engine.counters.commits++;
    return {
      location: locationOf(catalog, engine.names.tableFolder(id)),
      incarnation: record.id,
      version: 1,
      transaction_id: staged.transaction,
      source_version: snapshot.version,
    };
  } catch (error) {
    throw await failureWithin(catalog, named, error);
  }
}

/** The table that is cloned, by its id or by where it lies. */
function sourceOf(
  catalog: Catalog,
  { source_id, source_location: location }: CloneTableRequest,
): ObjectPath {
  if ((source_id === undefined) === (location === undefined)) {
    throw new DirspaceError(
      'InvalidInput',
      'A clone needs the table that it is of: give source_id or source_location, and not both.',
      { details: { member: 'source_id' } },
    );
  }
  if (location === undefined) return tableId(source_id);
  const folder = folderAt(catalog, location);
  const name = lanceTableOf(folder);
  const found = name === undefined ? tableIdAt(catalog, folder) : tableId([name]);
  if (found !== undefined) return found;
  throw new DirspaceError(
    'InvalidInput',
    `${location} is no place of a table in this catalog. Give the location that describeTable tells, or source_id.`,
    { details: { member: 'source_location' } },
  );
}
