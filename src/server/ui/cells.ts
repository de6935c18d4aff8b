/**
 * `cellReader` turns a column of Arrow data into the cells that the page shows: numbers, booleans,
 * null, and texts for all other values. Integers of 64 bits, decimals, dates and times are texts
 * with all their digits. Bytes are hexadecimal, and lists, structs and maps read like JSON. Texts
 * beyond a limit are cut.
 */
import {
  type Data,
  type DataType,
  type Dictionary,
  type Field,
  type FixedSizeList,
  type Float,
  type Interval,
  IntervalUnit,
  Precision,
  plainType,
  Type,
  type Union,
  UnionMode,
  Vector,
} from '../../arrow/index.ts';
import { cutText, inWords, type Value as SqlValue, shownNumber } from '../../sql/index.ts';
import { decimalText, decimalWords, shortestSingle } from '../../values/index.ts';

export type Cell = string | number | boolean | null;
type Reader = (row: number) => Cell;

/** The cells of one column, by row. */
export function cellReader(data: Data, most: number): Reader {
  const read = valueReader(data, most);
  if (data.typeId === Type.Union || data.typeId === Type.Null) return read;
  const { nullBitmap, offset, nullCount } = data;
  if (nullCount === 0) return read;
  return (row) => {
    const bit = offset + row;
    return ((nullBitmap[bit >> 3] as number) & (1 << (bit & 7))) === 0 ? null : read(row);
  };
}

type Numbers = ArrayLike<number | bigint>;

function valueReader(data: Data, most: number): Reader {
  const type = data.type as DataType;
  const values = data.values as Numbers;
  switch (type.typeId) {
    case Type.Null:
      return () => null;
    case Type.Int:
      return (row) => exact(values[row] as number | bigint);
    case Type.Float:
      return floatReader(data, (type as Float).precision);
    case Type.Bool: {
      const bits = data.values as Uint8Array;
      return (row) => {
        const bit = data.offset + row;
        return ((bits[bit >> 3] as number) & (1 << (bit & 7))) !== 0;
      };
    }
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary: {
      const vector = new Vector([data]);
      return (row) => textCell(vector.get(row), most);
    }
    case Type.Decimal: {
      const { scale, bitWidth } = type as DataType & { scale: number; bitWidth: number };
      const words = bitWidth / 32;
      const from = data.values as Uint32Array;
      return (row) => decimalText(decimalWords(from, row * words, words), scale);
    }
    case Type.Date:
    case Type.Time:
    case Type.Timestamp:
    case Type.Duration:
      return (row) => inWords(values[row] as SqlValue, type);
    case Type.Interval:
      return intervalReader(data, (type as Interval).unit);
    case Type.List:
    case Type.LargeList: {
      const items = innerReader(data.children[0] as Data, most);
      const offsets = data.valueOffsets as unknown as Numbers;
      return (row) => listText(items, Number(offsets[row]), Number(offsets[row + 1]), most);
    }
    case Type.FixedSizeList: {
      const { listSize } = type as FixedSizeList;
      const items = innerReader(data.children[0] as Data, most);
      return (row) => listText(items, row * listSize, (row + 1) * listSize, most);
    }
    case Type.Struct:
      return structReader(data, type.children as Field[], most);
    case Type.Map:
      return mapReader(data, most);
    case Type.Dictionary:
      return dictionaryReader(data, type as Dictionary, most);
    case Type.Union:
      return unionReader(data, most);
    default:
      return () => `(${String(type)})`;
  }
}

const exact = (value: number | bigint): Cell =>
  typeof value === 'bigint' ? value.toString() : value;

function floatReader(data: Data, precision: Precision): Reader {
  const vector = new Vector([data]);
  if (precision === Precision.DOUBLE) return (row) => shownNumber(vector.get(row));
  return (row) => shownNumber(shortestSingle(vector.get(row)));
}

function textCell(value: string | Uint8Array, most: number): Cell {
  if (typeof value === 'string') return cutText(value, most);
  const shown = value.subarray(0, most);
  const text = Buffer.from(shown.buffer, shown.byteOffset, shown.byteLength).toString('hex');
  return cutText(`0x${text}`, most);
}

