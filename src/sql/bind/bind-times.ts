/**
 * `TIME_FUNCTIONS` maps functions that compute or build dates and times to the code that binds
 * their calls: date_diff, last_day, dayname and monthname, make_date and make_timestamp,
 * to_timestamp, and epoch with epoch_ms, epoch_us and epoch_ns. `dateArgument` checks an argument
 * that is to be a date or a timestamp; a text literal is read as a timestamp. NULL gives NULL.
 * Arguments that do not fit throw InvalidInput with their place.
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
  DIFFERENCES,
  dayName,
  fieldName,
  makeDate,
  makeTimestamp,
  monthName,
  moveDate,
  truncateTo,
  unitNumber,
} from '../functions/index.ts';
import { refuse } from '../parse/index.ts';
import {
  type Bound,
  coerce,
  describe,
  FLOAT64,
  familyOf,
  INT64,
  isNumeric,
  literal,
  locationOf,
  nanosPerUnit,
  type RowFunction,
  settle,
  timeZoneOf,
  UTF8,
} from '../typed/index.ts';
import { argument, type Binding, call, isNull } from './bind-arguments.ts';
import { bindExtract } from './bind-fields.ts';

const MICROS = new Timestamp(TimeUnit.MICROSECOND, null);

/** A date or timestamp; a text literal is read as a timestamp. */
export function dateArgument(name: string, arg: Bound | undefined, at: number | undefined): Bound {
  if (arg === undefined) return refuse(at, `${name} takes a date or a timestamp`);
  if (arg.kind === 'literal' && arg.loose === 'string') return coerce(arg, MICROS);
  const family = familyOf(arg.type);
  if (family === 'date' || family === 'timestamp') return settle(arg);
  return refuse(locationOf(arg) ?? at, `${name} takes a date or a timestamp, not ${describe(arg)}`);
}

function requireCount(name: string, args: readonly Bound[], count: number, at: number | undefined) {
  const number = count === 1 ? '1 argument' : `${count} arguments`;
  if (args.length !== count) refuse(at, `${name} takes ${number}, not ${args.length}`);
}

/** How many borders of a unit lie between two times: of years, midnights of New Year. */
const bindDifference: Binding = (args, at) => {
  requireCount('date_diff', args, 3, at);
  const [unit, from, to] = args as [Bound, Bound, Bound];
  const name = unit.kind === 'literal' ? fieldName(String(unit.value)) : '';
  if (!DIFFERENCES.includes(name)) {
    refuse(locationOf(unit) ?? at, `date_diff takes one of ${DIFFERENCES.join(', ')}`);
  }
  if (isNull(from) || isNull(to)) return literal(INT64, null, at);
  const times = [from, to].map((time) => dateArgument('date_diff', time, at));
  const zones = times.map(({ type }) => timeZoneOf(type) !== null);
  if (zones[0] !== zones[1]) {
    refuse(at, 'date_diff takes two times with a time zone, or two without one');
  }
  const between = (counted: string): Bound => {
    const numbers = times.map((time) =>
      call(unitNumber(counted, plainType(time.type)), [time], INT64),
    );
    const [start, end] = numbers as [Bound, Bound];
    return { kind: 'arithmetic', op: '-', left: end, right: start, type: INT64 };
  };
  if (name !== 'week') return between(name);
  // Whole weeks between two times, as in DuckDB, whichever days of the week they are.
  const isOfDays = times.every(({ type }) => familyOf(type) === 'date');
  const [counted, week] = isOfDays ? ['day', 7n] : ['microsecond', 604_800_000_000n];
  const sides = { left: between(counted as string), right: literal(INT64, week as bigint) };
  return { kind: 'arithmetic', op: '/', ...sides, type: INT64 };
};

/** A name, by a field of a date. */
function bindNameOf(name: string, field: string, run: RowFunction): Binding {
  return (args, at) => {
    requireCount(name, args, 1, at);
    if (isNull(args[0] as Bound)) return literal(UTF8, null, at);
    const date = dateArgument(name, args[0], at);
    return call(run, [bindExtract([literal(UTF8, field, at), date], at)], UTF8);
  };
}

