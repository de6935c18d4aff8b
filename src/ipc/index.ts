/**
 * Exports the Arrow IPC format: the encoders of streams, files and single messages, and the readers
 * of the files and streams of other programs. Also exports the decoders of LZ4 and Zstandard, and
 * the Zstandard encoder.
 */

export {
  canEncodeFrames,
  decodeFrame,
  decodeLz4Block,
  decodeZstdInSteps,
  decodeZstdPieces,
  encodeFrame,
  FRAME_BYTES,
  FRAME_OVERHEAD,
  maxZstdSize,
} from './codecs/index.ts';
export {
  ALIGNMENT,
  aligned,
  type Block,
  batchMessage,
  buffersOf,
  type EncodedColumn,
  encodeColumn,
  encodeIpcFile,
  encodeIpcStream,
  FIELD_ID_KEY,
  fieldIdsOf,
  footerTable,
  framed,
  MAGIC,
  MOST_BYTES,
  normaliseColumn,
  type PreparedSchema,
  paddingAfter,
  prepareSchema,
  readSchema,
  type StoredSchema,
  tooManyBytes,
  usedViewBytes,
  withFieldIds,
} from './encode/index.ts';
export { checkText, type FileBytes, openArrowBody, openArrowFile } from './foreign/index.ts';
