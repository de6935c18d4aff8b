/**
 * Exports the reading of indexes: which fragments they cover, which rows match a condition, how
 * many they are, which come first in an order, and which vectors are near to another. Also exports
 * the reader of full-text segments, the lists and prewarming of indexes, and their entries after
 * fragments were joined. table/indexing builds indexes.
 */

export { BTREE_COLUMNS } from './btree-segment.ts';
export {
  chooseIndexes,
  type IndexChoice,
  type IndexedRows,
  rowsWithValues,
} from './choose-index.ts';
export { type CountedRows, countIndexed } from './count-indexed.ts';
export {
  type Coverage,
  type CoveredSegment,
  coverageOf,
  type IndexedField,
  indexedField,
  readingIndexes,
} from './coverage.ts';
export { type DescribedIndex, describedIndexes } from './described-indexes.ts';
export { type FirstKey, firstRows } from './first-rows.ts';
export { type NearRequest, nearRows, type SearchedSegment } from './ivf-search.ts';
export { type JoinedFragments, joinedIndexes, rowsIn, runOf } from './joined-runs.ts';
export { prewarmIndex } from './prewarm-index.ts';
export { entryFile, entryOf, placedRuns } from './segment.ts';
export { indexReader } from './segment-types.ts';
export { type TermPlace, TextSegment } from './text-segment.ts';
