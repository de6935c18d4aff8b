/**
 * Binds `x IN (literals)` as one look-up in a set. `plainConstants` reads two or more simple
 * literals straight from the syntax tree, and `constantsOfIn` takes literals that are already
 * bound. If both return null, bind.ts joins comparisons by OR instead. Literals are converted to
 * x's type, and those that no value of this type equals are dropped. `constantsOfIn` throws
 * InvalidInput for those that `=` refuses. `prepareConstants` reads a long list in steps, so that
 * the event loop is not blocked; `plainConstants` then finds what it read.
 */
import { type DataType, type Decimal, plainType, Utf8 } from '../../arrow/index.ts';
import { drained } from '../../steps.ts';
import { daysFromCivil, daysInMonth, powerOfTen } from '../../values/index.ts';
import type { Expression } from '../parse/index.ts';
import {
  BOOL,
  type Bound,
  type BoundLiteral,
  comparedNanos,
  familyOf,
  integerRange,
  isWide,
  literal,
  nanosPerUnit,
  roundToFloat,
  type Value,
} from '../typed/index.ts';
import { bindCompare } from './bind-compare.ts';

/**
 * Binds `arg IN (items)` from the syntax tree: numbers for a numeric column, texts for texts, dates
 * and times. Null for any other list.
 */
export function plainConstants(arg: Bound, items: readonly Expression[]): Bound | null {
  if (items.length < 2) return null;
  const read = plainReader(plainType(arg.type));
  if (read === null) return null;
  const found = prepared.get(items);
  const constants = found?.type === arg.type ? found.constants : drained(constantsOf(items, read));
  return constants === null ? null : { kind: 'in', arg, ...constants, type: BOOL };
}

interface Constants {
  readonly values: Set<Value>;
  readonly hasNull: boolean;
}

/**
 * Values of long lists that `prepareConstants` has read, and the type of the column they are for.
 */
const prepared = new WeakMap<
  readonly Expression[],
  { readonly type: DataType; readonly constants: Constants | null }
>();

/** Items that are read without a break. */
const ITEMS_OF_STEP = 1_024;

/** Reads the literals of a list in steps, for `plainConstants` to find them. */
export function* prepareConstants(
  arg: Bound,
  items: readonly Expression[],
): Generator<undefined, void> {
  const read = plainReader(plainType(arg.type));
  if (read === null) return;
  prepared.set(items, { type: arg.type, constants: yield* constantsOf(items, read) });
}

function* constantsOf(
  items: readonly Expression[],
  read: PlainReader,
): Generator<undefined, Constants | null> {
  const values = new Set<Value>();
  let hasNull = false;
  let count = 0;
  for (const item of items) {
    if (++count % ITEMS_OF_STEP === 0) yield;
    if (item.kind === 'null') {
      hasNull = true;
      continue;
    }
    const value = read(item);
    if (value === OTHER) return null;
    if (value !== NONE) values.add(value);
  }
  return { values, hasNull };
}

/** No value of the column is equal to it. */
const NONE = Symbol('none');
/** To be bound like any other expression, which may refuse it. */
const OTHER = Symbol('other');

type PlainReader = (item: Expression) => Value | typeof NONE | typeof OTHER;

/** A function that reads literals as values of `type`; null if they have to be bound one by one. */
function plainReader(type: DataType): PlainReader | null {
  switch (familyOf(type)) {
    case 'text':
      return (item) => (item.kind === 'string' ? item.value : OTHER);
    case 'int':
      return ofNumbers(integers(type));
    case 'float':
      return ofNumbers((text) => {
        const number = Number(text);
        const nearest = roundToFloat(type, number);
        // One written with a point means the nearest value of the column.
        const isNear = nearest === number || /^[^x]*[.e]/i.test(text);
        return isNear ? nearest + 0 : NONE;
      });
    case 'decimal':
      return ofNumbers(decimals(type as Decimal));
    case 'date':
    case 'timestamp':
    case 'time':
      return times(type);
    default:
      return null;
  }
}

