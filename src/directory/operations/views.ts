/**
 * Carries out CreateMaterializedView and RefreshMaterializedView (`createMaterializedView`,
 * `refreshMaterializedView`). A view is a table whose manifests record its source table and its
 * query. It can be read, tagged, indexed, renamed and dropped like any other table, but only
 * refreshes and restores may change its rows and columns; other changes throw InvalidTableState. A
 * new view has no rows, unless `with_no_data` is false. A refresh is finished when it is answered;
 * refreshing a plain table throws InvalidInput. Views of other kinds than queries, auto_refresh,
 * and options for several machines throw Unsupported.
 */

import { recordBatchStream } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type CreateMaterializedViewRequest,
  type CreateMaterializedViewResponse,
  type JsonArrowSchema,
  type ObjectPath,
  parseViewQuery,
  type RefreshMaterializedViewRequest,
  type RefreshMaterializedViewResponse,
  schemaToJson,
  unsupported,
  viewSource,
} from '../../protocol/index.ts';
import {
  openTable,
  type Snapshot,
  type StagedTable,
  stageTable,
  type ViewRefreshed,
  viewColumns,
} from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  findTable,
  locationOf,
  refuseNamespaceOfThatName,
  requireNamespace,
  requireRoom,
  showId,
  snapshotToRead,
  tableExists,
  tableId,
  tablePlaceTaken,
} from '../catalog/index.ts';
import { withRows } from './arrow-body.ts';
import { beginChange } from './changes.ts';
import { placeTable } from './place-table.ts';
import { writeOptions } from './rows.ts';

/** @throws NamespaceNotFound, TableAlreadyExists, TableNotFound for the source, InvalidInput */
export async function createMaterializedView(
  catalog: Catalog,
  request: CreateMaterializedViewRequest,
  options: CallOptions = {},
): Promise<CreateMaterializedViewResponse> {
  await beginWrite(catalog);
  if (request.kind !== 'query' || request.udtf_spec !== undefined)
    throw unsupported(`A materialized view of the kind ${request.kind}`);
  if (request.auto_refresh === true)
    throw unsupported('A materialized view with auto_refresh: refresh it after you write');
  const id = tableId(request.id);
  await requireNamespace(catalog, id.slice(0, -1));
  await refuseNamespaceOfThatName(catalog, id);
  if ((await findTable(catalog, id)) !== undefined) throw tableExists(id);
  requireRoom(catalog, id, catalog.engine.names.tableFolder(id));
  const { projections, filter, limit } = parseViewQuery(request.source_query);
  const source = tableId(viewSource(request));
  const wanted = {
    columns: projections?.map(({ output, expression }) => [output, expression] as const),
    filter,
    limit,
  };
  const { schema, columns, inputs } = await viewColumns(
    catalog.engine,
    await sourceOf(catalog, source),
    wanted,
  );
  await refuseOtherSchema(catalog, request.output_schema, schemaToJson(schema));
  const record = { id: catalog.env.uuid(), createdAt: catalog.env.now(), properties: {} };
  const none = recordBatchStream(
    schema,
    (async function* () {
      // A view has no rows until it is refreshed.
    })(),
  );
  const staged = await stageTable(catalog.engine, record, none, {
    ...writeOptions({ incarnation: record.id }, options),
    view: { source, columns, filter, limit, inputs },
  });
  // Filled where it is staged, so that a view whose rows cannot be computed is never there.
  const filled =
    request.with_no_data === false
      ? await filledStaged(catalog, staged, { id, source }, options)
      : undefined;
  const version = filled?.version ?? 1;
  if ((await placeTable(catalog, id, staged.folder, version)) === 'taken') {
    await catalog.store.deleteFolder(staged.folder);
    throw await tablePlaceTaken(catalog, id, tableExists(id));
  }
  catalog.engine.counters.commits++;
  const created = {
    version: 1,
    location: locationOf(catalog, catalog.engine.names.tableFolder(id)),
    incarnation: record.id,
    transaction_id: staged.transaction,
  };
  return filled === undefined ? created : { ...created, job_id: filled.job_id };
}

/** Computes the rows of a view that has no place yet. Where that fails, nothing of it is left. */
async function filledStaged(
  catalog: Catalog,
  { folder, record }: StagedTable,
  { id, source }: { readonly id: ObjectPath; readonly source: readonly string[] },
  { signal }: CallOptions,
): Promise<RefreshMaterializedViewResponse> {
  try {
    const { main } = openTable(catalog.engine, folder, record.id);
    const shown = await sourceOf(catalog, source, { view: id });
    return answer(catalog, shown, await main.refresh(shown, { ...(signal && { signal }) }));
  } catch (error) {
    await catalog.store.deleteFolder(folder);
    throw error;
  }
}

