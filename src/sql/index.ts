/**
 * Exports the compiler of SQL expressions, which filter, compute and prune over record batches.
 * Also exports how expressions load and read the values of Arrow columns.
 */

export {
  type ColumnSource,
  type ColumnTest,
  type CompiledExpression,
  type Condition,
  type CountKernels,
  compileExpression,
  compilePredicate,
  compileValue,
  countKernels,
  type EvaluationContext,
  type Pruned,
  type RangeEnd,
  type RowNumberSet,
  type RowNumbers,
  type StatisticsLookup,
} from './expression.ts';
export type { FunctionSignature, UserFunction } from './functions/index.ts';
export { loadColumn } from './load/index.ts';
export { registerFunction } from './register.ts';
export {
  compareValues,
  reader,
  type Value,
  VIRTUAL_COLUMNS,
} from './typed/index.ts';
