/**
 * Parses dates and timestamps (`parseDateTime`) and times of day (`parseTimeOfDay`) that are
 * written as text, for cells of data, SQL literals and CAST. A zone is UTC or an offset, and no
 * name of a zone. Both are exact to the nanosecond, in the proleptic Gregorian calendar, and return
 * undefined for other text and for more than 100 characters. The caller checks what its column can
 * hold. `DATE_FORMS` and its like tell in messages what is taken, and `MONTHS` has the names of
 * months.
 */
import { daysFromCivil, daysInMonth, isoWeekday } from './calendar.ts';

export interface DateTimeText {
  /** Days from 1970-01-01 to the date as written. */
  readonly days: number;
  /** Nanoseconds since that midnight, 0 to 86,400e9 (24:00) inclusive; undefined for a date alone. */
  readonly nanos: number | undefined;
  /** Seconds east of UTC; undefined where the text names no zone. */
  readonly offset: number | undefined;
}

/** For messages: what is taken, by example. */
export const DATE_FORMS = '2020-01-31, 20200131, 2020-W05-5, 2020-031, 31 January 2020 or alike';
export const TIME_FORMS = '04:05, 04:05:06.789, T040506, 4:05 PM or alike, before 24:00';
export const TIMESTAMP_FORMS =
  '2020-01-31, 2020-01-31T04:05:06.789Z, 2020-01-31 04:05:06 +02:00 or alike';

export const NANOS_OF_DAY = 86_400_000_000_000;
/** No text of the grammar is longer, but for zeros that say nothing. */
const MOST_CHARACTERS = 100;
/** Julian day of 1970-01-01. */
const JULIAN_EPOCH = 2_440_588;

type Groups = readonly (string | undefined)[];

/**
 * Undefined where the text is no date or timestamp.
 *
 * The grammar is ISO 8601 and the forms that PostgreSQL documents for its literals, without those
 * that depend on a setting or on the present. Letters are taken in either case, spaces around are
 * dropped.
 *
 *   timestamp  date [("T" | spaces) time [zone]] [era]
 *   date       2020-01-31, 2020-1-31, 20200131; 2020-031, 2020.031, 2020031 (day of the year);
 *              2020-W05-5, 2020W055 (ISO week); 2020-Jan-31, 31-Jan-2020, Jan-31-2020,
 *              31 January 2020, January 31, 2020; J2458880 (Julian day)
 *   year       four to seven digits, with a sign in the numeric forms with a hyphen or a point after
 *              the year (year 0 is 1 BC, as in ISO 8601); exactly four in forms without separators and
 *              with a week. Years of two or three digits are refused.
 *   time       04:05, 4:05, 04:05:06, T04:05; T0405, T040506 and after a date 0405, 040506 (digits
 *              alone look like a count and are refused); T04. A fraction of the second follows a
 *              point or a comma; more than nine digits must be zeros. AM or PM may follow. 24:00 is
 *              the end of the day, in a timestamp only. Second 60 is refused: no Arrow type has leap
 *              seconds.
 *   zone       Z, UTC, GMT, UT, zulu; +02, +2, +0200, +200, +02:00, +2:00, +02:00:00, all below 24
 *              hours. Names of zones are refused: what they stand for changes with the zone database.
 *   era        AD or BC, of a date of unsigned year, month and day
 *
 * Refused on purpose: 1/8/1999 (depends on a setting), 990108, now, today, epoch, infinity.
 */
