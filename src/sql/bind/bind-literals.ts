/**
 * Binds number literals (`numberLiteral`), negation (`bindNegate`), casts (`bindCast`), list
 * literals (`bindList`) and IS DISTINCT FROM (`bindDistinct`). A number literal keeps all its
 * digits until its type is known. So does the sum, difference or product of two, if one of them has
 * a point and neither an exponent; `exactLiteral` computes it, and returns undefined otherwise.
 * `typeForText` chooses the unit of a literal time or timestamp. A cast between types that have
 * none throws InvalidInput, and so do a number out of range and a list literal of more than 100,000
 * items.
 */
import {
  type DataType,
  Decimal as DecimalType,
  plainType,
  TimeNanosecond,
  Timestamp,
  TimeUnit,
} from '../../arrow/index.ts';
import {
  digitsOf,
  type ExactNumber,
  exactToDouble,
  parseDateTime,
  parseExact,
  parseTimeOfDay,
} from '../../values/index.ts';
import { canCast } from '../evaluate/index.ts';
import {
  type ArithmeticOperator,
  type Expression,
  MAX_PRECISION,
  refuse,
  type TypeName,
} from '../parse/index.ts';
import {
  BOOL,
  type Bound,
  type BoundLiteral,
  coerceToCommon,
  commonType,
  describe,
  FLOAT64,
  familyOf,
  INT64,
  integerRange,
  listOf,
  literal,
  nanosPerUnit,
  settle,
  timeUnitOf,
  timeZoneOf,
  typeText,
  UINT64,
} from '../typed/index.ts';
import { exactOperand, isNull } from './bind-arguments.ts';
import { bindCall } from './bind-call.ts';
import { bindCompare } from './bind-compare.ts';

export function numberLiteral(text: string, at: number | undefined): Bound {
  const exact = parseExact(text);
  if (exact === null || Math.abs(Number(text)) === Number.POSITIVE_INFINITY)
    return refuse(at, `The number ${text.slice(0, 40)} is out of range`);
  const isHex = /^[+-]?0x/i.test(text);
  const isDouble = !isHex && /e/i.test(text);
  return looseNumber({ ...exact, isDouble }, !isHex && /[.e]/i.test(text), at);
}

function looseNumber(
  exact: ExactNumber & { readonly isDouble?: boolean },
  fractional: boolean,
  at: number | undefined,
): Bound {
  const { unscaled, scale, isDouble = false } = exact;
  const loose = { unscaled, scale, fractional, isDouble };
  if (scale === 0 && !fractional) {
    const [least, greatest] = integerRange(INT64);
    if (unscaled >= least && unscaled <= greatest)
      return { kind: 'literal', type: INT64, value: unscaled, loose, at };
    if (unscaled > 0n && unscaled <= integerRange(UINT64)[1]) {
      return { kind: 'literal', type: UINT64, value: unscaled, loose, at };
    }
  }
  if (scale === 0 && !fractional && digitsOf(unscaled) <= MAX_PRECISION) {
    return {
      kind: 'literal',
      type: new DecimalType(0, MAX_PRECISION, 128),
      value: unscaled,
      loose,
      at,
    };
  }
  return { kind: 'literal', type: FLOAT64, value: exactToDouble(exact), loose, at };
}

/**
 * The exact sum, difference or product of two number literals of which one has a fraction, as a
 * literal that means all its digits; undefined for other operands, for a literal with an exponent,
 * and for too many digits.
 */
export function exactLiteral(
  op: ArithmeticOperator,
  left: Bound,
  right: Bound,
  at: number | undefined,
): Bound | undefined {
  const [a, b] = [exactOf(left), exactOf(right)];
  if (a === undefined || b === undefined || !(a.fractional || b.fractional)) return undefined;
  if (op === '*') return shortLiteral(a.unscaled * b.unscaled, a.scale + b.scale, at);
  if (op !== '+' && op !== '-') return undefined;
  const scale = Math.max(a.scale, b.scale);
  const [x, y] = [a, b].map((one) => one.unscaled * 10n ** BigInt(scale - one.scale)) as [
    bigint,
    bigint,
  ];
  return shortLiteral(op === '+' ? x + y : x - y, scale, at);
}

