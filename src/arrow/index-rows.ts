/**
 * Builds dictionary columns whose indices are row numbers, to pick rows of a column without copying
 * its values. `indexedRows` takes a column as the dictionary. `indicesOf` takes a vector, which
 * several such columns can share. The array of row numbers is kept, not copied. They must be below
 * 2^31 and below the length of the dictionary.
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
