/** Reads that look at all rows to answer: ordering, vector search, and explanations of plans. */

export { analyzePlan, explainPlan } from './explain.ts';
export { type OrderKey, orderedScan, planKeys } from './order.ts';
export { searchVectors, vectorColumn, withoutDistance } from './search.ts';
