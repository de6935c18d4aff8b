/**
 * Exports queries of a snapshot (scans, ordered reads, vector and full-text searches behind one
 * request, `query`) and their plans; the sorter of rows by keys; and the checks and the reader of
 * text columns, which indexing uses.
 */

export type { OrderKey } from './order.ts';
export { RowSorter } from './row-sorter.ts';
export { analyzeQuery, explainQuery, type QueryRequest, query } from './snapshot-query.ts';
export { hasOrder } from './sort-keys.ts';
export { checkSearchable, isSearchable, TextReader } from './text-column.ts';
export { hasVectors, listSizeOf, vectorsOf } from './vector-column.ts';
