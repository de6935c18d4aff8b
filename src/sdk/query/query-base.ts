/**
 * `QueryBase`: the base of all query builders. It collects the request of a query and runs it
 * (`execute`, `toArray`, `toArrow`). `outputSchema` and `explainPlan` describe the query without
 * reading rows; `analyzePlan` runs it and measures. query.ts and take-query.ts extend it.
 * `checkCount` throws InvalidInput for anything but a whole number of at least a given size.
 */
import {
  type Table as ArrowTable,
  arrowTable,
  columnsOf,
  gatherBatch,
  HandOut,
  markSharedData,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  type Schema,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, QueryTableRequest } from '../../protocol/index.ts';
import { type AnyRow, collectRows } from '../convert/index.ts';
import { Exportable } from '../files/index.ts';
import {
  atVersion,
  checkOptionNames,
  onBranch,
  RUN_OPTIONS,
  refuseLsm,
  showKind,
  type TableTarget,
} from '../handles/index.ts';

/** Limits of one run of a query. */
export interface QueryExecutionOptions extends CallOptions {
  /** At most so many rows to a batch; longer batches are cut. */
  readonly maxBatchLength?: number;
  /** Ends the query with a TimeoutError after so long. */
  readonly timeoutMs?: number;
}

/** Column names, or output names with the SQL expressions that give them. */
export type SelectColumns =
  | string
  | readonly string[]
  | ReadonlyMap<string, string>
  | Readonly<Record<string, string>>;

/** Builders change the query they are called on and answer it. */
export class QueryBase<RowType = AnyRow> extends Exportable implements AsyncIterable<RecordBatch> {
  readonly #target: TableTarget;
  protected readonly request: QueryTableRequest;

  /** Tables make queries; see `Table.query`. */
  constructor(target: TableTarget) {
    super();
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

  /** The batches as they are read; memory is bounded however many there are. */
  async *execute(
    options: QueryExecutionOptions = {},
  ): AsyncGenerator<RecordBatch, void, undefined> {
    const { maxBatchLength } = options;
    if (maxBatchLength === undefined) {
      yield* await this.#run(options);
      return;
    }
    checkCount('maxBatchLength', maxBatchLength, 1);
    yield* cutBatches(await this.#run(options), maxBatchLength);
  }

  [Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
    return this.execute();
  }

  /** The batches as they are read, as one stream with their schema, which can be read once. */
  override async stream(options: QueryExecutionOptions = {}): Promise<RecordBatchStream> {
    const { maxBatchLength } = options;
    const found = await this.#run(options);
    if (maxBatchLength === undefined) return found;
    checkCount('maxBatchLength', maxBatchLength, 1);
    return recordBatchStream(found.schema, cutBatches(found, maxBatchLength));
  }

  /** All rows as one table, which holds them in memory. */
  async toArrow(options: QueryExecutionOptions = {}): Promise<ArrowTable> {
    const stream = await this.#run(options);
    const batches: RecordBatch[] = [];
    for await (const batch of stream) batches.push(batch);
    return arrowTable(stream.schema, batches);
  }

  /**
   * The rows as plain objects. Their type is the one that `openTable` or this call names, as in
   * `toArray<{ id: number }>()`; the columns that come out are not compared with it.
   */
  async toArray(options?: QueryExecutionOptions): Promise<RowType[]>;
  async toArray<Result>(options?: QueryExecutionOptions): Promise<Result[]>;
  async toArray<Result>(options: QueryExecutionOptions = {}): Promise<Result[]> {
    return collectRows(await this.#run(options)) as Promise<Result[]>;
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
   * Runs the query and answers the plan with what was measured. How LanceDB would sum up several workers says nothing
   * here, where one runs it.
   */
  async analyzePlan(given: CallOptions | AnalyzePlanDistributedMetrics = {}): Promise<string> {
    const { catalog, lifetime } = this.#target;
    const options = analyzeOptions(given);
    lifetime.enter(options);
    return (await catalog.analyzeTableQueryPlan({ ...this.request }, options)).analysis;
  }

  /** Sends the request; TakeQuery overrides it. */
  protected answer(options: CallOptions): Promise<RecordBatchStream> {
    return this.#target.catalog.queryTable({ ...this.request }, options);
  }

  #run(options: QueryExecutionOptions): Promise<RecordBatchStream> {
    const { lifetime } = this.#target;
    checkOptionNames(options, RUN_OPTIONS);
    const { timeoutMs } = options;
    if (timeoutMs === undefined) {
      lifetime.enter(options);
      return this.answer(options);
    }
    checkCount('timeoutMs', timeoutMs, 1);
    const limits = [AbortSignal.timeout(timeoutMs)];
    if (options.signal !== undefined) limits.push(options.signal);
    const signal = AbortSignal.any(limits);
    lifetime.enter({ signal });
    return this.answer({ ...options, signal });
  }
}

async function* cutBatches(
  batches: AsyncIterable<RecordBatch>,
  most: number,
): AsyncGenerator<RecordBatch, void, undefined> {
  for await (const batch of batches) yield* pieces(batch, most);
}

/** A long batch as several, each in memory of its own. */
function* pieces(batch: RecordBatch, most: number): Generator<RecordBatch> {
  if (batch.numRows <= most) {
    if (batch.numRows > 0) yield batch;
    return;
  }
  const out = new HandOut();
  // Rows that are picked may lie in the memory of the batch still, which the later pieces read.
  columnsOf(batch).forEach(markSharedData);
  for (let start = 0; start < batch.numRows; start += most) {
    const rows = Math.min(most, batch.numRows - start);
    const part = gatherBatch(
      batch,
      Uint32Array.from({ length: rows }, (_, at) => start + at),
    );
    yield recordBatch(batch.schema, out.columns(columnsOf(part)), rows);
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

const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

/** Throws InvalidInput for what is no safe integer of at least `least`. */
export function checkCount(name: string, value: number, least = 0): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new DirspaceError(
    'InvalidInput',
    `${name} is ${shown(value)}; it is an integer >= ${least}.`,
  );
}
