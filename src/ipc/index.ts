/**
 * Reads and writes the Arrow IPC format: encodes streams, files and single messages, and decodes
 * files and streams of other programs.
 */

export {
  ALIGNMENT,
  aligned,
  type Block,
  batchMessage,
  type EncodedColumn,
  encodeColumn,
  encodeIpcFile,
  encodeIpcStream,
  FIELD_ID_KEY,
  fieldIdsOf,
  footerTable,
  framed,
  MAGIC,
  normaliseColumn,
  type PreparedSchema,
  prepareSchema,
  readSchema,
  type StoredSchema,
  withFieldIds,
} from './encode/index.ts';
export { type FileBytes, openArrowBody, openArrowFile } from './foreign/index.ts';
