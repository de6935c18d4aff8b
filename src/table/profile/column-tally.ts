/**
 * `ColumnTally` collects the profile of one column, one record batch after the other: nulls,
 * distinct and frequent values, the mean of numbers, a histogram, and the least and greatest value
 * of numbers, times, texts and booleans. The histogram counts numbers and times as they are, texts,
 * binary values and lists by their length, and vectors by their norm. value-counts.ts counts
 * distinct values, and histogram.ts fills the buckets.
 */
import { type Data, DataType, plainType } from '../../arrow/index.ts';
import { type ColumnStatistics, columnStatistics, mergeStatistics } from '../../format/index.ts';
import {
  type Column,
  familyOf,
  hashValues,
  loadColumn,
  TRUE,
  type Validity,
  validityOf,
} from '../../sql/index.ts';
import { type Buckets, Histogram } from './histogram.ts';
import { type CountedValue, ValueCounts } from './value-counts.ts';

export type ColumnKind =
  | 'number'
  | 'time'
  | 'boolean'
  | 'text'
  | 'binary'
  | 'vector'
  | 'list'
  | 'other';

/** The kind of a column, which decides what is counted of its values. */
function kindOf(given: DataType): ColumnKind {
  const type = plainType(given);
  switch (familyOf(type)) {
    case 'int':
    case 'float':
    case 'decimal':
      return 'number';
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
      return 'time';
    case 'bool':
      return 'boolean';
    case 'text':
      return 'text';
    case 'bytes':
      return 'binary';
    case 'list': {
      const item = familyOf(type.children[0]?.type as DataType);
      const isVector = DataType.isFixedSizeList(type) && (item === 'float' || item === 'int');
      return isVector ? 'vector' : 'list';
    }
    default:
      return 'other';
  }
}

/** The number that the histogram of a column counts for each value. */
export type Measure = 'values' | 'lengths' | 'norms';

export interface TallyGoals {
  /** Distinct values that are counted exactly. */
  readonly mostValues: number;
  /** How many of the most frequent values are wanted. */
  readonly top: number;
}

export interface SeenBounds {
  readonly min: ColumnStatistics['min'];
  readonly max: ColumnStatistics['max'];
  /** False where one of them was shortened. */
  readonly exact: boolean;
}

/** Loops over numbers in one of these, so that they stay fast. */
type Numbers = Float64Array | Float32Array | Int32Array;

export class ColumnTally {
  readonly type: DataType;
  readonly kind: ColumnKind;
  readonly values: ValueCounts;
  rows = 0;
  nulls = 0;
  nans = 0;
  /** How many booleans are true. */
  trues = 0;
  readonly #histogram: Histogram;
  #bounds: ColumnStatistics | undefined;
  /** Numbers are counted from here on, where they may be wider than a double is exact. */
  #base: bigint | undefined;
  #wideMin = 0n;
  #wideMax = 0n;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #sum = 0;
  #summed = 0;

  constructor(type: DataType, { mostValues, top }: TallyGoals) {
    this.type = plainType(type);
    this.kind = kindOf(type);
    this.values = new ValueCounts(mostValues, top);
    const isWhole = familyOf(this.type) !== 'float' && this.kind !== 'vector';
    this.#histogram = new Histogram(isWhole);
  }

  /** @param offsetOf the offset in its fragment of a row of `data` */
  add(data: Data, fragment: number, offsetOf: (row: number) => number): void {
    const column = loadColumn(data);
    const valid = validityOf(column);
    this.rows += column.length;
    this.nulls += nullsOf(valid);
    this.values.add(hashValues(column), valid, fragment, offsetOf);
    switch (column.form) {
      case 'truth':
        for (const truth of column.values) if (truth === TRUE) this.trues += 1;
        return;
      case 'number':
        this.#numbers(column.values, valid);
        return;
      case 'wide':
        this.#wide(column.values, valid);
        return;
      case 'bytes':
        if (this.kind === 'text') this.#note(columnStatistics(data));
        this.#measured(this.kind === 'text' ? characters(column) : spans(column), valid);
        return;
      case 'list':
        this.#measured(this.kind === 'vector' ? norms(column) : spans(column), valid);
        return;
      default:
    }
  }

