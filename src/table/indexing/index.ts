/**
 * Exports the building of indexes: creating, dropping and updating them, dropping damaged segments,
 * and the error for an index that is not there. table/indexes reads them.
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
