/**
 * `DenseIntegers` numbers integers that lie near each other by their places in an array, without a
 * hash: codes, counts, dates, and keys that were given in order. The array spans a window of the
 * integers, which grows with them as long as it has at most 16 places for each value, and 64 MiB
 * together; up to 4 MiB are taken however few the values are. Integers outside the window are
 * numbered by the `WordTable`, which keeps the words of all. If the first rows have no window that
 * holds most of them, `numbers` returns false from then on, and the caller asks the table itself.
 */
import type { Validity } from '../../sql/index.ts';
import type { WordTable } from './word-table.ts';

/** Places that a window may have however few values there are; for each value; at most. */
const FREE_PLACES = 1 << 20;
const PLACES_PER_VALUE = 16;
const MOST_PLACES = 1 << 24;

/** High words of integers up to 2^52, which doubles count exactly. */
const MOST_HIGH = 2 ** 20;
const WORD = 2 ** 32;

/** Values that are looked at where all of them do not fit one window. */
const SAMPLES = 256;

export class DenseIntegers {
  readonly #table: WordTable;
  /** The number of the integer `#base + place`; 0 where it has none. */
  #places = new Int32Array(0);
  #base = 0;
  #asked = new Int32Array(0);
  #isLeft = false;
  #expected = 0;

  constructor(table: WordTable) {
    this.#table = table;
  }

  get bytes(): number {
    return this.#places.byteLength + this.#asked.byteLength;
  }

  /** Says that so many rows will be added, most of which have values of their own. */
  expect(rows: number): void {
    this.#expected = rows;
  }

  /**
   * The numbers of integers; 0 for those that are not `valid`. False where they have no window:
   * `out` is then to be filled otherwise. @param values of one word each, or of two where there are
   * twice as many @param isAdding whether new values are given numbers; else theirs is 0
   */
  numbers(values: Int32Array, valid: Validity, isAdding: boolean, out: Int32Array): boolean {
    if (this.#isLeft) return false;
    if (!isAdding) {
      this.#find(values, valid, out);
      return true;
    }
    if (!this.#cover(values, valid, out.length)) {
      if (this.#places.length === 0) {
        this.#isLeft = true;
        return false;
      }
      this.#addMixed(values, valid, out);
      return true;
    }
    this.#table.roomFor(out.length);
    if (values.length > out.length) this.#addWide(values, valid, out);
    else this.#addWords(values, valid, out);
    return true;
  }

  #addWords(values: Int32Array, valid: Validity, out: Int32Array): void {
    const places = this.#places;
    const base = this.#base;
    const { low, high } = this.#table;
    let { size } = this.#table;
    for (let row = 0; row < out.length; row++) {
      if (valid !== null && valid[row] === 0) {
        out[row] = 0;
        continue;
      }
      const value = values[row] as number;
      const place = value - base;
      let number = places[place] as number;
      if (number === 0) {
        low[size] = value;
        high[size] = value >> 31;
        number = ++size;
        places[place] = number;
      }
      out[row] = number;
    }
    this.#table.size = size;
  }

