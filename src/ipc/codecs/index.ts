/**
 * Decoders of bytes that may be forged: flatbuffers, LZ4 frames and zstd frames. Each bounds its work.
 */

export { FlatTable, type Refuse, rootTable } from './flatbuffer.ts';
export { decodeLz4InSteps, maxLz4Size } from './lz4.ts';
export { decodeZstdInSteps, maxZstdSize } from './zstd.ts';
