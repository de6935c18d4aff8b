/**
 * `WordTable` numbers distinct pairs of 32-bit words from 1 on, in the order of their first
 * appearance. A pair is one value of 64 bits, or two numbers, such as those of a group and of a
 * value in it. Pairs that differ always have different numbers. `numbers` adds new pairs, and
 * `known` gives 0 for them; `low` and `high` hold the words of each number. For more than about 44
 * million pairs it throws InvalidInput (`beyondTable`). `hashOfWords` hashes a pair, differently in
 * each process. The seeds, sizes and growth of hash tables are here too, for byte-table.ts.
 */
import { systemEnv } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import { drained } from '../../steps.ts';

/** Drawn for each process, so that nobody can choose values that all fall on one slot. */
export const [SEED_A = 1, SEED_B = 1] = [0, 1].map(() => (systemEnv.random() * 2 ** 32) | 0);

/** Slots at first; a table grows when it is two thirds full. */
export const FIRST_SLOTS = 1 << 10;

/** Slots of the largest table, of which two thirds can be used. */
const MOST_SLOTS = 1 << 26;
/** Bytes of all texts of a table. */
export const MOST_TEXT_BYTES: number = 1 << 30;

/** The error for more keys than a table can tell apart, however much memory there is. */
export const beyondTable = (): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The statement tells apart more keys than is possible: ${roomOf(MOST_SLOTS)} different ones, whose texts have ${MOST_TEXT_BYTES} bytes together, are the most. Filter the rows, or group, join or compare by other columns.`,
  );

/** From so many values on, growing takes longer than other work should wait; and values of a step. */
export const LARGE = 1 << 15;
export const STEP_VALUES = 1 << 15;

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

export const roomOf = (slots: number): number => Math.floor((slots * 2) / 3);

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

export function grown(slots: number): number {
  if (slots >= MOST_SLOTS) throw beyondTable();
  return slots * (slots < 1 << 20 ? 4 : 2);
}

export function longer(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(array.subarray(0, length));
  return larger;
}
