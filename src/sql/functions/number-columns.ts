/**
 * Computes functions of numbers over whole columns. `overNumbers`, with the loops of `LOOPS`, is
 * for floats, and for integers and decimals whose digits doubles hold exactly, and `overDoubles`
 * for doubles. `extremeOf` takes the greatest or least of several columns in each row. The results
 * equal those of numbers.ts, which computes all other cases value by value, such as integers beyond
 * 2^53.
 */
import type { DataType } from '../../arrow/index.ts';
import { EXACT_DIGITS, roundedQuotient } from '../evaluate/index.ts';
import {
  asExactNumbers,
  asSafeNumbers,
  bothValid,
  type Column,
  decimalScale,
  familyOf,
  type NumberArray,
  type RowFunction,
  type Validity,
} from '../typed/index.ts';
import { quicker } from './rows.ts';

/** Writes a value for each of `values` to `out`, which is as long. */
type Loop = (values: NumberArray, out: Float64Array) => void;

interface Loops {
  readonly float: Loop;
  /** Loops for whole numbers, which have no negative zero. */
  readonly int: Loop;
  /** Of a decimal without its scale; `power` is a one of the lowest digit that is kept. */
  readonly decimal: (value: number, power: number) => number;
}

const same: Loop = (values, out) => out.set(values);

/** Loops of functions of one argument, by the names of NUMBER_FUNCTIONS. */
export const LOOPS = {
  abs: {
    float: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = Math.abs(values[i] as number);
    },
    int: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = Math.abs(values[i] as number);
    },
    decimal: (value) => Math.abs(value),
  },
  negate: {
    float: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = -(values[i] as number);
    },
    int: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = 0 - (values[i] as number);
    },
    decimal: (value) => 0 - value,
  },
  sign: {
    float: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = Math.sign(values[i] as number);
    },
    int: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = Math.sign(values[i] as number);
    },
    decimal: (value, power) => Math.sign(value) * power,
  },
  floor: {
    float: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = Math.floor(values[i] as number);
    },
    int: same,
    decimal: (value, power) => Math.floor(value / power) * power,
  },
  ceil: {
    float: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = Math.ceil(values[i] as number);
    },
    int: same,
    decimal: (value, power) => Math.ceil(value / power) * power,
  },
  trunc: {
    float: (values, out) => {
      for (let i = 0; i < out.length; i++) out[i] = Math.trunc(values[i] as number);
    },
    int: same,
    decimal: (value, power) => Math.trunc(value / power) * power,
  },
  round: {
    float: (values, out) => {
      for (let i = 0; i < out.length; i++) {
        const value = values[i] as number;
        // Half away from zero. Beyond 2^52 all numbers are whole, and adding a half may round.
        const whole = Math.round(Math.abs(value));
        out[i] = value < 0 ? -whole : Object.is(value, -0) ? value : whole;
      }
    },
    int: same,
    decimal: (value, power) => roundedQuotient(value, power) * power,
  },
} as const satisfies Readonly<Record<string, Loops>>;

/** Numbers of a column, and which rows have one; null for other forms. */
function numbersOf(column: Column): { values: NumberArray; valid: Validity } | null {
  if (column.form === 'number') return { values: column.values, valid: column.valid };
  const family = familyOf(column.type);
  if (column.form !== 'wide' || (family !== 'int' && family !== 'decimal')) return null;
  const values = asSafeNumbers(column);
  return values === null ? null : { values, valid: column.valid };
}

/** `run`, computed by its loops; of a second argument, as for round, decimals take a constant. */
export function overNumbers(run: RowFunction, { float, int, decimal }: Loops): RowFunction {
  return quicker(run, ([column, ...more], { length, type }) => {
    const family = familyOf(type);
    if (column === undefined) return null;
    if (family === 'decimal') return overDecimals(column, more[0], decimal, type);
    if (more.length > 0 || (family !== 'float' && family !== 'int')) return null;
    const found = numbersOf(column);
    if (found === null) return null;
    const values = new Float64Array(length);
    (family === 'float' ? float : int)(found.values, values);
    return { form: 'number', type, length, values, valid: found.valid };
  });
}

