/**
 * `SchemaChanges` adds, alters, drops and fills columns of a handle's table, and changes the
 * metadata of its schema and fields, including the primary key. `updateSchemaMetadata` replaces all
 * metadata of the schema. Each call commits one version at most; only filling a column may commit
 * several, and may run as a job (`refreshColumnAsync`, which throws InvalidInput for a column that
 * is not computed). A handle that is pinned to a version throws InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { defined, onBranch } from '../handles/index.ts';
import { type Job, jobsOf } from '../jobs/index.ts';
import {
  alterationsOf,
  backfillMembers,
  type ColumnAlteration,
  columnNames,
  type FieldMetadataUpdate,
  fieldUpdates,
  type NewColumns,
  newColumns,
  REFRESH_OPTIONS,
  type RefreshColumnOptions,
  type RefreshColumnResult,
  refreshResult,
} from './columns.ts';
import type { TablePosition } from './position.ts';
import { primaryKeyChange } from './primary-key.ts';
import { type WriteResult, writeResult } from './table-results.ts';

/** The methods of a table that change its schema; `Table` documents them. */
export class SchemaChanges {
  readonly #at: TablePosition;

  constructor(at: TablePosition) {
    this.#at = at;
  }

  async updateSchemaMetadata(
    metadata: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Record<string, string>> {
    const target = this.#at.writable(options);
    const request = { ...onBranch(target), metadata: { ...metadata } };
    const answer = await this.#at.home.catalog.updateTableSchemaMetadata(request, options);
    return answer.metadata ?? {};
  }

  async updateFieldMetadata(
    updates: readonly FieldMetadataUpdate[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    const target = this.#at.writable(options);
    const request = { ...onBranch(target), updates: fieldUpdates(updates) };
    return writeResult(await this.#at.home.catalog.updateFieldMetadata(request, options));
  }

  async setPrimaryKey(columns: string | readonly string[], options?: CallOptions): Promise<void> {
    this.#at.writable(options);
    const change = primaryKeyChange(await this.#at.schema(options), columns);
    await this.updateFieldMetadata([change], options);
  }

  async addColumns(columns: NewColumns, options?: CallOptions): Promise<WriteResult> {
    const target = this.#at.writable(options);
    const request = { ...onBranch(target), new_columns: newColumns(columns) };
    return writeResult(await this.#at.home.catalog.alterTableAddColumns(request, options));
  }

  async refreshColumn(
    column: string,
    options: RefreshColumnOptions = {},
  ): Promise<RefreshColumnResult> {
    const target = this.#at.writable(options, REFRESH_OPTIONS);
    const request = { ...onBranch(target), ...backfillMembers(column, options) };
    return refreshResult(await this.#at.home.catalog.alterTableBackfillColumns(request, options));
  }

  async refreshColumnAsync(column: string, options: RefreshColumnOptions = {}): Promise<Job> {
    const target = this.#at.writable(options, REFRESH_OPTIONS);
    const { signal, ...others } = options;
    const { fields } = await this.#at.schema(defined({ signal }));
    const field = fields.find(({ name }) => name === column);
    if (field?.metadata.get('computed_column') !== 'true') {
      throw new DirspaceError(
        field === undefined ? 'TableColumnNotFound' : 'InvalidInput',
        field === undefined
          ? `There is no column ${JSON.stringify(column)} in ${this.#at.display()}.`
          : `The column ${JSON.stringify(column)} of ${this.#at.display()} is not computed: addColumns({ computed: [...] }) makes one that is.`,
        { details: { column } },
      );
    }
    const run = async (ended: AbortSignal): Promise<unknown> => {
      const signals = signal === undefined ? ended : AbortSignal.any([ended, signal]);
      const { rowsFilled, version } = await this.refreshColumn(column, {
        ...others,
        signal: signals,
      });
      return { rowsFilled, version };
    };
    const table = target.id.at(-1) ?? '';
    const work = { table, jobType: 'refresh_column', spec: { column }, run };
    const request = { ...onBranch(target), ...backfillMembers(column, options) };
    const asked = { operation: 'AlterTableBackfillColumns', request } as const;
    return jobsOf(this.#at.home).beginAt(asked, work, options);
  }

  async alterColumns(
    alterations: readonly ColumnAlteration[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    const target = this.#at.writable(options);
    const request = { ...onBranch(target), alterations: alterationsOf(alterations) };
    return writeResult(await this.#at.home.catalog.alterTableAlterColumns(request, options));
  }

  async dropColumns(columns: readonly string[], options?: CallOptions): Promise<WriteResult> {
    const target = this.#at.writable(options);
    const request = { ...onBranch(target), columns: columnNames(columns) };
    return writeResult(await this.#at.home.catalog.alterTableDropColumns(request, options));
  }
}
