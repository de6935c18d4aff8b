/**
 * Classifies Arrow types for expressions. Each type belongs to a family, such as int or text
 * (`familyOf`), by which the binder decides what an operator accepts. Other functions return the
 * name of a type for messages (`typeText`), or parts of it: the range (`integerRange`), scale
 * (`decimalScale`), unit (`timeUnitOf`), time zone (`timeZoneOf`), or the type of a list's items
 * (`elementType`). `roundToFloat` rounds a number to a float type; `isWide` tells whether the
 * values of a type are bigints. `clockZoneOf` throws InvalidInput for a time zone that the runtime
 * does not know.
 */
import {
  Binary,
  DataType,
  DateUnit,
  type Decimal,
  describeType,
  Field,
  Float64,
  Int64,
  List,
  Precision,
  plainType,
  type Timestamp,
  TimeUnit,
  Uint64,
  Utf8,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { isKnownZone, nearestHalf, TIME_UNITS, ZONE_FORMS } from '../../values/index.ts';

export type Family =
  | 'null'
  | 'bool'
  | 'int'
  | 'float'
  | 'decimal'
  | 'text'
  | 'bytes'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'duration'
  | 'interval'
  | 'list'
  | 'struct'
  | 'other';

/** The family of `type`; a dictionary belongs to the family of its values. */
export function familyOf(type: DataType): Family {
  if (DataType.isDictionary(type)) return familyOf(type.dictionary);
  if (DataType.isNull(type)) return 'null';
  if (DataType.isBool(type)) return 'bool';
  if (DataType.isInt(type)) return 'int';
  if (DataType.isFloat(type)) return 'float';
  if (DataType.isDecimal(type)) return 'decimal';
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type))
    return 'text';
  if (
    DataType.isBinary(type) ||
    DataType.isLargeBinary(type) ||
    DataType.isBinaryView(type) ||
    DataType.isFixedSizeBinary(type)
  ) {
    return 'bytes';
  }
  if (DataType.isDate(type)) return 'date';
  if (DataType.isTime(type)) return 'time';
  if (DataType.isTimestamp(type)) return 'timestamp';
  if (DataType.isDuration(type)) return 'duration';
  if (DataType.isInterval(type)) return 'interval';
  if (DataType.isList(type) || DataType.isLargeList(type) || DataType.isFixedSizeList(type)) {
    return 'list';
  }
  if (DataType.isStruct(type)) return 'struct';
  return 'other';
}

export function isNumeric(family: Family): boolean {
  return family === 'int' || family === 'float' || family === 'decimal';
}

/** Whether values of a family come one before the other; others are equal or not. */
export function isOrdered(family: Family): boolean {
  return !['list', 'struct', 'interval', 'other'].includes(family);
}

/** True where values are held as bigint: 64-bit integers and what is counted in them. */
export function isWide(type: DataType): boolean {
  const plain = plainType(type);
  switch (familyOf(plain)) {
    case 'int':
      return (plain as Int64).bitWidth === 64;
    case 'date':
      return (plain as { unit?: DateUnit }).unit === DateUnit.MILLISECOND;
    case 'time':
      return timeUnitOf(plain) >= TimeUnit.MICROSECOND;
    case 'timestamp':
    case 'duration':
    case 'decimal':
      return true;
    default:
      return false;
  }
}

/** The unit of a time, timestamp or duration. */
export function timeUnitOf(type: DataType): TimeUnit {
  return (plainType(type) as Timestamp).unit;
}

export function timeZoneOf(type: DataType): string | null {
  const plain = plainType(type);
  if (!DataType.isTimestamp(plain)) return null;
  return plain.timezone === undefined || plain.timezone === '' ? null : plain.timezone;
}

/**
 * The zone whose clocks are to be read, null where the type has none. Throws InvalidInput for a zone
 * that this runtime does not know; such a column is stored and read as any other.
 */
export function clockZoneOf(type: DataType): string | null {
  const zone = timeZoneOf(type);
  if (zone === null || isKnownZone(zone)) return zone;
  throw new DirspaceError(
    'InvalidInput',
    `The clocks of type ${typeText(type)} cannot be read, because the time zone "${zone}" is not known. Known are ${ZONE_FORMS}. Compare with text that has an offset, or alter the type.`,
  );
}

/** Least and greatest value of an integer type. */
export function integerRange(type: DataType): readonly [bigint, bigint] {
  const { bitWidth, isSigned } = type as Int64;
  return (isSigned ? SIGNED_RANGES : UNSIGNED_RANGES)[bitWidth] as IntegerRange;
}

type IntegerRange = readonly [bigint, bigint];

const WIDTHS = [8, 16, 32, 64];
const SIGNED_RANGES: Readonly<Record<number, IntegerRange>> = Object.fromEntries(
  WIDTHS.map((bits) => [bits, [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]]),
);
const UNSIGNED_RANGES: Readonly<Record<number, IntegerRange>> = Object.fromEntries(
  WIDTHS.map((bits) => [bits, [0n, 2n ** BigInt(bits) - 1n]]),
);

export function decimalScale(type: DataType): number {
  return (plainType(type) as Decimal).scale;
}

/** Nearest value of a float type. */
export function roundToFloat(type: DataType, value: number): number {
  const { precision } = type as Float64;
  if (precision === Precision.DOUBLE) return value;
  return precision === Precision.SINGLE ? Math.fround(value) : nearestHalf(value);
}

/**
 * `int64`, `timestamp(us, UTC)`, `list<utf8>`: for messages and plans. Types that expressions treat
 * alike have one name: a dictionary that of its values, all widths of text, bytes, times and decimals
 * one each.
 */
export function typeText(type: DataType): string {
  const plain = plainType(type);
  const family = familyOf(plain);
  switch (family) {
    case 'bool':
      return 'boolean';
    case 'text':
      return 'utf8';
    case 'bytes':
      return 'binary';
    case 'decimal':
      return `decimal(${(plain as Decimal).precision}, ${(plain as Decimal).scale})`;
    case 'time':
      return `time(${TIME_UNITS[timeUnitOf(plain)]})`;
    case 'list':
      return `list<${typeText(elementType(plain))}>`;
    case 'struct': {
      const members = plain.children as readonly Field[];
      return `struct<${members.map(({ name, type }) => `${name}: ${typeText(type)}`).join(', ')}>`;
    }
    case 'interval':
      return family;
    default:
      return describeType(plain);
  }
}

/** What a list holds. */
export function elementType(type: DataType): DataType {
  return (type.children?.[0]?.type ?? type) as DataType;
}

export function listOf(type: DataType): DataType {
  return new List(new Field('item', type, true));
}

export const UTF8 = new Utf8();
export const BINARY = new Binary();
export const INT64 = new Int64();
export const UINT64 = new Uint64();
export const FLOAT64 = new Float64();
