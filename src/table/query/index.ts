/** Reads that look at all matching rows before they answer: ordering, vector search, plans. */

export { analyzePlan, explainPlan } from './explain.ts';
export { type OrderKey, orderedScan, planKeys } from './order.ts';
export { searchVectors, vectorColumn, withoutDistance } from './search.ts';
