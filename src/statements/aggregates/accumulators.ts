/**
 * `accumulator` creates the state of an aggregate, which takes rows and returns the results of
 * groups. Counts are implemented here, and other aggregates in other files of this folder; for
 * example, sums.ts computes sums and means, and bounds.ts least and greatest values. If the result
 * depends on an ORDER BY within the call, collections.ts keeps the rows and orders them.
 * execute/group.ts creates the state of distinct-words.ts.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Column, familyOf, validityOf } from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  type GroupRange,
  groupsWhere,
  roomFor,
} from './accumulator.ts';
import { Bits } from './bits.ts';
import { bounds } from './bounds.ts';
import { AnyValue, EndValue, ValueAtBound } from './chosen-values.ts';
import { Collections } from './collections.ts';
import { Modes } from './modes.ts';
import { PAIR_STATISTICS, PairStatistics } from './pairs.ts';
import { Quantiles } from './quantiles.ts';
import { Deviations, FloatSums, IntegerSums } from './sums.ts';

/** Aggregates that give the same in any order of the rows, and those that sort the rows themselves. */
const WITHOUT_ORDER: ReadonlySet<string> = new Set(
  (
    'count min max bool_and bool_or bit_and bit_or bit_xor median quantile_cont quantile_disc ' +
    'string_agg array_agg'
  ).split(' '),
);

export function accumulator(aggregate: Aggregate): Accumulator {
  const { name, argument, order } = aggregate;
  const isSum = name === 'sum' || name === 'avg';
  const isExact = isSum && argument !== undefined && familyOf(argument) !== 'float';
  if (order.length === 0 || WITHOUT_ORDER.has(name) || isExact) return stateOf(aggregate);
  return new Collections(aggregate, () => stateOf({ ...aggregate, order: [] }));
}

function stateOf(aggregate: Aggregate): Accumulator {
  const { name, argument } = aggregate;
  if (argument === undefined || name === 'count') return new Counts(aggregate.type);
  const family = familyOf(argument);
  if (PAIR_STATISTICS.has(name)) return new PairStatistics(aggregate);
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
    case 'bit_and':
    case 'bit_or':
    case 'bit_xor':
      return new Bits(aggregate);
    case 'median':
    case 'quantile_cont':
      return new Quantiles(aggregate);
    case 'mode':
      return new Modes(aggregate);
    case 'any_value':
      return new AnyValue(aggregate);
    case 'first':
    case 'last':
      return new EndValue(aggregate);
    case 'arg_min':
    case 'arg_max':
      return new ValueAtBound(aggregate);
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
