/**
 * Columns -> Arrow vectors of the type asked for. The only place that builds Arrow data; it knows
 * every Arrow type an expression can have and no expression.
 */
import {
  type Data,
  DataType,
  type Decimal,
  type Interval,
  makeData,
  Precision,
  Vector,
} from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { type Column, reader, TRUE, type Validity, type Value, validityOf } from './column.ts';
import type { IntervalValue } from './literals.ts';
import { elementType, familyOf, isWide, typeText } from './types.ts';

export function toVector(column: Column, type: DataType): Vector {
  return new Vector([toData(column, type)]);
}

function toData(column: Column, type: DataType): Data {
  const { length } = column;
  const family = familyOf(type);
  if (family === 'null') return makeData({ type, length } as never);
  if (DataType.isDictionary(type)) return toData(column, type.dictionary);
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
      return makeData({ ...common, ...bytes(column, type) } as never);
    case 'list':
      return makeData({ ...common, ...lists(column, type) } as never);
    case 'struct':
      return makeData({ ...common, children: members(column, type) } as never);
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
    const read = reader(column);
    for (let i = 0; i < column.length; i++) array[i] = (read(i) ?? 0n) as bigint;
    return array;
  }
  if (column.form === 'number' && column.values.constructor === Buffers) return column.values;
  const array = new (Buffers as new (length: number) => NumberBuffer)(column.length);
  const half = DataType.isFloat(type) && type.precision === Precision.HALF;
  const read = reader(column);
  for (let i = 0; i < column.length; i++) {
    const value = (read(i) ?? 0) as number;
    array[i] = half ? halfBits(value) : value;
  }
  return array;
}

function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (magnitude > 65504) return sign | 0x7c00;
  if (magnitude < 2 ** -14) return sign | Math.round(magnitude * 2 ** 24);
  const exponent = Math.floor(Math.log2(magnitude));
  return sign | ((exponent + 15) << 10) | (Math.round(magnitude * 2 ** (10 - exponent)) - 1024);
}

function decimals(column: Column, type: Decimal): Uint32Array {
  const stride = type.bitWidth / 32;
  const out = new Uint32Array(column.length * stride);
  const read = reader(column);
  for (let i = 0; i < column.length; i++) {
    let value = (read(i) ?? 0n) as bigint;
    for (let k = 0; k < stride; k++) {
      out[i * stride + k] = Number(value & 0xffffffffn);
      value >>= 32n;
    }
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
    const words =
      unit === 0
        ? [value.months]
        : unit === 1
          ? [value.days, Number(value.nanos / 1_000_000n)]
          : [
              value.months,
              value.days,
              Number(value.nanos & 0xffffffffn) | 0,
              Number(value.nanos >> 32n),
            ];
    out.set(words, i * stride);
  }
  return out;
}

function bytes(column: Column, type: DataType): object {
  const { length } = column;
  const fixed = DataType.isFixedSizeBinary(type) ? type.byteWidth : null;
  const pieces: Uint8Array[] = [];
  const offsets = new Int32Array(length + 1);
  const read = column.form === 'bytes' ? null : reader(column);
  let total = 0;
  for (let i = 0; i < length; i++) {
    let piece: Uint8Array | null = null;
    if (column.form === 'bytes') {
      const present = column.valid === null || column.valid[i] === 1;
      piece = present ? column.data.subarray(column.starts[i], column.ends[i]) : null;
    } else {
      const value: Value = read?.(i) ?? null;
      piece =
        value === null
          ? null
          : typeof value === 'string'
            ? Buffer.from(value)
            : (value as Uint8Array);
    }
    if (piece === null && fixed !== null) piece = new Uint8Array(fixed);
    if (piece !== null && fixed !== null) checkSize(piece.length, fixed, 'bytes', type);
    if (piece !== null) {
      pieces.push(piece);
      total += piece.length;
    }
    offsets[i + 1] = total;
  }
  const data = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    data.set(piece, at);
    at += piece.length;
  }
  if (fixed !== null) return { data };
  const large = DataType.isLargeUtf8(type) || DataType.isLargeBinary(type);
  if (DataType.isUtf8View(type) || DataType.isBinaryView(type)) {
    throw new DirspaceError(
      'Unsupported',
      `An expression cannot give values of type ${String(type)}`,
    );
  }
  return { data, valueOffsets: large ? BigInt64Array.from(offsets, BigInt) : offsets };
}

function lists(column: Column, type: DataType): object {
  const items: Value[] = [];
  const offsets = new Int32Array(column.length + 1);
  const read = reader(column);
  const width = DataType.isFixedSizeList(type) ? type.listSize : null;
  for (let i = 0; i < column.length; i++) {
    const value = (read(i) ?? null) as readonly Value[] | null;
    const present = value ?? (width === null ? [] : new Array(width).fill(null));
    if (width !== null) checkSize(present.length, width, 'items', type);
    for (const item of present) items.push(item);
    offsets[i + 1] = items.length;
  }
  const member = elementType(type);
  const child = toData(
    { form: 'values', type: member, length: items.length, values: items },
    member,
  );
  if (width !== null) return { child };
  return {
    child,
    valueOffsets: DataType.isLargeList(type) ? BigInt64Array.from(offsets, BigInt) : offsets,
  };
}

function checkSize(found: number, size: number, what: string, type: DataType): void {
  if (found === size) return;
  throw new DirspaceError(
    'InvalidInput',
    `A value of ${found} ${what} does not fit ${typeText(type)}, which has ${size}`,
  );
}

function members(column: Column, type: DataType): Data[] {
  const fields = type.children as readonly { name: string; type: DataType }[];
  if (column.form === 'struct') {
    return column.children.map((child, i) => toData(child, fields[i]?.type ?? child.type));
  }
  const read = reader(column);
  return fields.map((field) => {
    const values = Array.from({ length: column.length }, (_, row) => {
      const value = (read(row) ?? null) as Record<string, Value> | null;
      return value === null ? null : (value[field.name] ?? null);
    });
    return toData({ form: 'values', type: field.type, length: values.length, values }, field.type);
  });
}
