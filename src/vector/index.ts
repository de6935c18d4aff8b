/**
 * Exports exact searches by vectors: `createSearch` finds the nearest vectors, and
 * `createLateSearch` the nearest rows of several vectors each. `SketchCache` keeps sketches of
 * vectors between searches. For vector indexes, `openPartitions` opens kernels with a memory of
 * their own. `createNearest`, which keeps the nearest of many rows, serves full-text search too.
 */

export { type ElementType, invalid, type Metric, type VectorValues } from './elements.ts';
export { createLateSearch, type LateBatch } from './late-interaction.ts';
export { createNearest, type Nearest } from './nearest.ts';
export { wrongLength } from './query.ts';
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
