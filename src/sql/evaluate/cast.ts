/**
 * `castColumn` converts a column to another type. An explicit cast of a number drops the fraction
 * for an integer type and rounds for a decimal or float type; one of a time cuts it to a coarser
 * unit. An implicit cast must keep the value. A value that does not fit throws InvalidInput, or
 * becomes null in TRY_CAST; an item of a list does the same. A text of a fraction does not fit an
 * integer type. Texts and lists are counted as memory of the request before they are made.
 * `canCast` tells whether values of one family of types can be cast to another family; callers ask
 * it first.
 */

import { type DataType, type FixedSizeList, plainType, Type } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import {
  floorDivide,
  fromWallClock,
  type IntervalValue,
  NANOS_OF_DAY,
  NANOS_PER_DAY,
  toWallClock,
} from '../../values/index.ts';
import { shorten } from '../parse/index.ts';
import { integerTexts, TimeTexts } from '../texts/index.ts';
import {
  asSafeNumbers,
  type CastMode,
  type Column,
  clockZoneOf,
  columnOf,
  elementType,
  type Family,
  familyOf,
  isNumeric,
  isWide,
  nanosPerUnit,
  reader,
  roundToFloat,
  sameForm,
  timeZoneOf,
  typeText,
  type Value,
} from '../typed/index.ts';
import { exactOfValue, fromExact, inWidth } from './cast-exact.ts';
import { castNumbers } from './cast-numbers.ts';
import { fromText, misfitOf, textOf } from './cast-text.ts';

const INTO: Readonly<Partial<Record<Family, readonly Family[]>>> = {
  bool: ['bool', 'int', 'float', 'text'],
  int: ['bool', 'int', 'float', 'decimal', 'text', 'date', 'time', 'timestamp', 'duration'],
  float: ['bool', 'int', 'float', 'decimal', 'text'],
  decimal: ['int', 'float', 'decimal', 'text'],
  text: [
    'bool',
    'int',
    'float',
    'decimal',
    'text',
    'bytes',
    'date',
    'time',
    'timestamp',
    'interval',
    'duration',
  ],
  bytes: ['bytes', 'text'],
  date: ['date', 'timestamp', 'text', 'int'],
  time: ['time', 'text', 'int'],
  timestamp: ['timestamp', 'date', 'time', 'text', 'int'],
  duration: ['duration', 'text', 'int', 'interval'],
  interval: ['interval', 'text'],
  list: ['list'],
};

export function canCast(from: Family, to: Family): boolean {
  return INTO[from]?.includes(to) ?? false;
}

/** Bytes of a value that is text, a list or bytes, beside what it was made from. */
const VALUE_BYTES = 96;

/** Throws InvalidInput for a value that does not fit, naming both; null instead where lenient. */
export function castColumn(
  column: Column,
  to: DataType,
  mode: CastMode,
  memory: BatchMemory,
): Column {
  const from = plainType(column.type);
  const [f, g] = [familyOf(from), familyOf(to)];
  const isSized = fixedSize(to) === undefined || fixedSize(to) === fixedSize(from);
  if (isSized && sameForm(from, to)) return { ...column, type: to };
  if (g === 'float' && typeText(to) === 'float64' && (f === 'int' || f === 'float')) {
    if (column.form === 'number') return { ...column, type: to };
    const safe = column.form === 'wide' ? asSafeNumbers(column) : null;
    if (safe !== null && column.form === 'wide') {
      return { form: 'number', type: to, length: column.length, values: safe, valid: column.valid };
    }
  }
  if (f === 'int' && typeText(to) === 'int64' && column.form === 'number')
    return { ...column, type: to };
  const quick = castNumbers(column, to, mode) ?? asTexts(column, to, memory);
  if (quick !== null) return quick;
  const read = reader(column);
  const convert = converter(from, to, mode);
  if (g === 'text' || g === 'bytes' || g === 'list') memory.take(VALUE_BYTES * column.length);
  const values: Value[] = new Array(column.length);
  for (let i = 0; i < values.length; i++) {
    const value = read(i);
    let result: Value = null;
    if (value !== null) {
      if (value instanceof Uint8Array || typeof value === 'string') memory.text(value.length);
      else if (Array.isArray(value)) memory.take(VALUE_BYTES * value.length);
      result = fitting(convert, value, from, to, mode);
    }
    values[i] = result;
  }
  return columnOf(to, values);
}

/** Integers and dates; null for other columns, and where doubles do not hold all of the integers. */
function asTexts(column: Column, to: DataType, memory: BatchMemory): Column | null {
  if (familyOf(to) !== 'text') return null;
  if (familyOf(column.type) === 'date') {
    return dateTexts(plainType(column.type)).column(column, to, () => memory.text(DATE_UNITS));
  }
  if (familyOf(column.type) !== 'int') return null;
  if (column.form !== 'number' && column.form !== 'wide') return null;
  const values = column.form === 'number' ? column.values : asSafeNumbers(column);
  return values === null ? null : integerTexts(values, column.valid, to, memory);
}

