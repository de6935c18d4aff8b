/**
 * Maps names of types to Arrow types: `typeByName` maps SQL names with their arguments, and
 * `typeByArrowName` the names that arrow_cast takes. Both throw InvalidInput for an unknown name
 * and for arguments that do not fit the type, such as lists nested more than 32 deep or of a fixed
 * size above 65,536. `MAX_PRECISION` is the most digits that a decimal type of SQL may have.
 */
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  Interval,
  IntervalUnit,
  LargeBinary,
  LargeUtf8,
  List,
  Time,
  Timestamp,
  TimeUnit,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from '../../arrow/index.ts';
import { refuse } from './sql-error.ts';
import type { TypeName } from './tree.ts';

const SIMPLE: Readonly<Record<string, () => DataType>> = {
  tinyint: () => new Int8(),
  smallint: () => new Int16(),
  int: () => new Int32(),
  integer: () => new Int32(),
  bigint: () => new Int64(),
  utinyint: () => new Uint8(),
  usmallint: () => new Uint16(),
  uinteger: () => new Uint32(),
  ubigint: () => new Uint64(),
  int16: () => new Int16(),
  int32: () => new Int32(),
  int64: () => new Int64(),
  uint8: () => new Uint8(),
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  uint64: () => new Uint64(),
  float16: () => new Float16(),
  halffloat: () => new Float16(),
  float: () => new Float32(),
  float32: () => new Float32(),
  real: () => new Float32(),
  float64: () => new Float64(),
  double: () => new Float64(),
  boolean: () => new Bool(),
  text: () => new Utf8(),
  string: () => new Utf8(),
  utf8: () => new Utf8(),
  varchar: () => new Utf8(),
  char: () => new Utf8(),
  bytea: () => new Binary(),
  blob: () => new Binary(),
  binary: () => new Binary(),
  varbinary: () => new Binary(),
  date: () => new DateDay(),
  date32: () => new DateDay(),
  date64: () => new DateMillisecond(),
  interval: () => new Interval(IntervalUnit.MONTH_DAY_NANO),
};

/** Largest precision of decimal128. */
export const MAX_PRECISION = 38;

/** Throws InvalidInput for a name that stands for no type. */
export function typeByName(type: TypeName, at: number | undefined): DataType {
  const { name, args } = type;
  if (name === 'decimal') {
    const [precision = MAX_PRECISION, scale = args.length === 0 ? 10 : 0] = args;
    if (
      args.length > 2 ||
      precision < 1 ||
      precision > MAX_PRECISION ||
      scale < 0 ||
      scale > precision
    ) {
      refuse(at, `decimal(p, s) needs 1 <= p <= ${MAX_PRECISION} and 0 <= s <= p`);
    }
    return new Decimal(scale, precision, 128);
  }
  if (name === 'timestamp' || name === 'datetime' || name === 'timestamptz') {
    return new Timestamp(unitOfPrecision(type, at), name === 'timestamptz' ? 'UTC' : null);
  }
  if (name === 'time') {
    const unit = unitOfPrecision(type, at);
    return new Time(unit, unit < TimeUnit.MICROSECOND ? 32 : 64);
  }
  const make = Object.hasOwn(SIMPLE, name) ? SIMPLE[name] : undefined;
  if (make === undefined) refuse(at, `The type ${name} is not known`);
  if (args.length > 0) refuse(at, `The type ${name} takes no arguments`);
  return make();
}

/** timestamp(p) and time(p): digits of the fraction of a second. */
function unitOfPrecision({ name, args }: TypeName, at: number | undefined): TimeUnit {
  const [digits = 6, ...more] = args;
  const unit = new Map([
    [0, TimeUnit.SECOND],
    [3, TimeUnit.MILLISECOND],
    [6, TimeUnit.MICROSECOND],
    [9, TimeUnit.NANOSECOND],
  ]).get(digits);
  if (unit !== undefined && more.length === 0) return unit;
  return refuse(at, `${name}(p) takes 0, 3, 6 or 9 digits of a second`);
}