export function parseDateTime(text: string): DateTimeText | undefined {
  let rest = text.trim();
  if (rest.length > MOST_CHARACTERS) return undefined;
  const era = /[CD]/i.test(rest.slice(-1)) ? /\s(AD|BC)$/i.exec(rest) : null;
  if (era !== null) rest = rest.slice(0, era.index).trimEnd();
  const date = readDate(rest, era === null ? undefined : /BC/i.test(era[1] ?? ''));
  if (date === undefined) return undefined;
  const { days } = date;
  if (date.length === rest.length) return { days, nanos: undefined, offset: undefined };
  const separated = /^(?:\s*T\s*|\s+)/i.exec(rest.slice(date.length))?.[0];
  if (separated === undefined) return undefined;
  rest = rest.slice(date.length + separated.length);
  const time = readTime(rest, separated.trim() !== '', true);
  if (time === undefined) return undefined;
  const { nanos } = time;
  const zone = rest.slice(time.length).trimStart();
  if (zone === '') return { days, nanos, offset: undefined };
  const offset = readZone(zone);
  return offset === undefined ? undefined : { days, nanos, offset };
}

/** Nanoseconds since midnight, before 24:00; undefined for other text and for one that has a zone. */
export function parseTimeOfDay(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed.length > MOST_CHARACTERS) return undefined;
  const designated = /^T/i.test(trimmed);
  const written = designated ? trimmed.slice(1) : trimmed;
  const time = readTime(written, designated, designated);
  return time?.length === written.length && time.nanos < NANOS_OF_DAY ? time.nanos : undefined;
}

interface Found {
  /** Characters of the text that it took. */
  readonly length: number;
}

type DaysOf = (groups: Groups, bc: Era) => number | undefined;

const yearMonthDay: DaysOf = ([, y, m, d], bc) => civil(y, Number(m), d, bc);
const yearDay: DaysOf = ([, y, d], bc) =>
  bc === undefined ? ordinal(Number(y), Number(d)) : undefined;
const yearWeekDay: DaysOf = ([, y, w, d], bc) =>
  bc === undefined ? isoWeekDate(Number(y), Number(w), Number(d)) : undefined;

/** A text has the first of these forms that it begins with. */
const DATES: readonly (readonly [RegExp, DaysOf])[] = [
  [/^([+-]?\d{4,7})-(\d{1,2})-(\d{1,2})(?!\d)/, yearMonthDay],
  [/^(\d{4})(\d\d)(\d\d)(?!\d)/, yearMonthDay],
  [/^([+-]?\d{4,7})[-.](\d{3})(?!\d)/, yearDay],
  [/^(\d{4})(\d{3})(?!\d)/, yearDay],
  [/^(\d{4})-W(\d\d)-(\d)(?!\d)/i, yearWeekDay],
  [/^(\d{4})W(\d\d)(\d)(?!\d)/i, yearWeekDay],
  [/^J(\d{1,9})(?!\d)/i, ([, n], bc) => (bc === undefined ? Number(n) - JULIAN_EPOCH : undefined)],
  [
    /^(\d{4,7})[- ]([a-z]{3,9})[- ](\d{1,2})(?!\d)/i,
    ([, y, m, d], bc) => civil(y, month(m), d, bc),
  ],
  [
    /^(\d{1,2})[- ]([a-z]{3,9})(?:[- ]|, ?)(\d{4,7})(?!\d)/i,
    ([, d, m, y], bc) => civil(y, month(m), d, bc),
  ],
  [
    /^([a-z]{3,9})[- ](\d{1,2})(?:[- ]|, ?)(\d{4,7})(?!\d)/i,
    ([, m, d, y], bc) => civil(y, month(m), d, bc),
  ],
];

/** Whether years are BC; undefined where the text does not say. */
type Era = boolean | undefined;

function readDate(text: string, bc: Era): (Found & { readonly days: number }) | undefined {
  for (const [form, daysOf] of DATES) {
    const found = form.exec(text);
    if (found === null) continue;
    const days = daysOf(found, bc);
    return days === undefined ? undefined : { days, length: found[0].length };
  }
  return undefined;
}

/** The year as ISO 8601 counts it, where 1 BC is 0; undefined for a sign or a year 0 with an era. */
function yearOf(text: string | undefined, bc: Era): number | undefined {
  const year = Number(text);
  if (bc === undefined) return year;
  if (!(year > 0) || text?.startsWith('+')) return undefined;
  return bc ? 1 - year : year;
}

