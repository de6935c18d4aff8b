/**
 * Exports the functions that write values as texts, which the CSV and JSON writers share, and the
 * byte buffer that they fill (`TextOut`). The Parquet writer uses `bytesAt` and `nullAt` too.
 */

export { floatsOf, type WriteText, writeFloat } from './number-texts.ts';
export { PIECE_BYTES, TextOut } from './text-out.ts';
export { bytesAt, nullAt, plainText } from './value-texts.ts';
