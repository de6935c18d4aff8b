/**
 * `storeOf` makes stores that parse the fields of one column of CSV into a typed array. There are
 * stores for integers, float32, float64, booleans, dates, times, and timestamps without a time zone
 * or in UTC; for other types it returns undefined. A store refuses a value that the type cannot
 * hold exactly, but rounds floats. csv-numbers.ts and csv-times.ts parse the bytes.
 */
import {
  bitmapBytes,
  type DataType,
  type Int,
  setBit,
  type Time,
  type Timestamp,
  TimeUnit,
  Type,
  type TypedArray,
  valueArray,
} from '../../arrow/index.ts';
import { digitsValue, floatOf, floatValue, integerOf, plainText } from './csv-numbers.ts';
import { dateOf, momentOf, timeOf } from './csv-times.ts';

/** Stores a field at a row; false where the bytes are no value of the type. */
export interface FieldStore {
  array(rows: number): TypedArray;
  into(values: TypedArray): (bytes: Uint8Array, start: number, end: number, row: number) => boolean;
  /** Elements of the array that the rows take. */
  length(rows: number): number;
}

/** The store of a type that is read from bytes; undefined for others. */
export function storeOf(type: DataType, strict: boolean): FieldStore | undefined {
  switch (type.typeId) {
    case Type.Int:
      return intStore(type as Int, strict);
    case Type.Float:
      return type.toString() === 'Float16' ? undefined : floatStore(type, strict);
    case Type.Bool:
      return {
        array: (rows) => new Uint8Array(bitmapBytes(rows)),
        into: (values) => (bytes, start, end, row) => {
          const value = boolOf(bytes, start, end, strict);
          if (value === true) setBit(values as Uint8Array, row);
          return value !== undefined;
        },
        length: bitmapBytes,
      };
    case Type.Date:
      return dateStore(type, strict);
    case Type.Timestamp: {
      const { timezone } = type as Timestamp;
      const isPlain = timezone === null || timezone === undefined || timezone === 'UTC';
      return isPlain ? momentStore(type as Timestamp, strict) : undefined;
    }
    case Type.Time:
      return timeStore(type as Time, strict);
    default:
      return undefined;
  }
}

const arrayFor =
  (type: DataType) =>
  (rows: number): TypedArray =>
    new (valueArray(type))(rows);
const same = (rows: number): number => rows;

/** Stores a safe integer as 64 bits, without a bigint. */
function putWide(words: Int32Array, row: number, value: number): void {
  const high = Math.floor(value / 4_294_967_296);
  words[2 * row] = value - high * 4_294_967_296;
  words[2 * row + 1] = high;
}

function intStore(type: Int, strict: boolean): FieldStore {
  const array = arrayFor(type);
  const { bitWidth, isSigned } = type;
  if (bitWidth === 64) {
    return {
      array,
      into: (values) => {
        const wide = values as BigInt64Array | BigUint64Array;
        const words = new Int32Array(wide.buffer, wide.byteOffset, 2 * wide.length);
        return (bytes, start, end, row) => {
          const value = digitsValue(bytes, start, end, strict);
          if (!Number.isNaN(value)) {
            if (value < 0 && !isSigned) return false;
            putWide(words, row, value);
            return true;
          }
          const integer = integerOf(plainText(bytes, start, end), strict);
          if (integer === undefined) return false;
          wide[row] = integer;
          return wide[row] === integer;
        };
      },
      length: same,
    };
  }
  const [least, most] = isSigned
    ? [-(2 ** (bitWidth - 1)), 2 ** (bitWidth - 1) - 1]
    : [0, 2 ** bitWidth - 1];
  return {
    array,
    into: (values) => (bytes, start, end, row) => {
      let value = digitsValue(bytes, start, end, strict);
      if (Number.isNaN(value)) {
        value = Number(integerOf(plainText(bytes, start, end), strict) ?? Number.NaN);
      }
      (values as Int32Array)[row] = value;
      return value >= least && value <= most;
    },
    length: same,
  };
}

function floatStore(type: DataType, strict: boolean): FieldStore {
  return {
    array: arrayFor(type),
    into: (values) => {
      const floats = values as Float64Array | Float32Array;
      const isSingle = floats instanceof Float32Array;
      return (bytes, start, end, row) => {
        let value = floatValue(bytes, start, end, strict);
        if (Number.isNaN(value)) {
          const other = floatOf(plainText(bytes, start, end), strict);
          if (other === undefined) return false;
          value = other;
        }
        floats[row] = value;
        // Numbers are rounded to float32, but none to an infinity.
        return !isSingle || Number.isFinite(floats[row]) || !Number.isFinite(value);
      };
    },
    length: same,
  };
}

const WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  t: true,
  f: false,
  yes: true,
  no: false,
  y: true,
  n: false,
  1: true,
  0: false,
};

function boolOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  strict: boolean,
): boolean | undefined {
  if (end - start > 64) return undefined;
  const word = plainText(bytes, start, end).toLowerCase();
  if (strict) return word === 'true' ? true : word === 'false' ? false : undefined;
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

const DAY_MILLIS = 86_400_000n;

function dateStore(type: DataType, strict: boolean): FieldStore {
  const array = arrayFor(type);
  return {
    array,
    into: (values) => {
      const wide = values instanceof BigInt64Array ? values : undefined;
      return (bytes, start, end, row) => {
        const days = dateOf(bytes, start, end, strict);
        if (days === undefined) return false;
        if (wide !== undefined) wide[row] = BigInt(days) * DAY_MILLIS;
        else (values as Int32Array)[row] = days;
        return true;
      };
    },
    length: same,
  };
}

/** Units of a second, by the number of the unit. */
const PER_SECOND = [1, 1e3, 1e6, 1e9] as const;

function momentStore({ unit, timezone }: Timestamp, strict: boolean): FieldStore {
  const perSecond = PER_SECOND[unit] as number;
  const nanosPer = 1e9 / perSecond;
  const hasZone = timezone === 'UTC';
  return {
    array: (rows) => new BigInt64Array(rows),
    into: (values) => {
      const wide = values as BigInt64Array;
      const words = new Int32Array(wide.buffer, wide.byteOffset, 2 * wide.length);
      return (bytes, start, end, row) => {
        const moment = momentOf(bytes, start, end, strict);
        if (moment === undefined || moment.nanos % nanosPer !== 0) return false;
        // Of a guessed column all have a zone, or none has.
        if (strict && (moment.offset !== undefined) !== hasZone) return false;
        const seconds = moment.days * 86_400 + moment.seconds - (moment.offset ?? 0);
        const parts = moment.nanos / nanosPer;
        const value = seconds * perSecond + parts;
        if (Number.isSafeInteger(value)) {
          putWide(words, row, value);
          return true;
        }
        const exact = BigInt(seconds) * BigInt(perSecond) + BigInt(parts);
        wide[row] = exact;
        return wide[row] === exact;
      };
    },
    length: same,
  };
}

function timeStore(type: Time, strict: boolean): FieldStore {
  const nanosPer = 1e9 / (PER_SECOND[type.unit] as number);
  const isWide = type.unit === TimeUnit.MICROSECOND || type.unit === TimeUnit.NANOSECOND;
  return {
    array: arrayFor(type),
    into: (values) => (bytes, start, end, row) => {
      const nanos = timeOf(bytes, start, end, strict);
      if (nanos === undefined || nanos % nanosPer !== 0) return false;
      if (isWide) (values as BigInt64Array)[row] = BigInt(nanos / nanosPer);
      else (values as Int32Array)[row] = nanos / nanosPer;
      return true;
    },
    length: same,
  };
}
