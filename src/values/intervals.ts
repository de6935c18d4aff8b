/**
 * `parseInterval` parses an interval from text such as `1 day 01:02:03` or `P1DT2H`. The result has
 * months, days and nanoseconds, three counts that do not convert into each other. It returns null
 * for other text, for counts out of range, and for fractions that leave part of a nanosecond or, in
 * years and longer units, part of a month.
 */
import { NANOS_PER_CLOCK_UNIT as CLOCK, NANOS_PER_DAY } from './calendar.ts';
import { type ExactNumber, parseExact } from './decimals.ts';

export interface IntervalValue {
  readonly months: number;
  readonly days: number;
  readonly nanos: bigint;
}

const PART_UNITS = new Map<string, readonly ['months' | 'days' | 'nanos', bigint]>(
  Object.entries({
    century: ['months', 1200n],
    decade: ['months', 120n],
    year: ['months', 12n],
    month: ['months', 1n],
    mon: ['months', 1n],
    week: ['days', 7n],
    day: ['days', 1n],
    hour: ['nanos', CLOCK.hour],
    minute: ['nanos', CLOCK.minute],
    min: ['nanos', CLOCK.minute],
    second: ['nanos', CLOCK.second],
    sec: ['nanos', CLOCK.second],
    millisecond: ['nanos', CLOCK.millisecond],
    microsecond: ['nanos', CLOCK.microsecond],
    nanosecond: ['nanos', 1n],
  } as const),
);

interface Total {
  months: bigint;
  days: bigint;
  nanos: bigint;
}

/** What a fraction of a month or a day is counted in, as in PostgreSQL. */
const DAYS_PER_MONTH = 30n;

/** Adds a number of units; false where a part of a nanosecond, or of a month of longer units, is left. */
function add(
  total: Total,
  [kind, times]: readonly [keyof Total, bigint],
  { unscaled, scale }: ExactNumber,
): boolean {
  const divisor = 10n ** BigInt(scale);
  let [scaled, at] = [unscaled * times, kind];
  total[at] += scaled / divisor;
  let rest = scaled % divisor;
  if (at === 'months' && times !== 1n) return rest === 0n;
  if (at === 'months') {
    [scaled, at] = [rest * DAYS_PER_MONTH, 'days'];
    total.days += scaled / divisor;
    rest = scaled % divisor;
  }
  if (at === 'days') {
    scaled = rest * NANOS_PER_DAY;
    total.nanos += scaled / divisor;
    rest = scaled % divisor;
  }
  return rest === 0n;
}

const ISO_NUMBER = '([+-]?\\d{1,18}(?:\\.\\d{1,18})?)';
const ISO_UNITS = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'] as const;
const isoParts = (letters: string): string =>
  [...letters].map((letter) => `(?:${ISO_NUMBER}${letter})?`).join('');
/** ISO 8601: `P1Y2M3W4DT5H6M7.5S`, in small letters. */
const ISO = new RegExp(`^p${isoParts('ymwd')}(?:t(?=[+-]?\\d)${isoParts('hms')})?$`);

/** A duration of ISO 8601 as the numbers and units that it stands for. */
function ofIso(text: string): string | null {
  const [, ...numbers] = ISO.exec(text) ?? [];
  const parts = numbers.flatMap((number, at) =>
    number === undefined ? [] : [`${number} ${ISO_UNITS[at]}`],
  );
  return parts.length === 0 ? null : parts.join(' ');
}

/**
 * `1 day`, `-2 months 3.5 hours`, `1 day 01:02:03`, `P1DT2H`. A fraction of a month is counted in days
 * of 24 hours, of which 30 are a month.
 */
export function parseInterval(text: string): IntervalValue | null {
  const total: Total = { months: 0n, days: 0n, nanos: 0n };
  let rest = text.trim().toLowerCase();
  if (rest.startsWith('p')) rest = ofIso(rest) ?? rest;
  if (rest === '') return null;
  while (rest !== '') {
    const clock = /^([+-]?)(\d{1,9}):([0-5]\d)(?::([0-5]\d|60)(?:\.(\d{1,9}))?)?(?=\s|$)/.exec(
      rest,
    );
    const part = /^([+-]?[\d.]+)\s*([a-z]+)(?=[\s+-]|$)/.exec(rest);
    if (clock !== null) {
      const seconds =
        BigInt(clock[2] ?? 0) * 3600n + BigInt(clock[3] ?? 0) * 60n + BigInt(clock[4] ?? 0);
      const nanos = seconds * CLOCK.second + BigInt((clock[5] ?? '').padEnd(9, '0'));
      total.nanos += clock[1] === '-' ? -nanos : nanos;
    } else if (part !== null) {
      const word = part[2] ?? '';
      const unit =
        PART_UNITS.get(word) ??
        PART_UNITS.get(word.replace(/s$/, '')) ??
        PART_UNITS.get(word.replace(/ies$/, 'y'));
      const amount = parseExact(part[1] ?? '');
      if (unit === undefined || amount === null) return null;
      if (!add(total, unit, amount)) return null;
    } else return null;
    rest = rest.slice((clock ?? part)?.[0].length ?? rest.length).trimStart();
  }
  const limit = 2n ** 31n;
  const fits = [total.months, total.days].every((value) => value >= -limit && value < limit);
  if (!fits || BigInt.asIntN(64, total.nanos) !== total.nanos) return null;
  return { months: Number(total.months), days: Number(total.days), nanos: total.nanos };
}
