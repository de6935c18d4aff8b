/**
 * Compares a column with a constant (`compareWithConstant`) or with two bounds (`inRange`). The
 * result is one truth value per row, unknown for a null. Numbers of different types compare
 * exactly. NaN equals NaN and is the greatest number, and -0 equals 0. Texts compare in the order
 * of code points. For other files too, `compareBytes` and `equalBytes` compare byte strings, and
 * `packed` and `lastFour` read up to four bytes as one number.
 */

import type { CompareOperator } from '../parse/index.ts';
import { MOST_PART, textKernels } from '../texts/index.ts';
import {
  asSafeNumbers,
  type BytesColumn,
  type Column,
  compareValues,
  FALSE,
  holds,
  maskNulls,
  type NumberArray,
  reader,
  TRUE,
  UNKNOWN,
  type Value,
  type WideColumn,
} from '../typed/index.ts';
import { numberKernels } from './number-kernels.ts';

/** `column op value`; `value` is canonical for the column's type and not null. */
export function compareWithConstant(op: CompareOperator, column: Column, value: Value): Uint8Array {
  const quick = throughKernels(op, column, value);
  if (quick !== null) return quick;
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

/** Null for columns of other kinds, few rows, and numbers that no row can be equal to. */
function throughKernels(op: CompareOperator, column: Column, value: Value): Uint8Array | null {
  if (column.form !== 'number' && column.form !== 'wide') return null;
  const kernels = numberKernels(column.length);
  if (kernels === null) return null;
  if (column.form === 'number') {
    const c = Number(value);
    if (Number.isNaN(c) || (typeof value === 'bigint' && BigInt(c) !== value)) return null;
    return maskNulls(kernels.compareNumbers(op, column.values, c), column.valid);
  }
  const { values } = column;
  const c = value as bigint;
  if (values instanceof BigUint64Array && Number.isSafeInteger(Number(c))) {
    const safe = asSafeNumbers(column);
    if (safe === null) return null;
    return maskNulls(kernels.compareNumbers(op, safe, Number(c)), column.valid);
  }
  if (!(values instanceof BigInt64Array) || BigInt.asIntN(64, c) !== c) return null;
  return maskNulls(kernels.compareIntegers(op, values, c), column.valid);
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
  const kernels = numberKernels(column.length);
  if (kernels !== null && (column.form === 'number' || column.form === 'wide')) {
    const truth = compareWithConstant('>=', column, low);
    kernels.join(true, truth, compareWithConstant('<=', column, high));
    return truth;
  }
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
  if (orderedByKernels(op, column, constant, out)) return;
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

/** False where the kernels do not take the column or the constant. */
function orderedByKernels(
  op: CompareOperator,
  column: BytesColumn,
  constant: Uint8Array,
  out: Uint8Array,
): boolean {
  if (!column.dense || constant.length > MOST_PART) return false;
  const [less, same, more] = [-1, 0, 1].map((order) => (holds(op, order) ? TRUE : FALSE));
  const answers = [less, same, more] as [number, number, number];
  return textKernels()?.order(column, constant, answers, out) ?? false;
}

/** Length first, then the last four bytes as one number, then the rest. */
export function equalBytes(column: BytesColumn, constant: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends } = column;
  const n = out.length;
  const size = constant.length;
  if (size === 0) {
    for (let i = 0; i < n; i++) out[i] = starts[i] === ends[i] ? 2 : 0;
  } else if (size < 4) {
    // All bytes as one number: no branch a byte that the processor could guess wrong.
    const key = packed(constant, 0, size);
    if (size === 3) {
      for (let i = 0; i < n; i++) {
        const start = starts[i] as number;
        const bytes =
          (data[start] as number) |
          ((data[start + 1] as number) << 8) |
          ((data[start + 2] as number) << 16);
        out[i] = (ends[i] as number) - start === 3 && bytes === key ? 2 : 0;
      }
    } else {
      for (let i = 0; i < n; i++) {
        const start = starts[i] as number;
        const same = (ends[i] as number) - start === size && packed(data, start, size) === key;
        out[i] = same ? 2 : 0;
      }
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

/** Up to three bytes as one number. */
export function packed(data: Uint8Array, start: number, size: number): number {
  const first = data[start] as number;
  if (size === 1) return first;
  const two = first | ((data[start + 1] as number) << 8);
  return size === 2 ? two : two | ((data[start + 2] as number) << 16);
}

/** The four bytes before `end` as one number. */
export function lastFour(data: Uint8Array, end: number): number {
  return (
    (data[end - 1] as number) |
    ((data[end - 2] as number) << 8) |
    ((data[end - 3] as number) << 16) |
    ((data[end - 4] as number) << 24)
  );
}

const LONG_BYTES = 512;

export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const shared = Math.min(aEnd - aStart, bEnd - bStart);
  // The runtime's own comparison takes a moment to begin, and a tenth of the time for long texts.
  if (shared > LONG_BYTES)
    return Buffer.compare(a.subarray(aStart, aEnd), b.subarray(bStart, bEnd));
  for (let k = 0; k < shared; k++) {
    const difference = (a[aStart + k] as number) - (b[bStart + k] as number);
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}
