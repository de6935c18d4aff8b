/**
 * Exports the loading of Arrow columns into the form that expressions are evaluated over, the
 * frames of rows that hold them, and functions that select and combine rows of such columns.
 */

export { assembled, type Piece } from './assemble.ts';
export { memberOf, truthOf } from './column-parts.ts';
export {
  BatchFrame,
  type ColumnSource,
  dictionaryFrame,
  type EvaluationContext,
  type Frame,
  NarrowFrame,
  noColumns,
  type RowNumbers,
  withValidity,
} from './frame.ts';
export { gather } from './gather.ts';
export { dictionaryParts, dictionaryRows, loadColumn } from './load.ts';
