/**
 * Exports `createSearch`, which finds the nearest vectors exactly, and the types of its metrics,
 * vectors and matches.
 */

export type { ElementType, Metric, VectorValues } from './elements.ts';
export { createSearch, type Matches, type VectorBatch } from './search.ts';
