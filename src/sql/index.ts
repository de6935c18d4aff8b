/**
 * Exports the compiler of SQL expressions, which filter, compute and prune over record batches.
 * Also exports how expressions load and read the values of Arrow columns.
 */

export { textOf as valueText } from './evaluate/index.ts';
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
export { type ShownValue, shownNumber, shownValue } from './shown-values.ts';
export {
  type Column,
  compareValues,
  familyOf,
  plainType,
  reader,
  TRUE,
  type Validity,
  type Value,
  VIRTUAL_COLUMNS,
  validityOf,
} from './typed/index.ts';
export { hashValues, joinHashes, type ValueHashes } from './value-hashes.ts';
