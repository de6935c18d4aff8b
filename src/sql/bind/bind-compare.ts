/**
 * `bindCompare` binds a comparison of two expressions. It throws InvalidInput if their types do not
 * compare, or if a text is no value of the other type; lists, structs and intervals compare by =
 * and <> only. A null constant gives null; others are converted to the column's type. If one lies
 * between two values of that type, the operator is adjusted: `int < 1.5` becomes `int <= 1`, and
 * `int = 1.5` is false unless `int` is null. A constant with a point or an exponent beside a column
 * of floats means the nearest float. Two columns of times are compared in the finer unit, and a
 * decimal with a float as float64.
 */
import { DataType, type Decimal, Duration, plainType, TimeUnit } from '../../arrow/index.ts';
import {
  doubleToExact,
  type ExactNumber,
  exactToDouble,
  floorDivide,
  type IntervalValue,
  NANOS_PER_DAY,
} from '../../values/index.ts';
import { type CompareOperator, refuse } from '../parse/index.ts';
import {
  BOOL,
  type Bound,
  type BoundLiteral,
  coerce,
  comparedNanos,
  compareExact,
  decimalScale,
  describe,
  FLOAT64,
  familyOf,
  formsOf,
  holds,
  integerRange,
  isNumeric,
  isOrdered,
  isTemporal,
  isWide,
  literal,
  locationOf,
  MIRRORED,
  nanosPerUnit,
  roundToFloat,
  sameForm,
  settle,
  timeZoneOf,
  typeText,
  type Value,
} from '../typed/index.ts';

/** Throws InvalidInput naming both sides where they cannot be compared. */
export function bindCompare(
  op: CompareOperator,
  left: Bound,
  right: Bound,
  at: number | undefined,
): Bound {
  const isNull = (side: Bound): boolean => side.kind === 'literal' && side.value === null;
  if (isNull(left) || isNull(right)) return literal(BOOL, null, at);
  const [span, other] = [spanBeside(left, right), spanBeside(right, left)];
  if (span !== undefined) return bindCompare(op, span, right, at);
  if (other !== undefined) return bindCompare(op, left, other, at);
  if (left.kind === 'literal' && right.kind !== 'literal') {
    return bindCompare(MIRRORED[op], right, left, at);
  }
  if (right.kind === 'literal' && left.kind !== 'literal') return withConstant(op, left, right, at);
  if (left.kind === 'literal' && right.kind === 'literal') {
    // A loose literal takes the type of the other one.
    if (left.loose !== undefined && right.loose === undefined) {
      return withConstant(MIRRORED[op], right, left, at);
    }
    if (right.loose !== undefined && left.loose === undefined) {
      return withConstant(op, left, right, at);
    }
    const exact = mixesFloat(left, right) ? [] : [exactOf(left), exactOf(right)];
    if (exact[0] != null && exact[1] != null) {
      const order = compareExact(exact[0], exact[1]);
      return literal(BOOL, holds(op, order), at);
    }
  }
  return betweenColumns(op, settle(left), settle(right), at);
}

/** An interval without months that stands beside a duration, as a duration. */
function spanBeside(side: Bound, other: Bound): Bound | undefined {
  if (side.kind !== 'literal' || familyOf(side.type) !== 'interval') return undefined;
  if (familyOf(other.type) !== 'duration') return undefined;
  const { months, days, nanos } = side.value as IntervalValue;
  if (months !== 0) return undefined;
  const all = BigInt(days) * NANOS_PER_DAY + nanos;
  const own = plainType(other.type);
  const type = all % nanosPerUnit(own) === 0n ? own : new Duration(TimeUnit.NANOSECOND);
  return literal(type, all / nanosPerUnit(type), side.at);
}

/** Whether one side is a float and the other a decimal, and neither is an untyped literal. */
function mixesFloat(left: Bound, right: Bound): boolean {
  const families = [left, right].map((side) =>
    side.kind === 'literal' && side.loose !== undefined ? 'null' : familyOf(side.type),
  );
  return families.includes('float') && families.includes('decimal');
}

