/**
 * Converts callers' rows, columns and tables, of any version of apache-arrow, to Arrow data, and
 * Arrow data back to rows.
 */

export { isTypeLike, rebuildType, type TypeLike } from './arrow-like-types.ts';
export {
  type BlobLike,
  type DataInput,
  type DataOptions,
  hasSchema,
  isRepeatable,
  toRecordBatchStream,
} from './data.ts';
export type { ColumnTypes, VectorColumns } from './infer.ts';
export { type AnyRow, batchRows, collectRows, type Row } from './rows.ts';
export { type SchemaInput, toSchema } from './schema-like.ts';
export type { RowsInput } from './typed-rows.ts';
