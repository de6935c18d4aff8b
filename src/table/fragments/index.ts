/**
 * Exports the cursor over the fragments of a snapshot, the readers of single fragments (columns,
 * selected rows, deleted rows), the listing of a version's files and their column layouts, and the
 * counters of scans.
 */

export { DeletedRows, decodeVerified, deletedRows, rememberDeleted } from './deletions.ts';
export { FragmentCursor, type RunWanted } from './fragment-cursor.ts';
export type { FragmentReader, ReadPurpose, StoredValue } from './fragment-reader.ts';
export { rememberFooter } from './large-fragment.ts';
export { type FragmentFiles, type ListedFiles, listFiles, unlikeFragments } from './list-files.ts';
export { openFragment } from './open-fragment.ts';
export {
  columnKey,
  fieldBytes,
  plainPosition,
  type ReadPlace,
  readFields,
} from './read-fields.ts';
export { ScanCounters } from './scan-counters.ts';
export { isSmall } from './small-fragment.ts';
export type { StoredColumn, StoredForm, StoredLayout } from './stored-layout.ts';
