/**
 * Picks rows of columns that store offsets. `gatherBinary` copies the bytes of the picked texts or
 * binaries, and `spreadLists` computes the child rows of the picked lists. With offsets of 32 bits,
 * both throw InvalidInput if the result has more than 2^31 - 1 bytes or child rows (`checkTotal`).
 * `touch` has the processor fetch scattered texts before they are copied.
 */

import { DirspaceError } from '../errors.ts';
import type { Data, DataType } from './apache.ts';
import { NO_BYTES, type Offsets, offsetAt } from './arrow-data.ts';
import { hasLargeOffsets } from './arrow-types.ts';
import { newArray } from './small-arrays.ts';

/** The bytes behind the offsets at `indices`, with offsets of their own. */
export function gatherBinary(
  data: Data,
  indices: Uint32Array,
): { offsets: Offsets; values: Uint8Array } {
  const source = data.valueOffsets as Offsets;
  const large = hasLargeOffsets(data.type);
  const total = totalSpan(source, indices);
  checkTotal(total, large);
  const from = (data.values ?? NO_BYTES) as Uint8Array;
  const values = newArray(Uint8Array, total);
  if (source instanceof Int32Array) {
    return { offsets: copyTexts(source, from, values, indices), values };
  }
  const offsets = newArray(BigInt64Array, indices.length + 1);
  let end = 0;
  for (let at = 0; at < indices.length; at += 1) {
    const begin = offsetAt(source, indices[at] as number);
    const bytes = offsetAt(source, (indices[at] as number) + 1) - begin;
    copyBytes(from, begin, values, end, bytes);
    end += bytes;
    offsets[at + 1] = BigInt(end);
  }
  return { offsets, values };
}

/** The loop for 32-bit offsets alone; neighbouring rows are copied at once. */
function copyTexts(
  source: Int32Array,
  from: Uint8Array,
  to: Uint8Array,
  indices: Uint32Array,
): Int32Array {
  const offsets = newArray(Int32Array, indices.length + 1);
  const count = indices.length;
  // Texts begin anywhere; a view moves four of their bytes at a time all the same.
  const words = new DataView(from.buffer, from.byteOffset, from.byteLength);
  const target = new DataView(to.buffer, to.byteOffset, to.byteLength);
  let end = 0;
  let at = 0;
  let touched = 0;
  while (at < count) {
    if (at >= touched) {
      touched = Math.min(count, at + BLOCK_ROWS);
      touch(indices, at, touched, source, from);
    }
    const first = indices[at] as number;
    const begin = source[first] as number;
    const shift = end - begin;
    let row = first;
    do {
      row += 1;
      at += 1;
      offsets[at] = (source[row] as number) + shift;
    } while (at < count && indices[at] === row);
    const stop = source[row] as number;
    if (stop - begin > BLOCK_BYTES) to.set(from.subarray(begin, stop), end);
    else {
      let byte = begin;
      for (; byte + 4 <= stop; byte += 4) target.setInt32(shift + byte, words.getInt32(byte));
      for (; byte < stop; byte += 1) to[shift + byte] = from[byte] as number;
    }
    end += stop - begin;
  }
  return offsets;
}

/** Up to here a loop beats the set-up of a block copy. */
const BLOCK_BYTES = 96;

/** Rows whose texts are looked at before they are copied. */
export const BLOCK_ROWS = 64;
/** Of rows that ascend, each so many rows behind the one before, the processor fetches texts ahead. */
const DENSE_ROWS = 8;

/**
 * Reads a byte at each end of the texts of a block, unless the rows lie close to each other. The
 * processor fetches them all at once that way, where copying would wait for one text after the
 * other. What is written is not waited for.
 */
export function touch(
  rows: Uint32Array,
  from: number,
  to: number,
  spans: Int32Array,
  texts: Uint8Array,
): void {
  const reach = (rows[to - 1] as number) - (rows[from] as number);
  if (reach >= 0 && reach < DENSE_ROWS * (to - from)) return;
  let seen = 0;
  for (let at = from; at < to; at++) {
    const row = rows[at] as number;
    const begin = spans[row] as number;
    const end = spans[row + 1] as number;
    if (end > begin) seen ^= (texts[begin] as number) ^ (texts[end - 1] as number);
  }
  // Without a use the reads would be left out. Bytes never make that number.
  if (seen === -1) throw new RangeError('A byte is less than 0.');
}

function copyBytes(
  from: Uint8Array,
  begin: number,
  to: Uint8Array,
  at: number,
  length: number,
): void {
  if (length > BLOCK_BYTES) {
    to.set(from.subarray(begin, begin + length), at);
  } else {
    for (let byte = 0; byte < length; byte += 1) to[at + byte] = from[begin + byte] as number;
  }
}

function totalSpan(offsets: Offsets, indices: Uint32Array): number {
  let total = 0;
  if (offsets instanceof Int32Array) {
    for (let at = 0; at < indices.length; at += 1) {
      const row = indices[at] as number;
      total += (offsets[row + 1] as number) - (offsets[row] as number);
    }
    return total;
  }
  for (let at = 0; at < indices.length; at += 1) {
    const row = indices[at] as number;
    total += offsetAt(offsets, row + 1) - offsetAt(offsets, row);
  }
  return total;
}

export function checkTotal(total: number, large: boolean): void {
  if (!large && total > 0x7fffffff) {
    throw new DirspaceError(
      'InvalidInput',
      `${total} bytes do not fit into one column with 32-bit offsets`,
    );
  }
}

/** The child positions of the picked lists, and the offsets of these lists among them. */
export function spreadLists(
  source: Offsets,
  type: DataType,
  indices: Uint32Array,
): { offsets: Offsets; positions: Uint32Array } {
  const large = hasLargeOffsets(type);
  const total = totalSpan(source, indices);
  checkTotal(total, large);
  const positions = new Uint32Array(total);
  const offsets = newArray<Offsets>(large ? BigInt64Array : Int32Array, indices.length + 1);
  let end = 0;
  for (let at = 0; at < indices.length; at += 1) {
    const row = indices[at] as number;
    const stop = offsetAt(source, row + 1);
    for (let child = offsetAt(source, row); child < stop; child += 1) {
      positions[end] = child;
      end += 1;
    }
    if (large) (offsets as BigInt64Array)[at + 1] = BigInt(end);
    else (offsets as Int32Array)[at + 1] = end;
  }
  return { offsets, positions };
}
