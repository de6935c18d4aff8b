/**
 * Carries out the operations that insert and delete rows (`insertIntoTable`, `deleteFromTable`,
 * `deleteRows`), and those on whole versions: `restoreTable`, `updateTableSchemaMetadata` and
 * `getTableStats`. An insert into a table that is only declared commits its first version.
 * `writeOptions` derives a transaction id from an idempotency key, by which `repeatedCommit` finds
 * the earlier commit of a repeated write. It returns undefined for a first write, and throws
 * IdempotencyKeyReused for another request under that key. changes.ts updates and merges, and
 * reads/query.ts counts.
 */
import type { ArrowBody } from '../../arrow/index.ts';
import {
  type CallOptions,
  type DeleteFromTableRequest,
  type DeleteFromTableResponse,
  type DeleteRowsRequest,
  type DeleteRowsResponse,
  type GetTableStatsRequest,
  type GetTableStatsResponse,
  INSERT_MODES,
  type InsertIntoTableRequest,
  type InsertIntoTableResponse,
  parseMode,
  type RestoreTableRequest,
  type RestoreTableResponse,
  type UpdateTableSchemaMetadataRequest,
  type UpdateTableSchemaMetadataResponse,
} from '../../protocol/index.ts';
import {
  isEmptyTable,
  keyedTransaction,
  openBranch,
  type RowsDeleted,
  type Snapshot,
} from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  isOfOthers,
  type NamedVersion,
  requireTable,
  resolveTarget,
  snapshotToRead,
  type Table,
} from '../catalog/index.ts';
import { withRows } from './arrow-body.ts';
import { fillDeclared } from './fill-declared.ts';
import { onSomeBranch } from './transactions.ts';
import { fragmentStatistics, lanceStats } from './versions/index.ts';

/** Gives a table that is only declared its first rows. @throws TableSchemaValidation */
export async function insertIntoTable(
  catalog: Catalog,
  request: InsertIntoTableRequest,
  data: ArrowBody,
  options: CallOptions = {},
): Promise<InsertIntoTableResponse> {
  await beginWrite(catalog);
  const mode = parseMode(request.mode, INSERT_MODES);
  if (options.idempotencyKey !== undefined) {
    const repeated = await repeatedCommit(catalog, await requireTable(catalog, request), options);
    if (repeated !== undefined)
      return insertAnswer(repeated, repeated.manifest.operation.summary.added_rows);
  }
  const { id, incarnation, branch: name } = request;
  const named = { id, incarnation, branch: name };
  const base = await snapshotUnlessDeclared(catalog, named);
  if (base === undefined) {
    const { snapshot, rows } = await withRows(catalog, data, (stream) =>
      fillDeclared(catalog, named, mode, stream, options),
    );
    return insertAnswer(snapshot, rows);
  }
  const branch = openBranch(catalog.engine, base.branch);
  const write = writeOptions(branch, options);
  const { snapshot, rows } = await withRows(catalog, data, (stream) =>
    mode === 'Append' ? branch.append(base, stream, write) : branch.overwrite(base, stream, write),
  );
  return insertAnswer(snapshot, rows);
}

/** Undefined for a table that is only declared. */
async function snapshotUnlessDeclared(
  catalog: Catalog,
  request: NamedVersion,
): Promise<Snapshot | undefined> {
  try {
    return await snapshotToRead(catalog, request);
  } catch (error) {
    if (isEmptyTable(error)) return undefined;
    throw error;
  }
}

const insertAnswer = (snapshot: Snapshot, rows = 0): InsertIntoTableResponse => ({
  transaction_id: snapshot.manifest.transaction,
  num_inserted_rows: rows,
  version: snapshot.version,
});

export async function deleteRows(
  catalog: Catalog,
  request: DeleteRowsRequest,
  options: CallOptions = {},
): Promise<DeleteRowsResponse> {
  await beginWrite(catalog);
  const { branch } = await resolveTarget(catalog, request, 'branch');
  const wanted = writeOptions(branch, options);
  return deletedAnswer(await branch.deleteRows(request.row_ids, wanted));
}

