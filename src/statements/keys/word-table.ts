/**
 * `WordTable`: numbers distinct pairs of 32-bit words from 1 on, in the order of their first
 * appearance. A pair is a value of a column of numbers, or two numbers from other tables.
 * `ByteTable` does so for texts and binary values. Both are exact: values that differ have
 * different numbers. Both throw RangeError when they would grow beyond 67,108,864 slots, and
 * `ByteTable` beyond 1 GiB of values. `hashOfWords` hashes a pair, differently in each process.
 */
import { systemEnv } from '../../env.ts';
import { drained } from '../../steps.ts';

/** Drawn for each process, so that nobody can choose values that all fall on one slot. */
const [SEED_A = 1, SEED_B = 1] = [0, 1].map(() => (systemEnv.random() * 2 ** 32) | 0);

/** Slots at first; a table grows when it is two thirds full. */
const FIRST_SLOTS = 1 << 10;

/** Values that one table can tell apart. */
const MOST_VALUES = 1 << 26;

/** From so many values on, growing takes longer than other work should wait; and values of a step. */
const LARGE = 1 << 15;
const STEP_VALUES = 1 << 15;

/** A slot is a pair and its number, in one line of the processor's cache. */
const SLOT_SHIFT = 2;

/** 32 bits that depend on all of both words, and on the process. */
export function hashOfWords(low: number, high: number): number {
  let hash = Math.imul(low ^ SEED_A, 0x9e3779b1);
  hash ^= hash >>> 15;
  hash = Math.imul(hash + high, 0x85ebca6b) ^ SEED_B;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

const roomOf = (slots: number): number => Math.floor((slots * 2) / 3);

export class WordTable {
  size = 0;
  /** The words of number n at place n - 1. */
  low: Int32Array = new Int32Array(FIRST_SLOTS);
  high: Int32Array = new Int32Array(FIRST_SLOTS);
  #slots = new Int32Array(FIRST_SLOTS << SLOT_SHIFT);

  get bytes(): number {
    return (this.low.length + this.high.length + this.#slots.length) * 4;
  }

  /** The numbers of the pairs `words[2i], words[2i + 1]`; new ones where they are new. */
  numbers(words: Int32Array, out: Int32Array): void {
    const rows = out.length;
    for (let row = 0; row < rows; ) {
      const until = Math.min(rows, row + this.#room());
      const { low, high } = this;
      const slots = this.#slots;
      const mask = (slots.length >> SLOT_SHIFT) - 1;
      let { size } = this;
      for (; row < until; row++) {
        const a = words[2 * row] as number;
        const b = words[2 * row + 1] as number;
        let slot = (hashOfWords(a, b) & mask) << SLOT_SHIFT;
        let found = slots[slot + 2] as number;
        while (found !== 0 && (slots[slot] !== a || slots[slot + 1] !== b)) {
          slot = (slot + (1 << SLOT_SHIFT)) & ((mask << SLOT_SHIFT) | 3);
          found = slots[slot + 2] as number;
        }
        if (found === 0) {
          low[size] = a;
          high[size] = b;
          size++;
          slots[slot] = a;
          slots[slot + 1] = b;
          slots[slot + 2] = size;
          found = size;
        }
        out[row] = found;
      }
      this.size = size;
    }
  }

  /** The numbers of pairs that are there; 0 for others. */
  known(words: Int32Array, out: Int32Array): void {
    const slots = this.#slots;
    const mask = (slots.length >> SLOT_SHIFT) - 1;
    for (let row = 0; row < out.length; row++) {
      const a = words[2 * row] as number;
      const b = words[2 * row + 1] as number;
      let slot = (hashOfWords(a, b) & mask) << SLOT_SHIFT;
      let found = slots[slot + 2] as number;
      while (found !== 0 && (slots[slot] !== a || slots[slot + 1] !== b)) {
        slot = (slot + (1 << SLOT_SHIFT)) & ((mask << SLOT_SHIFT) | 3);
        found = slots[slot + 2] as number;
      }
      out[row] = found;
    }
  }

  /** Makes room for so many more pairs, in steps where growing takes long: adding them takes none. */
  *reserve(more: number): Generator<void, void> {
    while (this.size >= LARGE && this.#left() < more) yield* this.#grow();
  }

  #left(): number {
    return roomOf(this.#slots.length >> SLOT_SHIFT) - this.size;
  }

  /** How many pairs fit before it has to grow; it grows where none does. */
  #room(): number {
    if (this.#left() <= 0) drained(this.#grow());
    return this.#left();
  }

  *#grow(): Generator<void, void> {
    const larger = grown(this.#slots.length >> SLOT_SHIFT);
    const next = new Int32Array(larger << SLOT_SHIFT);
    this.low = longer(this.low, larger);
    this.high = longer(this.high, larger);
    for (let from = 0; from < this.size; from += STEP_VALUES) {
      this.#place(next, from, Math.min(this.size, from + STEP_VALUES));
      yield;
    }
    this.#slots = next;
  }

  /** Gives the pairs of some numbers their slots. */
  #place(next: Int32Array, from: number, to: number): void {
    const { low, high } = this;
    const mask = (next.length >> SLOT_SHIFT) - 1;
    for (let at = from; at < to; at++) {
      const a = low[at] as number;
      const b = high[at] as number;
      let slot = (hashOfWords(a, b) & mask) << SLOT_SHIFT;
      while (next[slot + 2] !== 0) slot = (slot + (1 << SLOT_SHIFT)) & ((mask << SLOT_SHIFT) | 3);
      next[slot] = a;
      next[slot + 1] = b;
      next[slot + 2] = at + 1;
    }
  }
}

export interface ByteValues {
  readonly data: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly valid: Uint8Array | null;
}

/** Values of at most so many bytes, all together. */
const MOST_BYTES = 1 << 30;

/** Values of up to so many bytes are looked for among 2 ^ 13 recent ones first. */
const RECENT_BYTES = 16;
const RECENT_SHIFT = 19;
/** Beside half of the rows, as many may be missing there before it is left alone. */
const MOST_MISSES = 1 << 11;

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
  /** Short values that came last, by their words: length, words and number of each. */
  readonly #recent = new Int32Array(8 << (32 - RECENT_SHIFT));

  get bytes(): number {
    const ofNumbers = this.#starts.length * 3 + this.#slots.length;
    return (this.#words.length + ofNumbers + this.#recent.length) * 4;
  }

  /**
   * The numbers of the values `data[starts[row] .. ends[row])`; 0 for rows that are not `valid`.
   * @param isAdding whether new values are given numbers; else theirs is 0
   */
  numbers({ data, starts, ends, valid }: ByteValues, isAdding: boolean, out: Int32Array): void {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const recent = this.#recent;
    let misses = 0;
    for (let row = 0; row < out.length; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const start = starts[row] as number;
      const end = ends[row] as number;
      const length = end - start;
      // Values that do not come again are not looked for among the recent ones.
      if (length > RECENT_BYTES || misses > MOST_MISSES + (row >> 1)) {
        out[row] = this.#number(data, view, start, end, isAdding);
        continue;
      }
      // With their length, four words that may overlap are all bytes of the value.
      let a = 0;
      let b = 0;
      let c = 0;
      let d = 0;
      if (length < 4) a = length === 0 ? 0 : restOf(data, start, end);
      else {
        a = view.getInt32(start, true);
        b = view.getInt32(end - 4, true);
        if (length > 8) {
          c = view.getInt32(start + 4, true);
          d = view.getInt32(end - 8, true);
        }
      }
      const mixed =
        a ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35) ^ Math.imul(d, 0x27d4eb2f);
      const at = (Math.imul(mixed ^ length, 0x9e3779b1) >>> RECENT_SHIFT) << 3;
      if (
        recent[at] === length &&
        recent[at + 1] === a &&
        recent[at + 2] === b &&
        recent[at + 3] === c &&
        recent[at + 4] === d &&
        recent[at + 5] !== 0
      ) {
        out[row] = recent[at + 5] as number;
        continue;
      }
      misses++;
      const number = this.#number(data, view, start, end, isAdding);
      out[row] = number;
      recent[at] = length;
      recent[at + 1] = a;
      recent[at + 2] = b;
      recent[at + 3] = c;
      recent[at + 4] = d;
      recent[at + 5] = number;
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
      if (needed * 4 > MOST_BYTES) throw new RangeError('The texts of a table are beyond 1 GiB');
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

function grown(slots: number): number {
  if (slots >= MOST_VALUES) throw new RangeError(`A table holds ${MOST_VALUES} values at most`);
  return slots * (slots < 1 << 20 ? 4 : 2);
}

function longer(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(array.subarray(0, length));
  return larger;
}
