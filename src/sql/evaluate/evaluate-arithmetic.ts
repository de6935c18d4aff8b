/**
 * `evaluateArithmetic` computes `+ - * / %` on two columns; a row with a null gives null. Floats
 * follow IEEE 754. For integers and decimals, a result out of range and a division by zero throw
 * InvalidInput. Integer division truncates, and % has the sign of the dividend. A decimal result is
 * rounded half away from zero to the digits of its type, and `rounded` does so for one value.
 * `compareArithmetic` compares results with a constant without keeping them, or returns null if the
 * kernels cannot, and `rescaleColumn` counts a column in a finer unit. number-kernels.ts computes
 * columns of 1,024 rows or more if it can.
 */
import type { DataType, Decimal, Int64 } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { powerOfTen } from '../../values/index.ts';
import type { ArithmeticOperator, CompareOperator } from '../parse/index.ts';
import {
  asExactNumbers,
  asSigned64,
  bothValid,
  type Column,
  columnOf,
  constantColumn,
  decimalScale,
  familyOf,
  INT64,
  integerRange,
  maskNulls,
  reader,
  typeText,
  type Validity,
  type Value,
  validityOf,
} from '../typed/index.ts';
import { decimalColumn } from './decimal-columns.ts';
import { numberKernels } from './number-kernels.ts';
import { divisionByZero, type Operand, safeIntegers } from './safe-integers.ts';

export function evaluateArithmetic(
  op: ArithmeticOperator,
  left: Column,
  right: Column,
  type: DataType,
): Column {
  const { length } = left;
  if (isNull(left) || isNull(right)) return constantColumn(type, null, length);
  const valid = bothValid(validityOf(left), validityOf(right));
  const family = familyOf(type);
  if (family === 'float') {
    const [a, b] = [doublesOf(left), doublesOf(right)];
    const values = numberKernels(length)?.doubles(op, a, b, length) ?? floats(op, a, b, length);
    return { form: 'number', type, length, values, valid };
  }
  if (family === 'int' && isSigned64(type)) {
    const [a, b] = [asSigned64(left), asSigned64(right)];
    const kernels = a === null || b === null ? null : numberKernels(length);
    // Null where a result does not fit, if only in a row without a value: the loops below know.
    const values = kernels?.integers(op, a as BigInt64Array, b as BigInt64Array, length) ?? null;
    if (values !== null) return { form: 'wide', type, length, values, valid };
  }
  if (family !== 'decimal') {
    const [a, b] = [asExactNumbers(left), asExactNumbers(right)];
    const values = a === null || b === null ? null : safeIntegers(op, a, b, valid, length);
    if (values !== null && family === 'int' && inUnsignedRange(values, type, valid)) {
      return { form: 'number', type, length, values, valid };
    }
  }
  const quick = family === 'decimal' ? decimalColumn(op, left, right, type as Decimal) : null;
  return quick ?? exactLoop(op, left, right, valid, type);
}

/**
 * Truth of `left run right op value`, computed and compared in one pass; null if the kernels
 * cannot, and the caller has to compute the result first.
 */
export function compareArithmetic(
  run: ArithmeticOperator,
  left: Column,
  right: Column,
  type: DataType,
  op: CompareOperator,
  value: Value,
): Uint8Array | null {
  const { length } = left;
  const kernels = isNull(left) || isNull(right) ? null : numberKernels(length);
  if (kernels === null) return null;
  let truth: Uint8Array | null = null;
  if (familyOf(type) === 'float' && typeof value === 'number' && !Number.isNaN(value)) {
    const [a, b] = [doublesOf(left), doublesOf(right)];
    truth = kernels.compareDoublesOf(run, a, b, op, value, length);
  } else if (isSigned64(type) && typeof value === 'bigint' && BigInt.asIntN(64, value) === value) {
    const [a, b] = [asSigned64(left), asSigned64(right)];
    if (a === null || b === null) return null;
    truth = kernels.compareIntegersOf(run, a, b, op, value, length);
  }
  return truth && maskNulls(truth, bothValid(validityOf(left), validityOf(right)));
}

function isNull(column: Column): boolean {
  return column.form === 'constant' && column.value === null;
}

function doublesOf(column: Column): Operand {
  if (column.form === 'number') return column.values;
  if (column.form === 'constant') return Number(column.value);
  const read = reader(column);
  return Float64Array.from({ length: column.length }, (_, i) => Number(read(i) ?? 0));
}

/** Only integer types have `isSigned`. Called for every batch, so without `familyOf`. */
const isSigned64 = (type: DataType): boolean =>
  (type as Int64).isSigned === true && (type as Int64).bitWidth === 64;

function spread(operand: Operand, length: number): Float64Array | Float32Array | Int32Array {
  return typeof operand === 'number' ? new Float64Array(length).fill(operand) : operand;
}

function floats(op: ArithmeticOperator, a: Operand, b: Operand, length: number): Float64Array {
  const values = new Float64Array(length);
  floatLoop(op, a, b, values);
  return values;
}

