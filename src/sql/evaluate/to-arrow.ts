/**
 * `toVector` converts an evaluated column to an Arrow vector of a given type, whose range the
 * numbers of the column must fit already. A dictionary type gives a vector of its plain values;
 * within lists and structs, dictionaries stay dictionaries. An interval, or a value of a type of
 * fixed size, that does not fit throws InvalidInput, and so do texts or binaries of more than 2 GiB
 * together. A type that expressions cannot produce, such as a view, throws Unsupported. Texts and
 * lists are counted against the request's budget before they are allocated.
 */
import {
  type Data,
  DataType,
  type Decimal,
  describeType,
  encodeDictionary,
  type Interval,
  makeData,
  Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { type IntervalValue, storeHalf } from '../../values/index.ts';
import { shorten } from '../parse/index.ts';
import { checkColumnBytes, copyText, MOST_COLUMN_BYTES, wordBytes } from '../texts/index.ts';
import {
  type BytesColumn,
  type Column,
  elementType,
  familyOf,
  isWide,
  type NumberColumn,
  reader,
  TRUE,
  typeText,
  type Validity,
  type Value,
  validityOf,
} from '../typed/index.ts';
import { textOf } from './cast-text.ts';

/** Claims from `memory` what texts and lists take before it allocates them. */
export function toVector(column: Column, type: DataType, memory: BatchMemory): Vector {
  return new Vector([toData(column, type, memory)]);
}

function toData(column: Column, type: DataType, memory: BatchMemory): Data {
  const { length } = column;
  const family = familyOf(type);
  if (family === 'null') return makeData({ type, length } as never);
  if (DataType.isDictionary(type)) return toData(column, type.dictionary, memory);
  const valid = validityOf(column);
  const common = { type, length, ...validityBuffer(valid) };
  switch (family) {
    case 'bool':
      return makeData({ ...common, data: bits(column) } as never);
    case 'int':
    case 'float':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
      return makeData({ ...common, data: numbers(column, type) } as never);
    case 'decimal':
      return makeData({ ...common, data: decimals(column, type as Decimal) } as never);
    case 'interval':
      return makeData({ ...common, data: intervals(column, type as Interval) } as never);
    case 'text':
    case 'bytes':
      return makeData({ ...common, ...bytes(column, type, memory) } as never);
    case 'list':
      return makeData({ ...common, ...lists(column, type, memory) } as never);
    case 'struct':
      return makeData({ ...common, children: members(column, type, memory) } as never);
    default:
      throw new DirspaceError(
        'Unsupported',
        `An expression cannot give values of type ${String(type)}`,
      );
  }
}

function validityBuffer(valid: Validity): { nullCount: number; nullBitmap?: Uint8Array } {
  if (valid === null) return { nullCount: 0 };
  const nullBitmap = new Uint8Array(((valid.length + 63) >> 6) * 8);
  let present = 0;
  for (let i = 0; i < valid.length; i++) {
    if (valid[i] === 0) continue;
    present++;
    nullBitmap[i >> 3] = (nullBitmap[i >> 3] as number) | (1 << (i & 7));
  }
  return { nullCount: valid.length - present, nullBitmap };
}

function bits(column: Column): Uint8Array {
  const out = new Uint8Array(((column.length + 63) >> 6) * 8);
  const read = column.form === 'truth' ? null : reader(column);
  for (let i = 0; i < column.length; i++) {
    const set = column.form === 'truth' ? column.values[i] === TRUE : read?.(i) === true;
    if (set) out[i >> 3] = (out[i >> 3] as number) | (1 << (i & 7));
  }
  return out;
}

type NumberBuffer = { [index: number]: number; readonly length: number };

function numbers(column: Column, type: DataType): unknown {
  const Buffers = type.ArrayType as new (length: number) => NumberBuffer | BigInt64Array;
  if (isWide(type)) {
    const array =
      familyOf(type) === 'int'
        ? new (Buffers as new (length: number) => BigInt64Array)(column.length)
        : new BigInt64Array(column.length);
    if (column.form === 'wide' && column.values.constructor === array.constructor)
      return column.values;
    if (column.form === 'number') {
      placeSafeIntegers(new Int32Array(array.buffer), column);
      return array;
    }
    const read = reader(column);
    for (let i = 0; i < column.length; i++) array[i] = (read(i) ?? 0n) as bigint;
    return array;
  }
  if (column.form === 'number' && column.values.constructor === Buffers) return column.values;
  const array = new (Buffers as new (length: number) => NumberBuffer)(column.length);
  const read = reader(column);
  if (array instanceof Uint16Array && DataType.isFloat(type)) {
    for (let i = 0; i < column.length; i++) storeHalf(array, i, (read(i) ?? 0) as number);
    return array;
  }
  for (let i = 0; i < column.length; i++) array[i] = (read(i) ?? 0) as number;
  return array;
}

/** Places integers that doubles hold exactly, each as two words of 32 bits, without a bigint. */
function placeSafeIntegers(words: Int32Array, { values, valid, length }: NumberColumn): void {
  for (let i = 0; i < length; i++) {
    if (valid !== null && valid[i] === 0) continue;
    const value = values[i] as number;
    // Storing takes a number modulo 2^32.
    words[2 * i] = value;
    words[2 * i + 1] = Math.floor(value / 2 ** 32);
  }
}

/** The words of 64-bit integers; null for a column in another form. */
function wordsOfWide(column: Column): Int32Array | null {
  if (column.form !== 'wide' || !(column.values instanceof BigInt64Array)) return null;
  const { buffer, byteOffset } = column.values;
  return new Int32Array(buffer, byteOffset, 2 * column.length);
}

/** Two words a row as `stride` words, by the sign. */
function extendWords(words: Int32Array, stride: number, out: Uint32Array): void {
  for (let i = 0, at = 0; i < words.length; i += 2, at += stride) {
    const high = words[i + 1] as number;
    out[at] = words[i] as number;
    out[at + 1] = high;
    for (let k = 2; k < stride; k++) out[at + k] = high >> 31;
  }
}

function decimals(column: Column, type: Decimal): Uint32Array {
  const stride = type.bitWidth / 32;
  const out = new Uint32Array(column.length * stride);
  const narrow = column.form === 'number' ? new Int32Array(2 * column.length) : wordsOfWide(column);
  if (column.form === 'number' && narrow !== null) placeSafeIntegers(narrow, column);
  if (narrow !== null && stride > 1) {
    extendWords(narrow, stride, out);
    return out;
  }
  const read = reader(column);
  // Storing takes a bigint modulo 2^64.
  const halves = stride > 1 ? new BigInt64Array(out.buffer) : null;
  for (let i = 0, at = 0; i < column.length; i++) {
    let value = (read(i) ?? 0n) as bigint;
    if (halves === null) out[i] = Number(BigInt.asUintN(32, value));
    else for (const end = at + stride / 2; at < end; value >>= 64n) halves[at++] = value;
  }
  return out;
}

function intervals(column: Column, type: Interval): Int32Array {
  const unit = type.unit as number;
  const stride = [1, 2, 4][unit] ?? 4;
  const out = new Int32Array(column.length * stride);
  const read = reader(column);
  for (let i = 0; i < column.length; i++) {
    const value = (read(i) ?? null) as IntervalValue | null;
    if (value === null) continue;
    const words = intervalWords(value, unit);
    if (words === null || words.some((word) => (word | 0) !== word)) {
      throw new DirspaceError(
        'InvalidInput',
        `${shorten(textOf(value, type) ?? '')} does not fit ${describeType(type)}`,
      );
    }
    out.set(words, i * stride);
  }
  return out;
}

/** The integers that a unit of intervals is stored as; null where it has no place for a part. */
function intervalWords({ months, days, nanos }: IntervalValue, unit: number): number[] | null {
  if (unit === 0) return days === 0 && nanos === 0n ? [months] : null;
  if (unit === 1) {
    const isWhole = months === 0 && nanos % 1_000_000n === 0n;
    return isWhole ? [days, Number(nanos / 1_000_000n)] : null;
  }
  return [months, days, Number(BigInt.asIntN(32, nanos)), Number(nanos >> 32n)];
}

/** Bytes of an item of a list on its way into a buffer. */
const ITEM_BYTES = 16;

/** Lengths come first, so that the one buffer is as large as it has to be, and is asked for. */
function bytes(column: Column, type: DataType, memory: BatchMemory): object {
  const { length } = column;
  if (DataType.isUtf8View(type) || DataType.isBinaryView(type)) {
    throw new DirspaceError(
      'Unsupported',
      `An expression cannot give values of type ${String(type)}`,
    );
  }
  if (column.form === 'bytes' && column.dense && column.valid === null && length > 0) {
    const together = denseBytes(column, type, memory);
    if (together !== undefined) return together;
  }
  const fixed = DataType.isFixedSizeBinary(type) ? type.byteWidth : null;
  const offsets = new Int32Array(length + 1);
  const read = column.form === 'bytes' ? null : reader(column);
  const constant = column.form === 'constant' ? sizeOf(column.value) : undefined;
  let total = 0;
  for (let i = 0; i < length; i++) {
    let size = constant;
    if (column.form === 'bytes') {
      const present = column.valid === null || column.valid[i] === 1;
      size = present ? (column.ends[i] as number) - (column.starts[i] as number) : undefined;
    } else if (constant === undefined) size = sizeOf(read?.(i) ?? null);
    if (size !== undefined && fixed !== null) checkSize(size, fixed, 'bytes', type);
    total += size ?? fixed ?? 0;
    offsets[i + 1] = total;
    if (total > MOST_COLUMN_BYTES) break;
  }
  memory.take(total);
  checkColumnBytes(total);
  const data = new Uint8Array(total);
  const text = Buffer.from(data.buffer);
  const [source, into] = [column.form === 'bytes' ? wordBytes(column.data) : null, wordBytes(data)];
  for (let i = 0; i < length; i++) {
    const at = offsets[i] as number;
    if (at === offsets[i + 1]) continue;
    if (column.form === 'bytes' && source !== null) {
      if (column.valid !== null && column.valid[i] === 0) continue;
      copyText(source, column.starts[i] as number, column.ends[i] as number, into, at);
      continue;
    }
    const value: Value = read?.(i) ?? null;
    if (typeof value === 'string') text.write(value, at);
    else if (value !== null) data.set(value as Uint8Array, at);
  }
  if (fixed !== null) return { data };
  return { data, valueOffsets: offsetsFor(type, offsets) };
}

const offsetsFor = (type: DataType, offsets: Int32Array): Int32Array | BigInt64Array =>
  DataType.isLargeUtf8(type) || DataType.isLargeBinary(type)
    ? BigInt64Array.from(offsets, BigInt)
    : offsets;

/** Rows that lie one after the other are copied together; undefined where they have to have a width. */
function denseBytes(
  { data, starts, ends, length }: BytesColumn,
  type: DataType,
  memory: BatchMemory,
): object | undefined {
  if (DataType.isFixedSizeBinary(type)) return undefined;
  const from = starts[0] as number;
  const to = ends[length - 1] as number;
  memory.take(to - from);
  const offsets = new Int32Array(length + 1);
  for (let i = 0; i < length; i++) offsets[i + 1] = (ends[i] as number) - from;
  const copy = new Uint8Array(to - from);
  copy.set(data.subarray(from, to));
  return { data: copy, valueOffsets: offsetsFor(type, offsets) };
}

/** Bytes of a text or of binary; undefined for null. */
function sizeOf(value: Value): number | undefined {
  if (value === null) return undefined;
  return typeof value === 'string' ? Buffer.byteLength(value) : (value as Uint8Array).length;
}

function lists(column: Column, type: DataType, memory: BatchMemory): object {
  const items: Value[] = [];
  const offsets = new Int32Array(column.length + 1);
  const read = reader(column);
  const width = DataType.isFixedSizeList(type) ? type.listSize : null;
  for (let i = 0; i < column.length; i++) {
    const value = (read(i) ?? null) as readonly Value[] | null;
    const count = value?.length ?? width ?? 0;
    if (width !== null) checkSize(count, width, 'items', type);
    memory.take(ITEM_BYTES * count);
    for (let k = 0; k < count; k++) items.push(value?.[k] ?? null);
    offsets[i + 1] = items.length;
  }
  const member = elementType(type);
  const child = childData(
    { form: 'values', type: member, length: items.length, values: items },
    member,
    memory,
  );
  if (width !== null) return { child };
  return {
    child,
    valueOffsets: DataType.isLargeList(type) ? BigInt64Array.from(offsets, BigInt) : offsets,
  };
}

/** A child has the very type that its parent names, dictionaries too. */
function childData(column: Column, type: DataType, memory: BatchMemory): Data {
  const data = toData(column, type, memory);
  return DataType.isDictionary(type) ? encodeDictionary(data, type) : data;
}

function checkSize(found: number, size: number, what: string, type: DataType): void {
  if (found === size) return;
  throw new DirspaceError(
    'InvalidInput',
    `A value of ${found} ${what} does not fit ${typeText(type)}, which has ${size}`,
  );
}

function members(column: Column, type: DataType, memory: BatchMemory): Data[] {
  const fields = type.children as readonly { name: string; type: DataType }[];
  if (column.form === 'struct') {
    return column.children.map((child, i) =>
      childData(child, fields[i]?.type ?? child.type, memory),
    );
  }
  const read = reader(column);
  return fields.map((field) => {
    const values = Array.from({ length: column.length }, (_, row) => {
      const value = (read(row) ?? null) as Record<string, Value> | null;
      return value === null ? null : (value[field.name] ?? null);
    });
    const member: Column = { form: 'values', type: field.type, length: values.length, values };
    return childData(member, field.type, memory);
  });
}
