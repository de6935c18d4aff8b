/** Merge by keys: matches source rows with rows of the table and writes the result. */

export { mergeRows } from './merge.ts';
export type { MergeClauses } from './merge-attempt.ts';
export { readSource } from './merge-source.ts';
