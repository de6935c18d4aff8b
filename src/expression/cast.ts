/**
 * CAST: which types go into which, and how one value does. Explicit casts truncate fractions and
 * round decimals as SQL does, an implicit one must keep the value; what does not fit is an error,
 * or null in a lenient cast. It knows canonical values and types.
 */
import type { DataType, Decimal } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import type { CastMode } from './bound.ts';
import { floorDivide, formatDate, formatTimeOfDay } from './calendar.ts';
import { NANOS_PER_DAY, NANOS_PER_SECOND, nanosPerUnit } from './coerce.ts';
import { asSafeNumbers, type Column, columnOf, reader, type Value } from './column.ts';
import {
  doubleToExact,
  type ExactNumber,
  exactToDouble,
  type IntervalValue,
  parseDate,
  parseExact,
  parseInterval,
  parseTime,
  parseTimestamp,
} from './literals.ts';
import { shorten } from './sql-error.ts';
import {
  decimalScale,
  elementType,
  type Family,
  familyOf,
  integerRange,
  isNumeric,
  isWide,
  plainType,
  roundToFloat,
  timeZoneOf,
  typeText,
} from './types.ts';
import { instantOfWallClock, zoneOffset } from './zones.ts';

const INTO: Readonly<Partial<Record<Family, readonly Family[]>>> = {
  bool: ['bool', 'int', 'float', 'text'],
  int: ['bool', 'int', 'float', 'decimal', 'text', 'date', 'time', 'timestamp', 'duration'],
  float: ['bool', 'int', 'float', 'decimal', 'text'],
  decimal: ['int', 'float', 'decimal', 'text'],
  text: [
    'bool',
    'int',
    'float',
    'decimal',
    'text',
    'bytes',
    'date',
    'time',
    'timestamp',
    'interval',
    'duration',
  ],
  bytes: ['bytes', 'text'],
  date: ['date', 'timestamp', 'text', 'int'],
  time: ['time', 'text', 'int'],
  timestamp: ['timestamp', 'date', 'time', 'text', 'int'],
  duration: ['duration', 'text', 'int', 'interval'],
  interval: ['interval', 'text'],
  list: ['list'],
};

export function canCast(from: Family, to: Family): boolean {
  return INTO[from]?.includes(to) ?? false;
}

/** Throws InvalidInput for a value that does not fit, naming both; null instead where lenient. */
export function castColumn(column: Column, to: DataType, mode: CastMode): Column {
  const from = plainType(column.type);
  const [f, g] = [familyOf(from), familyOf(to)];
  if (f === g && typeText(from) === typeText(to)) return { ...column, type: to };
  if (g === 'float' && typeText(to) === 'float64' && (f === 'int' || f === 'float')) {
    if (column.form === 'number') return { ...column, type: to };
    const safe = column.form === 'wide' ? asSafeNumbers(column) : null;
    if (safe !== null && column.form === 'wide') {
      return { form: 'number', type: to, length: column.length, values: safe, valid: column.valid };
    }
  }
  if (f === 'int' && typeText(to) === 'int64' && column.form === 'number')
    return { ...column, type: to };
  const read = reader(column);
  const convert = converter(from, to, mode);
  const values: Value[] = new Array(column.length);
  for (let i = 0; i < values.length; i++) {
    const value = read(i);
    let result: Value = null;
    if (value !== null) {
      result = convert(value);
      if (result === undefined) {
        if (mode !== 'lenient') fail(value, from, to, mode);
        result = null;
      }
    }
    values[i] = result;
  }
  return columnOf(to, values);
}

function fail(value: Value, from: DataType, to: DataType, mode: CastMode): never {
  const shown =
    typeof value === 'string' ? `'${shorten(value)}'` : shorten(textOf(value, from) ?? '');
  const hint =
    mode === 'lossless' ? '; a CAST says that loss is meant' : '; TRY_CAST gives NULL instead';
  throw new DirspaceError('InvalidInput', `${shown} does not fit ${typeText(to)}${hint}`);
}

