/**
 * `shownValue`: makes of a value of a column what JSON can hold and a person can read: numbers as
 * numbers where none of their digits is lost, else as text; dates, times and decimals as text;
 * bytes in hexadecimal digits; nested values as JSON. Long ones are cut.
 */
import type { DataType } from '../arrow/index.ts';
import { textOf } from './evaluate/index.ts';
import { familyOf, type Value } from './typed/index.ts';

export type ShownValue = string | number | boolean | null;

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
      return cut(Buffer.from(bytes.subarray(0, LONGEST)).toString('hex'));
    }
    case 'decimal':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
    case 'interval':
      return inWords(value, type);
    case 'text':
      return cut(value as string);
    default:
      return cut(JSON.stringify(value, (_, part: unknown) => plainPart(part)));
  }
}

/** Numbers that JSON has none for are texts. */
export function shownNumber(value: number | bigint): string | number {
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

function inWords(value: Value, type: DataType): string {
  try {
    return textOf(value, type) ?? String(value);
  } catch {
    // A time zone that the runtime does not know: the number in the unit of the type.
    return String(value);
  }
}

function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  // Not within a pair of surrogates.
  const last = text.charCodeAt(LONGEST - 2);
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? LONGEST - 2 : LONGEST - 1)}…`;
}

function plainPart(part: unknown): unknown {
  if (typeof part === 'bigint' || (typeof part === 'number' && !Number.isFinite(part))) {
    return shownNumber(part);
  }
  if (ArrayBuffer.isView(part)) return Buffer.from(part as Uint8Array).toString('hex');
  return part;
}
