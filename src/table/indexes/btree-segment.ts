/**
 * `btreeReader` answers conditions on one column by the segments of a BTREE index. The file of a
 * segment has the values in order, with nulls last, and the positions of their rows. The rows that
 * match are runs of this order: `SortedSegment` finds the ends of a run by binary search, and
 * `positionsOf` reads the positions in runs and sorts them. `valueTypeOf` tells the type of the
 * values of a segment. Damaged files throw Corrupt.
 */
import type { DataType } from '../../arrow/index.ts';
import { firstAbove } from '../../binary-search.ts';
import type { IndexSegment } from '../../format/index.ts';
import { type SortedCells, sortedCells } from '../../indexes/index.ts';
import { type ColumnTest, compareValues, type RangeEnd, type Value } from '../../sql/index.ts';
import type { Awaitable } from '../../store/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen } from '../work/index.ts';
import { OpenSegment } from './segment.ts';
import type { IndexReader } from './segment-types.ts';

const VALUE = 0;
const POSITION = 1;
export const BTREE_COLUMNS = 2;

/** Rows of a segment from `from` to before `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export const btreeReader: IndexReader = {
  ofItems: false,
  answers: ({ kind }) => kind !== 'items',
  async locate(engine, snapshot, segment, test) {
    const opened = OpenSegment.open(engine, snapshot, segment, BTREE_COLUMNS);
    const open = opened instanceof Promise ? await opened : opened;
    try {
      const spans = await new SortedSegment(open).spans(test);
      const count = spans.reduce((sum, { from, to }) => sum + to - from, 0);
      return {
        count,
        isExact: true,
        positions: () => positionsOf(engine, snapshot, segment, spans, count),
      };
    } finally {
      open.close();
    }
  },
  valueType: (engine, snapshot, segment) => valueTypeOf(engine, snapshot, segment, BTREE_COLUMNS),
};

/** The type of the first column. */
export function valueTypeOf(
  engine: Engine,
  snapshot: Snapshot,
  segment: IndexSegment,
  columns: number,
): Awaitable<DataType> {
  return andThen(OpenSegment.open(engine, snapshot, segment, columns), (open) => {
    const type = open.typeOf(VALUE) as DataType;
    open.close();
    return type;
  });
}

type IsBefore = (cells: SortedCells, row: number) => boolean;

/** Most batches whose values a search holds on to, beside the cache. */
const HELD_BATCHES = 64;

/** Searches the sorted values of the first column. */
export class SortedSegment {
  readonly #open: OpenSegment;
  /** Values of batches looked at last: searches for many values look at the same ones again. */
  readonly #held = new Map<number, SortedCells>();

  constructor(open: OpenSegment) {
    this.#open = open;
  }

