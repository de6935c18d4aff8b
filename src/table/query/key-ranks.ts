/**
 * `KeyRanks` computes finer ranks for rows whose ranks so far are equal. A rank is a number that a
 * sorter makes from the first sort key; for a text or binary, from its first bytes and length. A
 * finer rank comes from the next bytes of the value or from the next sort key. The work is done in
 * short steps. sort-steps.ts uses it through the interface `FinerRanks`. `FewTies` puts short runs of
 * rows of equal ranks in order by finer ranks. A `Piece` is the rows that a sorter collected from
 * one batch.
 */
import type { Data } from '../../arrow/index.ts';
import { inSlices } from '../../steps.ts';
import {
  BYTES_A_COMPARISON,
  type Direction,
  isFinal,
  type KeyValues,
  PREFIX,
  rankOfRow,
  sharedBytes,
  type WorkMeter,
} from './sort-keys.ts';

/** What ranks are made of: a key, and for bytes how many leading ones are known to be equal. */
export interface RankLevel {
  readonly key: number;
  readonly depth: number;
}

/** The level of the ranks that a sorter begins with. */
export const FIRST_LEVEL: RankLevel = { key: 0, depth: 0 };

/** Ranks of rows that tell apart what the ranks before do not. */
export interface FinerRanks {
  /** Ranks of the next level for rows of this rank; undefined where rows have to be compared. */
  after(level: RankLevel, rank: number): RankLevel | undefined;
  /** Whether rows of this rank are equal in all keys. */
  isLast(level: RankLevel, rank: number): boolean;
  /** The rank of one row. */
  rankOf(row: number, level: RankLevel): number;
  /** Told before it is asked for so many single ranks of a level. */
  prepare?(rows: number, level: RankLevel): Generator<void>;
  /**
   * Fills `into` with the ranks of the rows; answers the level, as deep as all rows are the same.
   */
  fill(rows: Uint32Array, level: RankLevel, into: Float64Array): Generator<void, RankLevel>;
}

/** How rows of equal ranks are told apart. */
export interface TieOrder {
  /** Grows with what comparisons take beyond one step of a loop each, and by steps of sorting. */
  readonly meter: WorkMeter;
  /** Whether rows of this rank are equal, so that they stay in the order of their numbers. */
  isFinal(rank: number): boolean;
  /** If absent, rows of one rank are compared. */
  readonly finer?: FinerRanks;
}

/** Consecutive rows that were collected from one batch. */
export interface Piece {
  /** The number of its first row. */
  readonly start: number;
  readonly rows: number;
  readonly fragment: number;
  /** Offsets in the fragment: of each row, or of the first of consecutive ones. */
  readonly offsets: Uint32Array | number;
  /** Undefined where ranks tell these rows apart from every other. */
  readonly keys: readonly KeyColumn[] | undefined;
}

export interface KeyColumn {
  readonly data: Data;
  readonly values: KeyValues;
}

/** Ranks of the keys behind the first, and of the bytes behind those that a rank is made of. */
export class KeyRanks implements FinerRanks {
  readonly #directions: readonly Direction[];
  readonly #pieces: readonly Piece[];
  readonly #pieceOf: Uint32Array | undefined;
  /** The keys of the first piece that has any. */
  readonly #sampleKeys: readonly KeyColumn[] | undefined;
  /** The level that single ranks were asked for last, and how many. */
  #asked: RankLevel = FIRST_LEVEL;
  #askedRows = 0;
  /** The ranks of all rows of that level, once they were asked for of many. */
  #all: Float64Array | undefined;

  constructor(
    directions: readonly Direction[],
    pieces: readonly Piece[],
    pieceOf: Uint32Array | undefined,
  ) {
    this.#directions = directions;
    this.#pieces = pieces;
    this.#pieceOf = pieceOf;
    this.#sampleKeys = pieces.find(({ keys }) => keys !== undefined)?.keys;
  }

  after({ key, depth }: RankLevel, rank: number): RankLevel | undefined {
    const values = this.#sample(key);
    if (values === undefined) return undefined;
    if (isFinal(values, rank)) {
      return key + 1 < this.#directions.length ? { key: key + 1, depth: 0 } : undefined;
    }
    return values.kind === 'bytes' ? { key, depth: depth + PREFIX } : undefined;
  }

