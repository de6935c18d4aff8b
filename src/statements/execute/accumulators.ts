/**
 * `accumulator` creates the state of an aggregate. Counts and `any_value` are implemented here;
 * sums.ts implements sums, means and deviations, bounds.ts least and greatest values, also of
 * booleans, and collections.ts string_agg, array_agg, medians and any_value with ORDER BY. The one
 * of distinct-words.ts, which counts distinct values without groups, is created by group.ts.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Column, familyOf, reader, type Value, validityOf } from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  columnFor,
  type GroupRange,
  groupsWhere,
  roomFor,
  VALUE_BYTES,
} from './accumulator.ts';
import { bounds } from './bounds.ts';
import { Collections, Medians } from './collections.ts';
import { Deviations, FloatSums, IntegerSums } from './sums.ts';

export function accumulator(aggregate: Aggregate): Accumulator {
  const { name, argument } = aggregate;
  if (argument === undefined || name === 'count') return new Counts(aggregate.type);
  const family = familyOf(argument);
  switch (name) {
    case 'sum':
    case 'avg':
      return family === 'float' || family === 'null'
        ? new FloatSums(aggregate)
        : new IntegerSums(aggregate);
    case 'stddev_samp':
    case 'stddev_pop':
    case 'var_samp':
    case 'var_pop':
      return new Deviations(aggregate);
    case 'min':
    case 'max':
      return bounds(aggregate, argument);
    case 'bool_and':
      return bounds({ ...aggregate, name: 'min' }, argument);
    case 'bool_or':
      return bounds({ ...aggregate, name: 'max' }, argument);
    case 'median':
      return new Medians(aggregate);
    case 'any_value':
      return aggregate.order.length > 0 ? new Collections(aggregate) : new AnyValue(aggregate.type);
    default:
      return new Collections(aggregate);
  }
}

/** Rows, or those that have a value where there is a column. */
class Counts implements Accumulator {
  readonly #type: DataType;
  #counts = new Float64Array(64);

  constructor(type: DataType) {
    this.#type = type;
  }

  get bytes(): number {
    return this.#counts.byteLength;
  }

  add(given: Int32Array, size: number, [column]: readonly Column[]): void {
    this.#counts = roomFor(this.#counts, size);
    const counts = this.#counts;
    const groups = column === undefined ? given : groupsWhere(given, validityOf(column));
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group >= 0) (counts[group] as number)++;
    }
  }

  addWhole(rows: number, [column]: readonly Column[]): void {
    const valid = column === undefined ? null : validityOf(column);
    let count = rows;
    for (let row = 0; valid !== null && row < rows; row++) if (valid[row] === 0) count--;
    (this.#counts[0] as number) += count;
  }

  result({ from, to }: GroupRange): Column {
    const values = roomFor(this.#counts, to).slice(from, to);
    return { form: 'number', type: this.#type, length: to - from, values, valid: null };
  }
}

/** The first value that there is. */
class AnyValue implements Accumulator {
  readonly #type: DataType;
  readonly #values: Value[] = [];
  bytes = 0;

  constructor(type: DataType) {
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

/** A value that does not keep the batch in memory which it is of. */
const kept = (value: Value): Value => (value instanceof Uint8Array ? value.slice() : value);

const sizeOf = (value: Value): number =>
  typeof value === 'string' ? 2 * value.length : value instanceof Uint8Array ? value.length : 16;
