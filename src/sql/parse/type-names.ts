/**
 * Maps names of types to Arrow types: `typeByName` maps SQL names with their arguments, and
 * `typeByArrowName` the names that arrow_cast takes. Both throw InvalidInput for an unknown name
 * and for arguments that do not fit the type. `MAX_PRECISION` is the most digits that a decimal
 * type of SQL may have.
 */
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  FixedSizeBinary,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  Interval,
  IntervalUnit,
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

/** The type named as arrow_cast names it: `Int8`, `Timestamp(Microsecond, None)`. */
export function typeByArrowName(text: string, at: number | undefined): DataType {
  const timestamp = /^Timestamp\((\w+), *(?:None|Some\("([^"]+)"\))\)$/.exec(text);
  if (timestamp !== null) {
    const unit = ARROW_UNITS.get((timestamp[1] ?? '').toLowerCase());
    if (unit !== undefined) return new Timestamp(unit, timestamp[2] ?? null);
  }
  const decimal = /^Decimal128\((\d+), *(\d+)\)$/.exec(text);
  if (decimal !== null) {
    return typeByName({ name: 'decimal', args: [Number(decimal[1]), Number(decimal[2])] }, at);
  }
  const fixed = /^FixedSizeBinary\((\d{1,9})\)$/.exec(text);
  if (fixed !== null) return new FixedSizeBinary(Number(fixed[1]));
  // SQL's INT8 has eight bytes, Arrow's Int8 has eight bits.
  const name = text === 'Int8' ? 'tinyint' : text.toLowerCase();
  return typeByName({ name, args: [] }, at);
}
