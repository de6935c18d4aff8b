/**
 * `GroupedQuery` groups the rows of a table and computes aggregates of each group, such as counts
 * and sums. `Query.groupBy` and `Query.aggregate` create it. It runs as one SELECT statement, which
 * `toSql` builds. Its SQL parts are parsed only then, so SQL that cannot be parsed throws
 * InvalidInput when the query runs.
 */
import { DirspaceError } from '../../errors.ts';
import type { RunSqlRequest } from '../../protocol/index.ts';
import { quotedText } from '../../sql-quotes.ts';
import type { AnyRow } from '../convert/index.ts';
import { onlyOptions, showKind, type TableTarget } from '../handles/index.ts';
import { checkCount } from './runnable-query.ts';
import { StatementQuery } from './statement-query.ts';

/** Names of columns, each with the call that gives it, as in `{ n: 'count(*)', mean: 'avg(price)' }`. */
export type AggregateCalls = Readonly<Record<string, string>>;

/** One key of an ordering: a column of the result, by its name. */
export interface GroupedOrdering {
  readonly columnName: string;
  /** True if absent. */
  readonly ascending?: boolean;
  /** False if absent. */
  readonly nullsFirst?: boolean;
}

/** Methods change the query they are called on and answer it. */
export class GroupedQuery<RowType = AnyRow> extends StatementQuery<RowType> {
  readonly #target: TableTarget;
  readonly #filter: string | undefined;
  readonly #keys: readonly string[];
  #calls: [name: string, sql: string][] = [];
  #having: string[] = [];
  #order: GroupedOrdering[] = [];
  #limit: number | undefined;
  #offset: number | undefined;

  /** Queries make these; see `Query.groupBy`. */
  constructor(target: TableTarget, filter: string | undefined, keys: readonly string[]) {
    super(target);
    this.#target = target;
    this.#filter = filter;
    this.#keys = keys;
  }

  /** What is computed of each group; calls of several times add up. */
  aggregate(calls: AggregateCalls): this {
    if (typeof calls !== 'object' || calls === null || Array.isArray(calls)) {
      throw new DirspaceError(
        'InvalidInput',
        `aggregate takes names with SQL, such as {n: "count(*)"}, and was given ${showKind(calls)}.`,
      );
    }
    this.#calls.push(...Object.entries(calls));
    return this;
  }

  /** A condition on groups, which may name their keys, their columns and other aggregates. */
  having(condition: string): this {
    this.#having.push(condition);
    return this;
  }

  orderBy(ordering: GroupedOrdering | readonly GroupedOrdering[]): this {
    const keys = Array.isArray(ordering) ? ordering : [ordering as GroupedOrdering];
    for (const key of keys) {
      onlyOptions(key, ['columnName', 'ascending', 'nullsFirst'], 'orderBy');
      if (typeof key.columnName !== 'string') {
        throw new DirspaceError(
          'InvalidInput',
          'orderBy takes {columnName}, a column of the result.',
        );
      }
    }
    this.#order = keys.slice();
    return this;
  }

  limit(limit: number): this {
    this.#limit = checkCount('limit', limit);
    return this;
  }

  offset(offset: number): this {
    this.#offset = checkCount('offset', offset);
    return this;
  }

  /** The SELECT that is sent. */
  async toSql(): Promise<string> {
    // Programs that group nothing start without the grammar.
    const { formatName, parseTerm, formatExpression } = await import('../../sql/index.ts');
    const term = (text: unknown, what: string): string => {
      if (typeof text === 'string') return formatExpression(parseTerm(text));
      throw new DirspaceError(
        'InvalidInput',
        `${what} takes SQL, and was given ${showKind(text)}.`,
      );
    };
    const keys = this.#keys.map((key) => term(key, 'groupBy'));
    const calls = this.#calls.map(
      ([name, sql]) => `${term(sql, 'aggregate')} AS ${formatName(name)}`,
    );
    const items = [...keys, ...calls];
    if (items.length === 0) {
      throw new DirspaceError(
        'InvalidInput',
        'aggregate names what is computed, as in {n: "count(*)"}.',
      );
    }
    const having = this.#having.map((condition) => `(${term(condition, 'having')})`);
    const order = this.#order.map(
      ({ columnName, ascending = true, nullsFirst = false }) =>
        `${formatName(columnName)}${ascending ? '' : ' DESC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`,
    );
    const parts = [
      `SELECT ${items.join(', ')}`,
      `FROM ${this.#target.id.map(formatName).join('.')}${this.#travel()}`,
      ...(this.#filter === undefined ? [] : [`WHERE ${term(this.#filter, 'where')}`]),
      ...(keys.length === 0 ? [] : [`GROUP BY ${keys.map((_, at) => at + 1).join(', ')}`]),
      ...(having.length === 0 ? [] : [`HAVING ${having.join(' AND ')}`]),
      ...(order.length === 0 ? [] : [`ORDER BY ${order.join(', ')}`]),
      ...(this.#limit === undefined ? [] : [`LIMIT ${this.#limit}`]),
      ...(this.#offset === undefined ? [] : [`OFFSET ${this.#offset}`]),
    ];
    return parts.join(' ');
  }

  protected override async statement(): Promise<RunSqlRequest> {
    const { incarnation } = this.#target;
    const sql = await this.toSql();
    return incarnation === undefined ? { sql } : { sql, incarnation };
  }

  /** The version that the table's handle is at. */
  #travel(): string {
    const { branch, version } = this.#target;
    if (branch !== undefined) {
      const at = version === undefined ? '' : ` VERSION ${version}`;
      return ` FOR BRANCH ${quotedText(branch)}${at}`;
    }
    return version === undefined ? '' : ` FOR VERSION AS OF ${version}`;
  }
}
