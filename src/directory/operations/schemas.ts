/**
 * Carries out the operations that add, alter and drop columns (`alterTableAddColumns` and so on),
 * and that change the metadata of fields (`updateFieldMetadata`). `alterTableBackfillColumns` fills
 * computed columns. A request without a change throws InvalidInput; virtual columns, and options
 * that spread a backfill over machines, throw Unsupported. A request that is repeated under its
 * idempotency key gets the version that the first one committed; a repeated backfill with
 * `commit_granularity` continues instead.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type AlterTableAddColumnsRequest,
  type AlterTableAddColumnsResponse,
  type AlterTableAlterColumnsRequest,
  type AlterTableAlterColumnsResponse,
  type AlterTableBackfillColumnsRequest,
  type AlterTableBackfillColumnsResponse,
  type AlterTableDropColumnsRequest,
  type AlterTableDropColumnsResponse,
  type CallOptions,
  typeFromJson,
  type UpdateFieldMetadataRequest,
  type UpdateFieldMetadataResponse,
  unsupported,
} from '../../protocol/index.ts';
import { fieldMetadata, type NewColumn, type Snapshot } from '../../table/index.ts';
import type { Catalog } from '../catalog/index.ts';
import { beginChange } from './changes.ts';
import { writeOptions } from './rows.ts';

/** @throws InvalidInput, TableColumnNotFound, Unsupported for columns that code elsewhere fills */
export async function alterTableAddColumns(
  catalog: Catalog,
  request: AlterTableAddColumnsRequest,
  options: CallOptions = {},
): Promise<AlterTableAddColumnsResponse> {
  const columns = request.new_columns.map((entry): NewColumn => {
    if (entry.virtual_column !== undefined) throw unsupported('Virtual columns');
    return {
      path: entry.name,
      expression: entry.expression,
      computed: entry.computed,
      type: typeOf(entry.data_type, entry.name),
      metadata: entry.metadata,
    };
  });
  const { branch, repeated } = await beginChange(catalog, request, options);
  if (repeated !== undefined) return changed(repeated, repeated.manifest.transaction);
  const write = writeOptions(branch, options);
  const { snapshot, transaction } = await branch.addColumns(columns, write);
  return changed(snapshot, transaction);
}

/**
 * @throws InvalidInput for a type that could lose values, and where nothing is to be changed;
 * TableColumnNotFound
 */
export async function alterTableAlterColumns(
  catalog: Catalog,
  request: AlterTableAlterColumnsRequest,
  options: CallOptions = {},
): Promise<AlterTableAlterColumnsResponse> {
  if (request.alterations.length === 0) {
    throw new DirspaceError('InvalidInput', 'No column is given to alter.');
  }
  const changes = request.alterations.map((entry) => {
    if (entry.virtual_column !== undefined) throw unsupported('Virtual columns');
    const { path, rename, nullable } = entry;
    if (rename === undefined && nullable === undefined && entry.data_type === undefined) {
      throw new DirspaceError(
        'InvalidInput',
        `The alteration of ${JSON.stringify(path)} changes nothing: give rename, nullable or data_type.`,
        { details: { column: path } },
      );
    }
    return { path, rename, nullable, type: typeOf(entry.data_type, path) };
  });
  const { branch, repeated } = await beginChange(catalog, request, options);
  if (repeated !== undefined) return changed(repeated, repeated.manifest.transaction);
  const write = writeOptions(branch, options);
  const { snapshot, transaction } = await branch.alterColumns(changes, write);
  return changed(snapshot, transaction);
}

/** @throws TableColumnNotFound, InvalidInput when no column would be left */
export async function alterTableDropColumns(
  catalog: Catalog,
  request: AlterTableDropColumnsRequest,
  options: CallOptions = {},
): Promise<AlterTableDropColumnsResponse> {
  if (request.columns.length === 0) {
    throw new DirspaceError('InvalidInput', 'No column is given to drop.');
  }
  const { branch, repeated } = await beginChange(catalog, request, options);
  const { snapshot, transaction } =
    repeated === undefined
      ? await branch.dropColumns(request.columns, writeOptions(branch, options))
      : { snapshot: repeated, transaction: repeated.manifest.transaction };
  return changed(snapshot, transaction);
}

/** Members of a request that spread its work over machines, or over several writes. */
const ELSEWHERE = [
  'concurrency',
  'intra_applier_concurrency',
  'min_checkpoint_size',
  'max_checkpoint_size',
  'batch_checkpoint_flush_interval_seconds',
  'read_version',
  'task_size',
  'checkpoint_size',
  'cluster',
  'manifest',
] as const;

/**
 * The work is done before the answer, whose `job_id` is that of its transaction, if it made one.
 * @throws TableColumnNotFound, InvalidInput for a column that is not computed
 */
export async function alterTableBackfillColumns(
  catalog: Catalog,
  request: AlterTableBackfillColumnsRequest,
  options: CallOptions = {},
): Promise<AlterTableBackfillColumnsResponse> {
  const { column, where, num_frags: fragments, commit_granularity: perVersion } = request;
  const other = ELSEWHERE.find((name) => request[name] !== undefined);
  if (other !== undefined) throw unsupported(`A backfill with ${other}`);
  for (const [name, value] of Object.entries({
    num_frags: fragments,
    commit_granularity: perVersion,
  })) {
    if (value === undefined || value >= 1) continue;
    throw new DirspaceError('InvalidInput', `${name} is ${value}; it counts fragments from 1 on.`);
  }
  const { branch, repeated } = await beginChange(catalog, request, options);
  if (repeated !== undefined && perVersion === undefined) {
    const rows = repeated.manifest.operation.summary.updated_rows ?? 0;
    return backfilled(catalog, repeated, repeated.manifest.transaction, rows);
  }
  const filled = await branch.backfill(
    { column, filter: where, fragments, perVersion },
    writeOptions(branch, options),
  );
  return backfilled(catalog, filled.snapshot, filled.transaction, filled.rows);
}

const backfilled = (
  { env }: Catalog,
  snapshot: Snapshot,
  transaction: string | undefined,
  rows: number,
): AlterTableBackfillColumnsResponse => ({
  // Where every value was there already, nothing was committed.
  job_id: transaction ?? env.uuid(),
  ...changed(snapshot, transaction),
  rows_filled: rows,
});

/** @throws TableColumnNotFound */
export async function updateFieldMetadata(
  catalog: Catalog,
  request: UpdateFieldMetadataRequest,
  options: CallOptions = {},
): Promise<UpdateFieldMetadataResponse> {
  if (request.updates.length === 0) {
    throw new DirspaceError('InvalidInput', 'No field is given to update.');
  }
  const { branch, repeated } = await beginChange(catalog, request, options);
  if (repeated !== undefined) {
    const fields = request.updates.map(({ path }) => {
      return [path, fieldMetadata(repeated, path)] as const;
    });
    const answer = changed(repeated, repeated.manifest.transaction);
    return { ...answer, fields: Object.fromEntries(fields) };
  }
  const write = writeOptions(branch, options);
  const updated = await branch.updateFieldMetadata(request.updates, write);
  return { ...changed(updated.snapshot, updated.transaction), fields: { ...updated.fields } };
}

const changed = (
  { version }: Snapshot,
  transaction: string | undefined,
): { version: number; transaction_id?: string } =>
  transaction === undefined ? { version } : { version, transaction_id: transaction };

const typeOf = (json: object | undefined, path: string): DataType | undefined =>
  json === undefined ? undefined : typeFromJson(json, `data_type of ${JSON.stringify(path)}`);
