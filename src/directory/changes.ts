/** The operations that change rows in place, by predicate or by key, and the columns of a table. */
import { DirspaceError } from '../errors.ts';
import type { UpdateTableRequest, UpdateTableResponse } from '../protocol/models.ts';
import type { CallOptions } from '../protocol/namespace.ts';
import type { TableBranch } from '../table/head.ts';
import type { Snapshot } from '../table/snapshot.ts';
import { updateRows } from '../table/update.ts';
import { beginWrite, type Catalog, requireBranch, requireTable } from './catalog.ts';
import { repeatedCommit, writeOptions } from './rows.ts';

/** @throws TableColumnNotFound, InvalidInput for a value that does not fit its column */
export async function updateTable(
  catalog: Catalog,
  request: UpdateTableRequest,
  options: CallOptions = {},
): Promise<UpdateTableResponse> {
  const { branch, repeated } = await beginChange(catalog, request, options);
  if (repeated !== undefined) return updateAnswer(repeated, repeated.manifest.transaction);
  const updates = request.updates.map(([path, sql]) => {
    if (path !== undefined && sql !== undefined) return [path, sql] as const;
    throw new DirspaceError('InvalidInput', 'An update is a column and an expression.');
  });
  const { snapshot, transaction, updatedRows } = await updateRows(
    catalog.engine,
    branch,
    { updates, filter: request.predicate },
    writeOptions(branch, options),
  );
  return updateAnswer(snapshot, transaction, updatedRows);
}

const updateAnswer = (
  snapshot: Snapshot,
  transaction: string | undefined,
  rows = snapshot.manifest.operation.summary.updated_rows ?? 0,
): UpdateTableResponse => ({
  updated_rows: rows,
  version: snapshot.version,
  ...(transaction === undefined ? {} : { transaction_id: transaction }),
});

interface Change {
  readonly branch: TableBranch;
  /** What the same call committed before. */
  readonly repeated: Snapshot | undefined;
}

async function beginChange(
  catalog: Catalog,
  request: { readonly id?: string[]; readonly branch?: string },
  options: CallOptions,
): Promise<Change> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request.id);
  const branch = await requireBranch(catalog, table, request.branch);
  return { branch, repeated: await repeatedCommit(catalog, table, options) };
}
