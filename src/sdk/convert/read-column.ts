/**
 * `readColumn` reads a column of Arrow data as JavaScript values; its comment lists the values of
 * each type. `readRecords` joins columns into row objects. Values share no memory with the column.
 * Integers of 64 bits are bigints. Dates, and timestamps in seconds or milliseconds, are Dates;
 * finer timestamps, and values beyond the range of a Date, are bigints. A type without such values
 * throws Unsupported.
 */
import { Buffer, isAscii } from 'node:buffer';
import {
  type Data,
  type DataType,
  type Date_,
  DateUnit,
  type Decimal,
  type Dictionary,
  describeType,
  type Field,
  type FixedSizeBinary,
  type FixedSizeList,
  type Float,
  gather,
  type Interval,
  IntervalUnit,
  Precision,
  sliceData,
  type Timestamp,
  TimeUnit,
  Type,
  type Union,
  UnionMode,
  type Vector,
  valueArray,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { decimalText, decimalWords, halfValue, MILLIS_PER_DAY } from '../../values/index.ts';
import { ROW } from './row-prototype.ts';
import { vectorClass } from './vector-values.ts';

type Numbers = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;
type Anything = Numbers | Float32Array | Float64Array | BigInt64Array | BigUint64Array;

/**
 * The values of a column:
 * - numbers for floats and integers of up to 32 bits, bigints for 64-bit integers;
 * - a Date for dates and for timestamps in seconds or milliseconds; a bigint in the column's own
 *   unit for the finer timestamps, which a Date cannot hold, and for values beyond a Date's range;
 * - numbers for 32-bit times, bigints for 64-bit times and durations, in their own units;
 * - strings for decimals, with all digits of the scale; Uint8Array (a copy) for binaries;
 * - arrays for lists; a typed array, see `vectorClass`, for a fixed-size list of numbers, unless
 *   they are of float16 or one is null;
 * - objects as rows are for structs, a Map for maps, an object of its parts for intervals.
 */
export function readColumn(data: Data): unknown[] {
  // Empty data may lack its children, as apache-arrow makes it.
  if (data.length === 0) return [];
  const values = readValues(data);
  if (hasBitmap(data.type) && data.nullCount > 0) {
    const { nullBitmap, offset } = data;
    for (let i = 0, bit = offset; i < values.length; i++, bit++) {
      if (((nullBitmap[bit >> 3] as number) & (1 << (bit & 7))) === 0) values[i] = null;
    }
  }
  return values;
}

const hasBitmap = (type: DataType): boolean =>
  type.typeId !== Type.Null && type.typeId !== Type.Union;

function readValues(data: Data): unknown[] {
  const { length } = data;
  const type = data.type as DataType;
  switch (type.typeId) {
    case Type.Null:
      return new Array(length).fill(null);
    case Type.Int:
    case Type.Time:
    case Type.Duration:
      return fill(length, data.values as Anything);
    case Type.Float: {
      if ((type as Float).precision !== Precision.HALF)
        return fill(length, data.values as Anything);
      const halves = data.values as Uint16Array;
      return make(length, (i) => halfValue(halves[i] as number));
    }
    case Type.Bool: {
      const bits = data.values as Uint8Array;
      return make(length, (i) => {
        const bit = data.offset + i;
        return ((bits[bit >> 3] as number) & (1 << (bit & 7))) !== 0;
      });
    }
    case Type.Utf8:
    case Type.LargeUtf8:
      return readText(data);
    case Type.Binary:
    case Type.LargeBinary: {
      const bytes = data.values as Uint8Array;
      return slices(data, (start, end) => copyOf(bytes, start, end));
    }
    case Type.Utf8View:
      return make(length, (i) => Buffer.from(viewed(data, i)).toString('utf8'));
    case Type.BinaryView:
      return make(length, (i) => new Uint8Array(viewed(data, i)));
    case Type.FixedSizeBinary: {
      const { byteWidth } = type as FixedSizeBinary;
      const bytes = data.values as Uint8Array;
      return make(length, (i) => copyOf(bytes, i * byteWidth, (i + 1) * byteWidth));
    }
    case Type.Decimal: {
      const { scale, bitWidth } = type as Decimal;
      const words = bitWidth / 32;
      const from = data.values as Uint32Array;
      return make(length, (i) => decimalText(decimalWords(from, i * words, words), scale));
    }
    case Type.Date: {
      if ((type as Date_).unit === DateUnit.MILLISECOND) return dates(data, 1);
      const days = data.values as Int32Array;
      return make(length, (i) => {
        const count = days[i] as number;
        return Math.abs(count) <= DATE_LIMIT / MILLIS_PER_DAY
          ? new Date(count * MILLIS_PER_DAY)
          : BigInt(count);
      });
    }
    case Type.Timestamp: {
      const { unit } = type as Timestamp;
      if (unit === TimeUnit.MILLISECOND) return dates(data, 1);
      if (unit === TimeUnit.SECOND) return dates(data, 1000);
      return fill(length, data.values as BigInt64Array);
    }
    case Type.Interval:
      return intervals(data, (type as Interval).unit);
    case Type.List:
    case Type.LargeList: {
      const { first, rows } = spannedRows(data);
      const items = readColumn(rows);
      return slices(data, (start, end) => items.slice(start - first, end - first));
    }
    case Type.FixedSizeList:
      return readFixedLists(data, type as FixedSizeList);
    case Type.Struct:
      return readRecords(type.children as Field[], data.children, length);
    case Type.Map: {
      const { first, rows } = spannedRows(data);
      const [keys = [], items = []] = rows.children.map(readColumn);
      return slices(data, (start, end) => {
        const map = new Map<unknown, unknown>();
        for (let i = start - first; i < end - first; i++) map.set(keys[i], items[i]);
        return map;
      });
    }
    case Type.Dictionary: {
      const codes = data.values as Numbers;
      if (isMutable((type as Dictionary).dictionary)) return ownWords(data, codes);
      const words = readDictionary(data);
      return make(length, (i) => words[Number(codes[i])]);
    }
    case Type.Union:
      return readUnion(data, type as Union);
    default:
      throw new DirspaceError(
        'Unsupported',
        `Columns of ${describeType(type)} cannot be read as rows.`,
      );
  }
}

function make<T>(length: number, value: (index: number) => T): T[] {
  const out = new Array<T>(length);
  for (let i = 0; i < length; i++) out[i] = value(i);
  return out;
}

function fill(length: number, values: Anything): unknown[] {
  const out = new Array<unknown>(length);
  for (let i = 0; i < length; i++) out[i] = values[i];
  return out;
}

/** A plain Uint8Array of its own memory, whatever kind of bytes the batch holds. */
const copyOf = (bytes: Uint8Array, start: number, end: number): Uint8Array =>
  new Uint8Array(bytes.subarray(start, end));

function slices<T>(data: Data, value: (start: number, end: number) => T): T[] {
  const offsets = data.valueOffsets as Int32Array | BigInt64Array;
  return make(data.length, (i) => value(Number(offsets[i]), Number(offsets[i + 1])));
}

/** The rows of a list column's child that its lists are made of: of a slice these are few. */
function spannedRows({ length, valueOffsets, children }: Data): { first: number; rows: Data } {
  const first = Number(valueOffsets[0]);
  const rows = sliceData(children[0] as Data, first, Number(valueOffsets[length]) - first);
  return { first, rows };
}

function readText(data: Data): string[] {
  if (data.length === 0) return [];
  const offsets = data.valueOffsets as Int32Array | BigInt64Array;
  const view = data.values as Uint8Array;
  const [start, end] = [Number(offsets[0]), Number(offsets[data.length])];
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  if (!isAscii(bytes.subarray(start, end))) {
    return slices(data, (from, to) => bytes.toString('utf8', from, to));
  }
  // Latin-1 needs no look at the bytes of each string, only one at all of them.
  if (end - start > data.length * SHORT_TEXT) {
    return slices(data, (from, to) => bytes.toString('latin1', from, to));
  }
  const words = new ShortTexts(bytes);
  return slices(data, (from, to) => words.text(from, to));
}

/** Average bytes of texts among which the same ones are expected to come again. */
const SHORT_TEXT = 12;
const SLOTS = 512;
/** After so many texts, most of which were new, no more are looked up. */
const TRIED = 1_024;

/**
 * Texts of ASCII alone that were made before: categories and the like come again and again, and to
 * make a string takes several times as long as to find one.
 */
class ShortTexts {
  readonly #bytes: Buffer;
  readonly #known: string[] = new Array<string>(SLOTS).fill('');
  #looked = 0;
  #made = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  text(from: number, to: number): string {
    if (this.#looked >= TRIED && 2 * this.#made > this.#looked) {
      return this.#bytes.toString('latin1', from, to);
    }
    const bytes = this.#bytes;
    let hash = to - from;
    for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
    const slot = (hash ^ (hash >>> 9)) & (SLOTS - 1);
    const known = this.#known[slot] as string;
    this.#looked += 1;
    if (isText(known, bytes, from, to)) return known;
    this.#made += 1;
    const made = bytes.toString('latin1', from, to);
    this.#known[slot] = made;
    return made;
  }
}

