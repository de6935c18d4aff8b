/**
 * Defines `Column`, the result of an expression for a batch of rows, in the forms on which
 * evaluation loops work, such as an array of doubles. Values of any form can be read row by row
 * (`reader`), and a column can be built from single values (`columnOf`), one value
 * (`constantColumn`) or truth values (`truthColumn`). `validityOf` tells which rows have a value;
 * `maskNulls` makes truth values of rows without one unknown, in place. `asSafeNumbers`,
 * `asExactNumbers` and `asSigned64` give the values as one array, or null if it does not hold them
 * exactly; the last two give one number for a constant.
 */
import { Bool, type DataType } from '../../arrow/index.ts';
import { familyOf, isWide } from './types.ts';

/**
 * One of these: boolean, number (floats, integers of at most 32 bits, date32, time32), bigint
 * (wider integers, decimals without their scale, timestamps and other times in their own unit),
 * string, Uint8Array, an IntervalValue, an array for a list, a plain object for a struct, null.
 */
export type Value = unknown;
export type NumberArray = Float64Array | Float32Array | Int32Array;
export type WideArray = BigInt64Array | BigUint64Array | readonly bigint[];

interface Base {
  readonly type: DataType;
  readonly length: number;
}

/** Three-valued truth, a byte a row: AND is the least, OR the greatest, NOT is 2 - x. */
export interface TruthColumn extends Base {
  readonly form: 'truth';
  readonly values: Uint8Array;
}

export const FALSE = 0;
export const UNKNOWN = 1;
export const TRUE = 2;

/** One byte a row, 1 where there is a value; null where every row has one. */
export type Validity = Uint8Array | null;

/** Numbers; also 64-bit integers whose values all lie within 2^53, as an evaluation's result. */
export interface NumberColumn extends Base {
  readonly form: 'number';
  readonly values: NumberArray;
  readonly valid: Validity;
}

export interface WideColumn extends Base {
  readonly form: 'wide';
  readonly values: WideArray;
  readonly valid: Validity;
}

/** UTF-8 text or binary; row i is `data[starts[i] .. ends[i])`. */
export interface BytesColumn extends Base {
  readonly form: 'bytes';
  readonly data: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** True where rows follow each other in `data` in order. */
  readonly dense: boolean;
  readonly valid: Validity;
}

export interface ListColumn extends Base {
  readonly form: 'list';
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly child: Column;
  readonly valid: Validity;
}

/** Canonical values as they are; `null` is null. */
export interface ValuesColumn extends Base {
  readonly form: 'values';
  readonly values: readonly Value[];
}

export interface ConstantColumn extends Base {
  readonly form: 'constant';
  readonly value: Value;
}

export interface StructColumn extends Base {
  readonly form: 'struct';
  readonly names: readonly string[];
  readonly children: readonly Column[];
  readonly valid: Validity;
}

export type Column =
  | TruthColumn
  | NumberColumn
  | WideColumn
  | BytesColumn
  | ListColumn
  | ValuesColumn
  | ConstantColumn
  | StructColumn;

export const BOOL: DataType = new Bool();

export function truthColumn(values: Uint8Array): TruthColumn {
  return { form: 'truth', type: BOOL, length: values.length, values };
}

export function constantColumn(type: DataType, value: Value, length: number): ConstantColumn {
  return { form: 'constant', type, value, length };
}

/** Reads canonical values by row. */
export function reader(column: Column): (row: number) => Value {
  switch (column.form) {
    case 'truth': {
      const { values } = column;
      return (row) => (values[row] === UNKNOWN ? null : values[row] === TRUE);
    }
    case 'number': {
      const { values, valid } = column;
      if (isWide(column.type)) {
        return (row) => (valid !== null && valid[row] === 0 ? null : BigInt(values[row] ?? 0));
      }
      return (row) => (valid !== null && valid[row] === 0 ? null : values[row]);
    }
    case 'wide': {
      const { values, valid } = column;
      return (row) => (valid !== null && valid[row] === 0 ? null : values[row]);
    }
    case 'bytes':
      return familyOf(column.type) === 'text' ? textReader(column) : bytesReader(column);
    case 'list':
      return listReader(column);
    case 'values':
      return (row) => column.values[row] ?? null;
    case 'constant':
      return () => column.value;
    case 'struct': {
      const { names, valid } = column;
      const readers = column.children.map(reader);
      return (row) => {
        if (valid !== null && valid[row] === 0) return null;
        return Object.fromEntries(names.map((name, i) => [name, readers[i]?.(row) ?? null]));
      };
    }
  }
}

function bytesReader(column: BytesColumn): (row: number) => Value {
  const { data, starts, ends, valid } = column;
  return (row) =>
    valid !== null && valid[row] === 0 ? null : data.subarray(starts[row], ends[row]);
}

/** Text of one code unit a byte is cut from one long string; the rest is decoded value by value. */
function textReader(column: BytesColumn): (row: number) => Value {
  const { data, starts, ends, valid, length } = column;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const first = length === 0 ? 0 : (starts[0] ?? 0);
  const last = length === 0 ? 0 : (ends[length - 1] ?? 0);
  if (column.dense && length > 8 && last - first < 1 << 28) {
    const text = bytes.toString('latin1', first, last);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this asks for ASCII
    if (!/[^\x00-\x7f]/.test(text)) {
      return (row) =>
        valid !== null && valid[row] === 0
          ? null
          : text.slice((starts[row] ?? 0) - first, (ends[row] ?? 0) - first);
    }
  }
  return (row) =>
    valid !== null && valid[row] === 0 ? null : bytes.toString('utf8', starts[row], ends[row]);
}

