/**
 * Implements aggregates that choose one value of each group. `AnyValue` takes the first that is not
 * null. `EndValue` computes first and last, which may be null. `ValueAtBound` computes arg_min and
 * arg_max: the value of the first row where another value is least or greatest, without rows where
 * either is null. Rows count in the order in which they are added; for an ORDER BY, collections.ts
 * adds them in that order.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Column, compareValues, reader, type Value, validityOf } from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  columnFor,
  type GroupRange,
  groupsWhere,
  VALUE_BYTES,
} from './accumulator.ts';

/** A value that does not keep the batch in memory which it is of. */
const kept = (value: Value): Value => (value instanceof Uint8Array ? value.slice() : value);

const sizeOf = (value: Value | undefined): number => {
  if (value === undefined) return -VALUE_BYTES;
  if (typeof value === 'string') return 2 * value.length;
  return value instanceof Uint8Array ? value.length : 16;
};

/** The first value that there is. */
export class AnyValue implements Accumulator {
  readonly #type: DataType;
  readonly #values: Value[] = [];
  bytes = 0;

  constructor({ type }: Aggregate) {
    this.#type = type;
  }

  add(given: Int32Array, _: number, [column]: readonly [Column]): void {
    const groups = groupsWhere(given, validityOf(column));
    const read = reader(column);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0 || this.#values[group] !== undefined) continue;
      const value = kept(read(row));
      this.#values[group] = value;
      this.bytes += VALUE_BYTES + sizeOf(value);
    }
  }

  result(range: GroupRange): Column {
    return columnFor(this.#type, range, (group) => this.#values[group] ?? null);
  }
}

/** The value of the first row or of the last one. Values are read once a batch and group. */
export class EndValue implements Accumulator {
  readonly #type: DataType;
  readonly #isFirst: boolean;
  readonly #values: (Value | undefined)[] = [];
  /** The row of a group that is to be read, counted from 1; 0 where there is none. */
  #rows = new Int32Array(64);
  bytes = 0;

  constructor({ name, type }: Aggregate) {
    this.#type = type;
    this.#isFirst = name === 'first';
  }

  add(groups: Int32Array, size: number, [column]: readonly [Column]): void {
    if (size > this.#rows.length) this.#rows = new Int32Array(2 * size);
    const [rows, values, isFirst] = [this.#rows, this.#values, this.#isFirst];
    const touched: number[] = [];
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0 || (isFirst && values[group] !== undefined)) continue;
      if (rows[group] === 0) touched.push(group);
      else if (isFirst) continue;
      rows[group] = row + 1;
    }
    const read = reader(column);
    for (const group of touched) {
      const value = kept(read((rows[group] as number) - 1) ?? null);
      this.bytes += sizeOf(value) - sizeOf(values[group]);
      values[group] = value;
      rows[group] = 0;
    }
  }

  result(range: GroupRange): Column {
    return columnFor(this.#type, range, (group) => this.#values[group] ?? null);
  }
}

/** The value of the row whose other value is least or greatest; rows with a null are left out. */
export class ValueAtBound implements Accumulator {
  readonly #type: DataType;
  readonly #sign: number;
  readonly #bounds: (Value | undefined)[] = [];
  readonly #values: (Value | undefined)[] = [];
  bytes = 0;

  constructor({ name, type }: Aggregate) {
    this.#type = type;
    this.#sign = name === 'arg_min' ? 1 : -1;
  }

  add(given: Int32Array, _: number, [column, by]: readonly Column[]): void {
    const [values, others] = [column as Column, by as Column];
    const groups = groupsWhere(groupsWhere(given, validityOf(values)), validityOf(others));
    const [read, readOther] = [reader(values), reader(others)];
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const other = readOther(row);
      const bound = this.#bounds[group];
      if (bound !== undefined && compareValues(other, bound) * this.#sign >= 0) continue;
      this.#put(this.#bounds, group, other);
      this.#put(this.#values, group, read(row));
    }
  }

  #put(into: (Value | undefined)[], group: number, given: Value): void {
    const value = kept(given);
    this.bytes += sizeOf(value) - sizeOf(into[group]);
    into[group] = value;
  }

  result(range: GroupRange): Column {
    return columnFor(this.#type, range, (group) => this.#values[group] ?? null);
  }
}
