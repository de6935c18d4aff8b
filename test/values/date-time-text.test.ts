/** One grammar of dates and times: every text means the same as data, in SQL and to other readers. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Data,
  type DataType,
  DateDay,
  Field,
  Schema,
  TimeMicrosecond,
  TimestampNanosecond,
  Utf8,
} from '../../src/arrow/apache.ts';
import { buildBatch, buildContext } from '../../src/sdk/build/build-column.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { civilFromDays, formatTimeOfDay } from '../../src/values/calendar.ts';
import {
  type DateTimeText,
  parseDateTime,
  parseTimeOfDay,
} from '../../src/values/date-time-text.ts';
import { instantNanosOf } from '../../src/values/zones.ts';

const DAY = 86_400_000_000_000n;

const wallNanosOf = (read: DateTimeText): bigint =>
  instantNanosOf({ ...read, offset: undefined }, null);

const two = (value: number): string => String(value).padStart(2, '0');

/** As PostgreSQL writes a day, without and with an era. */
function dayText(days: number): readonly [text: string, era: string] {
  const { year, month, day } = civilFromDays(days);
  const shown = String(year < 1 ? 1 - year : year).padStart(4, '0');
  return [`${shown}-${two(month)}-${two(day)}`, year < 1 ? ' BC' : ''];
}

const clockText = (nanos: bigint): string => {
  const text = formatTimeOfDay(nanos);
  return text.includes('.') ? text.replace(/0+$/, '') : text;
};

function asPostgres(kind: string, text: string): string | null {
  if (kind === 'time') {
    const nanos = parseTimeOfDay(text);
    return nanos === undefined ? null : clockText(BigInt(nanos));
  }
  const read = parseDateTime(text);
  if (read === undefined) return null;
  if (kind === 'date') return dayText(read.days).join('');
  const zoned = kind === 'timestamptz';
  const nanos = wallNanosOf(read) - (zoned ? BigInt(read.offset ?? 0) * 1_000_000_000n : 0n);
  const within = ((nanos % DAY) + DAY) % DAY;
  const [day, era] = dayText(Number((nanos - within) / DAY));
  return `${day} ${clockText(within)}${zoned ? '+00' : ''}${era}`;
}

/** Where this grammar is not PostgreSQL's, and what it makes of these texts. */
const OTHERWISE = new Map<string, string | null>([
  // ISO weeks, which PostgreSQL does not read.
  ['date 2020-W01-1', '2019-12-30'],
  // ISO's hour alone is taken after a T only.
  ['timestamptz 2020-01-01 10:00+2:3:4:5', null],
]);

const recorded = JSON.parse(
  readFileSync(new URL('../../fixtures/dates/postgresql-15.json', import.meta.url), 'utf8'),
) as readonly (readonly [kind: string, text: string, value: string | null])[];

describe('the literals that PostgreSQL documents', () => {
  test.each(recorded)('%s %s', (kind, text, value) => {
    const otherwise = OTHERWISE.get(`${kind} ${text}`);
    expect(asPostgres(kind, text)).toBe(otherwise === undefined ? value : otherwise);
  });
});

/** Of ISO 8601 and of this grammar alone; none of these is PostgreSQL's. */
const OWN: readonly (readonly [kind: string, text: string, value: string | null])[] = [
  ['time', '10:00:00,5', '10:00:00.5'],
  ['timestamp', '2020-01-01T04:05:06,5', '2020-01-01 04:05:06.5'],
  ['timestamp', '2020-01-01 00:00:00.000000001', '2020-01-01 00:00:00.000000001'],
  ['timestamp', '2020-01-01 00:00:00.00000000100', '2020-01-01 00:00:00.000000001'],
  ['timestamp', '2020-01-01 00:00:00.0000000001', null],
  ['timestamp', '2020-01-01T10', '2020-01-01 10:00:00'],
  ['timestamptz', '2020-01-01T10+02', '2020-01-01 08:00:00+00'],
  ['timestamp', '2020-01-01 10', null],
  ['time', 'T10', '10:00:00'],
  ['date', '2020005', '2020-01-05'],
  // PostgreSQL goes on into the next year.
  ['date', '2019-366', null],
  ['date', '2020W011', '2019-12-30'],
  ['date', '2026-W53-7', '2027-01-03'],
  ['date', '2025-W53-1', null],
  ['date', '2020-W00-1', null],
  ['date', '2020-W01-8', null],
  ['date', '+002020-01-05', '2020-01-05'],
  ['date', '-000043-03-15', '0044-03-15 BC'],
  ['date', '-0043-03-15', '0044-03-15 BC'],
  ['date', '0000-02-29', '0001-02-29 BC'],
  ['date', '0005-02-29 BC', '0005-02-29 BC'],
  ['date', '0004-02-29 BC', null],
  ['date', '-0043-03-15 BC', null],
  ['date', '+2020-03-15 AD', null],
  ['date', '2020-031 AD', null],
  ['date', 'J2451187 AD', null],
  ['date', '999-01-01', null],
  ['date', '12345678-01-01', null],
  ['date', '2020-01-01Z', null],
  // Times of day: before 24:00 and without a zone. Digits alone look like a count.
  ['time', '24:00:00', null],
  ['time', '04:05:06+02', null],
  ['time', '040506', null],
  ['time', '0405', null],
  ['time', '23:59:60', null],
  ['timestamp', '2016-12-31 23:59:60', null],
  ['timestamptz', '2020-01-01 10:00+23:59', '2019-12-31 10:01:00+00'],
  ['timestamptz', '2020-01-01 10:00+24', null],
  // What depends on a setting, on the present or on the zone database.
  ...['1/8/1999', '990108', 'today', 'now', 'epoch', 'infinity', 'yesterday', '99-Jan-08'].map(
    (text) => ['date', text, null] as const,
  ),
  ['timestamptz', '2020-01-01 10:00 PST', null],
  ['timestamptz', '2020-01-01 10:00 Europe/Berlin', null],
  ['timestamptz', '2020-01-01 10:00pm-08', null],
  ['date', '', null],
  ['time', '', null],
];

