/**
 * `RowSorter` collects rows by their sort keys (`add`) and sorts them (`finish`). The result gives
 * the ids of the first `limit` rows, in order. Memory grows with `limit`, not with the number of
 * rows. Rows of equal keys keep their row order, so batches have to come in that order. It works in
 * short steps (sort-steps.ts). `markChanges` marks the rows whose keys differ from those of the row
 * before.
 */
import {
  consecutive,
  type Data,
  dataBytes,
  gatherData,
  sliceData,
  type Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type KeyColumn, KeyRanks, type Piece } from './key-ranks.ts';
import {
  areFinal,
  compareKeys,
  type Direction,
  fillRanks,
  isFinal,
  type KeyValues,
  keyValues,
  type WorkMeter,
} from './sort-keys.ts';
import { type RowOrder, sortedRows } from './sort-steps.ts';

/** Rows of one batch. */
export interface SortedBatch {
  /** One column for each key. */
  readonly keys: readonly Data[];
  readonly rows: number;
  readonly fragment: number;
  /** Offset in the fragment of the first row of the batch. */
  readonly first: number;
  /** Rows of the batch that these are; all from `first` on if undefined. */
  readonly selection: Uint32Array | undefined;
}

/** Rows of a batch that are ranked at once, at most. */
const SLICE_ROWS = 16_384;
/** Rows collected beyond the limit, at least, before the first of them are picked. */
const SPARE_ROWS = 2_048;
/**
 * Bytes for each row: its rank, twice its number and digits of its rank, the number of its piece.
 */
const ROW_BYTES = 28;
/** If keys are kept, about as many more while rows of one rank are ranked by them. */
const TIED_BYTES = 28;

/** Rows are found in pieces from the nearest of so many on. */
const NEAR_BITS = 8;

export interface RowSorterOptions {
  readonly directions: readonly Direction[];
  /** How many of the first rows are wanted. */
  readonly limit: number;
  /** How many rows come, at most. */
  readonly most: number;
  /** Told of the bytes held, whenever that changed. Throws where they are too many. */
  readonly holding?: (bytes: number) => void;
  /** Whether columns given may be changed once `add` has ended. */
  readonly lent?: boolean;
  /** Whether the caller keeps all columns given: their bytes count, whether they are held here or not. */
  readonly keeps?: boolean;
  /**
   * A rank that none of the first rows is above, as statistics tell. It may fall while rows come.
   */
  readonly bound?: () => number;
}

export interface SortedRows {
  readonly count: number;
  /** The numbers of these rows. Those of all rows rise from 0 if no more than `limit` came. */
  readonly rows: Uint32Array;
  /** Row ids of some of them. */
  rowIds(from: number, to: number): BigUint64Array;
}

export class RowSorter {
  readonly #options: RowSorterOptions;
  readonly #capacity: number;
  readonly #ranks: Float64Array;
  /** The piece that each row is of; defined once keys are kept. */
  #pieceOf: Uint32Array | undefined;
  #pieces: Piece[] = [];
  #count = 0;
  readonly #meter: WorkMeter = { work: 0 };
  readonly #dictionaries = new Set<Vector>();
  /** Bytes of the keys kept. */
  #keyBytes = 0;
  /** Bytes of the columns given, if the caller keeps them. */
  #givenBytes = 0;
  /**
   * The last of the first `limit` rows so far, once there are as many: others must be before it.
   */
  #last: { readonly rank: number; readonly row: number } | undefined;
  #nearest: Uint32Array | undefined;
  /** Ranks of a slice, and the rows chosen of it. */
  readonly #slice: Float64Array;
  readonly #found: Uint32Array;

  constructor(options: RowSorterOptions) {
    this.#options = options;
    const { limit, most } = options;
    this.#capacity = Math.min(most, limit + Math.max(limit, SPARE_ROWS));
    // Memory of this size is not touched, and takes no room, until rows are written into it.
    this.#ranks = new Float64Array(this.#capacity);
    const slice = Math.min(SLICE_ROWS, most);
    this.#slice = new Float64Array(slice);
    this.#found = new Uint32Array(slice);
  }

