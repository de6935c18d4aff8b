/**
 * Binds time_bucket (`bindTimeBucket`) and date_bin (`bindDateBin`), which return the start of the
 * bucket that a date or timestamp is in. The width of the buckets, and their origin or (of
 * time_bucket) offset, are constants. A width is of months, or of days and less, but not of both.
 * Buckets of months begin on the first day of a month, whatever the day of the origin; an offset
 * moves them. Without an origin, one bucket of time_bucket begins on Monday, 3 January 2000, or, of
 * months, on 1 January 2000, as in DuckDB; one of date_bin begins on 1 January 1970, as in
 * DataFusion. NULL gives NULL. Arguments that do not fit throw InvalidInput.
 */
import {
  type DataType,
  DateDay,
  Interval,
  IntervalUnit,
  plainType,
  Timestamp,
  TimeUnit,
} from '../../arrow/index.ts';
import {
  daysFromCivil,
  type IntervalValue,
  NANOS_PER_DAY,
  parseInterval,
  toWallClock,
} from '../../values/index.ts';
import { type BucketWidth, bucketStart } from '../functions/index.ts';
import { refuse } from '../parse/index.ts';
import {
  type Bound,
  clockZoneOf,
  coerce,
  describe,
  familyOf,
  literal,
  locationOf,
  nanosPerUnit,
  timeUnitOf,
  timeZoneOf,
} from '../typed/index.ts';
import { call } from './bind-arguments.ts';
import { bindArithmetic } from './bind-arithmetic.ts';
import { dateArgument } from './bind-times.ts';

type Place = number | undefined;

const FIRST_MONDAY = BigInt(daysFromCivil(2000, 1, 3)) * NANOS_PER_DAY;
const FIRST_MONTH = BigInt(daysFromCivil(2000, 1, 1)) * NANOS_PER_DAY;

/** time_bucket(width, time), with an origin, or with an offset that moves the buckets. */
export function bindTimeBucket(args: readonly Bound[], at: Place): Bound {
  const [given, when, third] = args;
  if (given === undefined || when === undefined || args.length > 3) {
    return refuse(at, `time_bucket takes 2 or 3 arguments, not ${args.length}`);
  }
  if (args.some(isNull)) return literal(resultOf(when), null, at);
  const width = widthOf('time_bucket', given, at);
  const time = dateArgument('time_bucket', when, at);
  const standard = 'months' in width ? FIRST_MONTH : FIRST_MONDAY;
  if (third === undefined) return bucket('time_bucket', width, time, standard);
  const offset = intervalIn(third);
  if (offset === undefined) return bucketFrom('time_bucket', width, time, third, at);
  const by = literal(new Interval(IntervalUnit.MONTH_DAY_NANO), offset, locationOf(third) ?? at);
  const start = bucket('time_bucket', width, bindArithmetic('-', time, by, at), standard);
  const moved = bindArithmetic('+', start, by, at);
  // Hours make a timestamp of a date.
  return familyOf(time.type) === 'date' ? asDate(moved, plainType(time.type)) : moved;
}

/** date_bin(width, time), with an origin. */
export function bindDateBin(args: readonly Bound[], at: Place): Bound {
  const [given, when, origin] = args;
  if (given === undefined || when === undefined || args.length > 3) {
    return refuse(at, `date_bin takes 2 or 3 arguments, not ${args.length}`);
  }
  if (args.some(isNull)) return literal(resultOf(when), null, at);
  const width = widthOf('date_bin', given, at);
  const time = dateArgument('date_bin', when, at);
  return origin === undefined
    ? bucket('date_bin', width, time, 0n)
    : bucketFrom('date_bin', width, time, origin, at);
}

/** Buckets from an origin on: a timestamp as the origin makes timestamps of dates. */
function bucketFrom(
  name: string,
  width: BucketWidth,
  time: Bound,
  origin: Bound,
  at: Place,
): Bound {
  const first = originOf(name, origin, time, at);
  const isFiner = familyOf(time.type) === 'date' && familyOf(origin.type) === 'timestamp';
  const type = new Timestamp(TimeUnit.MICROSECOND, null);
  return bucket(name, width, isFiner ? coerce(time, type) : time, first);
}

