/**
 * `bounds` creates the accumulator of the least (`min`) or greatest value of each group. Nulls are
 * left out, and a group without values gives null. Floats, integers except those of uint64,
 * timestamps, durations, texts and bytes have fast implementations; values of other types are
 * compared one by one. NaN is above all other numbers. bits.ts shares `wideWords`, which reads a
 * column of integers as pairs of 32-bit words.
 */
import type { DataType } from '../../arrow/index.ts';
import {
  type Column,
  compareValues,
  familyOf,
  reader,
  type Value,
  validityOf,
} from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  columnFor,
  type GroupRange,
  groupsWhere,
  numbersWhere,
  ofRange,
  roomFor,
  VALUE_BYTES,
} from './accumulator.ts';

/** @param argument its type */
export function bounds(aggregate: Aggregate, argument: DataType): Accumulator {
  const family = familyOf(argument);
  const isInt = family === 'int';
  if (family === 'float' || (isInt && (argument as { bitWidth?: number }).bitWidth !== 64)) {
    return new NumberBounds(aggregate);
  }
  if (family === 'text' || family === 'bytes') return new ByteBounds(aggregate);
  const isUnsigned = isInt && (argument as { isSigned?: boolean }).isSigned === false;
  const isWords = isInt || family === 'timestamp' || family === 'duration';
  return isWords && !isUnsigned ? new WideBounds(aggregate) : new ValueBounds(aggregate);
}

/** NaN is above all others. */
class NumberBounds implements Accumulator {
  readonly #type: DataType;
  readonly #isLeast: boolean;
  /** NaN where there is no value yet. */
  #bounds = new Float64Array(64).fill(Number.NaN);
  #counts = new Float64Array(64);

  constructor({ name, type }: Aggregate) {
    this.#type = type;
    this.#isLeast = name === 'min';
  }

  get bytes(): number {
    return this.#bounds.byteLength * 2;
  }

