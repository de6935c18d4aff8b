/**
 * Compiles SQL expressions against a schema. `compileExpression` (any) and `compilePredicate` (a
 * condition) take texts, and keep for each schema object the 128 used last, if they have up to
 * 65,536 characters; `compileValue` takes a text whose values are converted to a column's type.
 * These three return promises. `compileTree` and `compileConditionTree` compile parsed trees at
 * once. Wrong SQL throws InvalidInput, unknown columns TableColumnNotFound. A `CompiledExpression`
 * computes values, and selects or counts the rows for which it is true; if it is `heavy`, callers
 * use its methods `..InSteps`. It also tells whether the rows of a chunk can match, by their
 * statistics, and which part of a condition an index or row ids can answer.
 */

import type { Data, DataType, Schema, Vector } from '../arrow/index.ts';
import { plainType } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { nextRound } from '../event-loop.ts';
import { drained, plainPause, runSteps } from '../steps.ts';
import { bindExpression, bindPredicate, bindTerms, bindValue, prepareLists } from './bind/index.ts';
import { type Condition, conditionOf } from './conditions.ts';
import {
  countSelected,
  type EntryValues,
  entriesInSteps,
  evaluateInSteps,
  isLight,
  logicInSteps,
  selectedRows,
  toVector,
  weightOf,
} from './evaluate/index.ts';
import { functionsVersion } from './functions/index.ts';
import { BatchFrame, type ColumnSource, type EvaluationContext, truthOf } from './load/index.ts';
import { withMistake } from './mistakes.ts';
import { type Expression, formatExpression, parseExpression } from './parse/index.ts';
import { type Pruned, prune, type StatisticsLookup } from './prune.ts';
import { requirementsOf } from './required-columns.ts';
import { type RowNumberSet, rowNumbersOf } from './row-ids.ts';
import { countCompared, selectCompared } from './select/index.ts';
import {
  type Bound,
  type Column,
  callsProgram,
  canFail,
  childrenOf,
  familyOf,
  typeText,
} from './typed/index.ts';

export type { ColumnTest, Condition, RangeEnd } from './conditions.ts';
export type { ColumnSource, EvaluationContext, RowNumbers } from './load/index.ts';
export type { ColumnStatistics, Pruned, StatisticsLookup, StatisticValue } from './prune.ts';
export type { RowNumberSet } from './row-ids.ts';
export { type CountKernels, countKernels } from './select/index.ts';

export interface CompiledExpression {
  /** Type of the values; a dictionary's values for a dictionary column. */
  readonly type: DataType;
  /** `type` in words, for messages and plans. */
  readonly typeName: string;
  /** Top-level columns that are read, by their real names. */
  readonly columns: readonly string[];
  /** Full paths of what is read: `[['a', 'b', 'c']]` for a.b.c. */
  readonly paths: readonly (readonly string[])[];
  readonly usesRowId: boolean;
  readonly usesRowOffset: boolean;
  /** About how long a row takes, in comparisons of two numbers. */
  readonly weight: number;
  /** Whether a row may take many times as long as others, by its text. */
  readonly uneven: boolean;
  readonly tree: Expression;
  /** Whether a row may make the evaluation throw, such as by a division by zero. */
  readonly canFail: boolean;
  /** Whether it calls a function that the program registered. */
  readonly callsProgram: boolean;
  /** The path, where the expression is one column and nothing else. */
  readonly column: readonly string[] | null;
  /** One value a row. Throws InvalidInput for values that do not fit (overflow, failed casts). */
  evaluate(batch: ColumnSource, context?: EvaluationContext): Vector;
  /** Numbers of the rows for which it is true, ascending; null counts as false. */
  select(batch: ColumnSource, context?: EvaluationContext): Uint32Array;
  /** How many rows it is true for. */
  count(batch: ColumnSource, context?: EvaluationContext): number;
  /**
   * Whether it takes long for a single row: then the methods below are to be used, whose generators
   * yield after a millisecond or so and have the same outcome.
   */
  readonly heavy: boolean;
  evaluateInSteps(batch: ColumnSource, context?: EvaluationContext): Generator<void, Vector>;
  /** As `evaluateInSteps`, in the form that expressions are computed in. */
  columnInSteps(batch: ColumnSource, context?: EvaluationContext): Generator<void, Column>;
  /**
   * Values of the entries of a dictionary and the entry of each row, where the expression reads
   * nothing but one column that has one in the batch; else null.
   */
  entriesInSteps(
    batch: ColumnSource,
    context?: EvaluationContext,
  ): Generator<void, EntryValues | null>;
  selectInSteps(batch: ColumnSource, context?: EvaluationContext): Generator<void, Uint32Array>;
  countInSteps(batch: ColumnSource, context?: EvaluationContext): Generator<void, number>;
  /** The same of its one column; null where only `count` can tell. */
  countColumn(data: Data): number | null;
  /** Whether none, some or all rows of a chunk can match, by its statistics. */
  prune(lookup: StatisticsLookup): Pruned;
  /** The only rows that can match, where the condition names them by `_rowid`; else null. */
  rowIdSet(): RowNumberSet | null;
  /** The same for `_rowoffset`. */
  rowOffsetSet(): RowNumberSet | null;
  /** What of the condition an index can answer. */
  condition(): Condition;
  /** SQL text that reads as the same tree. */
  toSql(): string;
}

