/**
 * Exports the conversion of callers' data and schemas to Arrow, also from objects of another copy
 * of apache-arrow, and of Arrow data back to rows. `handOver` and `closedBy` close streams that are
 * not read.
 */

export { withoutAbsentStructs } from './absent-structs.ts';
export type { DataLike, RecordBatchLike, TableLike } from './arrow-like.ts';
export {
  type FieldLike,
  isTypeLike,
  rebuildType,
  type SchemaLike,
  type TypeLike,
} from './arrow-like-types.ts';
export {
  type BlobLike,
  type Data,
  type DataInput,
  type DataOptions,
  hasSchema,
  isRepeatable,
  streamOfFile,
  toRecordBatchStream,
} from './data.ts';
export { closedBy, handOver } from './hand-over.ts';
export { type ColumnTypes, SchemaInference, type VectorColumns } from './infer.ts';
export { MakeArrowTableOptions, makeArrowTable, VectorColumnOptions } from './make-table.ts';
export { readColumn } from './read-column.ts';
export { requireColumns } from './row-stream.ts';
export { type AnyRow, batchRows, collectRows, type Row } from './rows.ts';
export {
  type NamedTypeField,
  type NamedTypeSchema,
  type SchemaInput,
  toSchema,
} from './schema-like.ts';
export { abortable, type ReadableStreamLike } from './source.ts';
export type { RowsInput } from './typed-rows.ts';
