/** UPDATE of nested columns: an item that does not fit is refused, as the same value alone is. */
import { describe, expect, test } from 'vitest';
import {
  type DataType,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  IntervalDayTime,
  IntervalMonthDayNano,
  IntervalYearMonth,
  LargeUtf8,
  List,
  Schema,
  Struct,
  TimestampMillisecond,
  TimestampSecond,
  Utf8,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

const list = (type: DataType): List => new List(new Field('item', type, true));
const pair = (type: DataType): FixedSizeList => new FixedSizeList(2, new Field('item', type, true));
const struct = (name: string, type: DataType): Struct => new Struct([new Field(name, type, true)]);
const day = new Date(0);

/** Name, type and the value of the first row; the second row is null throughout. */
const COLUMNS: readonly (readonly [string, DataType, unknown])[] = [
  ['n', new Int32(), 70_000],
  ['big', new Int64(), 5_000_000_000n],
  ['text', new Utf8(), 'q'],
  ['longs', list(new Int64()), [1n, 5_000_000_000n]],
  ['ints', list(new Int32()), [1]],
  ['flags', list(new Int32()), [1, null]],
  ['doubles', list(new Float64()), [1.5, 0.1]],
  ['floats', list(new Float32()), [1]],
  ['halves', list(new Float64()), [0.5, null]],
  ['long_pair', pair(new Int64()), [1n, 5_000_000_000n]],
  ['int_pair', pair(new Int32()), [1, 2]],
  ['texts', list(new Utf8()), ['1', 'x']],
  ['decimals', list(new Decimal(1, 10, 128)), null],
  ['tags', list(new Dictionary(new Utf8(), new Int32())), ['a']],
  ['deep_longs', list(list(new Int64())), [[1n], [7n, 5_000_000_000n]]],
  ['deep_ints', list(list(new Int32())), [[1]]],
  ['millis', list(new TimestampMillisecond()), [new Date(1_700_000_000_123)]],
  ['seconds', list(new TimestampSecond()), [day]],
  ['narrow', struct('a', new Int16()), { a: 1 }],
  ['wide', struct('a', new Int32()), { a: 70_000 }],
  ['other', struct('b', new Int16()), { b: 2 }],
  ['narrows', list(struct('a', new Int16())), [{ a: 1 }]],
  ['wides', list(struct('a', new Int32())), [{ a: 70_000 }]],
  ['others', list(struct('b', new Int16())), [{ b: 1 }]],
  [
    'twos',
    list(new Struct([...struct('a', new Int16()).children, ...struct('b', new Int16()).children])),
    [{ a: 1, b: 2 }],
  ],
  ['named', list(struct('a', new Utf8())), [{ a: 'x' }]],
  ['large_named', list(struct('a', new LargeUtf8())), [{ a: 'y' }]],
  ['months', new IntervalYearMonth(), null],
  ['days', new IntervalDayTime(), null],
  ['nanos', new IntervalMonthDayNano(), null],
];

const t = ['t'];
const schema = new Schema(COLUMNS.map(([name, type]) => new Field(name, type, true)));

async function setUp() {
  const catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  const first = Object.fromEntries(COLUMNS.map(([name, , value]) => [name, value]));
  const rows = [first, Object.fromEntries(COLUMNS.map(([name]) => [name, null]))];
  await catalog.createTable({ id: t }, await toRecordBatchStream(rows, { schema }));
  const update = (column: string, sql: string) =>
    catalog.updateTable({ id: t, updates: [[column, sql]] });
  const values = async (column: string): Promise<unknown[]> =>
    (await collectRows(await catalog.queryTable({ id: t, k: 10 }))).map((row) => row[column]);
  return { update, values };
}

const misfit = (value: string, type: string): string => `${value} of a list) does not fit ${type}`;

describe('is refused, and nothing is changed', () => {
  test.each([
    ['ints', 'longs', misfit('5000000000 (item 2', 'int32')],
    ['ints', 'doubles', misfit('1.5 (item 1', 'int32')],
    ['floats', 'doubles', misfit('0.1 (item 2', 'float32')],
    ['int_pair', 'long_pair', misfit('5000000000 (item 2', 'int32')],
    ['int_pair', 'longs', misfit('5000000000 (item 2', 'int32')],
    ['int_pair', 'ints', 'A value of 1 items does not fit list<int32>, which has 2'],
    ['deep_ints', 'deep_longs', misfit('5000000000 (item 2', 'int32')],
    ['deep_ints', '[ints, longs]', misfit('5000000000 (item 2', 'int32')],
    ['ints', '[1, big]', '5000000000 does not fit int32; a CAST says that loss is meant'],
    ['ints', "make_array('x')", 'is no int32'],
    ['ints', 'texts', 'column texts (list<utf8>) is no list<int32>'],
    ['millis', 'texts', 'is no list<timestamp(ms)>'],
    ['texts', 'ints', 'is no list<utf8>'],
    // Constants are computed before any row, and columns with the rows: both are refused.
    ['decimals', "string_split('1.55,2', ',')", 'is no list<decimal(10, 1)>'],
    ['decimals', 'string_split(text, text)', 'is no list<decimal(10, 1)>'],
    ['ints', "string_split('1,2', ',')", 'is no list<int32>'],
    ['decimals', "['1.55']", 'without loss'],
    ['ints', 'make_array(true)', 'is no int32'],
    ['deep_ints', 'ints', 'is no list<list<int32>>'],
    ['seconds', 'millis', misfit('2023-11-14T22:13:20.123 (item 1', 'timestamp(s)')],
    ['narrows', 'wides', 'column wides (list<struct<a: int32>>) is no list<struct<a: int16>>'],
    ['narrows', 'others', 'is no list<struct<a: int16>>'],
    ['narrows', 'twos', 'is no list<struct<a: int16>>'],
    ['twos', 'narrows', 'is no list<struct<a: int16, b: int16>>'],
    ['narrows', 'make_array(wide)', 'is no struct<a: int16>'],
    ['narrow', 'wide', 'column wide (struct<a: int32>) is no struct<a: int16>'],
    ['narrow', 'other', 'column other (struct<b: int16>) is no struct<a: int16>'],
    ['narrow', 'CASE WHEN n = 1 THEN narrow ELSE wide END', 'have no type in common'],
    ['narrow', 'coalesce(NULL, narrow, other)', 'have no type in common'],
    ['narrow.a', 'n', '70000 does not fit int16'],
    ['months', "INTERVAL '1 day'", 'does not fit interval(year_month)'],
    ['months', "INTERVAL '1 month 1 second'", 'does not fit interval(year_month)'],
    ['days', "INTERVAL '1 month'", 'does not fit interval(day_time)'],
    ['days', "INTERVAL '0.0001 seconds'", 'does not fit interval(day_time)'],
    ['days', "INTERVAL '2147483648 milliseconds'", 'does not fit interval(day_time)'],
  ])('%s = %s', async (column, sql, message) => {
    const { update, values } = await setUp();
    const before = await values(column);
    await expect(update(column, sql)).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(message),
    });
    expect(await values(column)).toEqual(before);
  });
});