const isNull = (arg: Bound): boolean =>
  familyOf(arg.type) === 'null' || (arg.kind === 'literal' && arg.value === null);

/** The type of a NULL. */
function resultOf(when: Bound): DataType {
  const family = familyOf(when.type);
  return family === 'date' || family === 'timestamp'
    ? plainType(when.type)
    : new Timestamp(TimeUnit.MICROSECOND, null);
}

function bucket(name: string, width: BucketWidth, time: Bound, origin: bigint): Bound {
  const type = plainType(time.type);
  const exact = typeFor(type, [origin, 'nanos' in width ? width.nanos : 0n]);
  const start = call(bucketStart(name, width, origin, exact), [coerce(time, exact)], exact);
  return familyOf(type) === 'date' && exact !== type ? asDate(start, type) : start;
}

/** The day of a timestamp: a cast to a date of milliseconds alone would keep its time. */
const asDate = (moment: Bound, type: DataType): Bound =>
  coerce(coerce(moment, new DateDay(), 'explicit'), type, 'explicit');

/** The type, or the coarsest timestamp in whose unit the numbers of nanoseconds are whole. */
function typeFor(type: DataType, nanos: readonly bigint[]): DataType {
  // A date of milliseconds holds whole days too.
  const unitOf = (of: DataType): bigint =>
    familyOf(of) === 'date' ? NANOS_PER_DAY : nanosPerUnit(of);
  const fits = (of: DataType): boolean => nanos.every((count) => count % unitOf(of) === 0n);
  if (fits(type)) return type;
  const least = familyOf(type) === 'date' ? TimeUnit.MICROSECOND : timeUnitOf(type);
  const units = [TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND];
  const finer = units
    .filter((unit) => unit >= least)
    .map((unit) => new Timestamp(unit, timeZoneOf(type)));
  return finer.find(fits) ?? type;
}

/** A constant interval; undefined for anything else. */
function intervalIn(arg: Bound): IntervalValue | undefined {
  if (arg.kind !== 'literal') return undefined;
  if (familyOf(arg.type) === 'interval') return arg.value as IntervalValue;
  return arg.loose === 'string' ? (parseInterval(String(arg.value)) ?? undefined) : undefined;
}

function widthOf(name: string, arg: Bound, at: Place): BucketWidth {
  const width = intervalIn(arg);
  const place = locationOf(arg) ?? at;
  if (width === undefined) {
    return refuse(
      place,
      `${name} takes a constant interval first, such as INTERVAL '15 minutes', not ${describe(arg)}`,
    );
  }
  const nanos = BigInt(width.days) * NANOS_PER_DAY + width.nanos;
  if (width.months !== 0 && (width.days !== 0 || width.nanos !== 0n)) {
    return refuse(place, `${name} takes a width of months, or one of days and less, not of both`);
  }
  if (width.months < 0 || nanos < 0n || (width.months === 0 && nanos === 0n)) {
    return refuse(place, `${name} takes a width above 0`);
  }
  return width.months > 0 ? { months: width.months } : { nanos };
}

/** Nanoseconds since 1970 by the clock of the time's zone. */
function originOf(name: string, arg: Bound, time: Bound, at: Place): bigint {
  const place = locationOf(arg) ?? at;
  const zone = clockZoneOf(time.type);
  const origin = dateArgument(name, arg, at);
  if (origin.kind !== 'literal' || (timeZoneOf(origin.type) !== null && zone === null)) {
    const kind = zone === null ? 'a constant time without a time zone' : 'a constant time';
    return refuse(place, `${name} takes ${kind} as the origin, not ${describe(arg)}`);
  }
  const nanos = BigInt(origin.value as number | bigint) * nanosPerUnit(origin.type);
  // Without a zone it is a time on the clock already.
  return zone !== null && timeZoneOf(origin.type) !== null ? toWallClock(nanos, zone) : nanos;
}