/** A function from canonical value to canonical value; undefined is "does not fit". */
function converter(
  from: DataType,
  to: DataType,
  mode: CastMode,
): (value: Value) => Value | undefined {
  const [f, g] = [familyOf(from), familyOf(to)];
  if (g === 'text') return (value) => textOf(value, from);
  if (f === 'text') return (value) => fromText(value as string, to);
  if (g === 'bytes') return (value) => value;
  if (g === 'bool') return (value) => value !== 0 && value !== 0n;
  if (f === 'bool')
    return (value) => fromExact({ unscaled: value === true ? 1n : 0n, scale: 0 }, to, mode);
  if (f === 'list') {
    const item = converter(plainType(elementType(from)), elementType(to), mode);
    return (value) => (value as Value[]).map((entry) => (entry === null ? null : item(entry)));
  }
  if (f === 'duration' && g === 'interval') {
    const unit = nanosPerUnit(from);
    return (value): IntervalValue => ({ months: 0, days: 0, nanos: (value as bigint) * unit });
  }
  if (isNumeric(f) && isNumeric(g)) {
    return (value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        return g === 'float' ? value : undefined;
      }
      if (f === 'float' && g === 'float') {
        const rounded = roundToFloat(to, value as number);
        return mode === 'lossless' && rounded !== value ? undefined : rounded;
      }
      const exact = exactOfValue(value, from);
      return exact === null ? undefined : fromExact(exact, to, mode);
    };
  }
  if (isNumeric(f)) return (value) => inWidth(BigInt(value as number | bigint), to);
  if (isNumeric(g)) return (value) => inWidth(BigInt(value as number | bigint), to);
  return temporalConverter(from, to, mode);
}

function exactOfValue(value: Value, type: DataType): ExactNumber | null {
  if (typeof value === 'number') return doubleToExact(value);
  return {
    unscaled: value as bigint,
    scale: familyOf(type) === 'decimal' ? decimalScale(type) : 0,
  };
}

/** A whole number as a value of `to`, or undefined outside its range. */
function inWidth(value: bigint, to: DataType): Value | undefined {
  const range = familyOf(to) === 'int' ? integerRange(to) : null;
  const bits = isWide(to) ? 63n : 31n;
  const [least, greatest] = range ?? [-(1n << bits), (1n << bits) - 1n];
  if (value < least || value > greatest) return undefined;
  return isWide(to) ? value : Number(value);
}

/** Integers take the whole part, decimals round half away from zero. */
export function fromExact(exact: ExactNumber, to: DataType, mode: CastMode): Value | undefined {
  const family = familyOf(to);
  if (family === 'float') {
    const rounded = roundToFloat(to, exactToDouble(exact));
    if (mode !== 'lossless') return rounded;
    const back = doubleToExact(rounded);
    if (back === null) return undefined;
    const scale = 10n ** BigInt(Math.max(back.scale, exact.scale));
    const same =
      (back.unscaled * scale) / 10n ** BigInt(back.scale) ===
      (exact.unscaled * scale) / 10n ** BigInt(exact.scale);
    return same ? rounded : undefined;
  }
  const scale = family === 'decimal' ? decimalScale(to) : 0;
  const power = 10n ** BigInt(Math.abs(scale - exact.scale));
  let value = exact.unscaled;
  if (scale >= exact.scale) value *= power;
  else {
    const rest = value % power;
    if (mode === 'lossless' && rest !== 0n) return undefined;
    value /= power;
    if (family === 'decimal' && 2n * (rest < 0n ? -rest : rest) >= power)
      value += rest < 0n ? -1n : 1n;
  }
  if (family !== 'decimal') return inWidth(value, to);
  const limit = 10n ** BigInt((to as Decimal).precision);
  return value > -limit && value < limit ? value : undefined;
}

