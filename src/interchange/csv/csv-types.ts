/**
 * Guesses the type of a CSV column from its fields. `kindOf` finds the kind of one field (`KIND`),
 * such as integer or date, and `typeOfKinds` finds the narrowest type for several kinds. Codes with
 * leading zeros are texts. `mayBeEmpty` tells whether an empty field in quotes is a value of a
 * type, as for texts and bytes; for other types it means null.
 */
import {
  Bool,
  type DataType,
  DateDay,
  type Dictionary,
  Float64,
  Int64,
  TimeMicrosecond,
  Timestamp,
  TimeUnit,
  Type,
  Uint64,
  Utf8,
} from '../../arrow/index.ts';
import { digitsValue, floatOf, floatValue, integerOf, plainText } from './csv-numbers.ts';
import { dateOf, momentOf, timeOf } from './csv-times.ts';
import { pointed } from './decimal-comma.ts';

/** Whether an empty field in quotes is a value, as of texts and bytes. */
export const mayBeEmpty = (type: DataType): boolean =>
  type.typeId === Type.Dictionary
    ? mayBeEmpty((type as Dictionary).dictionary)
    : OF_BYTES.includes(type.typeId);

const OF_BYTES: readonly Type[] = [
  ...[Type.Utf8, Type.LargeUtf8, Type.Utf8View],
  ...[Type.Binary, Type.LargeBinary, Type.BinaryView],
];

/** What a field may be, a bit each. */
export const KIND = {
  bool: 1,
  int: 2,
  /** An integer that float64 has not exactly. */
  longInt: 4,
  /** An integer beyond int64, within uint64. */
  wideInt: 8,
  float: 16,
  /** nan or inf: a number only beside numbers. */
  word: 32,
  date: 64,
  /** Without a zone, to the microsecond. */
  timestamp: 128,
  /** With one. */
  instant: 256,
  /** Finer than a microsecond. */
  nanos: 512,
  time: 1024,
  text: 2048,
  /** Beside the kind of an integer. */
  negative: 4096,
} as const;

const INTEGERS = KIND.int | KIND.longInt | KIND.negative;
const NUMBERS = INTEGERS | KIND.wideInt | KIND.float | KIND.word;
const ZERO = 48;
const NINE = 57;

/** The bytes of a field, which is neither empty nor null. */
export function kindOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  hasDecimalComma: boolean,
): number {
  let [number, from, to]: [Uint8Array | undefined, number, number] = [bytes, start, end];
  if (hasDecimalComma) {
    number = pointed(bytes, start, end);
    [from, to] = [0, number?.length ?? 0];
  }
  const quick = number && quickNumber(number, from, to);
  if (quick !== undefined) return quick;
  // The longest of all is a timestamp with an offset.
  if (end - start > 400) return KIND.text;
  const first = bytes[start] as number;
  if (first >= ZERO && first <= NINE) {
    if (dateOf(bytes, start, end, true) !== undefined) return KIND.date;
    const moment = momentOf(bytes, start, end, true);
    if (moment !== undefined) {
      const kind = moment.offset === undefined ? KIND.timestamp : KIND.instant;
      return moment.nanos % 1000 === 0 ? kind : kind | KIND.nanos;
    }
    if (timeOf(bytes, start, end, true) !== undefined) return KIND.time;
  }
  const found = number && slowNumber(number, from, to);
  if (found !== undefined) return found;
  return /^(?:true|false)$/i.test(plainText(bytes, start, end)) ? KIND.bool : KIND.text;
}

/** Of a number in one of the usual forms; undefined for other text. */
function quickNumber(bytes: Uint8Array, start: number, end: number): number | undefined {
  const value = digitsValue(bytes, start, end, true);
  if (!Number.isNaN(value)) return value < 0 ? KIND.int | KIND.negative : KIND.int;
  return Number.isNaN(floatValue(bytes, start, end, true)) ? undefined : KIND.float;
}

/** Of a number in any form. */
function slowNumber(bytes: Uint8Array, start: number, end: number): number | undefined {
  const text = plainText(bytes, start, end);
  const integer = integerOf(text, true);
  if (integer !== undefined) return integerKind(integer);
  const float = floatOf(text, true);
  return float === undefined ? undefined : Number.isFinite(float) ? KIND.float : KIND.word;
}

function integerKind(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) {
    const kind = BigInt(Number(value)) === value ? KIND.int : KIND.longInt;
    return value < 0n ? kind | KIND.negative : kind;
  }
  return BigInt.asUintN(64, value) === value ? KIND.wideInt : KIND.text;
}

/** The narrowest type of fields of these kinds; text where there are none. */
export function typeOfKinds(kinds: number): DataType {
  const only = (allowed: number): boolean => kinds !== 0 && (kinds & ~allowed) === 0;
  if (only(KIND.bool)) return new Bool();
  if (only(INTEGERS)) return new Int64();
  if (only(KIND.int | KIND.longInt | KIND.wideInt)) return new Uint64();
  if (only(NUMBERS)) {
    // Beside fractions long integers would be rounded, and words alone are words.
    const isLong = (kinds & (KIND.longInt | KIND.wideInt)) !== 0;
    return isLong || only(KIND.word) ? new Utf8() : new Float64();
  }
  if (only(KIND.date)) return new DateDay();
  const unit = (kinds & KIND.nanos) === 0 ? TimeUnit.MICROSECOND : TimeUnit.NANOSECOND;
  if (only(KIND.date | KIND.timestamp | KIND.nanos)) return new Timestamp(unit, null);
  if (only(KIND.instant | KIND.nanos)) return new Timestamp(unit, 'UTC');
  return only(KIND.time) ? new TimeMicrosecond() : new Utf8();
}
