/**
 * Implements the aggregates that keep all values of a group until its end: string_agg and array_agg
 * (`Collections`), in the order of the rows or of their ORDER BY, and medians (`Medians`).
 */
import type { DataType } from '../../arrow/index.ts';
import {
  type Column,
  columnOf,
  compareValues,
  reader,
  type Value,
  validityOf,
} from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  type Direction,
  type GroupRange,
  groupsWhere,
  numbersWhere,
} from './accumulator.ts';
import { doublesOf } from './sums.ts';

/** Bytes of a value and of a place for it. */
const VALUE_BYTES = 24;

interface Kept {
  readonly value: Value;
  readonly keys: readonly Value[];
}

export class Collections implements Accumulator {
  readonly #aggregate: Aggregate;
  readonly #groups: Kept[][] = [];
  bytes = 0;

  constructor(aggregate: Aggregate) {
    this.#aggregate = aggregate;
  }

  add(given: Int32Array, _: number, [column, ...keys]: readonly Column[]): void {
    const { name } = this.#aggregate;
    const values = column as Column;
    const groups = name === 'string_agg' ? groupsWhere(given, validityOf(values)) : given;
    const read = reader(values);
    const readers = keys.map(reader);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const value = copied(read(row) ?? null);
      const kept = { value, keys: readers.map((key) => copied(key(row) ?? null)) };
      this.bytes += VALUE_BYTES * (1 + keys.length) + sizeOf(value);
      for (const key of kept.keys) this.bytes += sizeOf(key);
      const list = this.#groups[group];
      if (list === undefined) this.#groups[group] = [kept];
      else list.push(kept);
    }
  }

  *result(range: GroupRange): Generator<void, Column> {
    const { name, type, separator, order } = this.#aggregate;
    const values: Value[] = [];
    for (let group = range.from; group < range.to; group++) {
      let kept = this.#groups[group];
      if (kept !== undefined && order.length > 0) {
        kept = yield* inOrder(kept, (a, b) => compareKeys(a.keys, b.keys, order));
      }
      const list = kept?.map(({ value }) => value);
      if (list === undefined) values.push(null);
      else values.push(name === 'string_agg' ? list.join(separator) : list);
      yield;
    }
    return columnOf(type, values);
  }
}

/** Items that are put in order without a break. */
const RUN = 1 << 12;

/** The items in order, those that are equal as they came. */
function* inOrder<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Generator<void, Item[]> {
  let runs: Item[][] = [];
  for (let from = 0; from < items.length; from += RUN) {
    runs.push(items.slice(from, from + RUN).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const longer: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right = []] = runs.slice(at, at + 2) as [Item[], Item[]?];
      const both: Item[] = [];
      for (let a = 0, b = 0; a < left.length || b < right.length; ) {
        const isLeft =
          b === right.length ||
          (a < left.length && compare(left[a] as Item, right[b] as Item) <= 0);
        both.push((isLeft ? left[a++] : right[b++]) as Item);
        if (both.length % RUN === 0) yield;
      }
      longer.push(both);
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function compareKeys(
  a: readonly Value[],
  b: readonly Value[],
  order: readonly Direction[],
): number {
  for (const [at, { ascending, nullsFirst }] of order.entries()) {
    const [x, y] = [a[at] ?? null, b[at] ?? null];
    if (x === null || y === null) {
      if (x === y) continue;
      return (x === null) === nullsFirst ? -1 : 1;
    }
    const compared = compareValues(x, y);
    if (compared !== 0) return ascending ? compared : -compared;
  }
  return 0;
}

const copied = (value: Value): Value => (value instanceof Uint8Array ? value.slice() : value);

function sizeOf(value: Value): number {
  if (typeof value === 'string') return 2 * value.length;
  if (value instanceof Uint8Array) return value.length;
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum + 8 + sizeOf(item), 0) : 16;
}

/** The value in the middle, or the mean of the two there. */
export class Medians implements Accumulator {
  readonly #type: DataType;
  readonly #groups: number[][] = [];
  bytes = 0;

  constructor({ type }: Aggregate) {
    this.#type = type;
  }

  add(given: Int32Array, _: number, [column]: readonly Column[]): void {
    const values = column as Column;
    const groups = groupsWhere(given, validityOf(values));
    const numbers = doublesOf(values);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const value = numbers[row] as number;
      const list = this.#groups[group];
      if (list === undefined) this.#groups[group] = [value];
      else list.push(value);
      this.bytes += 16;
    }
  }

  *result(range: GroupRange): Generator<void, Column> {
    const medians = new Float64Array(range.to);
    const counts = new Float64Array(range.to);
    for (let group = range.from; group < range.to; group++) {
      const list = this.#groups[group];
      if (list === undefined) continue;
      const sorted =
        list.length <= RUN
          ? Float64Array.from(list).sort()
          : yield* inOrder(list, (a, b) => compareNumbers(a, b));
      const middle = (sorted.length - 1) / 2;
      const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]] as const;
      medians[group] = low === high ? (low as number) : ((low as number) + (high as number)) / 2;
      counts[group] = 1;
      yield;
    }
    return numbersWhere(this.#type, medians, counts, range);
  }
}

/** Orders numbers as typed arrays are sorted: NaN last. */
const compareNumbers = (a: number, b: number): number => compareValues(a, b);
