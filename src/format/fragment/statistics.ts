/**
 * Defines `ColumnStatistics`, the counts and bounds of a column by which scans prune, and the kind
 * of bounds that a type has (`statisticKind`). `encodeStatistics` and `decodeStatistics` convert
 * them to and from JSON; decoding throws Corrupt. `mergeStatistics` combines those of two sets of
 * rows, and `compareValues` orders two bounds. column-statistics.ts computes statistics.
 */
import {
  type DataType,
  type Date_,
  DateUnit,
  type Dictionary,
  type Int,
  type Time,
  Type,
} from '../../arrow/index.ts';
import { corrupt } from '../../json.ts';
import { compareText } from '../../values/index.ts';

/**
 * A bound. Booleans are booleans; floats and integers to 32 bits, dates in days and times to 32
 * bits are numbers; wider integers, decimals (unscaled), timestamps, durations, times and dates in
 * milliseconds are bigints, all in the unit of their type; text is a string.
 */
export type StatisticValue = boolean | number | bigint | string;

export interface ColumnStatistics {
  readonly rows: number;
  /** Rows that read as null; in a dictionary column also those that point at a null. */
  readonly nulls: number;
  /** Rows that are NaN. Bounds leave them out. */
  readonly nans: number;
  /** Lowest value, or something not above it. Absent when unknown or when there is no value. */
  readonly min?: StatisticValue;
  readonly max?: StatisticValue;
  /** False where a bound is not itself a value of the column, as with shortened text. */
  readonly minExact: boolean;
  readonly maxExact: boolean;
}

/** The kind of bounds a type has. Text is ordered by its UTF-8 bytes, use compareValues. */
export type StatisticKind = 'boolean' | 'integer' | 'float' | 'bigint' | 'text' | 'none';

export function statisticKind(type: DataType): StatisticKind {
  switch (type.typeId) {
    case Type.Bool:
      return 'boolean';
    case Type.Int:
      return (type as Int).bitWidth === 64 ? 'bigint' : 'integer';
    case Type.Float:
      return 'float';
    case Type.Decimal:
    case Type.Timestamp:
    case Type.Duration:
      return 'bigint';
    case Type.Date:
      return (type as Date_).unit === DateUnit.DAY ? 'integer' : 'bigint';
    case Type.Time:
      return (type as Time).bitWidth === 64 ? 'bigint' : 'integer';
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return 'text';
    case Type.Dictionary: {
      const kind = statisticKind((type as Dictionary).dictionary);
      return kind === 'text' ? 'text' : 'none';
    }
    default:
      return 'none';
  }
}

/** Orders two bounds of one kind; text by UTF-8 bytes, which JavaScript's `<` does not. */
export function compareValues(a: StatisticValue, b: StatisticValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

export const emptyStatistics: ColumnStatistics = {
  rows: 0,
  nulls: 0,
  nans: 0,
  minExact: true,
  maxExact: true,
};

/** Rows with a comparable value. */
const comparable = (statistics: ColumnStatistics): number =>
  statistics.rows - statistics.nulls - statistics.nans;

/** What holds of the rows of both. */
export function mergeStatistics(a: ColumnStatistics, b: ColumnStatistics): ColumnStatistics {
  const min = lower(a, b);
  const max = upper(a, b);
  return {
    rows: a.rows + b.rows,
    nulls: a.nulls + b.nulls,
    nans: a.nans + b.nans,
    ...(min?.min === undefined ? {} : { min: min.min }),
    ...(max?.max === undefined ? {} : { max: max.max }),
    minExact: min?.minExact ?? true,
    maxExact: max?.maxExact ?? true,
  };
}

function lower(a: ColumnStatistics, b: ColumnStatistics): ColumnStatistics | undefined {
  if (comparable(a) === 0) return b;
  if (comparable(b) === 0) return a;
  if (a.min === undefined || b.min === undefined) return undefined;
  const order = compareValues(a.min, b.min);
  return order < 0 || (order === 0 && a.minExact) ? a : b;
}

function upper(a: ColumnStatistics, b: ColumnStatistics): ColumnStatistics | undefined {
  if (comparable(a) === 0) return b;
  if (comparable(b) === 0) return a;
  if (a.max === undefined || b.max === undefined) return undefined;
  const order = compareValues(a.max, b.max);
  return order > 0 || (order === 0 && a.maxExact) ? a : b;
}

/**
 * The JSON form, shortest that says it all: [rows, nulls], [rows, nulls, nans] or
 * [rows, nulls, nans, min, max, inexact], `inexact` 1 for min, 2 for max, 3 for both.
 */
export function encodeStatistics(statistics: ColumnStatistics): readonly unknown[] {
  const { rows, nulls, nans, min, max } = statistics;
  if (min === undefined && max === undefined)
    return nans === 0 ? [rows, nulls] : [rows, nulls, nans];
  const inexact = (statistics.minExact ? 0 : 1) + (statistics.maxExact ? 0 : 2);
  return [
    rows,
    nulls,
    nans,
    encodeValue(min),
    encodeValue(max),
    ...(inexact === 0 ? [] : [inexact]),
  ];
}

function encodeValue(value: StatisticValue | undefined): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return value ?? null;
}

/** The inverse for a column of `type`. @throws Corrupt naming `file` */
export function decodeStatistics(value: unknown, type: DataType, file: string): ColumnStatistics {
  const bad = (what: string) =>
    corrupt(file, `statistics of a column of type ${String(type)}: ${what}`);
  if (!Array.isArray(value) || value.length < 2 || value.length > 6) throw bad('no such list');
  const [rows, nulls, nans = 0, low = null, high = null, inexact = 0] = value as unknown[];
  if (!isCount(rows) || !isCount(nulls) || !isCount(nans) || nulls + nans > rows) {
    throw bad('the counts make no sense');
  }
  if (inexact !== 0 && inexact !== 1 && inexact !== 2 && inexact !== 3) throw bad('unknown flags');
  const kind = statisticKind(type);
  const min = decodeValue(low, kind);
  const max = decodeValue(high, kind);
  if (min === null || max === null) throw bad('a bound is not of that type');
  if (min !== undefined && max !== undefined && compareValues(min, max) > 0) {
    throw bad('min is above max');
  }
  return {
    rows,
    nulls,
    nans,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    minExact: (inexact & 1) === 0,
    maxExact: (inexact & 2) === 0,
  };
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

const DECIMAL_DIGITS = /^-?(?:0|[1-9][0-9]{0,79})$/;

/** Undefined for an absent bound, null for one of a wrong form. */
function decodeValue(value: unknown, kind: StatisticKind): StatisticValue | undefined | null {
  if (value === null) return undefined;
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'integer':
      return Number.isSafeInteger(value) ? (value as number) : null;
    case 'float':
      if (value === 'inf') return Number.POSITIVE_INFINITY;
      if (value === '-inf') return Number.NEGATIVE_INFINITY;
      return typeof value === 'number' && Number.isFinite(value) ? value : null;
    case 'bigint':
      return typeof value === 'string' && DECIMAL_DIGITS.test(value) ? BigInt(value) : null;
    case 'text':
      return typeof value === 'string' ? value : null;
    case 'none':
      return null;
  }
}
