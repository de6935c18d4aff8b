/**
 * `Connection` is an open catalog, in a directory or on a server. Its methods work on namespaces,
 * tables, views, files, jobs, transactions and the trash, run SQL, and watch for changes. An
 * operation that the catalog lacks rejects with Unsupported. `close` ends the handles of its
 * tables, cancels its jobs that run in this process, and closes the catalog; later calls throw
 * Closed.
 */
import { systemEnv } from '../env.ts';
import type {
  AlterTransactionAction,
  AlterTransactionResponse,
  CallOptions,
  CatalogWatch,
  DeclareTableResponse,
  DeregisterTableResponse,
  DescribeNamespaceResponse,
  DescribeTableRequest,
  DescribeTableResponse,
  DescribeTransactionResponse,
  RegisterTableResponse,
  UndropTableResponse,
} from '../protocol/index.ts';
import { Calls } from './connection-calls.ts';
import {
  type CloneTableOptions,
  type CreateNamespaceOptions,
  type CreateNamespaceResult,
  type CreateTableArguments,
  type CreateTableOptions,
  type DeclareTableOptions,
  type DropNamespaceOptions,
  type DropNamespaceResult,
  declared,
  type ListNamespacesResult,
  type ListTablesOptions,
  type ListTablesResult,
  type NamespacePropertyChanges,
  namesFrom,
  type OpenTableOptions,
  type PageOptions,
  type PathAndOptions,
  page,
  type RegisterTableOptions,
  type RenameTableOptions,
  type TableExistsOptions,
  type TableNamesOptions,
  type WatchOptions,
} from './connection-options.ts';
import type { AnyRow, DataInput, RowsInput, SchemaInput } from './convert/index.ts';
import { createTable, tableToCreate } from './create-table.ts';
import type { FileInput } from './files/index.ts';
import {
  type Catalog,
  CONNECTION_OPTIONS,
  checkChangeOptions,
  checkOptionNames,
  DESCRIBE_MEMBERS,
  defined,
  type Home,
  isThere,
  Lifetime,
  OPEN_OPTIONS,
  offered,
  pages,
  pathOf,
  refuseReadOptions,
  tableId,
} from './handles/index.ts';
import * as files from './import-file.ts';
import { type Job, type JobInfo, jobsOf } from './jobs/index.ts';
import * as lance from './lance.ts';
import * as views from './materialized-view.ts';
import * as namespaces from './namespaces.ts';
import { type SqlOptions, SqlQuery } from './query/index.ts';
import { Table } from './table/index.ts';
import * as names from './table-names.ts';
import * as trash from './trash.ts';

/** An open catalog: namespaces, tables by name, the trash, transactions and watching. */
export class Connection implements AsyncDisposable {
  /** The bare protocol. It ends with the connection. */
  readonly namespace: Catalog;
  readonly #home: Home;
  readonly #calls: Calls;
  readonly #label: string;
  #closing: Promise<void> | undefined;

  /** `connect` and `connectNamespace` make connections. */
  constructor(namespace: Catalog, options: { readonly label?: string } & Partial<Home> = {}) {
    this.namespace = namespace;
    this.#label = options.label ?? 'custom';
    const lifetime = new Lifetime(() => 'Connection');
    this.#home = { env: systemEnv, ...options, catalog: namespace, lifetime };
    this.#calls = new Calls(lifetime);
  }

  isOpen(): boolean {
    return this.#home.lifetime.isOpen;
  }

