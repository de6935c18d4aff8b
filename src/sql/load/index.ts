/** Loads Arrow columns of a batch into the forms that the evaluation loops over. */

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
