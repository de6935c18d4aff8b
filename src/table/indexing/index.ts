/**
 * Exports the building of indexes: creating, updating and dropping them, and dropping damaged
 * segments for repair. table/indexes reads indexes.
 */

export {
  createIndex,
  dropIndex,
  type IndexCommitted,
  type IndexingOptions,
  type IndexRequest,
} from './create-index.ts';
export { dropSegments, type SegmentPlace, segmentsOn } from './drop-segments.ts';
export { updateIndexes } from './update-indexes.ts';