function floatLoop(op: ArithmeticOperator, left: Operand, right: Operand, out: Float64Array): void {
  const n = out.length;
  if (typeof right === 'number' && left instanceof Float64Array) {
    constantLoop(op, left, right, out);
    return;
  }
  const [a, b] = [spread(left, n), spread(right, n)];
  if (op === '+') for (let i = 0; i < n; i++) out[i] = (a[i] as number) + (b[i] as number);
  else if (op === '-') for (let i = 0; i < n; i++) out[i] = (a[i] as number) - (b[i] as number);
  else if (op === '*') for (let i = 0; i < n; i++) out[i] = (a[i] as number) * (b[i] as number);
  else if (op === '/') for (let i = 0; i < n; i++) out[i] = (a[i] as number) / (b[i] as number);
  else for (let i = 0; i < n; i++) out[i] = (a[i] as number) % (b[i] as number);
}

function constantLoop(op: ArithmeticOperator, a: Float64Array, c: number, out: Float64Array): void {
  const n = out.length;
  if (op === '+') for (let i = 0; i < n; i++) out[i] = (a[i] as number) + c;
  else if (op === '-') for (let i = 0; i < n; i++) out[i] = (a[i] as number) - c;
  else if (op === '*') for (let i = 0; i < n; i++) out[i] = (a[i] as number) * c;
  else if (op === '/') for (let i = 0; i < n; i++) out[i] = (a[i] as number) / c;
  else for (let i = 0; i < n; i++) out[i] = (a[i] as number) % c;
}

function inUnsignedRange(values: Float64Array, type: DataType, valid: Validity): boolean {
  if (integerRange(type)[0] < 0n) return true;
  for (let i = 0; i < values.length; i++) {
    if ((values[i] as number) < 0 && (valid === null || valid[i] === 1)) return false;
  }
  return true;
}

function exactLoop(
  op: ArithmeticOperator,
  left: Column,
  right: Column,
  valid: Validity,
  type: DataType,
): Column {
  const [a, b] = [reader(left), reader(right)];
  const compute =
    familyOf(type) === 'decimal'
      ? decimals(op, left.type, right.type, type as Decimal)
      : integers(op, type);
  const values: Value[] = new Array(left.length).fill(null);
  for (let i = 0; i < values.length; i++) {
    if (valid !== null && valid[i] === 0) continue;
    values[i] = compute(a(i) as bigint, b(i) as bigint);
  }
  return columnOf(type, values);
}

function integers(op: ArithmeticOperator, type: DataType): (a: bigint, b: bigint) => bigint {
  const [least, greatest] = integerRange(familyOf(type) === 'int' ? type : INT64);
  return (a, b) => {
    const result = apply(op, a, b);
    if (result < least || result > greatest) overflow(op, String(a), String(b), type);
    return result;
  };
}

function overflow(op: string, a: string, b: string, type: DataType): never {
  throw new DirspaceError(
    'InvalidInput',
    `${a} ${op} ${b} does not fit ${typeText(type)}; CAST one side to a wider type`,
  );
}

function apply(op: ArithmeticOperator, a: bigint, b: bigint): bigint {
  if (op === '+') return a + b;
  if (op === '-') return a - b;
  if (op === '*') return a * b;
  if (b === 0n) return divisionByZero();
  return op === '/' ? a / b : a % b;
}

/** A quotient is rounded half away from zero at the digits of its type. */
function decimals(
  op: ArithmeticOperator,
  left: DataType,
  right: DataType,
  type: Decimal,
): (a: bigint, b: bigint) => bigint {
  const [s, t] = [decimalScale(left), decimalScale(right)];
  const limit = 10n ** BigInt(type.precision);
  const shared = Math.max(s, t);
  const [up, over] = [10n ** BigInt(shared - s), 10n ** BigInt(shared - t)];
  // What the dividend, or else the divisor, has to be multiplied by.
  const power = type.scale + t - s;
  const [more, less] = [powerOfTen(Math.max(0, power)), powerOfTen(Math.max(0, -power))];
  return (a, b) => {
    let result: bigint;
    if (op === '*') result = rounded(a * b, s + t, type.scale);
    else if (op === '/') {
      if (b === 0n) return divisionByZero();
      result = nearestQuotient(a * more, b * less);
    } else result = rounded(apply(op, a * up, b * over), shared, type.scale);
    if (result <= -limit || result >= limit) overflow(op, String(a), String(b), type);
    return result;
  };
}

/** Half away from zero. */
export function rounded(value: bigint, from: number, to: number): bigint {
  if (from <= to) return value * powerOfTen(to - from);
  return nearestQuotient(value, powerOfTen(from - to));
}

/** Half away from zero. */
function nearestQuotient(dividend: bigint, divisor: bigint): bigint {
  const whole = dividend / divisor;
  const rest = dividend - whole * divisor;
  if (rest === 0n) return whole;
  const isUp = 2n * (rest < 0n ? -rest : rest) >= (divisor < 0n ? -divisor : divisor);
  if (!isUp) return whole;
  return rest < 0n === divisor < 0n ? whole + 1n : whole - 1n;
}

/** Counts in a finer unit; bigint, so that nothing overflows. */
export function rescaleColumn(column: Column, factor: bigint): Column {
  const read = reader(column);
  const valid = validityOf(column);
  const values: bigint[] = new Array(column.length).fill(0n);
  for (let i = 0; i < values.length; i++) {
    if (valid !== null && valid[i] === 0) continue;
    values[i] = BigInt(read(i) as number | bigint) * factor;
  }
  return { form: 'wide', type: column.type, length: column.length, values, valid };
}
