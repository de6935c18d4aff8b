/**
 * `KeyNumbers` numbers rows by their values in one or more columns: rows with equal values have the
 * same number in every batch. `add` numbers new rows too, with nulls that are equal to each other;
 * in a single column null has number 0. `find` only looks rows up, and gives 0 for rows that were
 * not added and for rows with a null. `columns` turns numbers back into values. `reserve` makes
 * room in steps before `add`, and `expect` says how many rows there will be. The values of each column are numbered first (value-numbers.ts), and
 * then pairs of these numbers, column after column.
 */
import type { DataType } from '../../arrow/index.ts';
import type { Column } from '../../sql/index.ts';
import { SpareWords } from './spare-words.ts';
import { type KeyColumn, ValueNumbers } from './value-numbers.ts';
import { WordTable } from './word-table.ts';

/** Pairs that are looked up by their place, at most. */
const MOST_PLACES = 1 << 18;

/** Rows that are looked up before the table is asked for those that are new, at first. */
const FIRST_ROWS = 512;

class PairNumbers {
  readonly table = new WordTable();
  /** The number of the pair (a, b) at place a * width + b; 0 where it was not asked for yet. */
  #places = new Int32Array(0);
  #width = 0;
  #asked = new Int32Array(0);
  readonly #found = new SpareWords();
  readonly #words = new SpareWords();
  readonly #rows = new SpareWords();
  readonly #known = new SpareWords();

  get size(): number {
    return this.table.size;
  }

  get bytes(): number {
    const spare = [this.#found, this.#words, this.#rows, this.#known];
    const own = this.#places.byteLength + this.#asked.byteLength;
    return spare.reduce((sum, { bytes }) => sum + bytes, this.table.bytes + own);
  }

  reserve(rows: number): Generator<void, void> {
    return this.table.reserve(rows);
  }

  /** @param sizes all numbers of either side are below */
  add(left: Int32Array, right: Int32Array, sizes: readonly [number, number]): Int32Array {
    const out = new Int32Array(left.length);
    if (!this.#hasPlaces(...sizes)) {
      this.table.numbers(pairWords(left, right), out);
      return out;
    }
    // New pairs of a first batch are as many as its rows, and ever fewer later.
    for (let from = 0, rows = FIRST_ROWS; from < out.length; rows *= 2) {
      const to = Math.min(out.length, from + rows);
      const count = this.#lookUp(left, right, from, to, out);
      if (count > 0) this.#ask(left, right, this.#asked.subarray(0, count), out);
      from = to;
    }
    return out;
  }

  #lookUp(left: Int32Array, right: Int32Array, from: number, to: number, out: Int32Array): number {
    if (this.#asked.length < to - from) this.#asked = new Int32Array(to - from);
    const asked = this.#asked;
    const places = this.#places;
    const width = this.#width;
    let count = 0;
    for (let row = from; row < to; row++) {
      const number = places[(left[row] as number) * width + (right[row] as number)] as number;
      out[row] = number;
      if (number === 0) asked[count++] = row;
    }
    return count;
  }

  /**
   * The numbers of pairs that were added; 0 for others, and for those with a 0. The result is valid
   * until the next call.
   */
  find(left: Int32Array, right: Int32Array): Int32Array {
    const out = this.#found.take(left.length).fill(0);
    const words = this.#words.take(left.length * 2);
    const rows = this.#rows.take(left.length);
    let count = 0;
    for (let row = 0; row < left.length; row++) {
      if (left[row] === 0 || right[row] === 0) continue;
      words[2 * count] = left[row] as number;
      words[2 * count + 1] = right[row] as number;
      rows[count++] = row;
    }
    const found = this.#known.take(count);
    this.table.known(words, found);
    for (let at = 0; at < count; at++) out[rows[at] as number] = found[at] as number;
    return out;
  }

  #ask(left: Int32Array, right: Int32Array, rows: Int32Array, out: Int32Array): void {
    const given = [left, right].map((numbers) => rows.map((row) => numbers[row] as number));
    const [a, b] = given as [Int32Array, Int32Array];
    const found = new Int32Array(rows.length);
    this.table.numbers(pairWords(a, b), found);
    for (let at = 0; at < rows.length; at++) {
      out[rows[at] as number] = found[at] as number;
      this.#places[(a[at] as number) * this.#width + (b[at] as number)] = found[at] as number;
    }
  }

