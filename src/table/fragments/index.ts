/**
 * Exports the cursor over the fragments of a snapshot and the reading of single ones: columns,
 * selected rows, deleted rows, the files of a version and how they hold its columns, and the counters
 * of scans.
 */

export { DeletedRows, decodeVerified, deletedRows, rememberDeleted } from './deletions.ts';
export { FragmentCursor, type RunWanted } from './fragment-cursor.ts';
export type { FragmentReader, ReadPurpose } from './fragment-reader.ts';
export { rememberFooter } from './large-fragment.ts';
export { type FragmentFiles, type ListedFiles, listFiles, unlikeFragments } from './list-files.ts';
export { openFragment } from './open-fragment.ts';
export { columnKey, fieldBytes, type ReadPlace, readFields } from './read-fields.ts';
export { ScanCounters } from './scan-counters.ts';
export { isSmall } from './small-fragment.ts';
export type { StoredColumn, StoredForm, StoredLayout } from './stored-layout.ts';
