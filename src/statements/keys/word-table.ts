/**
 * `WordTable` numbers distinct pairs of 32-bit words from 1 on, in the order of their first
 * appearance. A pair is one value of 64 bits, or two numbers, such as those of a group and of a
 * value in it. Pairs that differ always have different numbers. `numbers` adds new pairs, and
 * `known` gives 0 for them; `low` and `high` hold the words of each number. For more than about 44
 * million pairs it throws InvalidInput (`beyondTable`). `append` gives a number to a pair that the
 * table is never asked for. `hashOfWords` hashes a pair, differently in each process. The seeds, sizes and growth of hash tables are here too, for byte-table.ts.
 */
import { systemEnv } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import { drained, inSlices } from '../../steps.ts';

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

/** From so many values on, growing takes longer than other work should wait; and slots of a step. */
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

/** The numbers of one pair are asked for by these. */
const ONE_PAIR = new Int32Array(2);
const ONE_NUMBER = new Int32Array(1);

export const roomOf = (slots: number): number => Math.floor((slots * 2) / 3);

export class WordTable {
  size = 0;
  /** The words of number n at place n - 1. */
  low: Int32Array = new Int32Array(FIRST_SLOTS);
  high: Int32Array = new Int32Array(FIRST_SLOTS);
  #slots = new Int32Array(FIRST_SLOTS << SLOT_SHIFT);
  /** Pairs that have a slot: all but those that were appended. */
  #filled = 0;

  /** Whether `numbers` or `numberOf` gave a number. */
  get hasSlots(): boolean {
    return this.#filled > 0;
  }

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
      this.#filled += size - this.size;
      this.size = size;
    }
  }

  /** The number of one pair; a new one where it is new. */
  numberOf(low: number, high: number): number {
    ONE_PAIR[0] = low;
    ONE_PAIR[1] = high;
    this.numbers(ONE_PAIR, ONE_NUMBER);
    return ONE_NUMBER[0] as number;
  }

  /** A new number for a pair that `numbers` and `known` are never asked for. */
  append(low: number, high: number): number {
    this.roomFor(1);
    this.low[this.size] = low;
    this.high[this.size] = high;
    return ++this.size;
  }

  /** Makes room in `low` and `high` for so many more. */
  roomFor(more: number): void {
    const needed = this.size + more;
    if (needed <= this.low.length) return;
    const length = Math.max(needed, 2 * this.low.length);
    this.low = longer(this.low, length);
    this.high = longer(this.high, length);
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
    if (this.size >= LARGE) this.roomFor(more);
    while (this.#filled >= LARGE && this.#left() < more) yield* this.#grow();
  }

  #left(): number {
    return roomOf(this.#slots.length >> SLOT_SHIFT) - this.#filled;
  }

  /** How many pairs fit before it has to grow; it grows where none does. */
  #room(): number {
    if (this.#left() <= 0) drained(this.#grow());
    this.roomFor(1);
    return Math.min(this.#left(), this.low.length - this.size);
  }

  *#grow(): Generator<void, void> {
    const before = this.#slots;
    const next = new Int32Array(grown(before.length >> SLOT_SHIFT) << SLOT_SHIFT);
    yield* inSlices(before.length >> SLOT_SHIFT, STEP_VALUES, (from, to) => {
      place(before, next, from, to);
    });
    this.#slots = next;
  }
}

/** Gives the pairs of some slots their slots in a larger table. */
function place(before: Int32Array, next: Int32Array, from: number, to: number): void {
  const mask = (next.length >> SLOT_SHIFT) - 1;
  for (let at = from << SLOT_SHIFT; at < to << SLOT_SHIFT; at += 1 << SLOT_SHIFT) {
    const number = before[at + 2] as number;
    if (number === 0) continue;
    const a = before[at] as number;
    const b = before[at + 1] as number;
    let slot = (hashOfWords(a, b) & mask) << SLOT_SHIFT;
    while (next[slot + 2] !== 0) slot = (slot + (1 << SLOT_SHIFT)) & ((mask << SLOT_SHIFT) | 3);
    next[slot] = a;
    next[slot + 1] = b;
    next[slot + 2] = number;
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
