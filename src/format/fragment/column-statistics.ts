/**
 * `columnStatistics` computes the statistics of one column of a record batch from its buffers:
 * rows, nulls, NaNs, and the lowest and highest value without NaNs. Types for which no bounds are
 * kept, such as binary, lists, structs and dictionaries of anything but texts, get only the counts.
 * The buffers must have been checked. text-statistics.ts finds the bounds of texts.
 */
import {
  type Data,
  type Float,
  getBit,
  type Int,
  Precision,
  strideOf,
  Type,
  type Vector,
  validityOf,
} from '../../arrow/index.ts';
import { halvesToFloats } from '../../values/index.ts';
import { type ColumnStatistics, type StatisticValue, statisticKind } from './statistics.ts';
import { dictionaryBounds, textBounds, viewBounds } from './text-statistics.ts';

interface Bounds {
  readonly min?: StatisticValue;
  readonly max?: StatisticValue;
  readonly nans?: number;
  readonly minExact?: boolean;
  readonly maxExact?: boolean;
}

/** Expects data whose buffers were checked against its length. */
export function columnStatistics(data: Data): ColumnStatistics {
  const nulls = logicalNulls(data);
  const bounds = nulls < data.length ? boundsOf(data) : {};
  return {
    rows: data.length,
    nulls,
    nans: bounds.nans ?? 0,
    ...(bounds.min === undefined ? {} : { min: bounds.min }),
    ...(bounds.max === undefined ? {} : { max: bounds.max }),
    minExact: bounds.minExact ?? true,
    maxExact: bounds.maxExact ?? true,
  };
}

function logicalNulls(data: Data): number {
  const { type, length } = data;
  if (type.typeId === Type.Null) return length;
  const isNullValue = type.typeId === Type.Dictionary ? nullValues(data.dictionary) : undefined;
  if (type.typeId !== Type.Union && isNullValue === undefined) return Math.max(data.nullCount, 0);
  let nulls = 0;
  const indices = data.values as ArrayLike<number>;
  for (let row = 0; row < length; row += 1) {
    if (!data.getValid(row) || isNullValue?.(indices[row] as number) === true) nulls += 1;
  }
  return nulls;
}

const nullValues = (dictionary: Vector | undefined): ((index: number) => boolean) | undefined =>
  dictionary === undefined || dictionary.nullCount === 0
    ? undefined
    : (index) => !dictionary.isValid(index);

function boundsOf(data: Data): Bounds {
  const { type } = data;
  switch (statisticKind(type)) {
    case 'boolean':
      return booleanBounds(data);
    case 'integer':
      return (type as Int).isSigned === false
        ? unsignedBounds(data.values as Uint32Array, data)
        : integerBounds(data.values as Int32Array, data);
    case 'float':
      switch ((type as Float).precision) {
        case Precision.DOUBLE:
          return doubleBounds(data.values as Float64Array, data);
        case Precision.SINGLE:
          return singleBounds(data.values as Float32Array, data);
        default:
          return singleBounds(halvesToFloats(data.values as Uint16Array, data.length), data);
      }
    case 'bigint':
      return wordBounds(data);
    case 'text':
      if (type.typeId === Type.Dictionary) return dictionaryBounds(data);
      return type.typeId === Type.Utf8View ? viewBounds(data) : textBounds(data);
    case 'none':
      return {};
  }
}

function booleanBounds(data: Data): Bounds {
  const validity = validityOf(data);
  const values = data.values as Uint8Array;
  let some = false;
  let all = true;
  for (let at = data.offset, end = at + data.length; at < end && (all || !some); at += 1) {
    if (validity !== undefined && !getBit(validity, at)) continue;
    if (getBit(values, at)) some = true;
    else all = false;
  }
  return { min: all, max: some };
}

function integerBounds(values: Int32Array | Int16Array | Int8Array, data: Data): Bounds {
  const { offset, length } = data;
  const validity = validityOf(data);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < length; row += 1) {
    if (validity !== undefined && !getBit(validity, offset + row)) continue;
    const value = values[row] as number;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max };
}

/** The same loop apart, so that neither sees too many kinds of arrays to stay fast. */
function unsignedBounds(values: Uint32Array | Uint16Array | Uint8Array, data: Data): Bounds {
  const { offset, length } = data;
  const validity = validityOf(data);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < length; row += 1) {
    if (validity !== undefined && !getBit(validity, offset + row)) continue;
    const value = values[row] as number;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max };
}

function doubleBounds(values: Float64Array, data: Data): Bounds {
  const { offset, length } = data;
  const validity = validityOf(data);
  if (validity === undefined) return doublesBounds(values, length);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let nans = 0;
  for (let row = 0; row < length; row += 1) {
    if (!getBit(validity, offset + row)) continue;
    const value = values[row] as number;
    if (value < min) min = value;
    if (value > max) max = value;
    if (Number.isNaN(value)) nans += 1;
  }
  return floatBounds(min, max, nans);
}

