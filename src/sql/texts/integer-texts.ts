/**
 * `integerTexts` writes whole numbers as UTF-8 decimal digits into one column, without a string per
 * row, after it has claimed the memory. The numbers lie within 2^53, so that a double holds each of
 * them exactly.
 */
import type { DataType } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
import type { BytesColumn, NumberArray, Validity } from '../typed/index.ts';
import { denseColumn } from './text-columns.ts';

const ZERO = 48;
const MINUS = 45;
/** Numbers below are divided as integers of 32 bits. */
const HALF = 1e9;

/** Rows without a value have an empty text. @param type of the texts */
export function integerTexts(
  values: NumberArray,
  valid: Validity,
  type: DataType,
  memory: BatchMemory,
): BytesColumn {
  const { length } = values;
  const most = mostBytes(values);
  memory.take(most * length);
  const data = Buffer.allocUnsafeSlow(most * length);
  const offsets = new Int32Array(length + 1);
  let at = 0;
  for (let row = 0; row < length; row++) {
    if (valid === null || valid[row] !== 0) {
      const value = values[row] as number;
      if (value < 0) data[at++] = MINUS;
      at = writeDigits(data, at, Math.abs(value));
    }
    offsets[row + 1] = at;
  }
  return denseColumn(type, data, offsets, valid);
}

/** Bytes of the longest of their texts, or more. */
function mostBytes(values: NumberArray): number {
  let [least, greatest] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return Math.max(String(least).length, String(greatest).length);
}

function writeDigits(data: Uint8Array, at: number, value: number): number {
  if (value < HALF) return writeSmall(data, at, value, digitsOf(value));
  const high = Math.floor(value / HALF);
  return writeSmall(data, writeSmall(data, at, high, digitsOf(high)), value - high * HALF, 9);
}

/** Writes so many digits of a number below 2^31. */
function writeSmall(data: Uint8Array, at: number, value: number, digits: number): number {
  let rest = value | 0;
  for (let k = at + digits - 1; k >= at; k--) {
    const tenth = (rest / 10) | 0;
    data[k] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return at + digits;
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let limit = 10; digits < 10 && value >= limit; limit *= 10) digits++;
  return digits;
}
