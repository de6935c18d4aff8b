/**
 * `RowChanges` adds, updates, deletes and merges the rows of a handle's table, each call in one
 * version at most. Vectors that rows lack are computed by the embedding functions of the schema by
 * which the rows are read. This is the table's schema, but `add` uses the schema that it is given,
 * and that of Arrow data that overwrites; if such a schema names no functions, none are used.
 * `mergeInsert` returns a builder, whose `execute` runs the merge. `deleteRows` deletes by a
 * predicate if the catalog has no DeleteRows. A handle that is pinned to a version throws
 * InvalidInput.
 */
import type { Schema } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';
import {
  type DataInput,
  handOver,
  hasSchema,
  isRepeatable,
  type SchemaInput,
  withoutAbsentStructs,
} from '../convert/index.ts';
import { toEmbeddedStream } from '../embedding/index.ts';
import { ADD_OPTIONS, defined, onBranch, ownOr } from '../handles/index.ts';
import { rowNumbers } from '../query/index.ts';
import { MergeInsertBuilder } from './merge-insert.ts';
import type { TablePosition } from './position.ts';
import {
  type AddResult,
  addResult,
  type DeleteResult,
  deleteResult,
  mergeResult,
  type UpdateResult,
  updateResult,
} from './table-results.ts';
import { type UpdateInput, type UpdateOptions, updatesOf } from './updates.ts';
import { type OnWriteProgress, withProgress } from './write-progress.ts';

/** How to add rows. */
export interface AddDataOptions extends CallOptions {
  /** `overwrite` replaces all rows, and the schema by that of Arrow data or of `schema`. */
  readonly mode?: 'append' | 'overwrite';
  /** How to read the rows; if absent the table's schema, or that of Arrow data that overwrites. */
  readonly schema?: SchemaInput;
  /** Called as the catalog takes the rows, and once they are committed. */
  readonly progress?: OnWriteProgress;
}

/** The methods of a table that change rows; `Table` documents them. */
export class RowChanges {
  readonly #at: TablePosition;

  constructor(at: TablePosition) {
    this.#at = at;
  }

  async add(data: DataInput, options: AddDataOptions): Promise<AddResult> {
    this.#at.writable(options, ADD_OPTIONS);
    if (options.schema !== undefined || (options.mode === 'overwrite' && hasSchema(data)))
      return this.#insert(data, options.schema, options);
    const insert = (schema: Schema): Promise<AddResult> =>
      this.#insert(
        data,
        options.mode === 'overwrite' ? schema : withoutAbsentStructs(schema, data),
        options,
      );
    const known = options.mode !== 'overwrite' && isRepeatable(data) && this.#at.knownSchema;
    if (!known) return insert(await this.#at.schema(options));
    try {
      return await insert(known);
    } catch (error) {
      // The table may have another schema by now; data that it refuses changed nothing.
      if (!isDirspaceError(error, 'TableSchemaValidation', 'Unsupported')) throw error;
      const newest = await this.#at.schema(options);
      if (newest === known) throw error;
      return insert(newest);
    }
  }

  async update(input: UpdateInput, options: UpdateOptions & CallOptions): Promise<UpdateResult> {
    const target = this.#at.writable(options, ['where']);
    const request = { ...onBranch(target), ...updatesOf(input, options) };
    return updateResult(await this.#at.home.catalog.updateTable(request, options));
  }

  async delete(predicate: string, options?: CallOptions): Promise<DeleteResult> {
    const target = this.#at.writable(options);
    if (typeof predicate !== 'string') {
      throw new DirspaceError(
        'InvalidInput',
        `delete takes an SQL predicate, such as "age > 40", and was given ${typeof predicate}; "true" deletes every row.`,
      );
    }
    const request = { ...onBranch(target), predicate };
    return deleteResult(await this.#at.home.catalog.deleteFromTable(request, options));
  }

  async deleteRows(
    rowIds: readonly (bigint | number)[],
    options?: CallOptions,
  ): Promise<DeleteResult> {
    const target = this.#at.writable(options);
    const row_ids = rowNumbers(rowIds, 'Row id');
    const { catalog } = this.#at.home;
    const own = catalog.deleteRows?.({ ...onBranch(target), row_ids }, options);
    return ownOr(own?.then(deleteResult), () => {
      const predicate = row_ids.length === 0 ? 'FALSE' : `_rowid IN (${row_ids.join(', ')})`;
      return this.delete(predicate, options);
    });
  }

  mergeInsert<RowType>(on: string | readonly string[]): MergeInsertBuilder<RowType> {
    this.#at.lifetime.enter();
    return new MergeInsertBuilder(on, async (merge, data, options) => {
      const target = this.#at.writable(options);
      const schema = await this.#at.schema(options);
      const rows = await toEmbeddedStream(data, {
        schema,
        partial: true,
        signal: options.signal,
      });
      const request = { ...onBranch(target), ...merge };
      const { catalog } = this.#at.home;
      const write = (given: typeof rows) => catalog.mergeInsertIntoTable(request, given, options);
      return mergeResult(await handOver(rows, write));
    });
  }

  async #insert(
    data: DataInput,
    schema: SchemaInput | undefined,
    options: AddDataOptions,
  ): Promise<AddResult> {
    const { mode, signal, progress } = options;
    const { catalog, env } = this.#at.home;
    const rows = await toEmbeddedStream(data, defined({ schema, signal }));
    const request = defined({ ...onBranch(this.#at.newest), mode });
    const write = (stream: typeof rows) => catalog.insertIntoTable(request, stream, options);
    return addResult(await handOver(rows, (given) => withProgress(given, progress, env, write)));
  }
}
