/**
 * `leafForm` returns the Arrow type of a Parquet leaf column and the conversion of its values.
 * Values that the Arrow type cannot hold, and texts that are not UTF-8, go to the caller's `refuse`
 * when they are read; they are not rounded or wrapped.
 */
import {
  Binary,
  Bool,
  bitmapBytes,
  type Data,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Duration,
  dataOf,
  FixedSizeBinary,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  Interval,
  IntervalUnit,
  LargeBinary,
  LargeUtf8,
  Null,
  setBit,
  Time,
  Timestamp,
  TimeUnit,
  Type,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  valueArray,
} from '../../arrow/index.ts';
import { checkText } from '../../ipc/index.ts';
import { type ParquetNode, PHYSICAL } from './metadata.ts';
import type { BytesStore, FixedStore, Store } from './stores.ts';
import type { Refuse, ThriftStruct } from './thrift.ts';

/** Which rows have a value: `count` of them, a bit for each; undefined where all have. */
export interface Slots {
  readonly length: number;
  readonly nulls: number;
  readonly validity: Uint8Array | undefined;
}

export interface LeafForm {
  readonly type: DataType;
  /** The column of the values that are there; the store begins anew. */
  make(store: Store, slots: Slots): Data;
}

/** Fields of the union of logical types. */
const LOGICAL = {
  STRING: 1,
  ENUM: 4,
  DECIMAL: 5,
  DATE: 6,
  TIME: 7,
  TIMESTAMP: 8,
  INTEGER: 10,
  UNKNOWN: 11,
  JSON: 12,
  BSON: 13,
  UUID: 14,
  FLOAT16: 15,
} as const;

const TEXT_CONVERTED = [0, 4, 19];
const DECIMAL_CONVERTED = 5;
const INTERVAL_CONVERTED = 21;

/** @param hint the type that an Arrow schema in the file names, where there is one */
export function leafForm(node: ParquetNode, hint: DataType | undefined, refuse: Refuse): LeafForm {
  const { physical, converted, logical, width } = node;
  const is = (field: number): boolean => logical?.[field] !== undefined;
  if (is(LOGICAL.UNKNOWN))
    return { type: new Null(), make: (store, { length }) => nulls(store, length) };
  if (is(LOGICAL.DECIMAL) || converted === DECIMAL_CONVERTED) return decimalForm(node, refuse);
  switch (physical) {
    case PHYSICAL.BOOLEAN:
      return { type: new Bool(), make: makeBits };
    case PHYSICAL.FLOAT:
      return fixed(new Float32(), 4);
    case PHYSICAL.DOUBLE:
      return fixed(new Float64(), 8);
    case PHYSICAL.INT32:
      return int32Form(node, hint, refuse);
    case PHYSICAL.INT64:
      return int64Form(node, hint);
    case PHYSICAL.INT96:
      return convertedTo(new Timestamp(TimeUnit.NANOSECOND, null), 8, (from, out) =>
        int96(from, out, refuse),
      );
    case PHYSICAL.BYTE_ARRAY: {
      const isText = is(LOGICAL.STRING) || is(LOGICAL.ENUM) || is(LOGICAL.JSON);
      const isLarge = hint?.typeId === Type.LargeUtf8 || hint?.typeId === Type.LargeBinary;
      if (isText || (logical === undefined && TEXT_CONVERTED.includes(converted as number))) {
        return bytesForm(isLarge ? new LargeUtf8() : new Utf8(), refuse);
      }
      return bytesForm(isLarge ? new LargeBinary() : new Binary(), refuse);
    }
    case PHYSICAL.FIXED_LEN_BYTE_ARRAY:
      if (width === 0) return refuse('a column has values of no bytes');
      if (is(LOGICAL.FLOAT16) && width === 2) return fixed(new Float16(), 2);
      if (converted === INTERVAL_CONVERTED && width === 12) {
        return convertedTo(new Interval(IntervalUnit.MONTH_DAY_NANO), 16, (from, out) =>
          intervals(from, out, node.name, refuse),
        );
      }
      return fixed(new FixedSizeBinary(width), width);
    default:
      return refuse(`a column has the unknown type ${physical}`);
  }
}

function nulls(store: Store, length: number): Data {
  store.take();
  return dataOf(new Null(), length, {});
}

