/**
 * Exports the query builders, which return rows, batches or Arrow tables: `Query`, `VectorQuery`,
 * `TakeQuery`, `AutoQuery`, `GroupedQuery` and `SqlQuery`, with some of their base classes. Also
 * exports full-text queries as objects, rerankers, and parts that tables use too, such as blobs.
 */

export { AutoQuery } from './auto-query.ts';
export {
  BlobFile,
  type BlobFiles,
  type Blobs,
  blobColumns,
  fetchBlobFiles,
  fetchBlobs,
} from './blobs.ts';
export {
  type AggregateCalls,
  type GroupedOrdering,
  GroupedQuery,
} from './grouped-query.ts';
export {
  type ColumnOrdering,
  type FullTextSearchOptions,
  type IntoVector,
  type MultiVector,
  Query,
  type QueryVectors,
  type Vector,
  VectorQuery,
} from './query.ts';
export {
  type AnalyzePlanDistributedMetrics,
  type ExecutableQuery,
  QueryBase,
  type SelectColumns,
} from './query-base.ts';
export { type Reranker, RRFReranker } from './rerank.ts';
/** What fuses the rows of two searches, under the name that LanceDB's SDK gives it. */
export * as rerankers from './rerankers.ts';
export {
  checkCount,
  type QueryExecutionOptions,
  RunnableQuery,
} from './runnable-query.ts';
export { type SqlOptions, SqlQuery } from './sql-query.ts';
export { StatementQuery } from './statement-query.ts';
export { type RowIds, rowNumbers, TakeQuery } from './take-query.ts';
export {
  BooleanQuery,
  BoostQuery,
  type FtsToken,
  type FullTextQuery,
  FullTextQueryType,
  isFullTextQuery,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  Operator,
  PhraseQuery,
  PrefixQuery,
  relativeTokens,
  TOKENIZE_MEMBERS,
  type TokenizeOptions,
  tokenize,
} from './text-queries.ts';
export { WithoutLsm } from './without-lsm.ts';
