/**
 * `Sifting` chooses the rows of sketched batches that a search has to measure. `candidates` returns
 * the rows that may be within the limits of the queries, or undefined if more than 32 rows and an
 * eighth of the batch remain. It returns a selection of at most 32 rows unchanged. While a query
 * has no limit, `guess` returns at least k rows that are likely to be near it, at most 2k + 16;
 * measuring these sets a limit. If a query has no sieve (sieve.ts), larger selections and all
 * guesses give undefined, and so does `guess` if no distance separates so few rows.
 */
import type { Metric } from './elements.ts';
import type { PreparedQuery } from './query.ts';
import { SIFTED_ROWS, type Sieve, sieveOf } from './sieve.ts';
import type { Sketch } from './sketch.ts';

/** Rows of a batch, ascending; undefined stands for all of them. */
type Selection = Uint32Array | undefined;

/** If more of the rows than this share remain, measuring all is as fast. */
const MOST_CANDIDATES = 1 / 8;
/** Few enough that choosing among them is not worth it. */
const FEW = 32;
/** Rows looked at for a guess, for each that is wanted, and at least. */
const GUESSED_FROM = 32;
const LEAST_GUESSED_FROM = 1024;
/** A guess returns at most so many times the wanted rows, plus a constant. */
const GUESSED = 2;
const GUESSED_MORE = 16;
/** Elements sifted between two steps: about a millisecond's work. */
const STEP_ELEMENTS = 1 << 22;
/** Looking at the result for a row costs as much as sifting this many elements. */
const ROW_COST = 16;

export class Sifting {
  readonly #metric: Metric;
  readonly #queries: readonly PreparedQuery[];

  constructor(metric: Metric, queries: readonly PreparedQuery[]) {
    this.#metric = metric;
    this.#queries = queries;
  }

  /** The selected rows that may be within the limit of a query, ascending. */
  *candidates(
    sketch: Sketch,
    selection: Selection,
    limits: readonly number[],
  ): Generator<void, Selection> {
    if (selection !== undefined && selection.length <= FEW) return selection;
    const most = Math.max(FEW, sketch.rows * MOST_CANDIDATES);
    const found = new Rows();
    let sifted = 0;
    for (const [index, query] of this.#queries.entries()) {
      const sieve = sieveOf(sketch, this.#metric, query);
      if (sieve === undefined) return undefined;
      const limit = limits[index] as number;
      for (const { from, count, among } of piecesOf(sketch, selection)) {
        found.add(sieve.candidates(limit, from, count), among);
        if (found.length > most) found.unite();
        if (found.length > most) return undefined;
        sifted += count * (sketch.dimension + ROW_COST);
        if (sifted < STEP_ELEMENTS) continue;
        sifted = 0;
        yield;
      }
    }
    return found.unite();
  }

  /**
   * At least `k` selected rows for each query that is `without` a limit, likely to be near to it.
   */
  *guess(
    sketch: Sketch,
    selection: Selection,
    k: number,
    without: (query: number) => boolean,
  ): Generator<void, Selection> {
    const found = new Rows();
    for (const [index, query] of this.#queries.entries()) {
      if (!without(index)) continue;
      const sieve = sieveOf(sketch, this.#metric, query);
      if (sieve === undefined) return undefined;
      const rows = guessOf(sieve, sketch, selection, k);
      if (rows === undefined) return undefined;
      found.add(rows, undefined);
      yield;
    }
    return found.unite();
  }
}

interface Piece {
  readonly from: number;
  readonly count: number;
  /** The selected rows of the piece. */
  readonly among: Selection;
}

/** The parts of a sketch that a sieve takes at once, without those of which no row is selected. */
function* piecesOf({ rows }: Sketch, selection: Selection): Generator<Piece> {
  let at = 0;
  for (let from = 0; from < rows; from += SIFTED_ROWS) {
    const count = Math.min(SIFTED_ROWS, rows - from);
    if (selection === undefined) {
      yield { from, count, among: undefined };
      continue;
    }
    const first = at;
    while (at < selection.length && (selection[at] as number) < from + count) at += 1;
    if (at > first) yield { from, count, among: selection.subarray(first, at) };
  }
}

/**
 * Some more than `k` rows of the first pieces: those within a limit that is found by halving. All
 * limits are float32, whose bits are in order as whole numbers.
 */
function guessOf(sieve: Sieve, sketch: Sketch, selection: Selection, k: number): Selection {
  const pieces: Piece[] = [];
  let rows = 0;
  for (const piece of piecesOf(sketch, selection)) {
    pieces.push(piece);
    rows += piece.among?.length ?? piece.count;
    if (rows >= Math.max(LEAST_GUESSED_FROM, k * GUESSED_FROM)) break;
  }
  const most = k * GUESSED + GUESSED_MORE;
  let low = -ordered(3e38);
  let high = ordered(3e38);
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const limit = unordered(middle);
    const found = new Rows();
    for (const { from, count, among } of pieces) {
      found.add(sieve.candidates(limit, from, count), among);
      if (found.length > most) break;
    }
    if (found.length < k) low = middle + 1;
    else if (found.length > most) high = middle - 1;
    else return found.unite();
  }
  return undefined;
}

const number = new Float32Array(1);
const bits = new Int32Array(number.buffer);

/** A whole number that is in the order of the float32 of at least 0. */
function ordered(value: number): number {
  number[0] = value;
  return bits[0] as number;
}

function unordered(value: number): number {
  bits[0] = Math.abs(value);
  return value < 0 ? -(number[0] as number) : (number[0] as number);
}

/** Rows from several sources. */
class Rows {
  #rows = new Uint32Array(64);
  length = 0;

  /**
   * Adds the rows of `rows`, which may be in any order, that are `among` the rows given in
   * ascending order.
   */
  add(rows: Uint32Array, among: Selection): void {
    if (rows.length === 0) return;
    const room = this.length + rows.length;
    if (room > this.#rows.length) {
      const larger = new Uint32Array(Math.max(room, this.#rows.length * 2));
      larger.set(this.#rows);
      this.#rows = larger;
    }
    if (among === undefined) {
      this.#rows.set(rows, this.length);
      this.length += rows.length;
      return;
    }
    rows.sort();
    let at = 0;
    for (const row of rows) {
      while (at < among.length && (among[at] as number) < row) at += 1;
      if (among[at] === row) this.#rows[this.length++] = row;
    }
  }

  /** Each row once, ascending. */
  unite(): Uint32Array {
    const sorted = this.#rows.subarray(0, this.length).sort();
    let count = 0;
    for (const row of sorted) {
      if (count === 0 || sorted[count - 1] !== row) sorted[count++] = row;
    }
    this.length = count;
    return this.#rows.slice(0, count);
  }
}
