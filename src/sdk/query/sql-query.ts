/** `SqlQuery`: a SELECT over tables of a catalog, which `Connection.sql` makes. */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, RunSqlRequest } from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { type Home, offered, pathOf, showKind } from '../handles/index.ts';
import { RunnableQuery } from './runnable-query.ts';

/** Where the names of a statement are looked up. */
export interface SqlOptions {
  /** Names of tables are looked up in this namespace, and from it on; the root if absent. */
  readonly namespacePath?: readonly string[];
}

/** Each run reads the tables as they are then, all of them at one version each. */
export class SqlQuery<RowType = AnyRow> extends RunnableQuery<RowType> {
  readonly #home: Home;
  readonly #request: RunSqlRequest;

  /** Connections make these; see `Connection.sql`. */
  constructor(home: Home, sql: string, { namespacePath }: SqlOptions = {}) {
    super(home.lifetime);
    if (typeof sql !== 'string') {
      throw new DirspaceError(
        'InvalidInput',
        `sql takes a SELECT as a text, and was given ${showKind(sql)}.`,
      );
    }
    this.#home = home;
    this.#request =
      namespacePath === undefined ? { sql } : { sql, id: pathOf(namespacePath, 'namespacePath') };
  }

  /** The statement as it was given. */
  get text(): string {
    return this.#request.sql;
  }

  /** The steps of the statement in words; reads no rows. */
  async explainPlan(options: CallOptions = {}): Promise<string> {
    this.#home.lifetime.enter(options);
    return (await offered(this.#home.catalog, 'explainSql')(this.#request, options)).plan;
  }

  /** The schema of what comes out; no more than a first batch is read. */
  async outputSchema(options: CallOptions = {}): Promise<Schema> {
    this.#home.lifetime.enter(options);
    const stream = await this.answer(options);
    await stream[Symbol.asyncIterator]().return?.();
    return stream.schema;
  }

  protected override answer(options: CallOptions): Promise<RecordBatchStream> {
    return offered(this.#home.catalog, 'runSql')(this.#request, options);
  }
}