  isLast({ key }: RankLevel, rank: number): boolean {
    const values = this.#sample(key);
    return key + 1 === this.#directions.length && values !== undefined && isFinal(values, rank);
  }

  rankOf(row: number, { key, depth }: RankLevel): number {
    if (this.#all !== undefined && key === this.#asked.key && depth === this.#asked.depth) {
      return this.#all[row] as number;
    }
    const piece = this.#pieceOfRow(row);
    return rankOfRow(
      valuesOf(piece, key),
      row - piece.start,
      this.#directions[key] as Direction,
      depth,
    );
  }

  /**
   * Ranks all rows where many are asked for. They are ranked in the order in which they lie in
   * memory, several times as fast as in another.
   */
  *prepare(rows: number, level: RankLevel): Generator<void> {
    const { key, depth } = level;
    if (key !== this.#asked.key || depth !== this.#asked.depth) {
      this.#asked = level;
      this.#askedRows = 0;
      this.#all = undefined;
    }
    this.#askedRows += rows;
    const last = this.#pieces.at(-1);
    const count = last === undefined ? 0 : last.start + last.rows;
    if (this.#all !== undefined || this.#askedRows * MANY_OF_ALL < count) return;
    const all = new Float64Array(count);
    const direction = this.#directions[key] as Direction;
    for (const piece of this.#pieces) {
      if (piece.keys === undefined) continue;
      const values = valuesOf(piece, key);
      yield* inSlices(piece.rows, STEP_TIES, (from, to) => {
        for (let row = from; row < to; row++) {
          all[piece.start + row] = rankOfRow(values, row, direction, depth);
        }
      });
      yield;
    }
    this.#all = all;
  }

  *fill(rows: Uint32Array, level: RankLevel, into: Float64Array): Generator<void, RankLevel> {
    const { key } = level;
    const shared = level.depth === 0 ? 0 : yield* this.#shared(rows, level);
    const depth = level.depth + shared;
    const direction = this.#directions[key] as Direction;
    yield* inSlices(rows.length, STEP_TIES, (from, to) => {
      for (let at = from; at < to; at++) {
        const row = rows[at] as number;
        const piece = this.#pieceOfRow(row);
        into[at] = rankOfRow(valuesOf(piece, key), row - piece.start, direction, depth);
      }
    });
    return { key, depth };
  }

  /** How many bytes more all rows share: none of these is looked at again. */
  *#shared(rows: Uint32Array, { key, depth }: RankLevel): Generator<void, number> {
    const first = rows[0] as number;
    const piece = this.#pieceOfRow(first);
    let shared = Infinity;
    let work = 0;
    for (let at = 1; at < rows.length && shared > 0; at++) {
      const row = rows[at] as number;
      const other = this.#pieceOfRow(row);
      shared = sharedBytes(
        valuesOf(piece, key),
        first - piece.start,
        valuesOf(other, key),
        row - other.start,
        depth,
        shared,
      );
      work += 1 + shared / BYTES_A_COMPARISON;
      if (work < STEP_TIES) continue;
      work = 0;
      yield;
    }
    return shared;
  }

  #sample(key: number): KeyValues['values'] | undefined {
    return this.#sampleKeys?.[key]?.values.values;
  }

  #pieceOfRow(row: number): Piece {
    return this.#pieces[this.#pieceOf?.[row] as number] as Piece;
  }
}

const valuesOf = ({ keys }: Piece, key: number): KeyValues =>
  (keys as readonly KeyColumn[])[key]?.values as KeyValues;

/** Tied rows that are ranked in one step. */
const STEP_TIES = 8_192;
/** All rows are ranked once single ranks of one of so many were asked for. */
const MANY_OF_ALL = 16;

/** Comparisons of short values between two yields. */
export const COMPARISONS = 16_384;
/** Up to so many rows of one rank are put in order by inserting or comparing them. */
export const FEW_TIES = 64;
/** Rows of such runs that are ranked together, at most. */
const RANKED_TIES = 8_192;

/**
 * Runs of few tied rows. All of their finer ranks are computed before any run is put in order: a
 * processor fetches the values of many rows at once as long as no step depends on one of them.
 * Comparing two rows takes as long as a rank, and there are fewer ranks than comparisons.
 */