const bindLastDay: Binding = (args, at) => {
  requireCount('last_day', args, 1, at);
  const type = new DateDay();
  if (isNull(args[0] as Bound)) return literal(type, null, at);
  const day = coerce(dateArgument('last_day', args[0], at), type, 'explicit');
  const step = { months: 1, days: -1, nanos: 0n };
  const interval = literal(new Interval(IntervalUnit.MONTH_DAY_NANO), step, at);
  return call(moveDate, [call(truncateTo('month', type), [day], type), interval], type);
};

function bindMade(name: string, letters: string, run: RowFunction, type: DataType): Binding {
  return (args, at) => {
    requireCount(name, args, letters.length, at);
    const given = args.map((arg, place) => argument(name, arg, letters[place] as string, at));
    return given.some(isNull) ? literal(type, null, at) : call(run, given, type);
  };
}

/** Units since 1970, whole numbers; of a number, the timestamp that so many units are. */
function bindEpoch(name: string, unit: TimeUnit): Binding {
  const type = new Timestamp(unit, null);
  return (args, at) => {
    requireCount(name, args, 1, at);
    const [arg] = args as [Bound];
    if (isNull(arg)) return literal(INT64, null, at);
    if (familyOf(arg.type) === 'int') {
      const made = coerce(coerce(arg, INT64), type, 'explicit');
      return unit === TimeUnit.NANOSECOND ? made : coerce(made, MICROS, 'explicit');
    }
    const time = dateArgument(name, arg, at);
    const perUnit = nanosPerUnit(type) / nanosPerUnit(time.type);
    if (familyOf(time.type) === 'timestamp' && perUnit > 1n) {
      // Cut towards 1970, as DuckDB does; a CAST to coarser timestamps goes to the earlier one.
      const finer = coerce(time, INT64, 'explicit');
      const sides = { left: finer, right: literal(INT64, perUnit) };
      return { kind: 'arithmetic', op: '/', ...sides, type: INT64 };
    }
    const counted = new Timestamp(unit, timeZoneOf(time.type));
    return coerce(coerce(time, counted, 'explicit'), INT64, 'explicit');
  };
}

const bindSeconds: Binding = (args, at) => {
  requireCount('epoch', args, 1, at);
  return bindExtract([literal(UTF8, 'epoch', at), ...args], at);
};

/** Seconds since 1970 as a timestamp of UTC. */
const bindToTimestamp: Binding = (args, at) => {
  requireCount('to_timestamp', args, 1, at);
  const [arg] = args as [Bound];
  const type = new Timestamp(TimeUnit.MICROSECOND, 'UTC');
  if (isNull(arg)) return literal(type, null, at);
  if (!isNumeric(familyOf(arg.type))) {
    const place = locationOf(arg) ?? at;
    return refuse(place, 'to_timestamp takes a number of seconds; write CAST(x AS timestamp)');
  }
  const isWhole = familyOf(arg.type) === 'int';
  const [seconds, million] = isWhole
    ? [coerce(arg, INT64), literal(INT64, 1_000_000n)]
    : [coerce(arg, FLOAT64, 'explicit'), literal(FLOAT64, 1e6)];
  const micros: Bound = {
    kind: 'arithmetic',
    ...{ op: '*', left: seconds, right: million, type: seconds.type },
  };
  return coerce(coerce(micros, INT64, 'explicit'), type, 'explicit');
};

export const TIME_FUNCTIONS: Readonly<Record<string, Binding>> = {
  date_diff: bindDifference,
  dayname: bindNameOf('dayname', 'isodow', dayName),
  monthname: bindNameOf('monthname', 'month', monthName),
  last_day: bindLastDay,
  make_date: bindMade('make_date', 'iii', makeDate, new DateDay()),
  make_timestamp: bindMade('make_timestamp', 'iiiiif', makeTimestamp, MICROS),
  epoch: bindSeconds,
  epoch_ms: bindEpoch('epoch_ms', TimeUnit.MILLISECOND),
  epoch_us: bindEpoch('epoch_us', TimeUnit.MICROSECOND),
  epoch_ns: bindEpoch('epoch_ns', TimeUnit.NANOSECOND),
  to_timestamp: bindToTimestamp,
};
