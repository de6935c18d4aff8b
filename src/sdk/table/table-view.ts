/**
 * What a handle on a table points at, and everything it can read from there. What changes the
 * table, or where the handle points, is table.ts's.
 */
import { type Table as ArrowTable, ownSchema, type Schema } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type {
  CallOptions,
  CountTableRowsRequest,
  DescribeTableRequest,
  DescribeTableResponse,
} from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import {
  atVersion,
  branchMember,
  checkChangeOptions,
  defined,
  detailedRequest,
  displayPath,
  type Home,
  Lifetime,
  type OnTable,
  onBranch,
  onTable,
  type TableTarget,
} from '../handles/index.ts';
import {
  Query,
  type QueryVectors,
  rowNumbers,
  TakeQuery,
  type VectorQuery,
} from '../query/index.ts';
import { SchemaCache } from './schema-cache.ts';
import { type TableStatistics, tableStatistics } from './table-results.ts';

interface Pin extends TableTarget {
  readonly version: number;
  readonly schema: Schema;
}

export class TableView<RowType = AnyRow> implements Disposable, AsyncDisposable {
  protected readonly home: Home;
  protected readonly lifetime: Lifetime;
  readonly #schemas = new SchemaCache();
  #newest: TableTarget;
  #pin: Pin | undefined;
  #describe: DescribeTableRequest;

  /** Connections make tables; see `Connection.openTable`. */
  constructor(home: Home, { id, incarnation }: OnTable, branch?: string) {
    this.home = home;
    this.lifetime = new Lifetime(() => `The table ${displayPath(id)}`, home.lifetime);
    const { catalog } = home;
    const bound = incarnation === undefined ? {} : { incarnation };
    this.#newest = { catalog, lifetime: this.lifetime, id, ...bound, ...branchMember(branch) };
    this.#describe = detailedRequest(this.#newest);
  }

  get name(): string {
    return this.newest.id.at(-1) as string;
  }

  get namespacePath(): string[] {
    return this.newest.id.slice(0, -1);
  }

  isOpen(): boolean {
    return this.lifetime.isOpen;
  }