export class FewTies {
  readonly #order: TieOrder;
  readonly #rows: Uint32Array;
  readonly #compared: (rows: Uint32Array) => Generator<void>;
  readonly #levels: RankLevel[] = [];
  /** Where each run begins and ends, alternating. */
  readonly #bounds: number[] = [];
  readonly #ranks = new Float64Array(RANKED_TIES);
  #count = 0;

  /**
   * @param rows that the runs are of
   * @param compared puts rows in order that finer ranks do not tell apart
   */
  constructor(
    rows: Uint32Array,
    order: TieOrder,
    compared: (rows: Uint32Array) => Generator<void>,
  ) {
    this.#rows = rows;
    this.#order = order;
    this.#compared = compared;
  }

  /** Whether there is no room for a run of FEW_TIES rows. */
  get isFull(): boolean {
    return this.#count + FEW_TIES > RANKED_TIES;
  }

  /** Takes a run of up to FEW_TIES rows. */
  add(from: number, to: number, level: RankLevel): void {
    this.#bounds.push(from, to);
    this.#levels.push(level);
    this.#count += to - from;
  }

  /**
   * Takes the runs of equal ranks among the rows `from` to `to`, which rise by rank; false, and
   * none of them, if one is too long or there is no room.
   */
  addTies(ranks: Float64Array, from: number, to: number): boolean {
    const { finer } = this.#order;
    const known = this.#levels.length;
    const count = this.#count;
    for (let begin = from; begin < to; ) {
      const rank = ranks[this.#rows[begin] as number] as number;
      let end = begin + 1;
      while (end < to && ranks[this.#rows[end] as number] === rank) end++;
      if (end - begin > 1 && !this.#order.isFinal(rank)) {
        const level = finer?.after(FIRST_LEVEL, rank);
        if (level === undefined || end - begin > FEW_TIES || this.isFull) {
          this.#levels.length = known;
          this.#bounds.length = 2 * known;
          this.#count = count;
          return false;
        }
        this.add(begin, end, level);
      }
      begin = end;
    }
    return true;
  }

  /** Puts all runs in order and forgets them. */
  *sort(): Generator<void> {
    const { meter } = this.#order;
    const levels = this.#levels;
    const [first] = levels;
    if (first === undefined) return;
    const preparing = this.#order.finer?.prepare?.(this.#count, first);
    if (preparing !== undefined) yield* preparing;
    this.#rank();
    meter.work += this.#count;
    let start = 0;
    for (let run = 0; run < levels.length; run++) {
      const [from, to] = [this.#bounds[2 * run] as number, this.#bounds[2 * run + 1] as number];
      const isDone = this.#insert(from, to, start, levels[run] as RankLevel);
      start += to - from;
      if (meter.work > COMPARISONS) {
        yield;
        meter.work = 0;
      }
      if (!isDone) yield* this.#compared(this.#rows.subarray(from, to));
    }
    levels.length = 0;
    this.#bounds.length = 0;
    this.#count = 0;
  }

  #rank(): void {
    const finer = this.#order.finer as FinerRanks;
    let next = 0;
    for (let run = 0; run < this.#levels.length; run++) {
      const level = this.#levels[run] as RankLevel;
      const to = this.#bounds[2 * run + 1] as number;
      for (let at = this.#bounds[2 * run] as number; at < to; at++) {
        this.#ranks[next++] = finer.rankOf(this.#rows[at] as number, level);
      }
    }
  }

  /**
   * Inserts the rows of a run by their ranks, which begin at `start`.
   * @returns whether they are in order; false if some are tied in these ranks too, and not equal
   */
  #insert(from: number, to: number, start: number, level: RankLevel): boolean {
    const rows = this.#rows;
    const ranks = this.#ranks;
    const shift = start - from;
    let moves = 0;
    for (let at = from + 1; at < to; at++) {
      const row = rows[at] as number;
      const rank = ranks[at + shift] as number;
      let place = at;
      for (; place > from && (ranks[place - 1 + shift] as number) > rank; place--) {
        ranks[place + shift] = ranks[place - 1 + shift] as number;
        rows[place] = rows[place - 1] as number;
      }
      moves += at - place;
      ranks[place + shift] = rank;
      rows[place] = row;
    }
    const { meter, finer } = this.#order;
    meter.work += moves;
    for (let at = start + 1; at < start + to - from; at++) {
      const rank = ranks[at] as number;
      if (rank === ranks[at - 1] && finer?.isLast(level, rank) !== true) return false;
    }
    return true;
  }
}
