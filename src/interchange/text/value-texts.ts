/**
 * `plainText` returns a function that writes the values of a column as ASCII texts, for the CSV and
 * JSON writers; docs/data-in-and-out.md lists the form of each type. It returns undefined for types
 * that these writers handle themselves: texts, intervals, dictionaries and nested types. `bytesAt`
 * finds the bytes of texts and binaries by row, in an object that the next call overwrites, and
 * `nullAt` tells which rows are null.
 */
import {
  type Data,
  type DataType,
  type FixedSizeBinary,
  offsetAt,
  Type,
} from '../../arrow/index.ts';
import { decimalTexts, floatText, integerText, type WriteText } from './number-texts.ts';
import { dateText, timestampText, timeText } from './time-texts.ts';

/**
 * Writes values of one type as texts of ASCII that need no quotes in CSV; undefined for texts,
 * intervals and what is nested.
 */
export function plainText(data: Data): WriteText | undefined {
  const type = data.type as DataType;
  switch (type.typeId) {
    case Type.Null:
      return () => {};
    case Type.Int:
      return integerText(data);
    case Type.Float:
      return floatText(data);
    case Type.Decimal:
      return decimalTexts(data);
    case Type.Bool: {
      const bits = data.values as Uint8Array;
      const { offset } = data;
      return (out, row) => {
        const bit = offset + row;
        out.ascii(((bits[bit >>> 3] as number) & (1 << (bit & 7))) !== 0 ? 'true' : 'false');
      };
    }
    case Type.Date:
      return dateText(data);
    case Type.Time:
      return timeText(data);
    case Type.Timestamp:
      return timestampText(data);
    case Type.Duration:
      return integerTextOfCounts(data);
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return base64Text(data);
    default:
      return undefined;
  }
}

/** Durations have no bit width of their own. */
function integerTextOfCounts(data: Data): WriteText {
  const counts = data.values as BigInt64Array;
  return (out, row) => out.ascii(String(counts[row]));
}

function base64Text(data: Data): WriteText {
  const place = bytesAt(data);
  return (out, row) => {
    const { bytes, start, end } = place(row);
    const { buffer, byteOffset } = bytes;
    out.ascii(Buffer.from(buffer, byteOffset + start, end - start).toString('base64'));
  };
}

/** Some bytes of a buffer. The same object comes for every row. */
export interface Span {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Where the bytes of each row of a column of texts or binaries are. */
export function bytesAt(data: Data): (row: number) => Span {
  const type = data.type as DataType;
  const values = data.values as Uint8Array;
  const span: Span = { bytes: values, start: 0, end: 0 };
  switch (type.typeId) {
    case Type.FixedSizeBinary: {
      const width = (type as FixedSizeBinary).byteWidth;
      return (row) => {
        span.start = row * width;
        span.end = span.start + width;
        return span;
      };
    }
    case Type.Utf8View:
    case Type.BinaryView: {
      const views = new DataView(values.buffer, values.byteOffset, values.byteLength);
      return (row) => {
        const at = row * 16;
        const size = views.getInt32(at, true);
        if (size <= 12) {
          span.bytes = values;
          span.start = at + 4;
        } else {
          span.bytes = data.variadicBuffers[views.getInt32(at + 8, true)] as Uint8Array;
          span.start = views.getInt32(at + 12, true);
        }
        span.end = span.start + size;
        return span;
      };
    }
    default: {
      const offsets = data.valueOffsets;
      if (offsets instanceof Int32Array) {
        return (row) => {
          span.start = offsets[row] as number;
          span.end = offsets[row + 1] as number;
          return span;
        };
      }
      return (row) => {
        span.start = offsetAt(offsets as unknown as BigInt64Array, row);
        span.end = offsetAt(offsets as unknown as BigInt64Array, row + 1);
        return span;
      };
    }
  }
}

/** Whether a row is null, as its column says itself. */
export function nullAt(data: Data): (row: number) => boolean {
  if ((data.type as DataType).typeId === Type.Null) return () => true;
  if ((data.type as DataType).typeId === Type.Union || data.nullCount === 0) return () => false;
  const { nullBitmap, offset } = data;
  return (row) => {
    const bit = offset + row;
    return ((nullBitmap[bit >>> 3] as number) & (1 << (bit & 7))) === 0;
  };
}
