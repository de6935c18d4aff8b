/**
 * `castNumbers` converts a whole column at once, if doubles hold every value exactly. It converts
 * integers and floats to integers or to float32, decimals to float64, and timestamps without a time
 * zone to days. For all other casts and values it returns null, and cast.ts converts value by value
 * and names a value that does not fit. A lenient cast to integers makes such a value null.
 */
import { type DataType, Precision } from '../../arrow/index.ts';
import {
  asSafeNumbers,
  type CastMode,
  type Column,
  clockZoneOf,
  decimalScale,
  familyOf,
  integerRange,
  isWide,
  type NumberArray,
  type NumberColumn,
  nanosPerUnit,
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
  if (g === 'float' && mode === 'explicit') {
    if (f === 'int' || f === 'float') return floats(column, to);
    if (f === 'decimal') return decimalsAsDoubles(column, to);
  }
  if (f === 'timestamp' && g === 'date' && mode === 'explicit') return dates(column, to);
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

function decimalsAsDoubles(column: Column, to: DataType): NumberColumn | null {
  const { precision } = to as { precision?: Precision };
  const scale = decimalScale(column.type);
  const unscaled = safeOf(column);
  if (unscaled === null || precision !== Precision.DOUBLE || !('valid' in column)) return null;
  if (scale < 0 || scale > EXACT_POWER) return null;
  // The quotient of two exact doubles is rounded once.
  const power = 10 ** scale;
  const values = new Float64Array(unscaled.length);
  for (let i = 0; i < values.length; i++) values[i] = (unscaled[i] as number) / power;
  return made(to, values, column.valid);
}

function dates(column: Column, to: DataType): NumberColumn | null {
  if (isWide(to) || clockZoneOf(column.type) !== null || !('valid' in column)) return null;
  const counted = safeOf(column);
  if (counted === null) return null;
  const perDay = Number(nanosPerUnit(to) / nanosPerUnit(column.type));
  const values = new Float64Array(counted.length);
  for (let i = 0; i < values.length; i++) {
    // Exact: the quotient of whole numbers within 2^53 never rounds to the next whole number.
    values[i] = Math.floor((counted[i] as number) / perDay);
    // Days have 32 bits: the exact way says which value does not fit.
    if (values[i] !== ((values[i] as number) | 0)) return null;
  }
  return made(to, values, column.valid);
}
