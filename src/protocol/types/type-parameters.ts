/**
 * Parses the parameters in the names of types without child fields, and returns the Arrow types:
 * times, timestamps, durations, intervals, decimals and fixed-size binaries. There is one function
 * for each, such as `timestamp` or `decimal`. It calls the caller's `refuse` for parameters that do
 * not fit, and for child fields or a length that the type does not take. type-parser.ts also uses
 * the checks `takeNothing`, `noParameters` and `fixedLength`, and `cut`, which splits a name at its
 * first colon.
 */
import {
  checkDecimal,
  checkTime,
  type DataType,
  Decimal,
  Duration,
  type Field,
  FixedSizeBinary,
  INTERVAL_UNITS,
  Interval,
  type IntervalUnit,
  MAX_INT32,
  type Refuse,
  Time,
  Timestamp,
  type TimeUnit,
} from '../../arrow/index.ts';
import { TIME_UNITS } from '../../values/index.ts';

/** The two members that stand beside a name: child fields, and the length of fixed-size types. */
export interface TypeShape {
  readonly fields?: readonly Field[] | undefined;
  readonly length?: number | undefined;
}

export function time(
  bits: 32 | 64,
  rest: string | undefined,
  shape: TypeShape,
  refuse: Refuse,
): DataType {
  takeNothing(`time${bits}`, shape, refuse);
  const found = unit(rest, refuse);
  checkTime(bits, found, refuse);
  return new Time(found, bits);
}

export function timestamp(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  takeNothing('timestamp', shape, refuse);
  // Only the first colon parts: zones such as +05:30 hold colons of their own.
  const [unitName, zone] = cut(rest ?? '');
  return new Timestamp(unit(unitName, refuse), zone === '' || zone === '-' ? undefined : zone);
}

export function decimal(
  bits: number,
  rest: string | undefined,
  shape: TypeShape,
  refuse: Refuse,
): DataType {
  takeNothing('decimal', shape, refuse);
  const match = /^(\d{1,3}):(-?\d{1,10})$/.exec(rest ?? '');
  if (match === null)
    return refuse('a decimal needs its precision and scale, as in decimal128:38:10');
  const [precision, scale] = [Number(match[1]), Number(match[2])];
  checkDecimal(bits, precision, scale, refuse);
  return new Decimal(scale, precision, bits);
}

export function fixedSizeBinary(
  rest: string | undefined,
  shape: TypeShape,
  refuse: Refuse,
): DataType {
  takeNothing('fixed_size_binary', { ...shape, length: undefined }, refuse);
  return new FixedSizeBinary(fixedLength('fixed_size_binary', rest ?? shape.length, refuse));
}

export function duration(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  takeNothing('duration', shape, refuse);
  return new Duration(unit(rest, refuse));
}

export function interval(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  takeNothing('interval', shape, refuse);
  const found = (INTERVAL_UNITS as readonly string[]).indexOf(rest ?? '');
  if (found < 0) refuse(`an interval needs its kind, one of ${INTERVAL_UNITS.join(', ')}`);
  return new Interval(found as IntervalUnit);
}

function unit(name: string | undefined, refuse: Refuse): TimeUnit {
  const found = (TIME_UNITS as readonly string[]).indexOf(name ?? '');
  if (found < 0) refuse(`expected a unit of time, one of ${TIME_UNITS.join(', ')}`);
  return found as TimeUnit;
}

export function takeNothing(name: string, shape: TypeShape, refuse: Refuse): void {
  if (shape.fields !== undefined && shape.fields.length > 0) refuse(`${name} takes no "fields"`);
  if (shape.length !== undefined) refuse(`${name} takes no "length"`);
}

export function noParameters(name: string, rest: string | undefined, refuse: Refuse): void {
  if (rest !== undefined) refuse(`${name} takes no parameters after a colon`);
}

export function fixedLength(
  name: string,
  value: string | number | undefined,
  refuse: Refuse,
): number {
  const length = typeof value === 'string' ? integer(value) : value;
  if (length === undefined || !Number.isInteger(length) || length < 0 || length > MAX_INT32) {
    return refuse(`a ${name} needs a "length" that is an integer from 0 to ${MAX_INT32}`);
  }
  return length;
}

/** A decimal number of digits alone, or NaN. */
export const integer = (text: string): number =>
  /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;

/** What stands before and after the first colon. */
export function cut(text: string): [string, string | undefined] {
  const colon = text.indexOf(':');
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}
