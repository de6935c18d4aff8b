/**
 * `ValueCounts` counts how often each value of a column occurs, in bounded memory. It knows values
 * only by their hashes. Up to a limit of distinct values all counts are exact. If there are more,
 * it goes on counting the values that were most frequent at that moment, and a random share of the
 * others. From that share it estimates the number of distinct values.
 */
import type { ValueHashes } from '../../sql/index.ts';

/** Where a row is: its fragment and its offset there. */
export interface RowPlace {
  readonly fragment: number;
  readonly offset: number;
}

export interface CountedValue extends RowPlace {
  readonly count: number;
}

const FIRST_SLOTS = 2048;
/** By which the slots grow, so that few values are copied often. */
const GROWTH = 4;
/** Values that go on being counted when there are too many, at least. */
const FREQUENT = 256;

export class ValueCounts {
  readonly #most: number;
  readonly #top: number;
  #slots: Slots = new Slots(FIRST_SLOTS);
  /** Set once there are too many values. */
  #frequent: Slots | undefined;
  /** Only values whose hash has zeros here are in `#slots`; grows bit by bit. */
  #sieve = 0;

  /**
   * @param most distinct values that are counted exactly
   * @param top how many of the most frequent are wanted
   */
  constructor(most: number, top: number) {
    this.#most = most;
    this.#top = top;
  }

  get bytes(): number {
    return this.#slots.bytes + (this.#frequent?.bytes ?? 0);
  }

  /** Whether all values were counted. */
  get isExact(): boolean {
    return this.#frequent === undefined;
  }

