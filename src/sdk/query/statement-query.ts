/**
 * `StatementQuery` is the base class of queries that are sent to the catalog as a SELECT:
 * `SqlQuery` and `GroupedQuery`. `explainPlan` returns the plan of the statement. `outputSchema`
 * starts the statement, and stops it as soon as its schema is known. If the catalog has no SQL, all
 * of these and the query itself reject with Unsupported.
 */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import type { CallOptions, RunSqlRequest } from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { type Catalog, type Lifetime, offered } from '../handles/index.ts';
import { RunnableQuery } from './runnable-query.ts';

/** What is asked of whole tables: `SqlQuery` by its text, `GroupedQuery` by its parts. */
export abstract class StatementQuery<RowType = AnyRow> extends RunnableQuery<RowType> {
  readonly #catalog: Catalog;
  readonly #lifetime: Lifetime;

  constructor({ catalog, lifetime }: { readonly catalog: Catalog; readonly lifetime: Lifetime }) {
    super(lifetime);
    this.#catalog = catalog;
    this.#lifetime = lifetime;
  }

  /** What is sent. */
  protected abstract statement(): RunSqlRequest | Promise<RunSqlRequest>;

  /** The steps of the statement in words; reads no rows. */
  async explainPlan(options: CallOptions = {}): Promise<string> {
    this.#lifetime.enter(options);
    const explain = offered(this.#catalog, 'explainSql');
    return (await explain(await this.statement(), options)).plan;
  }

  /** The schema of what comes out; no more than a first batch is read. */
  async outputSchema(options: CallOptions = {}): Promise<Schema> {
    this.#lifetime.enter(options);
    const stream = await this.answer(options);
    await stream[Symbol.asyncIterator]().return?.();
    return stream.schema;
  }

  protected override async answer(options: CallOptions): Promise<RecordBatchStream> {
    const run = offered(this.#catalog, 'runSql');
    return run(await this.statement(), options);
  }
}