  /** Ends the handles of its tables too. What is called after it throws Closed. */
  close(): Promise<void> {
    this.#home.lifetime.end();
    this.#closing ??= jobsOf(this.#home)
      .end()
      .then(() => this.namespace.close());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One line for people. */
  display(): string {
    return `Connection(${this.#label})`;
  }

  async createNamespace(
    path: readonly string[],
    options: CreateNamespaceOptions = {},
  ): Promise<CreateNamespaceResult> {
    return namespaces.createNamespace(this.#home, this.#calls.path(path, options), options);
  }

  async listNamespaces(...given: PathAndOptions<PageOptions>): Promise<ListNamespacesResult> {
    const [id, options] = this.#calls.listing(given, CONNECTION_OPTIONS.page);
    const answer = await this.namespace.listNamespaces({ id, ...page(options) }, options);
    return defined({ namespaces: answer.namespaces, pageToken: answer.page_token });
  }

  async describeNamespace(
    path: readonly string[],
    options?: CallOptions,
  ): Promise<DescribeNamespaceResponse> {
    return this.namespace.describeNamespace({ id: this.#calls.path(path, options) }, options);
  }

  async namespaceExists(path: readonly string[], options?: CallOptions): Promise<boolean> {
    const id = this.#calls.path(path, options);
    return isThere(this.namespace.namespaceExists({ id }, options), 'NamespaceNotFound');
  }

  async dropNamespace(
    path: readonly string[],
    options: DropNamespaceOptions = {},
  ): Promise<DropNamespaceResult> {
    return namespaces.dropNamespace(this.#home, this.#calls.path(path, options), options);
  }

  /** Sets and removes single properties and answers what they are then. */
  async updateNamespaceProperties(
    path: readonly string[],
    changes: NamespacePropertyChanges,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, string>>> {
    return namespaces.updateNamespaceProperties(
      this.#home,
      this.#calls.path(path, options),
      changes,
      options,
    );
  }

  /** All names of a namespace's tables, sorted; see `listTables` for pages. */
  async tableNames(...given: PathAndOptions<TableNamesOptions>): Promise<string[]> {
    const [id, options] = this.#calls.listing(given, CONNECTION_OPTIONS.tableNames);
    return namesFrom(options, () =>
      pages((token) => this.namespace.listTables({ id, ...token }, options)),
    );
  }

  /** One page of a namespace's tables, sorted by name. */
  async listTables(...given: PathAndOptions<ListTablesOptions>): Promise<ListTablesResult> {
    const [id, options] = this.#calls.listing(given, CONNECTION_OPTIONS.listTables);
    const request = { id, ...page(options), ...declared(options) };
    const answer = await this.namespace.listTables(request, options);
    return defined({ tables: answer.tables, pageToken: answer.page_token });
  }

  /** Tables of all namespaces by their string ids, such as `prod$search$user`. */
  async listAllTables(options: ListTablesOptions = {}): Promise<ListTablesResult> {
    this.#calls.listing([options], CONNECTION_OPTIONS.listTables);
    const request = { ...page(options), ...declared(options) };
    const answer = await this.namespace.listAllTables(request, options);
    return defined({ tables: answer.tables, pageToken: answer.page_token });
  }

  /**
   * Makes a table with its rows: readers see all of it or nothing. The type of its rows may be named,
   * as in `createTable<{ id: number }>('users', rows)`; see `openTable`.
   */
  async createTable<RowType = AnyRow>(
    options: CreateTableArguments<NoInfer<RowType>>,
    namespacePath?: readonly string[],
  ): Promise<Table<RowType>>;
  async createTable<RowType = AnyRow>(
    name: string,
    data: RowsInput<NoInfer<RowType>>,
    ...given: PathAndOptions<CreateTableOptions>
  ): Promise<Table<RowType>>;
  async createTable(
    nameOrAll: string | CreateTableArguments,
    dataOrPath?: DataInput | readonly string[],
    ...given: PathAndOptions<CreateTableOptions>
  ): Promise<Table> {
    const { id, data, options } = tableToCreate(nameOrAll, dataOrPath, given[0], given[1]);
    return createTable(this.#home, id, data, options);
  }

  /** Makes a table without rows from a schema: an Arrow one, or its JSON form. */
  async createEmptyTable(
    name: string,
    schema: SchemaInput,
    ...given: PathAndOptions<CreateTableOptions>
  ): Promise<Table> {
    const { id, options } = tableToCreate(name, [], given[0], given[1]);
    return createTable(this.#home, id, [], { ...options, schema });
  }

  /**
   * Opens a table at its newest version, or pinned to the one that the options name. The type of
   * its rows may be named, as in `openTable<{ id: number }>('users')`: queries answer such rows, and
   * nothing compares them with the schema.
   */
  async openTable<RowType = AnyRow>(
    name: string,
    namespacePath?: readonly string[],
    options: OpenTableOptions = {},
  ): Promise<Table<RowType>> {
    checkOptionNames(options, OPEN_OPTIONS);
    refuseReadOptions(options);
    return Table.open<RowType>(this.#home, { id: tableId(name, namespacePath) }, options, options);
  }

  /** Defines a view of a table's rows; it is empty until it is refreshed. @throws TableAlreadyExists */
  async createMaterializedView(
    name: string,
    source: string,
    options: views.CreateViewOptions = {},
  ): Promise<views.MaterializedView> {
    return views.createView(this.#home, name, source, options);
  }

  /** @throws TableNotFound, InvalidTableState for a plain table */
  async openMaterializedView(
    name: string,
    options: views.OpenViewOptions = {},
  ): Promise<views.MaterializedView> {
    return views.openView(this.#home, name, options);
  }

  /** The names of the views in one namespace, whose tables are looked at one by one. */
  async listMaterializedViews(
    path: readonly string[] = [],
    options?: CallOptions,
  ): Promise<string[]> {
    return views.viewNames(this.#home, await this.tableNames(path, options), path, options);
  }

  /** Whether the table is there, and its version where one is given. */
  async tableExists(
    name: string,
    namespacePath?: readonly string[],
    options: TableExistsOptions = {},
  ): Promise<boolean> {
    const id = this.#calls.table(name, namespacePath, options);
    checkOptionNames(options, CONNECTION_OPTIONS.tableExists);
    return isThere(
      this.namespace.tableExists(defined({ id, version: options.version }), options),
      'TableNotFound',
      'TableVersionNotFound',
      'NamespaceNotFound',
    );
  }

  /** Reserves a name without data; `createTable` makes its first version. */
  async declareTable(
    name: string,
    namespacePath?: readonly string[],
    options: DeclareTableOptions = {},
  ): Promise<DeclareTableResponse> {
    const id = this.#calls.table(name, namespacePath, options);
    return names.declareTable(this.#home, id, options);
  }

  /** What the catalog knows of a table; `members` are those of the protocol's request. */
  async describeTable(
    name: string,
    namespacePath?: readonly string[],
    members: Omit<DescribeTableRequest, 'id'> = {},
    options?: CallOptions,
  ): Promise<DescribeTableResponse> {
    const id = this.#calls.table(name, namespacePath, options);
    checkOptionNames(members, DESCRIBE_MEMBERS);
    return this.namespace.describeTable({ ...members, id }, options);
  }

  /** Takes a table away; `undropTable` brings it back for as long as the trash is kept. */
  async dropTable(
    name: string,
    namespacePath?: readonly string[],
    options?: CallOptions,
  ): Promise<void> {
    const id = this.#calls.table(name, namespacePath, options);
    checkChangeOptions(options);
    await this.namespace.dropTable({ id }, options);
  }

  /** Drops the table as `dropTable` does, and then resolves with a job that has finished. */
  async dropTableAsync(
    name: string,
    namespacePath?: readonly string[],
    options?: CallOptions,
  ): Promise<Job> {
    await this.dropTable(name, namespacePath, options);
    const run = async (): Promise<null> => null;
    return jobsOf(this.#home).begin({ table: name, jobType: 'drop_table', spec: {}, run });
  }

  /** A job of this connection or of its server, by its id. @throws InvalidInput where there is none */
  async openJob(jobId: string, options?: CallOptions): Promise<Job> {
    this.#home.lifetime.enter(options);
    return jobsOf(this.#home).open(jobId, options);
  }

  /** The jobs of this connection and of its server, in the order in which they began. */
  async listJobs(options?: CallOptions): Promise<JobInfo[]> {
    this.#home.lifetime.enter(options);
    return jobsOf(this.#home).list(options);
  }

  /** Resolves once the job has ended; to false where there is none of that id. */
  async cancelJob(jobId: string, options?: CallOptions): Promise<boolean> {
    this.#home.lifetime.enter(options);
    return jobsOf(this.#home).cancel(jobId, options);
  }

  /** Brings back the table that was dropped last under this name, or the one named by `trashId`. */
  async undropTable(
    name: string,
    namespacePath?: readonly string[],
    options: trash.UndropTableOptions = {},
  ): Promise<UndropTableResponse> {
    const id = this.#calls.table(name, namespacePath, options);
    return trash.undropTable(this.#home, id, options);
  }

  /** Drops the tables of one namespace, not those of the namespaces in it. */
  async dropAllTables(namespacePath?: readonly string[], options?: CallOptions): Promise<void> {
    await namespaces.dropTablesOf(this, namespacePath && pathOf(namespacePath), options);
  }

  /** Forgets a table and keeps its data, which `registerTable` can take in again. */
  async deregisterTable(
    name: string,
    namespacePath?: readonly string[],
    options?: CallOptions,
  ): Promise<DeregisterTableResponse> {
    const id = this.#calls.table(name, namespacePath, options);
    checkChangeOptions(options);
    return this.namespace.deregisterTable({ id }, options);
  }

  /** Takes in data that is stored already, such as at the `location` that deregisterTable answered. */
  async registerTable(
    name: string,
    location: string,
    namespacePath?: readonly string[],
    options: RegisterTableOptions = {},
  ): Promise<RegisterTableResponse> {
    const id = this.#calls.table(name, namespacePath, options);
    return names.registerTable(this.#home, id, location, options);
  }

  /**
   * Makes a table of a version of another one, whose files it shares unless `isShallow` is false. The
   * source is a name or a location. @throws TableNotFound, TableAlreadyExists, TableVersionNotFound
   */
  async cloneTable(
    targetTableName: string,
    source: string,
    options: CloneTableOptions = {},
  ): Promise<Table> {
    const id = this.#calls.table(targetTableName, options.targetNamespacePath, options);
    const { incarnation } = await names.cloneTable(this.#home, id, source, options);
    return Table.open(this.#home, { id, incarnation }, {}, defined({ signal: options.signal }));
  }

  /** Renames a table, or moves it to another namespace. */
  async renameTable(
    currentName: string,
    newName: string,
    options: RenameTableOptions = {},
  ): Promise<void> {
    const id = this.#calls.table(currentName, options.namespacePath, options);
    await names.renameTable(this.#home, id, newName, options);
  }

  /** Writes the files by which Lance opens tables by path, as they are now: those below `path`, or the catalog too. */
  async syncLance(
    path: readonly string[] = [],
    options?: CallOptions,
  ): Promise<lance.SyncLanceResult> {
    const id = this.#calls.path(path, options);
    return lance.syncLance(this.#home, id, options);
  }

  /**
   * Makes a table of the rows of a Lance dataset, or adds them to one that is there. The folder lies outside of
   * the catalog; versions, tags and indexes stay behind.
   */
  async importLance(
    folder: string,
    name: string,
    namespacePath?: readonly string[],
    options: lance.ImportLanceOptions = {},
  ): Promise<Table> {
    this.#calls.table(name, namespacePath, options);
    return lance.importLance(this, this.#home, folder, [name, namespacePath], options);
  }

  /** Writes a version of a table as a Lance dataset of one version, whose folder must not be there yet. */
  async exportLance(
    folder: string,
    name: string,
    namespacePath?: readonly string[],
    options: lance.ExportLanceOptions = {},
  ): Promise<lance.ExportLanceResult> {
    this.#calls.table(name, namespacePath, options);
    return lance.exportLance(this, this.#home, folder, [name, namespacePath], options);
  }

  /** Makes a table of the rows of files, or adds or merges them: CSV, JSON, Arrow and others, compressed or not. */
  async importFile(
    file: FileInput | readonly FileInput[],
    name: string,
    namespacePath?: readonly string[],
    options: files.ImportFileOptions = {},
  ): Promise<files.ImportFileResult> {
    this.#calls.table(name, namespacePath, options);
    return files.importFile(this, this.#home, file, [name, namespacePath], options);
  }

  /**
   * A SELECT over the tables of the catalog, as in `db.sql('SELECT city, count(*) FROM prod.users GROUP BY
   * city')`. It runs when its rows are asked for, by `toArray`, `toArrow` or a loop over its batches.
   */
  sql<RowType = AnyRow>(text: string, options: SqlOptions = {}): SqlQuery<RowType> {
    this.#home.lifetime.enter();
    checkOptionNames(options, CONNECTION_OPTIONS.sql);
    return new SqlQuery(this.#home, text, options);
  }

  /** What was dropped at or below a namespace and can be brought back, newest drop first. */
  async listTrash(
    path: readonly string[] = [],
    options?: trash.ListTrashOptions,
  ): Promise<trash.TrashedItem[]> {
    const id = this.#calls.path(path, options);
    return trash.listTrash(this.#home, id, options);
  }

  /** Removes for good what was dropped: all of it, or what was dropped before a time. */
  async purgeTrash(options: trash.PurgeTrashOptions = {}): Promise<trash.PurgeTrashResult> {
    return trash.purgeTrash(this.#home, options);
  }

  /** Events from now on, until the signal or the connection ends. Waiting keeps no process alive. */
  watch(options: WatchOptions = {}): CatalogWatch {
    checkOptionNames(options, CONNECTION_OPTIONS.watch);
    const { path, signal } = options;
    this.#home.lifetime.enter(options);
    const id = path && pathOf(path, 'path');
    return offered(this.namespace, 'watch')(defined({ id }), defined({ signal }));
  }

  /** The transaction of a commit, by the id that the commit answered. */
  async describeTransaction(
    id: string | readonly string[],
    options?: CallOptions,
  ): Promise<DescribeTransactionResponse> {
    return this.namespace.describeTransaction(
      { id: this.#calls.transaction(id, options) },
      options,
    );
  }

  async alterTransaction(
    id: string | readonly string[],
    actions: readonly AlterTransactionAction[],
    options?: CallOptions,
  ): Promise<AlterTransactionResponse> {
    const path = this.#calls.transaction(id, options);
    checkChangeOptions(options);
    const copied = (Array.isArray(actions) ? [...actions] : actions) as AlterTransactionAction[];
    return this.namespace.alterTransaction({ id: path, actions: copied }, options);
  }
}