  get measure(): Measure | undefined {
    switch (this.kind) {
      case 'number':
      case 'time':
        return 'values';
      case 'text':
      case 'binary':
      case 'list':
        return 'lengths';
      case 'vector':
        return 'norms';
      default:
        return undefined;
    }
  }

  /** The least and the greatest of the values that were seen; undefined where there is none. */
  get bounds(): SeenBounds | undefined {
    if (this.kind === 'text') {
      const { min, max, minExact = true, maxExact = true } = this.#bounds ?? {};
      if (min === undefined || max === undefined) return undefined;
      return { min, max, exact: minExact && maxExact };
    }
    if (this.kind === 'boolean') {
      const known = this.rows - this.nulls;
      if (known === 0) return undefined;
      return { min: this.trues === known, max: this.trues > 0, exact: true };
    }
    if (this.measure !== 'values' || this.#min > this.#max) return undefined;
    const [min, max] = [this.#min, this.#max];
    if (this.#base === undefined) return { min: min + 0, max: max + 0, exact: true };
    return { min: this.#wideMin, max: this.#wideMax, exact: true };
  }

  /** The mean of numbers, in the unit of the type; undefined if there are none. */
  get mean(): number | undefined {
    if (this.kind !== 'number' || this.#summed === 0) return undefined;
    return Number(this.#base ?? 0n) + this.#sum / this.#summed;
  }

  get top(): CountedValue[] {
    return this.values.top();
  }

  /** The value at an edge of a bucket of the histogram, in the unit of the type. */
  valueOf(edge: number): number | bigint {
    return this.#base === undefined ? edge : this.#base + BigInt(edge);
  }

  buckets(most: number): Buckets | undefined {
    return this.#histogram.buckets(most);
  }

  #note(statistics: ColumnStatistics): void {
    this.#bounds =
      this.#bounds === undefined ? statistics : mergeStatistics(this.#bounds, statistics);
  }

  #numbers(values: Numbers, valid: Validity): void {
    let sum = 0;
    let count = 0;
    let nans = 0;
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < values.length; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const value = values[row] as number;
      if (Number.isNaN(value)) {
        nans += 1;
        continue;
      }
      sum += value;
      count += 1;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    this.nans += nans;
    this.#sum += sum;
    this.#summed += count;
    if (min < this.#min) this.#min = min;
    if (max > this.#max) this.#max = max;
    this.#fill(values, valid, min, max);
  }

  /** Numbers that are measured in place of the values: they have no bounds and no mean. */
  #measured(values: Numbers, valid: Validity): void {
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < values.length; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const value = values[row] as number;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    this.#fill(values, valid, min, max);
  }

  #fill(values: Numbers, valid: Validity, min: number, max: number): void {
    if (min > max) return;
    const areFinite = Number.isFinite(min) && Number.isFinite(max);
    const [low, high] = areFinite ? [min, max] : finiteBounds(values, valid);
    if (low <= high) this.#histogram.add(values, valid, low, high);
  }

  #wide(values: BigInt64Array | BigUint64Array | readonly bigint[], valid: Validity): void {
    const first = valid === null ? 0 : valid.indexOf(1);
    if (first < 0 || values.length === 0) return;
    let min = values[first] as bigint;
    let max = min;
    this.#base ??= min;
    const base = this.#base;
    const numbers = new Float64Array(values.length);
    const words =
      values instanceof BigInt64Array || values instanceof BigUint64Array
        ? new Int32Array(values.buffer, values.byteOffset, values.length * 2)
        : undefined;
    if (words === undefined) {
      for (let row = 0; row < values.length; row++) {
        if (valid !== null && valid[row] === 0) continue;
        const value = values[row] as bigint;
        if (value < min) min = value;
        if (value > max) max = value;
        numbers[row] = lowered(value - base);
      }
    } else {
      const flip = values instanceof BigUint64Array ? 0x80000000 | 0 : 0;
      const [low, high] = differences(words, valid, base, flip, numbers);
      min = values[low] as bigint;
      max = values[high] as bigint;
    }
    const isFirst = this.#min > this.#max;
    if (isFirst || min < this.#wideMin) this.#wideMin = min;
    if (isFirst || max > this.#wideMax) this.#wideMax = max;
    this.#min = lowered(this.#wideMin - base);
    this.#max = lowered(this.#wideMax - base);
    let sum = 0;
    for (let row = 0; row < numbers.length; row++) {
      if (valid === null || valid[row] !== 0) sum += numbers[row] as number;
    }
    this.#sum += sum;
    this.#summed += numbers.length - nullsOf(valid);
    this.#histogram.add(numbers, valid, lowered(min - base), lowered(max - base));
  }
}

function nullsOf(valid: Validity): number {
  if (valid === null) return 0;
  let nulls = 0;
  for (const one of valid) nulls += 1 - one;
  return nulls;
}

/** Digits that a double has none for are cut towards less, so that no number passes an edge. */
const CUT = 11n;

function lowered(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return Number((value >> CUT) << CUT);
}

/**
 * The differences of 64-bit integers and `base`, made of their words: a bigint for each value would
 * take 20 times as long. Answers the rows of the least and the greatest.
 */
function differences(
  words: Int32Array,
  valid: Validity,
  base: bigint,
  flip: number,
  numbers: Float64Array,
): readonly [low: number, high: number] {
  const baseLow = Number(BigInt.asUintN(32, base));
  const baseHigh = Number(BigInt.asIntN(32, base >> 32n)) ^ flip;
  let low = -1;
  let high = -1;
  let minHigh = 0;
  let minLow = 0;
  let maxHigh = 0;
  let maxLow = 0;
  for (let row = 0; row < numbers.length; row++) {
    if (valid !== null && valid[row] === 0) continue;
    const upper = (words[2 * row + 1] as number) ^ flip;
    const lower = (words[2 * row] as number) >>> 0;
    if (low < 0 || upper < minHigh || (upper === minHigh && lower < minLow)) {
      low = row;
      minHigh = upper;
      minLow = lower;
    }
    if (high < 0 || upper > maxHigh || (upper === maxHigh && lower > maxLow)) {
      high = row;
      maxHigh = upper;
      maxLow = lower;
    }
    let rest = lower - baseLow;
    let top = upper - baseHigh;
    if (rest < 0) {
      rest += 4294967296;
      top -= 1;
    }
    // Beyond 2^53 the last digits would be rounded.
    if (top >= 0x200000 || top < -0x200000) rest = Math.floor(rest / 2048) * 2048;
    numbers[row] = top * 4294967296 + rest;
  }
  return [low, high];
}

function finiteBounds(values: Numbers, valid: Validity): readonly [min: number, max: number] {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if ((valid !== null && valid[row] === 0) || !Number.isFinite(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return [min, max];
}

type Spans = Extract<Column, { form: 'bytes' | 'list' }>;

/** Bytes of binary values, items of lists. */
function spans({ starts, ends, length }: Spans): Int32Array {
  const lengths = new Int32Array(length);
  for (let row = 0; row < length; row++)
    lengths[row] = (ends[row] as number) - (starts[row] as number);
  return lengths;
}

/** The number of characters of each text: its bytes that begin one. */
function characters({
  data,
  starts,
  ends,
  length,
}: Extract<Column, { form: 'bytes' }>): Int32Array {
  const lengths = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    const end = ends[row] as number;
    let count = 0;
    for (let at = starts[row] as number; at < end; at++) {
      if (((data[at] as number) & 0xc0) !== 0x80) count += 1;
    }
    lengths[row] = count;
  }
  return lengths;
}

/** Euclidean norms; NaN for a vector with a null in it. */
function norms({ child, starts, ends, length }: Extract<Column, { form: 'list' }>): Float64Array {
  const found = new Float64Array(length).fill(Number.NaN);
  if (child.form !== 'number' && child.form !== 'wide') return found;
  const { values, valid } = child;
  for (let row = 0; row < length; row++) {
    let sum = 0;
    for (let at = starts[row] as number; at < (ends[row] as number); at++) {
      const value = valid !== null && valid[at] === 0 ? Number.NaN : Number(values[at]);
      sum += value * value;
    }
    found[row] = Math.sqrt(sum);
  }
  return found;
}
