/**
 * Defines `Plan`, the tree of steps by which a statement is carried out, and `TableSource`, a
 * version of a table that a plan reads. Every step yields rows of a schema with unique column
 * names. The expressions of a step name columns of the steps below it. The conditions and the order
 * of a scan may also name columns of the table that the scan does not yield.
 */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import type { AggregateExpression, Expression, RowFrame } from '../../sql/index.ts';
import type { ColumnBounds } from '../../table/index.ts';

/** The rows and columns of a table to read. */
export interface SourceRequest {
  readonly columns: readonly string[];
  /** SQL; a condition on the columns of the table. */
  readonly filter?: string;
  readonly orderBy?: readonly SourceOrder[];
  readonly limit?: number;
  readonly offset?: number;
  readonly withRowId?: boolean;
  /** Whether texts may come as indices into a dictionary that the schema does not say. */
  readonly indexesTexts?: boolean;
}

export interface SourceOrder {
  readonly column: string;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

/** One version of a table. */
export interface TableSource {
  readonly schema: Schema;
  readonly rowCount: number;
  read(request: SourceRequest): Promise<RecordBatchStream>;
  /** The bounds of whole columns, where they are known without reading rows. */
  bounds(columns: readonly string[]): Promise<readonly (ColumnBounds | undefined)[]>;
  /** How many rows a condition selects. */
  count(filter: string | undefined): Promise<number>;
}

interface Step {
  readonly schema: Schema;
}

/** Reads a table. */
export interface ScanStep extends Step {
  readonly kind: 'scan';
  readonly source: TableSource;
  /** For plans in words. */
  readonly label: string;
  /** Names of the table's columns, by those of the schema. */
  readonly columns: ReadonlyMap<string, string>;
  readonly filters: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  readonly limit?: number;
  readonly offset?: number;
}

export interface FilterStep extends Step {
  readonly kind: 'filter';
  readonly input: Plan;
  readonly condition: Expression;
}

/** Computes columns. */
export interface ProjectStep extends Step {
  readonly kind: 'project';
  readonly input: Plan;
  /** One for each column of the schema. */
  readonly values: readonly Expression[];
  /** Parts of `values` that are computed once, those first that others are made of. */
  readonly shared?: readonly Expression[];
}

export interface JoinStep extends Step {
  readonly kind: 'join';
  /**
   * `inner` without keys pairs all rows. `semi` and `anti` give the rows of the left side that are in
   * a pair, or in none.
   */
  readonly join: 'inner' | 'left' | 'full' | 'semi' | 'anti';
  readonly left: Plan;
  readonly right: Plan;
  readonly keys: readonly { readonly left: Expression; readonly right: Expression }[];
  /** A condition that pairs have to fulfil besides. */
  readonly condition?: Expression;
  /** An estimate of how many different values the keys have, where the sides alone tell less. */
  readonly different?: number;
  /** For `anti` with one key and no condition: whether a null on either side counts as a match. */
  readonly nullsMatch?: boolean;
}

/**
 * The rows of the left side with one column more, a truth value: whether the right side has a row
 * with the same keys.
 */
export interface MarkStep extends Step {
  readonly kind: 'mark';
  readonly left: Plan;
  readonly right: Plan;
  readonly keys: JoinStep['keys'];
  /**
   * How many of the last keys are compared as IN compares rows: with a null on either side it is
   * unknown whether they are equal. Nulls of other keys are equal to nothing.
   */
  readonly compared: number;
}

/**
 * Rows that are equal in all keys become one. With sets of keys this is done for each of them: the
 * other keys of its rows are null, and the last column of the schema has the number of the set.
 */
export interface GroupStep extends Step {
  readonly kind: 'group';
  readonly input: Plan;
  readonly keys: readonly Expression[];
  readonly aggregates: readonly AggregateExpression[];
  /** Further keys, which follow from the others and are computed above; each row may fail for one. */
  readonly checked?: readonly Expression[];
  /** The keys of each set, as places in `keys`. */
  readonly sets?: readonly (readonly number[])[];
  /** Parts of keys and aggregates that are computed once, those first that others are made of. */
  readonly shared?: readonly Expression[];
}

export interface WindowStep extends Step {
  readonly kind: 'window';
  readonly input: Plan;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  readonly frame: 'rows' | 'peers' | 'whole' | RowFrame;
  /** One for each of the last columns of the schema; those before are columns of the input. */
  readonly calls: readonly AggregateExpression[];
  /** How many rows of each partition are wanted, the first in order; others may be left out. */
  readonly first?: number;
}

export interface SortKey {
  readonly value: Expression;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

export interface SortStep extends Step {
  readonly kind: 'sort';
  readonly input: Plan;
  readonly keys: readonly SortKey[];
  /** The first rows that are wanted; all if absent. */
  readonly limit?: number;
}

export interface LimitStep extends Step {
  readonly kind: 'limit';
  readonly input: Plan;
  readonly limit: number;
  readonly offset: number;
}

/** The rows of one after those of the other; columns go by place. */
export interface UnionStep extends Step {
  readonly kind: 'union';
  readonly inputs: readonly Plan[];
}

/** One row: that of the input, which has at most one, or nulls. */
export interface SingleStep extends Step {
  readonly kind: 'single';
  readonly input: Plan;
  /** The query that it stands for, and where it is written, for messages. */
  readonly text: string;
  readonly at?: number | undefined;
}

/** Rows of which none counts more than one row of a query. */
export interface CheckedStep extends Step {
  readonly kind: 'checked';
  readonly input: Plan;
  /** The column that counts; null where there are none. */
  readonly count: string;
  /** As in `SingleStep`. */
  readonly text: string;
  readonly at?: number | undefined;
}

/** Each row as often as it says. */
export interface RepeatStep extends Step {
  readonly kind: 'repeat';
  readonly input: Plan;
  /** A number from 0 on. */
  readonly times: Expression;
}

/** Each row once for every item of a list, or every value of a series, that it has. */
export interface ExpandStep extends Step {
  readonly kind: 'expand';
  readonly input: Plan;
  readonly of: 'list' | 'numbers' | 'times';
  /** A list; or the start, the end and the step of a series. */
  readonly args: readonly Expression[];
  /** Whether the end of a series is a value of it. */
  readonly isWithEnd: boolean;
  /** Whether a row without items is given once, with nulls. */
  readonly keepsRows: boolean;
  /** The column of the items, and that of their numbers from 1 on. */
  readonly item: string;
  readonly number?: string;
  readonly at?: number | undefined;
}

/** Rows that the statement itself writes down. */
export interface ValuesStep extends Step {
  readonly kind: 'values';
  readonly rows: readonly (readonly Expression[])[];
  /** The condition that is never true, for plans in words, where it stands for steps without rows. */
  readonly never?: Expression;
}

/** The rows of a first plan, and round after round those that a second one makes of the rows before. */
export interface RecursiveStep extends Step {
  readonly kind: 'recursive';
  readonly base: Plan;
  /** Has the rows of the round before as `WorkingStep` of the same `rows`. */
  readonly step: Plan;
  readonly rows: object;
  /** Otherwise a row that came before is left out. */
  readonly all: boolean;
  /** The name of the query, and where it is written, for messages. */
  readonly name: string;
  readonly at?: number | undefined;
}

/** The rows of the round before of a recursive query. */
export interface WorkingStep extends Step {
  readonly kind: 'working';
  /** Tells recursive queries apart. */
  readonly rows: object;
}

export type Plan =
  | ScanStep
  | FilterStep
  | ProjectStep
  | JoinStep
  | MarkStep
  | GroupStep
  | WindowStep
  | SortStep
  | LimitStep
  | UnionStep
  | SingleStep
  | CheckedStep
  | RepeatStep
  | ExpandStep
  | RecursiveStep
  | WorkingStep
  | ValuesStep;
