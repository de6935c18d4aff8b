/**
 * `QueryBase` is the base class of the builders of queries on one table. It collects the request
 * while a program adds to the query, and sends it when runnable-query.ts runs the query. Columns
 * and metrics of a wrong kind throw InvalidInput, and `useLsm(true)` Unsupported. `outputSchema`
 * and `explainPlan` describe the query without reading rows. `analyzePlan` runs it, and returns the
 * plan with what was measured.
 */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, QueryTableRequest } from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { atVersion, onBranch, refuseLsm, showKind, type TableTarget } from '../handles/index.ts';
import { RunnableQuery } from './runnable-query.ts';

/** Column names, or output names with the SQL expressions that give them. */
export type SelectColumns =
  | string
  | readonly string[]
  | ReadonlyMap<string, string>
  | Readonly<Record<string, string>>;

/** Builders change the query they are called on and answer it. */
export class QueryBase<RowType = AnyRow> extends RunnableQuery<RowType> {
  readonly #target: TableTarget;
  protected readonly request: QueryTableRequest;

  /** Tables make queries; see `Table.query`. */
  constructor(target: TableTarget) {
    super(target.lifetime);
    this.#target = target;
    // Assigned one by one: spread into a new object, they would take longer than a short query.
    const request: QueryTableRequest = atVersion(target) as QueryTableRequest;
    request.k = Number.MAX_SAFE_INTEGER;
    request.vector = { single_vector: [] };
    this.request = request;
  }

  /** All columns if never called. */
  select(columns: SelectColumns): this {
    if (typeof columns === 'string') this.request.columns = { column_names: [columns] };
    else if (isNames(columns)) this.request.columns = { column_names: columns.slice() };
    else {
      if (typeof columns !== 'object' || columns === null) {
        throw new DirspaceError(
          'InvalidInput',
          `select takes column names, such as ["name", "age"], or names with SQL, such as {older: "age + 1"}, and was given ${showKind(columns)}.`,
        );
      }
      const entries = columns instanceof Map ? columns : Object.entries(columns);
      this.request.columns = { column_aliases: Object.fromEntries(entries) };
    }
    return this;
  }

  /** Adds the column `_rowid`, which `takeRowIds` and `deleteRows` take. */
  withRowId(): this {
    this.request.with_row_id = true;
    return this;
  }

  /** There are no writes through a log to read. @throws Unsupported unless it is false */
  useLsm(enable: boolean): this {
    refuseLsm(enable);
    return this;
  }

  /** The schema of what comes out; reads no rows. */
  async outputSchema(options: CallOptions = {}): Promise<Schema> {
    const { catalog, lifetime } = this.#target;
    lifetime.enter(options);
    const stream = await catalog.queryTable({ ...this.request, k: 0 }, options);
    const batches = stream[Symbol.asyncIterator]();
    await batches.return?.();
    return stream.schema;
  }

  /** The plan in words; reads no rows. */
  async explainPlan(verbose = false, options: CallOptions = {}): Promise<string> {
    const { catalog, lifetime } = this.#target;
    lifetime.enter(options);
    const request = { ...onBranch(this.#target), query: { ...this.request }, verbose };
    return (await catalog.explainTableQueryPlan(request, options)).plan;
  }

  /**
   * Runs the query and returns the plan with what was measured. LanceDB's ways to sum up several
   * workers are accepted and make no difference, because one runs the query.
   */
  async analyzePlan(given: CallOptions | AnalyzePlanDistributedMetrics = {}): Promise<string> {
    const { catalog, lifetime } = this.#target;
    const options = analyzeOptions(given);
    lifetime.enter(options);
    return (await catalog.analyzeTableQueryPlan({ ...this.request }, options)).analysis;
  }

  /** Sends the request; TakeQuery overrides it. */
  protected override answer(options: CallOptions): Promise<RecordBatchStream> {
    return this.#target.catalog.queryTable({ ...this.request }, options);
  }
}

/** How LanceDB sums up what several workers measured; one worker is its own sum. */
export type AnalyzePlanDistributedMetrics = 'aggregate' | 'per_worker' | 'full';

/** The options of a call; none where the metrics are named. @throws InvalidInput for another text */
export function analyzeOptions(given: CallOptions | AnalyzePlanDistributedMetrics): CallOptions {
  if (typeof given !== 'string') return given;
  if (['aggregate', 'per_worker', 'full'].includes(given)) return {};
  throw new DirspaceError(
    'InvalidInput',
    `analyzePlan takes "aggregate", "per_worker" or "full", not ${JSON.stringify(given)}.`,
  );
}

/** Any query, ready to run. */
export type ExecutableQuery = QueryBase;

const isNames = (columns: SelectColumns): columns is readonly string[] => Array.isArray(columns);
