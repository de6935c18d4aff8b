/**
 * Exports the changes of a table: append, overwrite, delete, update, changes of columns, backfill,
 * metadata and compression, compaction, restore, and the staging of new tables. It also exports
 * what other writers, such as merges and clients of Lance, share with these, such as
 * `writeFragments` and `commitWithFiles`.
 */

export { addColumns, type NewColumn } from './add-columns.ts';
export {
  append,
  appended,
  type OverwriteOptions,
  overwrite,
  type RowsCommitted,
  replaced,
  type WriteOptions,
} from './append.ts';
export { AttemptFiles, commitWithFiles, isBetweenAttempts } from './attempt.ts';
export { type Backfilled, type BackfillRequest, backfillColumn } from './backfill.ts';
export {
  type CompactionReport,
  type CompactOptions,
  compact,
} from './compact.ts';
export { type CompactionGoals, DEFAULT_MAX_DELETED_SHARE } from './compaction-plan.ts';
export { deleteRowsById, deleteWhere, RowOffsets, type RowsDeleted } from './delete-rows.ts';
export { DeletionFiles } from './deletion-files.ts';
export {
  alterColumns,
  type ColumnChange,
  dropColumns,
  type MetadataChange,
  type MetadataChanged,
  updateFieldMetadata,
} from './evolve.ts';
export { fitFragments, fitOf, matchFields } from './match-fields.ts';
export { requireNoNulls } from './null-check.ts';
export { RequiredValues, refuseNulls } from './required-values.ts';
export { replaceSchemaMetadata, restore, restored, setCompression } from './revise.ts';
export { inPlace } from './rewrite-fragments.ts';
export { type StagedTable, stageDeclared, stageTable } from './stage-table.ts';
export {
  type RowsUpdated,
  replacingDraft,
  type UpdateRequest,
  updateRows,
} from './update.ts';
export { type NewFragment, removeFragments, writeFragments, writesLance } from './write.ts';
