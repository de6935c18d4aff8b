/**
 * Exports decoders for untrusted bytes: flatbuffers, LZ4 frames and blocks, and Zstandard frames
 * that are in memory or come in pieces. Also exports the encoder of Zstandard frames.
 */

export { FlatTable, type Refuse, rootTable } from './flatbuffer.ts';
export {
  canEncodeFrames,
  decodeFrame,
  encodeFrame,
  FRAME_BYTES,
  FRAME_OVERHEAD,
} from './frames.ts';
export { decodeLz4Block, decodeLz4InSteps, maxLz4Size } from './lz4.ts';
export { decodeZstdInSteps, maxZstdSize } from './zstd.ts';
export { decodeZstdPieces } from './zstd-stream.ts';
