/**
 * Exports the engine of single tables on a store; code outside of this folder imports this file
 * alone. `openEngine` creates the services that the tables of a catalog share. `openTable` and
 * `openBranch` return handles on a table and a branch; `stageTable` builds a new table, and
 * `stageClone` a clone of one. `query`, `take`, `countWhere` and `readBlobs` read a snapshot.
 * `explainQuery`, `profileTable`, `diffVersions` and `describedIndexes` describe it. The rest are
 * types, and parts that operations of the catalog, SQL statements and repair use.
 */

export { type Branch, openBranch } from './branch.ts';
export { type BranchDifference, type CherryPicked, stageClone } from './branching/index.ts';
export { type ColumnSummary, diffVersions } from './diff/index.ts';
export { fieldMetadata } from './fields/index.ts';
export { type FragmentFiles, listFiles, type StoredColumn } from './fragments/index.ts';
export {
  DEFAULT_ORPHAN_GRACE,
  type FoundStorage,
  fileSystemTime,
  keyedTransaction,
} from './history/index.ts';
export { type DescribedIndex, describedIndexes, prewarmIndex } from './indexes/index.ts';
export { dropSegments, segmentsOn } from './indexing/index.ts';
export { type LanceSynced, lagByPath, lanceProblem } from './lance/index.ts';
export {
  checkConditions,
  type MergeClauses,
  type RowsMerged,
  readSource,
  type SourceRows,
} from './merge/index.ts';
export { openEngine } from './open-engine.ts';
export {
  type ColumnBounds,
  type ColumnProfile,
  exactBounds,
  profileTable,
} from './profile/index.ts';
export {
  hasOrder,
  markChanges,
  type OrderKey,
  type QueryRequest,
  RowSorter,
} from './query/index.ts';
export { countWhere, prepareReads, readBlobs, requestMemory, take } from './read/index.ts';
export type { ViewRefreshed } from './refresh-view.ts';
export { analyzeQuery, explainQuery, query } from './run-query.ts';
export type { StagedVersion } from './staged/index.ts';
export { openTable, type SideBranch, type StoredTable } from './stored-table.ts';
export {
  type Acceptance,
  acceptVersion,
  countBytes,
  type Findings,
  planAcceptance,
  problemIn,
  type VerifiedBranch,
  WITHOUT_MANIFEST,
} from './verify/index.ts';
export {
  type Committed,
  decideMultiTable,
  decisionTables,
  type Engine,
  emptyTable,
  incarnationOfTransaction,
  isEmptyTable,
  isMultiTableId,
  isUnchanged,
  type KnownNames,
  type Limits,
  multiTableDecision,
  type Snapshot,
  type SortedNames,
  type TableBranch,
  tableGone,
  tableMadeAnew,
  UNKNOWN_WRITER_GRACE,
} from './versions/index.ts';
export { type ViewColumns, type ViewQuery, viewColumns } from './view-query.ts';
export {
  DEFAULT_BUFFER_BYTES,
  inTurns,
  type KeptMemory,
  keptMemory,
  SCRATCH_BYTES,
  stagingFolder,
  Turn,
  writeObject,
} from './work/index.ts';
export {
  type CompactionGoals,
  type CompactionReport,
  DEFAULT_MAX_DELETED_SHARE,
  type NewColumn,
  type OverwriteOptions,
  type RowsCommitted,
  type RowsDeleted,
  type StagedTable,
  stageDeclared,
  stageTable,
} from './write/index.ts';
