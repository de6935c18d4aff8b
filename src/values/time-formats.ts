/**
 * Formats and parses dates and times by a format of strftime, such as `%d.%m.%Y %H:%M`.
 * `timeFormat` compiles a format; a letter that does not exist, or cannot be read in a format for
 * parsing, throws InvalidInput. `formattedTime` writes a moment by it. `parsedTime` reads one, or
 * returns undefined if the text does not fit; what the text leaves out is of 1900-01-01, 00:00. The
 * letters mean what they mean in DuckDB. Names of days and months are English.
 */
import { DirspaceError } from '../errors.ts';
import {
  civilFromDays,
  daysFromCivil,
  daysInMonth,
  isoWeek,
  isoWeekday,
  NANOS_PER_SECOND,
} from './calendar.ts';
import { MONTHS } from './date-time-text.ts';

/** A letter, or text as it stands. `bare` leaves out leading zeros. */
type Part = { readonly text: string } | { readonly letter: string; readonly bare: boolean };

export interface TimeFormat {
  readonly parts: readonly Part[];
  /** The format as it was written. */
  readonly text: string;
}

/** A date and a time of day by some clock. */
export interface ClockTime {
  /** Since 1970-01-01. */
  readonly days: number;
  /** Since midnight. */
  readonly nanos: bigint;
  /** Seconds that the clock is ahead of UTC; undefined where it has no zone. */
  readonly offset?: number | undefined;
  readonly zone?: string | undefined;
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const SHORT_WEEKDAYS = WEEKDAYS.map((name) => name.slice(0, 3));
const SHORT_MONTHS = MONTHS.map((name) => name.slice(0, 3));
const HALVES = ['am', 'pm'];
/** Formats that one letter stands for. */
const WHOLE: Readonly<Record<string, string>> = {
  c: '%Y-%m-%d %H:%M:%S',
  x: '%Y-%m-%d',
  X: '%H:%M:%S',
};
const LETTERS = 'aAwudbBmyYHIpMSfgnjUWVGzZ';
/** Those that may have a hyphen before them. */
const BARE = 'dmyHIMSj';
/** Those that say nothing about which day it is, or not alone. */
const UNREAD = 'wuUWVGZ';

/** @throws InvalidInput for letters that there are not, and for one that `reading` takes no part in */
export function timeFormat(text: string, reading: boolean): TimeFormat {
  const parts: Part[] = [];
  const add = (format: string): void => {
    for (const [piece, bare, letter = ''] of format.matchAll(/%(-?)(.)|%-?$|[^%]+/gsu)) {
      if (piece.startsWith('%') && letter === '') {
        throw new DirspaceError(
          'InvalidInput',
          `The format ends within a ${piece}; %% is a percent sign.`,
        );
      }
      if (letter === '') parts.push({ text: piece });
      else if (piece === '%%') parts.push({ text: '%' });
      else if (bare === '' && Object.hasOwn(WHOLE, letter)) add(WHOLE[letter] as string);
      else if (bare === '' ? LETTERS.includes(letter) : BARE.includes(letter)) {
        if (reading && UNREAD.includes(letter)) {
          throw new DirspaceError(
            'InvalidInput',
            `%${letter} is written by strftime only; strptime does not read it.`,
          );
        }
        parts.push({ letter, bare: bare !== '' });
      } else {
        throw new DirspaceError(
          'InvalidInput',
          `The format has ${piece}; there are ${[...LETTERS, ...Object.keys(WHOLE)].map((one) => `%${one}`).join(' ')} %%, and ${[...BARE].map((one) => `%-${one}`).join(' ')}.`,
        );
      }
    }
  };
  add(text);
  if (parts.length === 0) throw new DirspaceError('InvalidInput', 'The format is empty.');
  return { parts, text };
}

export function formattedTime({ parts }: TimeFormat, time: ClockTime): string {
  const date = civilFromDays(time.days);
  return parts
    .map((part) => {
      if ('text' in part) return part.text;
      const written = partOf(part.letter, time, date);
      return typeof written === 'string' ? written : padded(written, part.bare);
    })
    .join('');
}

const padded = ([value, width]: Numeric, bare: boolean): string =>
  bare ? String(value) : String(value).padStart(width, '0');

const capital = (name = ''): string => name.slice(0, 1).toUpperCase() + name.slice(1);

/** A number and how many digits it has at least. */
type Numeric = readonly [value: number, width: number];

function partOf(
  letter: string,
  { days, nanos, offset, zone }: ClockTime,
  { year, month, day }: ReturnType<typeof civilFromDays>,
): string | Numeric {
  const seconds = Number(nanos / NANOS_PER_SECOND);
  const hour = Math.floor(seconds / 3600);
  const weekday = isoWeekday(days) % 7;
  const dayOfYear = days - daysFromCivil(year, 1, 1);
  const fraction = String(nanos % NANOS_PER_SECOND).padStart(9, '0');
  switch (letter) {
    case 'a':
      return capital(SHORT_WEEKDAYS[weekday]);
    case 'A':
      return capital(WEEKDAYS[weekday]);
    case 'w':
      return [weekday, 1];
    case 'u':
      return [isoWeekday(days), 1];
    case 'd':
      return [day, 2];
    case 'b':
      return capital(SHORT_MONTHS[month - 1]);
    case 'B':
      return capital(MONTHS[month - 1]);
    case 'm':
      return [month, 2];
    case 'y':
      return [Math.abs(year % 100), 2];
    case 'Y':
      return year < 0 ? String(year) : [year, 4];
    case 'H':
      return [hour, 2];
    case 'I':
      return [hour % 12 === 0 ? 12 : hour % 12, 2];
    case 'p':
      return (HALVES[hour < 12 ? 0 : 1] as string).toUpperCase();
    case 'M':
      return [Math.floor(seconds / 60) % 60, 2];
    case 'S':
      return [seconds % 60, 2];
    case 'f':
      return fraction.slice(0, 6);
    case 'g':
      return fraction.slice(0, 3);
    case 'n':
      return fraction;
    case 'j':
      return [dayOfYear + 1, 3];
    case 'U':
      return [Math.floor((dayOfYear + 7 - weekday) / 7), 2];
    case 'W':
      return [Math.floor((dayOfYear + 7 - ((weekday + 6) % 7)) / 7), 2];
    case 'V':
      return [isoWeek(days).week, 2];
    case 'G': {
      const isoYear = isoWeek(days).year;
      return isoYear < 0 ? String(isoYear) : [isoYear, 4];
    }
    case 'z':
      return offsetText(offset ?? 0);
    default:
      return zone ?? '';
  }
}

/** `+02`, or `+05:30` where there are minutes. */
function offsetText(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const two = (value: number): string => String(value).padStart(2, '0');
  const rest = minutes % 60 === 0 ? '' : `:${two(minutes % 60)}`;
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${rest}`;
}

/** Of numbers: how many digits are read, and which values there are. */
const NUMBERS: Readonly<Record<string, readonly [width: number, least: number, most: number]>> = {
  d: [2, 1, 31],
  m: [2, 1, 12],
  y: [2, 0, 99],
  Y: [4, 0, 9999],
  H: [2, 0, 23],
  I: [2, 1, 12],
  M: [2, 0, 59],
  S: [2, 0, 59],
  f: [6, 0, 999_999],
  g: [3, 0, 999],
  n: [9, 0, 999_999_999],
  j: [3, 1, 366],
};
const NAMES: Readonly<Record<string, readonly string[]>> = {
  a: SHORT_WEEKDAYS,
  A: WEEKDAYS,
  b: SHORT_MONTHS,
  B: MONTHS,
  p: HALVES,
};
const OFFSET = /([+-])(\d\d)(?::?(\d\d))?/y;
const SPACES = /\s*/y;

/** What a text says; what it does not say is of 1900-01-01, 00:00. */
export function parsedTime({ parts }: TimeFormat, text: string): ClockTime | undefined {
  const found = new Map<string, number>();
  const skipped = (from: number): number => {
    SPACES.lastIndex = from;
    return from + (SPACES.exec(text)?.[0].length ?? 0);
  };
  let at = skipped(0);
  for (const part of parts) {
    const next =
      'text' in part ? afterText(text, at, part.text, skipped) : read(text, at, part.letter, found);
    if (next === undefined) return undefined;
    at = next;
  }
  return skipped(at) === text.length ? timeOf(found) : undefined;
}

/** Where a text goes on behind what stands in the format; spaces match as many as there are. */
function afterText(
  text: string,
  start: number,
  wanted: string,
  skipped: (from: number) => number,
): number | undefined {
  let at = start;
  for (const [piece] of wanted.matchAll(/\s+|\S+/g)) {
    if (piece.trim() !== '') {
      if (!text.startsWith(piece, at)) return undefined;
      at += piece.length;
    } else if (skipped(at) > at) at = skipped(at);
    else return undefined;
  }
  return at;
}

function read(
  text: string,
  at: number,
  letter: string,
  found: Map<string, number>,
): number | undefined {
  const names = NAMES[letter];
  if (names !== undefined) {
    const name = names.findIndex((one) => text.slice(at, at + one.length).toLowerCase() === one);
    if (name < 0) return undefined;
    found.set(letter === 'b' || letter === 'B' ? 'm' : letter, name + 1);
    return at + (names[name] as string).length;
  }
  if (letter === 'z') {
    OFFSET.lastIndex = at;
    const offset = OFFSET.exec(text);
    if (offset === null) return undefined;
    const [{ length }, sign, hours, minutes = '0'] = offset;
    found.set('z', (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60));
    return at + length;
  }
  const [width, least, most] = NUMBERS[letter] as readonly [number, number, number];
  const digits = /^\d*/.exec(text.slice(at, at + width))?.[0] ?? '';
  const number = Number(digits);
  if (digits === '' || number < least || number > most) return undefined;
  if ('fgn'.includes(letter)) found.set('n', Number(digits.padEnd(9, '0')));
  else if (letter === 'y') found.set('Y', number + (number < 69 ? 2000 : 1900));
  else found.set(letter === 'I' ? 'H' : letter, number);
  return at + digits.length;
}

function timeOf(found: ReadonlyMap<string, number>): ClockTime | undefined {
  const year = found.get('Y') ?? 1900;
  const [month, day] = [found.get('m') ?? 1, found.get('d') ?? 1];
  const dayOfYear = found.get('j');
  if (dayOfYear === undefined && day > daysInMonth(year, month)) return undefined;
  if (dayOfYear === 366 && daysInMonth(year, 2) === 28) return undefined;
  const days =
    dayOfYear === undefined
      ? daysFromCivil(year, month, day)
      : daysFromCivil(year, 1, 1) + dayOfYear - 1;
  let hour = found.get('H') ?? 0;
  const half = found.get('p');
  if (half !== undefined) {
    if (hour > 12) return undefined;
    hour = (hour % 12) + (half === 2 ? 12 : 0);
  }
  const seconds = hour * 3600 + (found.get('M') ?? 0) * 60 + (found.get('S') ?? 0);
  const nanos = BigInt(seconds) * NANOS_PER_SECOND + BigInt(found.get('n') ?? 0);
  return { days, nanos, offset: found.get('z') };
}