/** Numbers of up to 15 digits are exact as doubles; longer texts are bound one by one. */
const EXACT_DIGITS = 15;

const ofNumbers =
  (read: (text: string) => Value): PlainReader =>
  (item) =>
    item.kind === 'number' && item.text.length <= EXACT_DIGITS && Number.isFinite(Number(item.text))
      ? read(item.text)
      : OTHER;

function integers(type: DataType): (text: string) => Value | typeof OTHER {
  const [least, greatest] = integerRange(type).map(Number) as [number, number];
  const wide = isWide(type);
  return (text) => {
    const number = Number(text);
    // An exponent makes more digits than are written.
    if (Number.isInteger(number) && !Number.isSafeInteger(number)) return OTHER;
    // No integer is equal to a fraction.
    if (!Number.isInteger(number) || number < least || number > greatest) return NONE;
    return wide ? BigInt(number) : number + 0;
  };
}

const PLAIN_DECIMAL = /^(-?\d*)\.?(\d*)$/;

function decimals({ scale, precision }: Decimal): (text: string) => Value {
  const limit = powerOfTen(precision);
  return (text) => {
    const found = PLAIN_DECIMAL.exec(text);
    const [whole, fraction] = [found?.[1] ?? '', (found?.[2] ?? '').replace(/0+$/, '')];
    if (found === null || scale < 0 || !/\d/.test(text)) return OTHER;
    if (fraction.length > scale) return NONE;
    // A sign alone is left of `-.0`.
    const unscaled = BigInt(Number(whole + fraction) || 0) * powerOfTen(scale - fraction.length);
    return unscaled < limit && unscaled > -limit ? unscaled : NONE;
  };
}

function times(type: DataType): PlainReader {
  const unit = nanosPerUnit(type);
  const wide = isWide(type);
  const greatest = (1n << (wide ? 63n : 31n)) - 1n;
  const isDay = familyOf(type) === 'date' && !wide;
  return (item) => {
    if (item.kind !== 'string') return OTHER;
    if (isDay) {
      const days = plainDay(item.value);
      if (days !== undefined) return days;
    }
    const literal = { kind: 'literal', type: UTF8, value: item.value, loose: 'string' } as const;
    const nanos = comparedNanos(literal, type);
    if (nanos === null) return OTHER;
    const count = nanos / unit;
    if (count * unit !== nanos || count > greatest || count < -greatest - 1n) return NONE;
    return wide ? count : Number(count);
  };
}

const UTF8 = new Utf8();
const PLAIN_DAY = /^\d{4}-\d\d-\d\d$/;

/** The day of a text in the form that is written most; undefined for any other. */
function plainDay(text: string): number | undefined {
  if (!PLAIN_DAY.test(text)) return undefined;
  const [year, month, day] = [0, 5, 8].map((at, part) =>
    Number(text.slice(at, at + (part === 0 ? 4 : 2))),
  ) as [number, number, number];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return daysFromCivil(year, month, day);
}

/** Null where x's values cannot be looked up by value. Throws InvalidInput as `=` does. */
export function constantsOfIn(
  arg: Bound,
  items: readonly BoundLiteral[],
  at: number | undefined,
): Bound | null {
  const family = familyOf(arg.type);
  if (family === 'null') return literal(BOOL, null, at);
  if (family === 'bytes' || family === 'list' || family === 'struct' || family === 'interval')
    return null;
  const values = new Set<Value>();
  let hasNull = false;
  for (const item of items) {
    const equal = bindCompare('=', arg, item, item.at ?? at);
    if (equal.kind === 'literal') hasNull = true;
    // A decimal beside a float is not looked up by its own value.
    else if (equal.kind === 'compareConstant' && equal.arg === arg) values.add(equal.value);
    else if (equal.kind !== 'known') return null;
  }
  if (values.size === 1 && !hasNull) {
    return { kind: 'compareConstant', op: '=', arg, value: [...values][0], type: BOOL };
  }
  return { kind: 'in', arg, values, hasNull, type: BOOL };
}
