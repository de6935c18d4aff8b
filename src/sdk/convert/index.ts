/**
 * Rows, columns and tables of callers, of any version of apache-arrow, to Arrow data, and back to rows.
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
export type { VectorColumns } from './infer.ts';
export { type AnyRow, batchRows, collectRows, type Row } from './rows.ts';
export { type SchemaInput, toSchema } from './schema-like.ts';
