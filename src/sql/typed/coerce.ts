/**
 * `coerce` converts an operand to a type, and `commonType` finds a type that holds several operands
 * (`coerceToCommon` converts to it). A literal becomes a literal of the type if the type can hold
 * it; other operands are cast. In the default mode, a conversion that would lose something or does
 * not fit throws InvalidInput: for a literal at once, otherwise when the row is evaluated. But a
 * number written with a point may become the nearest float, and a decimal beside a float the
 * nearest double. `settle` gives a literal that has no type yet its own. Others build literals
 * (`literal`), compare types (`sameForm`), count times (`nanosPerUnit`, `comparedNanos`), and name
 * operands in messages (`describe`).
 */
import {
  DataType,
  Decimal,
  type Field,
  Float32,
  plainType,
  Timestamp,
  TimeUnit,
  Utf8,
} from '../../arrow/index.ts';
import {
  DATE_FORMS,
  digitsOf,
  exactToDouble,
  fromWallClock,
  instantNanosOf,
  NANOS_PER_DAY,
  NANOS_PER_SECOND,
  parseDateTime,
  parseInterval,
  parseTimeOfDay,
  TIME_FORMS,
  TIMESTAMP_FORMS,
  unitsPerSecond,
} from '../../values/index.ts';
import { MAX_PRECISION, refuse, shorten } from '../parse/index.ts';
import type { Bound, BoundLiteral, CastMode } from './bound.ts';
import type { Value } from './column.ts';
import {
  clockZoneOf,
  elementType,
  type Family,
  FLOAT64,
  familyOf,
  INT64,
  integerRange,
  isNumeric,
  isWide,
  roundToFloat,
  timeUnitOf,
  timeZoneOf,
  typeText,
  UINT64,
} from './types.ts';

export function locationOf(bound: Bound): number | undefined {
  return 'at' in bound ? bound.at : undefined;
}

/** `column x (int64)`, `'abc'`, `an expression (utf8)`: for messages. */
export function describe(bound: Bound): string {
  if (bound.kind === 'column') return `column ${bound.names.join('.')} (${typeText(bound.type)})`;
  if (bound.kind === 'virtual') return `${bound.name} (uint64)`;
  if (bound.kind === 'literal') {
    if (bound.value === null) return 'NULL';
    if (typeof bound.value === 'string') return `'${shorten(bound.value, 30)}' (utf8)`;
    if (typeof bound.loose === 'object') {
      const { unscaled, scale } = bound.loose;
      return shorten(scale === 0 ? String(unscaled) : String(exactToDouble(bound.loose)), 30);
    }
  }
  return `a value of type ${typeText(bound.type)}`;
}

/** For messages about a text that is no date, time or timestamp: how these are written. */
export function formsOf(type: DataType): string {
  const family = familyOf(type);
  if (family !== 'date' && family !== 'time' && family !== 'timestamp') return '';
  const forms = { date: DATE_FORMS, time: TIME_FORMS, timestamp: TIMESTAMP_FORMS };
  return `, which is written ${forms[family]}`;
}

/** Nanoseconds of one unit of a date, time, timestamp or duration. */
export function nanosPerUnit(type: DataType): bigint {
  if (familyOf(type) === 'date') return isWide(type) ? 1_000_000n : NANOS_PER_DAY;
  return NANOS_PER_SECOND / unitsPerSecond(timeUnitOf(type));
}

export function isTemporal(family: Family): boolean {
  return family === 'date' || family === 'time' || family === 'timestamp' || family === 'duration';
}

/** A typed literal for one that is still loose: int64 or float64, utf8. */
export function settle(bound: Bound): Bound {
  if (bound.kind !== 'literal' || bound.loose === undefined) return bound;
  const { loose: _, ...settled } = bound;
  return settled;
}

export function literal(type: DataType, value: Value, at?: number): BoundLiteral {
  return { kind: 'literal', type, value, at };
}

/** Nanoseconds that a text or a temporal literal stands for beside a value of type `beside`. */
function temporalNanos(bound: BoundLiteral, beside: DataType): bigint | null {
  const family = familyOf(beside);
  const { value } = bound;
  if (typeof value === 'string' && bound.loose === 'string') {
    if (family === 'time') {
      const nanos = parseTimeOfDay(value);
      return nanos === undefined ? null : BigInt(nanos);
    }
    if (family === 'duration') {
      const parsed = parseInterval(value);
      return parsed === null || parsed.months !== 0
        ? null
        : BigInt(parsed.days) * NANOS_PER_DAY + parsed.nanos;
    }
    const read = parseDateTime(value);
    if (read === undefined) return null;
    return instantNanosOf(read, read.offset === undefined ? clockZoneOf(beside) : null);
  }
  const own = familyOf(bound.type);
  if (!isTemporal(own) || (typeof value !== 'number' && typeof value !== 'bigint')) return null;
  const calendar = (f: Family): boolean => f === 'date' || f === 'timestamp';
  if (own !== family && !(calendar(own) && calendar(family))) return null;
  const nanos = BigInt(value) * nanosPerUnit(bound.type);
  const zone = timeZoneOf(bound.type) === null ? clockZoneOf(beside) : null;
  return zone === null ? nanos : fromWallClock(nanos, zone);
}