function asDouble(side: Bound): Bound {
  if (familyOf(side.type) !== 'decimal') return side;
  const exact = side.kind === 'literal' ? exactOf(side) : undefined;
  return exact == null
    ? coerce(side, FLOAT64, 'explicit')
    : literal(FLOAT64, exactToDouble(exact), locationOf(side));
}

function mismatch(left: Bound, right: Bound, at: number | undefined): never {
  return refuse(
    locationOf(right) ?? at,
    `${describe(left)} cannot be compared with ${describe(right)}; write a CAST`,
    { details: left.kind === 'column' ? { column: left.names.join('.') } : {} },
  );
}

function known(arg: Bound, value: boolean): Bound {
  return { kind: 'known', arg, value, type: BOOL };
}

function constant(op: CompareOperator, arg: Bound, value: Value): Bound {
  return { kind: 'compareConstant', op, arg, value, type: BOOL };
}

/** The exact value of a numeric literal; null for NaN and infinities, undefined for no number. */
function exactOf(bound: BoundLiteral): ExactNumber | null | undefined {
  const { value, loose, type } = bound;
  if (typeof loose === 'object') return loose;
  const family = familyOf(type);
  if (!isNumeric(family)) return undefined;
  if (typeof value === 'number') return doubleToExact(value);
  if (typeof value !== 'bigint') return undefined;
  return { unscaled: value, scale: family === 'decimal' ? decimalScale(type) : 0 };
}

function withConstant(
  op: CompareOperator,
  arg: Bound,
  right: BoundLiteral,
  at: number | undefined,
): Bound {
  const type = plainType(arg.type);
  const family = familyOf(type);
  if (family === 'null') return literal(BOOL, null, at);
  if (isNumeric(family)) {
    const exact = exactOf(right);
    if (exact === undefined) return mismatch(arg, right, at);
    if (mixesFloat(arg, right)) {
      const double = asDouble(right) as BoundLiteral;
      return withFloat(op, asDouble(arg), double, exactOf(double) ?? null);
    }
    if (family === 'float') return withFloat(op, arg, right, exact);
    if (exact === null) return withUnbounded(op, arg, right.value as number);
    const scale = family === 'decimal' ? decimalScale(type) : 0;
    const power = 10n ** BigInt(Math.abs(scale - exact.scale));
    const scaled =
      scale >= exact.scale ? exact.unscaled * power : floorDivide(exact.unscaled, power);
    const whole = scale >= exact.scale || exact.unscaled % power === 0n;
    return withDiscrete(op, arg, scaled, whole);
  }
  if (isTemporal(family)) {
    const zones = [timeZoneOf(type), timeZoneOf(right.type)];
    const nanos = comparedNanos(right, type);
    if (nanos === null) {
      if (right.loose !== 'string') return mismatch(arg, right, at);
      return refuse(right.at ?? at, `${describe(right)} is no ${typeText(type)}${formsOf(type)}`);
    }
    if (family === 'date' && zones[1] !== null) return mismatch(arg, right, at);
    const unit = nanosPerUnit(type);
    return withDiscrete(op, arg, floorDivide(nanos, unit), nanos % unit === 0n);
  }
  if (!sameForm(type, right.type)) return mismatch(arg, right, at);
  if (family === 'text' || family === 'bytes' || family === 'bool')
    return constant(op, arg, right.value);
  return betweenColumns(op, arg, right, at);
}

/**
 * A comparison with NaN or an infinity, which no value of the column equals. NaN is the greatest.
 */
function withUnbounded(op: CompareOperator, arg: Bound, value: number): Bound {
  const above = Number.isNaN(value) || value > 0;
  return known(arg, op === '<>' || (above ? op === '<' || op === '<=' : op === '>' || op === '>='));
}

