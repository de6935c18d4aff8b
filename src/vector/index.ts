/**
 * Finds the nearest of many vectors exactly: distance kernels, top-k, and sketches that rule rows
 * out without measuring them.
 */

export type { ElementType, Metric, VectorValues } from './elements.ts';
export { createSearch, type Matches, type VectorBatch } from './search.ts';
