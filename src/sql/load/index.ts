/**
 * Columns of a batch as the evaluation reads them: loads buffers, picks rows, makes parts of nested columns.
 */

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
} from './frame.ts';
export { gather } from './gather.ts';
export { loadColumn } from './load.ts';
