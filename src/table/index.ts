/**
 * Tables on a store: versions, snapshots, reads, writes, history and verification. Other rooms
 * import this file and no other of the room.
 */

export { findField, leafOf } from './fields/index.ts';
export {
  cleanup,
  DEFAULT_ORPHAN_GRACE,
  deleteVersions,
  type FoundStorage,
  fileSystemTime,
  findStorage,
  planDeletion,
  withHold,
} from './history/index.ts';
export {
  checkConditions,
  type MergeClauses,
  mergeRows,
  type RowsMerged,
  readSource,
  type SourceRows,
} from './merge/index.ts';
export { openEngine } from './open-engine.ts';
export {
  analyzeQuery,
  explainQuery,
  type OrderKey,
  type QueryRequest,
  query,
} from './query/index.ts';
export { countWhere, prepareReads, requestMemory, take } from './read/index.ts';
export { publishStaged, readOfferedVersion, type StagedVersion } from './staged/index.ts';
export {
  type Acceptance,
  acceptVersion,
  countBytes,
  type Findings,
  planAcceptance,
  problemIn,
  type VerifiedBranch,
  verifyTable,
  WITHOUT_MANIFEST,
} from './verify/index.ts';
export {
  batchDecision,
  batchTables,
  type Committed,
  createBranch,
  createTag,
  decideBatch,
  deleteBranch,
  deleteTag,
  type Engine,
  type FoundBranch,
  findBranch,
  findTag,
  highestListed,
  hintNamed,
  incarnationOfTransaction,
  isBatchId,
  isTableAt,
  type Limits,
  leftAtThatMoment,
  listBranches,
  listedVersions,
  listTags,
  madeVisible,
  mainBranch,
  replaceTag,
  resolveHead,
  Snapshot,
  snapshotAt,
  type TableBranch,
  tableGone,
  tableLeft,
  tableMadeAnew,
  visibleSnapshot,
  visibleVersions,
} from './versions/index.ts';
export {
  DEFAULT_BUFFER_BYTES,
  type KeptMemory,
  keptMemory,
  SCRATCH_BYTES,
  stagingFolder,
  Turn,
  writeObject,
} from './work/index.ts';
export {
  addColumns,
  alterColumns,
  append,
  type CompactionGoals,
  type CompactionReport,
  compact,
  DEFAULT_MAX_DELETED_SHARE,
  deleteRowsById,
  deleteWhere,
  dropColumns,
  emptyTable,
  isEmptyTable,
  type NewColumn,
  type OverwriteOptions,
  overwrite,
  type RowsCommitted,
  type RowsDeleted,
  replaceSchemaMetadata,
  restore,
  type StagedTable,
  stageDeclared,
  stageTable,
  updateFieldMetadata,
  updateRows,
} from './write/index.ts';
