/**
 * Computes date functions over whole columns of dates, or of timestamps without a time zone:
 * `fieldOfColumn` extracts fields, `numberedColumn` numbers units such as months, `truncatedColumn`
 * truncates, `bucketedColumn` finds starts of buckets, and `movedColumn` adds intervals. Results of
 * up to 4,096 days are kept, because many rows fall on the same day. For other columns, and for
 * values or results that a double does not hold exactly, they return null; the callers then compute
 * value by value. `movedColumn` leaves the range of dates to its caller.
 */
import type { DataType } from '../../arrow/index.ts';
import {
  type Column,
  dayOf,
  isWide,
  type NumberColumn,
  type Times,
  timesOf,
} from '../typed/index.ts';

const SLOTS = 4_096;

/** Remembers what the last few thousand days gave. */
class DayMemory {
  /** The day of each slot. */
  readonly days: Int32Array = new Int32Array(SLOTS);
  readonly values = new Float64Array(SLOTS);
  readonly #compute: (day: number) => number;

  constructor(compute: (day: number) => number) {
    this.#compute = compute;
    // Day 0 is of slot 0 alone: a zero in another slot says that nothing is known, and here a one does.
    this.days[0] = 1;
  }

  get(day: number): number {
    const slot = day & (SLOTS - 1);
    if (this.days[slot] === day) return this.values[slot] as number;
    const value = this.#compute(day);
    // A day beyond 32 bits would be taken for another one.
    if ((day | 0) === day) {
      this.days[slot] = day;
      this.values[slot] = value;
    }
    return value;
  }
}

const memories = new WeakMap<(day: number) => number, DayMemory>();

/** Slices of a column are computed by the same function one after the other. */
function memoryOf(compute: (day: number) => number): DayMemory {
  let memory = memories.get(compute);
  if (memory === undefined) {
    memory = new DayMemory(compute);
    memories.set(compute, memory);
  }
  return memory;
}

const numbers = (type: DataType, { column }: Times, values: Float64Array): NumberColumn => ({
  form: 'number',
  type,
  length: values.length,
  values,
  valid: column.valid,
});

/** Computes a field, either from the day or from the nanoseconds since midnight. */
export interface FieldOf {
  readonly day?: (day: number) => number;
  readonly clock?: (nanos: number) => number;
}

/** @param of the field @param from the type of the column @param to that of the field */
export function fieldOfColumn(
  column: Column | undefined,
  of: FieldOf,
  from: DataType,
  to: DataType,
): Column | null {
  const times = timesOf(column, from);
  if (times === null) return null;
  const { values, perDay, perUnit } = times;
  const out = new Float64Array(values.length);
  if (of.day !== undefined) {
    const known = memoryOf(of.day);
    for (let i = 0; i < out.length; i++) out[i] = known.get(dayOf(values[i] as number, perDay));
  } else if (of.clock !== undefined) {
    const { clock } = of;
    for (let i = 0; i < out.length; i++) {
      const value = values[i] as number;
      out[i] = clock((value - dayOf(value, perDay) * perDay) * perUnit);
    }
  } else return null;
  return numbers(to, times, out);
}

/** The number of a unit, of the day or of so many nanoseconds, that each time is in. */
export function numberedColumn(
  column: Column | undefined,
  unit: ((day: number) => number) | number,
  from: DataType,
  to: DataType,
): Column | null {
  if (typeof unit === 'function') return fieldOfColumn(column, { day: unit }, from, to);
  const times = timesOf(column, from);
  if (times === null || unit < times.perUnit) return null;
  const step = unit / times.perUnit;
  const { values } = times;
  const out = new Float64Array(values.length);
  for (let i = 0; i < out.length; i++) out[i] = dayOf(values[i] as number, step);
  return numbers(to, times, out);
}

/** Cut to so many nanoseconds of the clock, or to the first day that `firstDay` tells. */
export function truncatedColumn(
  column: Column | undefined,
  type: DataType,
  clock: number | undefined,
  firstDay: (day: number) => number,
): Column | null {
  const times = timesOf(column, type);
  if (times === null) return null;
  const { values, perDay, perUnit } = times;
  const out = new Float64Array(values.length);
  if (clock === undefined) {
    const first = memoryOf(firstDay);
    for (let i = 0; i < out.length; i++)
      out[i] = first.get(dayOf(values[i] as number, perDay)) * perDay;
  } else if (clock <= perUnit || perDay === 1) out.set(values);
  else {
    const step = clock / perUnit;
    for (let i = 0; i < out.length; i++) out[i] = dayOf(values[i] as number, step) * step;
  }
  // A day before those of 32 bits is refused where values are computed one by one.
  if (!isSafe(out) || (perDay === 1 && out.some((day) => day < -(2 ** 31)))) return null;
  return numbers(type, times, out);
}

/** The starts of buckets of `width` units of the type, one of which begins at `origin`. */
export function bucketedColumn(
  column: Column | undefined,
  type: DataType,
  width: bigint,
  origin: bigint,
): Column | null {
  const times = timesOf(column, type);
  // Twice the width has to be exact as well.
  if (times === null || width > WIDEST_BUCKET) return null;
  const { values } = times;
  const step = Number(width);
  const first = Number(((origin % width) + width) % width);
  const out = new Float64Array(values.length);
  for (let i = 0; i < out.length; i++) {
    const value = values[i] as number;
    const past = ((value % step) - first + 2 * step) % step;
    out[i] = value - past;
  }
  if (!isSafe(out) || (!isWide(type) && out.some((day) => day < -(2 ** 31)))) return null;
  return numbers(type, times, out);
}

const WIDEST_BUCKET = 1n << 50n;

/** Moved by `movedDay` for months (null for none), then by `days` and `nanos`. */
export function movedColumn(
  column: Column | undefined,
  type: DataType,
  movedDay: ((day: number) => number) | null,
  days: number,
  nanos: number,
): Column | null {
  const times = timesOf(column, type);
  if (times === null || !Number.isSafeInteger(nanos)) return null;
  const { values, perDay, perUnit } = times;
  const by = days * perDay + Math.floor(nanos / perUnit);
  if (!Number.isSafeInteger(by)) return null;
  const out = new Float64Array(values.length);
  if (movedDay === null) for (let i = 0; i < out.length; i++) out[i] = (values[i] as number) + by;
  else {
    const moved = memoryOf(movedDay);
    for (let i = 0; i < out.length; i++) {
      const value = values[i] as number;
      const day = dayOf(value, perDay);
      out[i] = moved.get(day) * perDay + (value - day * perDay);
    }
    // Days may lead back from where months led beyond 2^53.
    if (!isSafe(out)) return null;
    for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) + by;
  }
  return isSafe(out) ? numbers(type, times, out) : null;
}

/** Whether each is a whole number that a double holds exactly. */
function isSafe(values: Float64Array): boolean {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i] as number));
  return most <= Number.MAX_SAFE_INTEGER;
}
