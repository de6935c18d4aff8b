/**
 * `shownValue` converts a value of a column to JSON that a person can read. Booleans, floats, and
 * integers within 2^53, stay as they are. NaN, infinities, -0, larger integers, decimals, dates,
 * times and intervals become text. Bytes become hexadecimal digits, and nested values JSON text.
 * Texts, and what is made of bytes and nested values, are cut after 256 UTF-16 units. `shownNumber`
 * converts a number alone, `inWords` gives the text of decimals, dates, times and intervals, and
 * `cutText` cuts a text.
 */
import type { DataType, Field } from '../arrow/index.ts';
import type { ShownValue } from '../protocol/index.ts';
import { textOf } from './evaluate/index.ts';
import { elementType, familyOf, type Value } from './typed/index.ts';

/** Characters of a value. */
const LONGEST = 256;

export function shownValue(value: Value, type: DataType): ShownValue {
  if (value === null || value === undefined) return null;
  switch (familyOf(type)) {
    case 'bool':
      return value as boolean;
    case 'int':
    case 'float':
      return shownNumber(value as number | bigint);
    case 'bytes': {
      const bytes = value as Uint8Array;
      return cutText(Buffer.from(bytes.subarray(0, LONGEST)).toString('hex'));
    }
    case 'decimal':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
    case 'interval':
      return inWords(value, type);
    case 'text':
      return cutText(value as string);
    default:
      return cutText(JSON.stringify(nested(value, type), plainPart));
  }
}

/** Values within lists and structs are shown as others are; other forms are left to `plainPart`. */
function nested(value: Value, type: DataType): unknown {
  if (value === null || value === undefined) return null;
  switch (familyOf(type)) {
    case 'list': {
      const item = elementType(type);
      return Array.from(value as Iterable<Value>, (one) => nested(one, item));
    }
    case 'struct': {
      const parts = value as Readonly<Record<string, Value>>;
      return Object.fromEntries(
        type.children.map((part: Field) => [
          part.name,
          nested(parts[part.name] as Value, part.type),
        ]),
      );
    }
    case 'other':
      return value;
    default:
      return shownValue(value, type);
  }
}

/** Numbers that JSON has none for are texts: infinities, NaN, and zero with a sign. */
export function shownNumber(value: number | bigint): string | number {
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? value
      : Number.isNaN(value)
        ? 'NaN'
        : value > 0
          ? 'inf'
          : '-inf';
  }
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : String(value);
}

/** Decimals, dates, times and intervals. */
export function inWords(value: Value, type: DataType): string {
  try {
    return textOf(value, type) ?? String(value);
  } catch {
    // A time zone that the runtime does not know: the number in the unit of the type.
    return String(value);
  }
}

/** The first `most` characters, and an ellipsis where there are more. */
export function cutText(text: string, most: number = LONGEST): string {
  if (text.length <= most) return text;
  // Not within a pair of surrogates.
  const last = text.charCodeAt(most - 1);
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most)}…`;
}

/** A replacer of JSON, which asks a Buffer for another form than a Uint8Array has: the holder has it as it is. */
function plainPart(this: unknown, key: string): unknown {
  const part = (this as Readonly<Record<string, unknown>>)[key];
  if (typeof part === 'bigint' || (typeof part === 'number' && !Number.isFinite(part))) {
    return shownNumber(part);
  }
  if (ArrayBuffer.isView(part)) return Buffer.from(part as Uint8Array).toString('hex');
  return part;
}
