/**
 * `mergeRows` merges source rows into a table by key, in one version, or in none if nothing
 * changes. As the request asks, it updates matched rows, inserts new ones, and deletes rows that
 * the source lacks. After a conflict it starts over on the newer version. A merge without a key or
 * an action, and two source rows that match one row to be updated, throw InvalidInput, and a table
 * without a version InvalidTableState. `checkConditions` is for a merge that creates its table: it
 * checks that the conditions fit the columns of the source.
 */
import { recordBatchStream, type Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { RequestMemory } from '../../request-memory.ts';
import { compilePredicate } from '../../sql/index.ts';
import { structOrder } from '../lance/index.ts';
import {
  type Committed,
  compressionOf,
  type Engine,
  emptyTable,
  type TableBranch,
} from '../versions/index.ts';
import {
  commitWithFiles,
  refuseNulls,
  replacingDraft,
  type WriteOptions,
  writeFragments,
  writesLance,
} from '../write/index.ts';
import { MergeAttempt, type MergeClauses } from './merge-attempt.ts';
import { compileCondition } from './merge-condition.ts';
import type { SourceRows } from './merge-source.ts';

export interface RowsMerged extends Committed {
  readonly insertedRows: number;
  readonly updatedRows: number;
  readonly deletedRows: number;
  /** How often the merge was made, the last time included. */
  readonly attempts: number;
}

/**
 * One version with all of it; none if nothing changes. After a conflict it is done anew.
 * @throws InvalidInput without a clause, and where two source rows match one row to be updated
 */
export async function mergeRows(
  engine: Engine,
  branch: TableBranch,
  clauses: MergeClauses,
  source: SourceRows,
  memory: RequestMemory,
  options: WriteOptions = {},
): Promise<RowsMerged> {
  checkClauses(clauses);
  let counts = { insertedRows: 0, updatedRows: 0, deletedRows: 0 };
  let attempts = 0;
  const committed = await commitWithFiles(engine, branch, options, async (writing, base, files) => {
    if (base === undefined) throw emptyTable();
    attempts += 1;
    const merge = await MergeAttempt.begin(engine, base, clauses, source, memory, options.signal);
    const stream = recordBatchStream(base.schema, merge.batches());
    const folder = base.branch.tableFolder;
    // Updated rows keep what else the table holds, nulls of earlier releases among it.
    const required = merge.fieldsThatCame;
    const written = await writeFragments(writing, folder, stream, base.fields, {
      lance: writesLance(writing, base),
      structs: await structOrder(engine, base, 'any'),
      compression: await compressionOf(writing, base.branch, base.manifest),
      required,
      signal: options.signal,
    });
    files.addFragments(written.fragments);
    refuseNulls(required, written.fragments);
    counts = merge.counts;
    const { insertedRows, updatedRows, deletedRows } = counts;
    if (insertedRows + updatedRows + deletedRows === 0) return undefined;
    return replacingDraft(writing, base, files, {
      kind: 'merge',
      summary: {
        inserted_rows: insertedRows,
        updated_rows: updatedRows,
        deleted_rows: deletedRows,
      },
      written,
      gone: merge.gone.all(),
    });
  });
  return { ...committed, ...counts, attempts };
}

/**
 * Checks the conditions of a merge that creates its table, for which there is no row yet: they have
 * to fit the columns of the data, which become the table's.
 * @throws InvalidInput, TableColumnNotFound naming the place in the SQL text
 */
export async function checkConditions(
  { updateMatched, deleteMissing }: MergeClauses,
  schema: Schema,
): Promise<void> {
  const { condition } = updateMatched ?? {};
  if (condition !== undefined) await compileCondition(condition, schema.fields, schema.fields);
  const { filter } = deleteMissing ?? {};
  if (filter !== undefined) await compilePredicate(filter, schema);
}

function checkClauses({ on, updateMatched, insertNew, deleteMissing }: MergeClauses): void {
  if (on.length === 0) throw new DirspaceError('InvalidInput', 'A merge needs a key column.');
  if (new Set(on).size < on.length) {
    throw new DirspaceError('InvalidInput', `A key column is named twice: ${on.join(', ')}.`);
  }
  if (updateMatched === undefined && insertNew !== true && deleteMissing === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'The merge has no action. Ask for when_matched_update_all, when_not_matched_insert_all or when_not_matched_by_source_delete; in the SDK by methods such as whenMatchedUpdateAll().',
    );
  }
}
