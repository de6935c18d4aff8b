/**
 * `rebaseOffsets` subtracts the first offset of a sliced column from all its offsets, so that they
 * begin at 0. If they already begin at 0, it returns a view and copies nothing. It returns
 * undefined if the offsets do not ascend; equal neighbours are allowed.
 */
import type { Offsets } from '../../arrow/index.ts';

/**
 * The first `length + 1` offsets less `begin`, which the first of them is; shared where they begin
 * at 0 already. Undefined when they do not ascend.
 */
export const rebaseOffsets = (
  offsets: Offsets,
  length: number,
  begin: number,
): Offsets | undefined =>
  offsets instanceof Int32Array
    ? rebased(offsets, length, begin)
    : rebasedWide(offsets, length, begin);

function rebased(offsets: Int32Array, length: number, begin: number): Int32Array | undefined {
  let last = begin;
  if (begin === 0) {
    for (let at = 0; at <= length; at += 1) {
      const next = offsets[at] as number;
      if (next < last) return undefined;
      last = next;
    }
    return offsets.subarray(0, length + 1);
  }
  const shifted = new Int32Array(length + 1);
  for (let at = 0; at <= length; at += 1) {
    const next = offsets[at] as number;
    if (next < last) return undefined;
    last = next;
    shifted[at] = next - begin;
  }
  return shifted;
}

function rebasedWide(
  offsets: BigInt64Array,
  length: number,
  begin: number,
): BigInt64Array | undefined {
  const words = new Int32Array(offsets.buffer, offsets.byteOffset, (length + 1) * 2);
  let last = begin;
  for (let at = 0; at <= length; at += 1) {
    const next = (words[2 * at + 1] as number) * 2 ** 32 + ((words[2 * at] as number) >>> 0);
    if (next < last) return undefined;
    last = next;
  }
  if (begin === 0) return offsets.subarray(0, length + 1);
  const shift = BigInt(begin);
  return offsets.slice(0, length + 1).map((offset) => offset - shift);
}