function temporalConverter(
  from: DataType,
  to: DataType,
  mode: CastMode,
): (value: Value) => Value | undefined {
  const [unit, target] = [nanosPerUnit(from), nanosPerUnit(to)];
  const [zone, newZone] = [timeZoneOf(from), timeZoneOf(to)];
  const [f, g] = [familyOf(from), familyOf(to)];
  return (value) => {
    let nanos = BigInt(value as number | bigint) * unit;
    // A time without zone is what clocks show in the zone it goes to, and the other way round.
    if (zone !== null && (g !== 'timestamp' || newZone === null)) nanos = toWallClock(nanos, zone);
    if (zone === null && newZone !== null) nanos = fromWallClock(nanos, newZone);
    if (f === 'timestamp' && g === 'time')
      nanos -= floorDivide(nanos, NANOS_PER_DAY) * NANOS_PER_DAY;
    if (mode === 'lossless' && nanos % target !== 0n) return undefined;
    return inWidth(floorDivide(nanos, target), to);
  };
}

export function toWallClock(nanos: bigint, zone: string): bigint {
  const seconds = Number(floorDivide(nanos, NANOS_PER_SECOND));
  return nanos + BigInt(zoneOffset(zone, seconds)) * NANOS_PER_SECOND;
}

function fromWallClock(nanos: bigint, zone: string): bigint {
  const seconds = floorDivide(nanos, NANOS_PER_SECOND);
  const instant = instantOfWallClock(zone, Number(seconds));
  return nanos + (BigInt(instant) - seconds) * NANOS_PER_SECOND;
}

function fromText(text: string, to: DataType): Value | undefined {
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
      return exact === null ? undefined : roundToFloat(to, exactToDouble(exact));
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
      const days = parseDate(text);
      const stamp = days === null ? parseTimestamp(text) : null;
      if (days === null && stamp === null) return undefined;
      return inWidth(
        ((days === null ? (stamp?.nanos ?? 0n) : BigInt(days) * NANOS_PER_DAY) / NANOS_PER_DAY) *
          (NANOS_PER_DAY / nanosPerUnit(to)),
        to,
      );
    }
    case 'time': {
      const nanos = parseTime(text);
      return nanos === null ? undefined : inWidth(nanos / nanosPerUnit(to), to);
    }
    case 'duration': {
      const interval = parseInterval(text);
      if (interval === null || interval.months !== 0) return undefined;
      return inWidth(
        (BigInt(interval.days) * NANOS_PER_DAY + interval.nanos) / nanosPerUnit(to),
        to,
      );
    }
    case 'timestamp': {
      const parsed = parseTimestamp(text);
      if (parsed === null) return undefined;
      const zone = timeZoneOf(to);
      let { nanos } = parsed;
      if (parsed.offset !== null) nanos -= BigInt(parsed.offset) * NANOS_PER_SECOND;
      else if (zone !== null) nanos = fromWallClock(nanos, zone);
      return inWidth(floorDivide(nanos, nanosPerUnit(to)), to);
    }
    default:
      return undefined;
  }
}

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
      return floatText(value as number);
    case 'decimal':
      return decimalText(value as bigint, decimalScale(type));
    case 'bytes': {
      const text = new TextDecoder('utf-8', { fatal: true });
      try {
        return text.decode(value as Uint8Array);
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
      const zone = timeZoneOf(type);
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

function offsetText(seconds: number): string {
  if (seconds === 0) return 'Z';
  const minutes = Math.floor(Math.abs(seconds) / 60);
  const part = (n: number): string => String(n).padStart(2, '0');
  return `${seconds < 0 ? '-' : '+'}${part(Math.floor(minutes / 60))}:${part(minutes % 60)}`;
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text;
}

export function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const text = scale === 0 ? whole : `${whole}.${digits.slice(digits.length - scale)}`;
  return unscaled < 0n ? `-${text}` : text;
}
