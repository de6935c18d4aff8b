/**
 * Exports queries of a snapshot and their plans: `query` runs scans, ordered reads, vector searches
 * and full-text searches. Also exports the sorter of rows by keys and, for indexing, the checks and
 * readers of text and vector columns.
 */

export { type OrderKey, sortedColumn } from './order.ts';
export { markChanges, RowSorter } from './row-sorter.ts';
export { analyzeQuery, explainQuery, type QueryRequest, query } from './snapshot-query.ts';
export { hasOrder } from './sort-keys.ts';
export { checkSearchable, isSearchable, TextReader } from './text-column.ts';
export { hasVectors, listSizeOf, vectorsOf } from './vector-column.ts';
