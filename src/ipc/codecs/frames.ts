/**
 * Compresses up to 64 KiB as one Zstandard frame (`encodeFrame`), and decompresses one frame
 * (`decodeFrame`). It uses Node's own library, or the codec of this folder. Fragments use frames of
 * `FRAME_BYTES`, so that a reader of a few values decodes a small part of a buffer.
 */
import type { Refuse } from './flatbuffer.ts';
import { nodeZstdEncoder } from './node-zstd.ts';
import { decodeZstdInto } from './zstd.ts';
import { canEncodeZstd, encodeZstd } from './zstd-encode.ts';

export { FRAME_OVERHEAD } from './zstd-encode.ts';
export { FRAME_BYTES } from './zstd-kernels.ts';

/** Whether this process can compress. */
export const canEncodeFrames = (): boolean => nodeZstdEncoder !== null || canEncodeZstd();

/**
 * The frame, in memory that the next call may overwrite; undefined where this process cannot compress.
 * Its content is stored as it is where it does not get smaller.
 */
export function encodeFrame(content: Uint8Array): Uint8Array | undefined {
  if (nodeZstdEncoder !== null) return nodeZstdEncoder(content);
  return canEncodeZstd() ? encodeZstd(content) : undefined;
}

/** Fills `output` with the content of one frame, which must be as long. `refuse` gets what is wrong. */
export function decodeFrame(frame: Uint8Array, output: Uint8Array, refuse: Refuse): void {
  decodeZstdInto(frame, output, refuse);
}