const ARROW_UNITS: ReadonlyMap<string, TimeUnit> = new Map([
  ['second', TimeUnit.SECOND],
  ['millisecond', TimeUnit.MILLISECOND],
  ['microsecond', TimeUnit.MICROSECOND],
  ['nanosecond', TimeUnit.NANOSECOND],
]);

/** Types whose names stand alone, beside those of SQL in any case. */
const ARROW_NAMES: Readonly<Record<string, () => DataType>> = {
  // SQL's INT8 has eight bytes, Arrow's Int8 has eight bits.
  Int8: () => new Int8(),
  LargeUtf8: () => new LargeUtf8(),
  LargeBinary: () => new LargeBinary(),
};

/** Lists in lists beyond this are refused, as a text could hold a million. */
const MOST_NESTED = 32;
/** Items, or bytes, of each value of a type of fixed size: a null takes as many. */
const MOST_ITEMS = 65_536;

/**
 * The type named as arrow_cast names it: `Int8`, `Timestamp(Microsecond, None)`,
 * `FixedSizeList(768, Float32)`. Throws InvalidInput for another name.
 */
export function typeByArrowName(text: string, at: number | undefined, depth = 0): DataType {
  const [, name = '', inner = ''] = /^(\w+)\((.*)\)$/.exec(text) ?? [];
  const made = parameterized(name, inner.trim(), at, depth);
  if (made !== undefined) return made;
  const make = Object.hasOwn(ARROW_NAMES, text) ? ARROW_NAMES[text] : undefined;
  return make?.() ?? typeByName({ name: text.toLowerCase(), args: [] }, at);
}

/** Undefined where the name takes no such arguments. */
function parameterized(
  name: string,
  inner: string,
  at: number | undefined,
  depth: number,
): DataType | undefined {
  if (depth > MOST_NESTED) refuse(at, `A type has at most ${MOST_NESTED} lists in one another`);
  const item = (type: string): Field =>
    new Field('item', typeByArrowName(type.trim(), at, depth + 1), true);
  const unit = ARROW_UNITS.get(inner.toLowerCase());
  switch (name) {
    case 'List':
      return new List(item(inner));
    case 'FixedSizeList': {
      const [, size, type] = /^(\d{1,9}) *,(.*)$/.exec(inner) ?? [];
      if (type === undefined || Number(size) === 0) return undefined;
      if (Number(size) > MOST_ITEMS)
        refuse(at, `A list of fixed size has at most ${MOST_ITEMS} items here, not ${size}`);
      return new FixedSizeList(Number(size), item(type));
    }
    case 'FixedSizeBinary':
      if (!/^\d{1,9}$/.test(inner)) return undefined;
      if (Number(inner) > MOST_ITEMS)
        refuse(at, `FixedSizeBinary has at most ${MOST_ITEMS} bytes here, not ${inner}`);
      return new FixedSizeBinary(Number(inner));
    case 'Decimal128': {
      const digits = /^(\d+), *(\d+)$/.exec(inner);
      return digits === null
        ? undefined
        : typeByName({ name: 'decimal', args: digits.slice(1).map(Number) }, at);
    }
    case 'Timestamp': {
      const [, of = '', zone] = /^(\w+), *(?:None|Some\("([^"]+)"\))$/.exec(inner) ?? [];
      const precision = ARROW_UNITS.get(of.toLowerCase());
      return precision === undefined ? undefined : new Timestamp(precision, zone ?? null);
    }
    case 'Duration':
      return unit === undefined ? undefined : new Duration(unit);
    case 'Time32':
      return unit === undefined || unit > TimeUnit.MILLISECOND ? undefined : new Time(unit, 32);
    case 'Time64':
      return unit === undefined || unit < TimeUnit.MICROSECOND ? undefined : new Time(unit, 64);
    default:
      return undefined;
  }
}
