/**
 * `ByteTable` numbers distinct texts and binary values from 1 on, in the order of their first
 * appearance. It is exact: values that differ have different numbers. `numbers` gives 0 for nulls,
 * and for unknown values if it is to add none; `values` turns numbers back into values. Short
 * values that came recently can be found by `RecentTexts` without the table. If the values would
 * take more than 1 GiB, or be more than about 44 million, it throws InvalidInput.
 */
import { drained } from '../../steps.ts';
import { BLOCK_ROWS, type ByteValues, type RecentTexts, recentTexts } from './recent-texts.ts';
import {
  beyondTable,
  FIRST_SLOTS,
  grown,
  LARGE,
  longer,
  MOST_TEXT_BYTES,
  roomOf,
  SEED_A,
  SEED_B,
  STEP_VALUES,
} from './word-table.ts';

/** Rows from which on short values are looked for among recent ones; of the first block of them. */
const FIRST_ROWS = 512;
/** Beside half of the rows, as many may be missing there before it is left alone. */
const MOST_MISSES = 1 << 11;

/** Tells the tables of the process apart. */
let tables = 0;

/** Values are kept as words, each padded with zeros to the next word. */
export class ByteTable {
  size = 0;
  #words = new Int32Array(1 << 12);
  #used = 0;
  /** Where the words of number n begin, at place n - 1, and its length in bytes. */
  #starts = new Int32Array(FIRST_SLOTS);
  #lengths = new Int32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS);
  #slots = new Int32Array(FIRST_SLOTS);
  /** Of the numbers that `RecentTexts` keeps of this table. */
  readonly #owner = ++tables;

