/**
 * `MergeInsertBuilder` collects the actions of a merge: for source rows whose key is in the table,
 * for source rows with a new key, and for table rows whose key is not in the source. `execute` runs
 * the merge, which makes one new version or changes nothing; `timeoutMs` limits its time.
 * `MergeResult` counts the rows. Malformed arguments, and a merge without any action, throw
 * InvalidInput, and `useLsm(true)` Unsupported.
 */
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, MergeInsertIntoTableRequest } from '../../protocol/index.ts';
import { TimeLimit } from '../../time-limit.ts';
import type { AnyRow, DataInput, RowsInput } from '../convert/index.ts';
import {
  checkChangeOptions,
  checkWhere,
  EXECUTE_OPTIONS,
  onlyOptions,
  refuseLsm,
} from '../handles/index.ts';
import { checkCount } from '../query/index.ts';

/** The version that a merge made, and what became of the rows. */
export interface MergeResult {
  /** 0 where the catalog does not tell. */
  readonly version: number;
  readonly numInsertedRows: number;
  readonly numUpdatedRows: number;
  readonly numDeletedRows: number;
  /** How often the change was made until no other writer came before it; 1 where the catalog does not tell. */
  readonly numAttempts: number;
  /** Rows that were written: those inserted and those updated. */
  readonly numRows: number;
  readonly transactionId?: string;
}

/** Limits of one merge. */
export interface WriteExecutionOptions extends CallOptions {
  /** Ends the merge with a TimeoutError after so long; 0 is no time at all. */
  readonly timeoutMs?: number;
}

type Merge = Omit<MergeInsertIntoTableRequest, 'id' | 'branch'>;

type Execute = (request: Merge, data: DataInput, options: CallOptions) => Promise<MergeResult>;

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

/** Methods change the builder and answer it. */
export class MergeInsertBuilder<RowType = AnyRow> {
  readonly #request: Merge;
  readonly #execute: Execute;

  /** Tables make builders; see `Table.mergeInsert`. */
  constructor(on: string | readonly string[], execute: Execute) {
    const columns: unknown = typeof on === 'string' ? [on] : on;
    if (!isNames(columns)) {
      const message = 'mergeInsert needs the name of a key column, or an array of names.';
      throw new DirspaceError('InvalidInput', message, { details: { member: 'on' } });
    }
    if (columns.length === 0) {
      throw new DirspaceError('InvalidInput', 'mergeInsert needs one key column or more.');
    }
    this.#request = { on: columns.length === 1 ? (columns[0] as string) : columns.slice() };
    this.#execute = execute;
  }

  /** Rows whose key is there are replaced; `where` compares `source.` and `target.` columns. */
  whenMatchedUpdateAll(options?: { readonly where?: string }): this {
    this.#request.when_matched_update_all = true;
    const where = whereOf(options);
    if (where !== undefined) this.#request.when_matched_update_all_filt = where;
    return this;
  }

  /** Rows whose key is not there are added. */
  whenNotMatchedInsertAll(): this {
    this.#request.when_not_matched_insert_all = true;
    return this;
  }

  /** Rows of the table whose key does not come are deleted; of these, those that fit `where`. */
  whenNotMatchedBySourceDelete(options?: { readonly where?: string }): this {
    this.#request.when_not_matched_by_source_delete = true;
    const where = whereOf(options);
    if (where !== undefined) this.#request.when_not_matched_by_source_delete_filt = where;
    return this;
  }

  /** False scans the keys even where an index of a key column would find those of few rows. */
  useIndex(useIndex: boolean): this {
    this.#request.use_index = useIndex;
    return this;
  }

  /** There are no writes through a log. @throws Unsupported unless it is false */
  useLsm(enable: boolean): this {
    refuseLsm(enable);
    return this;
  }

  /** Means nothing without writes through a log: whatever it says, the rows are merged by their keys. */
  validateSingleShard(_validate: boolean): this {
    return this;
  }

  /** One new version with all of it, or none. */
  async execute(
    rows: RowsInput<RowType>,
    options: WriteExecutionOptions = {},
  ): Promise<MergeResult> {
    const data = rows as DataInput;
    checkChangeOptions(options, EXECUTE_OPTIONS);
    const { timeoutMs, ...rest } = options;
    if (timeoutMs === undefined) return this.#execute({ ...this.#request }, data, rest);
    // LanceDB's programs look for these words.
    const limit = new TimeLimit(
      'The merge insert timed out',
      checkCount('timeoutMs', timeoutMs),
      rest.signal,
    );
    try {
      return await this.#execute({ ...this.#request }, data, { ...rest, signal: limit.signal });
    } catch (error) {
      throw limit.told(error);
    }
  }
}

function whereOf(options: { readonly where?: string } = {}): string | undefined {
  onlyOptions(options, ['where'], 'a clause of mergeInsert');
  return checkWhere(options.where);
}
