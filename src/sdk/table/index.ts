/**
 * Exports `Table` with the types of the options and results of its methods, and the objects that
 * it returns, such as `Tags`, `Branches` and `MergeInsertBuilder`. Also exports `Index`, and
 * helpers that connections use too.
 */

export { type BranchContents, Branches } from './branches.ts';
export {
  type AddColumnsSql,
  type ColumnAlteration,
  dataTypeJson,
  type FieldMetadataUpdate,
  type NewColumns,
  type NewField,
  type RefreshColumnOptions,
  type RefreshColumnResult,
} from './columns.ts';
export {
  type FtsOptions,
  type HnswPqOptions,
  type HnswSqOptions,
  Index,
  type IvfFlatOptions,
  type IvfPqOptions,
  type IvfRqOptions,
  type IvfSqOptions,
} from './index-config.ts';
export {
  MergeInsertBuilder,
  type MergeResult,
  type WriteExecutionOptions,
} from './merge-insert.ts';
export { type CompactionOptions, type OptimizeOptions, timeOf } from './optimize.ts';
export type { AddDataOptions } from './row-changes.ts';
export type { IntoSql } from './sql-literal.ts';
export { Table } from './table.ts';
export type {
  FileColumn,
  FileLayout,
  FilesOptions,
  FragmentFiles,
  TableFiles,
} from './table-files.ts';
export type {
  IndexConfig,
  IndexOptions,
  IndexStatistics,
  TokenizeTableOptions,
} from './table-indexes.ts';
export type {
  ColumnChange,
  ColumnHistogram,
  ColumnProfile,
  ComparedColumn,
  ComparedVersion,
  DiffOptions,
  MapChanges,
  ProfileOptions,
  RowDifferences,
  ShownRow,
  TableDiff,
  TableProfile,
} from './table-insight.ts';
export type {
  AddColumnsResult,
  AddResult,
  AlterColumnsResult,
  CompactionStats,
  DeleteResult,
  DropColumnsResult,
  FragmentStatistics,
  FragmentSummaryStats,
  OptimizeStats,
  RemovalStats,
  TableStatistics,
  UpdateFieldMetadataResult,
  UpdateResult,
  WriteResult,
} from './table-results.ts';
export { type TagOptions, Tags } from './tags.ts';
export type { UpdateInput, UpdateOptions } from './updates.ts';
export type { ListVersionsOptions, Version, VersionSelection } from './versions.ts';
export { type OnWriteProgress, type WriteProgress, withProgress } from './write-progress.ts';