  get bytes(): number {
    const ofNumbers = this.#starts.length * 3 + this.#slots.length;
    return (this.#words.length + ofNumbers) * 4;
  }

  /**
   * The numbers of the values `data[starts[row] .. ends[row])`; 0 for rows that are not `valid`.
   * @param isAdding whether new values are given numbers; else theirs is 0
   */
  numbers(values: ByteValues, isAdding: boolean, out: Int32Array): void {
    const recent = out.length < FIRST_ROWS ? null : recentTexts();
    let from = 0;
    // Values that do not come again are not looked for among the recent ones.
    for (let rows = FIRST_ROWS, misses = 0; recent !== null && from < out.length; ) {
      if (misses > MOST_MISSES + (from >> 1)) break;
      const to = Math.min(out.length, from + rows);
      const missed = recent.find(values, from, to, this.#owner);
      if (missed === undefined) this.#numberEach(values, from, to, isAdding, out);
      else {
        this.#numberMissed(recent, missed, values, from, isAdding);
        out.set(recent.numbers.subarray(0, to - from), from);
        misses += missed.length;
      }
      from = to;
      rows = Math.min(BLOCK_ROWS, 2 * rows);
    }
    this.#numberEach(values, from, out.length, isAdding, out);
    const { valid } = values;
    if (valid === null) return;
    for (let row = 0; row < from; row++) if (valid[row] === 0) out[row] = 0;
  }

  /** Rows whose values are not among the recent ones. */
  #numberMissed(
    recent: RecentTexts,
    missed: Int32Array,
    { data, starts, ends, valid }: ByteValues,
    from: number,
    isAdding: boolean,
  ): void {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const { numbers } = recent;
    for (let at = 0; at < missed.length; at++) {
      const place = missed[at] as number;
      const row = from + place;
      if (valid !== null && valid[row] === 0) continue;
      const [start, end] = [starts[row] as number, ends[row] as number];
      numbers[place] = this.#number(data, view, start, end, isAdding);
    }
    recent.keep(missed, this.#owner);
  }

  #numberEach(
    { data, starts, ends, valid }: ByteValues,
    from: number,
    to: number,
    isAdding: boolean,
    out: Int32Array,
  ): void {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (let row = from; row < to; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const [start, end] = [starts[row] as number, ends[row] as number];
      out[row] = this.#number(data, view, start, end, isAdding);
    }
  }

  /** The number of one value. */
  #number(data: Uint8Array, view: DataView, start: number, end: number, isAdding: boolean): number {
    const last = end - ((end - start) & 3);
    let hash = SEED_A ^ (end - start);
    for (let at = start; at < last; at += 4) {
      hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    const rest = last < end ? restOf(data, last, end) : 0;
    hash = Math.imul(hash ^ rest ^ SEED_B, 0x85ebca6b);
    hash ^= hash >>> 13;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    let found = slots[slot] as number;
    while (found !== 0 && !this.#is(found - 1, hash, view, start, end, last, rest)) {
      slot = (slot + 1) & mask;
      found = slots[slot] as number;
    }
    if (found !== 0 || !isAdding) return found;
    return this.#add(view, start, end, last, rest, hash, slot);
  }

  #is(
    at: number,
    hash: number,
    view: DataView,
    start: number,
    end: number,
    last: number,
    rest: number,
  ): boolean {
    if (this.#hashes[at] !== hash || this.#lengths[at] !== end - start) return false;
    const words = this.#words;
    let word = this.#starts[at] as number;
    for (let byte = start; byte < last; byte += 4) {
      if (words[word++] !== view.getInt32(byte, true)) return false;
    }
    return last === end || words[word] === rest;
  }

  #add(
    view: DataView,
    start: number,
    end: number,
    last: number,
    rest: number,
    hash: number,
    slot: number,
  ): number {
    const at = this.size;
    const needed = this.#used + ((end - start + 3) >> 2);
    if (needed > this.#words.length) {
      if (needed * 4 > MOST_TEXT_BYTES) throw beyondTable();
      this.#words = longer(this.#words, Math.max(needed, this.#words.length * 2));
    }
    this.#starts[at] = this.#used;
    this.#lengths[at] = end - start;
    this.#hashes[at] = hash;
    for (let byte = start; byte < last; byte += 4) {
      this.#words[this.#used++] = view.getInt32(byte, true);
    }
    if (last < end) this.#words[this.#used++] = rest;
    this.size++;
    this.#slots[slot] = this.size;
    if (this.#left() <= 0) drained(this.#grow());
    return at + 1;
  }

  /** Makes room for so many more values, in steps where growing takes long. */
  *reserve(more: number): Generator<void, void> {
    while (this.size >= LARGE && this.#left() <= more) yield* this.#grow();
  }

  #left(): number {
    return roomOf(this.#slots.length) - this.size;
  }

  *#grow(): Generator<void, void> {
    const length = grown(this.#slots.length);
    const slots = new Int32Array(length);
    this.#starts = longer(this.#starts, length);
    this.#lengths = longer(this.#lengths, length);
    this.#hashes = longer(this.#hashes, length);
    for (let from = 0; from < this.size; from += STEP_VALUES) {
      this.#place(slots, from, Math.min(this.size, from + STEP_VALUES));
      yield;
    }
    this.#slots = slots;
  }

  #place(slots: Int32Array, from: number, to: number): void {
    const mask = slots.length - 1;
    for (let at = from; at < to; at++) {
      let slot = (this.#hashes[at] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = at + 1;
    }
  }

  /** The values of these numbers, where they lie in this table; none of 0. */
  values(numbers: Int32Array): ByteValues & { readonly valid: Uint8Array } {
    const starts = new Int32Array(numbers.length);
    const ends = new Int32Array(numbers.length);
    const valid = new Uint8Array(numbers.length);
    for (let row = 0; row < numbers.length; row++) {
      const at = (numbers[row] as number) - 1;
      if (at < 0) continue;
      valid[row] = 1;
      starts[row] = (this.#starts[at] as number) * 4;
      ends[row] = (starts[row] as number) + (this.#lengths[at] as number);
    }
    return { data: new Uint8Array(this.#words.buffer), starts, ends, valid };
  }
}

/** The one to three bytes that are left, as a word. */
function restOf(data: Uint8Array, from: number, end: number): number {
  let rest = data[from] as number;
  if (from + 1 < end) rest |= (data[from + 1] as number) << 8;
  if (from + 2 < end) rest |= (data[from + 2] as number) << 16;
  return rest;
}
