/**
 * `RowList` is a growing list of the places of rows, each with a hash of its values and a hash of
 * its key. `Buckets` finds the first row of a list with a given hash that was not taken yet, and
 * marks it as taken; `take` returns -1 if there is none. The list must not grow meanwhile.
 */
import type { ValueHashes } from '../../sql/index.ts';

/** Two hashes of 64 bits, and an address of 64. */
const WORDS = 6;
const ROW_LOW = 0;
const KEY_LOW = 2;
const FRAGMENT = 4;

/** Rows that are gone through between two steps. */
export const STEP_ROWS = 16_384;

/** The hash that rows are found by: of the whole row, or of its key. */
export type HashedBy = 'row' | 'key';

export class RowList {
  #words = new Int32Array(WORDS * 1024);
  length = 0;

  get bytes(): number {
    return this.#words.byteLength;
  }

  push(
    values: ValueHashes,
    keys: ValueHashes,
    row: number,
    fragment: number,
    offset: number,
  ): void {
    const at = this.#next();
    const words = this.#words;
    words[at] = values.low[row] as number;
    words[at + 1] = values.high[row] as number;
    words[at + KEY_LOW] = keys.low[row] as number;
    words[at + KEY_LOW + 1] = keys.high[row] as number;
    words[at + FRAGMENT] = fragment;
    words[at + FRAGMENT + 1] = offset;
  }

  /** Adds a row of another list. */
  pushFrom(list: RowList, row: number): void {
    const at = this.#next();
    for (let word = 0; word < WORDS; word++) {
      this.#words[at + word] = list.#words[row * WORDS + word] as number;
    }
  }

  rowId(row: number): bigint {
    const at = row * WORDS + FRAGMENT;
    const fragment = (this.#words[at] as number) >>> 0;
    return (BigInt(fragment) << 32n) | BigInt((this.#words[at + 1] as number) >>> 0);
  }

  low(row: number, by: HashedBy): number {
    return this.#words[row * WORDS + (by === 'row' ? ROW_LOW : KEY_LOW)] as number;
  }

  high(row: number, by: HashedBy): number {
    return this.#words[row * WORDS + (by === 'row' ? ROW_LOW : KEY_LOW) + 1] as number;
  }

  #next(): number {
    const at = this.length * WORDS;
    this.length += 1;
    if (at + WORDS > this.#words.length) {
      const longer = new Int32Array(this.#words.length * 2);
      longer.set(this.#words);
      this.#words = longer;
    }
    return at;
  }
}

export class Buckets {
  readonly #list: RowList;
  readonly #by: HashedBy;
  readonly #mask: number;
  /** The first row with the hash of each slot, or -1; -2 if all of them were taken. */
  readonly #heads: Int32Array;
  /** A row with the hash of the slot, which stays when it is taken. */
  readonly #rows: Int32Array;
  /** The next row with the hash of each row. */
  readonly #next: Int32Array;
  /** Rows that were taken. */
  readonly #taken: Uint8Array;

  private constructor(list: RowList, by: HashedBy) {
    this.#list = list;
    this.#by = by;
    const size = slotsFor(list.length);
    this.#mask = size - 1;
    this.#heads = new Int32Array(size).fill(-1);
    this.#rows = new Int32Array(size);
    this.#next = new Int32Array(list.length);
    this.#taken = new Uint8Array(list.length);
  }

  /** Makes the buckets of all rows of a list, which must not grow afterwards. */
  static *of(list: RowList, by: HashedBy): Generator<void, Buckets> {
    const buckets = new Buckets(list, by);
    // From the last row on, so that the first one is found first.
    for (let row = list.length - 1; row >= 0; row--) {
      if (row % STEP_ROWS === STEP_ROWS - 1) yield;
      const slot = buckets.#slotOf(list.low(row, by), list.high(row, by));
      buckets.#next[row] = buckets.#heads[slot] as number;
      buckets.#heads[slot] = row;
      buckets.#rows[slot] = row;
    }
    return buckets;
  }

  /** Bytes that buckets of so many rows take. */
  static bytesFor(rows: number): number {
    return slotsFor(rows) * 8 + rows * 5;
  }

  /** The first row of this hash that was not taken, which it is now; -1 where there is none. */
  take(low: number, high: number): number {
    const slot = this.#slotOf(low, high);
    const row = this.#heads[slot] as number;
    if (row < 0) return -1;
    const next = this.#next[row] as number;
    this.#heads[slot] = next < 0 ? -2 : next;
    this.#taken[row] = 1;
    return row;
  }

  isTaken(row: number): boolean {
    return this.#taken[row] === 1;
  }

  #slotOf(low: number, high: number): number {
    let slot = low & this.#mask;
    for (;;) {
      if (this.#heads[slot] === -1) return slot;
      const row = this.#rows[slot] as number;
      const isHere =
        this.#list.low(row, this.#by) === low && this.#list.high(row, this.#by) === high;
      if (isHere) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }
}

const slotsFor = (rows: number): number => 2 ** Math.ceil(Math.log2(Math.max(16, rows * 2)));
