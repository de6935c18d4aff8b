/**
 * Computes window functions for frames that move with the current row. `framed` computes count,
 * sum, avg, min, max, bool_and and bool_or, and `endsOfFrames` finds the first or the last row of
 * each frame. The number of additions grows with the number of rows, not with the width of the
 * frame. No value is subtracted, so values outside a frame never affect its sum. A sum that its
 * type cannot hold throws InvalidInput.
 */
import type { DataType, Decimal } from '../../arrow/index.ts';
import {
  type AggregateExpression,
  type Column,
  compareValues,
  familyOf,
  reader,
  type Value,
} from '../../sql/index.ts';
import { meanOf } from '../../values/index.ts';
import { sumCheck } from '../aggregates/index.ts';
import { aggregateName } from '../plan/index.ts';
import type { FrameBounds } from './frame-bounds.ts';
import type { Part } from './window-functions.ts';
import { STEP_ROWS } from './window-ranks.ts';

/** Fills `rows` with the first or the last row of each frame; -1 where it has none. */
export function* endsOfFrames(
  name: string,
  { from, to, rows }: Pick<Part, 'from' | 'to'> & { readonly rows: Int32Array },
  bounds: FrameBounds,
): Generator<void, void> {
  for (let row = from; row < to; row++) {
    if (row % STEP_ROWS === 0) yield;
    const [low, high] = [bounds.low[row] as number, bounds.high[row] as number];
    rows[row] = low < high ? (name === 'first_value' ? low : high - 1) : -1;
  }
}

export function* framed(
  call: AggregateExpression,
  type: DataType,
  part: Part,
  [column]: readonly Column[],
  bounds: FrameBounds,
): Generator<void, void> {
  const name = aggregateName(call.name);
  const given = column === undefined || call.star ? undefined : reader(column);
  const read = (row: number): Value => (given === undefined ? true : (given(row) ?? null));
  const counts = new Moving(part.from, (row) => (read(row) === null ? null : 1), added);
  const value = aggregateOf(name, type, column?.type, read, part.from, counts);
  for (let row = part.from; row < part.to; row++) {
    if (row % STEP_ROWS === 0) yield;
    part.values[row] = yield* value(bounds.low[row] as number, bounds.high[row] as number);
  }
}

type FrameValue = (low: number, high: number) => Generator<void, Value>;

function aggregateOf(
  name: string,
  type: DataType,
  argument: DataType | undefined,
  read: (row: number) => Value,
  from: number,
  counts: Moving,
): FrameValue {
  switch (name) {
    case 'count':
      return function* (low, high) {
        return BigInt(Number((yield* counts.of(low, high)) ?? 0));
      };
    case 'min':
    case 'bool_and':
      return moving(new Moving(from, read, (a, b) => (compareValues(b, a) < 0 ? b : a)));
    case 'max':
    case 'bool_or':
      return moving(new Moving(from, read, (a, b) => (compareValues(b, a) > 0 ? b : a)));
    default: {
      const isFloat = familyOf(argument as DataType) === 'float';
      const number = (row: number): Value => {
        const value = read(row);
        return value === null ? null : isFloat ? Number(value) : BigInt(value as number | bigint);
      };
      const sums = new Moving(from, number, added);
      if (name === 'avg') {
        const scale =
          familyOf(argument as DataType) === 'decimal' ? 10 ** (argument as Decimal).scale : 1;
        return function* (low, high) {
          const [sum, count] = [yield* sums.of(low, high), yield* counts.of(low, high)];
          if (sum === null) return null;
          return typeof sum === 'bigint'
            ? meanOf(sum, scale * Number(count))
            : Number(sum) / Number(count);
        };
      }
      const check = isFloat ? undefined : sumCheck(type, 'A running sum');
      return function* (low, high) {
        const sum = yield* sums.of(low, high);
        if (typeof sum === 'bigint') check?.(sum);
        return sum;
      };
    }
  }
}

const moving =
  (rows: Moving): FrameValue =>
  (low, high) =>
    rows.of(low, high);

const added = (a: Value, b: Value): Value =>
  typeof a === 'bigint' ? a + (b as bigint) : (a as number) + (b as number);

/**
 * What the values of some rows come to, where both ends of these rows move forward. Values before
 * `#middle` are combined from it backwards, once for all frames that begin among them; those behind
 * it are combined as they come.
 */
class Moving {
  readonly #read: (row: number) => Value;
  readonly #combine: (a: Value, b: Value) => Value;
  #low: number;
  #middle: number;
  #high: number;
  /** Aggregates of the rows from each row before the middle up to the middle; that of the first row is at `#first`. */
  #before: Value[] = [];
  #first: number;
  #behind: Value = null;

  /** @param combine never given null, which is no value */
  constructor(from: number, read: (row: number) => Value, combine: (a: Value, b: Value) => Value) {
    this.#read = read;
    this.#combine = combine;
    this.#low = from;
    this.#middle = from;
    this.#high = from;
    this.#first = from;
  }

  #both(a: Value, b: Value): Value {
    return a === null ? b : b === null ? a : this.#combine(a, b);
  }

  *of(low: number, high: number): Generator<void, Value> {
    for (; this.#high < high; this.#high++) {
      this.#behind = this.#both(this.#behind, this.#read(this.#high));
      if (this.#high % STEP_ROWS === 0) yield;
    }
    this.#low = low;
    if (low >= high) return null;
    if (low > this.#first && low >= this.#middle) yield* this.#turn();
    const before = low < this.#middle ? (this.#before[low - this.#first] as Value) : null;
    return this.#both(before, this.#behind);
  }

  /** All rows of the frame come to lie before the middle. */
  *#turn(): Generator<void, void> {
    const rows = this.#high - this.#low;
    this.#before = new Array<Value>(rows);
    this.#first = this.#low;
    this.#middle = this.#high;
    this.#behind = null;
    let value: Value = null;
    for (let at = rows - 1; at >= 0; at--) {
      value = this.#both(this.#read(this.#first + at), value);
      this.#before[at] = value;
      if (at % STEP_ROWS === 0) yield;
    }
  }
}
