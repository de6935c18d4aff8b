/**
 * Exports the comparison of two versions of a table: columns, fragments and rows.
 */

export type { ShownRow } from './changed-columns.ts';
export { type DiffRequest, diffVersions, type MapDifferences, type VersionsDiff } from './diff.ts';
export { fragmentDifferences, rowDifferences } from './fragment-differences.ts';
export { type ColumnSummary, columnSummary } from './schema-differences.ts';