  #addWide(words: Int32Array, valid: Validity, out: Int32Array): void {
    const places = this.#places;
    const base = this.#base;
    const { low, high } = this.#table;
    let { size } = this.#table;
    for (let row = 0; row < out.length; row++) {
      if (valid !== null && valid[row] === 0) {
        out[row] = 0;
        continue;
      }
      const lower = words[2 * row] as number;
      const upper = words[2 * row + 1] as number;
      const place = upper * WORD + (lower >>> 0) - base;
      let number = places[place] as number;
      if (number === 0) {
        low[size] = lower;
        high[size] = upper;
        number = ++size;
        places[place] = number;
      }
      out[row] = number;
    }
    this.#table.size = size;
  }

  /** Some values lie outside the window. */
  #addMixed(values: Int32Array, valid: Validity, out: Int32Array): void {
    const table = this.#table;
    const places = this.#places;
    const isWide = values.length > out.length;
    for (let row = 0; row < out.length; row++) {
      if (valid !== null && valid[row] === 0) {
        out[row] = 0;
        continue;
      }
      const lower = values[isWide ? 2 * row : row] as number;
      const upper = isWide ? (values[2 * row + 1] as number) : lower >> 31;
      const place = upper * WORD + (lower >>> 0) - this.#base;
      if (place < 0 || place >= places.length) out[row] = table.numberOf(lower, upper);
      else out[row] = places[place] ||= table.append(lower, upper);
    }
  }

  #find(values: Int32Array, valid: Validity, out: Int32Array): void {
    const places = this.#places;
    const base = this.#base;
    const { length } = places;
    const isWide = values.length > out.length;
    const asks = this.#table.hasSlots;
    if (asks && this.#asked.length < out.length) this.#asked = new Int32Array(out.length);
    const asked = this.#asked;
    let count = 0;
    for (let row = 0; row < out.length; row++) {
      const place = isWide
        ? (values[2 * row + 1] as number) * WORD + ((values[2 * row] as number) >>> 0) - base
        : (values[row] as number) - base;
      const isInside = place >= 0 && place < length;
      const number = isInside ? (places[place] as number) : 0;
      const isValue = valid === null || valid[row] !== 0;
      out[row] = isValue ? number : 0;
      if (asks && isValue && !isInside) asked[count++] = row;
    }
    if (count > 0) this.#ask(values, asked.subarray(0, count), out);
  }

  /** Looks up in the table what lies outside the window. */
  #ask(values: Int32Array, rows: Int32Array, out: Int32Array): void {
    const isWide = values.length > out.length;
    const words = new Int32Array(2 * rows.length);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number;
      const lower = values[isWide ? 2 * row : row] as number;
      words[2 * at] = lower;
      words[2 * at + 1] = isWide ? (values[2 * row + 1] as number) : lower >> 31;
    }
    const found = new Int32Array(rows.length);
    this.#table.known(words, found);
    for (let at = 0; at < rows.length; at++) out[rows[at] as number] = found[at] as number;
  }

  /** Extends the window to all values. @returns whether it holds them */
  #cover(values: Int32Array, valid: Validity, rows: number): boolean {
    const [least, most] =
      values.length > rows ? boundsOfWide(values, valid, rows) : boundsOf(values, valid, rows);
    if (least > most) return true;
    const { length } = this.#places;
    if (least >= this.#base && most < this.#base + length) return true;
    if (this.#extend(least, most, rows)) return true;
    if (length > 0) return false;
    const [from, to] = middleOf(values, valid, rows);
    this.#extend(from, to, rows);
    return false;
  }

  #extend(least: number, most: number, rows: number): boolean {
    const before = this.#places;
    const end = this.#base + before.length;
    const from = before.length === 0 ? least : Math.min(least, this.#base);
    const to = before.length === 0 ? most + 1 : Math.max(most + 1, end);
    const values = Math.max(this.#table.size + rows, this.#expected);
    const room = Math.min(MOST_PLACES, Math.max(FREE_PLACES, PLACES_PER_VALUE * values));
    const span = to - from;
    // Not so for a span that is infinite, or NaN.
    if (!(span <= room)) return false;
    const length = Math.min(room, Math.max(span, 2 * before.length));
    // What is ahead in the direction of the values is room for the next ones.
    const base = to === end && before.length > 0 ? to - length : from;
    const places = new Int32Array(length);
    if (before.length > 0) places.set(before, this.#base - base);
    this.#places = places;
    this.#base = base;
    if (this.#table.hasSlots) this.#takeOver();
    return true;
  }

  /** Values that were outside the window keep their numbers. */
  #takeOver(): void {
    const places = this.#places;
    const { low, high, size } = this.#table;
    for (let at = 0; at < size; at++) {
      const place = (high[at] as number) * WORD + ((low[at] as number) >>> 0) - this.#base;
      if (place >= 0 && place < places.length) places[place] = at + 1;
    }
  }
}

/** The least and the greatest value; the first is greater where there are none. */
function boundsOf(values: Int32Array, valid: Validity, rows: number): [number, number] {
  let least = 2 ** 31 - 1;
  let most = -(2 ** 31);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    if (valid !== null && valid[row] === 0) continue;
    const value = values[row] as number;
    if (value < least) least = value;
    if (value > most) most = value;
    count++;
  }
  return count === 0 ? [1, 0] : [least, most];
}

/** The same of two words each; infinite where doubles do not count the values exactly. */
function boundsOfWide(words: Int32Array, valid: Validity, rows: number): [number, number] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) {
    if (valid !== null && valid[row] === 0) continue;
    const high = words[2 * row + 1] as number;
    if (high < -MOST_HIGH || high >= MOST_HIGH) return [Number.NEGATIVE_INFINITY, most];
    const value = high * WORD + ((words[2 * row] as number) >>> 0);
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

/** A span around the middle values: that of eight tenths of a sample, and half of it on both sides. */
function middleOf(values: Int32Array, valid: Validity, rows: number): [number, number] {
  const isWide = values.length > rows;
  const sample: number[] = [];
  const step = Math.max(1, Math.floor(rows / SAMPLES));
  for (let row = 0; row < rows; row += step) {
    if (valid !== null && valid[row] === 0) continue;
    const low = values[isWide ? 2 * row : row] as number;
    const high = isWide ? (values[2 * row + 1] as number) : low >> 31;
    const isExact = high >= -MOST_HIGH && high < MOST_HIGH;
    sample.push(isExact ? high * WORD + (low >>> 0) : high * Number.POSITIVE_INFINITY);
  }
  sample.sort((a, b) => a - b);
  const least = sample[Math.floor(sample.length * 0.1)] ?? Number.NaN;
  const most = sample[Math.floor(sample.length * 0.9)] ?? Number.NaN;
  const half = Math.ceil((most - least) / 2);
  return [least - half, most + half];
}
