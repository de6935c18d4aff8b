/**
 * Carries out UpdateTable (`updateTable`) and MergeInsertIntoTable (`mergeInsertIntoTable`). A
 * merge into a table that is only declared commits all its rows as the first version; if another
 * writer publishes one before, it merges into that. If a merge exceeds its timeout, it throws
 * ServiceUnavailable and changes nothing. UpdateTable with properties throws Unsupported. Changes
 * start with `beginChange`, which finds the branch. It returns the version of an earlier request
 * with the same idempotency key as `repeated`, which the caller answers instead of changing
 * anything again.
 */

import type { ArrowBody } from '../../arrow/index.ts';
import { type Env, LONGEST_TIMER } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type MergeInsertIntoTableRequest,
  type MergeInsertIntoTableResponse,
  type UpdateTableRequest,
  type UpdateTableResponse,
  unsupported,
} from '../../protocol/index.ts';
import {
  type Branch,
  checkConditions,
  isEmptyTable,
  type MergeClauses,
  type RowsMerged,
  readSource,
  type Snapshot,
  type SourceRows,
} from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  type NamedTable,
  requireTable,
  resolveTarget,
  withoutVersion,
} from '../catalog/index.ts';
import { withRows } from './arrow-body.ts';
import { fillDeclaredUnlessFilled } from './fill-declared.ts';
import { repeatedCommit, writeOptions } from './rows.ts';

