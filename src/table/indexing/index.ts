/**
 * Exports the building of indexes: creating, dropping and bringing them up to date. table/indexes
 * reads them.
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
