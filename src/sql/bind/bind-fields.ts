/**
 * `FIELDS_OF_TIMES` maps extract, date_trunc, and functions such as year to the code that binds
 * their calls; `bindExtract` binds extract. The field or unit is a constant. extract gives a
 * float64, year and its like an int64, and date_trunc the type of its argument; NULL in place of a
 * time gives NULL, and a text there throws InvalidInput. A field that the type does not have throws
 * InvalidInput with the names of those that it has.
 */
import { plainType, Timestamp, TimeUnit } from '../../arrow/index.ts';
import {
  CLOCK_FIELDS,
  DATE_FIELDS,
  extractField,
  fieldName,
  SPAN_FIELDS,
  spanField,
  TRUNCATIONS,
  truncateTo,
} from '../functions/index.ts';
import { refuse } from '../parse/index.ts';
import {
  type Bound,
  coerce,
  describe,
  type Family,
  FLOAT64,
  familyOf,
  INT64,
  literal,
  locationOf,
  settle,
  UTF8,
} from '../typed/index.ts';
import { type Binding, call, isNull } from './bind-arguments.ts';

/** Functions of a time that give one of its fields as a whole number, by their names. */
const FIELD_FUNCTIONS: Readonly<Record<string, string>> = {
  year: 'year',
  quarter: 'quarter',
  month: 'month',
  week: 'week',
  weekofyear: 'week',
  day: 'day',
  dayofmonth: 'day',
  dayofweek: 'dow',
  dayofyear: 'doy',
  hour: 'hour',
  minute: 'minute',
  second: 'second',
  millisecond: 'millisecond',
  microsecond: 'microsecond',
  isodow: 'isodow',
  isoyear: 'isoyear',
  decade: 'decade',
  century: 'century',
};

function unitOf(
  name: string,
  arg: Bound | undefined,
  known: readonly string[],
  at: number | undefined,
): string {
  const unit =
    arg?.kind === 'literal' && typeof arg.value === 'string' ? fieldName(arg.value) : null;
  if (unit === null || !known.includes(unit)) {
    return refuse(
      locationOf(arg ?? literal(UTF8, null)) ?? at,
      `${name} takes one of ${known.join(', ')}`,
    );
  }
  return unit;
}

const NAMES_OF_TIME: readonly Family[] = ['date', 'timestamp', 'time'];

function timeArgument(name: string, arg: Bound | undefined, at: number | undefined): Bound {
  const family = arg === undefined ? 'null' : familyOf(arg.type);
  if (arg === undefined || !NAMES_OF_TIME.includes(family)) {
    return refuse(
      at,
      `${name} takes a date or a timestamp, not ${arg === undefined ? 'nothing' : describe(arg)}`,
    );
  }
  return settle(arg);
}

export function bindExtract(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length !== 2) refuse(at, `extract takes 2 arguments, not ${args.length}`);
  const [, time] = args;
  if (time !== undefined && familyOf(time.type) === 'duration') return ofDuration(args, time, at);
  const field = unitOf('extract', args[0], DATE_FIELDS, at);
  if (isNull(args[1])) return literal(FLOAT64, null, at);
  const arg = timeArgument('extract', args[1], at);
  if (familyOf(arg.type) === 'time' && !CLOCK_FIELDS.includes(field)) {
    refuse(at, `A time of day has no ${field}; it has ${CLOCK_FIELDS.join(', ')}`);
  }
  return call(extractField(field, plainType(arg.type)), [arg], FLOAT64);
}

function ofDuration(args: readonly Bound[], time: Bound, at: number | undefined): Bound {
  const field = unitOf('extract', args[0], [...SPAN_FIELDS, 'epoch'], at);
  const [arg, type] = [settle(time), plainType(time.type)];
  return call(
    field === 'epoch' ? extractField(field, type) : spanField(field, type),
    [arg],
    FLOAT64,
  );
}

function bindField(name: string, field: string): Binding {
  return (args, at) => {
    if (args.length !== 1) refuse(at, `${name} takes 1 argument, not ${args.length}`);
    const found = bindExtract([literal(UTF8, field, at), ...args], at);
    return coerce(found, INT64, 'explicit');
  };
}

function bindTruncate(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length !== 2) refuse(at, `date_trunc takes 2 arguments, not ${args.length}`);
  const unit = unitOf('date_trunc', args[0], TRUNCATIONS, at);
  if (isNull(args[1])) return literal(new Timestamp(TimeUnit.MICROSECOND, null), null, at);
  const arg = timeArgument('date_trunc', args[1], at);
  if (familyOf(arg.type) === 'time') refuse(at, 'date_trunc takes a date or a timestamp');
  const type = plainType(arg.type);
  return call(truncateTo(unit, type), [arg], type);
}

export const FIELDS_OF_TIMES: Readonly<Record<string, Binding>> = {
  extract: bindExtract,
  ...Object.fromEntries(
    Object.entries(FIELD_FUNCTIONS).map(([name, field]) => [name, bindField(name, field)]),
  ),
  date_trunc: bindTruncate,
};
