/** Queries of a snapshot: scans, orderings and vector searches behind one request, and their plans. */

export type { OrderKey } from './order.ts';
export { analyzeQuery, explainQuery, type QueryRequest, query } from './snapshot-query.ts';