function listReader(column: ListColumn): (row: number) => Value {
  const { starts, ends, valid } = column;
  const read = reader(column.child);
  return (row) => {
    if (valid !== null && valid[row] === 0) return null;
    const items: Value[] = [];
    for (let i = starts[row] ?? 0; i < (ends[row] ?? 0); i++) items.push(read(i));
    return items;
  };
}

/** A column of canonical values, in the form its type is best looped over. */
export function columnOf(type: DataType, values: readonly Value[]): Column {
  const length = values.length;
  const family = familyOf(type);
  if (family === 'bool') {
    const truth = new Uint8Array(length);
    for (let i = 0; i < length; i++) {
      truth[i] = values[i] === true ? TRUE : values[i] === false ? FALSE : UNKNOWN;
    }
    return truthColumn(truth);
  }
  const numeric = family === 'int' || family === 'float' || family === 'date' || family === 'time';
  if (numeric && !isWide(type)) {
    const numbers = new Float64Array(length);
    let valid: Validity = null;
    for (let i = 0; i < length; i++) {
      const value = values[i];
      if (typeof value === 'number') numbers[i] = value;
      else {
        valid ??= new Uint8Array(length).fill(1);
        valid[i] = 0;
      }
    }
    return { form: 'number', type, length, values: numbers, valid };
  }
  if (isWide(type)) {
    const wide: bigint[] = new Array(length);
    let valid: Validity = null;
    for (let i = 0; i < length; i++) {
      const value = values[i];
      if (typeof value === 'bigint') wide[i] = value;
      else {
        valid ??= new Uint8Array(length).fill(1);
        valid[i] = 0;
        wide[i] = 0n;
      }
    }
    return { form: 'wide', type, length, values: wide, valid };
  }
  return { form: 'values', type, length, values };
}

/** One byte a row, 1 where `column` has a value; null where all rows have. */
export function validityOf(column: Column): Validity {
  switch (column.form) {
    case 'truth': {
      const valid = new Uint8Array(column.length);
      let nulls = 0;
      for (let i = 0; i < valid.length; i++) {
        const known = column.values[i] === UNKNOWN ? 0 : 1;
        valid[i] = known;
        nulls += 1 - known;
      }
      return nulls === 0 ? null : valid;
    }
    case 'values': {
      const valid = new Uint8Array(column.length);
      let nulls = 0;
      for (let i = 0; i < valid.length; i++) {
        if (column.values[i] === null || column.values[i] === undefined) nulls++;
        else valid[i] = 1;
      }
      return nulls === 0 ? null : valid;
    }
    case 'constant':
      return column.value === null ? new Uint8Array(column.length) : null;
    default:
      return column.valid;
  }
}

export function bothValid(a: Validity, b: Validity): Validity {
  if (a === null) return b;
  if (b === null || a === b) return a;
  const valid = new Uint8Array(a.length);
  for (let i = 0; i < valid.length; i++) valid[i] = (a[i] ?? 0) & (b[i] ?? 0);
  return valid;
}

/** Marks rows without a value as unknown. */
export function maskNulls(truth: Uint8Array, valid: Validity): Uint8Array {
  if (valid !== null) {
    for (let i = 0; i < truth.length; i++) if (valid[i] === 0) truth[i] = UNKNOWN;
  }
  return truth;
}

/**
 * The values as signed 64-bit integers: those of a wide column, or the one of a constant. Null where the
 * column has another form, or the constant does not fit.
 */
export function asSigned64(column: Column): BigInt64Array | bigint | null {
  if (column.form === 'wide' && column.values instanceof BigInt64Array) return column.values;
  if (column.form !== 'constant' || typeof column.value !== 'bigint') return null;
  return BigInt.asIntN(64, column.value) === column.value ? column.value : null;
}

/** The values as numbers that hold them exactly, one for a constant; null where some are no such numbers. */
export function asExactNumbers(column: Column): NumberArray | number | null {
  if (column.form === 'number') return column.values;
  if (column.form === 'wide') return asSafeNumbers(column);
  if (column.form !== 'constant') return null;
  const number = Number(column.value);
  return Number.isSafeInteger(number) ? number : null;
}

/** The values of a wide column as doubles; null where a double does not hold one of them exactly. */
export function asSafeNumbers(column: WideColumn): Float64Array | null {
  const { values, length } = column;
  const out = new Float64Array(length);
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const words = new Int32Array(values.buffer, values.byteOffset, length * 2);
    // Within [-2^53, 2^53), or [0, 2^53): what the high word may have added to be within 22 bits, or 21.
    const [add, most] = values instanceof BigInt64Array ? [0x200000, 0x3fffff] : [0, 0x1fffff];
    let outside = 0;
    for (let i = 0, j = 0; i < length; i++, j += 2) {
      const high = words[j + 1] as number;
      outside |= (high + add) & ~most;
      out[i] = high * 4294967296 + ((words[j] as number) >>> 0);
    }
    if (outside === 0 || column.valid === null) return outside === 0 ? out : null;
  }
  const { valid } = column;
  for (let i = 0; i < length; i++) {
    if (valid !== null && valid[i] === 0) {
      out[i] = 0;
      continue;
    }
    const number = Number(values[i]);
    if (!Number.isSafeInteger(number)) return null;
    out[i] = number;
  }
  return out;
}
