/**
 * Finds common types of values. `commonKeyType` is for the two sides of a comparison: it returns
 * the type to which both are cast, `same` if they compare as they are, or `none` if they cannot be
 * compared. `castOf` is for the values in one column of VALUES, of a set operation such as UNION,
 * or of a recursive query. It throws InvalidInput if they have no common type. `castUnlessSame`
 * writes the cast; decimals are cast to 38 digits (`MOST_DIGITS`).
 */

import type { DataType, Decimal, Time, Timestamp } from '../../arrow/index.ts';
import { plainType } from '../../arrow/index.ts';
import {
  type Expression,
  familyOf,
  integerRange,
  refuse,
  type TypeName,
  typeText,
} from '../../sql/index.ts';

const name = (text: string, ...args: number[]): TypeName => ({ name: text, args });

/** Digits of the widest decimal. */
export const MOST_DIGITS = 38;

/** `same` where values compare as they are, `none` where they do not compare at all. */
export function commonKeyType(a: DataType, b: DataType): TypeName | 'same' | 'none' {
  const [left, right] = [plainType(a), plainType(b)];
  const families = [familyOf(left), familyOf(right)] as const;
  if (families.includes('null')) return 'same';
  if (families[0] === families[1]) return ofOneFamily(left, right);
  const has = (...wanted: string[]): boolean => families.every((family) => wanted.includes(family));
  if (has('int', 'decimal')) {
    const { scale } = (families[0] === 'decimal' ? left : right) as Decimal;
    return name('decimal', MOST_DIGITS, Math.max(0, scale));
  }
  if (has('int', 'decimal', 'float')) return name('double');
  if (has('date', 'timestamp')) {
    const { unit, timezone } = (families[0] === 'timestamp' ? left : right) as Timestamp;
    return timezone == null ? name('timestamp', 3 * unit) : 'none';
  }
  return 'none';
}

function ofOneFamily(left: DataType, right: DataType): TypeName | 'same' | 'none' {
  switch (familyOf(left)) {
    case 'int':
      // Above 2^63 they have the bits of negative ones.
      return isUint64(left) === isUint64(right) ? 'same' : name('decimal', MOST_DIGITS, 0);
    case 'decimal': {
      const scales = [left as Decimal, right as Decimal].map(({ scale }) => scale);
      return scales[0] === scales[1]
        ? 'same'
        : name('decimal', MOST_DIGITS, Math.max(0, ...scales));
    }
    case 'timestamp': {
      const [x, y] = [left as Timestamp, right as Timestamp];
      if ((x.timezone == null) !== (y.timezone == null)) return 'none';
      if (x.unit === y.unit) return 'same';
      const digits = 3 * Math.max(x.unit, y.unit);
      return name(x.timezone == null ? 'timestamp' : 'timestamptz', digits);
    }
    case 'date':
      return unitOf(left) === unitOf(right) ? 'same' : name('timestamp', 3);
    case 'time': {
      const [x, y] = [left as Time, right as Time];
      return x.unit === y.unit ? 'same' : name('time', 3 * Math.max(x.unit, y.unit));
    }
    case 'duration':
      return unitOf(left) === unitOf(right) ? 'same' : 'none';
    case 'bool':
    case 'float':
    case 'text':
    case 'bytes':
      return 'same';
    default:
      return typeText(left) === typeText(right) ? 'same' : 'none';
  }
}

const isUint64 = (type: DataType): boolean => integerRange(type)[1] > 2n ** 63n;

const unitOf = (type: DataType): unknown => (type as { unit?: unknown }).unit;

/**
 * What the columns of this place are cast to.
 * @param what they are parts of. @throws InvalidInput where they do not go together
 */
export function castOf(
  types: readonly DataType[],
  place: number,
  what: string,
  at: number | undefined,
): TypeName | 'same' {
  const cast = commonColumnType(types);
  if (cast !== 'none') return cast;
  return refuse(
    at,
    `Column ${place + 1} of the parts of ${what} has types that do not go together; cast them`,
  );
}

export const castUnlessSame = (arg: Expression, type: TypeName | 'same'): Expression =>
  type === 'same' ? arg : { kind: 'cast', arg, type, lenient: false };

/**
 * The common type of the columns of a union. Nulls go with any type; integers, or floats, with
 * wider ones.
 */
function commonColumnType(types: readonly DataType[]): TypeName | 'same' | 'none' {
  let found: TypeName | 'same' = 'same';
  const known = types.filter((type) => familyOf(type) !== 'null');
  for (const type of known.slice(1)) {
    const common = commonKeyType(known[0] as DataType, type);
    if (common === 'none') return 'none';
    if (common !== 'same' && holdsMore(common, found)) found = common;
  }
  if (found === 'same' && new Set(known.map(typeText)).size > 1) {
    const families = new Set(known.map(familyOf));
    if (families.has('int')) return name('bigint');
    if (families.has('float')) return name('double');
    return 'none';
  }
  return found;
}

/** Of two decimals, or two timestamps, the one with more digits behind the point holds more. */
function holdsMore(one: TypeName, other: TypeName | 'same'): boolean {
  if (rank(one) !== rank(other) || other === 'same') return rank(one) > rank(other);
  return (one.args.at(-1) ?? 0) > (other.args.at(-1) ?? 0);
}

const rank = (type: TypeName | 'same'): number =>
  type === 'same' ? 0 : type.name === 'double' ? 3 : type.name === 'decimal' ? 2 : 1;
