/**
 * Defines `Expression`, the syntax tree that the parser builds from a text. The tree is plain data
 * that can be serialised as JSON. Names of columns keep their case; names of functions and types
 * are in lower case. PostgreSQL's short names of types are written out: `int8` is `bigint`. A
 * comparison with ANY or ALL of a list is a call, whose name `QUANTIFIED` matches. bind/ resolves
 * the names of columns, functions and types.
 */

import type { Statement } from './statement-tree.ts';

/** A type as written: lower-case name and its arguments, `decimal(8,3)` = `['decimal', [8, 3]]`. */
export interface TypeName {
  readonly name: string;
  readonly args: readonly number[];
  /** As that of an expression. */
  readonly at?: number;
}

export type CompareOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';
/** Names of the calls that `x = ANY (list)` and its like are, with x and the list as arguments. */
export const QUANTIFIED = /^(=|<>|<|<=|>|>=) (any|all)$/;
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';
export type BinaryOperator = CompareOperator | ArithmeticOperator | '||';
type TruthTest = 'null' | 'true' | 'false' | 'unknown';

interface Located {
  /** Offset into the user's text in UTF-16 units; absent in trees that were built by hand. */
  readonly at?: number;
}

export interface ColumnExpression extends Located {
  readonly kind: 'column';
  /** `a.b.c`, as written: letter case is kept, quotes are gone. */
  readonly path: readonly string[];
}

/** A number keeps its text, so that no digit is lost before its type is known. */
export interface NumberExpression extends Located {
  readonly kind: 'number';
  readonly text: string;
}

export interface StringExpression extends Located {
  readonly kind: 'string';
  readonly value: string;
}

export interface BooleanExpression extends Located {
  readonly kind: 'boolean';
  readonly value: boolean;
}

export interface NullExpression extends Located {
  readonly kind: 'null';
}

export interface BinaryLiteralExpression extends Located {
  readonly kind: 'bytes';
  /** Lower-case, two digits a byte. */
  readonly hex: string;
}

export type LiteralExpression =
  | NumberExpression
  | StringExpression
  | BooleanExpression
  | NullExpression
  | BinaryLiteralExpression;

export type Expression =
  | ColumnExpression
  | LiteralExpression
  | (Located & { readonly kind: 'array'; readonly items: readonly Expression[] })
  | (Located & { readonly kind: 'negate'; readonly arg: Expression })
  | (Located & { readonly kind: 'and' | 'or'; readonly args: readonly Expression[] })
  | (Located & { readonly kind: 'not'; readonly arg: Expression })
  | (Located & {
      readonly kind: 'binary';
      readonly op: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    })
  | (Located & {
      readonly kind: 'is';
      readonly arg: Expression;
      readonly test: TruthTest;
      readonly negated: boolean;
    })
  | (Located & {
      readonly kind: 'distinct';
      readonly left: Expression;
      readonly right: Expression;
      readonly negated: boolean;
    })
  | (Located & {
      readonly kind: 'between';
      readonly arg: Expression;
      readonly low: Expression;
      readonly high: Expression;
      readonly negated: boolean;
    })
  | (Located & {
      readonly kind: 'in';
      readonly arg: Expression;
      readonly items: readonly Expression[];
      readonly negated: boolean;
    })
  | (Located & {
      readonly kind: 'like';
      readonly arg: Expression;
      readonly pattern: Expression;
      /** One character; empty means that no character escapes, absent means backslash. */
      readonly escape?: string;
      readonly insensitive: boolean;
      readonly negated: boolean;
    })
  | (Located & {
      readonly kind: 'case';
      readonly operand?: Expression;
      readonly whens: readonly { readonly when: Expression; readonly value: Expression }[];
      readonly otherwise?: Expression;
    })
  | (Located & {
      readonly kind: 'cast';
      readonly arg: Expression;
      readonly type: TypeName;
      /** TRY_CAST: null instead of an error. */
      readonly lenient: boolean;
    })
  | (Located & {
      readonly kind: 'call';
      /** Lower-case. */
      readonly name: string;
      readonly args: readonly Expression[];
    })
  | AggregateExpression
  | SubqueryExpression
  | (Located & { readonly kind: 'field'; readonly arg: Expression; readonly name: string })
  | (Located & { readonly kind: 'element'; readonly arg: Expression; readonly index: Expression });

/**
 * A function of many rows, or of a window of them: statements alone have these. The rest of sql/ refuses
 * them, as an expression sees one row.
 */
export interface AggregateExpression extends Located {
  readonly kind: 'aggregate';
  /** Lower-case. */
  readonly name: string;
  /** None for `count(*)`, whose `star` is true. */
  readonly args: readonly Expression[];
  readonly star: boolean;
  readonly distinct: boolean;
  readonly orderBy: readonly OrderItem[];
  readonly filter?: Expression;
  /** Set for IGNORE NULLS. */
  readonly ignoresNulls?: true;
  /** A window, or the name of one that the statement's WINDOW clause defines. */
  readonly over?: WindowSpec | string;
}

/** A query in place of a value: statements alone have these, as they do aggregates. */
export interface SubqueryExpression extends Located {
  readonly kind: 'subquery';
  /**
   * `value`: that of its one row. `in`: whether `arg` is among its rows, and `rows` the same of the
   * items of `arg`, an array, and several columns. `any`: whether `arg op value` is true of a row.
   * `exists`: whether it has any.
   */
  readonly form: 'value' | 'in' | 'rows' | 'any' | 'exists';
  /** Set for `in`, `rows` and `any`. */
  readonly arg?: Expression;
  /** Set for `any` only. */
  readonly op?: CompareOperator;
  readonly query: Statement;
  /** The query as it is written, without the parentheses around it. */
  readonly text: string;
}

export interface OrderItem {
  readonly value: Expression;
  readonly ascending: boolean;
  /** As PostgreSQL has it, nulls are last if absent where `ascending`, and first where not. */
  readonly nullsFirst?: boolean;
}

export interface WindowSpec extends Located {
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  /**
   * `rows`: from the first row of the partition to this one. `whole`: all rows of the partition. Absent:
   * to the last row that is equal to this one in order, or all where there is no order.
   */
  readonly frame?: 'rows' | 'whole' | RowFrame;
}

/**
 * Some rows around each one, both ends with it: counted from it, negative before it; undefined at the first
 * or last row of the partition. Of `groups`, rows that are equal in order count as one. Of `range`, numbers
 * are -1, 0 and 1: rows before, equal to or behind this one in order, as far as the distances say.
 */
export interface RowFrame {
  /** Absent for rows. */
  readonly unit?: 'groups' | 'range';
  readonly start?: number;
  readonly end?: number;
  readonly startBy?: Expression;
  readonly endBy?: Expression;
}
