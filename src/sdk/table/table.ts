/**
 * `Table` is a handle on one table, either at the newest version of a branch or pinned to one
 * version (position.ts). Its methods read, search, change, optimize and describe the table, and
 * give access to its tags and branches. Other files of this folder do most of the work. A pinned
 * handle refuses changes of rows, schema and indexes, and `optimize`, with InvalidInput. `restore`
 * makes its version the newest, which the handle then follows. A closed handle throws Closed.
 */
import {
  type Table as ArrowTable,
  ownSchema,
  type RecordBatchStream,
  type Schema,
} from '../../arrow/index.ts';
import type { CallOptions, CountTableRowsRequest } from '../../protocol/index.ts';
import type { AnyRow, DataInput, RowsInput } from '../convert/index.ts';
import {
  atVersion,
  checkOptionNames,
  type Home,
  type OnTable,
  onTable,
  SELECTION_MEMBERS,
} from '../handles/index.ts';
import type { Job } from '../jobs/index.ts';
import {
  type AutoQuery,
  type BlobFiles,
  type Blobs,
  blobColumns,
  type FtsToken,
  type FullTextQuery,
  fetchBlobFiles,
  fetchBlobs,
  Query,
  type QueryVectors,
  type RowIds,
  rowNumbers,
  TakeQuery,
  type VectorQuery,
  WithoutLsm,
} from '../query/index.ts';
import { Branches } from './branches.ts';
import type {
  ColumnAlteration,
  FieldMetadataUpdate,
  NewColumns,
  RefreshColumnOptions,
  RefreshColumnResult,
} from './columns.ts';
import type { MergeInsertBuilder } from './merge-insert.ts';
import { type OptimizeOptions, optimizeTable, optimizeTableAsync } from './optimize.ts';
import { TablePosition } from './position.ts';
import { type AddDataOptions, RowChanges } from './row-changes.ts';
import { SchemaChanges } from './schema-changes.ts';
import { searchOf } from './search-of.ts';
import { type FilesOptions, type TableFiles, tableFiles } from './table-files.ts';
import {
  type IndexConfig,
  type IndexOptions,
  type IndexStatistics,
  TableIndexes,
  type TokenizeTableOptions,
} from './table-indexes.ts';
import {
  type DiffOptions,
  type ProfileOptions,
  type TableDiff,
  TableInsight,
  type TableProfile,
} from './table-insight.ts';
import type {
  AddResult,
  DeleteResult,
  OptimizeStats,
  TableStatistics,
  UpdateResult,
  WriteResult,
} from './table-results.ts';
import { Tags } from './tags.ts';
import type { UpdateInput, UpdateOptions } from './updates.ts';
import {
  followsNewest,
  type ListVersionsOptions,
  listVersions,
  resolveSelection,
  restoreVersion,
  selectionOf,
  type Version,
  type VersionSelection,
} from './versions.ts';

/** Reads and changes one table; its history, tags, branches and indexes. */
export class Table<RowType = AnyRow> extends WithoutLsm implements Disposable, AsyncDisposable {
  readonly #at: TablePosition;
  readonly #rows: RowChanges;
  readonly #columns: SchemaChanges;
  readonly #indexes: TableIndexes;
  readonly #insight: TableInsight;

