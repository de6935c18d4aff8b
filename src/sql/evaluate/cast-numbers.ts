/**
 * `castNumbers` converts a whole column at once, if doubles hold every value exactly: numbers to
 * integers, integers and floats to float32, decimals to float32 and float64, integers and decimals
 * to decimals, dates, times, timestamps and durations to integers and back, and dates and
 * timestamps without a time zone into each other. Decimals of up to 64 bits become floats too, if
 * their scale is 12 at most. It returns null for all other casts and for values that do not fit,
 * except in a lenient cast to integers, which makes them null; cast.ts then converts value by
 * value. `roundedQuotient` rounds half away from zero, and `EXACT_DIGITS` is how many decimal
 * digits are below 2^53.
 */
import { type DataType, type Decimal, Precision } from '../../arrow/index.ts';
import {
  asSafeNumbers,
  type CastMode,
  type Column,
  clockZoneOf,
  dayOf,
  decimalScale,
  type Family,
  familyOf,
  integerRange,
  isWide,
  type NumberArray,
  type NumberColumn,
  nanosPerUnit,
  timesOf,
  type Validity,
} from '../typed/index.ts';

/** Powers of ten up to this one are exact doubles. */
const EXACT_POWER = 22;

/**
 * Null also for most lenient or lossless casts, for values beyond 2^53, and, unless the cast is
 * lenient, for a value that does not fit.
 */
export function castNumbers(column: Column, to: DataType, mode: CastMode): NumberColumn | null {
  if (column.form !== 'number' && column.form !== 'wide') return null;
  const [f, g] = [familyOf(column.type), familyOf(to)];
  if (g === 'int' && (f === 'int' || f === 'float')) {
    const values = safeOf(column);
    return values === null ? null : wholeNumbers(values, column.valid, to, mode);
  }
  if (g === 'float' && f === 'float' && mode === 'lossless') return sameFloats(column, to);
  if (g === 'float' && mode === 'explicit' && (f === 'int' || f === 'float')) {
    return floats(column, to);
  }
  if (g === 'float' && f === 'decimal' && mode !== 'lossless') return decimalsAsFloats(column, to);
  if (g === 'decimal' && (f === 'int' || f === 'decimal') && mode !== 'lenient') {
    return decimals(column, to as Decimal, mode);
  }
  if (mode === 'explicit') {
    if (f === 'decimal' && g === 'int') return wholeDecimals(column, to);
    if ((COUNTED.has(f) && g === 'int') || (f === 'int' && COUNTED.has(g))) {
      return counted(column, to);
    }
  }
  const areDays = [f, g].every((family) => family === 'date' || family === 'timestamp');
  if (areDays && mode !== 'lenient') return times(column, to, mode);
  return null;
}

const safeOf = (column: Column): NumberArray | null => {
  if (column.form === 'number') return column.values;
  return column.form === 'wide' ? asSafeNumbers(column) : null;
};

const made = (type: DataType, values: NumberArray, valid: Validity): NumberColumn => ({
  form: 'number',
  type,
  length: values.length,
  values,
  valid,
});

function wholeNumbers(
  from: NumberArray,
  valid: Validity,
  to: DataType,
  mode: CastMode,
): NumberColumn | null {
  const [low, high] = integerRange(to);
  const least = Math.max(Number(low), Number.MIN_SAFE_INTEGER);
  const greatest = Math.min(Number(high), Number.MAX_SAFE_INTEGER);
  const values = new Float64Array(from.length);
  let present = valid;
  for (let i = 0; i < values.length; i++) {
    const value = from[i] as number;
    const whole = Math.trunc(value);
    if (whole >= least && whole <= greatest && (whole === value || mode !== 'lossless')) {
      // An integer has no negative zero.
      values[i] = whole + 0;
      continue;
    }
    if (valid !== null && valid[i] === 0) continue;
    // cast.ts names a value that does not fit, and converts values beyond 2^53.
    const fitsElse = Number.isFinite(value) && isWide(to);
    if (mode !== 'lenient' || fitsElse) return null;
    if (present === valid) present = valid?.slice() ?? new Uint8Array(values.length).fill(1);
    (present as Uint8Array)[i] = 0;
  }
  return made(to, values, present);
}

/** Rounded once: a double is exactly what is converted. */
function floats(column: Column, to: DataType): NumberColumn | null {
  const { precision } = to as { precision?: Precision };
  const values = safeOf(column);
  if (values === null || precision !== Precision.SINGLE || !('valid' in column)) return null;
  return made(to, new Float32Array(values), column.valid);
}

/** Numbers that single precision has as they are. */
function sameFloats(column: Column, to: DataType): NumberColumn | null {
  const { precision } = to as { precision?: Precision };
  if (column.form !== 'number' || precision !== Precision.SINGLE) return null;
  const { values: from, valid } = column;
  const values = new Float32Array(from);
  for (let i = 0; i < values.length; i++) {
    const value = from[i] as number;
    if (values[i] === value || Number.isNaN(value)) continue;
    if (valid === null || valid[i] !== 0) return null;
  }
  return made(to, values, valid);
}

/** The nearest double, which is rounded once more for single precision. */
function decimalsAsFloats(column: Column, to: DataType): NumberColumn | null {
  const { precision } = to as { precision?: Precision };
  const scale = decimalScale(column.type);
  if (precision === Precision.HALF || !('valid' in column)) return null;
  if (scale < 0 || scale > EXACT_POWER) return null;
  const unscaled = safeOf(column);
  const values = unscaled === null ? wideAsDoubles(column, scale) : new Float64Array(unscaled);
  if (values === null) return null;
  // The quotient of two exact doubles is rounded once.
  const power = 10 ** scale;
  if (unscaled !== null) for (let i = 0; i < values.length; i++) (values[i] as number) /= power;
  return made(to, precision === Precision.SINGLE ? new Float32Array(values) : values, column.valid);
}

