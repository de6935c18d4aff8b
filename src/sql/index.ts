/**
 * Exports the compiler of SQL expressions, which filter, compute and prune over record batches.
 * Also exports how expressions load and read the values of Arrow columns.
 */

export {
  type ColumnSource,
  type CompiledExpression,
  type CountKernels,
  compileExpression,
  compilePredicate,
  compileValue,
  countKernels,
  type EvaluationContext,
  type Pruned,
  type RowNumberSet,
  type RowNumbers,
  type StatisticsLookup,
} from './expression.ts';
export { loadColumn } from './load/index.ts';
export { reader, type Value, VIRTUAL_COLUMNS } from './typed/index.ts';
