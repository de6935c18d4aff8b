/**
 * Writes the values of one column as JSON (`jsonCell`), or rows as objects (`objectOf`). Integers
 * and durations keep all their digits. Values that JSON has no form for become strings, such as
 * decimals, dates, NaN, and bytes as base64. Maps become lists of pairs, and intervals objects of
 * their parts. `wordOf` writes the values that the codes of a dictionary column stand for.
 */
import {
  type Data,
  type DataType,
  type Field,
  type FixedSizeList,
  type Interval,
  IntervalUnit,
  offsetAt,
  Type,
  type Union,
  UnionMode,
  type Vector,
} from '../../arrow/index.ts';
import {
  bytesAt,
  floatsOf,
  nullAt,
  plainText,
  type TextOut,
  type WriteText,
  writeFloat,
} from '../text/index.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58] as const;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125] as const;

/** Writes the value of a row, `null` where it is. */
export function jsonCell(data: Data): WriteText {
  const write = writeOf(data);
  const isNull = nullAt(data);
  return (out, row) => {
    if (isNull(row)) out.ascii('null');
    else write(out, row);
  };
}

function writeOf(data: Data): WriteText {
  // Empty data may lack its children, as apache-arrow makes it.
  if (data.length === 0) return () => {};
  const type = data.type as DataType;
  switch (type.typeId) {
    case Type.Int:
    case Type.Bool:
    case Type.Duration:
      return plainText(data) as WriteText;
    case Type.Float: {
      const float = floatsOf(data);
      return (out, row) => {
        const value = float(row);
        if (Number.isFinite(value)) writeFloat(out, value);
        else out.ascii(`"${value}"`);
      };
    }
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View: {
      const place = bytesAt(data);
      return (out, row) => {
        const { bytes, start, end } = place(row);
        writeString(out, bytes, start, end);
      };
    }
    case Type.Interval:
      return intervalValue(data, (type as Interval).unit);
    case Type.List:
    case Type.LargeList: {
      const items = jsonCell(data.children[0] as Data);
      const offsets = data.valueOffsets;
      return (out, row) => list(out, items, offsetAt(offsets, row), offsetAt(offsets, row + 1));
    }
    case Type.FixedSizeList: {
      const items = jsonCell(data.children[0] as Data);
      const size = (type as FixedSizeList).listSize;
      return (out, row) => list(out, items, row * size, (row + 1) * size);
    }
    case Type.Struct:
      return objectOf(type.children as readonly Field[], data.children);
    case Type.Map: {
      const [keys, values] = (data.children[0] as Data).children.map(jsonCell);
      const pair: WriteText = (out, row) => {
        out.byte(OPEN_LIST);
        keys?.(out, row);
        out.byte(COMMA);
        values?.(out, row);
        out.byte(CLOSE_LIST);
      };
      const offsets = data.valueOffsets;
      return (out, row) => list(out, pair, offsetAt(offsets, row), offsetAt(offsets, row + 1));
    }
    case Type.Dictionary:
      return wordOf(data.dictionary as Vector, data.values as Int32Array);
    case Type.Union: {
      const { mode, typeIdToChildIndex } = type as Union;
      const cells = data.children.map(jsonCell);
      const isDense = mode === UnionMode.Dense;
      return (out, row) => {
        const cell = cells[typeIdToChildIndex[data.typeIds[row] as number] as number];
        cell?.(out, isDense ? (data.valueOffsets[row] as number) : row);
      };
    }
    default: {
      const text = plainText(data) as WriteText;
      return (out, row) => {
        out.byte(QUOTE);
        text(out, row);
        out.byte(QUOTE);
      };
    }
  }
}

function list(out: TextOut, items: WriteText, from: number, to: number): void {
  out.byte(OPEN_LIST);
  for (let item = from; item < to; item++) {
    if (item > from) out.byte(COMMA);
    items(out, item);
  }
  out.byte(CLOSE_LIST);
}

/** Writes rows as objects with a member for each column. */
export function objectOf(fields: readonly Field[], columns: readonly Data[]): WriteText {
  const cells = columns.map(jsonCell);
  const heads = fields.map(({ name }, at) => {
    const json = Buffer.from(JSON.stringify(name));
    return Buffer.concat([at === 0 ? Buffer.of() : Buffer.of(COMMA), json, Buffer.of(COLON)]);
  });
  return (out, row) => {
    out.byte(OPEN_OBJECT);
    for (let at = 0; at < cells.length; at++) {
      const head = heads[at] as Buffer;
      out.copy(head);
      (cells[at] as WriteText)(out, row);
    }
    out.byte(CLOSE_OBJECT);
  };
}

/** The values that the codes of a dictionary column stand for; it may have several chunks. */
export function wordOf(
  dictionary: Vector,
  codes: ArrayLike<number | bigint>,
  cellOf: (data: Data) => WriteText = jsonCell,
): WriteText {
  const chunks = dictionary.data as readonly Data[];
  const cells = chunks.map(cellOf);
  if (cells.length === 1) {
    const [cell] = cells as [WriteText];
    return (out, row) => cell(out, Number(codes[row]));
  }
  const ends: number[] = [];
  for (const { length } of chunks) ends.push((ends.at(-1) ?? 0) + length);
  return (out, row) => {
    const code = Number(codes[row]);
    const chunk = ends.findIndex((end) => code < end);
    cells[chunk]?.(out, code - (chunk === 0 ? 0 : (ends[chunk - 1] as number)));
  };
}

function intervalValue(data: Data, unit: IntervalUnit): WriteText {
  const words = data.values as Int32Array;
  const at = (index: number): number => words[index] as number;
  if (unit === IntervalUnit.YEAR_MONTH) return (out, row) => out.ascii(`{"months":${at(row)}}`);
  if (unit === IntervalUnit.DAY_TIME) {
    return (out, row) => out.ascii(`{"days":${at(2 * row)},"milliseconds":${at(2 * row + 1)}}`);
  }
  return (out, row) => {
    const nanoseconds = (BigInt(at(4 * row + 3)) << 32n) | BigInt(at(4 * row + 2) >>> 0);
    out.ascii(`{"months":${at(4 * row)},"days":${at(4 * row + 1)},"nanoseconds":${nanoseconds}}`);
  };
}

/** How bytes stand in a JSON string: 0 as they are, 1 escaped. */
const ESCAPES = new Uint8Array(256);
ESCAPES.fill(1, 0, 0x20);
ESCAPES[QUOTE] = 1;
ESCAPES[BACKSLASH] = 1;
const SHORT_ESCAPES: Readonly<Record<number, string>> = {
  8: '\\b',
  9: '\\t',
  10: '\\n',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

/** UTF-8 bytes as a JSON string. */
function writeString(out: TextOut, from: Uint8Array, start: number, end: number): void {
  out.room(end - start + 2);
  out.byte(QUOTE);
  let { bytes, at } = out;
  for (let each = start; each < end; each++) {
    const byte = from[each] as number;
    if (ESCAPES[byte] === 0) {
      bytes[at++] = byte;
      continue;
    }
    out.at = at;
    out.room(6 + end - each);
    out.ascii(SHORT_ESCAPES[byte] ?? `\\u00${byte.toString(16).padStart(2, '0')}`);
    // Room for the rest is kept.
    out.room(1 + end - each);
    ({ bytes, at } = out);
  }
  out.at = at;
  out.byte(QUOTE);
}
