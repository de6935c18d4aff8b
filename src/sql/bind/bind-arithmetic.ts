/**
 * `bindArithmetic` binds `+ - * / %` and chooses the type of the result. Numbers give a 64-bit
 * integer, a decimal or a double. Intervals and durations move dates and timestamps; a date stays a
 * date if the step is a constant of months and days alone. Intervals are added to and subtracted
 * from each other, and so are durations. Whole numbers move dates by days and multiply intervals.
 * Dates differ by a number of days, timestamps by a duration. A text literal beside a date,
 * timestamp or duration is read as one, or as an interval. NULL gives NULL, and operands that do
 * not fit throw InvalidInput. evaluate/evaluate-arithmetic.ts and functions/intervals.ts compute
 * the results.
 */
import {
  DateDay,
  Decimal,
  Duration,
  Interval,
  IntervalUnit,
  plainType,
  Timestamp,
  TimeUnit,
} from '../../arrow/index.ts';
import { digitsOf, parseInterval } from '../../values/index.ts';
import {
  moveDate,
  moveTimestamp,
  negateInterval,
  scaleInterval,
  sumIntervals,
} from '../functions/index.ts';
import { type ArithmeticOperator, MAX_PRECISION, refuse } from '../parse/index.ts';
import {
  type Bound,
  coerce,
  describe,
  FLOAT64,
  familyOf,
  INT64,
  isNumeric,
  isTemporal,
  literal,
  locationOf,
  settle,
  timeUnitOf,
  timeZoneOf,
  typeText,
  UINT64,
} from '../typed/index.ts';
import { call } from './bind-arguments.ts';

/** Throws InvalidInput naming both sides where the operator does not fit them. */
export function bindArithmetic(
  op: ArithmeticOperator,
  left: Bound,
  right: Bound,
  at: number | undefined,
): Bound {
  const [f, g] = [familyOf(left.type), familyOf(right.type)];
  if (f === 'null' || g === 'null') {
    const other = f === 'null' ? right : left;
    return literal(
      isNumeric(familyOf(other.type)) ? numericType(op, other, other) : plainType(other.type),
      null,
      at,
    );
  }
  if (isNumeric(f) && isNumeric(g)) {
    const type = numericType(op, left, right);
    const operand = (side: Bound): Bound => {
      if (familyOf(type) !== 'decimal')
        return coerce(side, type, familyOf(side.type) === 'decimal' ? 'explicit' : 'lossless');
      return familyOf(side.type) === 'decimal' ? settle(side) : coerce(side, decimalOf(side));
    };
    return { kind: 'arithmetic', op, left: operand(left), right: operand(right), type };
  }
  return temporal(op, left, right, at) ?? unfit(op, left, right, at);
}

function unfit(op: string, left: Bound, right: Bound, at: number | undefined): never {
  const text = [left, right].some((side) => familyOf(side.type) === 'text');
  const hint = op === '+' && text ? '; texts are joined with ||' : '';
  return refuse(
    locationOf(right) ?? at,
    `The operator ${op} does not work on ${describe(left)} and ${describe(right)}${hint}`,
  );
}

function looseInteger(side: Bound): bigint | null {
  if (side.kind !== 'literal' || typeof side.loose !== 'object') return null;
  return side.loose.scale === 0 && !side.loose.fractional ? side.loose.unscaled : null;
}

function isUnsigned(side: Bound): boolean {
  const integer = looseInteger(side);
  return integer !== null ? integer >= 0n : typeText(side.type).startsWith('uint');
}

function numericType(op: ArithmeticOperator, left: Bound, right: Bound) {
  const sides = [left, right];
  const families = sides.map((side) => familyOf(side.type));
  const isDecimal = (side: Bound): boolean => familyOf(side.type) === 'decimal';
  if (sides.some(isDecimal) && sides.every((side) => isDecimal(side) || canBeDecimal(side))) {
    return decimalResult(op, decimalOf(left), decimalOf(right));
  }
  if (families.every((family) => family === 'int')) {
    const wide = sides.some(
      (side) => looseInteger(side) === null && typeText(side.type) === 'uint64',
    );
    return wide && sides.every(isUnsigned) ? UINT64 : INT64;
  }
  return FLOAT64;
}

function canBeDecimal(side: Bound): boolean {
  return (
    familyOf(side.type) === 'int' || (side.kind === 'literal' && typeof side.loose === 'object')
  );
}

function decimalOf(side: Bound): Decimal {
  if (familyOf(side.type) === 'decimal') return plainType(side.type) as Decimal;
  if (side.kind === 'literal' && typeof side.loose === 'object') {
    const { unscaled, scale } = side.loose;
    return new Decimal(scale, Math.max(digitsOf(unscaled), scale, 1), 128);
  }
  return new Decimal(0, 20, 128);
}

/** Digits after the point: of a sum the greater, of a product both, of a quotient at least six. */
function decimalResult(op: ArithmeticOperator, a: Decimal, b: Decimal): Decimal {
  const whole = (type: Decimal): number => type.precision - type.scale;
  const capped = (digits: number, scale: number): Decimal =>
    new Decimal(scale, Math.min(MAX_PRECISION, Math.max(digits, scale, 1)), 128);
  const scale = Math.max(a.scale, b.scale);
  switch (op) {
    case '*':
      return capped(a.precision + b.precision, Math.min(MAX_PRECISION, a.scale + b.scale));
    case '/': {
      const quotient = Math.min(
        Math.max(6, a.scale + b.precision + 1),
        MAX_PRECISION - Math.min(whole(a) + b.scale, 32),
      );
      return capped(whole(a) + b.scale + quotient, Math.max(quotient, 6));
    }
    case '%':
      return capped(Math.min(whole(a), whole(b)) + scale, scale);
    default:
      return capped(Math.max(whole(a), whole(b)) + scale + 1, scale);
  }
}

