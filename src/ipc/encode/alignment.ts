/**
 * Aligns buffers and columns in files to 64 bytes. `aligned` rounds a position up to a multiple of
 * 64, and `paddingAfter` returns the zeros up to that position. Readers compute positions with the
 * same number, so it is part of the file format and must not change.
 */

/** Buffers begin at multiples of this within a column, and columns within a file. */
export const ALIGNMENT = 64;

/** The least multiple that holds so many bytes. */
export const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

const ZEROS = new Uint8Array(ALIGNMENT);

/** Zeros up to the next aligned position. */
export const paddingAfter = (bytes: number): Uint8Array =>
  ZEROS.subarray(0, aligned(bytes) - bytes);
