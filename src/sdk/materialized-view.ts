/**
 * Creates, opens and lists materialized views for a connection (`createView`, `openView`,
 * `viewNames`). A `MaterializedView` gives the table and the definition of a view. A new view is
 * empty until `refresh`, or `refreshAsync` as a job, computes its rows. Opening a plain table as a
 * view throws InvalidTableState. `viewNames` describes each of the given tables and returns those
 * that are views. It leaves out a table that cannot be described, but throws errors that may pass
 * and errors of the connection.
 */
import { DirspaceError, isDirspaceError } from '../errors.ts';
import type {
  CallOptions,
  DescribeTableResponse,
  MaterializedViewInfo,
  RefreshMaterializedViewRequest,
} from '../protocol/index.ts';
import {
  checkChangeOptions,
  checkOptionNames,
  checkWhere,
  defined,
  displayPath,
  type Home,
  pathOf,
  tableId,
} from './handles/index.ts';
import { type Job, jobsOf } from './jobs/index.ts';
import { Table } from './table/index.ts';

/** Columns of a view: names, pairs of a name and its SQL, or SQL by name. */
export type MaterializedViewSelect =
  | readonly (string | readonly [name: string, sql: string])[]
  | Readonly<Record<string, string>>;

/** What a view is of. */
export interface CreateViewOptions extends CallOptions {
  /** All columns of the source if absent. */
  readonly select?: MaterializedViewSelect;
  /** SQL; the rows of the source that fit. */
  readonly where?: string;
  /** The most rows of the view: the first rows of the source that match. */
  readonly limit?: number;
  /** Of the view; the root if absent. */
  readonly namespacePath?: readonly string[];
  /** Of the source; that of the view if absent. */
  readonly sourceNamespacePath?: readonly string[];
}

/** Where a view is. */
export interface OpenViewOptions extends CallOptions {
  readonly namespacePath?: readonly string[];
}

/** The query of a view. */
export interface MaterializedViewDefinition {
  readonly sourceTable: string;
  readonly sourceNamespace: string[];
  /** Names of the columns and the SQL that gives them. */
  readonly projections: [string, string][];
  readonly filter?: string;
  readonly limit?: number;
  /** Columns of the source that are read. */
  readonly inputs: string[];
}

/** How to bring a view up to date. */
export interface RefreshViewOptions extends CallOptions {
  /** Computes all rows anew, also where the source only grew. */
  readonly full?: boolean;
  /** The version of the source; the newest if absent. */
  readonly sourceVersion?: number;
}

/** What a refresh did. */
export interface RefreshMaterializedViewResult {
  /** All rows were computed anew, those that were added, or none as nothing had changed. */
  readonly mode: 'rebuild' | 'incremental' | 'no_op';
  readonly rowsWritten: number;
  readonly sourceVersion: number;
  readonly version: number;
}

/** The table of a view, whose rows come from refreshes alone. */
export class MaterializedView {
  readonly #home: Home;
  readonly #table: Table;
  readonly #id: string[];

  /** Connections make views; see `Connection.openMaterializedView`. */
  constructor(home: Home, table: Table) {
    this.#home = home;
    this.#table = table;
    this.#id = [...table.namespacePath, table.name];
  }

  get name(): string {
    return this.#table.name;
  }

  /** The view as a table: queries, searches, indexes and tags are those of any other. */
  table(): Table {
    return this.#table;
  }

