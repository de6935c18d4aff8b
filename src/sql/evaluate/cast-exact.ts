/**
 * Converts exact numbers to a numeric type, for casts (`fromExact`). Integers drop the fraction,
 * and decimals round half away from zero; a lossless cast does neither. `inWidth` checks a whole
 * number against the range of a type. Both return undefined for a value that does not fit, but a
 * float becomes infinite instead, unless the cast is lossless. `exactOfValue` reads a column's
 * value as an exact number, or as null for NaN and infinities.
 */
import type { DataType, Decimal } from '../../arrow/index.ts';
import { doubleToExact, type ExactNumber, exactToDouble } from '../../values/index.ts';
import {
  type CastMode,
  decimalScale,
  familyOf,
  integerRange,
  isWide,
  roundToFloat,
  type Value,
} from '../typed/index.ts';

export function exactOfValue(value: Value, type: DataType): ExactNumber | null {
  if (typeof value === 'number') return doubleToExact(value);
  return {
    unscaled: value as bigint,
    scale: familyOf(type) === 'decimal' ? decimalScale(type) : 0,
  };
}

/** A whole number as a value of `to`, or undefined outside its range. */
export function inWidth(value: bigint, to: DataType): Value | undefined {
  const range = familyOf(to) === 'int' ? integerRange(to) : null;
  const bits = isWide(to) ? 63n : 31n;
  const [least, greatest] = range ?? [-(1n << bits), (1n << bits) - 1n];
  if (value < least || value > greatest) return undefined;
  return isWide(to) ? value : Number(value);
}

/** Integers take the whole part, decimals round half away from zero. */
export function fromExact(given: ExactNumber, to: DataType, mode: CastMode): Value | undefined {
  const exact = withoutZeros(given);
  const family = familyOf(to);
  if (family === 'float') {
    const rounded = roundToFloat(to, exactToDouble(exact));
    if (mode !== 'lossless') return rounded;
    const back = doubleToExact(rounded);
    if (back === null) return undefined;
    const scale = 10n ** BigInt(Math.max(back.scale, exact.scale));
    const same =
      (back.unscaled * scale) / 10n ** BigInt(back.scale) ===
      (exact.unscaled * scale) / 10n ** BigInt(exact.scale);
    return same ? rounded : undefined;
  }
  const scale = family === 'decimal' ? decimalScale(to) : 0;
  const power = 10n ** BigInt(Math.abs(scale - exact.scale));
  let value = exact.unscaled;
  if (scale >= exact.scale) value *= power;
  else {
    const rest = value % power;
    if (mode === 'lossless' && rest !== 0n) return undefined;
    value /= power;
    if (family === 'decimal' && 2n * (rest < 0n ? -rest : rest) >= power)
      value += rest < 0n ? -1n : 1n;
  }
  if (family !== 'decimal') return inWidth(value, to);
  const limit = 10n ** BigInt((to as Decimal).precision);
  return value > -limit && value < limit ? value : undefined;
}

/** With a scale of at least 0: decimals may have a negative one, and count tens or hundreds. */
function withoutZeros(exact: ExactNumber): ExactNumber {
  if (exact.scale >= 0) return exact;
  return { unscaled: exact.unscaled * 10n ** BigInt(-exact.scale), scale: 0 };
}
