/**
 * `canWiden` tells whether columns of one type can become columns of another without losing a
 * value. `wideningOf` returns the function that converts a column that is not nested, or undefined
 * if a value might not fit. `widenList` puts a list over another child and changes its kind, where
 * `listsFit` allows that; `withChildren` does so for any nested column. adapt.ts converts structs
 * and the items of lists.
 */
import {
  type Data,
  DataType,
  type Date_,
  DateUnit,
  type Decimal,
  type Float,
  type Int,
  nullColumn,
  Precision,
  type Time,
  type Timestamp,
  TimeUnit,
  type TypedArray,
  typesEqual,
  valueArray,
} from '../../arrow/index.ts';
import { halfValue, MILLIS_PER_DAY, SECONDS_PER_DAY } from '../../values/index.ts';

/** Turns a column of the one type into one of the other. */
export type Widening = (data: Data) => Data;

/** Undefined where some value would not fit, and for nested types: those are taken apart first. */
export function wideningOf(from: DataType, to: DataType): Widening | undefined {
  if (DataType.isNull(from)) return (data) => nullColumn(to, data.length);
  if (DataType.isInt(from)) return intWidening(from, to);
  if (DataType.isFloat(from)) return floatWidening(from, to);
  if (DataType.isDate(from)) return dateWidening(from, to);
  if (DataType.isTime(from)) return timeWidening(from, to);
  if (DataType.isDecimal(from)) return decimalWidening(from, to);
  const longer =
    (DataType.isUtf8(from) && DataType.isLargeUtf8(to)) ||
    (DataType.isBinary(from) && DataType.isLargeBinary(to));
  return longer ? (data) => rebuilt(data, to, data.values, longOffsets(data)) : undefined;
}

/** True where a column of `from` can become one of `to`, nested ones field by field. */
export function canWiden(from: DataType, to: DataType): boolean {
  if (typesEqual(from, to)) return true;
  if (isListLike(from) && isListLike(to)) {
    if (!listsFit(from, to)) return false;
    return canWiden(from.children[0]?.type as DataType, to.children[0]?.type as DataType);
  }
  if (DataType.isStruct(from) && DataType.isStruct(to)) {
    return (
      from.children.length === to.children.length &&
      from.children.every((field: { name: string; type: DataType }, at: number) => {
        const other = to.children[at];
        return other?.name === field.name && canWiden(field.type, other?.type as DataType);
      })
    );
  }
  return wideningOf(from, to) !== undefined;
}

export const isListLike = (type: DataType): boolean =>
  DataType.isList(type) || DataType.isLargeList(type) || DataType.isFixedSizeList(type);

/** Whether lists of one type can be lists of the other, whatever they hold. */
export const listsFit = (from: DataType, to: DataType): boolean =>
  DataType.isFixedSizeList(from)
    ? DataType.isFixedSizeList(to) && from.listSize === to.listSize
    : (DataType.isList(from) && DataType.isList(to)) || DataType.isLargeList(to);

/** The offsets of a column, as 64-bit numbers. */
function longOffsets(data: Data): BigInt64Array {
  const offsets = data.valueOffsets as Int32Array | BigInt64Array;
  if (offsets instanceof BigInt64Array) return offsets;
  const words = new Int32Array((data.length + 1) * 2);
  for (let at = 0; at <= data.length; at++) words[2 * at] = offsets[at] as number;
  return new BigInt64Array(words.buffer);
}

/** A column with the rows and nulls of `data`, and the given type, values and offsets. */
function rebuilt(data: Data, type: DataType, values: unknown, offsets?: BigInt64Array): Data {
  const buffers = [offsets, values, data.nullBitmap, undefined];
  return data.clone(type, data.offset, data.length, data.nullCount, buffers as never);
}

function intWidening(from: Int, to: DataType): Widening | undefined {
  const { bitWidth, isSigned } = from;
  if (DataType.isInt(to)) {
    const fits =
      to.isSigned === isSigned
        ? to.bitWidth > bitWidth
        : to.isSigned && !isSigned && to.bitWidth > bitWidth;
    if (!fits) return undefined;
    return (data) => rebuilt(data, to, widerIntegers(data, to, isSigned));
  }
  if (!DataType.isFloat(to)) return undefined;
  const bits = bitWidth - (isSigned ? 1 : 0);
  if (bits > (to.precision === Precision.DOUBLE ? 53 : to.precision === Precision.SINGLE ? 24 : 11))
    return undefined;
  if (to.precision === Precision.HALF) {
    return (data) => rebuilt(data, to, Uint16Array.from(numbersOf(data), halfOfInteger));
  }
  const Target = to.precision === Precision.DOUBLE ? Float64Array : Float32Array;
  return (data) => rebuilt(data, to, new Target(numbersOf(data)));
}

