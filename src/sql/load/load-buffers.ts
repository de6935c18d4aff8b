/**
 * Converts the Arrow buffers of flat types to arrays that evaluation loops over, without copying if
 * the layout allows: `loadNumbers`, `loadDecimals`, `loadIntervals`, and `loadBytes` for texts and
 * binaries. `loadValidity` gives a byte a row, and `loadSpans` where texts or lists begin and end.
 * Offsets beyond 2 GiB throw Unsupported, and so do views whose values have more bytes together.
 * load.ts handles booleans, nested types and dictionaries.
 */
import { type Data, DataType, type Decimal, type Interval, Precision } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { halvesToFloats, type IntervalValue } from '../../values/index.ts';
import { MOST_COLUMN_BYTES } from '../texts/index.ts';
import {
  type Column,
  isWide,
  type NumberArray,
  type Validity,
  type Value,
} from '../typed/index.ts';

/** A byte a row; null where no row is null. */
export function loadValidity(data: Data): Validity {
  const { nullBitmap, length, offset } = data;
  if (DataType.isUnion(data.type) || nullBitmap === undefined || nullBitmap.length === 0)
    return null;
  if (data.nullCount === 0) return null;
  const valid = new Uint8Array(length);
  for (let i = 0, bit = offset; i < length; i++, bit++) {
    valid[i] = ((nullBitmap[bit >> 3] as number) >> (bit & 7)) & 1;
  }
  return valid;
}

export function loadNumbers(data: Data, valid: Validity): Column {
  const { type, length } = data;
  const raw = data.values as ArrayLike<number> & ArrayBufferView;
  if (isWide(type)) {
    const wide = raw as unknown as BigInt64Array | BigUint64Array | Int32Array;
    const values =
      wide instanceof BigInt64Array || wide instanceof BigUint64Array
        ? wide.subarray(0, length)
        : // date64 may come as pairs of 32-bit words.
          new BigInt64Array(wide.slice(0, length * 2).buffer);
    return { form: 'wide', type, length, values, valid };
  }
  return { form: 'number', type, length, values: numberArray(type, raw, length), valid };
}

/** Three kinds of arrays, so that the loops over them stay fast. */
function numberArray(
  type: DataType,
  raw: ArrayLike<number> & ArrayBufferView,
  length: number,
): NumberArray {
  if (raw instanceof Float64Array || raw instanceof Float32Array || raw instanceof Int32Array) {
    return raw.subarray(0, length);
  }
  if (DataType.isFloat(type) && type.precision === Precision.HALF) {
    return halvesToFloats(raw as Uint16Array, length);
  }
  const values = raw instanceof Uint32Array ? new Float64Array(length) : new Int32Array(length);
  for (let i = 0; i < length; i++) values[i] = raw[i] as number;
  return values;
}

/** Two's complement words, little end first; in 64 bits where every value fits them. */
export function loadDecimals(data: Data): BigInt64Array | bigint[] {
  const { length } = data;
  const stride = (data.type as Decimal).bitWidth / 32;
  const raw = data.values as Uint32Array;
  const words = new Int32Array(raw.buffer, raw.byteOffset, length * stride);
  const narrow = new BigInt64Array(length);
  const pairs = new Int32Array(narrow.buffer);
  let fits = true;
  if (stride === 4) {
    let beyond = 0;
    for (let i = 0, at = 0; i < 2 * length; i += 2, at += 4) {
      const high = words[at + 1] as number;
      const sign = high >> 31;
      beyond |= ((words[at + 2] as number) ^ sign) | ((words[at + 3] as number) ^ sign);
      pairs[i] = words[at] as number;
      pairs[i + 1] = high;
    }
    fits = beyond === 0;
  }
  for (let i = 0; i < length && fits && stride !== 4; i++) {
    const low = words[i * stride] as number;
    const high = stride === 1 ? low >> 31 : (words[i * stride + 1] as number);
    pairs[i * 2] = low;
    pairs[i * 2 + 1] = high;
    for (let k = 2; k < stride; k++) if (words[i * stride + k] !== high >> 31) fits = false;
  }
  if (fits) return narrow;
  const values: bigint[] = [];
  for (let i = 0; i < length; i++) {
    let value = BigInt(words[i * stride + stride - 1] as number);
    for (let k = stride - 2; k >= 0; k--) {
      value = (value << 32n) | BigInt((words[i * stride + k] as number) >>> 0);
    }
    values.push(value);
  }
  return values;
}