/**
 * The same beside a value that it is compared with: a date compares with the day that a text says,
 * whatever time of day and zone follow.
 */
export function comparedNanos(bound: BoundLiteral, beside: DataType): bigint | null {
  const isText = familyOf(beside) === 'date' && bound.loose === 'string';
  if (!isText) return temporalNanos(bound, beside);
  const read = parseDateTime(String(bound.value));
  return read === undefined ? null : BigInt(read.days) * NANOS_PER_DAY;
}

/** The literal's value in `type`, or undefined where `type` cannot hold exactly that. */
function literalValue(bound: BoundLiteral, type: DataType): Value | undefined {
  const { value, loose } = bound;
  const family = familyOf(type);
  if (value === null) return null;
  if (isTemporal(family)) {
    const nanos = temporalNanos(bound, type);
    const unit = nanosPerUnit(type);
    if (nanos === null || nanos % unit !== 0n) return undefined;
    const count = nanos / unit;
    if (BigInt.asIntN(isWide(type) ? 64 : 32, count) !== count) return undefined;
    return isWide(type) ? count : Number(count);
  }
  if (family === 'interval' && loose === 'string') return parseInterval(String(value)) ?? undefined;
  if (typeof loose === 'object') {
    if (family === 'int') {
      const [least, greatest] = integerRange(plainType(type));
      const { unscaled, scale } = loose;
      if (scale !== 0 || unscaled < least || unscaled > greatest) return undefined;
      return isWide(type) ? unscaled : Number(unscaled);
    }
    if (family === 'float') {
      const rounded = roundToFloat(plainType(type), exactToDouble(loose));
      const whole = loose.scale === 0 && !loose.fractional;
      const lost = !Number.isFinite(rounded) || (whole && BigInt(rounded) !== loose.unscaled);
      return lost ? undefined : rounded;
    }
    if (family === 'decimal') {
      const { scale, precision } = plainType(type) as Decimal;
      if (scale < loose.scale) return undefined;
      const unscaled = loose.unscaled * 10n ** BigInt(scale - loose.scale);
      const limit = 10n ** BigInt(precision);
      return unscaled < limit && unscaled > -limit ? unscaled : undefined;
    }
    return undefined;
  }
  return sameForm(bound.type, type) ? value : convertedValue(value, bound.type, type);
}

/**
 * A value of one type as one of another, of whole numbers, decimals, floats and lists of these; undefined
 * where that would lose.
 */
function convertedValue(value: Value, from: DataType, to: DataType): Value | undefined {
  const [a, b] = [familyOf(from), familyOf(to)];
  if (a === 'list' && b === 'list' && Array.isArray(value)) {
    const [own, other] = [elementType(from), elementType(to)];
    const items = value.map((item: Value) => literalValue(literal(own, item), other));
    return items.includes(undefined) ? undefined : items;
  }
  if (a === 'int' && isNumeric(b) && (typeof value === 'number' || typeof value === 'bigint')) {
    const loose = { unscaled: BigInt(value), scale: 0, fractional: false };
    return literalValue({ kind: 'literal', type: from, value, loose }, to);
  }
  if (a === 'decimal' && b === 'decimal' && typeof value === 'bigint') {
    const loose = { unscaled: value, scale: (plainType(from) as Decimal).scale, fractional: false };
    return literalValue({ kind: 'literal', type: from, value, loose }, to);
  }
  if (a === 'float' && b === 'float' && typeof value === 'number') {
    return Object.is(roundToFloat(plainType(to), value), value) ? value : undefined;
  }
  return undefined;
}

/** True where values of both types have the same canonical form and meaning. */
export function sameForm(a: DataType, b: DataType): boolean {
  const family = familyOf(a);
  if (family !== familyOf(b)) return false;
  if (family === 'text' || family === 'bytes' || family === 'bool' || family === 'interval')
    return true;
  if (family === 'list') return sameForm(elementType(a), elementType(b));
  if (family === 'struct') return haveSameMembers(plainType(a), plainType(b));
  return typeText(a) === typeText(b);
}

function haveSameMembers(a: DataType, b: DataType): boolean {
  const [own, other] = [a.children, b.children] as readonly (readonly Field[])[];
  return (
    own?.length === other?.length &&
    (own ?? []).every((field, at) => {
      const twin = other?.[at] as Field;
      return field.name === twin.name && sameForm(field.type, twin.type);
    })
  );
}

