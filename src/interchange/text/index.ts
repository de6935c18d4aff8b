/**
 * Exports the writing of values as texts, which CSV and JSON share, and the buffer that it fills.
 * The Parquet writer uses `bytesAt` and `nullAt` too.
 */

export { floatsOf, type WriteText, writeFloat } from './number-texts.ts';
export { PIECE_BYTES, TextOut } from './text-out.ts';
export { bytesAt, nullAt, plainText } from './value-texts.ts';
