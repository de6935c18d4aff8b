/**
 * Defines `Accumulator`, the state of one aggregate over all groups of a statement, and
 * `Aggregate`, the description from which accumulators.ts creates one. The caller drains `reserve`,
 * where there is one, before each `add`, and asks for results after the last row. `resultOf`
 * computes the results of a range of groups in steps. The other functions are helpers for the
 * implementations: they enlarge arrays (`roomFor`) and take parts of them (`ofRange`), leave out
 * rows without a value (`groupsWhere`), and make columns of results (`numbersWhere`, `columnFor`, `listsOf`).
 */
import { bitmapBytes, type Data, type DataType, makeData, setBit } from '../../arrow/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import { type Column, columnOf, type Validity, type Value } from '../../sql/index.ts';

export interface Accumulator {
  /** Bytes of the state. */
  readonly bytes: number;
  /**
   * Takes the rows of a batch. @param groups of each row; -1 where it does not count
   * @param size how many groups there are now
   */
  add(groups: Int32Array, size: number, columns: readonly Column[]): void;
  /** Makes room for the rows of a batch, in steps, before they are added. */
  reserve?(rows: number): Generator<void, void>;
  /** Takes a batch all rows of which are of group 0, where that is faster than `add`. */
  addWhole?(rows: number, columns: readonly Column[]): void;
  /**
   * The values of the groups of a range, in steps where that takes long; once all rows were added.
   */
  result(groups: GroupRange): Column | Generator<void, Column | Data>;
}

/** The result of an accumulator, as steps. */
export function* resultOf(state: Accumulator, groups: GroupRange): Generator<void, Column | Data> {
  const result = state.result(groups);
  return 'form' in result ? result : yield* result;
}

export interface GroupRange {
  readonly from: number;
  readonly to: number;
}

/** What is asked of the values of a group in order. */
export interface Quantile {
  /** From 0 to 1, as they are written. */
  readonly shares: readonly string[];
  /** Whether the result is a list of a value for each share. */
  readonly isList: boolean;
  /** Whether the greatest value is at 0. */
  readonly descending: boolean;
}

/** An aggregate to compute. */
export interface Aggregate {
  /** A name that `aggregateName` gives. */
  readonly name: string;
  /** The type of its result. */
  readonly type: DataType;
  /** The type of its first argument; undefined for `count(*)`. */
  readonly argument: DataType | undefined;
  readonly separator: string;
  readonly quantile?: Quantile;
  /** Directions of the keys whose columns follow the arguments. */
  readonly order: readonly Direction[];
  /** That values are computed and collected in. */
  readonly memory: RequestMemory;
}

export interface Direction {
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

/** Bytes that a value takes which is kept, beside those of its text. */
export const VALUE_BYTES = 48;

/** An array with room for `size` entries; those that are new are 0. */
export function roomFor(array: Float64Array<ArrayBuffer>, size: number): Float64Array<ArrayBuffer> {
  if (size <= array.length) return array;
  const larger = new Float64Array(Math.max(size, array.length * 2));
  larger.set(array);
  return larger;
}

/** What an array of all groups has for those of a range; groups beyond its end have none. */
export const ofRange = (array: Float64Array, { from, to }: GroupRange): Float64Array =>
  array.subarray(from, to);

/** A column of numbers, null where no row was counted. Both arrays begin with the first of the groups. */
export function numbersWhere(
  type: DataType,
  values: Float64Array,
  counts: Float64Array,
  { from, to }: GroupRange,
): Column {
  const length = to - from;
  const numbers = new Float64Array(length);
  const valid = new Uint8Array(length);
  for (let at = 0; at < length; at++) {
    numbers[at] = values[at] ?? 0;
    valid[at] = (counts[at] ?? 0) > 0 ? 1 : 0;
  }
  return { form: 'number', type, length, values: numbers, valid };
}

/** A column of one value for each group. */
export const columnFor = (
  type: DataType,
  { from, to }: GroupRange,
  valueAt: (group: number) => Value,
): Column =>
  columnOf(
    type,
    Array.from({ length: to - from }, (_, at) => valueAt(from + at)),
  );

/** A list for each group of the values up to its end; null for those without any. */
export function listsOf(values: Data, ends: Int32Array, type: DataType): Data {
  const valid = new Uint8Array(bitmapBytes(ends.length));
  const offsets = new Int32Array(ends.length + 1);
  offsets.set(ends, 1);
  let nullCount = 0;
  for (let at = 0; at < ends.length; at++) {
    if (offsets[at] === offsets[at + 1]) nullCount++;
    else setBit(valid, at);
  }
  return makeData({
    ...{ type, length: ends.length, nullCount, nullBitmap: valid, valueOffsets: offsets },
    child: values,
  } as never);
}

/** Groups of the rows that have a value: -1 for others. */
export function groupsWhere(groups: Int32Array, valid: Validity): Int32Array {
  if (valid === null) return groups;
  const given = new Int32Array(groups.length);
  for (let row = 0; row < groups.length; row++) {
    given[row] = valid[row] === 0 ? -1 : (groups[row] as number);
  }
  return given;
}