  /** What is called after it throws Closed. Queries made before it end too. */
  close(): void {
    this.lifetime.end();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** One line for people. */
  display(): string {
    const { id, branch, version } = this.target;
    const at = [branch, version].filter((part) => part !== undefined).join('@');
    return `Table(${displayPath(id)}${at === '' ? '' : ` at ${at}`})`;
  }

  /** The branch of the handle; null for the main branch. */
  currentBranch(): string | null {
    return this.target.branch ?? null;
  }

  async schema(options?: CallOptions): Promise<Schema> {
    return ownSchema(await this.sharedSchema(options));
  }

  /** The number of the version checked out, or else of the newest. */
  async version(options?: CallOptions): Promise<number> {
    this.lifetime.enter(options);
    if (this.#pin !== undefined) return this.#pin.version;
    const answer = await this.#details(options);
    if (answer.version === undefined) requireData(this.newest.id, answer);
    return answer.version as number;
  }

  /** Rows that fit the SQL predicate; all if absent. */
  async countRows(filter?: string, options?: CallOptions): Promise<number> {
    this.lifetime.enter(options);
    const request: CountTableRowsRequest = atVersion(this.target);
    if (filter !== undefined) request.predicate = filter;
    return (await this.home.catalog.countTableRows(request, options)).count;
  }

  /** The absolute path of the table's folder, or what the catalog says instead. */
  async location(options?: CallOptions): Promise<string | undefined> {
    this.lifetime.enter(options);
    return (await this.home.catalog.describeTable(onTable(this.newest), options)).location;
  }

  async uri(options?: CallOptions): Promise<string | undefined> {
    this.lifetime.enter(options);
    const request = { ...onTable(this.newest), with_table_uri: true };
    return (await this.home.catalog.describeTable(request, options)).table_uri;
  }

  /** Sizes of the newest version; a version checked out has none. */
  async stats(options?: CallOptions): Promise<TableStatistics> {
    this.lifetime.enter(options);
    if (this.#pin !== undefined) {
      throw new DirspaceError(
        'Unsupported',
        `Statistics are of the newest version, but ${this.display()} is checked out; call checkoutLatest() first.`,
      );
    }
    const request = onBranch(this.newest);
    return tableStatistics(await this.home.catalog.getTableStats(request, options));
  }

  query(): Query<RowType> {
    this.lifetime.enter();
    return new Query(this.target);
  }

  /** The rows at these positions of this version, counted from 0. */
  takeOffsets(offsets: readonly (bigint | number)[]): TakeQuery<RowType> {
    this.lifetime.enter();
    return new TakeQuery(this.target, '_rowoffset', rowNumbers(offsets, 'offset'));
  }

  /** The rows with these `_rowid` values. */
  takeRowIds(rowIds: readonly (bigint | number)[]): TakeQuery<RowType> {
    this.lifetime.enter();
    return new TakeQuery(this.target, '_rowid', rowNumbers(rowIds, 'row id'));
  }

  vectorSearch(vector: QueryVectors): VectorQuery<RowType> {
    return this.query().nearestTo(vector);
  }

  /** Searches by vector, or text columns by words. */
  search(
    query: string,
    queryType?: string,
    ftsColumns?: string | readonly string[],
  ): Query<RowType>;
  search(query: QueryVectors): VectorQuery<RowType>;
  search(
    query: string | QueryVectors,
    _queryType?: string,
    columns?: string | readonly string[],
  ): Query<RowType> | VectorQuery<RowType> {
    if (typeof query !== 'string') return this.vectorSearch(query);
    return this.query().fullTextSearch(query, defined({ columns }));
  }

  async toArrow(options?: CallOptions): Promise<ArrowTable> {
    return this.query().toArrow(options);
  }

  /** The newest version of the handle's branch. */
  protected get newest(): TableTarget {
    return this.#newest;
  }

  /** The version checked out, where one is. */
  protected get pinned(): (TableTarget & { readonly version: number }) | undefined {
    return this.#pin;
  }

  /** As `schema`, and the same object for the same schema: not to be handed out. */
  protected readonly sharedSchema = async (options?: CallOptions): Promise<Schema> => {
    this.lifetime.enter(options);
    if (this.#pin !== undefined) return this.#pin.schema;
    return this.#schemas.read(requireData(this.newest.id, await this.#details(options)));
  };

  /** The schema this handle saw last, which the table may have left behind. */
  protected get knownSchema(): Schema | undefined {
    return this.#schemas.last;
  }

  /**
   * What a change is made to. `known` are the options that it has beside those of every call.
   * @throws InvalidInput where a version is checked out, and for an option that there is not
   */
  protected writable(options?: CallOptions, known: readonly string[] = []): TableTarget {
    this.lifetime.enter(options);
    checkChangeOptions(options, known);
    const pinned = this.#pin;
    if (pinned === undefined) return this.newest;
    throw new DirspaceError(
      'InvalidInput',
      `${this.display()} is checked out and cannot be changed; call checkoutLatest() to write to the newest version, or restore() to make this one the newest.`,
      { details: { id: pinned.id, version: pinned.version } },
    );
  }

  protected get target(): TableTarget {
    return this.#pin ?? this.newest;
  }

  /** Makes sure that the newest version is there and has data; the handle is on that table then. */
  protected async probe(options?: CallOptions): Promise<void> {
    const answer = await this.#details(options);
    requireData(this.newest.id, answer);
    this.#bind(answer);
  }

  /**
   * Puts the handle on the table that has the name now, whether or not it has data. Where its newest
   * version is damaged, that is left to the version that is opened, which may be sound.
   */
  protected async identified(options?: CallOptions): Promise<TableTarget> {
    try {
      this.#bind(await this.#details(options));
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt')) throw error;
    }
    return this.#newest;
  }

  protected async pin(
    at: { readonly branch?: string; readonly version: number },
    options?: CallOptions,
  ): Promise<void> {
    const { branch: _, ...main } = this.newest;
    const request = detailedRequest({ ...main, ...at });
    const answer = await this.home.catalog.describeTable(request, options);
    const schema = this.#schemas.read(requireData(main.id, answer));
    this.#bind(answer);
    const { branch: _branch, ...bound } = this.newest;
    const pin = { ...bound, ...at, schema };
    this.#pin = pin;
    this.#describe = detailedRequest(pin);
  }

  protected follow(): void {
    this.#pin = undefined;
    this.#describe = detailedRequest(this.newest);
  }

  /** Once: from then on, what is asked for is asked of that incarnation of the table. */
  #bind({ incarnation }: DescribeTableResponse): void {
    if (incarnation === undefined || this.#newest.incarnation !== undefined) return;
    this.#newest = { ...this.#newest, incarnation };
    this.#describe = detailedRequest(this.#newest);
  }

  #details(options?: CallOptions): Promise<DescribeTableResponse> {
    return this.home.catalog.describeTable(this.#describe, options);
  }
}

function noData(id: readonly string[]): DirspaceError {
  return new DirspaceError(
    'InvalidTableState',
    `${displayPath(id)} is declared but has no data yet; createTable makes its first version.`,
    { details: { id } },
  );
}

function requireData(
  id: readonly string[],
  { schema, is_only_declared }: DescribeTableResponse,
): NonNullable<DescribeTableResponse['schema']> {
  if (schema !== undefined) return schema;
  throw is_only_declared === false ? noVersion(id) : noData(id);
}

const noVersion = (id: readonly string[]): DirspaceError =>
  new DirspaceError(
    'InvalidTableState',
    `${displayPath(id)} has files, but no version that this catalog can read: another program wrote them, as LanceDB does, or its manifests are missing. Open it with that program, or see what verify says of it.`,
    { details: { id } },
  );