function overDecimals(
  column: Column,
  digits: Column | undefined,
  compute: Loops['decimal'],
  type: DataType,
): Column | null {
  const from = column.form === 'constant' ? null : asExactNumbers(column);
  if (from === null || typeof from === 'number' || !('valid' in column)) return null;
  let places = digits === undefined ? 0 : Number.NaN;
  if (digits?.form === 'constant' && digits.value !== null) places = Number(digits.value);
  const dropped = Math.max(0, decimalScale(type) - places);
  if (!(dropped <= EXACT_DIGITS)) return null;
  const power = 10 ** dropped;
  const values = new Float64Array(from.length);
  let most = 0;
  for (let i = 0; i < values.length; i++) {
    // No negative zero.
    const value = compute(from[i] as number, power) + 0;
    values[i] = value;
    most = Math.max(most, Math.abs(value));
  }
  if (most > Number.MAX_SAFE_INTEGER) return null;
  return { form: 'number', type, length: values.length, values, valid: column.valid };
}

/** A function of one or two doubles. */
export function overDoubles(
  run: RowFunction,
  compute: (value: number, other: number) => number,
): RowFunction {
  return quicker(run, ([first, second], { length, type }) => {
    const a = first === undefined ? null : doublesOf(first);
    const b = second === undefined ? 0 : doublesOf(second);
    if (a === null || b === null) return null;
    const values = new Float64Array(length);
    if (typeof a === 'number') {
      if (typeof b === 'number') return null;
      for (let i = 0; i < length; i++) values[i] = compute(a, b.values[i] as number);
      return { form: 'number', type, length, values, valid: b.valid };
    }
    if (typeof b === 'number') {
      for (let i = 0; i < length; i++) values[i] = compute(a.values[i] as number, b);
      return { form: 'number', type, length, values, valid: a.valid };
    }
    for (let i = 0; i < length; i++) {
      values[i] = compute(a.values[i] as number, b.values[i] as number);
    }
    return { form: 'number', type, length, values, valid: bothValid(a.valid, b.valid) };
  });
}

function doublesOf(column: Column): { values: NumberArray; valid: Validity } | number | null {
  if (column.form === 'number') return column;
  return column.form === 'constant' && typeof column.value === 'number' ? column.value : null;
}

/** NaN is greater than all else, and null is passed over. Null for columns of other forms. */
export function extremeOf(
  args: readonly Column[],
  length: number,
  type: DataType,
  direction: number,
): Column | null {
  const family = familyOf(type);
  if (family !== 'int' && family !== 'float' && family !== 'decimal' && family !== 'date')
    return null;
  const values = new Float64Array(length);
  const valid = new Uint8Array(length);
  for (const arg of args) {
    if (arg.form === 'constant' && arg.value === null) continue;
    const found = arg.form === 'constant' ? constantOf(arg.value) : numbersOf(arg);
    if (found === null) return null;
    takeExtreme(values, valid, found, direction);
  }
  return { form: 'number', type, length, values, valid: valid.includes(0) ? valid : null };
}

function constantOf(value: unknown): number | null {
  const number = Number(value);
  return typeof value === 'number' || Number.isSafeInteger(number) ? number : null;
}

function takeExtreme(
  values: Float64Array,
  valid: Uint8Array,
  other: { values: NumberArray; valid: Validity } | number,
  direction: number,
): void {
  for (let i = 0; i < values.length; i++) {
    if (typeof other !== 'number' && other.valid !== null && other.valid[i] === 0) continue;
    const value = typeof other === 'number' ? other : (other.values[i] as number);
    if (valid[i] === 0 || isBeyond(value, values[i] as number, direction)) values[i] = value;
    valid[i] = 1;
  }
}

function isBeyond(value: number, best: number, direction: number): boolean {
  if (direction > 0) return value > best || (Number.isNaN(value) && !Number.isNaN(best));
  return value < best || (Number.isNaN(best) && !Number.isNaN(value));
}