const numbersOf = (data: Data): Int32Array => (data.values as Int32Array).subarray(0, data.length);

function widerIntegers(data: Data, to: Int, signed: boolean): TypedArray {
  const values = numbersOf(data);
  if (to.bitWidth < 64) {
    const wider = new (valueArray(to))(values.length);
    (wider as Int32Array).set(values);
    return wider;
  }
  // As pairs of words: a bigint per value would be an object per value.
  const words = new Int32Array(values.length * 2);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    words[2 * row] = value;
    if (signed && value < 0) words[2 * row + 1] = -1;
  }
  return to.isSigned ? new BigInt64Array(words.buffer) : new BigUint64Array(words.buffer);
}

/** The bits of a half float for a whole number of at most 11 bits. */
function halfOfInteger(value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return 0;
  const exponent = 31 - Math.clz32(magnitude);
  const fraction = (magnitude - 2 ** exponent) * 2 ** (10 - exponent);
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction;
}

function floatWidening(from: Float, to: DataType): Widening | undefined {
  if (!DataType.isFloat(to) || to.precision <= from.precision) return undefined;
  const Target = to.precision === Precision.DOUBLE ? Float64Array : Float32Array;
  if (from.precision !== Precision.HALF) {
    return (data) => rebuilt(data, to, new Target(data.values as Float32Array));
  }
  return (data) => rebuilt(data, to, new Target(Array.from(numbersOf(data), halfValue)));
}

/** Only into units that 32 bits of days cannot overflow. */
function dateWidening(from: Date_, to: DataType): Widening | undefined {
  const zoneless = DataType.isTimestamp(to) && !(to as Timestamp).timezone;
  const unit = zoneless ? (to as Timestamp).unit : undefined;
  if (from.unit === DateUnit.MILLISECOND) {
    if (unit !== TimeUnit.MILLISECOND) return undefined;
    return (data) => rebuilt(data, to, data.values);
  }
  if (unit === TimeUnit.SECOND) return scaled(to, BigInt(SECONDS_PER_DAY));
  const millis =
    unit === TimeUnit.MILLISECOND ||
    (DataType.isDate(to) && (to as Date_).unit === DateUnit.MILLISECOND);
  return millis ? scaled(to, BigInt(MILLIS_PER_DAY)) : undefined;
}

function timeWidening(from: Time, to: DataType): Widening | undefined {
  if (!DataType.isTime(to) || from.bitWidth !== 32 || (to as Time).bitWidth !== 64) {
    return undefined;
  }
  return scaled(to, 1000n ** BigInt((to as Time).unit - from.unit));
}

const scaled =
  (to: DataType, factor: bigint): Widening =>
  (data) =>
    rebuilt(data, to, scaledValues(numbersOf(data), factor));

function scaledValues(values: Int32Array, factor: bigint): BigInt64Array {
  const out = new BigInt64Array(values.length);
  for (let row = 0; row < values.length; row++) out[row] = BigInt(values[row] as number) * factor;
  return out;
}

function decimalWidening(from: Decimal, to: DataType): Widening | undefined {
  if (!DataType.isDecimal(to)) return undefined;
  const wide = to as Decimal;
  const fits =
    wide.bitWidth === from.bitWidth &&
    wide.scale === from.scale &&
    wide.precision >= from.precision;
  return fits ? (data) => rebuilt(data, to, data.values) : undefined;
}

/** A list column over another child, in the wider of the two list types. */
export function widenList(data: Data, to: DataType, child: Data): Data {
  if (DataType.isLargeList(to)) {
    const offsets = longOffsets(data);
    return withChildren(rebuilt(data, to, undefined, offsets), to, [child]);
  }
  return withChildren(data, to, [child]);
}

/** A column with the rows and nulls of `data`, and the given type and children. */
export const withChildren = (data: Data, type: DataType, children: Data[]): Data =>
  data.clone(type, data.offset, data.length, data.nullCount, data.buffers as never, children);
