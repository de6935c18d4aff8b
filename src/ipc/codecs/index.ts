/**
 * Exports decoders for untrusted bytes with bounded work: flatbuffers, LZ4 frames and blocks, and
 * Zstandard frames, whole or in pieces. Also exports the encoder of short Zstandard frames.
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
