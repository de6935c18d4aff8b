/**
 * Rows of a column as indices into it, as a dictionary column: no value is copied. `indexedRows`
 * makes one of a column, `indicesOf` of a vector that several of them share.
 */
import { type Data, Dictionary, Int32, makeData, Vector } from './apache.ts';

/** @param rows below the length of the vector; kept, not copied */
export const indicesOf = (dictionary: Vector, rows: Uint32Array): Data =>
  makeData({
    type: new Dictionary(dictionary.type, new Int32()),
    length: rows.length,
    data: new Int32Array(rows.buffer, rows.byteOffset, rows.length),
    dictionary,
  } as never);

export const indexedRows = (data: Data, rows: Uint32Array): Data =>
  indicesOf(new Vector([data]), rows);
