/**
 * `PairRuns` cuts the pairs of rows that a join found into runs whose rows have about 8 MiB
 * together, at least one pair each. A join repeats rows, so 65,536 pairs of wide rows could
 * otherwise make one batch of any size. `begin` must be called for each batch that streams past;
 * `of` then cuts pairs of its rows. Rows are only counted one by one if the widest of them would
 * not fit.
 */
import { type Data, layoutOf } from '../../arrow/index.ts';
import { BATCH_BYTES, valueBytes } from './relation.ts';

/** The rows of both sides, pair by pair. */
export interface Pairs {
  readonly streamed: Uint32Array;
  readonly kept: Uint32Array;
}

export class PairRuns {
  readonly #kept: RowBytes;
  #streamed = new RowBytes([]);

  /** @param kept the columns of the kept side that are copied for each pair */
  constructor(kept: readonly Data[]) {
    this.#kept = new RowBytes(kept);
  }

  /** @param columns of the batch whose rows come next; none where no row of it is repeated */
  begin(columns: readonly Data[]): void {
    this.#streamed = new RowBytes(columns);
  }

  *of(pairs: Pairs): Generator<Pairs, void> {
    const { streamed, kept } = pairs;
    const [one, two] = [this.#streamed, this.#kept];
    if (streamed.length * (one.most + two.most) <= BATCH_BYTES) {
      if (streamed.length > 0) yield pairs;
      return;
    }
    let from = 0;
    let bytes = 0;
    for (let at = 0; at < streamed.length; at++) {
      bytes += one.of(streamed[at] as number) + two.of(kept[at] as number);
      if (bytes < BATCH_BYTES && at + 1 < streamed.length) continue;
      yield { streamed: streamed.subarray(from, at + 1), kept: kept.subarray(from, at + 1) };
      from = at + 1;
      bytes = 0;
    }
  }
}

/** How many bytes the rows of columns take. */
class RowBytes {
  /** No row takes more. */
  readonly most: number;
  readonly #fixed: number;
  readonly #others: readonly ((row: number) => number)[];

  constructor(columns: readonly Data[]) {
    const others = columns.filter((column) => !isFixed(column));
    this.#others = others.map(valueBytes);
    this.#fixed = columns
      .filter(isFixed)
      .reduce((bytes, column) => bytes + (column.length === 0 ? 0 : valueBytes(column)(0)), 0);
    this.most = this.#fixed + others.reduce((bytes, column) => bytes + mostBytes(column), 0);
  }

  of(row: number): number {
    let bytes = this.#fixed;
    for (const of of this.#others) bytes += of(row);
    return bytes;
  }
}

const FIXED: ReadonlySet<string> = new Set('fixed fixed-list bits null dictionary'.split(' '));

const isFixed = ({ type }: Data): boolean => FIXED.has(layoutOf(type));

function mostBytes(column: Data): number {
  const { valueOffsets: offsets, length } = column;
  let most = 0;
  if (offsets instanceof Int32Array && layoutOf(column.type) === 'binary') {
    for (let row = 0; row < length; row++) {
      const bytes = (offsets[row + 1] as number) - (offsets[row] as number);
      if (bytes > most) most = bytes;
    }
    return most;
  }
  const of = valueBytes(column);
  for (let row = 0; row < column.length; row++) most = Math.max(most, of(row));
  return most;
}
