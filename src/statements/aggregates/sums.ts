/**
 * Accumulates sums and averages of groups (`IntegerSums`, `FloatSums`), and variances and standard
 * deviations (`Deviations`). Integers and decimals are added exactly, and floats as doubles, row by
 * row. Averages are doubles; variances are computed by Welford's method. A sum that its type cannot
 * hold throws InvalidInput; windows check theirs by the same `sumCheck`. `doublesOf` reads a column
 * of any numbers as doubles.
 */
import type { DataType, Decimal } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  asSafeNumbers,
  type Column,
  familyOf,
  integerRange,
  reader,
  typeText,
  validityOf,
} from '../../sql/index.ts';
import { meanOf } from '../../values/index.ts';
import {
  type Accumulator,
  type Aggregate,
  columnFor,
  type GroupRange,
  groupsWhere,
  numbersWhere,
  ofRange,
  roomFor,
} from './accumulator.ts';

const WORD = 2 ** 32;
/** Rows after which the low halves are carried over: sums of so many are below 2^53. */
const CARRY_ROWS = 1 << 20;
/** High halves beyond this are moved on: those of the rows until the next time leave them below 2^53. */
const MOST_HIGH = 2 ** 51;
/** Halves below these have sums below 2^53. */
const SAFE_HIGH = 2 ** 20;
const SAFE_LOW = 2 ** 52;

/**
 * Adds the halves of 64-bit values separately; they are combined at the end, or before they would
 * be inexact.
 */
export class IntegerSums implements Accumulator {
  readonly #aggregate: Aggregate;
  #low = new Float64Array(64);
  #high = new Float64Array(64);
  #counts = new Float64Array(64);
  /** The sums of values beyond 64 bits, and of what the halves had no room for. */
  #wide: (bigint | undefined)[] | undefined;
  #rows = 0;

  constructor(aggregate: Aggregate) {
    this.#aggregate = aggregate;
  }

  get bytes(): number {
    return this.#low.byteLength * 3 + (this.#wide?.length ?? 0) * 32;
  }

