/**
 * `sortedCells` compares single values of an Arrow column with constants, for binary search in a
 * sorted column, without decoding the rest of it. Values are ordered as SQL orders them: NaN is
 * above every other number, both zeros are equal, texts and bytes compare by their bytes, and nulls
 * come last. `comparePrefix` compares the starts of texts.
 */
import { type Data, DataType, getBit, sliceData, validityOf } from '../arrow/index.ts';
import { compareValues, loadColumn, reader, type Value } from '../sql/index.ts';

/** One column of a batch whose rows are sorted, nulls last. */
export interface SortedCells {
  readonly length: number;
  /** Below 0 where the value of the row is below `value`, 0 where they are equal. */
  compare(row: number, value: Value): number;
  /** Compares the start of the text in a row with `prefix`: 0 if the text begins with it. */
  comparePrefix(row: number, prefix: Uint8Array): number;
  isNull(row: number): boolean;
  value(row: number): Value;
}

const known = new WeakMap<Data, SortedCells>();

/** Prepares a column to be compared; gives the same object for the same column. */
export function sortedCells(data: Data): SortedCells {
  let cells = known.get(data);
  if (cells === undefined) {
    cells = new Cells(data);
    known.set(data, cells);
  }
  return cells;
}

type Compare = (row: number, value: Value) => number;

class Cells implements SortedCells {
  readonly length: number;
  readonly isNull: (row: number) => boolean;
  readonly #data: Data;
  readonly #compare: Compare;
  #bytes: TextBytes | undefined;

  constructor(data: Data) {
    const validity = validityOf(data);
    const { offset } = data;
    this.#data = data;
    this.length = data.length;
    this.isNull = validity === undefined ? () => false : (row) => !getBit(validity, offset + row);
    this.#compare = numbersOf(data) ?? this.#compareAny.bind(this);
  }

  compare(row: number, value: Value): number {
    return this.isNull(row) ? 1 : this.#compare(row, value);
  }

  comparePrefix(row: number, prefix: Uint8Array): number {
    if (this.isNull(row)) return 1;
    this.#bytes ??= textBytes(this.#data);
    return this.#bytes(row, prefix, prefix.length);
  }

  value(row: number): Value {
    return reader(loadColumn(sliceData(this.#data, row, 1)))(0);
  }

  #compareAny(row: number, value: Value): number {
    if (typeof value !== 'string') return compareValues(this.value(row), value);
    this.#bytes ??= textBytes(this.#data);
    return this.#bytes(row, utf8(value), Number.POSITIVE_INFINITY);
  }
}

let lastText = '';
let lastBytes: Uint8Array = new Uint8Array(0);

/** A search asks for one text many times in a row. */
function utf8(text: string): Uint8Array {
  if (text !== lastText) {
    lastText = text;
    lastBytes = Buffer.from(text);
  }
  return lastBytes;
}

/** Compares the first `most` bytes of the row's text with those of another. */
type TextBytes = (row: number, other: Uint8Array, most: number) => number;

function textBytes(data: Data): TextBytes {
  if (DataType.isUtf8(data.type) && data.valueOffsets instanceof Int32Array) {
    const offsets = data.valueOffsets;
    const { buffer, byteOffset, length } = data.values as Uint8Array;
    const bytes = Buffer.from(buffer, byteOffset, length);
    return (row, other, most) => {
      const begin = offsets[row] as number;
      const end = Math.min(offsets[row + 1] as number, begin + most);
      return bytes.compare(other, 0, other.length, begin, end);
    };
  }
  return (row, other, most) => {
    const text = reader(loadColumn(sliceData(data, row, 1)))(0);
    const own = Buffer.from(typeof text === 'string' ? text : (text as Uint8Array));
    return Buffer.compare(own.subarray(0, Math.min(most, own.length)), other);
  };
}

/** Compares types whose stored numbers are the values themselves; undefined for others. */
function numbersOf({ type, values }: Data): Compare | undefined {
  if (DataType.isFloat(type)) {
    if (!(values instanceof Float64Array || values instanceof Float32Array)) return undefined;
    return (row, value) => compareValues(values[row], value);
  }
  const isPlain =
    DataType.isInt(type) ||
    DataType.isTimestamp(type) ||
    DataType.isDuration(type) ||
    DataType.isTime(type) ||
    DataType.isDate(type);
  if (!isPlain || !ArrayBuffer.isView(values)) return undefined;
  const is64 = values instanceof BigInt64Array || values instanceof BigUint64Array;
  // Some types of 64 bits come as pairs of words.
  if (!is64 && !isSmall(type)) return undefined;
  const numbers = values as unknown as ArrayLike<number | bigint>;
  return (row, value) => {
    const own = numbers[row] as number;
    const other = value as number;
    return own < other ? -1 : own > other ? 1 : 0;
  };
}

const isSmall = (type: DataType): boolean =>
  (DataType.isInt(type) && type.bitWidth <= 32) ||
  (DataType.isTime(type) && type.bitWidth === 32) ||
  (DataType.isDate(type) && type.unit === 0);
