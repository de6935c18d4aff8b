/**
 * Comparison loops. Numbers compare exactly across types (JavaScript compares bigint with number
 * without rounding); NaN equals NaN and is greater than all else; -0 equals 0; text compares by its
 * UTF-8 bytes, that is by code points. No loop allocates per row.
 */

import { compareExact, holds } from './bind-compare.ts';
import {
  type BytesColumn,
  bothValid,
  type Column,
  FALSE,
  maskNulls,
  type NumberArray,
  type NumberColumn,
  reader,
  TRUE,
  UNKNOWN,
  type Validity,
  type Value,
  validityOf,
  type WideColumn,
} from './column.ts';
import { doubleToExact } from './literals.ts';
import type { CompareOperator } from './tree.ts';
import { decimalScale, familyOf } from './types.ts';

/** `column op value`; `value` is canonical for the column's type and not null. */
export function compareWithConstant(op: CompareOperator, column: Column, value: Value): Uint8Array {
  const out = new Uint8Array(column.length);
  switch (column.form) {
    case 'number':
      numberConstant(op, column.values, value as number | bigint, out);
      return maskNulls(out, column.valid);
    case 'wide':
      wideConstant(op, column, value as bigint, out);
      return maskNulls(out, column.valid);
    case 'bytes':
      bytesConstant(op, column, encode(value), out);
      return maskNulls(out, column.valid);
    case 'truth': {
      const wanted = value === true ? TRUE : FALSE;
      for (let i = 0; i < out.length; i++) {
        const truth = column.values[i] as number;
        out[i] = truth === UNKNOWN ? UNKNOWN : holds(op, truth - wanted) ? TRUE : FALSE;
      }
      return out;
    }
    default: {
      const read = reader(column);
      if (typeof value === 'string' && (op === '=' || op === '<>')) {
        const [equal, other] = op === '=' ? [TRUE, FALSE] : [FALSE, TRUE];
        for (let i = 0; i < out.length; i++) {
          const left = read(i) ?? null;
          out[i] = left === null ? UNKNOWN : left === value ? equal : other;
        }
        return out;
      }
      for (let i = 0; i < out.length; i++) {
        const left = read(i) ?? null;
        out[i] = left === null ? UNKNOWN : holds(op, compareValues(left, value)) ? TRUE : FALSE;
      }
      return out;
    }
  }
}

/** A comparison with NaN is false either way round, so that each loop says where NaN belongs. */
function numberConstant(
  op: CompareOperator,
  values: NumberArray,
  value: number | bigint,
  out: Uint8Array,
): void {
  const c = typeof value === 'bigint' ? Number(value) : value;
  if (typeof value === 'bigint' && BigInt(c) !== value) {
    for (let i = 0; i < out.length; i++) {
      const v = values[i] as number;
      out[i] = holds(op, v < value ? -1 : v > value ? 1 : 0) ? TRUE : FALSE;
    }
  } else if (Number.isNaN(c)) {
    nanConstant(op, values, out);
  } else if (values instanceof Float64Array) doubleLoop(op, values, c, out);
  else if (values instanceof Int32Array) int32Loop(op, values, c, out);
  else float32Loop(op, values, c, out);
}

function nanConstant(op: CompareOperator, values: NumberArray, out: Uint8Array): void {
  for (let i = 0; i < out.length; i++) {
    out[i] = holds(op, Number.isNaN(values[i]) ? 0 : -1) ? TRUE : FALSE;
  }
}

// The same loop for each kind of array: a loop that sees one kind only is several times faster.

function doubleLoop(op: CompareOperator, values: Float64Array, c: number, out: Uint8Array): void {
  const n = out.length;
  if (op === '=') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 2 : 0;
  else if (op === '<>') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 0 : 2;
  else if (op === '<') for (let i = 0; i < n; i++) out[i] = (values[i] as number) < c ? 2 : 0;
  else if (op === '<=') for (let i = 0; i < n; i++) out[i] = (values[i] as number) <= c ? 2 : 0;
  else if (op === '>') for (let i = 0; i < n; i++) out[i] = (values[i] as number) <= c ? 0 : 2;
  else for (let i = 0; i < n; i++) out[i] = (values[i] as number) < c ? 0 : 2;
}

function float32Loop(op: CompareOperator, values: Float32Array, c: number, out: Uint8Array): void {
  const n = out.length;
  if (op === '=') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 2 : 0;
  else if (op === '<>') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 0 : 2;
  else if (op === '<') for (let i = 0; i < n; i++) out[i] = (values[i] as number) < c ? 2 : 0;
  else if (op === '<=') for (let i = 0; i < n; i++) out[i] = (values[i] as number) <= c ? 2 : 0;
  else if (op === '>') for (let i = 0; i < n; i++) out[i] = (values[i] as number) <= c ? 0 : 2;
  else for (let i = 0; i < n; i++) out[i] = (values[i] as number) < c ? 0 : 2;
}