  add(given: Int32Array, size: number, [column]: readonly [Column]): void {
    this.#low = roomFor(this.#low, size);
    this.#high = roomFor(this.#high, size);
    this.#counts = roomFor(this.#counts, size);
    const groups = groupsWhere(given, validityOf(column));
    const counts = this.#counts;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group >= 0) (counts[group] as number)++;
    }
    if (column.form === 'wide') this.#addWide(groups, column.values);
    else if (column.form === 'number') this.#addNumbers(groups, column.values);
    else {
      const read = reader(column);
      const values = Array.from(groups, (_, row) => BigInt((read(row) ?? 0) as number | bigint));
      this.#addBig(groups, values);
    }
    this.#passed(groups.length);
  }

  addWhole(rows: number, columns: readonly [Column]): void {
    const [column] = columns;
    const sum = wholeSum(column, rows);
    if (sum === undefined) {
      this.add(new Int32Array(rows), 1, columns);
      return;
    }
    (this.#low[0] as number) += sum.low;
    (this.#high[0] as number) += sum.high;
    (this.#counts[0] as number) += sum.count;
    this.#passed(rows);
  }

  #passed(rows: number): void {
    this.#rows += rows;
    if (this.#rows >= CARRY_ROWS) this.#carry();
  }

  #addWide(groups: Int32Array, values: BigInt64Array | BigUint64Array | readonly bigint[]): void {
    if (!(values instanceof BigInt64Array) && !(values instanceof BigUint64Array)) {
      this.#addBig(groups, values);
      return;
    }
    const words = new Int32Array(values.buffer, values.byteOffset, groups.length * 2);
    const unsigned = values instanceof BigUint64Array;
    const low = this.#low;
    const high = this.#high;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const upper = words[2 * row + 1] as number;
      (low[group] as number) += (words[2 * row] as number) >>> 0;
      (high[group] as number) += unsigned ? upper >>> 0 : upper;
    }
  }

  #addNumbers(groups: Int32Array, values: Float64Array | Float32Array | Int32Array): void {
    const low = this.#low;
    const high = this.#high;
    if (values instanceof Int32Array) {
      for (let row = 0; row < groups.length; row++) {
        const group = groups[row] as number;
        if (group >= 0) (low[group] as number) += values[row] as number;
      }
      return;
    }
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const value = values[row] as number;
      const upper = Math.floor(value / WORD);
      (high[group] as number) += upper;
      (low[group] as number) += value - upper * WORD;
    }
  }

  #addBig(groups: Int32Array, values: readonly bigint[]): void {
    this.#wide ??= [];
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      this.#wide[group] = (this.#wide[group] ?? 0n) + (values[row] ?? 0n);
    }
  }

  #carry(): void {
    this.#rows = 0;
    const low = this.#low;
    const high = this.#high;
    for (let group = 0; group < low.length; group++) {
      const over = Math.floor((low[group] as number) / WORD);
      (high[group] as number) += over;
      (low[group] as number) -= over * WORD;
      const upper = high[group] as number;
      if (Math.abs(upper) < MOST_HIGH) continue;
      this.#wide ??= [];
      this.#wide[group] = (this.#wide[group] ?? 0n) + BigInt(upper) * BigInt(WORD);
      high[group] = 0;
    }
  }

  #sum(group: number): bigint {
    const words = BigInt(this.#high[group] as number) * BigInt(WORD);
    return words + BigInt(this.#low[group] as number) + (this.#wide?.[group] ?? 0n);
  }

  /** The sums of a range as doubles; null where these are not exact. */
  #safeSums({ from, to }: GroupRange): Float64Array | null {
    if (this.#wide !== undefined) return null;
    const sums = new Float64Array(to - from);
    const low = this.#low;
    const high = this.#high;
    for (let group = from; group < to; group++) {
      const upper = high[group] ?? 0;
      const lower = low[group] ?? 0;
      if (Math.abs(upper) >= SAFE_HIGH || Math.abs(lower) >= SAFE_LOW) return null;
      sums[group - from] = upper * WORD + lower;
    }
    return sums;
  }

  result(range: GroupRange): Column {
    const { name, type, argument } = this.#aggregate;
    const counts = this.#counts;
    const safe = this.#safeSums(range);
    if (name === 'avg') {
      const isDecimal = familyOf(argument as DataType) === 'decimal';
      const scale = isDecimal ? 10 ** (argument as Decimal).scale : 1;
      const means = new Float64Array(range.to - range.from);
      for (let at = 0; at < means.length; at++) {
        const group = range.from + at;
        const count = counts[group] ?? 0;
        if (count === 0) continue;
        means[at] =
          safe === null
            ? meanOf(this.#sum(group), scale * count)
            : (safe[at] as number) / (scale * count);
      }
      return numbersWhere(type, means, ofRange(counts, range), range);
    }
    if (safe !== null && areWithin(safe, type)) {
      return numbersWhere(type, safe, ofRange(counts, range), range);
    }
    const check = sumCheck(type, 'A sum');
    return columnFor(type, range, (group) => {
      if ((counts[group] ?? 0) === 0) return null;
      const sum = this.#sum(group);
      check(sum);
      return sum;
    });
  }
}

/** Whether a type holds all of these sums, which doubles hold exactly. */
function areWithin(sums: Float64Array, type: DataType): boolean {
  // Bounds that are rounded here are beyond all of these sums.
  const [least, most] = sumRange(type).map(Number) as [number, number];
  return sums.every((sum) => sum >= least && sum <= most);
}

/** The halves of the sum of all values, and their number; undefined for values that have no halves. */
function wholeSum(
  column: Column,
  rows: number,
): { low: number; high: number; count: number } | undefined {
  if (column.form !== 'wide' && column.form !== 'number') return undefined;
  const { values, valid } = column;
  let [low, high, count] = [0, 0, 0];
  if (values instanceof Int32Array) {
    for (let row = 0; row < rows; row++) {
      if (valid !== null && valid[row] === 0) continue;
      low += values[row] as number;
      count++;
    }
  } else if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const words = new Int32Array(values.buffer, values.byteOffset, rows * 2);
    const unsigned = values instanceof BigUint64Array;
    for (let row = 0; row < rows; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const upper = words[2 * row + 1] as number;
      low += (words[2 * row] as number) >>> 0;
      high += unsigned ? upper >>> 0 : upper;
      count++;
    }
  } else return undefined;
  return { low, high, count };
}

/** @returns a function that throws InvalidInput for a sum that the type does not hold */
export function sumCheck(type: DataType, what: string): (sum: bigint) => void {
  const [least, most] = sumRange(type);
  return (sum) => {
    if (sum >= least && sum <= most) return;
    throw new DirspaceError(
      'InvalidInput',
      `${what} is ${sum}, which ${typeText(type)} does not hold; write sum(CAST(x AS decimal(38, 0))) or sum(CAST(x AS double)).`,
    );
  };
}