/** Where the values of each row begin and end: `width` apart, or where the offsets say. */
export function loadSpans(
  data: Data,
  width: number | undefined,
): { readonly starts: Int32Array; readonly ends: Int32Array } {
  const { length } = data;
  if (width === undefined) {
    const offsets = loadOffsets(data);
    return { starts: offsets.subarray(0, length), ends: offsets.subarray(1, length + 1) };
  }
  const starts = Int32Array.from({ length }, (_, i) => i * width);
  return { starts, ends: starts.map((start) => start + width) };
}

/** Offsets as 32-bit numbers, one more than there are rows. */
function loadOffsets(data: Data): Int32Array {
  const offsets = data.valueOffsets as unknown as Int32Array | BigInt64Array | undefined;
  if (offsets === undefined || data.length === 0) return new Int32Array(data.length + 1);
  if (offsets instanceof Int32Array) return offsets.subarray(0, data.length + 1);
  const narrow = new Int32Array(data.length + 1);
  for (let i = 0; i < narrow.length; i++) {
    const offset = offsets[i] ?? 0n;
    if (offset > MOST_COLUMN_BYTES) refuseLong();
    narrow[i] = Number(offset);
  }
  return narrow;
}

function refuseLong(): never {
  throw new DirspaceError(
    'Unsupported',
    'An expression cannot read a batch with more than 2 GiB in one column; use smaller batches',
  );
}

export function loadBytes(data: Data, valid: Validity): Column {
  const { type, length } = data;
  if (DataType.isUtf8View(type) || DataType.isBinaryView(type)) return loadViews(data, valid);
  const bytes = data.values as Uint8Array;
  const { starts, ends } = loadSpans(
    data,
    DataType.isFixedSizeBinary(type) ? type.byteWidth : undefined,
  );
  return {
    form: 'bytes',
    type,
    length,
    data: bytes ?? new Uint8Array(0),
    starts,
    ends,
    valid,
    dense: true,
  };
}

const VIEW_BYTES = 16;

const INLINE_BYTES = 12;

function loadViews(data: Data, valid: Validity): Column {
  const { type, length } = data;
  const views = data.values as Uint8Array;
  const view = new DataView(views.buffer, views.byteOffset, views.byteLength);
  const starts = new Int32Array(length);
  const ends = new Int32Array(length);
  let total = 0;
  for (let i = 0; i < length; i++) {
    starts[i] = total;
    if (valid === null || valid[i] === 1) total += Math.max(0, view.getInt32(i * VIEW_BYTES, true));
    // Views may share bytes, which have a copy each here.
    if (total > MOST_COLUMN_BYTES) refuseLong();
    ends[i] = total;
  }
  const bytes = new Uint8Array(total);
  for (let i = 0; i < length; i++) {
    const size = (ends[i] as number) - (starts[i] as number);
    const at = i * VIEW_BYTES;
    if (size === 0) continue;
    if (size <= INLINE_BYTES) {
      bytes.set(views.subarray(at + 4, at + 4 + size), starts[i]);
    } else {
      const source = data.variadicBuffers[view.getInt32(at + 8, true)] ?? new Uint8Array(0);
      const start = view.getInt32(at + 12, true);
      bytes.set(source.subarray(start, start + size), starts[i]);
    }
  }
  return { form: 'bytes', type, length, data: bytes, starts, ends, valid, dense: true };
}

export function loadIntervals(data: Data, valid: Validity): Value[] {
  const raw = data.values as Int32Array;
  const stride = data.stride;
  const values: Value[] = [];
  const unit = (data.type as Interval).unit as number;
  for (let i = 0; i < data.length; i++) {
    const at = i * stride;
    const word = (k: number): number => raw[at + k] ?? 0;
    let value: IntervalValue;
    if (unit === 0) value = { months: word(0), days: 0, nanos: 0n };
    else if (unit === 1) value = { months: 0, days: word(0), nanos: BigInt(word(1)) * 1_000_000n };
    else {
      const nanos = (BigInt(word(3)) << 32n) | BigInt(word(2) >>> 0);
      value = { months: word(0), days: word(1), nanos };
    }
    values.push(valid !== null && valid[i] === 0 ? null : value);
  }
  return values;
}
