/**
 * `safeIntegers` computes `+ - * / %` of whole numbers that doubles hold exactly. If the result of
 * a row is not such a number, it returns null; a division by zero throws InvalidInput
 * (`divisionByZero`). Rows without a value cause neither. `quotient` divides two such numbers and
 * truncates; a division by 0 gives NaN there.
 */
import { DirspaceError } from '../../errors.ts';
import type { ArithmeticOperator } from '../parse/index.ts';
import type { NumberArray, Validity } from '../typed/index.ts';

/** A constant is one number, anything else an array. */
export type Operand = NumberArray | number;

export function safeIntegers(
  op: ArithmeticOperator,
  left: Operand,
  right: Operand,
  valid: Validity,
  n: number,
): Float64Array | null {
  const out = new Float64Array(n);
  if (op === '%' && typeof right === 'number' && right !== 0 && typeof left !== 'number') {
    if (left instanceof Int32Array && (right | 0) === right) remainders32(left, right, out);
    else remainders(doublesOf(left), right, out);
    return out;
  }
  if (typeof left !== 'number' && typeof right === 'number' && op !== '/' && op !== '%') {
    withConstant(op, doublesOf(left), right, out);
  } else computed(op, spread(left, n), spread(right, n), out);
  // NaN and what lies outside shows afterwards; a row that is null may hold anything.
  if (areSafe(out)) return out;
  for (let i = 0; i < n; i++) {
    const result = out[i] as number;
    if (result >= Number.MIN_SAFE_INTEGER && result <= Number.MAX_SAFE_INTEGER) continue;
    if (valid !== null && valid[i] === 0) out[i] = 0;
    else if ((op === '/' || op === '%') && (typeof right === 'number' ? right : right[i]) === 0) {
      return divisionByZero();
    } else return null;
  }
  return out;
}

export function divisionByZero(): never {
  throw new DirspaceError('InvalidInput', 'Division by zero; guard it with CASE or NULLIF');
}

const doublesOf = (values: NumberArray): Float64Array =>
  values instanceof Float64Array ? values : new Float64Array(values);

const spread = (operand: Operand, length: number): Float64Array =>
  typeof operand === 'number' ? new Float64Array(length).fill(operand) : doublesOf(operand);

function areSafe(values: Float64Array): boolean {
  let isSafe = true;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    isSafe = isSafe && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
  }
  return isSafe;
}

// An integer has no negative zero: adding 0 makes it the other one.

function withConstant(op: '+' | '-' | '*', a: Float64Array, c: number, out: Float64Array): void {
  const n = out.length;
  if (op === '+') for (let i = 0; i < n; i++) out[i] = (a[i] as number) + c + 0;
  else if (op === '-') for (let i = 0; i < n; i++) out[i] = (a[i] as number) - c + 0;
  else for (let i = 0; i < n; i++) out[i] = (a[i] as number) * c + 0;
}

function computed(
  op: ArithmeticOperator,
  a: Float64Array,
  b: Float64Array,
  out: Float64Array,
): void {
  const n = out.length;
  if (op === '+') for (let i = 0; i < n; i++) out[i] = (a[i] as number) + (b[i] as number) + 0;
  else if (op === '-') for (let i = 0; i < n; i++) out[i] = (a[i] as number) - (b[i] as number) + 0;
  else if (op === '*') for (let i = 0; i < n; i++) out[i] = (a[i] as number) * (b[i] as number) + 0;
  else if (op === '%') {
    for (let i = 0; i < n; i++) out[i] = ((a[i] as number) % (b[i] as number)) + 0;
  } else for (let i = 0; i < n; i++) out[i] = quotient(a[i] as number, b[i] as number) + 0;
}

/** The quotient of two large doubles may round up to the next integer. */
export function quotient(x: number, y: number): number {
  if (y === 0) return Number.NaN;
  return Math.abs(x) > 2 ** 50 ? Number(BigInt(x) / BigInt(y)) : Math.trunc(x / y);
}

function remainders32(a: Int32Array, c: number, out: Float64Array): void {
  for (let i = 0; i < out.length; i++) out[i] = ((a[i] as number) % c) | 0;
}

/**
 * By the quotient, whose whole part is exact within 2^53: the runtime's own remainder of doubles
 * takes ten times as long.
 */
function remainders(a: Float64Array, c: number, out: Float64Array): void {
  const by = Math.abs(c);
  for (let i = 0; i < out.length; i++) {
    const value = a[i] as number;
    const size = Math.abs(value);
    const rest = size - Math.trunc(size / by) * by;
    // The sign of the dividend.
    out[i] = value < 0 ? 0 - rest : rest;
  }
}
