/**
 * `Connection`: an open catalog for programs, with methods for namespaces, tables, the trash,
 * transactions and watching. All but watching calls operations of the protocol, so a connection
 * behaves the same on every catalog.
 */
import { type Env, systemEnv } from '../env.ts';
import {
  type AlterTransactionAction,
  type AlterTransactionResponse,
  type CallOptions,
  type CatalogWatch,
  type DeclareTableResponse,
  type DeregisterTableResponse,
  type DescribeNamespaceResponse,
  type DescribeTableRequest,
  type DescribeTableResponse,
  type DescribeTransactionResponse,
  parseId,
  type RegisterTableResponse,
  type UndropTableResponse,
  unsupported,
} from '../protocol/index.ts';
import {
  type CreateNamespaceOptions,
  type CreateNamespaceResult,
  type CreateTableArguments,
  type CreateTableOptions,
  checkedChanges,
  copy,
  createMode,
  type DeclareTableOptions,
  type DropNamespaceOptions,
  type DropNamespaceResult,
  declared,
  type ListNamespacesResult,
  type ListTablesOptions,
  type ListTablesResult,
  type ListTrashOptions,
  type NamespacePropertyChanges,
  namesFrom,
  type OpenTableOptions,
  type PageOptions,
  type PurgeTrashOptions,
  type PurgeTrashResult,
  page,
  pathAndOptions,
  propertiesOf,
  purgeRequest,
  type RegisterTableOptions,
  type RenameTableOptions,
  type SyncLanceResult,
  syncedTable,
  type TableExistsOptions,
  type TableNamesOptions,
  type TrashedItem,
  trashedItem,
  type UndropTableOptions,
  type WatchOptions,
} from './connection-options.ts';
import {
  type AnyRow,
  type DataInput,
  type RowsInput,
  type SchemaInput,
  toRecordBatchStream,
} from './convert/index.ts';
import {
  type Catalog,
  CONNECTION_OPTIONS,
  CREATE_OPTIONS,
  checkChangeOptions,
  checkOptionNames,
  DESCRIBE_MEMBERS,
  defined,
  type Home,
  isThere,
  Lifetime,
  OPEN_OPTIONS,
  pages,
  pathOf,
  refuseEmbeddings,
  tableId,
} from './handles/index.ts';
import { Table } from './table/index.ts';

/** An open catalog: namespaces, tables by name, the trash, transactions and watching. */
export class Connection implements AsyncDisposable {
  /** The bare protocol. It ends with the connection. */
  readonly namespace: Catalog;
  readonly #home: Home;
  readonly #label: string;
  #closing: Promise<void> | undefined;

  /** `connect` and `connectNamespace` make connections. */
  constructor(namespace: Catalog, options: { readonly label?: string; readonly env?: Env } = {}) {
    this.namespace = namespace;
    this.#label = options.label ?? 'custom';
    const lifetime = new Lifetime(() => 'The connection');
    this.#home = { catalog: namespace, lifetime, env: options.env ?? systemEnv };
  }

  isOpen(): boolean {
    return this.#home.lifetime.isOpen;
  }