  /** Connections make tables; see `Connection.openTable`. */
  constructor(home: Home, named: OnTable, branch?: string) {
    super();
    this.#at = new TablePosition(home, named, branch);
    this.#rows = new RowChanges(this.#at);
    this.#columns = new SchemaChanges(this.#at);
    this.#indexes = new TableIndexes(this.#at);
    this.#insight = new TableInsight(this.#at);
  }

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
      await asked.#at.probe(options);
      return asked;
    }
    // What a tag or a time means must be a version of the table that is opened.
    const found = await resolveSelection(() => asked.#at.identified(options), selection, options);
    const { newest } = asked.#at;
    const isSame = found.branch === newest.branch;
    const table = isSame ? asked : new Table<RowType>(home, onTable(newest), found.branch);
    await table.#at.pin(found, options);
    return table;
  }

  get name(): string {
    return this.#at.newest.id.at(-1) as string;
  }

  get namespacePath(): string[] {
    return this.#at.newest.id.slice(0, -1);
  }

  isOpen(): boolean {
    return this.#at.lifetime.isOpen;
  }

  /** What is called after it throws Closed. Queries made before it end too. */
  close(): void {
    this.#at.lifetime.end();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** One line for people. */
  display(): string {
    return this.#at.display();
  }

  /** The branch of the handle; null for the main branch. */
  currentBranch(): string | null {
    return this.#at.target.branch ?? null;
  }

  async schema(options?: CallOptions): Promise<Schema> {
    this.#at.reading(options);
    return ownSchema(await this.#at.schema(options));
  }

  /** The number of the version checked out, or else of the newest. */
  async version(options?: CallOptions): Promise<number> {
    this.#at.reading(options);
    return this.#at.version(options);
  }

  /** Rows that fit the SQL predicate; all if absent. */
  async countRows(filter?: string, options?: CallOptions): Promise<number> {
    this.#at.reading(options);
    const request: CountTableRowsRequest = atVersion(this.#at.target);
    if (filter !== undefined) request.predicate = filter;
    return (await this.#at.home.catalog.countTableRows(request, options)).count;
  }

  /** The absolute path of the table's folder, or what the catalog says instead. */
  async location(options?: CallOptions): Promise<string | undefined> {
    this.#at.reading(options);
    return (await this.#at.home.catalog.describeTable(onTable(this.#at.newest), options)).location;
  }

  async uri(options?: CallOptions): Promise<string | undefined> {
    this.#at.reading(options);
    const request = { ...onTable(this.#at.newest), with_table_uri: true };
    return (await this.#at.home.catalog.describeTable(request, options)).table_uri;
  }

  /** Sizes of the newest version; a version checked out has none. */
  async stats(options?: CallOptions): Promise<TableStatistics> {
    return this.#insight.stats(options);
  }

  query(): Query<RowType> {
    this.#at.lifetime.enter();
    return new Query(this.#at.target);
  }

  /** The rows at these positions of this version, counted from 0. */
  takeOffsets(offsets: RowIds): TakeQuery<RowType> {
    this.#at.lifetime.enter();
    return new TakeQuery(this.#at.target, '_rowoffset', rowNumbers(offsets, 'Offset'));
  }

  /** The rows with these `_rowid` values. */
  takeRowIds(rowIds: RowIds): TakeQuery<RowType> {
    this.#at.lifetime.enter();
    return new TakeQuery(this.#at.target, '_rowid', rowNumbers(rowIds, 'Row id'));
  }

  /** The columns of blobs, and members of structs as paths with dots. */
  async blobColumns(options?: CallOptions): Promise<string[]> {
    return blobColumns(this.#at, options);
  }

  /** The bytes of blobs, by `_rowid`, in that order; null where the value is. @throws InvalidInput */
  async fetchBlobs(column: string, rowIds: RowIds, options?: CallOptions): Promise<Blobs> {
    return fetchBlobs(this.#at, column, rowIds, options);
  }

  /** The same as handles, which read the bytes of this version when they are asked to. */
  async fetchBlobFiles(column: string, rowIds: RowIds, options?: CallOptions): Promise<BlobFiles> {
    return fetchBlobFiles(this.#at, column, rowIds, options);
  }

  vectorSearch(vector: QueryVectors): VectorQuery<RowType> {
    return this.query().nearestTo(vector);
  }

  /**
   * Searches by vector, or by text: `vector` makes a vector of it by the table's embedding function, `fts` searches text
   * columns by words, `auto` does the first where the table has such a function.
   */
  search(query: FullTextQuery, queryType?: string): Query<RowType>;
  search(
    query: string,
    queryType?: 'auto',
    ftsColumns?: string | readonly string[],
  ): AutoQuery<RowType>;
  search(query: string, queryType: 'vector'): VectorQuery<RowType>;
  search(query: string, queryType: 'fts', ftsColumns?: string | readonly string[]): Query<RowType>;
  search(query: QueryVectors, queryType?: string): VectorQuery<RowType>;
  search(
    query: string | FullTextQuery | QueryVectors,
    queryType?: string,
    ftsColumns?: string | readonly string[],
  ): Query<RowType> | VectorQuery<RowType> | AutoQuery<RowType>;
  search(
    query: string | FullTextQuery | QueryVectors,
    queryType?: string,
    columns?: string | readonly string[],
  ): Query<RowType> | VectorQuery<RowType> | AutoQuery<RowType> {
    return searchOf(this.#at, query, queryType, columns);
  }

  async toArrow(options?: CallOptions): Promise<ArrowTable> {
    return this.query().toArrow(options);
  }

  /** All rows as one stream of batches with their schema, which can be read once. */
  override async stream(options?: CallOptions): Promise<RecordBatchStream> {
    return this.query().stream(options);
  }

  /** Adds rows as one new version, or none of them. */
  async add(rows: RowsInput<RowType>, options: AddDataOptions = {}): Promise<AddResult> {
    return this.#rows.add(rows as DataInput, options);
  }

  /** Sets columns of the rows that fit. @throws TableColumnNotFound, InvalidInput */
  async update(
    input: UpdateInput<RowType>,
    options: UpdateOptions & CallOptions = {},
  ): Promise<UpdateResult> {
    return this.#rows.update(input as UpdateInput, options);
  }

  /** Deletes the rows that fit an SQL predicate. */
  async delete(predicate: string, options?: CallOptions): Promise<DeleteResult> {
    return this.#rows.delete(predicate, options);
  }

  /** Deletes rows by their `_rowid`; ids of rows that are gone are ignored. */
  async deleteRows(rowIds: RowIds, options?: CallOptions): Promise<DeleteResult> {
    return this.#rows.deleteRows(rowIds, options);
  }

  /** Starts a merge by the key columns `on`; what the data does not have keeps its values. */
  mergeInsert(on: string | readonly string[]): MergeInsertBuilder<RowType> {
    return this.#rows.mergeInsert(on);
  }

  /** Pins the handle to a version of its branch, or to a tag's; it then refuses to write. */
  async checkout(
    version: number | string | VersionSelection,
    options?: CallOptions,
  ): Promise<void> {
    this.#at.lifetime.enter(options);
    const selection = selectionOf(version, this.#at.newest.branch);
    checkOptionNames(selection ?? undefined, SELECTION_MEMBERS);
    await this.#at.pin(await resolveSelection(() => this.#at.newest, selection, options), options);
  }

  /** Follows the newest version again. */
  async checkoutLatest(options?: CallOptions): Promise<void> {
    this.#at.reading(options);
    this.#at.follow();
  }

  /** Makes an old version the newest: the one given, or else the one checked out. */
  async restore(version?: number | string, options?: CallOptions): Promise<void> {
    return restoreVersion(this.#at, version, options);
  }

  /** The history of the handle's branch. */
  async listVersions(options?: ListVersionsOptions): Promise<Version[]> {
    this.#at.lifetime.enter(options);
    return listVersions(this.#at.target, options);
  }

  /**
   * Tells what the columns are like: nulls, bounds, distinct and frequent values, histograms. Of all
   * rows, or of a sample where the time is up.
   */
  async profile(options: ProfileOptions = {}): Promise<TableProfile> {
    return this.#insight.profile(options);
  }

  /**
   * Compares two versions: a number is one of the handle's branch, a text a tag. `to` is what the
   * handle reads if absent. @throws TableVersionNotFound, TableTagNotFound
   */
  async diff(
    from: number | string | VersionSelection,
    to?: number | string | VersionSelection,
    options: DiffOptions = {},
  ): Promise<TableDiff> {
    return this.#insight.diff(from, to, options);
  }

  /** The Arrow files that hold the rows, for programs that read them without this package. */
  async files(options: FilesOptions = {}): Promise<TableFiles> {
    return tableFiles(this.#at, options);
  }

  /** The tags of the table, of all its branches. */
  async tags(): Promise<Tags> {
    this.#at.lifetime.enter();
    return new Tags(this.#at.target);
  }

  /** The branches of the table but the main one. */
  async branches(): Promise<Branches> {
    this.#at.lifetime.enter();
    const { home, newest } = this.#at;
    const made = (branch: string) => new Table(home, onTable(newest), branch);
    return new Branches(newest, made, (...at) => Table.open(home, onTable(newest), ...at));
  }

  /** Joins small fragments, and removes versions that are a week old; those with tags stay. Row ids change. */
  async optimize(options: OptimizeOptions = {}): Promise<OptimizeStats> {
    return optimizeTable(this.#at, options);
  }

  /** As `optimize`, whose work the job does: of a server where the table is on one. */
  async optimizeAsync(options: OptimizeOptions = {}): Promise<Job> {
    return optimizeTableAsync(this.#at, options);
  }

  /** Replaces the metadata of the schema and answers what it is then. */
  async updateSchemaMetadata(
    metadata: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Record<string, string>> {
    return this.#columns.updateSchemaMetadata(metadata, options);
  }

  /** Sets and removes keys in the metadata of fields, as one version. */
  async updateFieldMetadata(
    updates: readonly FieldMetadataUpdate[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    return this.#columns.updateFieldMetadata(updates, options);
  }

  /**
   * Says in the metadata that a column is the primary key, as Lance reads it: nothing enforces it, and it stays.
   * @throws InvalidInput where there is one already, and for a column that may be null or has another type
   */
  async setUnenforcedPrimaryKey(
    columns: string | readonly string[],
    options?: CallOptions,
  ): Promise<void> {
    await this.#columns.setPrimaryKey(columns, options);
  }

  /** Null: a table is opened without any. */
  async initialStorageOptions(options?: CallOptions): Promise<Record<string, string> | null> {
    this.#at.reading(options);
    return null;
  }

  /** What the catalog vends for access to the table's files; null where it vends nothing. */
  async latestStorageOptions(options?: CallOptions): Promise<Record<string, string> | null> {
    return this.#insight.storageOptions(options);
  }

  /** By SQL, of nulls, or computed: only values rewrite files. @throws InvalidInput for a name that is taken */
  async addColumns(columns: NewColumns, options?: CallOptions): Promise<WriteResult> {
    return this.#columns.addColumns(columns, options);
  }

  /** Fills the rows of a computed column that have no value. @throws TableColumnNotFound */
  async refreshColumn(
    column: string,
    options: RefreshColumnOptions = {},
  ): Promise<RefreshColumnResult> {
    return this.#columns.refreshColumn(column, options);
  }

  /** As `refreshColumn`, whose work the job does. @throws TableColumnNotFound, InvalidInput */
  async refreshColumnAsync(column: string, options: RefreshColumnOptions = {}): Promise<Job> {
    return this.#columns.refreshColumnAsync(column, options);
  }

  /**
   * Renames columns, changes their types and what may be null, all as one version. @throws
   * InvalidInput naming the first row whose value does not fit the new type
   */
  async alterColumns(
    alterations: readonly ColumnAlteration[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    return this.#columns.alterColumns(alterations, options);
  }

  /** @throws TableColumnNotFound, InvalidInput when no column would be left */
  async dropColumns(columns: readonly string[], options?: CallOptions): Promise<WriteResult> {
    return this.#columns.dropColumns(columns, options);
  }

  /** @throws Unsupported, TableColumnNotFound, TableIndexAlreadyExists where `replace` is false */
  async createIndex(column: string, options: IndexOptions = {}): Promise<void> {
    return this.#indexes.create(column, options);
  }

  /** Begins to create an index, which is there once the job has finished. @throws TableColumnNotFound */
  async createIndexAsync(column: string, options: IndexOptions = {}): Promise<Job> {
    return this.#indexes.createAsync(column, options);
  }

  /** The words of a text as a full-text index looks for them. @throws TableIndexNotFound */
  async tokenize(
    text: string,
    of: TokenizeTableOptions,
    options?: CallOptions,
  ): Promise<FtsToken[]> {
    return this.#indexes.tokenize(text, of, options);
  }

  async listIndices(options: CallOptions = {}): Promise<IndexConfig[]> {
    return this.#indexes.list(options);
  }

  /** Undefined where there is no index of the name. */
  async indexStats(name: string, options: CallOptions = {}): Promise<IndexStatistics | undefined> {
    return this.#indexes.statistics(name, options);
  }

  async dropIndex(name: string, options: CallOptions = {}): Promise<void> {
    return this.#indexes.drop(name, options);
  }

  /** Resolves once all of these are there and cover every row. @throws ServiceUnavailable when the time is up */
  async waitForIndex(
    indexNames: string | readonly string[],
    timeoutSeconds: number,
    options: CallOptions = {},
  ): Promise<void> {
    return this.#indexes.waitFor(indexNames, timeoutSeconds, options);
  }

  /** Reads an index into memory before it is asked. @throws TableIndexNotFound, Unsupported */
  async prewarmIndex(name: string, options: CallOptions = {}): Promise<void> {
    return this.#indexes.prewarm(name, options);
  }
}
