/**
 * Exports the building of indexes: creating, dropping and updating them, and dropping damaged
 * segments. table/indexes reads them.
 */

export {
  createIndex,
  dropIndex,
  type IndexCommitted,
  type IndexingOptions,
  type IndexRequest,
  missingIndex,
} from './create-index.ts';
export { dropSegments, type SegmentPlace, segmentsOn } from './drop-segments.ts';
export { updateIndexes } from './update-indexes.ts';