  /** Ends the handles of its tables too. What is called after it throws Closed. */
  close(): Promise<void> {
    this.#home.lifetime.end();
    this.#closing ??= this.namespace.close();
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
    checkChangeOptions(options, CONNECTION_OPTIONS.createNamespace);
    const { mode, properties } = options;
    const request = defined({ id: this.#path(path, options), mode, properties: copy(properties) });
    const answer = await this.namespace.createNamespace(request, options);
    return defined({ properties: answer.properties, transactionId: answer.transaction_id });
  }

  async listNamespaces(options?: PageOptions): Promise<ListNamespacesResult>;
  async listNamespaces(
    path?: readonly string[],
    options?: PageOptions,
  ): Promise<ListNamespacesResult>;
  async listNamespaces(
    pathOrOptions?: readonly string[] | PageOptions,
    given?: PageOptions,
  ): Promise<ListNamespacesResult> {
    const [id, options] = this.#enter(pathOrOptions, given, CONNECTION_OPTIONS.page);
    const answer = await this.namespace.listNamespaces({ id, ...page(options) }, options);
    return defined({ namespaces: answer.namespaces, pageToken: answer.page_token });
  }

  async describeNamespace(
    path: readonly string[],
    options?: CallOptions,
  ): Promise<DescribeNamespaceResponse> {
    return this.namespace.describeNamespace({ id: this.#path(path, options) }, options);
  }

  async namespaceExists(path: readonly string[], options?: CallOptions): Promise<boolean> {
    const id = this.#path(path, options);
    return isThere(this.namespace.namespaceExists({ id }, options), 'NamespaceNotFound');
  }

  async dropNamespace(
    path: readonly string[],
    options: DropNamespaceOptions = {},
  ): Promise<DropNamespaceResult> {
    checkChangeOptions(options, CONNECTION_OPTIONS.dropNamespace);
    const { mode, behavior } = options;
    const request = defined({ id: this.#path(path, options), mode, behavior });
    const answer = await this.namespace.dropNamespace(request, options);
    return defined({ properties: answer.properties, transactionId: answer.transaction_id });
  }

  /** Sets and removes single properties and answers what they are then. */
  async updateNamespaceProperties(
    path: readonly string[],
    changes: NamespacePropertyChanges,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, string>>> {
    const id = this.#path(path, options);
    checkChangeOptions(options);
    const { namespace } = this;
    if (namespace.updateNamespaceProperties === undefined) {
      throw unsupported('UpdateNamespaceProperties');
    }
    const { properties, removals } = checkedChanges(changes);
    const request = defined({ id, properties, removals });
    return (await namespace.updateNamespaceProperties(request, options)).properties;
  }

  /** All names of a namespace's tables, sorted; see `listTables` for pages. */
  async tableNames(options?: TableNamesOptions): Promise<string[]>;
  async tableNames(path?: readonly string[], options?: TableNamesOptions): Promise<string[]>;
  async tableNames(
    pathOrOptions?: readonly string[] | TableNamesOptions,
    given?: TableNamesOptions,
  ): Promise<string[]> {
    const [id, options] = this.#enter(pathOrOptions, given, CONNECTION_OPTIONS.tableNames);
    return namesFrom(options, () =>
      pages((token) => this.namespace.listTables({ id, ...token }, options)),
    );
  }

  /** One page of a namespace's tables, sorted by name. */
  async listTables(options?: ListTablesOptions): Promise<ListTablesResult>;
  async listTables(
    path?: readonly string[],
    options?: ListTablesOptions,
  ): Promise<ListTablesResult>;
  async listTables(
    pathOrOptions?: readonly string[] | ListTablesOptions,
    given?: ListTablesOptions,
  ): Promise<ListTablesResult> {
    const [id, options] = this.#enter(pathOrOptions, given, CONNECTION_OPTIONS.listTables);
    const request = { id, ...page(options), ...declared(options) };
    const answer = await this.namespace.listTables(request, options);
    return defined({ tables: answer.tables, pageToken: answer.page_token });
  }

  /** Tables of all namespaces by their string ids, such as `prod$search$user`. */
  async listAllTables(options: ListTablesOptions = {}): Promise<ListTablesResult> {
    this.#home.lifetime.enter(options);
    checkOptionNames(options, CONNECTION_OPTIONS.listTables);
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
    options?: CreateTableOptions,
  ): Promise<Table<RowType>>;
  async createTable<RowType = AnyRow>(
    name: string,
    data: RowsInput<NoInfer<RowType>>,
    namespacePath?: readonly string[],
    options?: CreateTableOptions,
  ): Promise<Table<RowType>>;
  async createTable(
    nameOrAll: string | CreateTableArguments,
    dataOrPath?: DataInput | readonly string[],
    pathOrOptions?: readonly string[] | CreateTableOptions,
    given?: CreateTableOptions,
  ): Promise<Table> {
    if (typeof nameOrAll === 'object') {
      const { name, data, ...options } = nameOrAll;
      const [path] = pathAndOptions<CreateTableOptions>(dataOrPath as readonly string[], undefined);
      return this.#createTable(tableId(name, path), data, options);
    }
    const [path, options] = pathAndOptions<CreateTableOptions>(pathOrOptions, given);
    return this.#createTable(tableId(nameOrAll, path), dataOrPath as DataInput, options);
  }

  /** Makes a table without rows from a schema: an Arrow one, or its JSON form. */
  async createEmptyTable(
    name: string,
    schema: SchemaInput,
    options?: CreateTableOptions,
  ): Promise<Table>;
  async createEmptyTable(
    name: string,
    schema: SchemaInput,
    namespacePath?: readonly string[],
    options?: CreateTableOptions,
  ): Promise<Table>;
  async createEmptyTable(
    name: string,
    schema: SchemaInput,
    pathOrOptions?: readonly string[] | CreateTableOptions,
    given?: CreateTableOptions,
  ): Promise<Table> {
    const [path, options] = pathAndOptions<CreateTableOptions>(pathOrOptions, given);
    return this.#createTable(tableId(name, path), [], { ...options, schema });
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
    return Table.open<RowType>(this.#home, { id: tableId(name, namespacePath) }, options, options);
  }

  /** Whether the table is there, and its version where one is given. */
  async tableExists(
    name: string,
    namespacePath?: readonly string[],
    options: TableExistsOptions = {},
  ): Promise<boolean> {
    const id = this.#table(name, namespacePath, options);
    checkOptionNames(options, CONNECTION_OPTIONS.tableExists);
    const request = defined({ id, version: options.version });
    return isThere(
      this.namespace.tableExists(request, options),
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
    const id = this.#table(name, namespacePath, options);
    checkChangeOptions(options, CONNECTION_OPTIONS.declareTable);
    const { location, properties, vendCredentials: vend_credentials } = options;
    const request = defined({ id, location, properties: copy(properties), vend_credentials });
    return this.namespace.declareTable(request, options);
  }

  /** What the catalog knows of a table; `members` are those of the protocol's request. */
  async describeTable(
    name: string,
    namespacePath?: readonly string[],
    members: Omit<DescribeTableRequest, 'id'> = {},
    options?: CallOptions,
  ): Promise<DescribeTableResponse> {
    const id = this.#table(name, namespacePath, options);
    checkOptionNames(members, DESCRIBE_MEMBERS);
    return this.namespace.describeTable({ ...members, id }, options);
  }

  /** Takes a table away; `undropTable` brings it back for as long as the trash is kept. */
  async dropTable(
    name: string,
    namespacePath?: readonly string[],
    options?: CallOptions,
  ): Promise<void> {
    const id = this.#table(name, namespacePath, options);
    checkChangeOptions(options);
    await this.namespace.dropTable({ id }, options);
  }

  /** Brings back the table that was dropped last under this name, or the one named by `trashId`. */
  async undropTable(
    name: string,
    namespacePath?: readonly string[],
    options: UndropTableOptions = {},
  ): Promise<UndropTableResponse> {
    const id = this.#table(name, namespacePath, options);
    checkChangeOptions(options, CONNECTION_OPTIONS.undropTable);
    if (this.namespace.undropTable === undefined) throw unsupported('UndropTable');
    return this.namespace.undropTable(defined({ id, trash_id: options.trashId }), options);
  }

  /** Drops the tables of one namespace, not those of the namespaces in it. */
  async dropAllTables(namespacePath?: readonly string[], options?: CallOptions): Promise<void> {
    const path = namespacePath && pathOf(namespacePath);
    checkChangeOptions(options);
    const names = await this.tableNames(path, options);
    for (const name of names) {
      // Another program may drop them at the same time.
      await isThere(this.dropTable(name, path, options), 'TableNotFound');
    }
  }

  /** Forgets a table and keeps its data, which `registerTable` can take in again. */
  async deregisterTable(
    name: string,
    namespacePath?: readonly string[],
    options?: CallOptions,
  ): Promise<DeregisterTableResponse> {
    const id = this.#table(name, namespacePath, options);
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
    const id = this.#table(name, namespacePath, options);
    checkChangeOptions(options, CONNECTION_OPTIONS.registerTable);
    const { mode, properties } = options;
    const request = defined({ id, location, mode, properties: copy(properties) });
    return this.namespace.registerTable(request, options);
  }

  /** Renames a table, or moves it to another namespace. */
  async renameTable(
    currentName: string,
    newName: string,
    options: RenameTableOptions = {},
  ): Promise<void> {
    checkChangeOptions(options, CONNECTION_OPTIONS.renameTable);
    const { namespacePath, newNamespacePath } = options;
    const id = this.#table(currentName, namespacePath, options);
    const moved = newNamespacePath && pathOf(newNamespacePath, 'newNamespacePath');
    const request = defined({ id, new_table_name: newName, new_namespace_id: moved });
    await this.namespace.renameTable(request, options);
  }

  /**
   * Lets Lance open a table, or all tables below a namespace, by path as they are now: all versions, tags and
   * branches. Without a path also the catalog itself, by Lance's own directory namespace.
   */
  async syncLance(path: readonly string[] = [], options?: CallOptions): Promise<SyncLanceResult> {
    const id = this.#path(path, options);
    checkChangeOptions(options, CONNECTION_OPTIONS.syncLance);
    if (this.namespace.syncLance === undefined) throw unsupported('SyncLance');
    const { tables, catalog } = await this.namespace.syncLance({ id }, options);
    return { tables: tables.map(syncedTable), ...(catalog === undefined ? {} : { catalog }) };
  }

  /** What was dropped at or below a namespace and can be brought back, newest drop first. */
  async listTrash(
    path: readonly string[] = [],
    options?: ListTrashOptions,
  ): Promise<TrashedItem[]> {
    const id = this.#path(path, options);
    checkOptionNames(options, CONNECTION_OPTIONS.listTrash);
    if (this.namespace.listTrash === undefined) throw unsupported('ListTrash');
    const request = defined({ id, detached: options?.detached });
    const { entries } = await this.namespace.listTrash(request, options);
    return entries.map(trashedItem);
  }

  /** Removes for good what was dropped: all of it, or what was dropped before a time. */
  async purgeTrash(options: PurgeTrashOptions = {}): Promise<PurgeTrashResult> {
    this.#home.lifetime.enter(options);
    checkChangeOptions(options, CONNECTION_OPTIONS.purgeTrash);
    if (this.namespace.purgeTrash === undefined) throw unsupported('PurgeTrash');
    const request = purgeRequest(options, this.#home.env);
    const { removed, dry_run } = await this.namespace.purgeTrash(request, options);
    return { removed, dryRun: dry_run };
  }

  /**
   * Events from now on, until the signal or the end of the connection ends them. Waiting for one does
   * not keep the process alive.
   */
  watch(options: WatchOptions = {}): CatalogWatch {
    checkOptionNames(options, CONNECTION_OPTIONS.watch);
    const { path, signal } = options;
    this.#home.lifetime.enter(options);
    if (this.namespace.watch === undefined) throw unsupported('Watch');
    const id = path && pathOf(path, 'path');
    return this.namespace.watch(defined({ id }), defined({ signal }));
  }

  /** The transaction of a commit, by the id that the commit answered. */
  async describeTransaction(
    id: string | readonly string[],
    options?: CallOptions,
  ): Promise<DescribeTransactionResponse> {
    const path = this.#transaction(id, options);
    return this.namespace.describeTransaction({ id: path }, options);
  }

  async alterTransaction(
    id: string | readonly string[],
    actions: readonly AlterTransactionAction[],
    options?: CallOptions,
  ): Promise<AlterTransactionResponse> {
    const path = this.#transaction(id, options);
    checkChangeOptions(options);
    return this.namespace.alterTransaction({ id: path, actions: actions.slice() }, options);
  }

  async #createTable(id: string[], data: DataInput, options: CreateTableOptions): Promise<Table> {
    this.#home.lifetime.enter(options);
    checkChangeOptions(options, CREATE_OPTIONS);
    refuseEmbeddings(options);
    const { schema, vectorColumns, signal, storageOptions } = options;
    const properties = propertiesOf(options);
    const rows = await toRecordBatchStream(data, { schema, vectorColumns, signal });
    const request = defined({
      id,
      mode: createMode(options),
      properties,
      storage_options: copy(storageOptions),
    });
    const { incarnation } = await this.namespace.createTable(request, rows, options);
    return new Table(this.#home, defined({ id, incarnation }));
  }

  #table(name: string, path?: readonly string[], options?: CallOptions): string[] {
    this.#home.lifetime.enter(options);
    return tableId(name, path);
  }

  #enter<Options extends CallOptions>(
    pathOrOptions: readonly string[] | Options | undefined,
    given: Options | undefined,
    known: readonly string[],
  ): [string[], Options] {
    const [path, options] = pathAndOptions(pathOrOptions, given);
    checkOptionNames(options, known);
    this.#home.lifetime.enter(options);
    return [path, options];
  }

  #path(path: readonly string[], options?: CallOptions): string[] {
    this.#home.lifetime.enter(options);
    return pathOf(path, 'path');
  }

  #transaction(id: string | readonly string[], options?: CallOptions): string[] {
    this.#home.lifetime.enter(options);
    return typeof id === 'string' ? parseId(id) : pathOf(id, 'id');
  }
}
