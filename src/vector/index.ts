/**
 * Finds the nearest of many vectors exactly (`createSearch`): distance kernels, the k nearest
 * rows, and sketches that rule rows out without measuring them.
 */

export type { ElementType, Metric, VectorValues } from './elements.ts';
export { createSearch, type Matches, type VectorBatch } from './search.ts';
