/**
 * Exports the merge of rows into a table by key: `readSource` reads the source rows, `mergeRows`
 * matches them with the table's and commits the result, `checkConditions` validates the conditions
 * beforehand.
 */

export { checkConditions, mergeRows, type RowsMerged } from './merge.ts';
export type { MergeClauses } from './merge-attempt.ts';
export { readSource, type SourceRows } from './merge-source.ts';
