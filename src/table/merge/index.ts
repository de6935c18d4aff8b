/** Merges rows into a table by key: matches source rows with target rows and commits the result. */

export { checkConditions, mergeRows, type RowsMerged } from './merge.ts';
export type { MergeClauses } from './merge-attempt.ts';
export { readSource, type SourceRows } from './merge-source.ts';
