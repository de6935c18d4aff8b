/**
 * Defines `Statement`, the syntax tree of a SELECT, with its queries, items and tables. It is plain
 * data, as `Expression` is. Names are kept as they are written; statements/ resolves them.
 */
import type { Expression, OrderItem, WindowSpec } from './tree.ts';

interface Located {
  /** Offset into the user's text in UTF-16 units. */
  readonly at?: number;
}

/** A query with its order and limit: the whole statement, or one in parentheses. */
export interface Statement extends Located {
  readonly with: readonly NamedQuery[];
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  /** ORDER BY ALL: by all columns, from left to right. */
  readonly orderByAll?: Omit<OrderItem, 'value'>;
  /** Constants. */
  readonly limit?: Expression;
  readonly offset?: Expression;
}

/** `name (columns) AS (query)` of a WITH clause. */
export interface NamedQuery extends Located {
  readonly name: string;
  readonly columns: readonly string[];
  readonly query: Statement;
  /** Whether it stands behind WITH RECURSIVE, and may read itself. */
  readonly recursive?: true;
}

export type QueryBody =
  | Select
  | (Located & {
      readonly kind: 'union';
      readonly all: boolean;
      /** BY NAME: columns go by their names, and one that a part lacks is null there. */
      readonly byName: boolean;
      readonly parts: readonly QueryBody[];
    })
  | (Located & {
      /** Rows of the left that the right has, or has not; with `all` each as often as it is left over. */
      readonly kind: 'intersect' | 'except';
      readonly all: boolean;
      readonly left: QueryBody;
      readonly right: QueryBody;
    })
  | (Located & { readonly kind: 'query'; readonly query: Statement })
  | (Located & { readonly kind: 'values'; readonly rows: readonly (readonly Expression[])[] });

export interface Select extends Located {
  readonly kind: 'select';
  readonly distinct: boolean;
  /** DISTINCT ON: the first row of each of their values. */
  readonly distinctOn?: readonly Expression[];
  readonly items: readonly SelectItem[];
  /** The tables of the FROM clause, which commas separate; empty without one. */
  readonly from: readonly TableReference[];
  readonly where?: Expression;
  readonly groupBy: readonly Expression[];
  /** GROUPING SETS, ROLLUP and CUBE: the keys of each set, as places in `groupBy`. */
  readonly groupingSets?: readonly (readonly number[])[];
  /** GROUP BY ALL: by all items that are of one row. */
  readonly groupByAll: boolean;
  readonly having?: Expression;
  readonly qualify?: Expression;
  readonly windows: readonly { readonly name: string; readonly spec: WindowSpec }[];
}

export type SelectItem =
  | (Located & { readonly kind: 'value'; readonly value: Expression; readonly alias?: string })
  /** `*`, or `a.b.*`; without the columns of EXCLUDE, and with other values for those of REPLACE. */
  | (Located & {
      readonly kind: 'star';
      readonly path: readonly string[];
      readonly exclude: readonly string[];
      readonly replace: readonly { readonly name: string; readonly value: Expression }[];
    });

/** Functions of FROM that give rows. */
export const TABLE_FUNCTIONS = ['unnest', 'generate_series', 'range'] as const;

export type TableFunction = (typeof TABLE_FUNCTIONS)[number];

/** `semi` and `anti`: the rows of the left side that have a match on the right one, or none. */
export type JoinKind = 'inner' | 'left' | 'right' | 'full' | 'cross' | 'semi' | 'anti';

export type TableReference =
  | (Located & {
      readonly kind: 'table';
      /** As written: `prod.search.user`. */
      readonly path: readonly string[];
      readonly alias?: string;
      readonly columns: readonly string[];
      readonly travel?: TimeTravel;
    })
  | (Located & {
      readonly kind: 'derived';
      readonly query: Statement;
      readonly alias?: string;
      readonly columns: readonly string[];
    })
  | (Located & {
      /** A function that gives rows, of the tables before it in FROM. */
      readonly kind: 'function';
      readonly name: TableFunction;
      readonly args: readonly Expression[];
      readonly alias?: string;
      readonly columns: readonly string[];
      /** WITH ORDINALITY: a column more that numbers the rows from 1 on. */
      readonly numbered: boolean;
    })
  | (Located & {
      readonly kind: 'join';
      readonly join: JoinKind;
      readonly left: TableReference;
      readonly right: TableReference;
      readonly on?: Expression;
      readonly using?: readonly string[];
      /** USING all columns whose names both sides have. */
      readonly natural?: boolean;
    });

/** Which version of a table: by number, by the name of a tag, or the newest of a branch. */
export type TimeTravel =
  | { readonly version: string; readonly branch?: string }
  | { readonly tag: string }
  | { readonly branch: string };
