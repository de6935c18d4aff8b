/**
 * Carries out the operations that describe a table. `describeTable` returns the members that the
 * request asks for, of a table or of one version. For tables that other programs write, the details
 * come from Lance's manifest. `tableExists` carries out TableExists: it throws if the table or the
 * version is missing. `listTableFiles` lists the files with the rows of a version, in pages of at
 * most 10,000 fragments; a page token of another version throws InvalidInput.
 */
import { pathToFileURL } from 'node:url';
import { describeType, type Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { frozen, isOutside, MAIN_BRANCH } from '../../format/index.ts';
import { prepareSchema } from '../../ipc/index.ts';
import type {
  CallOptions,
  DescribeTableRequest,
  DescribeTableResponse,
  LanceOpening,
  ListedColumn,
  ListedFragment,
  ListTableFilesRequest,
  ListTableFilesResponse,
  MaterializedViewInfo,
  TableExistsRequest,
} from '../../protocol/index.ts';
import {
  type FragmentFiles,
  lagByPath,
  lanceProblem,
  listFiles,
  prepareReads,
  type Snapshot,
  type StoredColumn,
} from '../../table/index.ts';
import {
  type Catalog,
  describedTarget,
  isOnlyDeclared,
  lanceTarget,
  liesOutside,
  locationOf,
  pageStart,
  pageToken,
  snapshotToRead,
  storedTable,
  tablePlace,
  targetToRead,
} from '../catalog/index.ts';
import { vendedOptions } from './credentials.ts';
import { propertiesAt } from './table-properties.ts';
import { lanceDetails } from './versions/index.ts';

/**
 * A table without a version is only declared where no files of a table are in its folder either.
 * Without `load_detailed_metadata` (left out or false) the answer has location, properties and
 * managed_versioning; with it also what the version described holds. A table that is only declared
 * answers what it has.
 * @throws InvalidInput when tag comes with version or branch
 */
export async function describeTable(
  catalog: Catalog,
  request: DescribeTableRequest,
  options: CallOptions = {},
): Promise<DescribeTableResponse> {
  const detailed = request.load_detailed_metadata === true;
  // The newest version of a branch is looked up only where something of it is asked for.
  const depth = detailed || request.check_declared === true ? 'version' : 'named';
  const found = await describedTarget(catalog, request, depth).catch((error: unknown) =>
    lanceTarget(catalog, request, error),
  );
  const { table, snapshot, newest } = found;
  const location =
    options.forLance === true && newest !== undefined
      ? locationOf(catalog, await storedTable(catalog, table).main.placeForClients(newest))
      : tablePlace(catalog, table, newest !== undefined);
  const isAway = liesOutside(catalog, location);
  const isLance = newest === undefined && detailed;
  // What a table is opened with.
  const isHead = request.tag === undefined && request.version === undefined;
  if (detailed && isHead && snapshot !== undefined) await prepareReads(catalog.engine, snapshot);
  return {
    location,
    properties: propertiesAt(table, newest),
    managed_versioning:
      (catalog.managedVersioning && !isAway) ||
      // Also of those that Lance cannot read: a client of it then fails before it writes among our files.
      (options.forLance === true && newest !== undefined),
    ...(request.with_table_uri === true
      ? { table_uri: isOutside(location) ? location : pathToFileURL(location).href }
      : {}),
    // Outside of the root nothing is looked at.
    ...((request.check_declared === true || detailed) && !isAway
      ? { is_only_declared: snapshot === undefined && (await isOnlyDeclared(catalog, table)) }
      : {}),
    ...(detailed
      ? {
          table: table.id.at(-1) ?? '',
          namespace: table.id.slice(0, -1),
          incarnation: table.record.id,
        }
      : {}),
    ...(detailed && snapshot !== undefined ? detailsOf(snapshot) : {}),
    ...(detailed && snapshot?.manifest.lance === true && options.withoutLance !== true
      ? { lance: await lanceOpening(catalog, snapshot, isHead) }
      : {}),
    ...(isLance ? await lanceDetails(catalog, table, request.version) : {}),
    ...(await vendedOptions(catalog, table.id, location, request.vend_credentials)),
  };
}

/** @param isHead whether the version is the newest of its branch */
async function lanceOpening(
  catalog: Catalog,
  snapshot: Snapshot,
  isHead: boolean,
): Promise<LanceOpening> {
  const reason = await lanceProblem(snapshot);
  if (reason !== undefined) return { opens: false, reason };
  const lag = isHead ? await lagByPath(catalog.engine, snapshot) : undefined;
  return { opens: true, ...(lag === undefined ? {} : { by_path: lag }) };
}

function detailsOf(snapshot: Snapshot): Partial<DescribeTableResponse> {
  const { manifest } = snapshot;
  return {
    version: manifest.version,
    // It is the version's own, and later commits are built from it: no caller may change it.
    schema: frozen(manifest.schema),
    metadata: { ...manifest.metadata },
    stats: {
      num_deleted_rows: manifest.totals.deletedRows,
      num_fragments: manifest.totals.fragments,
    },
    ...viewInfo(snapshot),
  };
}

/** What DescribeTable tells of a view. */
function viewInfo({ manifest }: Snapshot): { materialized_view?: MaterializedViewInfo } {
  const { view } = manifest;
  if (view === undefined) return {};
  return {
    materialized_view: {
      source: [...view.source],
      columns: view.columns.map((pair) => [...pair]),
      inputs: [...view.inputs],
      ...(view.filter === undefined ? {} : { filter: view.filter }),
      ...(view.limit === undefined ? {} : { limit: view.limit }),
      ...(view.of === undefined ? {} : { source_version: view.of.version }),
    },
  };
}

/** @throws TableNotFound, TableVersionNotFound */
export async function tableExists(catalog: Catalog, request: TableExistsRequest): Promise<void> {
  const { id, incarnation, version } = request;
  const named = { id, incarnation, version };
  await targetToRead(catalog, named, 'named').catch((error: unknown) =>
    lanceTarget(catalog, named, error),
  );
}

/** Fragments of a page, at most. */
const MOST_FRAGMENTS = 10_000;

/** @throws InvalidInput for a page token of another version */
export async function listTableFiles(
  catalog: Catalog,
  request: ListTableFilesRequest,
  options: CallOptions = {},
): Promise<ListTableFilesResponse> {
  const { limit = MOST_FRAGMENTS } = request;
  const snapshot = await snapshotToRead(catalog, { ...request, id: [...request.id] });
  const { layouts, fragments, next } = await listFiles(catalog.engine, snapshot, {
    from: firstOf(snapshot, request),
    most: Math.min(limit, MOST_FRAGMENTS),
    signal: options.signal,
  });
  const { branch } = snapshot.branch;
  const { deletedRows, fragments: count } = snapshot.manifest.totals;
  return {
    version: snapshot.version,
    ...(branch === MAIN_BRANCH ? {} : { branch }),
    row_count: snapshot.rowCount,
    num_deleted_rows: deletedRows,
    num_fragments: count,
    columns: snapshot.schema.fields.map(({ name, type }) => ({
      name,
      data_type: describeType(type),
    })),
    arrow_schema: schemaMessage(snapshot.schema),
    layouts: layouts.map(({ isPlain, columns }) => ({
      plain: isPlain,
      columns: columns.map(listedColumn),
    })),
    fragments: fragments.map(listedFragment),
    ...(next === undefined ? {} : { page_token: pageToken(`${snapshot.checksum}:${next}`) }),
  };
}

/** Behind the magic bytes that begin a file. */
const schemaMessage = (schema: Schema): string =>
  Buffer.from(prepareSchema(schema).head.subarray(8)).toString('base64');

/** The place of the first fragment of the page. */
function firstOf(snapshot: Snapshot, request: ListTableFilesRequest): number {
  const start = pageStart(request);
  if (start === undefined) return 0;
  const [, checksum, place] = /^(.*):(\d{1,15})$/.exec(start) ?? [];
  if (checksum === snapshot.checksum) return Number(place);
  throw new DirspaceError(
    'InvalidInput',
    `page_token is of another version than ${snapshot.version}. Name the version that the first page answered, or begin again.`,
    { details: { version: snapshot.version } },
  );
}

const listedColumn = ({
  name,
  form,
  file,
  storedName,
  storedType,
}: StoredColumn): ListedColumn => ({
  name,
  form,
  ...(file === undefined ? {} : { file }),
  ...(storedName === undefined ? {} : { stored_name: storedName }),
  ...(storedType === undefined ? {} : { stored_type: storedType }),
});

const listedFragment = ({ firstRow, deletedRows, ...rest }: FragmentFiles): ListedFragment => ({
  ...rest,
  first_row: firstRow,
  num_deleted_rows: deletedRows,
});