/** A literal of few enough digits for a decimal. */
function exactOf(side: Bound): Exclude<BoundLiteral['loose'], string | undefined> | undefined {
  if (side.kind !== 'literal' || typeof side.loose !== 'object') return undefined;
  const { unscaled, scale, isDouble } = side.loose;
  if (isDouble === true) return undefined;
  const isShort = scale >= 0 && scale <= MAX_PRECISION && digitsOf(unscaled) <= MAX_PRECISION;
  return isShort ? side.loose : undefined;
}

const shortLiteral = (
  unscaled: bigint,
  scale: number,
  at: number | undefined,
): Bound | undefined =>
  scale <= MAX_PRECISION && digitsOf(unscaled) <= MAX_PRECISION
    ? looseNumber({ unscaled, scale }, true, at)
    : undefined;

export function bindNegate(arg: Bound, at: number | undefined): Bound {
  if (arg.kind === 'literal' && typeof arg.loose === 'object') {
    return looseNumber({ ...arg.loose, unscaled: -arg.loose.unscaled }, arg.loose.fractional, at);
  }
  return bindCall('negate', [arg], at);
}

export function bindDistinct(
  left: Bound,
  right: Bound,
  negate: boolean,
  at: number | undefined,
): Bound {
  if (isNull(left) || isNull(right)) {
    return {
      kind: 'is',
      arg: settle(isNull(left) ? right : left),
      test: 'null',
      negated: !negate,
      type: BOOL,
    };
  }
  const equal = bindCompare('=', left, right, at);
  return {
    kind: 'distinct',
    equal,
    left: settle(left),
    right: settle(right),
    negated: negate,
    type: BOOL,
  };
}

export function bindList(items: readonly Bound[], at: number | undefined): Bound {
  if (items.length > 100_000) refuse(at, 'A list literal has more than 100000 items');
  const type = commonType(items, 'A list');
  return {
    kind: 'list',
    items: items.map((item) => coerceToCommon(item, type)),
    type: listOf(type),
  };
}

/** TIMESTAMP '2020-01-01 00:00:00.000000001': no digit is lost where no precision was asked for. */
export function typeForText(arg: Expression, { args }: TypeName, type: DataType): DataType {
  const family = familyOf(type);
  if (arg.kind !== 'string' || args.length > 0) return type;
  if (family !== 'timestamp' && family !== 'time') return type;
  const nanos = family === 'time' ? parseTimeOfDay(arg.value) : parseDateTime(arg.value)?.nanos;
  if (BigInt(nanos ?? 0) % nanosPerUnit(type) === 0n) return type;
  return family === 'time'
    ? new TimeNanosecond()
    : new Timestamp(TimeUnit.NANOSECOND, timeZoneOf(type));
}

export function bindCast(
  arg: Bound,
  type: DataType,
  mode: 'explicit' | 'lenient',
  at: number | undefined,
): Bound {
  const from = familyOf(arg.type);
  if (from === 'null') return literal(type, null, at);
  const exact = exactOperand(arg, type, at);
  if (exact !== undefined) return { kind: 'cast', arg: exact, mode, type };
  if (arg.kind === 'literal' && arg.loose === 'string' && namesAnInstant(arg, type)) {
    return bindCast(arg, new Timestamp(timeUnitOf(type), 'UTC'), mode, at);
  }
  const settled = settle(arg);
  if (!canCast(from, familyOf(type))) {
    refuse(at, `${describe(settled)} cannot be cast to ${typeText(type)}`);
  }
  return typeText(plainType(settled.type)) === typeText(type)
    ? settled
    : { kind: 'cast', arg: settled, mode, type };
}

/** TIMESTAMP '2020-01-01T00:00:00Z': the text says an offset, so it is no wall-clock time. */
function namesAnInstant(text: BoundLiteral, type: DataType): boolean {
  if (familyOf(type) !== 'timestamp' || timeZoneOf(type) !== null) return false;
  return parseDateTime(String(text.value))?.offset !== undefined;
}