  /** Rows whose first key ranks above are not among the first; Infinity while nothing is known. */
  get bound(): number {
    const bound = this.#options.bound?.() ?? Infinity;
    return this.#last === undefined ? bound : Math.min(bound, this.#last.rank);
  }

  /** Takes rows that come after all those before. */
  *add(batch: SortedBatch): Generator<void> {
    const values = batch.keys.map(keyValues);
    const [first] = values as [KeyValues];
    if (this.#options.keeps === true) this.#givenBytes += this.#bytesOf(batch.keys);
    for (let from = 0; from < batch.rows; ) {
      const room = this.#capacity - this.#count;
      if (room === 0) {
        if (this.#count <= this.#options.limit) {
          throw new DirspaceError('Internal', `More than ${this.#count} rows came to be sorted.`);
        }
        yield* this.#prune();
        continue;
      }
      const count = Math.min(batch.rows - from, this.#slice.length);
      fillRanks(first, this.#options.directions[0] as Direction, from, count, this.#slice);
      from += this.#takeSlice(batch, values, from, count, room);
      yield;
    }
  }

  /** The first `limit` rows, in order. */
  *finish(): Generator<void, SortedRows> {
    const sorted = yield* this.#sorted();
    const rows = sorted.subarray(0, Math.min(this.#options.limit, sorted.length));
    return {
      count: rows.length,
      rows,
      rowIds: (from, to) => this.#rowIds(rows.subarray(from, to)),
    };
  }

  #rowIds(rows: Uint32Array): BigUint64Array {
    const pieces = this.#pieces;
    const nearest = this.#nearestPieces();
    const words = new Uint32Array(rows.length * 2);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number;
      let index = nearest[row >>> NEAR_BITS] as number;
      let piece = pieces[index] as Piece;
      while (row - piece.start >= piece.rows) piece = pieces[++index] as Piece;
      const within = row - piece.start;
      const { offsets } = piece;
      words[2 * at] = typeof offsets === 'number' ? offsets + within : (offsets[within] as number);
      words[2 * at + 1] = piece.fragment;
    }
    return new BigUint64Array(words.buffer);
  }

  /** The piece of the first of each 256 rows. */
  #nearestPieces(): Uint32Array {
    if (this.#nearest !== undefined) return this.#nearest;
    const nearest = new Uint32Array((this.#count >>> NEAR_BITS) + 1);
    let index = 0;
    for (let at = 0; at < nearest.length; at++) {
      const row = at << NEAR_BITS;
      for (;;) {
        const piece = this.#pieces[index];
        if (piece === undefined || row - piece.start < piece.rows) break;
        index++;
      }
      nearest[at] = index;
    }
    this.#nearest = nearest;
    return nearest;
  }

  /**
   * Collects those of a slice that may be among the first, as far as there is room; how many it
   * went through.
   */
  #takeSlice(
    batch: SortedBatch,
    values: readonly KeyValues[],
    from: number,
    count: number,
    room: number,
  ): number {
    const { bound } = this;
    if (bound === Infinity && this.#last === undefined) {
      const taken = Math.min(count, room);
      this.#take(batch, values, from, taken, undefined);
      return taken;
    }
    const last = this.#last;
    const ranks = this.#slice;
    const rows = this.#found;
    let found = 0;
    let at = 0;
    for (; at < count && found < room; at++) {
      const own = ranks[at] as number;
      if (own > bound) continue;
      if (own === last?.rank && !this.#isBefore(values, from + at, last)) continue;
      rows[found++] = at;
    }
    this.#take(batch, values, from, at, found === at ? undefined : rows.subarray(0, found));
    return at;
  }

  /** Whether a row that comes now, of the rank of the last one kept, is before that. */
  #isBefore(
    values: readonly KeyValues[],
    row: number,
    last: { readonly rank: number; readonly row: number },
  ): boolean {
    const { directions } = this.#options;
    if (this.#isFinal(values[0] as KeyValues, last.rank)) return false;
    const piece = this.#pieces[this.#pieceAt(last.row)] as Piece;
    for (const [at, direction] of directions.entries()) {
      const kept = (piece.keys as readonly KeyColumn[])[at] as KeyColumn;
      const order = compareKeys(
        values[at] as KeyValues,
        row,
        kept.values,
        last.row - piece.start,
        direction,
        this.#meter,
      );
      if (order !== 0) return order < 0;
    }
    return false;
  }

  #isFinal(first: KeyValues, rank: number): boolean {
    return this.#options.directions.length === 1 && isFinal(first.values, rank);
  }

  #take(
    batch: SortedBatch,
    values: readonly KeyValues[],
    from: number,
    count: number,
    chosen: Uint32Array | undefined,
  ): void {
    const ranks = this.#slice;
    const rows = chosen?.length ?? count;
    if (rows === 0) return;
    const start = this.#count;
    const taken = this.#ranks.subarray(start, start + rows);
    if (chosen === undefined) taken.set(ranks.subarray(0, rows));
    else for (let at = 0; at < rows; at++) taken[at] = ranks[chosen[at] as number] as number;
    const final =
      this.#options.directions.length === 1 && areFinal((values[0] as KeyValues).values, taken);
    const { selection } = batch;
    const offsets =
      chosen === undefined && selection === undefined
        ? batch.first + from
        : Uint32Array.from({ length: rows }, (_, at) => {
            const row = from + (chosen?.[at] ?? at);
            return batch.first + (selection?.[row] ?? row);
          });
    const keys = final
      ? undefined
      : batch.keys.map((data) => this.#kept(sliceData(data, from, count), chosen));
    this.#pieces.push({ start, rows, fragment: batch.fragment, offsets, keys });
    if (this.#options.keeps !== true) this.#keyBytes += this.#bytesOf(dataOfKeys(keys));
    if (typeof offsets !== 'number') this.#keyBytes += offsets.byteLength;
    this.#count += rows;
    if (keys !== undefined) {
      this.#pieceOf ??= new Uint32Array(this.#capacity);
      this.#pieceOf.fill(this.#pieces.length - 1, start, this.#count);
    }
    this.#hold();
  }

  #hold(): void {
    const rowBytes = ROW_BYTES + (this.#pieceOf === undefined ? 0 : TIED_BYTES);
    this.#options.holding?.(this.#givenBytes + this.#keyBytes + this.#count * rowBytes);
  }

  #kept(data: Data, chosen: Uint32Array | undefined): KeyColumn {
    const copied = chosen ?? (this.#options.lent ? consecutive(0, data.length) : undefined);
    const kept = copied === undefined ? data : gatherData(data, copied);
    return { data: kept, values: keyValues(kept) };
  }

  #pieceAt(row: number): number {
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#pieces[middle] as Piece).start <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** A dictionary, which many batches share, counts once. */
  #bytesOf(keys: readonly Data[]): number {
    let bytes = 0;
    for (const data of keys) {
      bytes += dataBytes(data);
      const { dictionary } = data;
      if (dictionary === undefined || this.#dictionaries.has(dictionary)) continue;
      this.#dictionaries.add(dictionary);
      for (const part of dictionary.data) bytes += dataBytes(part as Data);
    }
    return bytes;
  }

  #sorted(): Generator<void, Uint32Array> {
    const { directions } = this.#options;
    const pieces = this.#pieces;
    const pieceOf = this.#pieceOf;
    const sample = pieces.find(({ keys }) => keys !== undefined)?.keys?.[0]?.values;
    const meter = this.#meter;
    const order: RowOrder = {
      compare(a, b) {
        const left = pieces[pieceOf?.[a] as number] as Piece;
        const right = pieces[pieceOf?.[b] as number] as Piece;
        for (let at = 0; at < directions.length; at++) {
          const result = compareKeys(
            (left.keys as readonly KeyColumn[])[at]?.values as KeyValues,
            a - left.start,
            (right.keys as readonly KeyColumn[])[at]?.values as KeyValues,
            b - right.start,
            directions[at] as Direction,
            meter,
          );
          if (result !== 0) return result;
        }
        return a - b;
      },
      meter,
      isFinal: (rank) => sample === undefined || this.#isFinal(sample, rank),
      areAllFinal: sample === undefined,
      finer: new KeyRanks(directions, pieces, pieceOf),
    };
    return sortedRows(this.#ranks, this.#count, order);
  }

  /** Keeps the first `limit` rows only, in row order. */
  *#prune(): Generator<void> {
    const { limit } = this.#options;
    const rows = yield* this.#sorted();
    const kept = new Uint8Array(this.#count);
    for (let at = 0; at < limit; at++) kept[rows[at] as number] = 1;
    const last = rows[limit - 1] as number;
    const pieces: Piece[] = [];
    let count = 0;
    let lastNow = 0;
    this.#keyBytes = 0;
    this.#dictionaries.clear();
    for (const piece of this.#pieces) {
      const chosen = new Uint32Array(piece.rows);
      let found = 0;
      for (let at = 0; at < piece.rows; at++) {
        const row = piece.start + at;
        if (kept[row] !== 1) continue;
        if (row === last) lastNow = count + found;
        this.#ranks[count + found] = this.#ranks[row] as number;
        chosen[found++] = at;
      }
      if (found === 0) continue;
      const { fragment, offsets } = piece;
      const rowsKept = chosen.subarray(0, found);
      const offsetsKept = rowsKept.map((at) =>
        typeof offsets === 'number' ? offsets + at : (offsets[at] as number),
      );
      const keys = piece.keys?.map(({ data }) => {
        const column = found === piece.rows ? data : gatherData(data, rowsKept);
        return { data: column, values: keyValues(column) };
      });
      pieces.push({ start: count, rows: found, fragment, offsets: offsetsKept, keys });
      this.#pieceOf?.fill(pieces.length - 1, count, count + found);
      this.#keyBytes += this.#bytesOf(dataOfKeys(keys)) + offsetsKept.byteLength;
      count += found;
      yield;
    }
    this.#pieces = pieces;
    this.#count = count;
    this.#last = { rank: this.#ranks[lastNow] as number, row: lastNow };
    this.#hold();
  }
}

const dataOfKeys = (keys: Piece['keys']): readonly Data[] => keys?.map(({ data }) => data) ?? [];

/** Rows that are compared with the one before them in one step. */
const COMPARED_ROWS = 16_384;

/**
 * Marks each row whose keys are not those of the row before it; the first row stays as it is.
 * @param keys columns of one batch, of types that have an order
 */
export function* markChanges(keys: readonly Data[], marks: Uint8Array): Generator<void, void> {
  const meter = { work: 0 };
  for (const key of keys.map(keyValues)) {
    for (let from = 1; from < marks.length; ) {
      from = markUntilLong(key, from, Math.min(marks.length, from + COMPARED_ROWS), marks, meter);
      meter.work = 0;
      yield;
    }
  }
}

/** Marks rows up to `to`, or until long values took as long as a step; where it ended. */
function markUntilLong(
  key: KeyValues,
  from: number,
  to: number,
  marks: Uint8Array,
  meter: WorkMeter,
): number {
  let row = from;
  for (; row < to && meter.work < COMPARED_ROWS; row++) {
    if (compareKeys(key, row - 1, key, row, RISING, meter) !== 0) marks[row] = 1;
  }
  return row;
}

const RISING: Direction = { ascending: true, nullsFirst: false };