function int32Form(
  { name, converted, logical }: ParquetNode,
  hint: DataType | undefined,
  refuse: Refuse,
): LeafForm {
  const integer = logical?.[LOGICAL.INTEGER] as ThriftStruct | undefined;
  if (logical?.[LOGICAL.DATE] !== undefined || converted === 6) {
    return hint?.typeId === Type.Date && String(hint) === String(new DateMillisecond())
      ? convertedTo(new DateMillisecond(), 8, daysToMillis)
      : fixed(new DateDay(), 4);
  }
  if (logical?.[LOGICAL.TIME] !== undefined || converted === 7) {
    return fixed(new Time(TimeUnit.MILLISECOND, 32), 4);
  }
  const bits = integer === undefined ? widthOfConverted(converted) : Number(integer[1]);
  const isSigned =
    integer === undefined ? converted === undefined || converted >= 15 : integer[2] !== false;
  const tooWide = (value: number): never =>
    refuse(
      `the column ${JSON.stringify(name)} is of ${bits} bits${isSigned ? '' : ' without a sign'} and has the value ${value}`,
    );
  if (bits === 8) {
    return isSigned
      ? narrowed(new Int8(), Int8Array, tooWide)
      : narrowed(new Uint8(), Uint8Array, tooWide);
  }
  if (bits === 16) {
    return isSigned
      ? narrowed(new Int16(), Int16Array, tooWide)
      : narrowed(new Uint16(), Uint16Array, tooWide);
  }
  return fixed(isSigned || bits !== 32 ? new Int32() : new Uint32(), 4);
}

/** 11 to 14 are unsigned, 15 to 18 signed, of 8 to 64 bits. */
const widthOfConverted = (converted: number | undefined): number | undefined =>
  converted !== undefined && converted >= 11 && converted <= 18
    ? 8 << ((converted - 11) % 4)
    : undefined;

const UNITS = [undefined, TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND] as const;

/** The unit of a time or timestamp: the one field of the union. */
function unitOf(logical: ThriftStruct): TimeUnit {
  const unit = logical[2] as ThriftStruct | undefined;
  const field = [1, 2, 3].find((each) => unit?.[each] !== undefined);
  return UNITS[field ?? 2] as TimeUnit;
}

function int64Form({ converted, logical }: ParquetNode, hint: DataType | undefined): LeafForm {
  const time = logical?.[LOGICAL.TIME] as ThriftStruct | undefined;
  if (time !== undefined) return fixed(new Time(unitOf(time), 64), 8);
  if (logical === undefined && converted === 8) return fixed(new Time(TimeUnit.MICROSECOND, 64), 8);
  const moment = logical?.[LOGICAL.TIMESTAMP] as ThriftStruct | undefined;
  if (moment !== undefined || converted === 9 || converted === 10) {
    const unit =
      moment === undefined
        ? converted === 9
          ? TimeUnit.MILLISECOND
          : TimeUnit.MICROSECOND
        : unitOf(moment);
    // The older form means instants always.
    const isInstant = moment === undefined || moment[1] !== false;
    const named = hint?.typeId === Type.Timestamp ? (hint as Timestamp).timezone : undefined;
    return fixed(new Timestamp(unit, isInstant ? (named ?? 'UTC') : null), 8);
  }
  const integer = logical?.[LOGICAL.INTEGER] as ThriftStruct | undefined;
  const isUnsigned = integer === undefined ? converted === 14 : integer[2] === false;
  if (isUnsigned) return fixed(new Uint64(), 8);
  if (hint?.typeId === Type.Duration) return fixed(new Duration((hint as Duration).unit), 8);
  return fixed(new Int64(), 8);
}

function decimalForm(node: ParquetNode, refuse: Refuse): LeafForm {
  const { physical, logical, width } = node;
  const own = logical?.[LOGICAL.DECIMAL] as ThriftStruct | undefined;
  const scale = own === undefined ? node.scale : Number(own[1] ?? 0);
  const precision = own === undefined ? node.precision : Number(own[2] ?? 0);
  if (!(precision >= 1 && precision <= 76 && scale >= 0 && scale <= precision)) {
    return refuse(`a column has decimals of ${precision} digits, ${scale} of them after the point`);
  }
  const bits = precision <= 38 ? 128 : 256;
  const type = new Decimal(scale, precision, bits);
  const bytes = bits / 8;
  const tooWide = (): never =>
    refuse(`a decimal has more than the ${precision} digits of its column`);
  switch (physical) {
    case PHYSICAL.INT32:
      return convertedTo(type, bytes, (from, out) =>
        widen(new Int32Array(from.buffer, from.byteOffset, from.length >> 2), out, bytes),
      );
    case PHYSICAL.INT64:
      return convertedTo(type, bytes, (from, out) => widen64(from, out, bytes));
    case PHYSICAL.FIXED_LEN_BYTE_ARRAY:
      if (width === 0) return refuse('a column has values of no bytes');
      return convertedTo(type, bytes, (from, out) => {
        for (let at = 0, into = 0; at < from.length; at += width, into += bytes) {
          turned(from, at, at + width, out, into, bytes, tooWide);
        }
      });
    case PHYSICAL.BYTE_ARRAY:
      return {
        type,
        make: (store, slots) => {
          const { offsets, bytes: from } = (store as BytesStore).take();
          const count = offsets.length - 1;
          const out = new Uint8Array(count * bytes);
          for (let at = 0; at < count; at++) {
            turned(
              from,
              offsets[at] as number,
              offsets[at + 1] as number,
              out,
              at * bytes,
              bytes,
              tooWide,
            );
          }
          return spread(type, out, bytes, slots);
        },
      };
    default:
      return refuse('a column has decimals of a type that holds none');
  }
}

