/**
 * A handle on one table: on the newest version of a branch, or pinned to one version. Everything
 * goes through the operations of the protocol, so it is the same on every catalog.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { type CallOptions, unsupported } from '../../protocol/index.ts';
import {
  type AnyRow,
  type DataInput,
  hasSchema,
  isRepeatable,
  type SchemaInput,
  toRecordBatchStream,
} from '../convert/index.ts';
import {
  ADD_OPTIONS,
  branchMember,
  checkChangeOptions,
  defined,
  type Home,
  type OnTable,
  OPTIMIZE_OPTIONS,
  onBranch,
  onTable,
  ownOr,
} from '../handles/index.ts';
import { rowNumbers } from '../query/index.ts';
import { Branches } from './branches.ts';
import {
  alteration,
  type ColumnAlteration,
  type FieldMetadataUpdate,
  fieldMetadata,
  type NewColumns,
  newColumns,
} from './columns.ts';
import { MergeInsertBuilder } from './merge-insert.ts';
import { type OptimizeOptions, optimizeCall, optimizeMembers } from './optimize.ts';
import { TableIndexes } from './table-indexes.ts';
import {
  type AddResult,
  addResult,
  type DeleteResult,
  deleteResult,
  mergeResult,
  type OptimizeStats,
  optimizeStats,
  type UpdateResult,
  updateResult,
  type WriteResult,
  writeResult,
} from './table-results.ts';
import { Tags } from './tags.ts';
import { type UpdateInput, type UpdateOptions, updatesOf } from './updates.ts';
import {
  followsNewest,
  type ListVersionsOptions,
  listVersions,
  resolveSelection,
  type Version,
  type VersionSelection,
} from './versions.ts';
import { type OnWriteProgress, withProgress } from './write-progress.ts';

/** How to add rows. */
export interface AddDataOptions extends CallOptions {
  /** `overwrite` replaces all rows, and the schema by that of Arrow data or of `schema`. */
  readonly mode?: 'append' | 'overwrite';
  /** How to read the rows; the table's schema if absent. */
  readonly schema?: SchemaInput;
  /** Called as the catalog takes the rows, and once they are committed. */
  readonly progress?: OnWriteProgress;
}

/** Reads and writes; what is read is said at `TableView`, indexes at `TableIndexes`. */
export class Table<RowType = AnyRow> extends TableIndexes<RowType> {
  /**
   * Opens a table at a version, and so finds out that both are there. The handle stays on that very
   * table: once another has its name, every call rejects with TableNotFound.
   */
  static async open<RowType = AnyRow>(
    home: Home,
    named: OnTable,
    selection: VersionSelection = {},
    options?: CallOptions,
  ): Promise<Table<RowType>> {
    home.lifetime.enter(options);
    const asked = new Table<RowType>(home, named, selection.branch);
    if (followsNewest(selection)) {
      await asked.probe(options);
      return asked;
    }
    // What a tag or a time means must be a version of the table that is opened.
    const found = await resolveSelection(() => asked.identified(options), selection, options);
    const isSame = found.branch === asked.newest.branch;
    const table = isSame ? asked : new Table<RowType>(home, onTable(asked.newest), found.branch);
    await table.pin(found, options);
    return table;
  }

  /** Adds rows as one new version, or none of them. */
  async add(data: DataInput, options: AddDataOptions = {}): Promise<AddResult> {
    this.writable(options, ADD_OPTIONS);
    if (options.schema !== undefined || (options.mode === 'overwrite' && hasSchema(data)))
      return this.#insert(data, options.schema, options);
    const known = options.mode !== 'overwrite' && isRepeatable(data) && this.knownSchema;
    if (!known) return this.#insert(data, await this.sharedSchema(options), options);
    try {
      return await this.#insert(data, known, options);
    } catch (error) {
      // The table may have another schema by now; data that it refuses changed nothing.
      if (!isDirspaceError(error, 'TableSchemaValidation', 'Unsupported')) throw error;
      const newest = await this.sharedSchema(options);
      if (newest === known) throw error;
      return this.#insert(data, newest, options);
    }
  }

