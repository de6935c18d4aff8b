/** Merge by keys: matches source rows with rows of the table and writes the result. */

export { mergeRows, type RowsMerged } from './merge.ts';
export type { MergeClauses } from './merge-attempt.ts';
export { readSource, type SourceRows } from './merge-source.ts';
