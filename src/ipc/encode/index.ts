/**
 * Exports the encoders of Arrow IPC: columns to buffers, schemas and record batches to messages,
 * and record batches to streams and files. Also exports the parser of our own schema messages, and
 * the functions for the field ids in schemas.
 */

export { ALIGNMENT, aligned, paddingAfter } from './alignment.ts';
export { buffersOf, type EncodedColumn, encodeColumn } from './column-writer.ts';
export { FIELD_ID_KEY, fieldIdsOf, withFieldIds } from './field-ids.ts';
export { type Block, batchMessage, footerTable, framed, MAGIC } from './ipc-messages.ts';
export { encodeIpcFile, encodeIpcStream } from './ipc-stream.ts';
export { normaliseColumn } from './normalise-column.ts';
export {
  type PreparedSchema,
  prepareSchema,
  readSchema,
  type StoredSchema,
} from './schema-message.ts';
export { MOST_BYTES, tooManyBytes, usedViewBytes } from './view-columns.ts';
