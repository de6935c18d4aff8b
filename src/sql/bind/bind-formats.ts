/**
 * Binds strftime (`bindWritten`), strptime and try_strptime (`bindRead`) and typeof (`bindTypeOf`),
 * by DuckDB's rules. Formats are constants and are checked here. strptime and try_strptime give a
 * timestamp of microseconds, or of nanoseconds if the format has %n, and in UTC if it has %z.
 * typeof becomes a constant, DuckDB's name of the type. NULL gives NULL, but not for typeof. For a
 * text that does not fit, try_strptime gives NULL too. Arguments and formats that do not fit throw
 * InvalidInput with their place.
 */
import { DataType, type Decimal, plainType, Timestamp, TimeUnit } from '../../arrow/index.ts';
import { type TimeFormat, timeFormat } from '../../values/index.ts';
import { readBy, writtenBy } from '../functions/index.ts';
import { checked, refuse } from '../parse/index.ts';
import {
  type Bound,
  describe,
  elementType,
  familyOf,
  literal,
  locationOf,
  settle,
  timeUnitOf,
  timeZoneOf,
  typeText,
  UTF8,
} from '../typed/index.ts';
import { argument, call } from './bind-arguments.ts';

/** @returns undefined for NULL */
function formatOf(
  name: string,
  arg: Bound | undefined,
  at: number | undefined,
): TimeFormat | undefined {
  if (arg !== undefined && familyOf(arg.type) === 'null') return undefined;
  if (arg?.kind !== 'literal' || typeof arg.value !== 'string') {
    const place = (arg === undefined ? undefined : locationOf(arg)) ?? at;
    return refuse(place, `${name} takes a format in single quotes, such as '%Y-%m-%d'`);
  }
  const text = arg.value;
  let format: TimeFormat | undefined;
  checked(locationOf(arg) ?? at, () => {
    format = timeFormat(text, name !== 'strftime');
  });
  return format;
}

/** strftime of a time and a format, in either order. */
export function bindWritten(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length !== 2) refuse(at, `strftime takes 2 arguments, not ${args.length}`);
  const isFirst = args[0]?.kind === 'literal' && typeof args[0].value === 'string';
  const [time, text] = (isFirst ? [args[1], args[0]] : args) as [Bound, Bound];
  const format = formatOf('strftime', text, at);
  const family = familyOf(time.type);
  if (format === undefined || family === 'null') return literal(UTF8, null, at);
  if (family !== 'date' && family !== 'timestamp') {
    refuse(locationOf(time) ?? at, `strftime takes a date or a timestamp, not ${describe(time)}`);
  }
  return call(writtenBy(format, plainType(time.type)), [settle(time)], UTF8);
}

/** strptime of a text and a format, or try_strptime, which gives NULL for other texts. */
export function bindRead(name: 'strptime' | 'try_strptime') {
  return (args: readonly Bound[], at: number | undefined): Bound => {
    if (args.length !== 2) refuse(at, `${name} takes 2 arguments, not ${args.length}`);
    const text = argument(name, args[0] as Bound, 't', at);
    const format = formatOf(name, args[1], at);
    const letters = new Set(format?.parts.map((part) => ('letter' in part ? part.letter : '')));
    const unit = letters.has('n') ? TimeUnit.NANOSECOND : TimeUnit.MICROSECOND;
    const type = new Timestamp(unit, letters.has('z') ? 'UTC' : null);
    if (format === undefined || familyOf(text.type) === 'null') return literal(type, null, at);
    return call(readBy(format, name === 'try_strptime'), [text], type);
  };
}

export function bindTypeOf(args: readonly Bound[], at: number | undefined): Bound {
  const [arg] = args;
  if (args.length !== 1 || arg === undefined) return refuse(at, 'typeof takes one argument');
  return literal(UTF8, nameOf(settle(arg).type), at);
}

const NAMES: Readonly<Record<string, string>> = {
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  int64: 'BIGINT',
  uint8: 'UTINYINT',
  uint16: 'USMALLINT',
  uint32: 'UINTEGER',
  uint64: 'UBIGINT',
  float32: 'FLOAT',
  float64: 'DOUBLE',
};
const FAMILY_NAMES: Readonly<Record<string, string>> = {
  null: '"NULL"',
  bool: 'BOOLEAN',
  text: 'VARCHAR',
  bytes: 'BLOB',
  date: 'DATE',
  time: 'TIME',
  interval: 'INTERVAL',
};
const UNITS = ['_S', '_MS', '', '_NS'];

function nameOf(given: DataType): string {
  const type = plainType(given);
  const family = familyOf(type);
  if (family === 'list') {
    const size = DataType.isFixedSizeList(type) ? type.listSize : '';
    return `${nameOf(elementType(type))}[${size}]`;
  }
  if (family === 'struct') {
    const members = type.children ?? [];
    return `STRUCT(${members.map(({ name, type }) => `${name} ${nameOf(type)}`).join(', ')})`;
  }
  if (family === 'decimal') {
    const { precision, scale } = type as Decimal;
    return `DECIMAL(${precision},${scale})`;
  }
  if (family === 'timestamp') {
    if (timeZoneOf(type) !== null) return 'TIMESTAMP WITH TIME ZONE';
    return `TIMESTAMP${UNITS[timeUnitOf(type)]}`;
  }
  return FAMILY_NAMES[family] ?? NAMES[typeText(type)] ?? typeText(type).toUpperCase();
}
