/**
 * Exports decoders for untrusted bytes with bounded work: flatbuffers, LZ4 frames and Zstandard
 * frames.
 */

export { FlatTable, type Refuse, rootTable } from './flatbuffer.ts';
export { decodeLz4InSteps, maxLz4Size } from './lz4.ts';
export { decodeZstdInSteps, maxZstdSize } from './zstd.ts';