  /** The rows whose values pass, in order and apart. */
  async spans(test: ColumnTest): Promise<readonly Span[]> {
    const spans: Span[] = [];
    const add = (from: number, to: number): void => {
      if (from < to) spans.push({ from, to });
    };
    switch (test.kind) {
      case 'among':
        for (const value of [...test.values].sort(compareValues)) {
          const from = await this.#first((cells, row) => cells.compare(row, value) < 0);
          const to = await this.#endOf(from, (cells, row) => cells.compare(row, value) <= 0);
          add(from, to);
        }
        break;
      case 'range':
        add(await this.#begin(test.low), await this.#end(test.high));
        break;
      case 'prefix': {
        const prefix = Buffer.from(test.text);
        const from = await this.#first((cells, row) => cells.comparePrefix(row, prefix) < 0);
        add(from, await this.#first((cells, row) => cells.comparePrefix(row, prefix) <= 0));
        break;
      }
      case 'null':
        add(await this.firstNull(), this.#open.rows);
        break;
      default:
    }
    return spans;
  }

  get rows(): number {
    return this.#open.rows;
  }

  close(): void {
    this.#open.close();
  }

  /** The value of a row. */
  async value(row: number): Promise<Value> {
    const batch = batchOf(this.#open.starts, row);
    return (await this.cells(batch)).value(row - (this.#open.starts[batch] as number));
  }

  firstNull(): Promise<number> {
    return this.#first((cells, row) => !cells.isNull(row));
  }

  #begin(low: RangeEnd | undefined): Awaitable<number> {
    if (low === undefined) return 0;
    const { value, open } = low;
    return this.#first((cells, row) => isBefore(cells.compare(row, value), open));
  }

  #end(high: RangeEnd | undefined): Promise<number> {
    if (high === undefined) return this.firstNull();
    const { value, open } = high;
    return this.#first((cells, row) => isBefore(cells.compare(row, value), !open));
  }

  /** The first row that is not before; rows that are come first. */
  async #first(isBefore: IsBefore): Promise<number> {
    let low = 0;
    let high = this.#open.batches;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = this.cells(middle);
      if (isBefore(found instanceof Promise ? await found : found, 0)) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    const found = this.cells(low - 1);
    const cells = found instanceof Promise ? await found : found;
    return (this.#open.starts[low - 1] as number) + firstIn(cells, 1, cells.length, isBefore);
  }

  /** Finds the same when it is near `from`: few rows have one value, as a rule. */
  async #endOf(from: number, isBefore: IsBefore): Promise<number> {
    const { starts } = this.#open;
    const batch = batchOf(starts, from);
    if (batch >= this.#open.batches) return from;
    const found = this.cells(batch);
    const cells = found instanceof Promise ? await found : found;
    const start = starts[batch] as number;
    let step = 1;
    let low = from - start;
    if (!isBefore(cells, low)) return from;
    while (low + step < cells.length && isBefore(cells, low + step)) {
      low += step;
      step *= 2;
    }
    if (low + step < cells.length) return start + firstIn(cells, low + 1, low + step, isBefore);
    if (isBefore(cells, cells.length - 1)) return this.#first(isBefore);
    return start + firstIn(cells, low + 1, cells.length, isBefore);
  }

  cells(batch: number): Awaitable<SortedCells> {
    return (
      this.#held.get(batch) ??
      andThen(this.#open.column(batch, VALUE), (data) => {
        const cells = sortedCells(data);
        if (this.#held.size === HELD_BATCHES) this.#held.clear();
        this.#held.set(batch, cells);
        return cells;
      })
    );
  }
}

/** Whether a value that compares so lies before the end of a range. */
const isBefore = (order: number, withEqual: boolean): boolean =>
  withEqual ? order <= 0 : order < 0;

function firstIn(cells: SortedCells, from: number, to: number, isBefore: IsBefore): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(cells, middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The batch that a row is in. */
export const batchOf = (starts: readonly number[], row: number): number =>
  Math.max(firstAbove(starts, row) - 1, 0);

/** Positions of so many rows, ascending. */
export async function positionsOf(
  engine: Engine,
  snapshot: Snapshot,
  segment: IndexSegment,
  spans: readonly Span[],
  count: number,
): Promise<Uint32Array> {
  const opened = OpenSegment.open(engine, snapshot, segment, BTREE_COLUMNS);
  const open = opened instanceof Promise ? await opened : opened;
  try {
    const positions = new Uint32Array(count);
    let filled = 0;
    for (const { from, to } of spans) {
      for (let batch = batchOf(open.starts, from); ; batch++) {
        const start = open.starts[batch] as number;
        if (batch === open.batches || start >= to) break;
        const read = open.column(batch, POSITION);
        const data = read instanceof Promise ? await read : read;
        const own = data.values as unknown as Uint32Array;
        const part = own.subarray(Math.max(0, from - start), Math.min(data.length, to - start));
        positions.set(part, filled);
        filled += part.length;
      }
    }
    return positions.sort();
  } finally {
    open.close();
  }
}
