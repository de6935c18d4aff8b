/**
 * `decimalColumn` computes `+ - * / %` with a decimal result over whole columns. Sums, differences
 * and products use integer kernels, if all unscaled values fit 64 bits. Quotients, rounded half
 * away from zero, and remainders are computed in doubles, if doubles hold the values exactly, and
 * those of other values of 64 bits by a kernel. In all other cases, and if a row would throw, it returns null. evaluate-arithmetic.ts then computes
 * value by value.
 */
import type { Decimal } from '../../arrow/index.ts';
import { powerOfTen } from '../../values/index.ts';
import type { ArithmeticOperator } from '../parse/index.ts';
import {
  asExactNumbers,
  asSigned64,
  bothValid,
  type Column,
  decimalScale,
  type Validity,
  validityOf,
} from '../typed/index.ts';
import { numberKernels } from './number-kernels.ts';
import { quotient } from './safe-integers.ts';

/** Every number of 64 bits has fewer digits. */
const ANY_INT64 = 19;

export function decimalColumn(
  op: ArithmeticOperator,
  left: Column,
  right: Column,
  type: Decimal,
): Column | null {
  const valid = bothValid(validityOf(left), validityOf(right));
  if (op === '/') {
    return quotients(left, right, type, valid) ?? wideQuotients(left, right, type, valid);
  }
  if (op === '%') return remainders(left, right, type, valid);
  const kernels = numberKernels(left.length);
  const [a, b] = [asSigned64(left), asSigned64(right)];
  if (kernels === null || a === null || b === null) return null;
  const { length } = left;
  const [s, t] = [decimalScale(left.type), decimalScale(right.type)];
  const scale = op === '*' ? s + t : Math.max(s, t);
  if (type.scale < scale) return null;
  const times = (values: BigInt64Array | bigint, digits: number): BigInt64Array | bigint | null => {
    if (digits === 0) return values;
    const power = 10n ** BigInt(digits);
    if (typeof values === 'bigint') return fitting(values * power);
    return fitting(power) === null ? null : kernels.integers('*', values, power, length);
  };
  const [x, y] = op === '*' ? [a, b] : [times(a, scale - s), times(b, scale - t)];
  const computed = x === null || y === null ? null : kernels.integers(op, x, y, length);
  const values = computed === null ? null : times(computed, type.scale - scale);
  if (!(values instanceof BigInt64Array)) return null;
  if (type.precision < ANY_INT64 && !hasDigits(values, valid, type.precision)) return null;
  return { form: 'wide', type, length, values, valid };
}

/** Whether no value has more digits, as far as doubles tell. */
function hasDigits(values: BigInt64Array, valid: Validity, most: number): boolean {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const limit = Math.min(10 ** most, Number.MAX_SAFE_INTEGER);
  for (let i = 0, at = 0; i < values.length; i++, at += 2) {
    const value = (words[at + 1] as number) * 2 ** 32 + ((words[at] as number) >>> 0);
    if (value < limit && value > -limit) continue;
    if (valid === null || valid[i] === 1) return false;
  }
  return true;
}

const fitting = (value: bigint): bigint | null =>
  BigInt.asIntN(64, value) === value ? value : null;

/** Remainders with the sign of the dividend. */
function remainders(left: Column, right: Column, type: Decimal, valid: Validity): Column | null {
  const [a, b] = [asExactNumbers(left), asExactNumbers(right)];
  if (a === null || b === null || typeof a === 'number') return null;
  const [s, t] = [
    10 ** (type.scale - decimalScale(left.type)),
    10 ** (type.scale - decimalScale(right.type)),
  ];
  const values = new Float64Array(a.length);
  for (let i = 0; i < values.length; i++) {
    if (valid !== null && valid[i] === 0) continue;
    const dividend = (a[i] as number) * s;
    const divisor = (typeof b === 'number' ? b : (b[i] as number)) * t;
    if (divisor === 0 || !(Math.max(Math.abs(dividend), Math.abs(divisor)) <= 2 ** 52)) return null;
    values[i] = (dividend % divisor) + 0;
  }
  return { form: 'number', type, length: values.length, values, valid };
}

/** Powers of ten up to this one are below 2^64. */
const WIDE_POWER = 19;

/** Quotients of dividends and divisors of 64 bits, by the kernels. */
function wideQuotients(left: Column, right: Column, type: Decimal, valid: Validity): Column | null {
  const kernels = numberKernels(left.length);
  const [a, b] = [asSigned64(left), asSigned64(right)];
  const digits = type.scale + decimalScale(right.type) - decimalScale(left.type);
  if (kernels === null || a === null || b === null || typeof a === 'bigint') return null;
  if (digits < 0 || digits > WIDE_POWER) return null;
  const values = kernels.quotients(a, withoutZeros(b, valid), powerOfTen(digits));
  if (values === null) return null;
  const fits =
    values instanceof BigInt64Array
      ? type.precision >= ANY_INT64 || hasDigits(values, valid, type.precision)
      : haveDigits(values, valid, type.precision);
  return fits ? { form: 'wide', type, length: values.length, values, valid } : null;
}

function haveDigits(values: readonly bigint[], valid: Validity, most: number): boolean {
  const limit = powerOfTen(most);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as bigint;
    if (value < limit && value > -limit) continue;
    if (valid === null || valid[i] === 1) return false;
  }
  return true;
}

/** Divisors with 1 in place of what rows without a value have. */
function withoutZeros(divisors: BigInt64Array | bigint, valid: Validity): BigInt64Array | bigint {
  if (valid === null || typeof divisors === 'bigint') return divisors;
  const out = divisors.slice();
  for (let i = 0; i < out.length; i++) if (valid[i] === 0) out[i] = 1n;
  return out;
}

/** One digit more than asked for, then rounded half away from zero. */
function quotients(left: Column, right: Column, type: Decimal, valid: Validity): Column | null {
  const [a, b] = [asExactNumbers(left), asExactNumbers(right)];
  if (a === null || b === null || typeof a === 'number') return null;
  const digits = type.scale + 1 + decimalScale(right.type) - decimalScale(left.type);
  const power = 10 ** digits;
  if (digits < 0 || power > Number.MAX_SAFE_INTEGER) return null;
  const limit = Math.min(10 ** Math.min(type.precision, 16), Number.MAX_SAFE_INTEGER);
  const values = new Float64Array(a.length);
  for (let i = 0; i < values.length; i++) {
    if (valid !== null && valid[i] === 0) continue;
    const dividend = (a[i] as number) * power;
    const divisor = typeof b === 'number' ? b : (b[i] as number);
    if (divisor === 0 || Math.abs(dividend) > 2 ** 52) return null;
    const whole = quotient(dividend, divisor);
    const result = Math.trunc((whole + (whole < 0 ? -5 : 5)) / 10) + 0;
    if (Math.abs(result) >= limit) return null;
    values[i] = result;
  }
  return { form: 'number', type, length: values.length, values, valid };
}