function int32Loop(op: CompareOperator, values: Int32Array, c: number, out: Uint8Array): void {
  const n = out.length;
  if (op === '=') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 2 : 0;
  else if (op === '<>') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 0 : 2;
  else if (op === '<') for (let i = 0; i < n; i++) out[i] = (values[i] as number) < c ? 2 : 0;
  else if (op === '<=') for (let i = 0; i < n; i++) out[i] = (values[i] as number) <= c ? 2 : 0;
  else if (op === '>') for (let i = 0; i < n; i++) out[i] = (values[i] as number) > c ? 2 : 0;
  else for (let i = 0; i < n; i++) out[i] = (values[i] as number) >= c ? 2 : 0;
}

function wideConstant(op: CompareOperator, column: WideColumn, c: bigint, out: Uint8Array): void {
  const { values } = column;
  if (values instanceof BigInt64Array && BigInt.asIntN(64, c) === c) {
    int64Loop(op, values, c, out);
    return;
  }
  const n = out.length;
  for (let i = 0; i < n; i++) {
    const v = values[i] as bigint;
    out[i] = holds(op, v < c ? -1 : v > c ? 1 : 0) ? TRUE : FALSE;
  }
}

function int64Loop(op: CompareOperator, values: BigInt64Array, c: bigint, out: Uint8Array): void {
  const n = out.length;
  if (op === '=') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 2 : 0;
  else if (op === '<>') for (let i = 0; i < n; i++) out[i] = values[i] === c ? 0 : 2;
  else if (op === '<') for (let i = 0; i < n; i++) out[i] = (values[i] as bigint) < c ? 2 : 0;
  else if (op === '<=') for (let i = 0; i < n; i++) out[i] = (values[i] as bigint) <= c ? 2 : 0;
  else if (op === '>') for (let i = 0; i < n; i++) out[i] = (values[i] as bigint) > c ? 2 : 0;
  else for (let i = 0; i < n; i++) out[i] = (values[i] as bigint) >= c ? 2 : 0;
}

/** low <= column <= high */
export function inRange(column: Column, low: Value, high: Value): Uint8Array {
  const out = new Uint8Array(column.length);
  const n = out.length;
  if (column.form === 'wide' && column.values instanceof BigInt64Array) {
    const { values } = column;
    const [a, b] = [low as bigint, high as bigint];
    if (BigInt.asIntN(64, a) === a && BigInt.asIntN(64, b) === b) {
      for (let i = 0; i < n; i++) {
        const v = values[i] as bigint;
        out[i] = v >= a && v <= b ? 2 : 0;
      }
      return maskNulls(out, column.valid);
    }
  }
  if (column.form === 'number' && typeof low === 'number' && typeof high === 'number') {
    if (column.values instanceof Float64Array && !Number.isNaN(low) && !Number.isNaN(high)) {
      const { values } = column;
      for (let i = 0; i < n; i++) {
        const v = values[i] as number;
        out[i] = v >= low && v <= high ? 2 : 0;
      }
      return maskNulls(out, column.valid);
    }
  }
  const above = compareWithConstant('>=', column, low);
  const below = compareWithConstant('<=', column, high);
  for (let i = 0; i < n; i++) out[i] = Math.min(above[i] as number, below[i] as number);
  return out;
}

function encode(value: Value): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array);
}

function bytesConstant(
  op: CompareOperator,
  column: BytesColumn,
  constant: Uint8Array,
  out: Uint8Array,
): void {
  if (op === '=' || op === '<>') {
    equalBytes(column, constant, out);
    if (op === '<>') for (let i = 0; i < out.length; i++) out[i] = 2 - (out[i] as number);
    return;
  }
  const { data, starts, ends } = column;
  for (let i = 0; i < out.length; i++) {
    const order = compareBytes(
      data,
      starts[i] as number,
      ends[i] as number,
      constant,
      0,
      constant.length,
    );
    out[i] = holds(op, order) ? TRUE : FALSE;
  }
}

/** Length first, then the last four bytes as one number, then the rest. */
export function equalBytes(column: BytesColumn, constant: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends } = column;
  const n = out.length;
  const size = constant.length;
  if (size === 0) {
    for (let i = 0; i < n; i++) out[i] = starts[i] === ends[i] ? 2 : 0;
  } else if (size < 4) {
    const a = constant[0] as number;
    const b = constant[size >> 1] as number;
    const c = constant[size - 1] as number;
    const middle = size >> 1;
    for (let i = 0; i < n; i++) {
      const start = starts[i] as number;
      const end = ends[i] as number;
      out[i] =
        end - start === size &&
        data[end - 1] === c &&
        data[start] === a &&
        data[start + middle] === b
          ? 2
          : 0;
    }
  } else {
    const tail = lastFour(constant, size);
    const rest = size - 4;
    for (let i = 0; i < n; i++) {
      const start = starts[i] as number;
      const end = ends[i] as number;
      if (end - start !== size || lastFour(data, end) !== tail) {
        out[i] = 0;
        continue;
      }
      let k = 0;
      while (k < rest && data[start + k] === constant[k]) k++;
      out[i] = k === rest ? 2 : 0;
    }
  }
}

