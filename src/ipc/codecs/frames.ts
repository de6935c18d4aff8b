/**
 * Compresses bytes to one Zstandard frame (`encodeFrame`), and decompresses frames into a buffer of
 * exactly their content's size (`decodeFrame`), whose faults go to the caller's `refuse`. Both use
 * Node's library or the codec of this folder, which throws RangeError for more than 64 KiB to
 * encode. `encodeFrame` returns memory that the next call may overwrite, or undefined if this
 * process cannot compress (`canEncodeFrames`). The buffers of fragments are compressed in frames of
 * `FRAME_BYTES` (64 KiB) of content each, so that a reader of a few values decodes only a small
 * part of a buffer.
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