/** Big-endian bytes as little-endian ones of a width, with the sign. */
function turned(
  from: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  into: number,
  width: number,
  tooWide: () => never,
): void {
  const fill = end > start && (from[start] as number) >= 128 ? 255 : 0;
  let at = end - 1;
  for (let byte = 0; byte < width; byte++, at--)
    out[into + byte] = at >= start ? (from[at] as number) : fill;
  for (; at >= start; at--) if (from[at] !== fill) tooWide();
}

function widen(from: Int32Array, out: Uint8Array, bytes: number): void {
  const words = new Int32Array(out.buffer, out.byteOffset, out.length >> 2);
  const per = bytes / 4;
  for (let at = 0; at < from.length; at++) {
    const value = from[at] as number;
    words[at * per] = value;
    words.fill(value >> 31, at * per + 1, (at + 1) * per);
  }
}

function widen64(from: Uint8Array, out: Uint8Array, bytes: number): void {
  const halves = new Int32Array(from.buffer, from.byteOffset, from.length >> 2);
  const words = new Int32Array(out.buffer, out.byteOffset, out.length >> 2);
  const per = bytes / 4;
  for (let at = 0; 2 * at < halves.length; at++) {
    const high = halves[2 * at + 1] as number;
    words[at * per] = halves[2 * at] as number;
    words[at * per + 1] = high;
    words.fill(high >> 31, at * per + 2, (at + 1) * per);
  }
}

function daysToMillis(from: Uint8Array, out: Uint8Array): void {
  const days = new Int32Array(from.buffer, from.byteOffset, from.length >> 2);
  const millis = new BigInt64Array(out.buffer, out.byteOffset, days.length);
  for (let at = 0; at < days.length; at++) millis[at] = BigInt((days[at] as number) * 86_400_000);
}

const JULIAN_EPOCH = 2_440_588;

/** Nanoseconds of a day, and the Julian day. */
function int96(from: Uint8Array, out: Uint8Array, refuse: Refuse): void {
  const view = new DataView(from.buffer, from.byteOffset, from.byteLength);
  const nanos = new BigInt64Array(out.buffer, out.byteOffset, from.length / 12);
  for (let at = 0; at < nanos.length; at++) {
    const day = BigInt(view.getInt32(12 * at + 8, true) - JULIAN_EPOCH);
    const value = day * 86_400_000_000_000n + view.getBigInt64(12 * at, true);
    nanos[at] = value;
    if (nanos[at] !== value)
      refuse('a timestamp of 96 bits is not between the years 1678 and 2262');
  }
}

/** Months, days and milliseconds of 32 bits each, none of them signed; Arrow's months and days are. */
function intervals(from: Uint8Array, out: Uint8Array, name: string, refuse: Refuse): void {
  const view = new DataView(from.buffer, from.byteOffset, from.byteLength);
  const into = new DataView(out.buffer, out.byteOffset, out.byteLength);
  for (let at = 0, to = 0; at < from.length; at += 12, to += 16) {
    const [months, days] = [view.getInt32(at, true), view.getInt32(at + 4, true)];
    if (months < 0 || days < 0) {
      refuse(
        `the column ${JSON.stringify(name)} has an interval of ${months >>> 0} months and ${days >>> 0} days, and Arrow has up to 2147483647 of each`,
      );
    }
    into.setInt32(to, months, true);
    into.setInt32(to + 4, days, true);
    into.setBigInt64(to + 8, BigInt(view.getUint32(at + 8, true)) * 1_000_000n, true);
  }
}

