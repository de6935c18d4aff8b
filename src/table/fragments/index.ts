/**
 * Exports the cursor over the fragments of a snapshot and the reading of single ones: columns,
 * selected rows, deleted rows, and the counters of scans.
 */

export { DeletedRows, decodeVerified, deletedRows, rememberDeleted } from './deletions.ts';
export { FragmentCursor, type RunWanted } from './fragment-cursor.ts';
export type { FragmentReader, ReadPurpose } from './fragment-reader.ts';
export { rememberFooter } from './large-fragment.ts';
export { openFragment } from './open-fragment.ts';
export { columnKey, fieldBytes, type ReadPlace, readFields } from './read-fields.ts';
export { ScanCounters } from './scan-counters.ts';
export { isSmall } from './small-fragment.ts';
