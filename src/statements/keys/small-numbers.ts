/**
 * `SmallNumbers`: caches the numbers that a `WordTable` gave to integers from 0 to 1,048,575, by
 * value, so that columns of codes, counts and keys are looked up without a hash.
 */
import type { WordTable } from './word-table.ts';

/** Values below are looked up here. */
const MOST = 1 << 20;
/** Entries at first. */
const FIRST = 1 << 8;

/** Marks a value that the table was asked for and does not have. */
const ABSENT = -1;

export class SmallNumbers {
  readonly #table: WordTable;
  #numbers = new Int32Array(FIRST);

  constructor(table: WordTable) {
    this.#table = table;
  }

  get bytes(): number {
    return this.#numbers.byteLength;
  }

  /**
   * The numbers of the integers of two words each. False where one of them is not small: `out` is
   * then to be filled otherwise. @param isAdding whether new values are given numbers; else theirs
   * is 0
   */
  numbers(words: Int32Array, isAdding: boolean, out: Int32Array): boolean {
    const most = mostOf(words);
    if (most < 0) return false;
    if (most >= this.#numbers.length) this.#grow(most + 1);
    const numbers = this.#numbers;
    let asked: Int32Array | undefined;
    let count = 0;
    for (let row = 0; row < out.length; row++) {
      const number = numbers[words[2 * row] as number] as number;
      if (number === 0 || (isAdding && number === ABSENT)) {
        asked ??= new Int32Array(out.length);
        asked[count++] = row;
      } else out[row] = number === ABSENT ? 0 : number;
    }
    if (asked !== undefined) this.#ask(words, asked.subarray(0, count), isAdding, out);
    return true;
  }

  /** Asks the table for the values of some rows, all at once. */
  #ask(words: Int32Array, rows: Int32Array, isAdding: boolean, out: Int32Array): void {
    const given = new Int32Array(2 * rows.length);
    for (let at = 0; at < rows.length; at++)
      given[2 * at] = words[2 * (rows[at] as number)] as number;
    const found = new Int32Array(rows.length);
    if (isAdding) this.#table.numbers(given, found);
    else this.#table.known(given, found);
    for (let at = 0; at < rows.length; at++) {
      const number = found[at] as number;
      this.#numbers[given[2 * at] as number] = number === 0 ? ABSENT : number;
      out[rows[at] as number] = number;
    }
  }

  #grow(length: number): void {
    const larger = new Int32Array(2 ** Math.ceil(Math.log2(length)));
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}

/** The greatest of the integers; -1 where one is not small. */
function mostOf(words: Int32Array): number {
  let most = 0;
  let high = 0;
  for (let at = 0; at < words.length; at += 2) {
    const low = words[at] as number;
    high |= words[at + 1] as number;
    if (low < 0) return -1;
    if (low > most) most = low;
  }
  return high === 0 && most < MOST ? most : -1;
}
