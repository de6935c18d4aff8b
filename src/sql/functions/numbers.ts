/**
 * Computes the functions of numbers (`NUMBER_FUNCTIONS`). abs, negate, sign, floor, ceil, trunc and
 * round are exact for integers and decimals. The binder gives them results of 64 bits or 38 digits,
 * and a result that does not fit throws InvalidInput. Operators on bits, gcd and lcm work on int64;
 * a shift by less than 0 or more than 63 bits throws too. sqrt, ln and their like work on doubles,
 * by IEEE 754. `EXTREME_FUNCTIONS` holds greatest and least, which skip nulls and take any type.
 */
import { DataType, type Decimal } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { exactToDouble, floorDivide, powerOfTen } from '../../values/index.ts';
import { rounded } from '../evaluate/index.ts';
import {
  type Column,
  columnOf,
  compareValues,
  decimalScale,
  INT64,
  integerRange,
  type RowFunction,
  reader,
  typeText,
  type Value,
} from '../typed/index.ts';
import { extremeOf, LOOPS, overDoubles, overNumbers } from './number-columns.ts';
import { strict } from './rows.ts';

/** A value in its type, a decimal unscaled. @throws InvalidInput where it does not fit */
function inType(value: bigint, type: DataType, what: string): Value {
  const isDecimal = DataType.isDecimal(type);
  const [least, greatest] = isDecimal ? decimalRange(type) : integerRange(type);
  if (value >= least && value <= greatest) return value;
  const way = isDecimal ? 'a decimal of fewer digits after the point' : 'a wider type';
  throw new DirspaceError('InvalidInput', `${what} does not fit ${typeText(type)}; CAST to ${way}`);
}

function decimalRange({ precision }: Decimal): readonly [bigint, bigint] {
  const limit = powerOfTen(precision) - 1n;
  return [-limit, limit];
}

/** The greatest one, which is 0 of two zeros. */
function commonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x < 0n ? -x : x;
}

type Direction = (value: number) => number;

const placesOf = (digits: Value | undefined): number =>
  Math.max(-400, Math.min(400, Number(digits ?? 0)));

/** Cut off, or rounded half away from zero, by `cut`, at `digits` after the point. */
function cutDouble(value: number, digits: number, cut: Direction): number {
  if (!Number.isFinite(value) || digits > 300) return value;
  if (digits < -308) return 0;
  if (digits === 0) return Math.sign(value) * cut(Math.abs(value));
  const text = Math.abs(value).toString();
  const [mantissa = '0', exponent = '0'] = text.split('e');
  const shifted = cut(Number(`${mantissa}e${Number(exponent) + digits}`));
  if (!Number.isSafeInteger(shifted)) return value;
  return (
    Math.sign(value) *
    exactToDouble({
      unscaled: BigInt(shifted) * 10n ** BigInt(Math.max(0, -digits)),
      scale: Math.max(0, digits),
    })
  );
}

function roundWhole(value: bigint, scale: number, digits: number): bigint {
  if (digits >= scale) return value;
  const dropped = Math.min(scale - digits, 60);
  return rounded(value, dropped, 0) * 10n ** BigInt(dropped);
}

/** floor and ceil: towards a whole number. */
function whole(
  name: string,
  ofDouble: Direction,
  ofDecimal: (value: bigint, power: bigint) => bigint,
): RowFunction {
  return strict(name, ([value], type) => {
    if (typeof value === 'number') return ofDouble(value);
    if (!DataType.isDecimal(type)) return value;
    const power = powerOfTen(decimalScale(type));
    return inType(ofDecimal(value as bigint, power) * power, type, `The result of ${name}`);
  });
}

const double = (name: string, compute: (value: number, other: number) => number): RowFunction =>
  overDoubles(
    strict(name, ([a, b]) => compute(a as number, (b ?? 0) as number)),
    compute,
  );

/** A whole number moved by 0 to 63 bits. @throws InvalidInput for other numbers of bits */
function shifted(name: string, move: (value: bigint, by: bigint) => bigint): RowFunction {
  return strict(
    name,
    ([value, by]) => {
      if ((by as bigint) >= 0n && (by as bigint) < 64n) return move(value as bigint, by as bigint);
      throw new DirspaceError('InvalidInput', `${name} takes 0 to 63 bits, not ${by}`);
    },
    { fallible: true },
  );
}

