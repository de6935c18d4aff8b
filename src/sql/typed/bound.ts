/**
 * Defines `Bound`, the expression tree that bind/ builds and evaluate/ computes: names are
 * resolved, every node has a type, and conversions are explicit. `RowFunction` is a function that a
 * node calls. `childrenOf` returns the nodes directly below a node, and `canFail` tells whether
 * evaluating a tree may throw for some rows. `callsProgram` tells whether a tree calls a registered
 * function, and `flagsOf` finds the flags of a regular expression.
 */
import type { DataType } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
import type { ExactNumber } from '../../values/index.ts';
import type { ArithmeticOperator, CompareOperator } from '../parse/index.ts';
import type { Column, Value } from './column.ts';
import { familyOf, typeText } from './types.ts';

export interface BoundLiteral {
  readonly kind: 'literal';
  readonly type: DataType;
  /** Canonical, see column.ts. */
  readonly value: Value;
  /**
   * Set while the literal has no type of its own yet and takes that of the column it meets:
   * a number as written, a string that may turn out to be a date.
   */
  readonly loose?: 'string' | LooseNumber;
  readonly at?: number | undefined;
}

export interface LooseNumber extends ExactNumber {
  /** Written with a point or an exponent. */
  readonly fractional: boolean;
  /** Written with an exponent: what is computed of it is a double. */
  readonly isDouble?: boolean;
}

export interface BoundColumn {
  readonly kind: 'column';
  /** Position of the top-level column. */
  readonly index: number;
  /** Positions of the members below it. */
  readonly path: readonly number[];
  /** The real names, from the top down. */
  readonly names: readonly string[];
  readonly type: DataType;
  readonly at?: number | undefined;
}

export interface RowFunction {
  readonly name: string;
  /** May throw for some values, so that guards before it must come first. */
  readonly fallible: boolean;
  /**
   * Whether a row may take any time, as that of a registered function: it is evaluated in steps.
   */
  readonly takesAnyTime?: boolean;
  /** Whether a program registered it: what it gives may change, and it may count its calls. */
  readonly isOfProgram?: boolean;
  /** `args` all have `length` rows. Asks `memory` before it makes texts. */
  evaluate(args: readonly Column[], length: number, type: DataType, memory: BatchMemory): Column;
  /** The same, and yields within a row too, for functions that go through long values byte by byte. */
  inSteps?(
    args: readonly Column[],
    length: number,
    type: DataType,
    memory: BatchMemory,
  ): Generator<void, Column>;
}

export type CastMode = 'explicit' | 'lenient' | 'lossless';

export type Bound =
  | BoundLiteral
  | BoundColumn
  | { readonly kind: 'virtual'; readonly name: '_rowid' | '_rowoffset'; readonly type: DataType }
  | { readonly kind: 'and' | 'or'; readonly args: readonly Bound[]; readonly type: DataType }
  | { readonly kind: 'not'; readonly arg: Bound; readonly type: DataType }
  | {
      readonly kind: 'is';
      readonly arg: Bound;
      readonly test: 'null' | 'true' | 'false';
      readonly negated: boolean;
      readonly type: DataType;
    }
  | {
      readonly kind: 'compare';
      readonly op: CompareOperator;
      readonly left: Bound;
      readonly right: Bound;
      readonly type: DataType;
    }
  | {
      readonly kind: 'compareConstant';
      readonly op: CompareOperator;
      readonly arg: Bound;
      /** Canonical value of `arg`'s type, never null. */
      readonly value: Value;
      readonly type: DataType;
    }
  | {
      /** low <= arg <= high */
      readonly kind: 'range';
      readonly arg: Bound;
      readonly low: Value;
      readonly high: Value;
      readonly type: DataType;
    }
  /** `value` where `arg` is not null, else null: a comparison whose outcome is certain. */
  | {
      readonly kind: 'known';
      readonly arg: Bound;
      readonly value: boolean;
      readonly type: DataType;
    }
  | {
      readonly kind: 'distinct';
      readonly equal: Bound;
      readonly left: Bound;
      readonly right: Bound;
      readonly negated: boolean;
      readonly type: DataType;
    }
  | {
      readonly kind: 'in';
      readonly arg: Bound;
      /** Canonical values of `arg`'s type, no nulls. */
      readonly values: ReadonlySet<Value>;
      readonly hasNull: boolean;
      readonly type: DataType;
    }
  | {
      readonly kind: 'like';
      readonly arg: Bound;
      readonly pattern: Bound;
      readonly escape: string;
      readonly insensitive: boolean;
      readonly type: DataType;
    }
  | {
      readonly kind: 'arithmetic';
      readonly op: ArithmeticOperator;
      readonly left: Bound;
      readonly right: Bound;
      readonly type: DataType;
    }
  /** Counts in another unit: arg * factor, never overflowing. */
  | {
      readonly kind: 'rescale';
      readonly arg: Bound;
      readonly factor: bigint;
      readonly type: DataType;
    }
  | {
      readonly kind: 'case';
      readonly whens: readonly { readonly when: Bound; readonly value: Bound }[];
      readonly otherwise: Bound;
      readonly type: DataType;
    }
  | { readonly kind: 'coalesce'; readonly args: readonly Bound[]; readonly type: DataType }
  | {
      readonly kind: 'cast';
      readonly arg: Bound;
      readonly mode: CastMode;
      readonly type: DataType;
    }
  | {
      readonly kind: 'call';
      readonly run: RowFunction;
      readonly args: readonly Bound[];
      readonly type: DataType;
    }
  | { readonly kind: 'list'; readonly items: readonly Bound[]; readonly type: DataType }
  | {
      readonly kind: 'member';
      readonly arg: Bound;
      readonly index: number;
      readonly type: DataType;
    };