  /** The query of the view. @throws TableNotFound */
  async definition(options?: CallOptions): Promise<MaterializedViewDefinition> {
    const { source, columns, filter, limit, inputs } = infoOf(
      this.#id,
      await described(this.#home, this.#id, options),
    );
    return defined({
      sourceTable: source.at(-1) as string,
      sourceNamespace: source.slice(0, -1),
      projections: columns.map(([name = '', sql = '']): [string, string] => [name, sql]),
      inputs: [...inputs],
      filter,
      limit,
    });
  }

  /** As `refresh`, whose work the job does: of a server where the view is on one. */
  async refreshAsync(options: RefreshViewOptions = {}): Promise<Job> {
    const request = this.#request(options);
    const { signal, ...others } = options;
    const { id: _, ...spec } = request;
    const run = (ended: AbortSignal): Promise<RefreshMaterializedViewResult> =>
      this.refresh({
        ...others,
        signal: signal === undefined ? ended : AbortSignal.any([ended, signal]),
      });
    return jobsOf(this.#home).beginAt(
      { operation: 'RefreshMaterializedView', request },
      { table: this.name, jobType: 'refresh_materialized_view', spec, run },
      options,
    );
  }

  #request(options: RefreshViewOptions): RefreshMaterializedViewRequest & { id: string[] } {
    checkChangeOptions(options, ['full', 'sourceVersion']);
    this.#home.lifetime.enter(options);
    const { full, sourceVersion: src_version } = options;
    return defined({ id: this.#id, full, src_version });
  }

  /**
   * Brings the rows up to the source as one version of the view: by the rows that were added, where the
   * source only grew since, else by computing all of them.
   * @throws TableNotFound where the view or its source is gone
   */
  async refresh(options: RefreshViewOptions = {}): Promise<RefreshMaterializedViewResult> {
    const request = this.#request(options);
    const answer = await this.#home.catalog.refreshMaterializedView(request, options);
    return {
      mode: answer.mode ?? 'rebuild',
      rowsWritten: answer.rows_written ?? 0,
      sourceVersion: answer.source_version ?? 0,
      version: answer.version ?? 0,
    };
  }
}

const described = (
  { catalog }: Home,
  id: string[],
  options?: CallOptions,
): Promise<DescribeTableResponse> =>
  catalog.describeTable({ id, load_detailed_metadata: true }, options);

/** @throws InvalidTableState for a plain table */
function infoOf(
  id: readonly string[],
  { materialized_view: info }: DescribeTableResponse,
): MaterializedViewInfo {
  if (info !== undefined) return info;
  throw new DirspaceError(
    'InvalidTableState',
    `Table '${displayPath(id)}' is not a materialized view; open it with openTable.`,
  );
}

const CREATE_OPTIONS = ['select', 'where', 'limit', 'namespacePath', 'sourceNamespacePath'];

/** @throws InvalidInput, TableAlreadyExists, TableNotFound for the source */
export async function createView(
  home: Home,
  name: string,
  source: string,
  options: CreateViewOptions,
): Promise<MaterializedView> {
  home.lifetime.enter(options);
  // A namespace is meant here as an option of its own name.
  const { namespacePath = [], sourceNamespacePath = namespacePath, ...others } = options;
  checkChangeOptions(others, CREATE_OPTIONS);
  const { select, where, limit } = options;
  const id = tableId(name, namespacePath);
  const query = defined({
    kind: sourceNamespacePath.length === 0 ? 'select' : 'namespaced_select',
    source_table: source,
    source_namespace: pathOf(sourceNamespacePath, 'sourceNamespacePath'),
    projections: select === undefined ? undefined : projections(select),
    filter: checkWhere(where),
    limit,
  });
  const source_query = JSON.stringify(query);
  const request = { id, kind: 'query' as const, source_query, output_schema: '' };
  const { incarnation } = await home.catalog.createMaterializedView(request, options);
  return new MaterializedView(home, await Table.open(home, defined({ id, incarnation })));
}

function projections(
  select: MaterializedViewSelect,
): { readonly output: string; readonly expression: string }[] {
  const pairs = Array.isArray(select)
    ? (select as readonly (string | readonly [string, string])[]).map((one) =>
        typeof one === 'string' ? [one, `\`${one.replaceAll('`', '``')}\``] : one,
      )
    : Object.entries(select);
  return pairs.map((pair) => {
    const [output, expression] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (typeof output === 'string' && typeof expression === 'string') return { output, expression };
    throw new DirspaceError(
      'InvalidInput',
      'select takes names of columns, pairs as ["total", "price * count"], or an object as {total: "price * count"}.',
    );
  });
}

/** @throws TableNotFound, InvalidTableState for a plain table */
export async function openView(
  home: Home,
  name: string,
  { namespacePath, ...options }: OpenViewOptions,
): Promise<MaterializedView> {
  home.lifetime.enter(options);
  checkOptionNames(options, []);
  const id = tableId(name, namespacePath);
  infoOf(id, await described(home, id, options));
  return new MaterializedView(home, await Table.open(home, { id }, {}, options));
}

/** Whether a failure tells of the one table, and not of the connection, whose list would lack views. */
const isOfTable = (error: unknown): boolean =>
  isDirspaceError(error) &&
  !error.retryable &&
  !isDirspaceError(error, 'Closed', 'Unauthenticated');

/** How many tables are looked at side by side. */
const AT_ONCE = 8;

/** The names of a namespace's tables that are views: each of the tables is described. */
export async function viewNames(
  home: Home,
  names: readonly string[],
  path: readonly string[],
  options?: CallOptions,
): Promise<string[]> {
  const found: string[] = [];
  for (let from = 0; from < names.length; from += AT_ONCE) {
    const some = names.slice(from, from + AT_ONCE);
    const answers = await Promise.allSettled(
      some.map((name) => described(home, [...path, name], options)),
    );
    for (const [at, answer] of answers.entries()) {
      if (answer.status === 'rejected' && !isOfTable(answer.reason)) throw answer.reason;
      // A table that cannot be described, or was dropped meanwhile, is none that can be opened.
      const isView = answer.status === 'fulfilled' && answer.value.materialized_view !== undefined;
      if (isView) found.push(some[at] as string);
    }
    options?.signal?.throwIfAborted();
  }
  return found;
}