/** Up to this scale a quotient of 64 bits is never so near to the middle of two doubles that two do not tell it. */
const WIDE_SCALE = 12;
/** Cuts a double into two of 26 bits, whose products are exact. */
const HALVES = 2 ** 27 + 1;

/** Decimals of 64 bits as the nearest doubles: dividend, quotient and rest are sums of two doubles. */
function wideAsDoubles(column: Column, scale: number): Float64Array | null {
  if (column.form !== 'wide' || !(column.values instanceof BigInt64Array)) return null;
  if (scale > WIDE_SCALE) return null;
  const power = 10 ** scale;
  const { values, length } = column;
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * length);
  const upper = power * HALVES - (power * HALVES - power);
  const lower = power - upper;
  const out = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const high = (words[2 * i + 1] as number) * 2 ** 32;
    const low = (words[2 * i] as number) >>> 0;
    const sum = high + low;
    const lost = low - (sum - high);
    const first = sum / power;
    const product = first * power;
    const a = first * HALVES - (first * HALVES - first);
    const b = first - a;
    const beyond = a * upper - product + a * lower + b * upper + b * lower;
    out[i] = first + (sum - product - beyond + lost) / power;
  }
  return out;
}

/** The fraction is dropped. */
function wholeDecimals(column: Column, to: DataType): NumberColumn | null {
  const scale = decimalScale(column.type);
  const unscaled = safeOf(column);
  if (unscaled === null || !('valid' in column) || scale < 0 || scale > EXACT_DIGITS) return null;
  // Exact: the quotient of whole numbers within 2^53 never rounds to the next whole number.
  const power = 10 ** scale;
  const values = new Float64Array(unscaled.length);
  for (let i = 0; i < values.length; i++) values[i] = (unscaled[i] as number) / power;
  return wholeNumbers(values, column.valid, to, 'explicit');
}

/** With digits that are added, or rounded half away from zero. */
function decimals(column: Column, to: Decimal, mode: CastMode): NumberColumn | null {
  const scale = familyOf(column.type) === 'decimal' ? decimalScale(column.type) : 0;
  const more = to.scale - scale;
  const from = safeOf(column);
  if (from === null || !('valid' in column) || Math.min(scale, to.scale) < 0) return null;
  // A lossless cast refuses what is rounded.
  if (Math.abs(more) > EXACT_DIGITS || (more < 0 && mode !== 'explicit')) return null;
  const power = 10 ** Math.abs(more);
  const limit = Math.min(10 ** Math.min(to.precision, EXACT_DIGITS + 1), Number.MAX_SAFE_INTEGER);
  const values = new Float64Array(from.length);
  for (let i = 0; i < values.length; i++) {
    const value = from[i] as number;
    const scaled = more >= 0 ? value * power : roundedQuotient(value, power);
    const isIn = Math.abs(scaled) < limit;
    if (!isIn && (column.valid === null || column.valid[i] !== 0)) return null;
    values[i] = isIn ? scaled : 0;
  }
  return made(to, values, column.valid);
}

/** Half away from zero, without a negative zero; exact for whole numbers within 2^53. */
export function roundedQuotient(value: number, power: number): number {
  const whole = Math.trunc(value / power);
  const rest = Math.abs(value - whole * power);
  return (2 * rest < power ? whole : whole + Math.sign(value)) + 0;
}

/** Powers of ten up to this one are below 2^53. */
export const EXACT_DIGITS = 15;

/** Families whose values are whole numbers of a unit. */
const COUNTED: ReadonlySet<Family> = new Set<Family>(['date', 'time', 'timestamp', 'duration']);

/** The same numbers. */
function counted(column: Column, to: DataType): NumberColumn | null {
  const values = safeOf(column);
  if (values === null || !('valid' in column)) return null;
  if (familyOf(to) === 'int') return wholeNumbers(values, column.valid, to, 'explicit');
  return fits(values, column.valid, to) ? made(to, values, column.valid) : null;
}

/** Dates and timestamps in another unit, cut to the unit before where it is coarser. */
function times(column: Column, to: DataType, mode: CastMode): NumberColumn | null {
  const given = timesOf(column, column.type);
  if (given === null || clockZoneOf(to) !== null) return null;
  const { values: from, perUnit, column: read } = given;
  const target = Number(nanosPerUnit(to));
  const values = new Float64Array(from.length);
  if (perUnit >= target) {
    const factor = perUnit / target;
    for (let i = 0; i < values.length; i++) values[i] = (from[i] as number) * factor;
  } else {
    // A lossless cast refuses what is cut.
    if (mode !== 'explicit') return null;
    const step = target / perUnit;
    for (let i = 0; i < values.length; i++) values[i] = dayOf(from[i] as number, step);
  }
  return fits(values, read.valid, to) ? made(to, values, read.valid) : null;
}

/** Whether the type holds each value that is there, and a double holds it exactly. */
function fits(values: NumberArray, valid: Validity, to: DataType): boolean {
  const most = isWide(to) ? Number.MAX_SAFE_INTEGER : 2 ** 31 - 1;
  const least = isWide(to) ? -most : -(2 ** 31);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if ((value > most || value < least) && (valid === null || valid[i] !== 0)) return false;
  }
  return true;
}