/** @throws InvalidInput naming the place in the predicate, TableColumnNotFound */
export async function deleteFromTable(
  catalog: Catalog,
  request: DeleteFromTableRequest,
  options: CallOptions = {},
): Promise<DeleteFromTableResponse> {
  await beginWrite(catalog);
  const { table, branch } = await resolveTarget(catalog, request, 'branch');
  const repeated = await repeatedCommit(catalog, table, options);
  if (repeated !== undefined) {
    return {
      version: repeated.version,
      num_deleted_rows: repeated.manifest.operation.summary.deleted_rows ?? 0,
      transaction_id: repeated.manifest.transaction,
    };
  }
  const wanted = writeOptions(branch, options);
  return deletedAnswer(await branch.deleteWhere(request.predicate, wanted));
}

const deletedAnswer = ({
  snapshot,
  transaction,
  deletedRows,
}: RowsDeleted): DeleteRowsResponse => ({
  version: snapshot.version,
  num_deleted_rows: deletedRows,
  ...(transaction === undefined ? {} : { transaction_id: transaction }),
});

/** @throws TableVersionNotFound */
export async function restoreTable(
  catalog: Catalog,
  request: RestoreTableRequest,
  options: CallOptions = {},
): Promise<RestoreTableResponse> {
  await beginWrite(catalog);
  const source = await snapshotToRead(catalog, request);
  const branch = openBranch(catalog.engine, source.branch);
  const { transaction } = await branch.restore(source, writeOptions(branch, options));
  return transaction === undefined ? {} : { transaction_id: transaction };
}

export async function updateTableSchemaMetadata(
  catalog: Catalog,
  request: UpdateTableSchemaMetadataRequest,
  options: CallOptions = {},
): Promise<UpdateTableSchemaMetadataResponse> {
  await beginWrite(catalog);
  const { branch } = await resolveTarget(catalog, request, 'branch');
  const metadata = { ...request.metadata };
  const { transaction } = await branch.replaceSchemaMetadata(
    metadata,
    writeOptions(branch, options),
  );
  return { metadata, ...(transaction === undefined ? {} : { transaction_id: transaction }) };
}

/** Of a table that other programs write, by its newest manifest where that says all of it. */
export async function getTableStats(
  catalog: Catalog,
  request: GetTableStatsRequest,
): Promise<GetTableStatsResponse> {
  try {
    const snapshot = await snapshotToRead(catalog, request);
    const fragments = await snapshot.fragments();
    return {
      total_bytes: snapshot.manifest.totals.bytes,
      num_rows: snapshot.rowCount,
      num_indices: snapshot.manifest.indexes?.length ?? 0,
      fragment_stats: fragmentStatistics(fragments.map(({ rows }) => rows)),
    };
  } catch (error) {
    if (!isOfOthers(error)) throw error;
    const found = await lanceStats(catalog, await requireTable(catalog, request));
    if (found === undefined) throw error;
    return found;
  }
}

export const writeOptions = (
  { incarnation }: { readonly incarnation: string },
  options: CallOptions,
): { transaction?: string | (() => string); signal?: AbortSignal } => ({
  ...(options.signal === undefined ? {} : { signal: options.signal }),
  ...(options.idempotencyKey === undefined
    ? {}
    : { transaction: stampedTransaction(incarnation, options.idempotencyKey, options) }),
});

/** With what the key stands for behind it, once that is known. */
function stampedTransaction(
  incarnation: string,
  key: string,
  { idempotencyStamp: stamp }: CallOptions,
): string | (() => string) {
  const keyed = keyedTransaction({ incarnation }, key);
  return stamp === undefined ? keyed : () => `${keyed}-${stamp.made()}`;
}

/** What a write with this key committed before. @throws IdempotencyKeyReused */
export async function repeatedCommit(
  catalog: Catalog,
  table: Table,
  options: CallOptions,
): Promise<Snapshot | undefined> {
  if (options.idempotencyKey === undefined) return undefined;
  const keyed = keyedTransaction({ incarnation: table.record.id }, options.idempotencyKey);
  const found = await onSomeBranch(catalog, table, (branch) => branch.findKeyed(keyed));
  // Releases before this one kept no stamp.
  const stamp = found?.manifest.transaction.slice(keyed.length + 1) ?? '';
  if (stamp !== '') await options.idempotencyStamp?.check(stamp);
  return found;
}
