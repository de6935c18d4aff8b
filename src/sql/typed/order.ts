/**
 * Compares single values (`compareValues`), numbers (`compareNumbers`) and exact decimals
 * (`compareExact`). Numbers compare exactly across types, NaN is the greatest and equal to itself,
 * texts compare by code points, and nulls come last. For lists, structs and intervals the result
 * tells only whether they are equal. `holds` applies a comparison operator to the result, and
 * `MIRRORED` maps an operator to the one for exchanged sides.
 */

import { compareText, type ExactNumber } from '../../values/index.ts';
import type { CompareOperator } from '../parse/index.ts';
import type { Value } from './column.ts';

export function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  const [m, n] = [Number.isNaN(a), Number.isNaN(b)];
  return m === n ? 0 : m ? 1 : -1;
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

/** `a op b` is `b MIRRORED[op] a`. */
export const MIRRORED: Readonly<Record<CompareOperator, CompareOperator>> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** Whether `left op right` holds where left - right has the sign of `order`. */
export function holds(op: CompareOperator, order: number): boolean {
  switch (op) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/** Of two exact decimals. */
export function compareExact(a: ExactNumber, b: ExactNumber): number {
  const scale = Math.max(a.scale, b.scale);
  const left = a.unscaled * 10n ** BigInt(scale - a.scale);
  const right = b.unscaled * 10n ** BigInt(scale - b.scale);
  return left < right ? -1 : left > right ? 1 : 0;
}
