/**
 * Finds the pairs of rows that a join has to check. `next` of a `PairFinder` gives the next pairs,
 * and none at the end. `KeyPairs` pairs the rows whose keys are equal, and `AllPairs` pairs each
 * row of one side with every row of the other. They give 65,536 pairs at most at a time; if no key
 * has two kept rows, `KeyPairs` gives the pairs of a batch at once. `only` leaves out rows that a
 * condition of one side rules out. range-pairs.ts has a third finder. join.ts applies the
 * conditions of the join to the pairs.
 */
import { BATCH_ROWS } from './relation.ts';

/** The rows of each key. */
export interface Chains {
  /**
   * The first row of each number, and the next of the same one after each row; -1 where there is
   * none.
   */
  readonly first: Int32Array;
  readonly next: Int32Array;
  /** Whether no key has two rows. */
  readonly isUnique: boolean;
}

/** Gives pairs of rows, some at a time; none at the end. */
export interface PairFinder {
  next(): { readonly streamed: Uint32Array; readonly kept: Uint32Array };
}

/** Rows of pairs, in arrays that are used again for the next pairs. */
export class PairRows {
  streamed = new Uint32Array(0);
  kept = new Uint32Array(0);

  roomFor(pairs: number): void {
    if (this.streamed.length >= pairs) return;
    this.streamed = new Uint32Array(pairs);
    this.kept = new Uint32Array(pairs);
  }

  /** The first of them. */
  first(pairs: number): { streamed: Uint32Array; kept: Uint32Array } {
    return { streamed: this.streamed.subarray(0, pairs), kept: this.kept.subarray(0, pairs) };
  }
}

export class KeyPairs implements PairFinder {
  readonly #numbers: Int32Array;
  readonly #pairs: PairRows;
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  readonly #isUnique: boolean;
  #row = 0;
  /** The next row of the kept side for the row at hand; -1 where its chain is at its end. */
  #chain = -1;

  /** @param pairs for what it finds: each call of `next` ends what the one before gave */
  constructor(numbers: Int32Array, { first, next, isUnique }: Chains, pairs: PairRows) {
    this.#numbers = numbers;
    this.#pairs = pairs;
    this.#first = first;
    this.#next = next;
    this.#isUnique = isUnique;
    this.#chain = this.#chainOf(0);
  }

  #chainOf(row: number): number {
    const number = this.#numbers[row] ?? 0;
    return number === 0 ? -1 : (this.#first[number] as number);
  }

  /** No row has more than one partner. */
  #all(): { streamed: Uint32Array; kept: Uint32Array } {
    const rows = this.#numbers.length - this.#row;
    this.#row = this.#numbers.length;
    this.#pairs.roomFor(rows);
    const { streamed, kept } = this.#pairs;
    const count = rows === 0 ? 0 : partners(this.#numbers, this.#first, streamed, kept);
    return this.#pairs.first(count);
  }

  next(): { streamed: Uint32Array; kept: Uint32Array } {
    if (this.#isUnique) return this.#all();
    this.#pairs.roomFor(BATCH_ROWS);
    const { streamed, kept } = this.#pairs;
    const numbers = this.#numbers;
    const first = this.#first;
    const next = this.#next;
    let row = this.#row;
    let chain = this.#chain;
    let count = 0;
    while (row < numbers.length && count < BATCH_ROWS) {
      if (chain < 0) {
        row++;
        const number = row < numbers.length ? (numbers[row] as number) : 0;
        chain = number === 0 ? -1 : (first[number] as number);
        continue;
      }
      streamed[count] = row;
      kept[count++] = chain;
      chain = next[chain] as number;
    }
    this.#row = row;
    this.#chain = chain;
    return this.#pairs.first(count);
  }
}

function partners(
  numbers: Int32Array,
  first: Int32Array,
  streamed: Uint32Array,
  kept: Uint32Array,
): number {
  let count = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] as number;
    const partner = number === 0 ? -1 : (first[number] as number);
    if (partner < 0) continue;
    streamed[count] = row;
    kept[count++] = partner;
  }
  return count;
}

export class AllPairs implements PairFinder {
  readonly #rows: Uint32Array;
  readonly #kept: number;
  #row = 0;
  #other = 0;

  constructor(rows: Uint32Array, kept: number) {
    this.#rows = kept === 0 ? new Uint32Array(0) : rows;
    this.#kept = kept;
  }

  next(): { streamed: Uint32Array; kept: Uint32Array } {
    const most = Math.min(BATCH_ROWS, (this.#rows.length - this.#row) * this.#kept - this.#other);
    const streamed = new Uint32Array(Math.max(0, most));
    const kept = new Uint32Array(Math.max(0, most));
    for (let at = 0; at < most; at++) {
      streamed[at] = this.#rows[this.#row] as number;
      kept[at] = this.#other++;
      if (this.#other === this.#kept) {
        this.#other = 0;
        this.#row++;
      }
    }
    return { streamed, kept };
  }
}

/** The numbers of the rows that are named, and 0 for others. */
export function only(numbers: Int32Array, rows: Uint32Array): Int32Array {
  const named = new Int32Array(numbers.length);
  for (const row of rows) named[row] = numbers[row] as number;
  return named;
}
