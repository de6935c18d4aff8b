/**
 * `ValueCounts`: counts how often each value of a column occurs, by the hashes of the values, in
 * bounded memory. Up to a number of distinct values everything is exact. Beyond it, the values that
 * were the most frequent so far go on being counted exactly, and of the others a random share, told
 * by bits of the hash, is kept to estimate how many there are. Each value is known by the row where
 * it was met first.
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

const FIRST_SLOTS = 1024;
/** Values that go on being counted when there are too many, at least. */
const FREQUENT = 256;
/** Of a slot: two words of the hash, the count, and the place of the first row. */
const SLOT_BYTES = 24;

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
    return (this.#slots.size + (this.#frequent?.size ?? 0)) * SLOT_BYTES;
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
    let last = -1;
    for (let row = 0; row < low.length; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const one = low[row] as number;
      const other = high[row] as number;
      // Values often follow their like.
      if (last >= 0 && this.#slots.isAt(last, one, other)) {
        this.#slots.more(last);
        continue;
      }
      if (this.#frequent !== undefined) {
        const known = this.#frequent.find(one, other);
        if (this.#frequent.isTaken(known)) {
          this.#frequent.more(known);
          continue;
        }
        if ((other & this.#sieve) !== 0) continue;
      }
      last = this.#slots.find(one, other);
      if (this.#slots.isTaken(last)) this.#slots.more(last);
      else last = this.#insert(last, one, other, fragment, offsetOf(row));
    }
  }

  /** Distinct values, and how many of them occurred once; estimates unless `isExact`. */
  get distinct(): { readonly values: number; readonly single: number } {
    const factor = 2 ** bitsOf(this.#sieve);
    let values = this.#slots.count;
    let single = this.#slots.singles();
    if (factor > 1) {
      values *= factor;
      single *= factor;
    }
    // Those are counted apart, whatever their hashes.
    return { values: values + (this.#frequent?.count ?? 0), single };
  }

  /**
   * The most frequent values, the first one first; of equal counts the one that stands first. Those
   * that occur once are among them only where all values are.
   */
  top(): CountedValue[] {
    const found = (this.#frequent ?? this.#slots).most(this.#top);
    return found.slice(0, this.#top);
  }

  #insert(at: number, one: number, other: number, fragment: number, offset: number): number {
    this.#slots.take(at, one, other, fragment, offset, 1);
    if (this.#slots.count * 2 <= this.#slots.size) return at;
    if (this.#slots.count < this.#most) {
      this.#slots = this.#slots.copy(this.#slots.size * 2, () => true);
    } else this.#thin();
    return -1;
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

/** A table of values with open addressing: no object for each value. A count of 0 is an empty slot. */
class Slots {
  readonly size: number;
  count = 0;
  readonly #mask: number;
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  readonly #counts: Float64Array;
  readonly #fragments: Uint32Array;
  readonly #offsets: Uint32Array;

  /** @param size a power of two */
  constructor(size: number) {
    this.size = size;
    this.#mask = size - 1;
    this.#low = new Int32Array(size);
    this.#high = new Int32Array(size);
    this.#counts = new Float64Array(size);
    this.#fragments = new Uint32Array(size);
    this.#offsets = new Uint32Array(size);
  }

  /** The slot of a value, or the empty one where it belongs. */
  find(one: number, other: number): number {
    let slot = one & this.#mask;
    while (this.#counts[slot] !== 0 && (this.#low[slot] !== one || this.#high[slot] !== other)) {
      slot = (slot + 1) & this.#mask;
    }
    return slot;
  }

  isAt(slot: number, one: number, other: number): boolean {
    return this.#low[slot] === one && this.#high[slot] === other;
  }

  isTaken(slot: number): boolean {
    return this.#counts[slot] !== 0;
  }

  more(slot: number): void {
    (this.#counts[slot] as number) += 1;
  }

  take(
    slot: number,
    one: number,
    other: number,
    fragment: number,
    offset: number,
    count: number,
  ): void {
    this.#low[slot] = one;
    this.#high[slot] = other;
    this.#fragments[slot] = fragment;
    this.#offsets[slot] = offset;
    this.#counts[slot] = count;
    this.count += 1;
  }

  takeFrom(from: Slots, slot: number): void {
    const one = from.#low[slot] as number;
    const other = from.#high[slot] as number;
    const [fragment, offset] = [from.#fragments[slot] as number, from.#offsets[slot] as number];
    const count = from.#counts[slot] as number;
    this.take(this.find(one, other), one, other, fragment, offset, count);
  }

  copy(size: number, isKept: (one: number, other: number) => boolean): Slots {
    const copy = new Slots(size);
    for (let slot = 0; slot < this.size; slot++) {
      if (this.#counts[slot] === 0) continue;
      if (!isKept(this.#low[slot] as number, this.#high[slot] as number)) continue;
      copy.takeFrom(this, slot);
    }
    return copy;
  }

  singles(): number {
    let single = 0;
    for (const count of this.#counts) if (count === 1) single += 1;
    return single;
  }

  /** A number that orders slots by fragment and offset. */
  #placeOf(slot: number): number {
    return (this.#fragments[slot] as number) * 2 ** 32 + (this.#offsets[slot] as number);
  }

  /** Slots of the most frequent values, in no order; of equal counts those that stand first. */
  frequent(wanted: number): Uint32Array {
    const taken = new Uint32Array(this.count);
    let at = 0;
    for (let slot = 0; slot < this.size; slot++) if (this.isTaken(slot)) taken[at++] = slot;
    if (taken.length <= wanted) return taken;
    const counts = Float64Array.from(taken, (slot) => this.#counts[slot] as number).sort();
    const least = counts[counts.length - wanted] as number;
    const above = taken.filter((slot) => (this.#counts[slot] as number) > least);
    // Which of the values that occur once is no matter of frequency.
    if (least === 1) return above;
    const equal = taken.filter((slot) => this.#counts[slot] === least);
    const places = Float64Array.from(equal, (slot) => this.#placeOf(slot));
    const last = places.slice().sort()[wanted - above.length - 1] as number;
    return Uint32Array.from([...above, ...equal.filter((_, at) => (places[at] as number) <= last)]);
  }

  /** The most frequent values in their order. */
  most(wanted: number): CountedValue[] {
    const values = Array.from(this.frequent(wanted), (slot) => ({
      count: this.#counts[slot] as number,
      fragment: this.#fragments[slot] as number,
      offset: this.#offsets[slot] as number,
    }));
    return values.sort(
      (a, b) => b.count - a.count || a.fragment - b.fragment || a.offset - b.offset,
    );
  }
}