  /**
   * Takes the values of rows.
   * @param valid 0 for each row to be left out; null where all count
   * @param offsetOf the offset of a row in the fragment
   */
  add(
    { low, high }: ValueHashes,
    valid: Uint8Array | null,
    fragment: number,
    offsetOf: (row: number) => number,
  ): void {
    let slots = this.#slots;
    let sieve = this.#sieve;
    let last = -1;
    for (let row = 0; row < low.length; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const one = low[row] as number;
      const other = high[row] as number;
      // Values often follow their like.
      if (last >= 0 && slots.isAt(last, one, other)) {
        slots.more(last);
        continue;
      }
      if (sieve !== 0) {
        if (this.#isFrequent(one, other) || (other & sieve) !== 0) continue;
      }
      last = slots.find(one, other);
      if (slots.isTaken(last)) {
        slots.more(last);
        continue;
      }
      slots.take(last, one, other, fragment, offsetOf(row));
      if (slots.count * 2 <= slots.size) continue;
      this.#makeRoom();
      slots = this.#slots;
      sieve = this.#sieve;
      last = -1;
    }
  }

  /** Distinct values, and how many of them occurred once; estimates unless `isExact`. */
  get distinct(): { readonly values: number; readonly single: number } {
    const factor = 2 ** bitsOf(this.#sieve);
    let values = this.#slots.count;
    let { single } = this.#slots;
    if (factor > 1) {
      values *= factor;
      single *= factor;
    }
    // The most frequent values are counted apart, whatever their hashes.
    return { values: values + (this.#frequent?.count ?? 0), single };
  }

  /**
   * The most frequent values, most frequent first; of equal counts, the one whose first known row
   * comes first. Values that occur once are among them only if all values are.
   */
  top(): CountedValue[] {
    const found = (this.#frequent ?? this.#slots).most(this.#top);
    return found.slice(0, this.#top);
  }

  /** Counts a value that is one of the frequent ones. */
  #isFrequent(one: number, other: number): boolean {
    const frequent = this.#frequent as Slots;
    if (frequent.count === 0) return false;
    const slot = frequent.find(one, other);
    if (!frequent.isTaken(slot)) return false;
    frequent.more(slot);
    return true;
  }

  #makeRoom(): void {
    if (this.#slots.count >= this.#most) this.#thin();
    else this.#slots = this.#slots.copy(this.#slots.size * GROWTH, () => true);
  }

  /** Half of the values go, save those that are frequent. */
  #thin(): void {
    let frequent = this.#frequent;
    if (frequent === undefined) {
      const wanted = Math.max(FREQUENT, 4 * this.#top);
      frequent = new Slots(2 ** Math.ceil(Math.log2(4 * wanted)));
      for (const slot of this.#slots.frequent(wanted)) frequent.takeFrom(this.#slots, slot);
      this.#frequent = frequent;
    }
    const sieve = this.#sieve * 2 + 1;
    this.#sieve = sieve;
    const counted = frequent;
    this.#slots = this.#slots.copy(
      this.#slots.size,
      (one, other) => (other & sieve) === 0 && !counted.isTaken(counted.find(one, other)),
    );
  }
}

const bitsOf = (mask: number): number => 32 - Math.clz32(mask);

/** The words of a slot: two of the hash, the count, and two of the place of the first row. */
const WORDS = 5;
const HIGH = 1;
const COUNT = 2;
const FRAGMENT = 3;
const OFFSET = 4;

/**
 * A table of values with open addressing, in one array: a slot is one look into memory. Slots are
 * named by where they begin; a count of 0 is an empty one.
 */
class Slots {
  readonly size: number;
  count = 0;
  /** Values that occurred once. */
  single = 0;
  readonly #mask: number;
  readonly #words: Int32Array;

  /** @param size a power of two */
  constructor(size: number) {
    this.size = size;
    this.#mask = size - 1;
    this.#words = new Int32Array(size * WORDS);
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  /** The slot of a value, or the empty one where it belongs. */
  find(one: number, other: number): number {
    const words = this.#words;
    let slot = one & this.#mask;
    for (;;) {
      const at = slot * WORDS;
      if (words[at + COUNT] === 0 || (words[at] === one && words[at + HIGH] === other)) return at;
      slot = (slot + 1) & this.#mask;
    }
  }

  isAt(at: number, one: number, other: number): boolean {
    return this.#words[at] === one && this.#words[at + HIGH] === other;
  }

  isTaken(at: number): boolean {
    return this.#words[at + COUNT] !== 0;
  }

  more(at: number): void {
    const count = this.#words[at + COUNT] as number;
    if (count === 1) this.single -= 1;
    this.#words[at + COUNT] = count + 1;
  }

  take(at: number, one: number, other: number, fragment: number, offset: number): void {
    const words = this.#words;
    words[at] = one;
    words[at + HIGH] = other;
    words[at + COUNT] = 1;
    words[at + FRAGMENT] = fragment;
    words[at + OFFSET] = offset;
    this.count += 1;
    this.single += 1;
  }

  takeFrom(from: Slots, slot: number): void {
    const words = from.#words;
    const at = this.find(words[slot] as number, words[slot + HIGH] as number);
    for (let word = 0; word < WORDS; word++) this.#words[at + word] = words[slot + word] as number;
    this.count += 1;
    if (words[slot + COUNT] === 1) this.single += 1;
  }

  copy(size: number, isKept: (one: number, other: number) => boolean): Slots {
    const copy = new Slots(size);
    const words = this.#words;
    for (let at = 0; at < words.length; at += WORDS) {
      if (words[at + COUNT] === 0) continue;
      if (isKept(words[at] as number, words[at + HIGH] as number)) copy.takeFrom(this, at);
    }
    return copy;
  }

  /**
   * Slots of the most frequent values, in no order; of equal counts those that stand first. Values
   * that occur once are there only where all of them are.
   */
  frequent(wanted: number): Uint32Array {
    const isAll = this.count <= wanted;
    if (!isAll && this.single === this.count) return new Uint32Array(0);
    const taken: number[] = [];
    for (let at = 0; at < this.#words.length; at += WORDS) {
      if (this.#countOf(at) >= (isAll ? 1 : 2)) taken.push(at);
    }
    if (taken.length <= wanted) return Uint32Array.from(taken);
    const counts = Float64Array.from(taken, (at) => this.#countOf(at)).sort();
    const least = counts[counts.length - wanted] as number;
    const above = taken.filter((at) => this.#countOf(at) > least);
    const equal = taken.filter((at) => this.#countOf(at) === least);
    const places = Float64Array.from(equal, (at) => this.#placeOf(at));
    const last = places.slice().sort()[wanted - above.length - 1] as number;
    return Uint32Array.from([...above, ...equal.filter((_, at) => (places[at] as number) <= last)]);
  }

  /** The most frequent values in their order. */
  most(wanted: number): CountedValue[] {
    const values = Array.from(this.frequent(wanted), (at) => ({
      count: this.#countOf(at),
      fragment: (this.#words[at + FRAGMENT] as number) >>> 0,
      offset: (this.#words[at + OFFSET] as number) >>> 0,
    }));
    return values.sort(
      (a, b) => b.count - a.count || a.fragment - b.fragment || a.offset - b.offset,
    );
  }

  #countOf(at: number): number {
    return (this.#words[at + COUNT] as number) >>> 0;
  }

  /** A number that orders slots by fragment and offset. */
  #placeOf(at: number): number {
    const fragment = (this.#words[at + FRAGMENT] as number) >>> 0;
    return fragment * 2 ** 32 + ((this.#words[at + OFFSET] as number) >>> 0);
  }
}
