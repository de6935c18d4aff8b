/** Exports the loading of a batch's Arrow columns into the form that evaluation works on. */

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
