/**
 * Exports the comparison of two versions of a table (`diffVersions`), and parts of it: which
 * fragments and rows two versions share, and the summary of a column.
 */

export { diffVersions } from './diff.ts';
export { fragmentDifferences, rowDifferences } from './fragment-differences.ts';
export { type ColumnSummary, columnSummary } from './schema-differences.ts';