  async #insert(
    data: DataInput,
    schema: SchemaInput | undefined,
    options: AddDataOptions,
  ): Promise<AddResult> {
    const { mode, signal, progress } = options;
    const { catalog, env } = this.home;
    const rows = await toRecordBatchStream(data, defined({ schema, signal }));
    const request = defined({ ...onBranch(this.newest), mode });
    const write = (stream: typeof rows) => catalog.insertIntoTable(request, stream, options);
    const adding = progress === undefined ? write(rows) : withProgress(rows, progress, env, write);
    return addResult(await adding);
  }

  /**
   * Sets columns of the rows that fit, as one version. @throws TableColumnNotFound, InvalidInput
   */
  async update(
    input: UpdateInput,
    options: UpdateOptions & CallOptions = {},
  ): Promise<UpdateResult> {
    const target = this.writable(options, ['where']);
    const request = { ...onBranch(target), ...updatesOf(input, options) };
    return updateResult(await this.home.catalog.updateTable(request, options));
  }

  /** Deletes the rows that fit an SQL predicate. */
  async delete(predicate: string, options?: CallOptions): Promise<DeleteResult> {
    const target = this.writable(options);
    if (typeof predicate !== 'string') {
      throw new DirspaceError(
        'InvalidInput',
        `delete takes an SQL predicate, such as "age > 40", and was given ${typeof predicate}; "true" deletes every row.`,
      );
    }
    const request = { ...onBranch(target), predicate };
    return deleteResult(await this.home.catalog.deleteFromTable(request, options));
  }

  /** Deletes rows by their `_rowid`; ids of rows that are gone are ignored. */
  async deleteRows(
    rowIds: readonly (bigint | number)[],
    options?: CallOptions,
  ): Promise<DeleteResult> {
    const target = this.writable(options);
    const row_ids = rowNumbers(rowIds, 'row id');
    const { catalog } = this.home;
    const own = catalog.deleteRows?.({ ...onBranch(target), row_ids }, options);
    return ownOr(own?.then(deleteResult), () => {
      const predicate = row_ids.length === 0 ? 'FALSE' : `_rowid IN (${row_ids.join(', ')})`;
      return this.delete(predicate, options);
    });
  }

  /** Starts a merge by the key columns `on`; what the data does not have keeps its values. */
  mergeInsert(on: string | readonly string[]): MergeInsertBuilder {
    this.lifetime.enter();
    return new MergeInsertBuilder(on, async (merge, data, options) => {
      const target = this.writable(options);
      const schema = await this.sharedSchema(options);
      const rows = await toRecordBatchStream(data, {
        schema,
        partial: true,
        signal: options.signal,
      });
      const request = { ...onBranch(target), ...merge };
      return mergeResult(await this.home.catalog.mergeInsertIntoTable(request, rows, options));
    });
  }

  /** Pins the handle to a version of its branch, or to a tag's; it then refuses to write. */
  async checkout(
    version: number | string | VersionSelection,
    options?: CallOptions,
  ): Promise<void> {
    this.lifetime.enter(options);
    const { branch } = this.newest;
    const selection =
      typeof version === 'number'
        ? { version, ...branchMember(branch) }
        : typeof version === 'string'
          ? { tag: version }
          : version;
    await this.pin(await resolveSelection(() => this.newest, selection, options), options);
  }

  /** Follows the newest version again. */
  async checkoutLatest(options?: CallOptions): Promise<void> {
    this.lifetime.enter(options);
    this.follow();
  }

  /** Makes an old version the newest: the one given, or else the one checked out. */
  async restore(version?: number | string, options?: CallOptions): Promise<void> {
    this.lifetime.enter(options);
    checkChangeOptions(options);
    const chosen =
      typeof version === 'string'
        ? await resolveSelection(() => this.newest, { tag: version }, options)
        : version === undefined
          ? this.pinned
          : { ...branchMember(this.newest.branch), version };
    if (chosen?.version === undefined) {
      throw new DirspaceError('InvalidInput', 'restore needs a version: check one out or give it.');
    }
    if (chosen.branch !== this.newest.branch) {
      throw new DirspaceError(
        'InvalidInput',
        `Version ${chosen.version} is of the branch ${chosen.branch ?? 'main'}, but the handle is on ${this.newest.branch ?? 'main'}; a branch restores its own versions.`,
      );
    }
    const request = { ...onBranch(this.newest), version: chosen.version };
    await this.home.catalog.restoreTable(request, options);
    this.follow();
  }

  /** The history of the handle's branch. */
  async listVersions(options?: ListVersionsOptions): Promise<Version[]> {
    this.lifetime.enter(options);
    return listVersions(this.target, options);
  }

  /** The tags of the table, of all its branches. */
  async tags(): Promise<Tags> {
    this.lifetime.enter();
    return new Tags(this.target);
  }

  /** The branches of the table but the main one. */
  async branches(): Promise<Branches> {
    this.lifetime.enter();
    const { newest } = this;
    return new Branches(newest, (selection, options) =>
      Table.open(this.home, onTable(newest), selection, options),
    );
  }

  /**
   * Joins small fragments, drops deleted rows from the files, and removes old versions and what
   * only they need, when it is a week old; versions with tags stay. Row ids change.
   */
  async optimize(options: OptimizeOptions = {}): Promise<OptimizeStats> {
    const target = this.writable(options, OPTIMIZE_OPTIONS);
    const { catalog, env } = this.home;
    if (catalog.optimizeTable === undefined) throw unsupported('OptimizeTable');
    const request = { ...onBranch(target), ...optimizeMembers(options, env) };
    const answer = await catalog.optimizeTable(request, optimizeCall(options));
    return optimizeStats(answer);
  }

  /** Replaces the metadata of the schema and answers what it is then. */
  async updateSchemaMetadata(
    metadata: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Record<string, string>> {
    const target = this.writable(options);
    const request = { ...onBranch(target), metadata: { ...metadata } };
    const answer = await this.home.catalog.updateTableSchemaMetadata(request, options);
    return answer.metadata ?? {};
  }

  /** Sets and removes keys in the metadata of fields, as one version. */
  async updateFieldMetadata(
    updates: readonly FieldMetadataUpdate[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    const target = this.writable(options);
    const request = { ...onBranch(target), updates: updates.map(fieldMetadata) };
    return writeResult(await this.home.catalog.updateFieldMetadata(request, options));
  }

  /**
   * With values by SQL, or of nulls: only values rewrite files. @throws InvalidInput for a name
   * that is taken
   */
  async addColumns(columns: NewColumns, options?: CallOptions): Promise<WriteResult> {
    const target = this.writable(options);
    const request = { ...onBranch(target), new_columns: newColumns(columns) };
    return writeResult(await this.home.catalog.alterTableAddColumns(request, options));
  }

  /**
   * Renames and widens columns and changes what may be null, all as one version that rewrites no
   * file. @throws InvalidInput for a type that could lose values
   */
  async alterColumns(
    alterations: readonly ColumnAlteration[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    const target = this.writable(options);
    const request = { ...onBranch(target), alterations: alterations.map(alteration) };
    return writeResult(await this.home.catalog.alterTableAlterColumns(request, options));
  }

  /** @throws TableColumnNotFound, InvalidInput when no column would be left */
  async dropColumns(columns: readonly string[], options?: CallOptions): Promise<WriteResult> {
    const target = this.writable(options);
    const request = { ...onBranch(target), columns: columns.slice() };
    return writeResult(await this.home.catalog.alterTableDropColumns(request, options));
  }
}
