/**
 * `DistinctWords` counts the distinct values of a column over all rows, exactly, for statements
 * without groups. Nulls are left out. It takes values that fit two 32-bit words: booleans,
 * integers, floats, dates, times, timestamps and durations. It splits the values by their hashes
 * into 256 parts. When a part is full, it removes repeats from it, and enlarges it if more than
 * half is left.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Column, validityOf } from '../../sql/index.ts';
import { hashOfWords, wordsOf } from '../keys/index.ts';
import type { Accumulator } from './accumulator.ts';

const PART_BITS = 8;
const PARTS = 1 << PART_BITS;
/** Words of a part at first, two for each value. */
const FIRST_WORDS = 256;

export class DistinctWords implements Accumulator {
  readonly #type: DataType;
  readonly #parts = Array.from({ length: PARTS }, () => new Int32Array(FIRST_WORDS));
  readonly #used = new Int32Array(PARTS);
  /** Places of a table, each one more than the place of a value; 0 where there is none. */
  #table = new Int32Array(FIRST_WORDS * 2);

  constructor(type: DataType) {
    this.#type = type;
  }

  get bytes(): number {
    return this.#parts.reduce((sum, part) => sum + part.byteLength, this.#table.byteLength);
  }

  add(groups: Int32Array, _: number, [column]: readonly Column[]): void {
    const words = wordsOf(column as Column);
    const valid = validityOf(column as Column);
    const parts = this.#parts;
    const used = this.#used;
    for (let row = 0; row < groups.length; row++) {
      if ((groups[row] as number) < 0 || (valid !== null && valid[row] === 0)) continue;
      const low = words[2 * row] as number;
      const high = words[2 * row + 1] as number;
      const at = hashOfWords(low, high) >>> (32 - PART_BITS);
      let to = used[at] as number;
      let part = parts[at] as Int32Array;
      if (to === part.length) {
        part = this.#roomIn(at);
        to = used[at] as number;
      }
      part[to] = low;
      part[to + 1] = high;
      used[at] = to + 2;
    }
  }

  *result(): Generator<void, Column> {
    let count = 0;
    for (let at = 0; at < PARTS; at++) {
      count += this.#withoutRepeats(at) / 2;
      yield;
    }
    const values = Float64Array.of(count);
    return { form: 'number', type: this.#type, length: 1, values, valid: null };
  }

  #roomIn(at: number): Int32Array {
    const part = this.#parts[at] as Int32Array;
    if (this.#withoutRepeats(at) * 2 <= part.length) return part;
    const larger = new Int32Array(part.length * 2);
    larger.set(part);
    this.#parts[at] = larger;
    return larger;
  }

  /** Takes repeats out of a part; how many words are left. */
  #withoutRepeats(at: number): number {
    const part = this.#parts[at] as Int32Array;
    const end = this.#used[at] as number;
    let length = FIRST_WORDS * 2;
    while (length < end) length *= 2;
    if (this.#table.length < length) this.#table = new Int32Array(length);
    const table = this.#table.subarray(0, length).fill(0);
    const mask = length - 1;
    let kept = 0;
    for (let from = 0; from < end; from += 2) {
      const low = part[from] as number;
      const high = part[from + 1] as number;
      let slot = hashOfWords(low, high) & mask;
      let found = table[slot] as number;
      while (found !== 0 && (part[found - 1] !== low || part[found] !== high)) {
        slot = (slot + 1) & mask;
        found = table[slot] as number;
      }
      if (found !== 0) continue;
      part[kept] = low;
      part[kept + 1] = high;
      table[slot] = kept + 1;
      kept += 2;
    }
    this.#used[at] = kept;
    return kept;
  }
}