/** Values that lie in Arrow as they do in Parquet. */
const fixed = (type: DataType, width: number): LeafForm => ({
  type,
  make: (store, slots) => spread(type, (store as FixedStore).take(), width, slots),
});

/** @param convert from all bytes of the values to those of Arrow, of `width` each */
const convertedTo = (
  type: DataType,
  width: number,
  convert: (from: Uint8Array<ArrayBuffer>, out: Uint8Array<ArrayBuffer>) => void,
): LeafForm => ({
  type,
  make: (store, slots) => {
    const { length } = store;
    const out = new Uint8Array(length * width);
    convert((store as FixedStore).take(), out);
    return spread(type, out, width, slots);
  },
});

function narrowed(
  type: DataType,
  Values: typeof Int8Array | typeof Uint8Array | typeof Int16Array | typeof Uint16Array,
  tooWide: (value: number) => never,
): LeafForm {
  return convertedTo(type, Values.BYTES_PER_ELEMENT, (from, out) => {
    const wide = new Int32Array(from.buffer, from.byteOffset, from.length >> 2);
    const narrow = new Values(out.buffer, out.byteOffset, wide.length);
    for (let at = 0; at < wide.length; at++) {
      narrow[at] = wide[at] as number;
      if (narrow[at] !== wide[at]) tooWide(wide[at] as number);
    }
  });
}

/** Puts values of a width where rows have one. */
function spread(type: DataType, values: Uint8Array, width: number, slots: Slots): Data {
  const { length, nulls: nullCount, validity } = slots;
  let bytes = values;
  if (validity !== undefined) {
    bytes = new Uint8Array(length * width);
    if (width % 4 === 0) {
      const per = width / 4;
      const from = new Int32Array(values.buffer, values.byteOffset, values.length >> 2);
      const out = new Int32Array(bytes.buffer, 0, length * per);
      for (let row = 0, at = 0; row < length; row++) {
        if (((validity[row >>> 3] as number) & (1 << (row & 7))) === 0) continue;
        for (let each = 0; each < per; each++) out[row * per + each] = from[at++] as number;
      }
    } else {
      for (let row = 0, at = 0; row < length; row++) {
        if (((validity[row >>> 3] as number) & (1 << (row & 7))) === 0) continue;
        for (let each = 0; each < width; each++) bytes[row * width + each] = values[at++] as number;
      }
    }
  }
  const Values = valueArray(type);
  const typed = new Values(
    bytes.buffer as ArrayBuffer,
    bytes.byteOffset,
    bytes.length / Values.BYTES_PER_ELEMENT,
  );
  return dataOf(type, length, { nullCount, validity, values: typed as never });
}

/** Bits of the truth values, which are collected as bytes. */
function makeBits(store: Store, { length, nulls: nullCount, validity }: Slots): Data {
  const values = (store as FixedStore).take();
  const bits = new Uint8Array(bitmapBytes(length));
  for (let row = 0, at = 0; row < length; row++) {
    if (validity !== undefined && ((validity[row >>> 3] as number) & (1 << (row & 7))) === 0)
      continue;
    if (values[at++] === 1) setBit(bits, row);
  }
  return dataOf(new Bool(), length, { nullCount, validity, values: bits });
}

/** Texts and bytes of any length. Texts are UTF-8, or refused. */
function bytesForm(type: Utf8 | LargeUtf8 | Binary | LargeBinary, refuse: Refuse): LeafForm {
  const isText = type.typeId === Type.Utf8 || type.typeId === Type.LargeUtf8;
  const isLarge = type.typeId === Type.LargeUtf8 || type.typeId === Type.LargeBinary;
  return {
    type,
    make: (store, { length, nulls: nullCount, validity }) => {
      const taken = (store as BytesStore).take();
      if (isText) {
        checkText(taken.offsets, taken.offsets.length - 1, taken.bytes, undefined, (what) =>
          refuse(`a text is no UTF-8: ${what}`),
        );
      }
      let { offsets } = taken;
      if (validity !== undefined) {
        offsets = new Int32Array(length + 1);
        for (let row = 0, at = 0; row < length; row++) {
          if (((validity[row >>> 3] as number) & (1 << (row & 7))) !== 0) at++;
          offsets[row + 1] = taken.offsets[at] as number;
        }
      }
      const own = isLarge ? BigInt64Array.from(offsets, BigInt) : offsets;
      return dataOf(type, length, { nullCount, validity, offsets: own, values: taken.bytes });
    },
  };
}
