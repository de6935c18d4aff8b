/**
 * Compares two columns row by row, by the same rules as evaluate-compare.ts applies against a
 * constant.
 */

import { doubleToExact } from '../../values/index.ts';
import type { CompareOperator } from '../parse/index.ts';
import {
  bothValid,
  type Column,
  compareExact,
  compareNumbers,
  compareValues,
  decimalScale,
  FALSE,
  familyOf,
  holds,
  maskNulls,
  type NumberColumn,
  reader,
  TRUE,
  type Validity,
  type Value,
  validityOf,
  type WideColumn,
} from '../typed/index.ts';
import { compareBytes } from './evaluate-compare.ts';

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