const INTERVAL = new Interval(IntervalUnit.MONTH_DAY_NANO);

function temporal(
  op: ArithmeticOperator,
  left: Bound,
  right: Bound,
  at: number | undefined,
): Bound | null {
  const [f, g] = [familyOf(left.type), familyOf(right.type)];
  if (op === '+' && (f === 'interval' || f === 'duration') && (g === 'date' || g === 'timestamp')) {
    return temporal('+', right, left, at);
  }
  if (op === '*' && f === 'int' && g === 'interval') return temporal(op, right, left, at);
  if (op === '*' && f === 'interval' && g === 'int') {
    return call(scaleInterval, [left, coerce(right, INT64)], INTERVAL);
  }
  if (op !== '+' && op !== '-') return null;
  if (op === '+' && f === 'int' && g === 'date') return temporal(op, right, left, at);
  if (f === 'date' && g === 'int') return movedByDays(op, left, right);
  // '2020-01-01' beside a date or timestamp is one too; beside a minus it may be an interval.
  const read = (side: Bound, beside: Bound): Bound => {
    if (side.kind !== 'literal' || side.loose !== 'string') return side;
    if (familyOf(beside.type) === 'interval') return side;
    const interval = parseInterval(String(side.value));
    return interval === null
      ? coerce(side, plainType(beside.type))
      : literal(INTERVAL, interval, side.at);
  };
  if (f === 'text' && isTemporal(g)) {
    const typed = read(left, right);
    return familyOf(typed.type) === 'text' ? null : temporal(op, typed, right, at);
  }
  if (g === 'text' && isTemporal(f)) {
    const typed = read(right, left);
    return familyOf(typed.type) === 'text' ? null : temporal(op, left, typed, at);
  }
  if (f === 'interval' && g === 'interval') {
    return call(
      sumIntervals,
      [left, op === '-' ? call(negateInterval, [right], INTERVAL) : right],
      INTERVAL,
    );
  }
  if ((f === 'date' || f === 'timestamp') && (g === 'interval' || g === 'duration')) {
    const step = g === 'duration' ? coerce(right, INTERVAL, 'explicit') : right;
    const signed = op === '-' ? call(negateInterval, [step], INTERVAL) : step;
    if (f === 'timestamp') {
      const unit = Math.max(
        timeUnitOf(left.type),
        needsNanos(step) ? TimeUnit.MICROSECOND : 0,
      ) as TimeUnit;
      const type = new Timestamp(unit, timeZoneOf(left.type));
      return call(moveTimestamp, [coerce(left, type), signed], type);
    }
    // Whole days and months keep a date a date; anything finer makes it a timestamp.
    if (step.kind === 'literal' && !needsNanos(step)) {
      return call(moveDate, [coerce(left, new DateDay()), signed], new DateDay());
    }
    const type = new Timestamp(TimeUnit.MICROSECOND, null);
    return call(moveTimestamp, [coerce(left, type), signed], type);
  }
  if (op === '-' && (f === 'date' || f === 'timestamp') && (g === 'date' || g === 'timestamp')) {
    if ((timeZoneOf(left.type) === null) !== (timeZoneOf(right.type) === null)) return null;
    if (f === 'date' && g === 'date') return daysBetween(left, right);
    const units = [left, right].map((side) =>
      familyOf(side.type) === 'date' ? TimeUnit.MILLISECOND : timeUnitOf(side.type),
    );
    const unit = Math.max(...units) as TimeUnit;
    const count = (side: Bound): Bound =>
      coerce(settle(side), new Timestamp(unit, timeZoneOf(side.type)), 'explicit');
    return {
      kind: 'arithmetic',
      op,
      left: count(left),
      right: count(right),
      type: new Duration(unit),
    };
  }
  if (f === 'duration' && g === 'duration') {
    const unit = Math.max(timeUnitOf(left.type), timeUnitOf(right.type)) as TimeUnit;
    const type = new Duration(unit);
    return { kind: 'arithmetic', op, left: coerce(left, type), right: coerce(right, type), type };
  }
  return null;
}

const daysOf = (side: Bound): Bound =>
  coerce(coerce(settle(side), new DateDay(), 'explicit'), INT64, 'explicit');

/** The difference of two dates is a number of days. */
const daysBetween = (left: Bound, right: Bound): Bound => ({
  kind: 'arithmetic',
  ...{ op: '-', left: daysOf(left), right: daysOf(right), type: INT64 },
});

function movedByDays(op: '+' | '-', date: Bound, days: Bound): Bound {
  const sides = { left: daysOf(date), right: coerce(days, INT64) };
  const moved: Bound = { kind: 'arithmetic', op, ...sides, type: INT64 };
  return coerce(moved, new DateDay(), 'explicit');
}

function needsNanos(step: Bound): boolean {
  if (step.kind !== 'literal') return true;
  return (step.value as { nanos?: bigint } | null)?.nanos !== 0n;
}
