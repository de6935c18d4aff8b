/**
 * `typeName`: formats an Arrow type as its name in the protocol's JSON, such as
 * `timestamp:us:UTC`. Also checks the width, digits and unit of decimal and time types
 * (`checkDecimal`, `checkTime`). Types that Arrow does not have go to the caller's `refuse`.
 * protocol/types/type-parser.ts parses the names.
 */
import { TIME_UNITS } from '../values/index.ts';
import { DataType, DateUnit, type Field, TimeUnit, Type, UnionMode } from './apache.ts';

/** Called with what is wrong; throws the caller's error. */
export type Refuse = (problem: string) => never;

/** Most digits of a decimal, by its width in bits. */
export const DECIMAL_DIGITS: ReadonlyMap<number, number> = new Map([
  [32, 9],
  [64, 18],
  [128, 38],
  [256, 76],
]);
export const INTERVAL_UNITS = ['year_month', 'day_time', 'month_day_nano'] as const;
export const MAX_INT32 = 0x7fff_ffff;

const UNITLESS_NAMES: ReadonlyMap<Type, string> = new Map([
  [Type.Null, 'null'],
  [Type.Bool, 'bool'],
  [Type.Utf8, 'utf8'],
  [Type.LargeUtf8, 'large_utf8'],
  [Type.Utf8View, 'utf8_view'],
  [Type.Binary, 'binary'],
  [Type.LargeBinary, 'large_binary'],
  [Type.BinaryView, 'binary_view'],
  [Type.FixedSizeBinary, 'fixed_size_binary'],
  [Type.List, 'list'],
  [Type.LargeList, 'large_list'],
  [Type.FixedSizeList, 'fixed_size_list'],
  [Type.Struct, 'struct'],
]);

/**
 * Arrow's name of a type with the parameters that have no member of their own after colons. Child
 * fields and fixed lengths are not in it; a dictionary takes those of its values.
 * `refuse` is called for a type that Arrow does not have, such as a time of 64-bit seconds.
 */
export function typeName(type: DataType, refuse: Refuse): string {
  const plain = UNITLESS_NAMES.get(type.typeId);
  if (plain !== undefined) return plain;
  if (DataType.isInt(type)) return `${type.isSigned ? 'int' : 'uint'}${type.bitWidth}`;
  if (DataType.isFloat(type)) return `float${[16, 32, 64][type.precision]}`;
  if (DataType.isDecimal(type)) {
    checkDecimal(type.bitWidth, type.precision, type.scale, refuse);
    return `decimal${type.bitWidth}:${type.precision}:${type.scale}`;
  }
  if (DataType.isDate(type)) return type.unit === DateUnit.DAY ? 'date32' : 'date64';
  if (DataType.isTime(type)) {
    checkTime(type.bitWidth, type.unit, refuse);
    return `time${type.bitWidth}:${TIME_UNITS[type.unit]}`;
  }
  if (DataType.isTimestamp(type)) {
    const zone = type.timezone;
    // A lone minus is how Lance writes that there is no zone.
    if (zone === '-') refuse('"-" is no time zone');
    return `timestamp:${TIME_UNITS[type.unit]}${zone ? `:${zone}` : ''}`;
  }
  if (DataType.isDuration(type)) return `duration:${TIME_UNITS[type.unit]}`;
  if (DataType.isInterval(type)) return `interval:${INTERVAL_UNITS[type.unit]}`;
  if (DataType.isMap(type)) return type.keysSorted ? 'map:keys_sorted' : 'map';
  if (DataType.isUnion(type)) {
    const mode = type.mode === UnionMode.Dense ? 'dense_union' : 'sparse_union';
    return type.typeIds.length === 0 ? mode : `${mode}:${type.typeIds.join(',')}`;
  }
  if (DataType.isDictionary(type)) {
    if (DataType.isDictionary(type.dictionary)) refuse('a dictionary cannot hold dictionaries');
    const ordered = type.isOrdered ? 'ordered:' : '';
    const index = typeName(type.indices, refuse);
    return `dictionary:${index}:${ordered}${typeName(type.dictionary, refuse)}`;
  }
  return refuse(`there is no name for the Arrow type ${type}`);
}

const EXTENSION_NAME = 'ARROW:extension:name';
const BLOB = 'lance.blob.v2';

/** The metadata of a column of blobs, by which it is known. */
export const BLOB_METADATA: ReadonlyMap<string, string> = new Map([[EXTENSION_NAME, BLOB]]);

/** Whether a type can hold blobs: a struct of `data`, which are bytes, and `uri`, a text. */
export function isBlobType(type: DataType): boolean {
  if (!DataType.isStruct(type) || type.children.length !== 2) return false;
  const [data, uri] = type.children as [Field, Field];
  return (
    data.name === 'data' &&
    (DataType.isLargeBinary(data.type) || DataType.isBinary(data.type)) &&
    uri.name === 'uri' &&
    DataType.isUtf8(uri.type)
  );
}

/** Whether a column or a member holds blobs, by its metadata and its type. */
export const isBlobField = (field: Field): boolean =>
  field.metadata.get(EXTENSION_NAME) === BLOB && isBlobType(field.type);

export function checkDecimal(bits: number, precision: number, scale: number, refuse: Refuse): void {
  const most = DECIMAL_DIGITS.get(bits);
  if (most === undefined) refuse(`a decimal has no width of ${bits} bits`);
  if (!(Number.isInteger(precision) && precision >= 1 && precision <= (most ?? 0))) {
    refuse(`the precision of a decimal${bits} is from 1 to ${most}, not ${precision}`);
  }
  if (!(Number.isInteger(scale) && Math.abs(scale) <= MAX_INT32)) {
    refuse(`the scale of a decimal is a 32-bit integer, not ${scale}`);
  }
}

export function checkTime(bits: number, unit: TimeUnit, refuse: Refuse): void {
  if (bits !== (unit <= TimeUnit.MILLISECOND ? 32 : 64)) {
    refuse(
      `there is no time of ${bits} bits in "${TIME_UNITS[unit]}": s and ms have 32, us and ns 64`,
    );
  }
}
