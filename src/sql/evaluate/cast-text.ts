/**
 * Converts a text to a value of a type (`fromText`), and a value to text (`textOf`), for casts.
 * `fromText` returns undefined if the text does not fit the type, and `textOf` if the value has no
 * text, such as bytes that are not UTF-8. For a timestamp whose time zone the runtime does not
 * know, both throw InvalidInput, unless the text has an offset. `misfitOf` tells an error message
 * why a text does not fit a type, or how such texts are written.
 */
import { type DataType, type Float, Precision } from '../../arrow/index.ts';
import {
  decimalText,
  exactToDouble,
  floorDivide,
  formatDate,
  formatTimeOfDay,
  type IntervalValue,
  instantNanosOf,
  NANOS_PER_DAY,
  NANOS_PER_SECOND,
  parseDateTime,
  parseExact,
  parseInterval,
  parseTimeOfDay,
  shortestHalf,
  shortestSingle,
  toWallClock,
} from '../../values/index.ts';
import {
  clockZoneOf,
  decimalScale,
  familyOf,
  formsOf,
  nanosPerUnit,
  roundToFloat,
  timeZoneOf,
  type Value,
} from '../typed/index.ts';
import { fromExact, inWidth } from './cast-exact.ts';

export function fromText(text: string, to: DataType): Value | undefined {
  switch (familyOf(to)) {
    case 'bool':
      if (/^(t|true|yes|y|on|1)$/i.test(text.trim())) return true;
      return /^(f|false|no|n|off|0)$/i.test(text.trim()) ? false : undefined;
    case 'float': {
      const trimmed = text.trim();
      if (/^[+-]?(nan|inf(inity)?)$/i.test(trimmed)) {
        if (/nan/i.test(trimmed)) return Number.NaN;
        return trimmed.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      }
      const exact = parseExact(trimmed);
      if (exact === null) return undefined;
      const nearest = roundToFloat(to, exactToDouble(exact));
      if (!Number.isFinite(nearest)) return undefined;
      // Exact numbers have no sign of zero, which floats have, and PostgreSQL's texts of them keep.
      return trimmed.startsWith('-') && nearest === 0 ? -0 : nearest;
    }
    case 'int': {
      const exact = parseExact(text);
      return exact === null || exact.scale !== 0 ? undefined : inWidth(exact.unscaled, to);
    }
    case 'decimal': {
      const exact = parseExact(text);
      return exact === null ? undefined : fromExact(exact, to, 'explicit');
    }
    case 'bytes':
      return new Uint8Array(Buffer.from(text));
    case 'interval':
      return parseInterval(text) ?? undefined;
    case 'date': {
      // The day that is written, whatever time and zone follow.
      const read = parseDateTime(text);
      return read && inWidth(BigInt(read.days) * (NANOS_PER_DAY / nanosPerUnit(to)), to);
    }
    case 'time': {
      const nanos = parseTimeOfDay(text);
      return nanos === undefined ? undefined : inUnit(BigInt(nanos), to);
    }
    case 'duration': {
      const interval = parseInterval(text);
      if (interval === null || interval.months !== 0) return undefined;
      return inUnit(BigInt(interval.days) * NANOS_PER_DAY + interval.nanos, to);
    }
    case 'timestamp': {
      const read = parseDateTime(text);
      if (read === undefined) return undefined;
      const zone = read.offset === undefined ? clockZoneOf(to) : timeZoneOf(to);
      return inUnit(instantNanosOf(read, zone), to);
    }
    default:
      return undefined;
  }
}

/** Nanoseconds counted in the unit of `to`; undefined where digits other than zeros would be lost. */
function inUnit(nanos: bigint, to: DataType): Value | undefined {
  const unit = nanosPerUnit(to);
  return nanos % unit === 0n ? inWidth(nanos / unit, to) : undefined;
}

/** Tells in a message why a text does not fit the type `to`, or how such texts are written. */
export function misfitOf(text: string, to: DataType): string {
  const family = familyOf(to);
  const nanos = family === 'time' ? parseTimeOfDay(text) : parseDateTime(text)?.nanos;
  const timed = family === 'time' || family === 'timestamp';
  if (timed && nanos !== undefined && BigInt(nanos) % nanosPerUnit(to) !== 0n) {
    return ', whose unit would lose digits of the second';
  }
  return formsOf(to);
}

/** A byte order mark is a character like any other. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a value, as CAST(.. AS text) and || give it. */
export function textOf(value: Value, type: DataType): string | undefined {
  switch (familyOf(type)) {
    case 'text':
      return value as string;
    case 'bool':
      return value === true ? 'true' : 'false';
    case 'int':
      return String(value);
    case 'float':
      return floatText(shortestFloat(value as number, type as Float));
    case 'decimal':
      return decimalText(value as bigint, decimalScale(type));
    case 'bytes': {
      try {
        return UTF8.decode(value as Uint8Array);
      } catch {
        return undefined;
      }
    }
    case 'date': {
      const nanos = BigInt(value as number | bigint) * nanosPerUnit(type);
      return formatDate(Number(floorDivide(nanos, NANOS_PER_DAY)));
    }
    case 'time':
      return formatTimeOfDay(BigInt(value as number | bigint) * nanosPerUnit(type));
    case 'timestamp': {
      const zone = clockZoneOf(type);
      const instant = (value as bigint) * nanosPerUnit(type);
      const nanos = zone === null ? instant : toWallClock(instant, zone);
      const days = floorDivide(nanos, NANOS_PER_DAY);
      const text = `${formatDate(Number(days))}T${formatTimeOfDay(nanos - days * NANOS_PER_DAY)}`;
      return zone === null ? text : text + offsetText(Number((nanos - instant) / NANOS_PER_SECOND));
    }
    case 'duration':
      return `${decimalText((value as bigint) * nanosPerUnit(type), 9).replace(/\.?0+$/, '')} seconds`;
    case 'interval': {
      const { months, days, nanos } = value as IntervalValue;
      const seconds = decimalText(nanos, 9).replace(/\.?0+$/, '');
      return `${months} months ${days} days ${seconds} seconds`;
    }
    default:
      return undefined;
  }
}

/** Hours and minutes, with seconds where clocks were once set by the sun. */
function offsetText(seconds: number): string {
  if (seconds === 0) return 'Z';
  const size = Math.abs(seconds);
  const part = (n: number): string => `:${String(n).padStart(2, '0')}`;
  const hours = part(Math.floor(size / 3600)).slice(1);
  const rest = size % 60 === 0 ? '' : part(size % 60);
  return `${seconds < 0 ? '-' : '+'}${hours}${part(Math.floor(size / 60) % 60)}${rest}`;
}

/** With the digits that tell it from other floats of its type. */
function shortestFloat(value: number, { precision }: Float): number {
  if (precision === Precision.DOUBLE || value === 0) return value;
  return precision === Precision.SINGLE ? shortestSingle(value) : shortestHalf(value);
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text;
}