  add(given: Int32Array, size: number, [column]: readonly [Column]): void {
    const { length } = this.#bounds;
    this.#bounds = roomFor(this.#bounds, size);
    this.#bounds.fill(Number.NaN, length);
    this.#counts = roomFor(this.#counts, size);
    const bounds = this.#bounds;
    const groups = groupsWhere(given, validityOf(column));
    const values = column.form === 'number' ? column.values : valuesOf(column);
    if (this.#isLeast) {
      for (let row = 0; row < groups.length; row++) {
        const group = groups[row] as number;
        if (group < 0) continue;
        const value = values[row] as number;
        if (!(value >= (bounds[group] as number))) this.#lower(group, value);
      }
      return;
    }
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const value = values[row] as number;
      if (!(value <= (bounds[group] as number))) this.#raise(group, value);
    }
  }

  /** Takes a value that is below the bound, or where one of both is NaN. */
  #lower(group: number, value: number): void {
    this.#counts[group] = 1;
    if (!Number.isNaN(value)) this.#bounds[group] = value;
  }

  #raise(group: number, value: number): void {
    const isFirst = this.#counts[group] === 0;
    this.#counts[group] = 1;
    if (isFirst || !Number.isNaN(this.#bounds[group])) this.#bounds[group] = value;
  }

  result(range: GroupRange): Column {
    const bounds = ofRange(this.#bounds, range);
    return numbersWhere(this.#type, bounds, ofRange(this.#counts, range), range);
  }
}

const valuesOf = (column: Column): number[] => {
  const read = reader(column);
  return Array.from({ length: column.length }, (_, row) => (read(row) ?? 0) as number);
};

const WORD = 2 ** 32;

/** Signed integers of 64 bits, whose halves are compared as numbers. */
class WideBounds implements Accumulator {
  readonly #type: DataType;
  readonly #isLeast: boolean;
  #low = new Float64Array(64);
  #high = new Float64Array(64);
  #counts = new Float64Array(64);

  constructor({ name, type }: Aggregate) {
    this.#type = type;
    this.#isLeast = name === 'min';
  }

  get bytes(): number {
    return this.#low.byteLength * 3;
  }

  add(given: Int32Array, size: number, [column]: readonly [Column]): void {
    this.#low = roomFor(this.#low, size);
    this.#high = roomFor(this.#high, size);
    this.#counts = roomFor(this.#counts, size);
    const groups = groupsWhere(given, validityOf(column));
    const words = wideWords(column);
    const lows = this.#low;
    const highs = this.#high;
    const counts = this.#counts;
    const isLeast = this.#isLeast;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const low = (words[2 * row] as number) >>> 0;
      const high = words[2 * row + 1] as number;
      const [ownLow, ownHigh] = [lows[group] as number, highs[group] as number];
      const isBelow = high < ownHigh || (high === ownHigh && low < ownLow);
      const isAbove = high > ownHigh || (high === ownHigh && low > ownLow);
      if (counts[group] === 0 || (isLeast ? isBelow : isAbove)) {
        lows[group] = low;
        highs[group] = high;
        counts[group] = 1;
      }
    }
  }

  result(range: GroupRange): Column {
    return columnFor(this.#type, range, (group) =>
      (this.#counts[group] ?? 0) === 0
        ? null
        : BigInt(this.#high[group] ?? 0) * BigInt(WORD) + BigInt(this.#low[group] ?? 0),
    );
  }
}

/** The values as two words each, the lower one first. */
export function wideWords(column: Column): Int32Array {
  if (column.form === 'wide' && column.values instanceof BigInt64Array) {
    return new Int32Array(column.values.buffer, column.values.byteOffset, column.length * 2);
  }
  const read = reader(column);
  const wide = BigInt64Array.from({ length: column.length }, (_, row) =>
    BigInt((read(row) ?? 0) as number | bigint),
  );
  return new Int32Array(wide.buffer);
}

/** Texts and binary values, by their bytes. */
class ByteBounds implements Accumulator {
  readonly #type: DataType;
  readonly #sign: number;
  readonly #bounds: Uint8Array[] = [];
  bytes = 0;

  constructor({ name, type }: Aggregate) {
    this.#type = type;
    this.#sign = name === 'min' ? 1 : -1;
  }

  add(given: Int32Array, _: number, [column]: readonly [Column]): void {
    const groups = groupsWhere(given, validityOf(column));
    const { data, starts, ends } = column.form === 'bytes' ? column : bytesOf(column);
    const bounds = this.#bounds;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const start = starts[row] as number;
      const end = ends[row] as number;
      const bound = bounds[group];
      if (bound !== undefined && compareBytes(data, start, end, bound) * this.#sign >= 0) continue;
      this.bytes += end - start + (bound === undefined ? VALUE_BYTES : -bound.length);
      bounds[group] = data.slice(start, end);
    }
  }

  result(range: GroupRange): Column {
    const isText = familyOf(this.#type) === 'text';
    return columnFor(this.#type, range, (group) => {
      const bound = this.#bounds[group] ?? null;
      return isText && bound !== null ? Buffer.from(bound).toString() : bound;
    });
  }
}

function compareBytes(data: Uint8Array, start: number, end: number, bound: Uint8Array): number {
  const shared = Math.min(end - start, bound.length);
  for (let at = 0; at < shared; at++) {
    const order = (data[start + at] as number) - (bound[at] as number);
    if (order !== 0) return order;
  }
  return end - start - bound.length;
}

/** Values that an expression made, as bytes. */
function bytesOf(column: Column): { data: Uint8Array; starts: Int32Array; ends: Int32Array } {
  const read = reader(column);
  const parts = Array.from({ length: column.length }, (_, row) => {
    const value = read(row) ?? '';
    return typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array);
  });
  const ends = new Int32Array(parts.length);
  let end = 0;
  for (const [row, part] of parts.entries()) {
    end += part.length;
    ends[row] = end;
  }
  return {
    data: Buffer.concat(parts),
    starts: ends.map((at, row) => at - (parts[row]?.length ?? 0)),
    ends,
  };
}

/** Values of all other types. */
class ValueBounds implements Accumulator {
  readonly #type: DataType;
  readonly #sign: number;
  readonly #bounds: Value[] = [];
  bytes = 0;

  constructor({ name, type }: Aggregate) {
    this.#type = type;
    this.#sign = name === 'min' ? 1 : -1;
  }

  add(given: Int32Array, _: number, [column]: readonly [Column]): void {
    const groups = groupsWhere(given, validityOf(column));
    const read = reader(column);
    const least = this.#bounds;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const value = read(row);
      const bound = least[group];
      if (bound !== undefined && compareValues(value, bound) * this.#sign >= 0) continue;
      if (bound === undefined) this.bytes += VALUE_BYTES;
      least[group] = value;
    }
  }

  result(range: GroupRange): Column {
    return columnFor(this.#type, range, (group) => this.#bounds[group] ?? null);
  }
}
