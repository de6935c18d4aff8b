/**
 * `encodeDictionary` encodes a column of plain values as a dictionary column; nulls become null
 * indices. Equal values of fixed width share an entry, and so do equal texts or binaries with
 * offsets. Equal booleans, views and nested values do not. It throws InvalidInput if the index type
 * cannot number all entries.
 */

import { DirspaceError } from '../errors.ts';
import { type Data, type Dictionary, Vector } from './apache.ts';
import { dataOf, nullColumn } from './arrow-data.ts';
import { valueArray } from './arrow-types.ts';
import { bitmapBytes, setBit } from './bitmaps.ts';
import { indexCapacity, unionVector } from './concat.ts';
import { DictionaryUnion } from './dictionaries.ts';
import { gatherData } from './gather-data.ts';

/** @throws InvalidInput when there are more values than the type's indices can tell apart */
export function encodeDictionary(values: Data, type: Dictionary): Data {
  const { length } = values;
  const present: number[] = [];
  for (let row = 0; row < length; row += 1) if (values.getValid(row)) present.push(row);
  if (present.length === 0) return nullColumn(type, length);
  const known = gatherData(values, Uint32Array.from(present));
  const union = new DictionaryUnion();
  const map = union.merge(new Vector([known]));
  if (union.length > indexCapacity(type)) {
    throw new DirspaceError(
      'InvalidInput',
      `A dictionary of ${union.length} values is more than ${String(type)} can index`,
    );
  }
  const indices = new (valueArray(type))(length);
  const wide = indices instanceof BigInt64Array || indices instanceof BigUint64Array;
  const validity = new Uint8Array(bitmapBytes(length));
  for (const [at, row] of present.entries()) {
    const index = map?.[at] ?? at;
    if (wide) indices[row] = BigInt(index);
    else (indices as Int32Array)[row] = index;
    setBit(validity, row);
  }
  const dictionary = unionVector(union, type);
  return dataOf(type, length, {
    nullCount: length - present.length,
    validity,
    values: indices,
    dictionary,
  });
}