function civil(y: string | undefined, m: number, d: string | undefined, bc: Era) {
  const [year, day] = [yearOf(y, bc), Number(d)];
  if (year === undefined || !(m >= 1 && m <= 12)) return undefined;
  return day >= 1 && day <= daysInMonth(year, m) ? daysFromCivil(year, m, day) : undefined;
}

function ordinal(year: number, day: number): number | undefined {
  if (day < 1 || day > 337 + daysInMonth(year, 2)) return undefined;
  return daysFromCivil(year, 1, 1) + day - 1;
}

/** Week 1 is the one that holds January 4th; the last one ends where the next year's first begins. */
function isoWeekDate(year: number, week: number, day: number): number | undefined {
  if (week < 1 || day < 1 || day > 7) return undefined;
  const monday = (of: number): number => {
    const fourth = daysFromCivil(of, 1, 4);
    return fourth - isoWeekday(fourth) + 1;
  };
  const days = monday(year) + (week - 1) * 7;
  return days < monday(year + 1) ? days + day - 1 : undefined;
}

export const MONTHS: readonly string[] = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september'],
  ...['october', 'november', 'december'],
];

/** 1 to 12 for a name, its first three letters, or Sept; 0 for anything else. */
function month(name = ''): number {
  const word = name.toLowerCase();
  if (word === 'sept') return 9;
  return 1 + MONTHS.findIndex((full) => full === word || full.slice(0, 3) === word);
}

const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?![\d:])/;
const COMPACT = /^(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?(?![\d:])/;
const HOUR = /^(\d\d)(?![\d:])/;

/** `hourAlone` and `compact` tell whether 04 and 0405 are taken. */
function readTime(
  text: string,
  hourAlone: boolean,
  compact: boolean,
): (Found & { readonly nanos: number }) | undefined {
  const found =
    CLOCK.exec(text) ??
    (compact ? COMPACT.exec(text) : null) ??
    (hourAlone ? HOUR.exec(text) : null);
  if (found === null) return undefined;
  const [{ length }, hours, minute = '0', second = '0', fraction = ''] = found;
  // PostgreSQL reads `pm-08` as the name of a zone: an offset stands apart.
  const half = length < text.length ? /^\s*([AP])M(?=\s|$)/i.exec(text.slice(length)) : null;
  let hour = Number(hours);
  if (half !== null) {
    if (hour > 12) return undefined;
    hour = (hour % 12) + (/P/i.test(half[1] ?? '') ? 12 : 0);
  }
  if (hour > 24 || Number(minute) > 59 || Number(second) > 59) return undefined;
  // What is finer than a nanosecond would be lost.
  if (fraction.length > 9 && /[^0]/.test(fraction.slice(9))) return undefined;
  const seconds = hour * 3600 + Number(minute) * 60 + Number(second);
  const nanos = seconds * 1e9 + Number(fraction.slice(0, 9).padEnd(9, '0'));
  if (nanos > NANOS_OF_DAY) return undefined;
  return { nanos, length: length + (half?.[0].length ?? 0) };
}

const OFFSET = /^([+-])\s*(\d{1,2})(?::(\d\d)(?::(\d\d))?)?$|^([+-])\s*(\d{1,2})(\d\d)$/;

/** Seconds east of UTC. */
function readZone(zone: string): number | undefined {
  if (/^(?:z|utc|gmt|ut|zulu)$/i.test(zone)) return 0;
  const found = OFFSET.exec(zone);
  if (found === null) return undefined;
  const hours = Number(found[2] ?? found[6]);
  const [minutes, seconds] = [Number(found[3] ?? found[7] ?? 0), Number(found[4] ?? 0)];
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const size = hours * 3600 + minutes * 60 + seconds;
  return (found[1] ?? found[5]) === '-' ? -size || 0 : size;
}
