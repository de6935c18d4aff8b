/**
 * Distances between vectors and the nearest of many: kernels, sketches that rule vectors out, top-k.
 */

export type { ElementType, Metric, VectorValues } from './elements.ts';
export { createSearch, type Matches, type VectorBatch } from './search.ts';
