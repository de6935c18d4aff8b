/**
 * `SqlQuery` runs a SELECT over the tables of a catalog; `Connection.sql` creates it. Parameters
 * are written into the statement as literals when it runs, and are never read as SQL. A statement
 * that is not a text throws InvalidInput at once; SQL that cannot be parsed, and placeholders that
 * do not match the parameters, throw it when the query runs.
 */
import { DirspaceError } from '../../errors.ts';
import { onDemand } from '../../on-demand.ts';
import type { RunSqlRequest } from '../../protocol/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { type Home, pathOf, showKind } from '../handles/index.ts';
import { StatementQuery } from './statement-query.ts';

/** Where the names of a statement are looked up. */
export interface SqlOptions {
  /** Names of tables are looked up in this namespace, and from it on; the root if absent. */
  readonly namespacePath?: readonly string[];
  /**
   * Values for `?` in their order, for `$1`, `$2`, or, by name, for `$name`. They are written into the
   * statement as literals, and never read as SQL.
   */
  readonly parameters?: readonly unknown[] | Readonly<Record<string, unknown>>;
}

/** Each run reads the tables as they are then, all of them at one version each. */
export class SqlQuery<RowType = AnyRow> extends StatementQuery<RowType> {
  readonly #request: RunSqlRequest;
  readonly #parameters: SqlOptions['parameters'];

  /** Connections make these; see `Connection.sql`. */
  constructor(home: Home, sql: string, { namespacePath, parameters }: SqlOptions = {}) {
    super(home);
    if (typeof sql !== 'string') {
      throw new DirspaceError(
        'InvalidInput',
        `sql takes a SELECT as a text, and was given ${showKind(sql)}.`,
      );
    }
    this.#request =
      namespacePath === undefined ? { sql } : { sql, id: pathOf(namespacePath, 'namespacePath') };
    this.#parameters = copied(parameters);
  }

  /** The statement as it was given. */
  get text(): string {
    return this.#request.sql;
  }

  protected override statement(): RunSqlRequest | Promise<RunSqlRequest> {
    const [request, parameters] = [this.#request, this.#parameters];
    if (parameters === undefined) return request;
    return language(async ({ withMistakeIn, withParameters }) => {
      try {
        return { ...request, sql: withParameters(request.sql, parameters) };
      } catch (error) {
        throw withMistakeIn(error, request.sql);
      }
    });
  }
}

const language = onDemand(() => import('../../sql/index.ts'));

/** The values as they are now. @throws InvalidInput for what holds no values */
function copied(parameters: SqlOptions['parameters']): SqlOptions['parameters'] {
  if (parameters === undefined) return undefined;
  if (parameters === null || typeof parameters !== 'object') {
    throw new DirspaceError(
      'InvalidInput',
      `parameters takes an array or an object of values, and was given ${showKind(parameters)}.`,
    );
  }
  return Array.isArray(parameters) ? [...parameters] : { ...parameters };
}