function sumRange(type: DataType): readonly [bigint, bigint] {
  if (familyOf(type) === 'int') return integerRange(type);
  const most = 10n ** BigInt((type as Decimal).precision) - 1n;
  return [-most, most];
}

/** The numbers of a column as doubles, whatever their type. */
export function doublesOf(column: Column): ArrayLike<number> {
  const scale = familyOf(column.type) === 'decimal' ? 10 ** (column.type as Decimal).scale : 1;
  // Decimals are without their scale in every form.
  if (column.form === 'number' && scale === 1) return column.values;
  const safe = column.form === 'wide' ? asSafeNumbers(column) : null;
  if (safe !== null) {
    for (let row = 0; row < safe.length && scale !== 1; row++) (safe[row] as number) /= scale;
    return safe;
  }
  const read = reader(column);
  return Float64Array.from({ length: column.length }, (_, row) => Number(read(row) ?? 0) / scale);
}

export class FloatSums implements Accumulator {
  readonly #aggregate: Aggregate;
  #sums = new Float64Array(64);
  #counts = new Float64Array(64);

  constructor(aggregate: Aggregate) {
    this.#aggregate = aggregate;
  }

  get bytes(): number {
    return this.#sums.byteLength * 2;
  }

  add(given: Int32Array, size: number, [column]: readonly [Column]): void {
    this.#sums = roomFor(this.#sums, size);
    this.#counts = roomFor(this.#counts, size);
    const sums = this.#sums;
    const counts = this.#counts;
    const groups = groupsWhere(given, validityOf(column));
    const values = doublesOf(column);
    if (values instanceof Float64Array) addDoubles(groups, values, sums, counts);
    else {
      for (let row = 0; row < groups.length; row++) {
        const group = groups[row] as number;
        if (group < 0) continue;
        (sums[group] as number) += values[row] as number;
        (counts[group] as number)++;
      }
    }
  }

  addWhole(rows: number, [column]: readonly [Column]): void {
    const valid = validityOf(column);
    const values = doublesOf(column);
    let sum = this.#sums[0] as number;
    let count = this.#counts[0] as number;
    for (let row = 0; row < rows; row++) {
      if (valid !== null && valid[row] === 0) continue;
      sum += values[row] as number;
      count++;
    }
    this.#sums[0] = sum;
    this.#counts[0] = count;
  }

  result(range: GroupRange): Column {
    const { name, type } = this.#aggregate;
    const sums = ofRange(this.#sums, range);
    const counts = ofRange(this.#counts, range);
    if (name === 'sum') return numbersWhere(type, sums, counts, range);
    const means = sums.map((sum, at) => sum / (counts[at] ?? 0));
    return numbersWhere(type, means, counts, range);
  }
}

function addDoubles(
  groups: Int32Array,
  values: Float64Array,
  sums: Float64Array,
  counts: Float64Array,
): void {
  for (let row = 0; row < groups.length; row++) {
    const group = groups[row] as number;
    if (group < 0) continue;
    (sums[group] as number) += values[row] as number;
    (counts[group] as number)++;
  }
}

export class Deviations implements Accumulator {
  readonly #aggregate: Aggregate;
  #means = new Float64Array(64);
  #squares = new Float64Array(64);
  #counts = new Float64Array(64);

  constructor(aggregate: Aggregate) {
    this.#aggregate = aggregate;
  }

  get bytes(): number {
    return this.#means.byteLength * 3;
  }

  add(given: Int32Array, size: number, [column]: readonly [Column]): void {
    this.#means = roomFor(this.#means, size);
    this.#squares = roomFor(this.#squares, size);
    this.#counts = roomFor(this.#counts, size);
    const groups = groupsWhere(given, validityOf(column));
    const values = doublesOf(column);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const value = values[row] as number;
      const count = (this.#counts[group] as number) + 1;
      const before = this.#means[group] as number;
      const mean = before + (value - before) / count;
      this.#counts[group] = count;
      this.#means[group] = mean;
      (this.#squares[group] as number) += (value - before) * (value - mean);
    }
  }

  result(range: GroupRange): Column {
    const { name, type } = this.#aggregate;
    const less = name.endsWith('samp') ? 1 : 0;
    const isRoot = name.startsWith('stddev');
    const enough = ofRange(this.#counts, range).map((count) => count - less);
    const values = ofRange(this.#squares, range).map((squares, at) => {
      const count = enough[at] ?? 0;
      const variance = count > 0 ? squares / count : 0;
      return isRoot ? Math.sqrt(variance) : variance;
    });
    return numbersWhere(type, values, enough, range);
  }
}