function isText(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) !== bytes[from + at]) return false;
  }
  return true;
}

/** The bytes of one value of a view column. */
function viewed(data: Data, index: number): Uint8Array {
  const { buffer, byteOffset } = data.values as Uint8Array;
  const at = index * 16;
  const view = new DataView(buffer, byteOffset + at, 16);
  const size = view.getInt32(0, true);
  if (size <= 12) return new Uint8Array(buffer, byteOffset + at + 4, Math.max(0, size));
  const start = view.getInt32(12, true);
  const bytes = data.variadicBuffers[view.getInt32(8, true)];
  return (bytes ?? new Uint8Array(0)).subarray(start, start + size);
}

/** Milliseconds either side of the epoch that a Date reaches. */
const DATE_LIMIT = 8.64e15;

function dates(data: Data, factor: number): unknown[] {
  const values = data.values as BigInt64Array;
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const limit = DATE_LIMIT / factor;
  return make(data.length, (i) => {
    const count = (halves[2 * i + 1] as number) * 4294967296 + ((halves[2 * i] as number) >>> 0);
    if (Math.abs(count) <= limit) return new Date(count * factor);
    return values[i];
  });
}

function intervals(data: Data, unit: IntervalUnit): unknown[] {
  const words = data.values as Int32Array;
  const at = (index: number): number => words[index] as number;
  if (unit === IntervalUnit.YEAR_MONTH) return make(data.length, (i) => ({ months: at(i) }));
  if (unit === IntervalUnit.DAY_TIME) {
    return make(data.length, (i) => ({ days: at(2 * i), milliseconds: at(2 * i + 1) }));
  }
  return make(data.length, (i) => ({
    months: at(4 * i),
    days: at(4 * i + 1),
    nanoseconds: (BigInt(at(4 * i + 3)) << 32n) | BigInt(at(4 * i + 2) >>> 0),
  }));
}