const ONE_ROW = { length: 1, scale: 1 };

const CACHED_PER_SCHEMA = 128;
const LONG_SQL = 1 << 13;
const caches = new WeakMap<Schema, Map<string, Promise<CompiledExpression>>>();

/**
 * Compiles a value expression. Throws InvalidInput or TableColumnNotFound, with `position` (from 1)
 * in details where the fault has a place. Kept per schema object, so the same text costs nothing.
 */
export function compileExpression(sql: string, schema: Schema): Promise<CompiledExpression> {
  return cached(`v${functionsVersion()} ${sql}`, sql, schema, bindExpression);
}

/** Compiles a condition: as compileExpression, but the type must be boolean. */
export function compilePredicate(sql: string, schema: Schema): Promise<CompiledExpression> {
  return cached(`p${functionsVersion()} ${sql}`, sql, schema, bindPredicate);
}

/**
 * Compiles an expression whose values go into a column of `type` (of a dictionary: its values):
 * converted without loss, or InvalidInput, for a value of a row when that row is evaluated.
 */
export async function compileValue(
  sql: string,
  schema: Schema,
  type: DataType,
): Promise<CompiledExpression> {
  try {
    const tree = parseExpression(sql);
    return new Compiled(tree, bindValue(tree, schema, type), plainType(type));
  } catch (error) {
    throw withMistake(error, sql);
  }
}

/**
 * Compiles a tree of a statement. Its names are columns of `schema`; what the trees of one
 * statement take together is bounded by its text. @throws InvalidInput, TableColumnNotFound
 */
export function compileTree(tree: Expression, schema: Schema): CompiledExpression {
  return new Compiled(tree, bindExpression(tree, schema));
}

/** The same of a condition. */
export function compileConditionTree(tree: Expression, schema: Schema): CompiledExpression {
  return new Compiled(tree, bindPredicate(tree, schema));
}

function cached(
  key: string,
  sql: string,
  schema: Schema,
  bind: (tree: Expression, schema: Schema) => Bound,
): Promise<CompiledExpression> {
  if (typeof sql !== 'string') {
    return Promise.reject(
      new DirspaceError('InvalidInput', `An expression is a text, not ${typeof sql}`),
    );
  }
  let cache = caches.get(schema);
  if (cache === undefined) {
    cache = new Map();
    caches.set(schema, cache);
  }
  const found = cache.get(key);
  if (found !== undefined) {
    cache.delete(key);
    cache.set(key, found);
    return found;
  }
  const compiling = compile(sql, schema, bind);
  // Long texts are not worth keeping, failures are not either.
  if (sql.length <= 1 << 16) {
    cache.set(key, compiling);
    const kept = cache;
    compiling.catch(() => kept.delete(key));
    for (const oldest of cache.keys()) {
      if (cache.size <= CACHED_PER_SCHEMA) break;
      cache.delete(oldest);
    }
  }
  return compiling;
}

/** Characters parsed since the last yield to the event loop. */
let readSinceRound = 0;

async function pauseReading(): Promise<void> {
  await nextRound();
  readSinceRound = 0;
}

/** Weighs each term, whose patterns are compiled for it, and keeps what it found. */
function* weighedTerms(bound: Bound): Generator<undefined, void> {
  for (const term of childrenOf(bound)) {
    weightOf(term);
    yield;
  }
}

async function compile(
  sql: string,
  schema: Schema,
  bind: (tree: Expression, schema: Schema) => Bound,
): Promise<CompiledExpression> {
  try {
    // Many short ones together take as long as a long one.
    readSinceRound += Math.min(sql.length, LONG_SQL - 1);
    if (readSinceRound >= LONG_SQL) await pauseReading();
    const tree = parseExpression(sql);
    // Reading a long one takes a while, and binding it too: other things go on in between.
    if (sql.length < LONG_SQL) return new Compiled(tree, bind(tree, schema));
    await pauseReading();
    await runSteps(prepareLists(tree, schema), plainPause());
    await pauseReading();
    const terms = tree.kind === 'and' || tree.kind === 'or';
    const bound = terms
      ? await runSteps(bindTerms(tree, schema), plainPause())
      : bind(tree, schema);
    if (terms) {
      await runSteps(weighedTerms(bound), plainPause());
      await pauseReading();
    }
    const compiled = new Compiled(tree, bound);
    await pauseReading();
    return compiled;
  } catch (error) {
    throw withMistake(error, sql);
  }
}

