/** Exports the texts of values that writers of CSV and JSON share, and the buffer that they fill. */

export { floatsOf, type WriteText, writeFloat } from './number-texts.ts';
export { PIECE_BYTES, TextOut } from './text-out.ts';
export { bytesAt, nullAt, plainText } from './value-texts.ts';
