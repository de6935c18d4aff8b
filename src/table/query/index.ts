/**
 * Exports queries of a snapshot: scans, orderings and vector searches behind one request (`query`),
 * and their plans.
 */

export type { OrderKey } from './order.ts';
export { RowSorter } from './row-sorter.ts';
export { analyzeQuery, explainQuery, type QueryRequest, query } from './snapshot-query.ts';
export { hasOrder } from './sort-keys.ts';
export { checkSearchable, isSearchable, TextReader } from './text-column.ts';