/** The nodes directly below `bound`. */
export function childrenOf(bound: Bound): readonly Bound[] {
  switch (bound.kind) {
    case 'literal':
    case 'column':
    case 'virtual':
      return [];
    case 'and':
    case 'or':
    case 'coalesce':
    case 'call':
      return bound.args;
    case 'list':
      return bound.items;
    case 'compare':
    case 'arithmetic':
      return [bound.left, bound.right];
    case 'distinct':
      return [bound.equal, bound.left, bound.right];
    case 'like':
      return [bound.arg, bound.pattern];
    case 'case':
      return [...bound.whens.flatMap(({ when, value }) => [when, value]), bound.otherwise];
    default:
      return [bound.arg];
  }
}

/** True where evaluating `bound` may throw for some rows. */
export function canFail(bound: Bound): boolean {
  const here =
    (bound.kind === 'arithmetic' &&
      !bound.type.toString().startsWith('Float') &&
      !dividesSafely(bound)) ||
    (bound.kind === 'cast' && bound.mode !== 'lenient' && !isDecimalAsDouble(bound)) ||
    (bound.kind === 'like' && bound.pattern.kind !== 'literal') ||
    (bound.kind === 'call' && bound.run.fallible);
  return here || childrenOf(bound).some(canFail);
}

const ofProgram = new WeakMap<Bound, boolean>();

/** Whether a tree calls a function that the program registered. Found out once for each node. */
export function callsProgram(bound: Bound): boolean {
  let known = ofProgram.get(bound);
  if (known === undefined) {
    known =
      (bound.kind === 'call' && bound.run.isOfProgram === true) ||
      childrenOf(bound).some(callsProgram);
    ofProgram.set(bound, known);
  }
  return known;
}

const isDecimalAsDouble = ({ arg, mode, type }: Extract<Bound, { kind: 'cast' }>): boolean =>
  mode === 'explicit' && familyOf(arg.type) === 'decimal' && typeText(type) === 'float64';

/** Integers divided by a number that is neither 0 nor, where the quotient may not fit, -1. */
function dividesSafely({ op, right, type }: Extract<Bound, { kind: 'arithmetic' }>): boolean {
  if (!/^U?[Ii]nt/.test(type.toString()) || right.kind !== 'literal') return false;
  const by = right.value;
  if (typeof by !== 'bigint' || by === 0n) return false;
  return op === '%' || (op === '/' && by !== -1n);
}

/** The argument of a function of regular expressions that has its flags. */
export function flagsOf(name: string, args: readonly Bound[]): Bound | undefined {
  if (name.startsWith('regexp_extract')) return undefined;
  return name === 'regexp_replace' ? args[3] : args[2];
}
