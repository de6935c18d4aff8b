/**
 * `RunnableQuery` is the base class of queries that can run. A program reads the rows as record
 * batches, as objects or as one Arrow table; each run sends the query again. `maxBatchLength`
 * limits the rows of each record batch that `execute`, `stream` and `toArrow` return. `timeoutMs` ends
 * a run with a TimeoutError, and 0 ends it before it begins. `checkCount` throws InvalidInput for anything but a whole number of at least
 * a given size.
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
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { TimeLimit } from '../../time-limit.ts';
import { type AnyRow, collectRows } from '../convert/index.ts';
import { Exportable } from '../files/index.ts';
import { checkOptionNames, type Lifetime, RUN_OPTIONS } from '../handles/index.ts';

/** Limits of one run of a query. */
export interface QueryExecutionOptions extends CallOptions {
  /** At most so many rows to a batch; longer batches are cut. */
  readonly maxBatchLength?: number;
  /** Ends the query with a TimeoutError after so long; 0 is no time at all. */
  readonly timeoutMs?: number;
}

/** What is ready to be run. Each run asks the catalog anew. */
export abstract class RunnableQuery<RowType = AnyRow>
  extends Exportable
  implements AsyncIterable<RecordBatch>
{
  readonly #lifetime: Lifetime;

  constructor(lifetime: Lifetime) {
    super();
    this.#lifetime = lifetime;
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
    if (maxBatchLength === undefined) return this.#run(options);
    checkCount('maxBatchLength', maxBatchLength, 1);
    const found = await this.#run(options);
    return recordBatchStream(found.schema, cutBatches(found, maxBatchLength));
  }

  /** All rows as one table, which holds them in memory. */
  async toArrow(options: QueryExecutionOptions = {}): Promise<ArrowTable> {
    const stream = await this.stream(options);
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

  /** Sends the request. */
  protected abstract answer(options: CallOptions): Promise<RecordBatchStream>;

  async #run(options: QueryExecutionOptions): Promise<RecordBatchStream> {
    checkOptionNames(options, RUN_OPTIONS);
    const { timeoutMs } = options;
    if (timeoutMs === undefined) {
      this.#lifetime.enter(options);
      return this.answer(options);
    }
    // LanceDB's programs look for these words.
    const limit = new TimeLimit(
      'Query timeout',
      checkCount('timeoutMs', timeoutMs),
      options.signal,
    );
    const { signal } = limit;
    try {
      this.#lifetime.enter({ signal });
      return within(await this.answer({ ...options, signal }), limit);
    } catch (error) {
      throw limit.told(error);
    }
  }
}

/** The batches of a run, which say whose time is over when it is. */
function within(batches: RecordBatchStream, limit: TimeLimit): RecordBatchStream {
  return {
    schema: batches.schema,
    [Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
      const iterator = batches[Symbol.asyncIterator]();
      const told = (error: unknown): never => {
        throw limit.told(error);
      };
      return {
        next: () => iterator.next().catch(told),
        return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
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

const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

/** Throws InvalidInput for what is no safe integer of at least `least`. */
export function checkCount(name: string, value: number, least = 0): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new DirspaceError(
    'InvalidInput',
    `${name} is ${shown(value)}; it is ${least === 0 ? 'a non-negative integer' : `an integer >= ${least}`}.`,
  );
}
