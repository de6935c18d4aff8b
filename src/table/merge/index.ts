/**
 * Exports the merge of rows into a table by key: `readSource` reads the source rows, `mergeRows`
 * matches them with the table's rows and commits the result, and `checkConditions` checks the
 * conditions of a merge into a table that does not exist yet.
 */

export { checkConditions, mergeRows, type RowsMerged } from './merge.ts';
export type { MergeClauses } from './merge-attempt.ts';
export { readSource, type SourceRows } from './merge-source.ts';