export const NUMBER_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  abs: overNumbers(
    strict(
      'abs',
      ([value], type) => {
        if (typeof value === 'number') return Math.abs(value);
        return inType(
          (value as bigint) < 0n ? -(value as bigint) : (value as bigint),
          type,
          'The result of abs',
        );
      },
      { fallible: true },
    ),
    LOOPS.abs,
  ),
  negate: overNumbers(
    strict(
      '-',
      ([value], type) => {
        if (typeof value === 'number') return -value;
        return inType(-(value as bigint), type, 'The negated value');
      },
      { fallible: true },
    ),
    LOOPS.negate,
  ),
  sign: overNumbers(
    strict('sign', ([value], type) => {
      if (typeof value === 'number') return Math.sign(value);
      const one = DataType.isDecimal(type) ? powerOfTen(decimalScale(type)) : 1n;
      const sign = (value as bigint) > 0n ? one : (value as bigint) < 0n ? -one : 0n;
      return inType(sign, type, 'The result of sign');
    }),
    LOOPS.sign,
  ),
  floor: overNumbers(
    whole('floor', Math.floor, (value, power) => floorDivide(value, power)),
    LOOPS.floor,
  ),
  ceil: overNumbers(
    whole('ceil', Math.ceil, (value, power) => -floorDivide(-value, power)),
    LOOPS.ceil,
  ),
  trunc: overNumbers(
    strict('trunc', ([value, digits], type) => {
      const places = placesOf(digits);
      if (typeof value === 'number') return cutDouble(value, places, Math.trunc);
      const scale = DataType.isDecimal(type) ? decimalScale(type) : 0;
      if (places >= scale) return value;
      const power = powerOfTen(Math.min(scale - places, 60));
      return ((value as bigint) / power) * power;
    }),
    LOOPS.trunc,
  ),
  round: overNumbers(
    strict(
      'round',
      ([value, digits], type) => {
        const places = placesOf(digits);
        if (typeof value === 'number') return cutDouble(value, places, Math.round);
        return inType(
          roundWhole(value as bigint, DataType.isDecimal(type) ? decimalScale(type) : 0, places),
          type,
          'The rounded value',
        );
      },
      { fallible: true },
    ),
    LOOPS.round,
  ),
  sqrt: double('sqrt', Math.sqrt),
  cbrt: double('cbrt', Math.cbrt),
  exp: double('exp', Math.exp),
  ln: double('ln', Math.log),
  log10: double('log10', Math.log10),
  log2: double('log2', Math.log2),
  sin: double('sin', Math.sin),
  cos: double('cos', Math.cos),
  tan: double('tan', Math.tan),
  asin: double('asin', Math.asin),
  acos: double('acos', Math.acos),
  atan: double('atan', Math.atan),
  atan2: double('atan2', Math.atan2),
  radians: double('radians', (value) => value * (Math.PI / 180)),
  degrees: double('degrees', (value) => value * (180 / Math.PI)),
  power: double('power', (base, exponent) => base ** exponent),
  '&': strict('&', ([a, b]) => (a as bigint) & (b as bigint)),
  '|': strict('|', ([a, b]) => (a as bigint) | (b as bigint)),
  xor: strict('xor', ([a, b]) => (a as bigint) ^ (b as bigint)),
  gcd: strict('gcd', ([a, b]) => inType(commonDivisor(a as bigint, b as bigint), INT64, 'gcd'), {
    fallible: true,
  }),
  lcm: strict(
    'lcm',
    ([a, b]) => {
      const [x, y] = [a as bigint, b as bigint];
      const product = x * y;
      if (product === 0n) return 0n;
      const least = product / commonDivisor(x, y);
      return inType(least < 0n ? -least : least, INT64, 'lcm');
    },
    { fallible: true },
  ),
  '<<': shifted('<<', (value, by) => BigInt.asIntN(64, value << by)),
  '>>': shifted('>>', (value, by) => value >> by),
  isnan: strict('isnan', ([value]) => Number.isNaN(value)),
};

/** The greatest (or least) of its arguments that are not null. */
function extreme(name: string, direction: number): RowFunction {
  return {
    name,
    fallible: false,
    evaluate(args: readonly Column[], length: number, type): Column {
      const quick = extremeOf(args, length, type, direction);
      if (quick !== null) return quick;
      const readers = args.map(reader);
      const values = Array.from({ length }, (_, row) => {
        let best: Value = null;
        for (const read of readers) {
          const value = read(row) ?? null;
          if (value === null) continue;
          if (best === null || compareValues(value, best) * direction > 0) best = value;
        }
        return best;
      });
      return columnOf(type, values);
    },
  };
}

export const EXTREME_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  greatest: extreme('greatest', 1),
  least: extreme('least', -1),
};
