/**
 * `SqlQuery` is a query by a SELECT over tables of a catalog, as `Connection.sql` returns it.
 */
import { DirspaceError } from '../../errors.ts';
import type { RunSqlRequest } from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { type Home, pathOf, showKind } from '../handles/index.ts';
import { StatementQuery } from './statement-query.ts';

/** Where the names of a statement are looked up. */
export interface SqlOptions {
  /** Names of tables are looked up in this namespace, and from it on; the root if absent. */
  readonly namespacePath?: readonly string[];
}

/** Each run reads the tables as they are then, all of them at one version each. */
export class SqlQuery<RowType = AnyRow> extends StatementQuery<RowType> {
  readonly #request: RunSqlRequest;

  /** Connections make these; see `Connection.sql`. */
  constructor(home: Home, sql: string, { namespacePath }: SqlOptions = {}) {
    super(home);
    if (typeof sql !== 'string') {
      throw new DirspaceError(
        'InvalidInput',
        `sql takes a SELECT as a text, and was given ${showKind(sql)}.`,
      );
    }
    this.#request =
      namespacePath === undefined ? { sql } : { sql, id: pathOf(namespacePath, 'namespacePath') };
  }

  /** The statement as it was given. */
  get text(): string {
    return this.#request.sql;
  }

  protected override statement(): RunSqlRequest {
    return this.#request;
  }
}
