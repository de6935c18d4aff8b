/**
 * Exports the comparison of two versions of a table: columns, fragments and rows.
 */

export { diffVersions } from './diff.ts';
export { fragmentDifferences, rowDifferences } from './fragment-differences.ts';
export { type ColumnSummary, columnSummary } from './schema-differences.ts';