/** A constant at `floor`, or strictly between `floor` and the value after it. */
function withDiscrete(op: CompareOperator, arg: Bound, floor: bigint, whole: boolean): Bound {
  const type = plainType(arg.type);
  const [least, greatest] = rangeOf(type);
  if (op === '=' || op === '<>') {
    if (!whole || floor < least || floor > greatest) return known(arg, op === '<>');
  }
  let adjusted = op;
  if (!whole && op === '<') adjusted = '<=';
  if (!whole && op === '>=') adjusted = '>';
  const below = adjusted === '<' || adjusted === '<=';
  if (floor > greatest) return known(arg, below);
  if (floor < least) return known(arg, !below);
  return constant(adjusted, arg, isWide(type) ? floor : Number(floor));
}

function rangeOf(type: DataType): readonly [bigint, bigint] {
  if (DataType.isInt(type)) return integerRange(type);
  if (DataType.isDecimal(type)) {
    const limit = 10n ** BigInt((type as Decimal).precision) - 1n;
    return [-limit, limit];
  }
  const bits = isWide(type) ? 63n : 31n;
  return [-(1n << bits), (1n << bits) - 1n];
}

function withFloat(
  op: CompareOperator,
  arg: Bound,
  right: BoundLiteral,
  exact: ExactNumber | null,
): Bound {
  const type = plainType(arg.type);
  if (exact === null) return constant(op, arg, right.value);
  const nearest = roundToFloat(type, exactToDouble(exact));
  // A number written with a point means the column's own nearest value of it.
  if (typeof right.loose === 'object' && right.loose.fractional) return constant(op, arg, nearest);
  const found = doubleToExact(nearest);
  const order = found === null ? Math.sign(nearest) : compareExact(found, exact);
  if (order === 0) return constant(op, arg, nearest);
  if (op === '=' || op === '<>') return known(arg, op === '<>');
  // No float lies between the constant and its nearest.
  if (op === '<' || op === '<=') return constant(order > 0 ? '<' : '<=', arg, nearest);
  return constant(order > 0 ? '>=' : '>', arg, nearest);
}

function compare(op: CompareOperator, left: Bound, right: Bound): Bound {
  return { kind: 'compare', op, left, right, type: BOOL };
}

/** Both sides are counted in the same unit, with as many digits as that takes. */
function betweenColumns(
  op: CompareOperator,
  left: Bound,
  right: Bound,
  at: number | undefined,
): Bound {
  const [a, b] = [plainType(left.type), plainType(right.type)];
  const [f, g] = [familyOf(a), familyOf(b)];
  if (f === 'null' || g === 'null') return literal(BOOL, null, at);
  if (isNumeric(f) && isNumeric(g)) {
    if (mixesFloat(left, right)) return compare(op, asDouble(left), asDouble(right));
    if (f === 'decimal' || g === 'decimal') {
      const [s, t] = [f, g].map((family, i) =>
        family === 'decimal' ? decimalScale(i === 0 ? a : b) : 0,
      );
      const scale = Math.max(s ?? 0, t ?? 0);
      const power = (own: number): bigint => 10n ** BigInt(scale - own);
      return compare(op, rescale(left, power(s ?? 0)), rescale(right, power(t ?? 0)));
    }
    return compare(op, left, right);
  }
  if (isTemporal(f) && isTemporal(g)) {
    const calendar = [f, g].every((family) => family === 'date' || family === 'timestamp');
    if (f !== g && !calendar) return mismatch(left, right, at);
    if ((timeZoneOf(a) === null) !== (timeZoneOf(b) === null)) {
      return refuse(
        at,
        `${describe(left)} and ${describe(right)}: one has a time zone, the other has none; write a CAST`,
      );
    }
    const [m, n] = [nanosPerUnit(a), nanosPerUnit(b)];
    const finest = m / n === 0n ? m : n;
    return compare(op, rescale(left, m / finest), rescale(right, n / finest));
  }
  if (!sameForm(a, b)) return mismatch(left, right, at);
  if (!isOrdered(f) && op !== '=' && op !== '<>') {
    return refuse(at, `${describe(left)} has no order; only = and <> compare it`);
  }
  return compare(op, left, right);
}

function rescale(arg: Bound, factor: bigint): Bound {
  return factor === 1n ? arg : { kind: 'rescale', arg, factor, type: arg.type };
}
