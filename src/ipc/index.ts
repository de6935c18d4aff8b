/**
 * Exports the encoders and decoders of the Arrow IPC format: streams, files and single messages are
 * written, and files and streams of other programs are read.
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
  usedViewBytes,
  withFieldIds,
} from './encode/index.ts';
export { checkText, type FileBytes, openArrowBody, openArrowFile } from './foreign/index.ts';