function readFixedLists(data: Data, type: FixedSizeList): unknown[] {
  const size = type.listSize;
  const child = data.children[0] as Data;
  const item = child.type as DataType;
  const numeric =
    item.typeId === Type.Int ||
    (item.typeId === Type.Float && (item as Float).precision !== Precision.HALF);
  if (!numeric) {
    const items = readColumn(child);
    return make(data.length, (i) => items.slice(i * size, (i + 1) * size));
  }
  const values = child.values as Float32Array;
  const Store = vectorClass(valueArray(item));
  // Fixed-size lists have no gaps, so nulls in the items may also only stand below null lists.
  const items = child.nullCount > 0 ? readColumn(child) : undefined;
  return make(data.length, (i) => {
    const list = items?.slice(i * size, (i + 1) * size);
    return list?.includes(null) ? list : new Store(values.subarray(i * size, (i + 1) * size));
  });
}

const dictionaries = new WeakMap<Vector, unknown[]>();

/** The words of a dictionary, read once for all the batches that share it. */
function readDictionary(data: Data): unknown[] {
  const vector = data.dictionary as Vector;
  let words = dictionaries.get(vector);
  if (words === undefined) {
    words = vector.data.flatMap((chunk: Data) => readColumn(chunk));
    dictionaries.set(vector, words);
  }
  return words;
}

/** Whether values of the type are objects, which rows must not share. */
function isMutable({ typeId }: DataType): boolean {
  switch (typeId) {
    case Type.Int:
    case Type.Float:
    case Type.Bool:
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
    case Type.Decimal:
    case Type.Time:
    case Type.Duration:
      return false;
    default:
      return true;
  }
}

/** The words of the rows, read for each row anew. */
function ownWords(data: Data, codes: Numbers): unknown[] {
  const vector = data.dictionary as Vector;
  if (vector.length === 0) return new Array(data.length).fill(null);
  const nulls = data.nullCount > 0;
  const rows = make(data.length, (i) => (nulls && !data.getValid(i) ? 0 : Number(codes[i])));
  return readColumn(gather(vector, Uint32Array.from(rows)));
}

function readUnion(data: Data, type: Union): unknown[] {
  const columns = data.children.map(readColumn);
  const dense = type.mode === UnionMode.Dense;
  return make(data.length, (i) => {
    const column = columns[type.typeIdToChildIndex[data.typeIds[i] as number] as number];
    return column?.[dense ? Number(data.valueOffsets[i]) : i] ?? null;
  });
}

/** Zips columns into objects whose only inherited name beyond those of any object is `toJSON`. */
export function readRecords(
  fields: readonly Field[],
  columns: readonly Data[],
  length: number,
): Record<string, unknown>[] {
  const records = make<Record<string, unknown>>(length, () => Object.create(ROW));
  fields.forEach(({ name }, index) => {
    const values = readColumn(columns[index] as Data);
    if (name === '__proto__') {
      for (let i = 0; i < length; i++) defineOwn(records[i] as object, name, values[i]);
    } else {
      for (let i = 0; i < length; i++) (records[i] as Record<string, unknown>)[name] = values[i];
    }
  });
  return records;
}

/** Assigning `__proto__` would change what the object is instead of giving it a member. */
const defineOwn = (record: object, name: string, value: unknown): void => {
  Object.defineProperty(record, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
};