  /** Whether there is a place for each pair of numbers below these. */
  #hasPlaces(height: number, size: number): boolean {
    const width = Math.max(this.#width, powerAbove(size - 1));
    if (width * height > MOST_PLACES) return false;
    if (width !== this.#width) this.#places = new Int32Array(0);
    this.#width = width;
    if (width * height > this.#places.length) {
      const larger = new Int32Array(Math.min(MOST_PLACES, 2 * width * height));
      larger.set(this.#places);
      this.#places = larger;
    }
    return true;
  }
}

const powerAbove = (number: number): number => 2 ** (32 - Math.clz32(number));

/** The numbers of rows of several columns. */
export class KeyNumbers {
  readonly #columns: readonly ValueNumbers[];
  /** Number the pairs of the number of all columns before one, and of that one. */
  readonly #pairs: readonly PairNumbers[];

  /** @param types of the columns, of which there is at least one */
  constructor(types: readonly DataType[]) {
    this.#columns = types.map((type) => new ValueNumbers(type));
    this.#pairs = types.slice(1).map(() => new PairNumbers());
  }

  /** All numbers given are below. */
  get size(): number {
    const pairs = this.#pairs.at(-1);
    return pairs === undefined ? (this.#columns[0]?.size ?? 1) : pairs.size + 1;
  }

  get bytes(): number {
    const tables = [...this.#columns, ...this.#pairs];
    return tables.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Says that so many rows will be added in all, most of which have keys of their own. */
  expect(rows: number): void {
    for (const column of this.#columns) column.expect(rows);
  }

  /** Makes room for so many rows, in steps where that takes long. */
  *reserve(rows: number): Generator<void, void> {
    for (const table of [...this.#columns, ...this.#pairs]) yield* table.reserve(rows);
  }

  /** The numbers of the rows. For a single column, null has the number 0. */
  add(columns: readonly KeyColumn[]): Int32Array {
    const [first, ...more] = columns.map((column, at) =>
      (this.#columns[at] as ValueNumbers).add(column),
    );
    let numbers = first as Int32Array;
    let size = this.#columns[0]?.size as number;
    for (const [at, next] of more.entries()) {
      const pairs = this.#pairs[at] as PairNumbers;
      numbers = pairs.add(numbers, next, [size, this.#columns[at + 1]?.size as number]);
      size = pairs.size + 1;
    }
    return numbers;
  }

  /**
   * 0 for rows that did not come before, and for those with a null. The result is valid until the
   * next call.
   */
  find(columns: readonly Column[]): Int32Array {
    const [first, ...more] = columns.map((column, at) =>
      (this.#columns[at] as ValueNumbers).find(column),
    );
    let numbers = first as Int32Array;
    for (const [at, next] of more.entries()) {
      numbers = (this.#pairs[at] as PairNumbers).find(numbers, next);
    }
    return numbers;
  }

  /** The values of these numbers, column by column. */
  columns(numbers: Int32Array): Column[] {
    const columns: Column[] = [];
    let current = numbers;
    for (let at = this.#columns.length - 1; at >= 0; at--) {
      const pairs = at === 0 ? undefined : (this.#pairs[at - 1] as PairNumbers).table;
      const own = pairs === undefined ? current : partsOf(pairs.high, current);
      columns.unshift((this.#columns[at] as ValueNumbers).column(own));
      if (pairs !== undefined) current = partsOf(pairs.low, current);
    }
    return columns;
  }
}

function pairWords(left: Int32Array, right: Int32Array): Int32Array {
  const words = new Int32Array(left.length * 2);
  for (let row = 0; row < left.length; row++) {
    words[2 * row] = left[row] as number;
    words[2 * row + 1] = right[row] as number;
  }
  return words;
}

const partsOf = (words: Int32Array, numbers: Int32Array): Int32Array =>
  numbers.map((number) => words[number - 1] as number);