class Compiled implements CompiledExpression {
  readonly type: DataType;
  readonly typeName: string;
  readonly columns: readonly string[];
  readonly paths: readonly (readonly string[])[];
  readonly usesRowId: boolean;
  readonly usesRowOffset: boolean;
  readonly weight: number;
  readonly uneven: boolean;
  readonly heavy: boolean;
  readonly tree: Expression;
  readonly column: readonly string[] | null;
  readonly canFail: boolean;
  readonly #bound: Bound;
  #condition: Condition | undefined;

  constructor(tree: Expression, bound: Bound, type = plainType(bound.type)) {
    const needs = requirementsOf(bound);
    this.type = type;
    this.typeName = typeText(bound.type);
    this.columns = needs.columns;
    this.paths = needs.paths;
    this.usesRowId = needs.usesRowId;
    this.usesRowOffset = needs.usesRowOffset;
    this.weight = needs.weight;
    this.uneven = needs.uneven;
    this.canFail = canFail(bound);
    this.heavy = !isLight(bound, ONE_ROW);
    this.tree = tree;
    this.column = bound.kind === 'column' ? bound.names : null;
    this.#bound = bound;
  }

  get callsProgram(): boolean {
    return callsProgram(this.#bound);
  }

  evaluate(batch: ColumnSource, context?: EvaluationContext): Vector {
    return drained(this.evaluateInSteps(batch, context));
  }

  *evaluateInSteps(batch: ColumnSource, context: EvaluationContext = {}): Generator<void, Vector> {
    const bound = this.#bound;
    if (bound.kind === 'column' && bound.path.length === 0 && bound.type === this.type) {
      const vector = batch.getChild(bound.names[0] ?? '');
      if (vector !== null) return vector;
    }
    const frame = new BatchFrame(batch, context);
    return toVector(yield* evaluateInSteps(bound, frame), this.type, frame.memory);
  }

  *columnInSteps(batch: ColumnSource, context: EvaluationContext = {}): Generator<void, Column> {
    return yield* evaluateInSteps(this.#bound, new BatchFrame(batch, context));
  }

  *entriesInSteps(
    batch: ColumnSource,
    context: EvaluationContext = {},
  ): Generator<void, EntryValues | null> {
    return yield* entriesInSteps(this.#bound, new BatchFrame(batch, context));
  }

  select(batch: ColumnSource, context?: EvaluationContext): Uint32Array {
    return drained(this.selectInSteps(batch, context));
  }

  *selectInSteps(
    batch: ColumnSource,
    context: EvaluationContext = {},
  ): Generator<void, Uint32Array> {
    const frame = new BatchFrame(batch, context);
    return selectCompared(this.#bound, frame) ?? selectedRows(yield* this.#truth(frame));
  }

  count(batch: ColumnSource, context?: EvaluationContext): number {
    return drained(this.countInSteps(batch, context));
  }

  *countInSteps(batch: ColumnSource, context: EvaluationContext = {}): Generator<void, number> {
    return countSelected(yield* this.#truth(new BatchFrame(batch, context)));
  }

  countColumn(data: Data): number | null {
    return countCompared(this.#bound, data);
  }

  *#truth(frame: BatchFrame): Generator<void, Uint8Array> {
    const bound = this.#bound;
    const family = familyOf(bound.type);
    if (family !== 'bool' && family !== 'null') {
      throw new DirspaceError(
        'InvalidInput',
        `${this.toSql()} is no condition but a ${this.typeName}`,
      );
    }
    if (bound.kind === 'and') return yield* logicInSteps(bound, frame, false);
    return truthOf(yield* evaluateInSteps(bound, frame));
  }

  prune(lookup: StatisticsLookup): Pruned {
    return prune(this.#bound, lookup);
  }

  rowIdSet(): RowNumberSet | null {
    return rowNumbersOf(this.#bound, '_rowid');
  }

  rowOffsetSet(): RowNumberSet | null {
    return rowNumbersOf(this.#bound, '_rowoffset');
  }

  condition(): Condition {
    this.#condition ??= conditionOf(this.#bound);
    return this.#condition;
  }

  toSql(): string {
    return formatExpression(this.tree);
  }
}