/** @throws TableColumnNotFound, InvalidInput for a value that does not fit its column */
export async function updateTable(
  catalog: Catalog,
  request: UpdateTableRequest,
  options: CallOptions = {},
): Promise<UpdateTableResponse> {
  if (Object.keys(request.properties ?? {}).length > 0)
    throw unsupported('UpdateTable with properties');
  const { branch, repeated } = await beginChange(catalog, request, options);
  if (repeated !== undefined) return updateAnswer(repeated, repeated.manifest.transaction);
  const updates = request.updates.map(([path, sql]) => {
    if (path !== undefined && sql !== undefined) return [path, sql] as const;
    throw new DirspaceError(
      'InvalidInput',
      'Each item of "updates" is a list of two texts: a column and an SQL expression.',
    );
  });
  const { snapshot, transaction, updatedRows } = await branch.update(
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

/** Of the table that the rows create: its columns are those of the data. */
function checkKeys({ on }: MergeClauses, { schema }: SourceRows): void {
  const missing = on.find((name) => !schema.fields.some((field) => field.name === name));
  if (missing === undefined) return;
  throw new DirspaceError(
    'TableSchemaValidation',
    `The data does not have the key column ${JSON.stringify(missing)}. Nothing was written.`,
    { details: { column: missing } },
  );
}

/**
 * A table that is only declared is created with all rows, "since there are no existing rows to merge
 * with". `use_index` changes no result: if it is false, keys are scanned even where an index has them.
 * @throws InvalidInput, TableSchemaValidation, PayloadTooLarge, ServiceUnavailable after `timeout`
 */
export async function mergeInsertIntoTable(
  catalog: Catalog,
  request: MergeInsertIntoTableRequest,
  data: ArrowBody,
  options: CallOptions = {},
): Promise<MergeInsertIntoTableResponse> {
  const clauses = mergeClauses(request);
  return withTimeout(catalog.env, request.timeout, options.signal, async (signal) => {
    const { branch, repeated } = await beginChange(catalog, request, options);
    if (repeated !== undefined) return mergeAnswer(repeated, repeated.manifest.transaction);
    const { engine } = catalog;
    const wanted = {
      ...writeOptions(branch, options),
      ...(signal === undefined ? {} : { signal }),
    };
    const merged = await withRows(catalog, data, async (stream, memory) => {
      const held = memory.hold('The rows of a merge');
      const source = await readSource(stream, engine.limits, held, signal);
      const merge = (): Promise<RowsMerged> => branch.merge(clauses, source, memory, wanted);
      try {
        return await merge();
      } catch (error) {
        if (!isEmptyTable(error)) throw error;
      }
      const { id, incarnation } = request;
      // Nothing is written beside files of others.
      const told = await withoutVersion(catalog, await requireTable(catalog, { id, incarnation }));
      if (!isEmptyTable(told)) throw told;
      checkKeys(clauses, source);
      await checkConditions(clauses, source.schema);
      const first = { ...options, ...(signal && { signal }) };
      const filled = await fillDeclaredUnlessFilled(catalog, { id, incarnation }, source, first);
      if (filled === undefined) return await merge();
      return { ...filled, insertedRows: filled.rows, updatedRows: 0, deletedRows: 0, attempts: 1 };
    });
    const counts = {
      inserted_rows: merged.insertedRows,
      updated_rows: merged.updatedRows,
      deleted_rows: merged.deletedRows,
    };
    return mergeAnswer(merged.snapshot, merged.transaction, counts, merged.attempts);
  });
}

function mergeClauses(request: MergeInsertIntoTableRequest): MergeClauses {
  const { on } = request;
  const condition = request.when_matched_update_all_filt;
  const filter = request.when_not_matched_by_source_delete_filt;
  for (const [text, clause] of [
    [condition, 'when_matched_update_all'],
    [filter, 'when_not_matched_by_source_delete'],
  ] as const) {
    if (text === undefined || request[clause] === true) continue;
    throw new DirspaceError('InvalidInput', `${clause}_filt is given without ${clause}.`);
  }
  return {
    on: typeof on === 'string' ? [on] : on,
    updateMatched: request.when_matched_update_all === true ? { condition } : undefined,
    insertNew: request.when_not_matched_insert_all === true,
    deleteMissing: request.when_not_matched_by_source_delete === true ? { filter } : undefined,
    usesIndex: request.use_index,
  };
}

const mergeAnswer = (
  snapshot: Snapshot,
  transaction: string | undefined,
  counts = snapshot.manifest.operation.summary,
  // What a repeated request took the first time is not kept.
  attempts = 1,
): MergeInsertIntoTableResponse => ({
  num_updated_rows: counts.updated_rows ?? 0,
  // A merge that created the table has added its rows.
  num_inserted_rows: counts.inserted_rows ?? counts.added_rows ?? 0,
  num_deleted_rows: counts.deleted_rows ?? 0,
  num_attempts: attempts,
  version: snapshot.version,
  ...(transaction === undefined ? {} : { transaction_id: transaction }),
});

export interface Change {
  readonly branch: Branch;
  /** The version that an earlier, identical request committed; undefined for a first one. */
  readonly repeated: Snapshot | undefined;
}

/** The branch to be changed, unless the call is a repeat by its idempotency key. */
export async function beginChange(
  catalog: Catalog,
  request: NamedTable & { readonly branch?: string },
  options: CallOptions,
): Promise<Change> {
  await beginWrite(catalog);
  const { id, incarnation, branch: name } = request;
  const named = { id, incarnation, branch: name };
  const { table, branch } = await resolveTarget(catalog, named, 'branch');
  return { branch, repeated: await repeatedCommit(catalog, table, options) };
}

const MILLIS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** @throws InvalidInput */
function parseTimeout(text: string): number {
  const [, amount, unit] = /^\s*(\d{1,12}(?:\.\d{1,9})?)\s*(ms|s|m|h)?\s*$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * (MILLIS[unit ?? 's'] ?? 1000);
  throw new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(text.slice(0, 40))} is no timeout; write a number and ms, s, m or h, such as 30s.`,
  );
}

/**
 * Runs work with a signal that is aborted at the end of the time, or by the caller's own.
 * @throws ServiceUnavailable, from the work, once it looks at the signal
 */
async function withTimeout<Result>(
  env: Env,
  timeout: string | undefined,
  own: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<Result>,
): Promise<Result> {
  if (timeout === undefined) return work(own);
  const millis = parseTimeout(timeout);
  const late = new AbortController();
  const done = new AbortController();
  const reason = new DirspaceError(
    'ServiceUnavailable',
    `The time of ${timeout} was over before the change was committed. Nothing was changed.`,
  );
  env.sleep(Math.min(millis, LONGEST_TIMER), done.signal).then(
    () => late.abort(reason),
    () => {},
  );
  try {
    return await work(own === undefined ? late.signal : AbortSignal.any([own, late.signal]));
  } finally {
    done.abort();
  }
}
