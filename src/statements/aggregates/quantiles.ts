/**
 * `Quantiles` computes medians and other continuous quantiles of numbers, as doubles. Nulls are
 * left out; a group without values gives null. All values of a group are kept until its end, and
 * then sorted in steps, NaN last. collections.ts implements quantile_disc, which picks one of the
 * values.
 */
import { type Data, type DataType, Float64, makeData } from '../../arrow/index.ts';
import { type Column, validityOf } from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  type GroupRange,
  groupsWhere,
  listsOf,
} from './accumulator.ts';
import { counted, GroupedRows, PLACE_BYTES } from './grouped-rows.ts';
import { doublesOf } from './sums.ts';

/** Rows of a step. */
const STEP_ROWS = 1 << 16;

/** The values at shares of the values of a group in order, or between the two there. */
export class Quantiles implements Accumulator {
  readonly #type: DataType;
  readonly #shares: readonly number[];
  readonly #isList: boolean;
  readonly #descending: boolean;
  readonly #rows = new GroupedRows();
  readonly #values: Float64Array[] = [];
  #sorted: { readonly starts: Uint32Array; readonly values: Float64Array } | undefined;
  bytes = 0;

  /** Without a share: medians. */
  constructor({ type, quantile }: Aggregate) {
    this.#type = type;
    this.#shares = (quantile?.shares ?? ['0.5']).map(Number);
    this.#isList = quantile?.isList ?? false;
    this.#descending = quantile?.descending ?? false;
  }

  add(given: Int32Array, size: number, [column]: readonly Column[]): void {
    const values = column as Column;
    const { rows, groups } = counted(groupsWhere(given, validityOf(values)));
    if (rows.length === 0) return;
    const numbers = doublesOf(values);
    this.#rows.add(groups, size);
    this.#values.push(Float64Array.from(rows, (row) => numbers[row] as number));
    this.bytes += rows.length * (PLACE_BYTES + 16);
  }

  *result(range: GroupRange): Generator<void, Column | Data> {
    this.#sorted ??= yield* this.#byGroup();
    const { starts, values } = this.#sorted;
    const [shares, first] = [this.#shares, range.from];
    const quantiles = new Float64Array((range.to - first) * shares.length);
    const ends = new Int32Array(range.to - first);
    const valid = new Uint8Array(range.to - first);
    let found = 0;
    for (let group = first; group < range.to; group++) {
      const end = Math.min(group + 1, starts.length - 1);
      const [from, to] = [starts[Math.min(group, end)] as number, starts[end] as number];
      if (from < to) {
        const sorted = yield* inOrder(values.subarray(from, to));
        for (const share of shares) quantiles[found++] = this.#valueAt(sorted, share);
        valid[group - first] = 1;
        yield;
      } else if (!this.#isList) found++;
      ends[group - first] = found;
    }
    const type = this.#type;
    if (!this.#isList) {
      return { form: 'number', type, length: ends.length, values: quantiles, valid };
    }
    const data = quantiles.subarray(0, found);
    return listsOf(makeData({ type: new Float64(), length: found, data }), ends, type);
  }

  #valueAt(sorted: Float64Array, share: number): number {
    const last = sorted.length - 1;
    const place = this.#descending ? last - last * share : last * share;
    const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]] as [number, number];
    return low === high ? low : between(low, high, place - Math.floor(place));
  }

  *#byGroup(): Generator<void, { starts: Uint32Array; values: Float64Array }> {
    const starts = yield* this.#rows.starts();
    const next = starts.slice();
    const values = new Float64Array(this.#rows.rows);
    for (const [batch, groups] of this.#rows.groups.entries()) {
      place(groups, this.#values[batch] as Float64Array, next, values);
      yield;
    }
    return { starts, values };
  }
}

function place(
  groups: Int32Array,
  numbers: Float64Array,
  next: Uint32Array,
  into: Float64Array,
): void {
  for (let row = 0; row < groups.length; row++) {
    const group = groups[row] as number;
    const to = next[group] as number;
    next[group] = to + 1;
    into[to] = numbers[row] as number;
  }
}

/** Weighs both ends, whose difference may be infinite. */
const between = (low: number, high: number, part: number): number =>
  part === 0 ? low : low * (1 - part) + high * part;

/** Numbers in order, NaN last, sorted in runs that are then merged. It may use the array given. */
function* inOrder(values: Float64Array): Generator<void, Float64Array> {
  for (let from = 0; from < values.length; from += STEP_ROWS) {
    values.subarray(from, from + STEP_ROWS).sort();
    if (values.length > STEP_ROWS) yield;
  }
  let source = values;
  for (let run = STEP_ROWS; run < values.length; run *= 2) {
    const merged = new Float64Array(values.length);
    for (let from = 0; from < values.length; from += 2 * run) {
      yield* merge(source, merged, from, Math.min(values.length, from + run), from + 2 * run);
    }
    source = merged;
  }
  return source;
}

/** Merges the runs from `from` and from `middle` on. */
function* merge(
  source: Float64Array,
  into: Float64Array,
  from: number,
  middle: number,
  until: number,
): Generator<void, void> {
  const end = Math.min(source.length, until);
  let left = from;
  let right = middle;
  for (let to = from; to < end; to++) {
    const isLeft =
      right >= end ||
      (left < middle &&
        (Number.isNaN(source[right]) || (source[left] as number) <= (source[right] as number)));
    into[to] = (isLeft ? source[left++] : source[right++]) as number;
    if (to % STEP_ROWS === 0) yield;
  }
}
