/**
 * Exports the compiler of SQL expressions, the parser of SELECT statements, and the formatting of
 * both as SQL. Also exports the columns that expressions load and compute, their types and values,
 * hashes of values, the kernels that count (`countKernels`), the registration of functions
 * (`registerFunction`), helpers for messages, and the words of SQL for completion (`SQL_WORDS`).
 */

export { checkFunctionName } from './bind/index.ts';
export { type EntryValues, toVector } from './evaluate/index.ts';
export {
  type ColumnSource,
  type ColumnTest,
  type CompiledExpression,
  type Condition,
  type CountKernels,
  compileConditionTree,
  compileExpression,
  compilePredicate,
  compileTree,
  compileValue,
  countKernels,
  type EvaluationContext,
  type Pruned,
  type RangeEnd,
  type RowNumberSet,
  type RowNumbers,
  type StatisticsLookup,
} from './expression.ts';
export { moveInstant, type UserFunction } from './functions/index.ts';
export {
  dictionaryParts,
  dictionaryRows,
  gather as gatherColumn,
  loadColumn,
  withValidity,
} from './load/index.ts';
export { withMistakeIn } from './mistakes.ts';
export { withParameters } from './parameters.ts';
export {
  type AggregateExpression,
  type Expression,
  formatExpression,
  formatName,
  formatTable,
  type NamedQuery,
  type OrderItem,
  parseStatement,
  parseTerm,
  type QueryBody,
  type RowFrame,
  refuse,
  type Select,
  type Statement,
  type SubqueryExpression,
  shorten,
  type TableFunction,
  type TableReference,
  type TypeName,
  type WindowSpec,
} from './parse/index.ts';
export { registerFunction } from './register.ts';
export { cutText, inWords, shownNumber, shownValue } from './shown-values.ts';
export {
  asSafeNumbers,
  BOOL,
  type Column,
  columnOf,
  compareValues,
  exactText,
  type Family,
  familyOf,
  integerRange,
  isOrdered,
  isWide,
  MIRRORED,
  nearestName,
  reader,
  TRUE,
  truthColumn,
  typeText,
  UNKNOWN,
  type Validity,
  type Value,
  VIRTUAL_COLUMNS,
  validityOf,
} from './typed/index.ts';
export { hashValues, joinHashes, type ValueHashes } from './value-hashes.ts';
export { SQL_WORDS } from './words.ts';
