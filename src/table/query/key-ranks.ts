/**
 * `KeyRanks` computes finer ranks for rows whose ranks so far are equal. A rank is a number that a
 * sorter makes from the first sort key; for a text or binary, from its first bytes and length. A
 * finer rank comes from the next bytes of the value or from the next sort key. The work is done in
 * short steps. sort-steps.ts uses it through the interface `FinerRanks`. A `Piece` is the rows that
 * a sorter collected from one batch.
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
} from './sort-keys.ts';

/** What ranks are made of: a key, and for bytes how many leading ones are known to be equal. */
export interface RankLevel {
  readonly key: number;
  readonly depth: number;
}

/** Ranks of rows that tell apart what the ranks before do not. */
export interface FinerRanks {
  /** Ranks of the next level for rows of this rank; undefined where rows have to be compared. */
  after(level: RankLevel, rank: number): RankLevel | undefined;
  /** Whether rows of this rank are equal in all keys. */
  isLast(level: RankLevel, rank: number): boolean;
  /** The rank of one row. */
  rankOf(row: number, level: RankLevel): number;
  /**
   * Fills `into` with the ranks of the rows; answers the level, as deep as all rows are the same.
   */
  fill(rows: Uint32Array, level: RankLevel, into: Float64Array): Generator<void, RankLevel>;
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
    const piece = this.#pieceOfRow(row);
    return rankOfRow(
      valuesOf(piece, key),
      row - piece.start,
      this.#directions[key] as Direction,
      depth,
    );
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