/** Types whose cells are texts that stay without quotes inside others. */
const UNQUOTED: readonly Type[] = [
  ...[Type.List, Type.LargeList, Type.FixedSizeList, Type.Struct, Type.Map],
  ...[Type.Int, Type.Decimal],
];

/** The cells of a column inside another, as JSON has them. */
function innerReader(data: Data, most: number): (row: number) => string {
  if (data.typeId === Type.Union) {
    const readers = data.children.map((child) => innerReader(child, most));
    return (row) => unionMember(data, row, readers) ?? 'null';
  }
  const read = cellReader(data, most);
  const type = data.type as DataType;
  const { typeId } = plainType(type);
  if (UNQUOTED.includes(typeId)) return (row) => String(read(row));
  return (row) => {
    const cell = read(row);
    return typeof cell === 'string' ? JSON.stringify(cell) : String(cell);
  };
}

function listText(items: (row: number) => string, from: number, to: number, most: number): string {
  let text = '[';
  for (let at = from; at < to; at++) {
    if (text.length > most) return `${cutText(text, most)} (${to - from} values)`;
    text += (at === from ? '' : ', ') + items(at);
  }
  return `${text}]`;
}

function structReader(data: Data, fields: readonly Field[], most: number): Reader {
  const readers = data.children.map((child) => innerReader(child, most));
  return (row) => {
    const parts = readers.map(
      (read, at) => `${JSON.stringify(fields[at]?.name ?? '')}: ${read(row)}`,
    );
    return cutText(`{${parts.join(', ')}}`, most);
  };
}

function mapReader(data: Data, most: number): Reader {
  const [key, value] = (data.children[0] as Data).children as [Data, Data];
  const keys = cellReader(key, most);
  const values = innerReader(value, most);
  const offsets = data.valueOffsets as unknown as Numbers;
  return (row) => {
    const parts: string[] = [];
    for (
      let at = Number(offsets[row]);
      at < Number(offsets[row + 1]) && parts.length < most;
      at++
    ) {
      parts.push(`${JSON.stringify(String(keys(at)))}: ${values(at)}`);
    }
    return cutText(`{${parts.join(', ')}}`, most);
  };
}

function dictionaryReader(data: Data, type: Dictionary, most: number): Reader {
  const codes = data.values as Numbers;
  const words = (data.dictionary as Vector).data.map((part) => ({
    read: cellReader(part as Data, most),
    length: part.length,
  }));
  return (row) => {
    let code = Number(codes[row]);
    for (const { read, length } of words) {
      if (code < length) return read(code);
      code -= length;
    }
    return `(${String(type)})`;
  };
}

function unionReader(data: Data, most: number): Reader {
  const readers = data.children.map((child) => cellReader(child, most));
  return (row) => unionMember(data, row, readers) ?? null;
}

/** What the reader of the member that a row is of says; undefined for a member that is not there. */
function unionMember<Read>(
  data: Data,
  row: number,
  readers: readonly ((row: number) => Read)[],
): Read | undefined {
  const { typeIds, mode } = data.type as Union;
  const member = typeIds.indexOf(data.typeIds[row] as number);
  const offsets = data.valueOffsets as Int32Array;
  return readers[member]?.(mode === UnionMode.Dense ? (offsets[row] as number) : row);
}

function intervalReader(data: Data, unit: IntervalUnit): Reader {
  const words = data.values as Int32Array;
  const text = (months: number, days: number, nanos: bigint): string =>
    inWords({ months, days, nanos } as unknown as SqlValue, data.type);
  if (unit === IntervalUnit.YEAR_MONTH) return (row) => text(words[row] as number, 0, 0n);
  if (unit === IntervalUnit.DAY_TIME) {
    return (row) =>
      text(0, words[2 * row] as number, BigInt(words[2 * row + 1] as number) * 1_000_000n);
  }
  return (row) => {
    const [months, days, low, high] = words.subarray(4 * row, 4 * row + 4) as unknown as number[];
    return text(
      months as number,
      days as number,
      BigInt.asIntN(64, (BigInt(high as number) << 32n) | BigInt((low as number) >>> 0)),
    );
  };
}
