/**
 * Exports `createSearch`, which finds the nearest vectors exactly, `createLateSearch`, which finds
 * the nearest rows of several vectors each, the types of metrics, vectors and matches, and
 * `SketchCache`, which keeps sketches of vectors between searches.
 */

export type { ElementType, Metric, VectorValues } from './elements.ts';
export { createLateSearch, type LateBatch } from './late-interaction.ts';
export { createSearch, type Matches, type VectorBatch, type VectorSearch } from './search.ts';
export { type Sketch, sketchBytes } from './sketch.ts';
export { SketchCache, type SketchScope } from './sketch-cache.ts';
