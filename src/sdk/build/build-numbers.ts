/**
 * Builds integer, float, boolean and decimal columns (`buildInt`, `buildFloat`, `buildBool`,
 * `buildDecimal`) from JavaScript values. A value that does not fit its type throws
 * TableSchemaValidation. Integers and decimals may also be given as text. Numbers are rounded to
 * the type of a float column; if the context has `exactFloats`, a number that rounding would change
 * throws instead. A Date in a float64 column is its milliseconds, as LanceDB's programs store them. A
 * bigint in a float column must be one that a double holds exactly, unless
 * `roundsIntegers` is set; a narrower column then rounds it as it does numbers.
 */
import {
  type Data,
  type DataType,
  type Decimal,
  type Float,
  type Int,
  Precision,
} from '../../arrow/index.ts';
import { HALF_LIMIT, integerFrom, storeHalf, unscaledDecimal } from '../../values/index.ts';
import {
  arrowData,
  type BuildContext,
  bitmapBytes,
  findNulls,
  misfit,
  type Place,
} from './column-data.ts';
import { isDate } from './js-values.ts';

type Values = readonly unknown[];
type SmallInts = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

/** Numbers from here on round to infinity as float32. */
const FLOAT32_LIMIT = 2 ** 128 - 2 ** 103;

export function buildInt(type: Int, values: Values, place: Place, context: BuildContext): Data {
  const nulls = findNulls(type, values, place, context);
  const out =
    type.bitWidth === 64
      ? wideInts(type, values, place, context)
      : smallInts(type, values, place, context);
  return arrowData(type, values.length, nulls, { values: out });
}

function smallInts(type: Int, values: Values, place: Place, context: BuildContext): SmallInts {
  const out = new (type.ArrayType as new (n: number) => SmallInts)(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'number') {
      out[i] = value;
      // The array wraps and truncates, so a value that comes back changed did not fit.
      if (out[i] !== value) throw misfit(place, i, value, type, context);
    } else if (value !== null && value !== undefined) {
      const exact = integerFrom(value);
      if (exact === undefined) throw misfit(place, i, value, type, context);
      out[i] = Number(exact);
      if (BigInt(out[i] as number) !== exact) throw misfit(place, i, value, type, context);
    }
  }
  return out;
}

function wideInts(
  type: Int,
  values: Values,
  place: Place,
  context: BuildContext,
): BigInt64Array | BigUint64Array {
  const { length } = values;
  const out = type.isSigned ? new BigInt64Array(length) : new BigUint64Array(length);
  const halves = new Int32Array(out.buffer);
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value)) {
        const why = Number.isInteger(value) ? 'numbers this large lose digits: pass a bigint' : '';
        throw misfit(place, i, value, type, context, why);
      }
      if (value < 0 && !type.isSigned) throw misfit(place, i, value, type, context);
      setWide(halves, i, value);
    } else if (value !== null && value !== undefined) {
      const exact = integerFrom(value);
      if (exact === undefined) throw misfit(place, i, value, type, context);
      out[i] = exact;
      if (out[i] !== exact) throw misfit(place, i, value, type, context, 'out of range');
    }
  }
  return out;
}

/** Writes a safe integer as 64 bits without making a bigint of it. */
export function setWide(halves: Int32Array, index: number, value: number): void {
  halves[2 * index] = value | 0;
  halves[2 * index + 1] = Math.floor(value / 4294967296);
}

export function buildFloat(type: Float, values: Values, place: Place, context: BuildContext): Data {
  const nulls = findNulls(type, values, place, context);
  const out = newFloats(type, values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    const number = floatFrom(value, type, context.roundsIntegers);
    if (number === undefined || !setFloat(out, i, number, context.exactFloats)) {
      throw misfit(place, i, value, type, context);
    }
  }
  return arrowData(type, values.length, nulls, { values: out });
}

/** The storage of a float column; Uint16Array stands for float16. */
type FloatStore = Float64Array | Float32Array | Uint16Array;

function newFloats(type: Float, length: number): FloatStore {
  if (type.precision === Precision.DOUBLE) return new Float64Array(length);
  return type.precision === Precision.SINGLE ? new Float32Array(length) : new Uint16Array(length);
}

/** Stores a number; false when it is finite and too large, or `exact` and would be rounded. */
function setFloat(out: FloatStore, index: number, value: number, exact: boolean): boolean {
  if (out instanceof Uint16Array) {
    if (Math.abs(value) >= HALF_LIMIT && Number.isFinite(value)) return false;
    return storeHalf(out, index, value) || !exact;
  }
  out[index] = value;
  if (out instanceof Float64Array) return true;
  if (Math.abs(value) >= FLOAT32_LIMIT && Number.isFinite(value)) return false;
  return !exact || out[index] === value || Number.isNaN(value);
}

function floatFrom(value: unknown, type: Float, rounds: boolean): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'bigint') {
    const isTime = type.precision === Precision.DOUBLE && isDate(value) && isValid(value);
    return isTime ? value.getTime() : undefined;
  }
  const number = Number(value);
  const fits = Number.isFinite(number) && (rounds || BigInt(number) === value);
  return fits ? number : undefined;
}

const isValid = (date: Date): boolean => !Number.isNaN(date.getTime());

export function buildBool(
  type: DataType,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  const out = new Uint8Array(bitmapBytes(values.length));
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === true) out[i >> 3]! |= 1 << (i & 7);
    else if (value !== false && value !== null && value !== undefined) {
      throw misfit(place, i, value, type, context);
    }
  }
  return arrowData(type, values.length, nulls, { values: out });
}

/** Decimals are stored as two's complement, least significant 32 bits first. */
export function buildDecimal(
  type: Decimal,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  const words = type.bitWidth / 32;
  const out = new Uint32Array(values.length * words);
  const limit = 10n ** BigInt(type.precision);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    const unscaled = unscaledDecimal(value, type.scale, words);
    if (unscaled === undefined) throw misfit(place, i, value, type, context);
    if (unscaled >= limit || unscaled <= -limit) {
      throw misfit(place, i, value, type, context, `more than ${type.precision} digits`);
    }
    for (let word = 0, rest = unscaled; word < words; word++, rest >>= 32n) {
      out[i * words + word] = Number(BigInt.asUintN(32, rest));
    }
  }
  return arrowData(type, values.length, nulls, { values: out });
}