/** What the longest text of a date has. */
const DATE_UNITS = 16;

/** Each type of dates has its texts of some thousand days. */
const textsOfDates = new Map<string, TimeTexts>();

function dateTexts(type: DataType): TimeTexts {
  const key = typeText(type);
  let texts = textsOfDates.get(key);
  if (texts === undefined) {
    const valueAt = (time: number): Value => (isWide(type) ? BigInt(time) : time);
    texts = new TimeTexts(type, NANOS_OF_DAY, false, (time) => textOf(valueAt(time), type) ?? '');
    textsOfDates.set(key, texts);
  }
  return texts;
}

/** The items of a list of fixed size, undefined for other types. */
const fixedSize = (type: DataType): number | undefined =>
  type.typeId === Type.FixedSizeList ? (type as FixedSizeList).listSize : undefined;

/** A function from canonical value to canonical value; undefined is "does not fit". */
type Converter = (value: Value) => Value | undefined;

/** The value converted; null where it does not fit and the cast is lenient, else it is refused. */
function fitting(
  convert: Converter,
  value: Value,
  from: DataType,
  to: DataType,
  mode: CastMode,
  place = '',
): Value {
  const result = convert(value);
  if (result !== undefined) return result;
  if (mode === 'lenient') return null;
  const shown =
    typeof value === 'string'
      ? `'${shorten(value)}'`
      : value instanceof Uint8Array
        ? `X'${shorten(hexOf(value))}'`
        : shorten(textOf(value, from) ?? '');
  const forms = typeof value === 'string' ? misfitOf(value, to) : '';
  const hint =
    mode === 'lossless' ? '; a CAST says that loss is meant' : '; TRY_CAST gives NULL instead';
  throw new DirspaceError(
    'InvalidInput',
    `${shown}${place} does not fit ${typeText(to)}${forms}${place === '' ? hint : ''}`,
  );
}

/** As a literal of SQL has it; of long values the beginning. */
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 64)).toString('hex');

function converter(from: DataType, to: DataType, mode: CastMode): Converter {
  const [f, g] = [familyOf(from), familyOf(to)];
  if (g === 'text') return (value) => textOf(value, from);
  if (f === 'text') return (value) => fromText(value as string, to);
  if (g === 'bytes') return (value) => value;
  if (g === 'bool') return (value) => value !== 0 && value !== 0n;
  if (f === 'bool')
    return (value) => fromExact({ unscaled: value === true ? 1n : 0n, scale: 0 }, to, mode);
  if (f === 'list') {
    const [own, other] = [plainType(elementType(from)), plainType(elementType(to))];
    const item = converter(own, other, mode);
    const size = fixedSize(to);
    return (value) => {
      const entries = value as Value[];
      if (size !== undefined && entries.length !== size) return undefined;
      return entries.map((entry, at) =>
        entry === null
          ? null
          : fitting(item, entry, own, other, mode, ` (item ${at + 1} of a list)`),
      );
    };
  }
  if (f === 'duration' && g === 'interval') {
    const unit = nanosPerUnit(from);
    return (value): IntervalValue => ({ months: 0, days: 0, nanos: (value as bigint) * unit });
  }
  if (isNumeric(f) && isNumeric(g)) {
    return (value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        return g === 'float' ? value : undefined;
      }
      if (f === 'float' && g === 'float') {
        const rounded = roundToFloat(to, value as number);
        return mode === 'lossless' && rounded !== value ? undefined : rounded;
      }
      const exact = exactOfValue(value, from);
      return exact === null ? undefined : fromExact(exact, to, mode);
    };
  }
  if (isNumeric(f)) return (value) => inWidth(BigInt(value as number | bigint), to);
  if (isNumeric(g)) return (value) => inWidth(BigInt(value as number | bigint), to);
  return temporalConverter(from, to, mode);
}

function temporalConverter(from: DataType, to: DataType, mode: CastMode): Converter {
  const [unit, target] = [nanosPerUnit(from), nanosPerUnit(to)];
  const [f, g] = [familyOf(from), familyOf(to)];
  // A time without zone is what clocks show in the zone it goes to, and the other way round.
  const read = g !== 'timestamp' || timeZoneOf(to) === null ? clockZoneOf(from) : null;
  const set = timeZoneOf(from) === null ? clockZoneOf(to) : null;
  return (value) => {
    let nanos = BigInt(value as number | bigint) * unit;
    if (read !== null) nanos = toWallClock(nanos, read);
    if (set !== null) nanos = fromWallClock(nanos, set);
    if (f === 'timestamp' && g === 'time')
      nanos -= floorDivide(nanos, NANOS_PER_DAY) * NANOS_PER_DAY;
    if (mode === 'lossless' && nanos % target !== 0n) return undefined;
    return inWidth(floorDivide(nanos, target), to);
  };
}
