/**
 * A catalog as its users see it: the tables, by name. Everything goes through the operations of the
 * protocol, so it is the same on every catalog.
 */
import { DirspaceError } from '../errors.ts';
import {
  type CallOptions,
  type DeclareTableResponse,
  type DeregisterTableResponse,
  type DescribeTableRequest,
  type DescribeTableResponse,
  type RegisterTableResponse,
  type UndropTableResponse,
  unsupported,
} from '../protocol/index.ts';
import { CatalogHandle } from './catalog-handle.ts';
import {
  type CreateTableArguments,
  type CreateTableOptions,
  createMode,
  type DeclareTableOptions,
  type ListTablesOptions,
  type ListTablesResult,
  pathAndOptions,
  type RegisterTableOptions,
  type RenameTableOptions,
  type TableExistsOptions,
  type TableNamesOptions,
  type UndropTableOptions,
} from './connection-options.ts';
import {
  type AnyRow,
  type DataInput,
  type SchemaInput,
  toRecordBatchStream,
} from './convert/index.ts';
import {
  CONNECTION_OPTIONS,
  CREATE_OPTIONS,
  checkChangeOptions,
  checkOptionNames,
  DESCRIBE_MEMBERS,
  defined,
  OPEN_OPTIONS,
  pages,
  pathOf,
  refuseEmbeddings,
  tableId,
} from './handles/index.ts';
import { copy, isThere, page } from './requests.ts';
import { Table, type VersionSelection } from './table/index.ts';

/** The version to open; the newest one of the main branch if absent. */
export type OpenTableOptions = VersionSelection & CallOptions;

/** Namespaces, transactions and watching are said at `CatalogHandle`. */
export class Connection extends CatalogHandle {
  /** All names of a namespace's tables, sorted; see `listTables` for pages. */
  async tableNames(options?: TableNamesOptions): Promise<string[]>;
  async tableNames(path?: readonly string[], options?: TableNamesOptions): Promise<string[]>;
  async tableNames(
    pathOrOptions?: readonly string[] | TableNamesOptions,
    given?: TableNamesOptions,
  ): Promise<string[]> {
    const [id, options] = this.enter(pathOrOptions, given, CONNECTION_OPTIONS.tableNames);
    const { startAfter, limit = Infinity } = options;
    const names: string[] = [];
    if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit >= 0)) {
      throw new DirspaceError('InvalidInput', `limit is ${limit}; give a whole number from 0 on.`);
    }
    if (limit === 0) return names;
    for await (const { tables } of pages((token) =>
      this.namespace.listTables({ id, ...token }, options),
    )) {
      for (const name of tables) {
        if (startAfter !== undefined && name <= startAfter) continue;
        if (names.push(name) >= limit) return names;
      }
    }
    return names;
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
    const [id, options] = this.enter(pathOrOptions, given, CONNECTION_OPTIONS.listTables);
    const request = { id, ...page(options), ...declared(options) };
    const answer = await this.namespace.listTables(request, options);
    return defined({ tables: answer.tables, pageToken: answer.page_token });
  }

  /** Tables of all namespaces by their string ids, such as `prod$search$user`. */
  async listAllTables(options: ListTablesOptions = {}): Promise<ListTablesResult> {
    this.home.lifetime.enter(options);
    checkOptionNames(options, CONNECTION_OPTIONS.listTables);
    const request = { ...page(options), ...declared(options) };
    const answer = await this.namespace.listAllTables(request, options);
    return defined({ tables: answer.tables, pageToken: answer.page_token });
  }

  /** Makes a table with its rows: readers see all of it or nothing. */
  async createTable(
    options: CreateTableArguments,
    namespacePath?: readonly string[],
  ): Promise<Table>;
  async createTable(name: string, data: DataInput, options?: CreateTableOptions): Promise<Table>;
  async createTable(
    name: string,
    data: DataInput,
    namespacePath?: readonly string[],
    options?: CreateTableOptions,
  ): Promise<Table>;
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
    return Table.open<RowType>(this.home, { id: tableId(name, namespacePath) }, options, options);
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
      // Somebody else may drop them too.
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

  async #createTable(id: string[], data: DataInput, options: CreateTableOptions): Promise<Table> {
    this.home.lifetime.enter(options);
    checkChangeOptions(options, CREATE_OPTIONS);
    refuseEmbeddings(options);
    const { schema, vectorColumns, signal, properties, storageOptions } = options;
    const rows = await toRecordBatchStream(data, { schema, vectorColumns, signal });
    const request = defined({
      id,
      mode: createMode(options),
      properties: copy(properties),
      storage_options: copy(storageOptions),
    });
    const { incarnation } = await this.namespace.createTable(request, rows, options);
    return new Table(this.home, defined({ id, incarnation }));
  }

  #table(name: string, path?: readonly string[], options?: CallOptions): string[] {
    this.home.lifetime.enter(options);
    return tableId(name, path);
  }
}

const declared = ({ includeDeclared }: ListTablesOptions): { include_declared?: boolean } =>
  defined({ include_declared: includeDeclared });