test('no CAST is advised for an item, as there are none of whole lists', async () => {
  const { update } = await setUp();
  await expect(update('ints', 'longs')).rejects.toThrow(/does not fit int32$/);
});

describe('is converted', () => {
  test.each([
    ['longs', 'flags', [[1n, null], null]],
    ['floats', 'halves', [[0.5, null], null]],
    ['ints', "make_array('7')", [[7], [7]]],
    ['floats', '[0.1]', [[Math.fround(0.1)], [Math.fround(0.1)]]],
    ['floats', 'make_array(0.1)', [[Math.fround(0.1)], [Math.fround(0.1)]]],
    [
      'floats',
      'make_list(0.1, NULL)',
      [
        [Math.fround(0.1), null],
        [Math.fround(0.1), null],
      ],
    ],
    ['floats', 'make_array()', [[], []]],
    ['millis', "make_array('1970-01-01')", [[day], [day]]],
    ['millis', 'seconds', [[day], null]],
    ['tags', 'texts', [['1', 'x'], null]],
    ['tags', '[text]', [['q'], [null]]],
    ['named', 'large_named', [[{ a: 'y' }], null]],
    ['deep_longs', '[ints]', [[[1n]], [null]]],
    ['narrow', 'coalesce(narrow, NULL)', [{ a: 1 }, null]],
  ])('%s = %s', async (column, sql, expected) => {
    const { update, values } = await setUp();
    await update(column, sql);
    expect(await values(column)).toEqual(expected);
  });

  test.each([
    ['months', "INTERVAL '14 months'", { months: 14 }],
    ['days', "INTERVAL '3 days 5 milliseconds'", { days: 3, milliseconds: 5 }],
    [
      'nanos',
      "INTERVAL '1 month 1 day -3 seconds'",
      { months: 1, days: 1, nanoseconds: -3_000_000_000n },
    ],
  ])('%s = %s', async (column, sql, stored) => {
    const { update, values } = await setUp();
    await update(column, sql);
    expect(await values(column)).toEqual([stored, stored]);
  });
});