/** Members of a request that spread its work over machines. */
const ELSEWHERE = [
  'max_rows_per_fragment',
  'concurrency',
  'intra_applier_concurrency',
  'source_task_size',
  'cluster',
  'manifest',
] as const;

/**
 * The work is done before the answer, whose `job_id` is that of its transaction, if it made one.
 * @throws TableNotFound for a view or a source that is not there, InvalidInput for a plain table
 */
export async function refreshMaterializedView(
  catalog: Catalog,
  request: RefreshMaterializedViewRequest,
  options: CallOptions = {},
): Promise<RefreshMaterializedViewResponse> {
  const other = ELSEWHERE.find((name) => request[name] !== undefined);
  if (other !== undefined) throw unsupported(`A refresh with ${other}`);
  if (request.output_limit !== undefined) {
    throw new DirspaceError('InvalidInput', 'output_limit is for views of the kind chunker.');
  }
  const { id, incarnation, src_version: version, full } = request;
  const { branch, repeated } = await beginChange(catalog, { id, incarnation }, options);
  if (repeated !== undefined) return repeatedAnswer(repeated);
  const view = (await branch.newest())?.manifest.view;
  if (view === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `The table ${showId(tableId(id))} is not a materialized view. createMaterializedView makes one.`,
    );
  }
  const source = await sourceOf(catalog, view.source, { version, view: tableId(id) });
  const refreshed = await branch.refresh(source, { ...writeOptions(branch, options), full });
  return answer(catalog, source, refreshed);
}

const answer = (
  { env }: Catalog,
  source: Snapshot,
  { mode, rows, snapshot, transaction }: ViewRefreshed,
): RefreshMaterializedViewResponse => ({
  // Where the view is up to date, nothing was committed.
  job_id: transaction ?? env.uuid(),
  mode,
  rows_written: rows,
  source_version: source.version,
  version: snapshot.version,
  ...(transaction === undefined ? {} : { transaction_id: transaction }),
});

/** What the first request with the same key was answered, as far as the version tells. */
const repeatedAnswer = ({ version, manifest }: Snapshot): RefreshMaterializedViewResponse => ({
  job_id: manifest.transaction,
  mode: manifest.operation.kind === 'overwrite' ? 'rebuild' : 'incremental',
  rows_written: manifest.operation.summary.added_rows ?? 0,
  ...(manifest.view?.of === undefined ? {} : { source_version: manifest.view.of.version }),
  version,
  transaction_id: manifest.transaction,
});

/** @param view whose source it is, where that exists already */
async function sourceOf(
  catalog: Catalog,
  id: readonly string[],
  { version, view }: { version?: number | undefined; view?: ObjectPath } = {},
): Promise<Snapshot> {
  try {
    const named = { id: [...id], ...(version === undefined ? {} : { version }) };
    return await snapshotToRead(catalog, named);
  } catch (error) {
    const isGone = isDirspaceError(error, 'TableNotFound', 'NamespaceNotFound');
    if (!isGone || view === undefined) throw error;
    throw new DirspaceError(
      'TableNotFound',
      `The source ${showId(tableId(id))} of the materialized view ${showId(view)} is not there: it was dropped or renamed. Bring it back, or drop the view and create it over the table's new name; its rows can be read as they are.`,
      { cause: error, details: { id: [...id] } },
    );
  }
}

/** An empty text leaves the schema to the query. @throws InvalidInput */
async function refuseOtherSchema(
  catalog: Catalog,
  base64: string,
  found: JsonArrowSchema,
): Promise<void> {
  if (base64 === '') return;
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  const given = await withRows(catalog, bytes, async ({ schema }) => schemaToJson(schema));
  const shown = (fields: typeof found.fields): string =>
    JSON.stringify(fields.map(({ name, type }) => ({ name, type })));
  if (shown(given.fields) === shown(found.fields)) return;
  throw new DirspaceError(
    'InvalidInput',
    `output_schema has the columns ${shown(given.fields)}, and the query gives ${shown(found.fields)}. Leave it empty to take those.`,
    { details: { member: 'output_schema' } },
  );
}