/** The loop apart, without nulls to look for and without a call for NaN: a third of the time. */
function doublesBounds(values: Float64Array, length: number): Bounds {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let nans = 0;
  for (let row = 0; row < length; row += 1) {
    const value = values[row] as number;
    if (value < min) min = value;
    if (value > max) max = value;
    if (!(value <= Number.POSITIVE_INFINITY)) nans += 1;
  }
  return floatBounds(min, max, nans);
}

/** The loop of doubleBounds apart: one that sees both kinds of arrays takes a quarter longer. */
function singleBounds(values: Float32Array, data: Data): Bounds {
  const { offset, length } = data;
  const validity = validityOf(data);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let nans = 0;
  for (let row = 0; row < length; row += 1) {
    if (validity !== undefined && !getBit(validity, offset + row)) continue;
    const value = values[row] as number;
    if (value < min) min = value;
    if (value > max) max = value;
    if (Number.isNaN(value)) nans += 1;
  }
  return floatBounds(min, max, nans);
}

/** Zeros lose their sign: -0 and 0 are equal, and JSON has only one of them. */
function floatBounds(min: number, max: number, nans: number): Bounds {
  // Only NaNs, or only infinities of one sign: the starting values were never improved on.
  const onlyNaN = min === Number.POSITIVE_INFINITY && max === Number.NEGATIVE_INFINITY;
  return onlyNaN ? { nans } : { min: min + 0, max: max + 0, nans };
}

/** 64-bit and wider integers, compared as 32-bit words: per-value bigints would be 20 times slower. */
function wordBounds(data: Data): Bounds {
  const { type, offset, length } = data;
  const { buffer, byteOffset, byteLength } = data.values as ArrayBufferView;
  const words = new Int32Array(buffer, byteOffset, byteLength >> 2);
  const width = type.typeId === Type.Decimal ? strideOf(type) : 2;
  const signed = type.typeId !== Type.Int || (type as Int).isSigned;
  const validity = validityOf(data);
  const found = new Int32Array(2);
  if (width === 2) findWords(words, data, signed ? 0 : 0x80000000 | 0, validity, found);
  else {
    let low = -1;
    let high = -1;
    for (let row = 0; row < length; row += 1) {
      if (validity !== undefined && !getBit(validity, offset + row)) continue;
      if (low < 0 || compareWords(words, row, low, width) < 0) low = row;
      if (high < 0 || compareWords(words, row, high, width) > 0) high = row;
    }
    found[0] = low;
    found[1] = high;
  }
  const [low = 0, high = 0] = found;
  return {
    min: wideInteger(words, low, width, signed),
    max: wideInteger(words, high, width, signed),
  };
}

/**
 * Writes the rows of the lowest and highest pair of words to `found`. Flipping the top bit of unsigned
 * values gives them the order of signed ones. Nothing follows the loop: V8 compiles it while its first
 * call runs, when it knows nothing of what comes after, and would leave the compiled code there each time.
 */
function findWords(
  words: Int32Array,
  { offset, length }: Data,
  flip: number,
  validity: Uint8Array | undefined,
  found: Int32Array,
): void {
  let isFirst = true;
  let minTop = 0;
  let minLow = 0;
  let maxTop = 0;
  let maxLow = 0;
  for (let row = 0; row < length; row += 1) {
    if (validity !== undefined && !getBit(validity, offset + row)) continue;
    const top = (words[2 * row + 1] as number) ^ flip;
    const bottom = (words[2 * row] as number) >>> 0;
    if (isFirst || top < minTop || (top === minTop && bottom < minLow)) {
      found[0] = row;
      minTop = top;
      minLow = bottom;
    }
    if (isFirst || top > maxTop || (top === maxTop && bottom > maxLow)) {
      found[1] = row;
      maxTop = top;
      maxLow = bottom;
    }
    isFirst = false;
  }
}

function compareWords(words: Int32Array, a: number, b: number, width: number): number {
  let difference =
    (words[a * width + width - 1] as number) - (words[b * width + width - 1] as number);
  for (let word = width - 2; difference === 0 && word >= 0; word -= 1) {
    difference =
      ((words[a * width + word] as number) >>> 0) - ((words[b * width + word] as number) >>> 0);
  }
  return difference;
}

function wideInteger(words: Int32Array, row: number, width: number, signed: boolean): bigint {
  const top = words[row * width + width - 1] as number;
  let value = BigInt(signed ? top : top >>> 0);
  for (let word = width - 2; word >= 0; word -= 1) {
    value = (value << 32n) | BigInt((words[row * width + word] as number) >>> 0);
  }
  return value;
}
