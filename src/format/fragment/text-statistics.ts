/**
 * Finds the lowest and highest text of a column, ordered by UTF-8 bytes. `textBounds` is for texts,
 * `viewBounds` for text views, and `dictionaryBounds` for the values of a dictionary that occur.
 * text-bounds.ts shortens the results. A bound that is not UTF-8 is left out; in a dictionary it
 * counts as it is read, with U+FFFD for the wrong bytes. A column whose texts end behind 2 GiB has
 * no bounds.
 */
import {
  bytesOf,
  type Data,
  getBit,
  type Offsets,
  offsetAt,
  validityOf,
} from '../../arrow/index.ts';
import { lowerBound, upperBound } from './text-bounds.ts';

/** Absent where there is none, or none that is text. */
export interface TextBounds {
  readonly min?: string;
  readonly max?: string;
  readonly minExact?: boolean;
  readonly maxExact?: boolean;
}

/** No bounds for a column whose texts end behind 2 GiB. */
export function textBounds(data: Data): TextBounds {
  const { offset, length } = data;
  const values = (data.values ?? new Uint8Array(0)) as Uint8Array;
  const offsets = data.valueOffsets as Offsets;
  const validity = validityOf(data);
  if (offsetAt(offsets, length) > 0x7fffffff) return {};
  // Of 64-bit offsets the low words tell all, as the last one fits in 31 bits.
  const large = !(offsets instanceof Int32Array);
  const words = large
    ? new Int32Array(offsets.buffer, offsets.byteOffset, offsets.length * 2)
    : offsets;
  const step = large ? 2 : 1;
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const lastWord = values.length - 4;
  const search = new TextSearch();
  let lowest = 0x7fffffff;
  let highest = -0x80000000;
  let begin = words[0] as number;
  for (let row = 0; row < length; row += 1) {
    const end = words[(row + 1) * step] as number;
    if (validity === undefined || getBit(validity, offset + row)) {
      // The first four bytes decide nearly always, without touching the rest. Shorter strings are
      // padded with zeros, which keeps the order; the top bit is flipped to compare as signed.
      const word = begin <= lastWord ? view.getInt32(begin) : lastBytes(values, begin);
      const bytes = end - begin;
      const kept = bytes >= 4 ? word : bytes === 0 ? 0 : word & (-1 << (32 - 8 * bytes));
      const key = kept ^ -0x80000000;
      if (key <= lowest || key >= highest) {
        search.add(values, begin, end);
        if (key < lowest) lowest = key;
        if (key > highest) highest = key;
      }
    }
    begin = end;
  }
  return search.bounds();
}

/** Up to four bytes at the end of an array as one big-endian word. */
function lastBytes(bytes: Uint8Array, begin: number): number {
  let word = 0;
  for (let at = begin; at < begin + 4; at += 1) word = (word << 8) | (bytes[at] ?? 0);
  return word;
}

export function viewBounds(data: Data): TextBounds {
  const { offset, length } = data;
  const views = bytesOf(data.values as Uint8Array);
  const words = new DataView(views.buffer, views.byteOffset, views.byteLength);
  const validity = validityOf(data);
  const search = new TextSearch();
  for (let row = 0; row < length; row += 1) {
    if (validity !== undefined && !getBit(validity, offset + row)) continue;
    const size = words.getInt32(row * 16, true);
    if (size <= 12) {
      search.add(views, row * 16 + 4, row * 16 + 4 + size);
    } else {
      const begin = words.getInt32(row * 16 + 12, true);
      const buffer = data.variadicBuffers[words.getInt32(row * 16 + 8, true)] as Uint8Array;
      search.add(buffer, begin, begin + size);
    }
  }
  return search.bounds();
}

/** Bounds of the dictionary's values that occur. */
export function dictionaryBounds(data: Data): TextBounds {
  const { offset, length, dictionary } = data;
  if (dictionary === undefined) return {};
  const validity = validityOf(data);
  const indices = data.values as Int32Array;
  const used = new Uint8Array(dictionary.length);
  for (let row = 0; row < length; row += 1) {
    if (validity === undefined || getBit(validity, offset + row)) used[indices[row] as number] = 1;
  }
  const search = new TextSearch();
  for (let index = 0; index < used.length; index += 1) {
    if (used[index] === 0) continue;
    const value: unknown = dictionary.get(index);
    if (typeof value !== 'string') continue;
    const bytes = Buffer.from(value);
    search.add(bytes, 0, bytes.length);
  }
  return search.bounds();
}

/** Remembers the lowest and the highest of the byte strings it is shown. */
class TextSearch {
  #low: Uint8Array | undefined;
  #high: Uint8Array | undefined;

  add(bytes: Uint8Array, begin: number, end: number): void {
    if (this.#low === undefined || compareRange(bytes, begin, end, this.#low) < 0) {
      this.#low = bytes.subarray(begin, end);
    }
    if (this.#high === undefined || compareRange(bytes, begin, end, this.#high) > 0) {
      this.#high = bytes.subarray(begin, end);
    }
  }

  bounds(): TextBounds {
    const min = this.#low === undefined ? undefined : lowerBound(this.#low);
    const max = this.#high === undefined ? undefined : upperBound(this.#high);
    return {
      ...(min === undefined ? {} : { min: min.value, minExact: min.exact }),
      ...(max === undefined ? {} : { max: max.value, maxExact: max.exact }),
    };
  }
}

function compareRange(bytes: Uint8Array, begin: number, end: number, other: Uint8Array): number {
  const length = Math.min(end - begin, other.length);
  for (let at = 0; at < length; at += 1) {
    const difference = (bytes[begin + at] as number) - (other[at] as number);
    if (difference !== 0) return difference;
  }
  return end - begin - other.length;
}
