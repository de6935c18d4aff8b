/**
 * `compareColumns` compares two columns row by row. It returns one truth value per row, which is
 * unknown where either side is null. Values compare by the rules of evaluate-compare.ts, which
 * compares a column with constants. number-kernels.ts compares integers of 1,024 rows or more.
 */

import type { CompareOperator } from '../parse/index.ts';
import {
  bothValid,
  type Column,
  compareNumbers,
  compareValues,
  FALSE,
  holds,
  maskNulls,
  type NumberColumn,
  reader,
  TRUE,
  type Validity,
  validityOf,
  type WideColumn,
} from '../typed/index.ts';
import { compareBytes } from './evaluate-compare.ts';
import { numberKernels } from './number-kernels.ts';

/** `left op right`, row by row. */
export function compareColumns(op: CompareOperator, left: Column, right: Column): Uint8Array {
  const out = new Uint8Array(left.length);
  const valid = bothValid(validityOf(left), validityOf(right));
  const quick = isCounted(left) && isCounted(right) ? throughKernels(op, left, right) : null;
  if (quick !== null) return maskNulls(quick, valid);
  if (left.form === 'number' && right.form === 'number') numbersLoop(op, left, right, out);
  else if (isCounted(left) && isCounted(right)) mixedLoop(op, left, right, out);
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

/** By the sign of the difference; null for floats, and where a difference may need more than 64 bits. */
function throughKernels(
  op: CompareOperator,
  left: NumberColumn | WideColumn,
  right: NumberColumn | WideColumn,
): Uint8Array | null {
  const { length, values: a } = left;
  const { values: b } = right;
  if (a instanceof Int32Array && b instanceof Int32Array) {
    return numberKernels(length)?.compareDoublesOf('-', a, b, op, 0, length) ?? null;
  }
  if (a instanceof BigInt64Array && b instanceof BigInt64Array) {
    return numberKernels(length)?.compareIntegersOf('-', a, b, op, 0n, length) ?? null;
  }
  return null;
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
  for (let i = 0; i < out.length; i++) {
    if (valid !== null && valid[i] === 0) continue;
    out[i] = holds(op, compareValues(a(i), b(i))) ? TRUE : FALSE;
  }
}