/**
 * `bound` as `type`: a typed literal, itself, or a cast. Throws InvalidInput where it would lose
 * and the mode does not allow that: for a literal at once, for others when their row is evaluated.
 * Two losses are allowed in any mode: a number written with a point becomes the nearest float, and
 * in a common type a decimal beside a float the nearest double.
 */
export function coerce(bound: Bound, type: DataType, mode: CastMode = 'lossless'): Bound {
  if (bound.kind === 'literal') {
    const value = literalValue(bound, type);
    if (value !== undefined) return literal(type, value, bound.at);
    if (mode === 'lossless') {
      refuse(bound.at, `${describe(bound)} cannot be taken as ${typeText(type)} without loss`);
    }
  }
  const settled = settle(bound);
  return sameForm(settled.type, type) ? settled : { kind: 'cast', arg: settled, mode, type };
}

/** `bound` as the type that `commonType` found: beside a float a decimal is the nearest double. */
export function coerceToCommon(bound: Bound, type: DataType): Bound {
  const isDecimal = familyOf(innermost(bound.type)) === 'decimal';
  const isFloat = familyOf(innermost(type)) === 'float';
  return coerce(bound, type, isDecimal && isFloat ? 'explicit' : 'lossless');
}

function innermost(type: DataType): DataType {
  return familyOf(type) === 'list' ? innermost(elementType(type)) : plainType(type);
}

/**
 * The type that holds all of `items` without loss, except for decimals beside floats; literals
 * without a type of their own follow the others. Throws InvalidInput that names two operands
 * without a common type.
 */
export function commonType(items: readonly Bound[], what: string): DataType {
  const known = items.filter((item) => familyOf(item.type) !== 'null');
  const fixed = known.filter((item) => item.kind !== 'literal' || item.loose === undefined);
  const [first] = fixed.length > 0 ? fixed : known;
  if (first === undefined) return new Utf8();
  let type = plainType(first.type);
  for (const item of fixed) type = join(type, item, first, what);
  for (const item of known) {
    if (item.kind !== 'literal' || item.loose === undefined) continue;
    if (literalValue(item, type) !== undefined) continue;
    type = withDigits(type, item, what) ?? join(type, item, first, what);
  }
  return type;
}

/** A decimal that has the digits of a number as written too; null where either is something else. */
function withDigits(type: DataType, item: BoundLiteral, what: string): Decimal | null {
  const { loose, at } = item;
  if (typeof loose !== 'object' || !DataType.isDecimal(type)) return null;
  const digits = digitsOf(loose.unscaled);
  if (Math.max(digits, loose.scale) > MAX_PRECISION) {
    refuse(at, `${what}: ${describe(item)} has more than the ${MAX_PRECISION} digits of a decimal`);
  }
  return joinDecimals(type, new Decimal(loose.scale, Math.max(digits, loose.scale), 128));
}

function join(type: DataType, item: Bound, first: Bound, what: string): DataType {
  const other = plainType(item.type);
  if (sameForm(type, other)) return type;
  const [a, b] = [familyOf(type), familyOf(other)];
  if (isNumeric(a) && isNumeric(b)) {
    if (a === 'int' && b === 'int') {
      const unsigned = [type, other].some((t) => typeText(t) === 'uint64');
      const signed = [type, other].some((t) => typeText(t).startsWith('int'));
      return unsigned ? (signed ? new Decimal(0, 20, 128) : UINT64) : INT64;
    }
    if (a === 'float' || b === 'float') {
      return [type, other].every((t) => typeText(t) === 'float32' || typeText(t) === 'float16')
        ? new Float32()
        : FLOAT64;
    }
    return joinDecimals(type, other);
  }
  if (
    a === 'timestamp' &&
    b === 'timestamp' &&
    (timeZoneOf(type) === null) === (timeZoneOf(other) === null)
  ) {
    return new Timestamp(
      Math.max(timeUnitOf(type), timeUnitOf(other)) as TimeUnit,
      timeZoneOf(type),
    );
  }
  if (a === 'date' && b === 'timestamp' && timeZoneOf(other) === null) return other;
  if (a === 'timestamp' && b === 'date' && timeZoneOf(type) === null) return type;
  if (a === 'date' && b === 'date') return new Timestamp(TimeUnit.MILLISECOND, null);
  if (a === b && (a === 'time' || a === 'duration')) {
    return timeUnitOf(type) > timeUnitOf(other) ? type : other;
  }
  return refuse(
    locationOf(item) ?? locationOf(first),
    `${what}: ${describe(first)} and ${describe(item)} have no type in common; write a CAST`,
  );
}

function joinDecimals(a: DataType, b: DataType): Decimal {
  const scaleOf = (t: DataType): number => (DataType.isDecimal(t) ? t.scale : 0);
  const wholeOf = (t: DataType): number => (DataType.isDecimal(t) ? t.precision - t.scale : 20);
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const whole = Math.max(wholeOf(a), wholeOf(b));
  return new Decimal(scale, Math.min(MAX_PRECISION, whole + scale), 128);
}