function lastFour(data: Uint8Array, end: number): number {
  return (
    (data[end - 1] as number) |
    ((data[end - 2] as number) << 8) |
    ((data[end - 3] as number) << 16) |
    ((data[end - 4] as number) << 24)
  );
}

function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const shared = Math.min(aEnd - aStart, bEnd - bStart);
  for (let k = 0; k < shared; k++) {
    const difference = (a[aStart + k] as number) - (b[bStart + k] as number);
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}

/** `left op right`, row by row. */
export function compareColumns(op: CompareOperator, left: Column, right: Column): Uint8Array {
  const out = new Uint8Array(left.length);
  const valid = bothValid(validityOf(left), validityOf(right));
  if (left.form === 'number' && right.form === 'number') numbersLoop(op, left, right, out);
  else if (isCounted(left) && isCounted(right) && !isMixedDecimal(left, right))
    mixedLoop(op, left, right, out);
  else if (left.form === 'bytes' && right.form === 'bytes') {
    for (let i = 0; i < out.length; i++) {
      const order = compareBytes(
        left.data,
        left.starts[i] as number,
        left.ends[i] as number,
        right.data,
        right.starts[i] as number,
        right.ends[i] as number,
      );
      out[i] = holds(op, order) ? TRUE : FALSE;
    }
  } else if (left.form === 'truth' && right.form === 'truth') {
    for (let i = 0; i < out.length; i++) {
      out[i] = holds(op, (left.values[i] as number) - (right.values[i] as number)) ? TRUE : FALSE;
    }
  } else anyLoop(op, left, right, valid, out);
  return maskNulls(out, valid);
}

function isCounted(column: Column): column is NumberColumn | WideColumn {
  return column.form === 'number' || column.form === 'wide';
}

/** A decimal's own digits say nothing beside a float. */
function isMixedDecimal(left: Column, right: Column): boolean {
  const [f, g] = [familyOf(left.type), familyOf(right.type)];
  return (f === 'decimal' && g === 'float') || (f === 'float' && g === 'decimal');
}

function numbersLoop(
  op: CompareOperator,
  left: NumberColumn,
  right: NumberColumn,
  out: Uint8Array,
): void {
  for (let i = 0; i < out.length; i++) {
    out[i] = holds(op, compareNumbers(left.values[i] as number, right.values[i] as number))
      ? TRUE
      : FALSE;
  }
}

function mixedLoop(
  op: CompareOperator,
  left: NumberColumn | WideColumn,
  right: NumberColumn | WideColumn,
  out: Uint8Array,
): void {
  for (let i = 0; i < out.length; i++) {
    const [a, b] = [left.values[i] as number | bigint, right.values[i] as number | bigint];
    out[i] = holds(op, compareNumbers(a, b)) ? TRUE : FALSE;
  }
}

export function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  const [m, n] = [Number.isNaN(a), Number.isNaN(b)];
  return m === n ? 0 : m ? 1 : -1;
}

function anyLoop(
  op: CompareOperator,
  left: Column,
  right: Column,
  valid: Validity,
  out: Uint8Array,
): void {
  const [a, b] = [reader(left), reader(right)];
  const exact = isMixedDecimal(left, right);
  const scales = [left, right].map((side) =>
    familyOf(side.type) === 'decimal' ? decimalScale(side.type) : 0,
  );
  for (let i = 0; i < out.length; i++) {
    if (valid !== null && valid[i] === 0) continue;
    const [x, y] = [a(i), b(i)];
    const order = exact ? compareMixed(x, scales[0] ?? 0, y, scales[1] ?? 0) : compareValues(x, y);
    out[i] = holds(op, order) ? TRUE : FALSE;
  }
}

function compareMixed(x: Value, xScale: number, y: Value, yScale: number): number {
  const exact = (value: Value, scale: number) =>
    typeof value === 'bigint' ? { unscaled: value, scale } : doubleToExact(value as number);
  const [a, b] = [exact(x, xScale), exact(y, yScale)];
  if (a !== null && b !== null) return compareExact(a, b);
  // One is NaN or infinite.
  const float = a === null ? (x as number) : (y as number);
  const above = Number.isNaN(float) || float > 0 ? 1 : -1;
  return a === null ? above : -above;
}

/** By code points, as the bytes of UTF-8 compare; JavaScript's own < puts U+FFFF above U+10000. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  let i = 0;
  while (i < shared && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === shared) return a.length - b.length;
  const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
  const [p, q] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
  return p === q ? x - y : p && y >= 0xe000 ? 1 : q && x >= 0xe000 ? -1 : x - y;
}

/** Order of two canonical values; for lists, structs and intervals only equality means anything. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') {
    return compareText(a, b);
  }
  if (
    (typeof a === 'number' || typeof a === 'bigint') &&
    (typeof b === 'number' || typeof b === 'bigint')
  ) {
    return compareNumbers(a, b);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const order = compareValues(a[i], b[i]);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  if (typeof a === 'object' && typeof b === 'object') {
    const [x, y] = [Object.values(a as object), Object.values(b as object)];
    return compareValues(x, y);
  }
  return 1;
}
