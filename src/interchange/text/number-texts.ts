/**
 * Writes integers, floats and decimals as text without loss of digits (`integerText`, `floatText`,
 * `decimalTexts`). A float gets the shortest text that parses to the same double; a 16-bit or
 * 32-bit float is first converted to a double. `countsOf` reads 64-bit integers as numbers, and as
 * bigints where a number might be inexact (near ±2^53 and beyond). `floatsOf` reads floats of any
 * width as numbers, and `writeFloat` writes one.
 */
import {
  type Data,
  type Decimal,
  type Float,
  type Int,
  Precision,
  type TypedArray,
} from '../../arrow/index.ts';
import { decimalText, decimalWords, halfValue } from '../../values/index.ts';
import type { TextOut } from './text-out.ts';

/** Writes the value of a row that is not null. */
export type WriteText = (out: TextOut, row: number) => void;

type Small = Exclude<TypedArray, BigInt64Array | BigUint64Array>;

export function integerText(data: Data): WriteText {
  if ((data.type as Int).bitWidth === 64) {
    const count = countsOf(data.values as BigInt64Array | BigUint64Array);
    return (out, row) => {
      const value = count(row);
      if (typeof value === 'number') out.whole(value);
      else out.ascii(String(value));
    };
  }
  const values = data.values as Small;
  return (out, row) => out.whole(values[row] as number);
}

/** Values as numbers where these are exact: a bigint takes several times as long. */
export function countsOf(values: BigInt64Array | BigUint64Array): (row: number) => number | bigint {
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const isSigned = values instanceof BigInt64Array;
  return (row) => {
    const word = words[2 * row + 1] as number;
    const high = isSigned ? word : word >>> 0;
    // Between -2^53 and 2^53.
    if (high >= -0x200000 + 1 && high < 0x200000) {
      return high * 4_294_967_296 + ((words[2 * row] as number) >>> 0);
    }
    return values[row] as bigint;
  };
}

/** The floats of a column as numbers. */
export function floatsOf(data: Data): (row: number) => number {
  if ((data.type as Float).precision === Precision.HALF) {
    const halves = data.values as Uint16Array;
    return (row) => halfValue(halves[row] as number);
  }
  const values = data.values as Float32Array | Float64Array;
  return (row) => values[row] as number;
}

/** Also `NaN`, `Infinity`, `-Infinity` and `-0`. */
export function writeFloat(out: TextOut, value: number): void {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) out.whole(value);
  else out.ascii(Object.is(value, -0) ? '-0' : String(value));
}

export function floatText(data: Data): WriteText {
  const float = floatsOf(data);
  return (out, row) => writeFloat(out, float(row));
}

/** With all digits of the scale. */
export function decimalTexts(data: Data): WriteText {
  const { scale, bitWidth } = data.type as Decimal;
  const words = bitWidth / 32;
  const values = data.values as Uint32Array;
  return (out, row) => out.ascii(decimalText(decimalWords(values, row * words, words), scale));
}
