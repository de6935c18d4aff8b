/**
 * `plainValues` encodes a range of a leaf's values in Parquet's plain encoding and returns the
 * bytes. It takes the values from the rows of Arrow data that the caller names, which must not be
 * null. It throws InvalidInput for a value that the Parquet type cannot hold unchanged, such as a
 * negative interval.
 */
import {
  bytesOf,
  byteWidth,
  type Data,
  type DataType,
  type Int,
  type Interval,
  IntervalUnit,
  type Time,
  type Timestamp,
  TimeUnit,
  Type,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { bytesAt } from '../text/index.ts';
import { isDays, type WriteLeaf } from './write-schema.ts';

/** The row of each of the values from `from` to before `to`. */
type RowAt = (value: number) => number;

/** @param rows of the data that have the values; all of them where it is undefined */
export function plainValues(
  leaf: WriteLeaf,
  data: Data | undefined,
  rows: Int32Array | undefined,
  from: number,
  to: number,
): Uint8Array {
  const count = to - from;
  if (data === undefined || count === 0) return new Uint8Array(0);
  const rowAt: RowAt = rows === undefined ? (value) => value : (value) => rows[value] as number;
  const type = data.type as DataType;
  switch (type.typeId) {
    case Type.Null:
      return new Uint8Array(0);
    case Type.Bool:
      return packed(data, rowAt, from, to);
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
      return lengthsAndBytes(data, rowAt, from, to);
    case Type.Int:
      if ((type as Int).bitWidth < 32) return widened(data, rowAt, from, to);
      break;
    case Type.Decimal:
      return decimals(leaf, data, rowAt, from, to);
    case Type.Interval:
      return intervals(leaf, data, rowAt, from, to);
    case Type.Date:
      if (!isDays(type)) return wholeDays(leaf, data, rowAt, from, to);
      break;
    case Type.Time:
      if ((type as Time).unit === TimeUnit.SECOND)
        return millisOfSeconds(leaf, data, rowAt, from, to);
      break;
    case Type.Timestamp:
      if ((type as Timestamp).unit === TimeUnit.SECOND)
        return wideMillis(leaf, data, rowAt, from, to);
      break;
  }
  return copied(data, rows, from, to);
}

/** Values that lie in Parquet as they do in Arrow. */
function copied(data: Data, rows: Int32Array | undefined, from: number, to: number): Uint8Array {
  const width = byteWidth(data.type as DataType);
  const bytes = bytesOf(data.values as Uint8Array);
  if (rows === undefined) return bytes.subarray(from * width, to * width);
  const out = new Uint8Array((to - from) * width);
  if (width % 4 === 0 && bytes.byteOffset % 4 === 0) {
    const per = width / 4;
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    const into = new Int32Array(out.buffer);
    for (let value = from, at = 0; value < to; value++) {
      const start = (rows[value] as number) * per;
      for (let each = 0; each < per; each++) into[at++] = words[start + each] as number;
    }
    return out;
  }
  for (let value = from, at = 0; value < to; value++) {
    const start = (rows[value] as number) * width;
    for (let each = 0; each < width; each++) out[at++] = bytes[start + each] as number;
  }
  return out;
}

function widened(data: Data, rowAt: RowAt, from: number, to: number): Uint8Array {
  const values = data.values as Int8Array;
  const out = new Int32Array(to - from);
  for (let value = from; value < to; value++) out[value - from] = values[rowAt(value)] as number;
  return bytesOf(out);
}

function packed(data: Data, rowAt: RowAt, from: number, to: number): Uint8Array {
  const bits = data.values as Uint8Array;
  const out = new Uint8Array((to - from + 7) >> 3);
  for (let value = from; value < to; value++) {
    const bit = data.offset + rowAt(value);
    if (((bits[bit >>> 3] as number) & (1 << (bit & 7))) === 0) continue;
    const into = value - from;
    out[into >> 3] = (out[into >> 3] as number) | (1 << (into & 7));
  }
  return out;
}

function lengthsAndBytes(data: Data, rowAt: RowAt, from: number, to: number): Uint8Array {
  const place = bytesAt(data);
  let size = 4 * (to - from);
  for (let value = from; value < to; value++) {
    const { start, end } = place(rowAt(value));
    size += end - start;
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (let value = from; value < to; value++) {
    const { bytes, start, end } = place(rowAt(value));
    const length = end - start;
    out[at] = length & 255;
    out[at + 1] = (length >> 8) & 255;
    out[at + 2] = (length >> 16) & 255;
    out[at + 3] = length >>> 24;
    at += 4;
    if (length > 24) out.set(bytes.subarray(start, end), at);
    else for (let each = 0; each < length; each++) out[at + each] = bytes[start + each] as number;
    at += length;
  }
  return out;
}

function decimals(leaf: WriteLeaf, data: Data, rowAt: RowAt, from: number, to: number): Uint8Array {
  const { width } = leaf;
  const own = byteWidth(data.type as DataType);
  const bytes = bytesOf(data.values as Uint32Array);
  const out = new Uint8Array((to - from) * width);
  for (let value = from, at = 0; value < to; value++, at += width) {
    const start = rowAt(value) * own;
    for (let byte = 0; byte < width; byte++)
      out[at + width - 1 - byte] = bytes[start + byte] as number;
    // Arrow's decimals may have more digits than their type says.
    const fill = (out[at] as number) >= 128 ? 255 : 0;
    for (let byte = width; byte < own; byte++) {
      if (bytes[start + byte] !== fill)
        throw misfit(leaf, 'a decimal of more digits than its type has');
    }
  }
  return out;
}

function intervals(
  leaf: WriteLeaf,
  data: Data,
  rowAt: RowAt,
  from: number,
  to: number,
): Uint8Array {
  const words = data.values as Int32Array;
  const { unit } = data.type as unknown as Interval;
  const out = new Int32Array(3 * (to - from));
  for (let value = from, at = 0; value < to; value++, at += 3) {
    const row = rowAt(value);
    let [months, days, millis] = [0, 0, 0];
    if (unit === IntervalUnit.YEAR_MONTH) months = words[row] as number;
    else if (unit === IntervalUnit.DAY_TIME) {
      days = words[2 * row] as number;
      millis = words[2 * row + 1] as number;
    } else {
      months = words[4 * row] as number;
      days = words[4 * row + 1] as number;
      const nanos =
        (words[4 * row + 3] as number) * 2 ** 32 + ((words[4 * row + 2] as number) >>> 0);
      millis = nanos / 1e6;
    }
    const fits = (part: number): boolean => Number.isInteger(part) && part >= 0 && part < 2 ** 32;
    if (!fits(months) || !fits(days) || !fits(millis)) {
      throw misfit(leaf, 'an interval that is negative, or finer than milliseconds');
    }
    out[at] = months;
    out[at + 1] = days;
    out[at + 2] = millis;
  }
  return bytesOf(out);
}

const DAY_MILLIS = 86_400_000n;

function wholeDays(
  leaf: WriteLeaf,
  data: Data,
  rowAt: RowAt,
  from: number,
  to: number,
): Uint8Array {
  const millis = data.values as BigInt64Array;
  const out = new Int32Array(to - from);
  for (let value = from; value < to; value++) {
    const found = millis[rowAt(value)] as bigint;
    const days = Number(found / DAY_MILLIS);
    if (found % DAY_MILLIS !== 0n || (days | 0) !== days) {
      throw misfit(leaf, 'a date of milliseconds that is no whole day');
    }
    out[value - from] = days;
  }
  return bytesOf(out);
}

function millisOfSeconds(
  leaf: WriteLeaf,
  data: Data,
  rowAt: RowAt,
  from: number,
  to: number,
): Uint8Array {
  const seconds = data.values as Int32Array;
  const out = new Int32Array(to - from);
  for (let value = from; value < to; value++) {
    const millis = (seconds[rowAt(value)] as number) * 1000;
    if ((millis | 0) !== millis) throw misfit(leaf, 'a time that is in no day');
    out[value - from] = millis;
  }
  return bytesOf(out);
}

function wideMillis(
  leaf: WriteLeaf,
  data: Data,
  rowAt: RowAt,
  from: number,
  to: number,
): Uint8Array {
  const seconds = data.values as BigInt64Array;
  const out = new BigInt64Array(to - from);
  for (let value = from; value < to; value++) {
    const millis = (seconds[rowAt(value)] as bigint) * 1000n;
    out[value - from] = millis;
    if (out[value - from] !== millis)
      throw misfit(leaf, 'a timestamp of more than 64 bits in milliseconds');
  }
  return bytesOf(out);
}

const misfit = ({ path }: WriteLeaf, what: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The column ${JSON.stringify(path.join('.'))} has ${what}, which Parquet cannot hold. Write Arrow, or select it as text.`,
    { details: { column: path.join('.') } },
  );