test('long texts are refused by their length', () => {
  expect(parseDateTime(`2020-01-01 00:00:00.${'0'.repeat(79)}`)?.nanos).toBe(0);
  expect(parseDateTime(`2020-01-01 00:00:00.${'0'.repeat(81)}`)).toBeUndefined();
  expect(parseTimeOfDay(`00:00:00.${'0'.repeat(1_000_000)}`)).toBeUndefined();
});

test.each(OWN)('%s %s', (kind, text, value) => expect(asPostgres(kind, text)).toBe(value));

const pick = <Item>(seed: number, items: readonly Item[]): Item =>
  items[seed % items.length] as Item;

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** A moment and one way to write it, drawn apart from the parser. */
const MOMENTS = fc
  .record({
    // Within what JavaScript's own dates can tell.
    ms: fc.oneof(
      fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
      fc.integer({ min: -8_600_000_000_000_000, max: 8_600_000_000_000_000 }),
    ),
    digits: fc.integer({ min: 0, max: 9 }),
    finer: fc.integer({ min: 0, max: 999_999 }),
    minutes: fc.option(fc.integer({ min: -1439, max: 1439 })),
    form: fc.nat({ max: 1000 }),
  })
  .map(({ ms, digits, finer, minutes, form }) => {
    const date = new Date(ms);
    const year = date.getUTCFullYear();
    const [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()];
    const plain = year >= 0 && year <= 9999;
    const signed = `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;
    const y = plain ? String(year).padStart(4, '0') : signed;
    const dayOfYear =
      Math.round((Date.UTC(2000, month - 1, day) - Date.UTC(2000, 0, 1)) / 864e5) + 1;
    const leap = new Date(new Date(0).setUTCFullYear(year, 1, 29)).getUTCMonth() === 1;
    const ordinal = String(dayOfYear - (leap || month < 3 ? 0 : 1)).padStart(3, '0');
    const dates = [`${y}-${two(month)}-${two(day)}`, `${y}-${month}-${day}`, `${y}-${ordinal}`];
    if (plain) dates.push(`${y}${two(month)}${two(day)}`, `${y}${ordinal}`);
    if (plain) dates.push(`${y}-${MONTHS[month - 1]}-${day}`, `${day} ${MONTHS[month - 1]} ${y}`);
    const unfinished = String(date.getUTCMilliseconds() * 1_000_000 + finer).padStart(9, '0');
    const kept = unfinished.slice(0, digits);
    const fraction = digits === 0 ? '' : `${pick(form, ['.', ','])}${kept}`;
    const [h, m, s] = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
    const times = [`${two(h)}:${two(m)}:${two(s)}`, `${h}:${two(m)}:${two(s)}`];
    times.push(`${two(h)}${two(m)}${two(s)}`);
    const size = Math.abs(minutes ?? 0);
    const sign = (minutes ?? 0) < 0 ? '-' : '+';
    const [hh, mm] = [Math.floor(size / 60), size % 60];
    const zones = [`${two(hh)}:${two(mm)}`, `${two(hh)}${two(mm)}`, `${hh}:${two(mm)}`];
    const zone = minutes === null ? '' : `${sign}${pick(form, zones)}`;
    const day64 = BigInt(Math.floor(ms / 86_400_000));
    const clock = BigInt(h * 3600 + m * 60 + s) * 1_000_000_000n + BigInt(kept.padEnd(9, '0'));
    return {
      date: pick(form, dates),
      time: `${pick(form, times)}${fraction}`,
      text: `${pick(form, dates)}${pick(form, ['T', ' ', 't', '  '])}${pick(form, times)}${fraction}${zone}`,
      days: Number(day64),
      clock,
      wall: day64 * DAY + clock,
      offset: minutes === null ? undefined : minutes * 60,
    };
  });

test('any moment, written in any form, is read exactly', () => {
  fc.assert(
    fc.property(MOMENTS, ({ date, time, text, days, clock, wall, offset }) => {
      expect(parseDateTime(date)).toEqual({ days, nanos: undefined, offset: undefined });
      const read = parseDateTime(text);
      expect([read && wallNanosOf(read), read?.offset]).toEqual([wall, offset]);
      const alone = time.includes(':') ? time : `T${time}`;
      expect(parseTimeOfDay(alone)).toBe(Number(clock));
    }),
    { numRuns: 2000 },
  );
});

/** Counts of the type's unit as data has them, null where the text is refused. */
function asData(texts: readonly string[], type: DataType): (bigint | null)[] {
  const schema = new Schema([new Field('c', type, true)]);
  return texts.map((c) => {
    try {
      const values = buildBatch(schema, [{ c }], 0, buildContext()).data.children[0]?.values;
      return BigInt((values as BigInt64Array)[0] as bigint);
    } catch (error) {
      expect(error).toMatchObject({ code: 'TableSchemaValidation' });
      return null;
    }
  });
}

/** The same of SQL. */
async function asSql(texts: readonly string[], sql: string): Promise<(bigint | null)[]> {
  const schema = new Schema([new Field('c', new Utf8(), true)]);
  const compiled = await compileExpression(`TRY_CAST(c AS ${sql})`, schema);
  const rows = texts.map((c) => ({ c }));
  const found = compiled.evaluate(buildBatch(schema, rows, 0, buildContext()));
  const { values } = found.data[0] as Data;
  return texts.map((_, at) =>
    found.isValid(at) ? BigInt((values as BigInt64Array)[at] as bigint) : null,
  );
}

test('a text is the same time, timestamp and day as data and in SQL', async () => {
  const texts = fc.sample(MOMENTS, { numRuns: 2000, seed: 15 });
  const chosen = [...recorded, ...OWN].map(([, text]) => text);
  const all = [...chosen, ...texts.flatMap(({ date, time, text }) => [date, time, text])];
  const timestamps = await asSql(all, 'timestamptz(9)');
  expect(asData(all, new TimestampNanosecond('UTC'))).toEqual(timestamps);
  expect(timestamps.filter((value) => value !== null).length).toBeGreaterThan(500);
  // SQL's times end at microseconds.
  const times = await asSql(all, 'time');
  expect(asData(all, new TimeMicrosecond())).toEqual(times);
  expect(times.filter((value) => value !== null).length).toBeGreaterThan(500);
  // As data, a day is one without a time of day; SQL cuts the time off, as PostgreSQL does.
  const alone = all.filter((text) => parseDateTime(text)?.nanos === undefined);
  expect(asData(alone, new DateDay())).toEqual(await asSql(alone, 'date'));
});

test('the day of a timestamp before 1970 is the one that is written', async () => {
  const texts = ['1969-12-31 12:00', '1969-12-31 23:59:59.999999999', '1600-02-29 00:00:01'];
  expect(await asSql(texts, 'date')).toEqual([-1n, -1n, BigInt(Date.UTC(1600, 1, 29) / 864e5)]);
});

test('what cannot be read is named together with the forms that are', async () => {
  const schema = new Schema([new Field('c', new TimestampNanosecond(), true)]);
  const build = (): unknown => buildBatch(schema, [{ c: '1/8/1999' }], 0, buildContext());
  expect(build).toThrow(/"1\/8\/1999".*text is written 2020-01-31, 2020-01-31T04:05:06\.789Z/);
  await expect(compileExpression("c > '1/8/1999'", schema)).rejects.toThrow(
    /'1\/8\/1999' .* is no timestamp.*, which is written 2020-01-31, .* \(at position 5\)/,
  );
  await expect(compileExpression("date '1/8/1999'", schema)).rejects.toThrow(
    /'1\/8\/1999' does not fit date32, which is written 2020-01-31, 20200131/,
  );
});
