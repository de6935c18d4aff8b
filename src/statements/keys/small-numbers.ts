/**
 * `SmallNumbers` caches the numbers that a `WordTable` gave to small integers, from -524,288 to
 * 524,287, so that columns of codes, counts and keys are looked up without a hash. It gives up for
 * a column if, in one call, more than 512 rows and more than half of the rows so far are outside
 * this range. From then on `numbers` returns false, and the caller asks the table itself.
 */
import type { Validity } from '../../sql/index.ts';
import type { WordTable } from './word-table.ts';

/** Places: those of 0, -1, 1, -2 and so on. */
const MOST = 1 << 20;
/** Entries at first. */
const FIRST = 1 << 8;

/** Marks a value that the table was asked for and does not have. */
const ABSENT = -1;

/** Rows that are looked up before the table is asked for those that are new, at first. */
const FIRST_ROWS = 512;

export class SmallNumbers {
  readonly #table: WordTable;
  #numbers = new Int32Array(FIRST);
  #asked = new Int32Array(0);
  /** Keys of the two sides of a join may differ in this. */
  readonly #isLeft = { adding: false, finding: false };

  constructor(table: WordTable) {
    this.#table = table;
  }

  get bytes(): number {
    return this.#numbers.byteLength + this.#asked.byteLength;
  }

  /**
   * The numbers of integers; 0 for those that are not `valid`. False where most are not small:
   * `out` is then to be filled otherwise. @param values of one word each, or of two where there are
   * twice as many @param isAdding whether new values are given numbers; else theirs is 0
   */
  numbers(values: Int32Array, valid: Validity, isAdding: boolean, out: Int32Array): boolean {
    const use = isAdding ? 'adding' : 'finding';
    if (this.#isLeft[use]) return false;
    let beyond = 0;
    // New values of a first batch are as many as its rows, and ever fewer later.
    for (let from = 0, rows = FIRST_ROWS; from < out.length; rows *= 2) {
      const to = Math.min(out.length, from + rows);
      const count = this.#lookUp(values, valid, from, to, isAdding, out);
      if (count > 0) beyond += this.#ask(values, count, isAdding, out);
      from = to;
      if (beyond <= FIRST_ROWS || beyond <= to >> 1) continue;
      this.#isLeft[use] = true;
      return false;
    }
    return true;
  }

  /** Lists the rows whose values are not here in `#asked`. @returns how many these are */
  #lookUp(
    values: Int32Array,
    valid: Validity,
    from: number,
    to: number,
    isAdding: boolean,
    out: Int32Array,
  ): number {
    const numbers = this.#numbers;
    const { length } = numbers;
    if (this.#asked.length < to - from) this.#asked = new Int32Array(to - from);
    const asked = this.#asked;
    const unknown = isAdding ? ABSENT : 0;
    const isWide = values.length > out.length;
    let count = 0;
    for (let row = from; row < to; row++) {
      const place = isWide ? placeOfWide(values, row) : placeOf(values[row] as number);
      const number = place < length ? (numbers[place] as number) : 0;
      if (valid !== null && valid[row] === 0) out[row] = 0;
      else if (number > 0) out[row] = number;
      else if (number === 0 || number === unknown) asked[count++] = row;
      else out[row] = 0;
    }
    return count;
  }

  /** Asks the table for the values of the first rows of `#asked`. @returns how many are not small */
  #ask(values: Int32Array, count: number, isAdding: boolean, out: Int32Array): number {
    const asked = this.#asked;
    const words = new Int32Array(2 * count);
    const isWide = values.length > out.length;
    let most = 0;
    let beyond = 0;
    for (let at = 0; at < count; at++) {
      const row = asked[at] as number;
      const value = values[isWide ? 2 * row : row] as number;
      words[2 * at] = value;
      words[2 * at + 1] = isWide ? (values[2 * row + 1] as number) : value >> 31;
      const place = placeOfWide(words, at);
      if (place >= MOST) beyond++;
      else if (place > most) most = place;
    }
    if (most >= this.#numbers.length) this.#grow(most + 1);
    const found = new Int32Array(count);
    if (isAdding) this.#table.numbers(words, found);
    else this.#table.known(words, found);
    for (let at = 0; at < count; at++) {
      const number = found[at] as number;
      out[asked[at] as number] = number;
      const place = placeOfWide(words, at);
      if (place < MOST) this.#numbers[place] = number === 0 ? ABSENT : number;
    }
    return beyond;
  }

  #grow(length: number): void {
    const larger = new Int32Array(2 ** Math.ceil(Math.log2(length)));
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}

const placeOf = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

/** Of two words; beyond all places where these are no small integer. */
function placeOfWide(words: Int32Array, row: number): number {
  const value = words[2 * row] as number;
  return words[2 * row + 1] === value >> 31 ? placeOf(value) : MOST;
}
