export type { ArrowBody, RecordBatchStream } from './arrow.ts';
export type { CredentialVendor } from './directory/catalog.ts';
export type { Env } from './env.ts';
export {
  DirspaceError,
  type DirspaceErrorOptions,
  ERROR_KINDS,
  type ErrorCode,
  type ErrorKind,
  isDirspaceError,
} from './errors.ts';
export type * from './protocol/events.ts';
export type * from './protocol/extensions.ts';
export {
  checkComponent,
  checkPath,
  DEFAULT_DELIMITER,
  formatId,
  type ObjectPath,
  parseId,
} from './protocol/ident.ts';
export type * from './protocol/models.ts';
export {
  type CallOptions,
  type Namespace,
  type NamespaceOperations,
  type RequestOf,
  type ResponseOf,
  type TraceContext,
  unsupported,
  unsupportedOperations,
} from './protocol/namespace.ts';
export type { OperationName } from './protocol/operations.ts';
export { schemaFromJson, schemaToJson, schemaToLanceJson } from './protocol/schema.ts';
export { Branches } from './sdk/branches.ts';
export type {
  AddColumnsSql,
  ColumnAlteration,
  FieldMetadataUpdate,
  NewColumns,
  NewField,
} from './sdk/columns.ts';
export { connect, connectNamespace } from './sdk/connect.ts';
export type { ConnectOptions } from './sdk/connect-options.ts';
export { Connection, type OpenTableOptions } from './sdk/connection.ts';
export type {
  CreateNamespaceOptions,
  CreateNamespaceResult,
  CreateTableArguments,
  CreateTableOptions,
  DeclareTableOptions,
  DropNamespaceOptions,
  DropNamespaceResult,
  ListNamespacesResult,
  ListTablesOptions,
  ListTablesResult,
  NamespacePropertyChanges,
  PageOptions,
  PurgeTrashOptions,
  PurgeTrashResult,
  RegisterTableOptions,
  RenameTableOptions,
  TableExistsOptions,
  TableNamesOptions,
  TrashedItem,
  UndropTableOptions,
  WatchOptions,
} from './sdk/connection-options.ts';
export { type DataInput, type DataOptions, toRecordBatchStream } from './sdk/data.ts';
export {
  type Catalog,
  implementationNames,
  type NamespaceFactory,
  openNamespace,
  registerNamespace,
} from './sdk/implementations.ts';
export {
  type FtsOptions,
  type HnswPqOptions,
  type HnswSqOptions,
  Index,
  type IvfFlatOptions,
  type IvfPqOptions,
  type IvfRqOptions,
} from './sdk/index-config.ts';
export {
  MergeInsertBuilder,
  type MergeResult,
  type WriteExecutionOptions,
} from './sdk/merge-insert.ts';
export type { CompactionOptions, OptimizeOptions } from './sdk/optimize.ts';
export { checkProperties, type Properties, type PropertyRules } from './sdk/properties.ts';
export {
  type ColumnOrdering,
  type FullTextSearchOptions,
  type IntoVector,
  Query,
  type QueryVectors,
  type Vector,
  VectorQuery,
} from './sdk/query.ts';
export type { QueryExecutionOptions, SelectColumns } from './sdk/query-base.ts';
export { batchRows, type Row } from './sdk/rows.ts';
export type { SchemaInput } from './sdk/schema-like.ts';
export type { IntoSql } from './sdk/sql-literal.ts';
export { type AddDataOptions, Table } from './sdk/table.ts';
export type { IndexConfig, IndexOptions, IndexStatistics } from './sdk/table-indexes.ts';
export type {
  AddResult,
  DeleteResult,
  FragmentSummaryStats,
  OptimizeStats,
  TableStatistics,
  UpdateResult,
  WriteResult,
} from './sdk/table-results.ts';
export { type TagOptions, Tags } from './sdk/tags.ts';
export { TakeQuery } from './sdk/take-query.ts';
export type { UpdateInput, UpdateOptions } from './sdk/updates.ts';
export type { ListVersionsOptions, Version, VersionSelection } from './sdk/versions.ts';
export type { WriteProgress } from './sdk/write-progress.ts';
export type { FileSystem } from './store/file-system.ts';
