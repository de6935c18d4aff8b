/**
 * `parseInterval` parses an interval from text such as `1 day 01:02:03`. The result has months,
 * days and nanoseconds, three counts that do not convert into each other. It returns null for other
 * text, and for counts out of range. The same holds for a fraction that leaves part of a month, day
 * or nanosecond.
 */
import { parseExact } from './decimals.ts';

export interface IntervalValue {
  readonly months: number;
  readonly days: number;
  readonly nanos: bigint;
}

const SECOND = 1_000_000_000n;
const PART_UNITS = new Map<string, readonly ['months' | 'days' | 'nanos', bigint]>(
  Object.entries({
    century: ['months', 1200n],
    decade: ['months', 120n],
    year: ['months', 12n],
    month: ['months', 1n],
    mon: ['months', 1n],
    week: ['days', 7n],
    day: ['days', 1n],
    hour: ['nanos', 3600n * SECOND],
    minute: ['nanos', 60n * SECOND],
    min: ['nanos', 60n * SECOND],
    second: ['nanos', SECOND],
    sec: ['nanos', SECOND],
    millisecond: ['nanos', 1_000_000n],
    microsecond: ['nanos', 1_000n],
    nanosecond: ['nanos', 1n],
  } as const),
);

/** `1 day`, `-2 months 3.5 hours`, `1 day 01:02:03`. A fraction of a month or a day is refused. */
export function parseInterval(text: string): IntervalValue | null {
  const total = { months: 0n, days: 0n, nanos: 0n };
  let rest = text.trim().toLowerCase();
  if (rest === '') return null;
  while (rest !== '') {
    const clock = /^([+-]?)(\d{1,9}):([0-5]\d)(?::([0-5]\d|60)(?:\.(\d{1,9}))?)?(?=\s|$)/.exec(
      rest,
    );
    const part = /^([+-]?[\d.]+)\s*([a-z]+)(?=[\s+-]|$)/.exec(rest);
    if (clock !== null) {
      const seconds =
        BigInt(clock[2] ?? 0) * 3600n + BigInt(clock[3] ?? 0) * 60n + BigInt(clock[4] ?? 0);
      const nanos = seconds * SECOND + BigInt((clock[5] ?? '').padEnd(9, '0'));
      total.nanos += clock[1] === '-' ? -nanos : nanos;
    } else if (part !== null) {
      const word = part[2] ?? '';
      const unit =
        PART_UNITS.get(word) ??
        PART_UNITS.get(word.replace(/s$/, '')) ??
        PART_UNITS.get(word.replace(/ies$/, 'y'));
      const amount = parseExact(part[1] ?? '');
      if (unit === undefined || amount === null) return null;
      const scaled = amount.unscaled * unit[1];
      const divisor = 10n ** BigInt(amount.scale);
      if (scaled % divisor !== 0n) return null;
      total[unit[0]] += scaled / divisor;
    } else return null;
    rest = rest.slice((clock ?? part)?.[0].length ?? rest.length).trimStart();
  }
  const limit = 2n ** 31n;
  const fits = [total.months, total.days].every((value) => value >= -limit && value < limit);
  if (!fits || BigInt.asIntN(64, total.nanos) !== total.nanos) return null;
  return { months: Number(total.months), days: Number(total.days), nanos: total.nanos };
}
