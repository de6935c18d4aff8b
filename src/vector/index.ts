/**
 * Exports `createSearch`, which finds the nearest vectors exactly, `createLateSearch`, which finds
 * the nearest rows of several vectors each, the types of metrics, vectors and matches, and
 * `SketchCache`, which keeps sketches of vectors between searches. The rest is for indexes of
 * vectors: kernels with a memory of their own, and the nearest of many rows.
 */

export { type ElementType, invalid, type Metric, type VectorValues } from './elements.ts';
export { createLateSearch, type LateBatch } from './late-interaction.ts';
export { createNearest, type Nearest } from './nearest.ts';
export { reserve } from './residents.ts';
export {
  createSearch,
  hasPartitions,
  type Matches,
  openPartitions,
  type VectorBatch,
  type VectorSearch,
} from './search.ts';
export { SKETCHES_AT } from './sieve.ts';
export { LARGEST, type PartitionKernels, type Sketch, sketchBytes } from './sketch.ts';
export { SketchCache, type SketchScope } from './sketch-cache.ts';
