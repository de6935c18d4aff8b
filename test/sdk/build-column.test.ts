import { describe, expect, it } from 'vitest';
import {
  Binary,
  BinaryView,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  DenseUnion,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  IntervalDayTime,
  IntervalMonthDayNano,
  IntervalYearMonth,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  type RecordBatch,
  Schema,
  SparseUnion,
  Struct,
  Table,
  TimeMicrosecond,
  TimeMillisecond,
  TimeNanosecond,
  TimeSecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  TimeUnit,
  tableFromIPC,
  tableToIPC,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  Utf8View,
} from '../../src/arrow/apache.ts';
import { DirspaceError, isDirspaceError } from '../../src/errors.ts';
import { buildBatch, buildContext } from '../../src/sdk/build/build-column.ts';
import { batchRows } from '../../src/sdk/convert/rows.ts';

const field = (type: DataType, nullable = true): Field => new Field('item', type, nullable);
const schemaOf = (type: DataType, nullable = true): Schema =>
  new Schema([new Field('c', type, nullable)]);
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const point = new Struct<Record<string, DataType>>([
  new Field('x', new Int32(), false),
  new Field('y', new Utf8(), true),
]);
const entry = new Struct<Record<string, DataType>>([
  new Field('key', new Utf8()),
  new Field('value', new Int32(), true),
]);
const map = new Map_(new Field('entries', entry, false) as never);
const union = (Union: typeof SparseUnion | typeof DenseUnion): DataType =>
  new Union(
    [0, 5, 7],
    [
      new Field('n', new Float64(), true),
      new Field('i', new Int64(), true),
      new Field('s', new Utf8(), true),
    ],
  );

const build = (type: DataType, values: readonly unknown[], nullable = true): RecordBatch =>
  buildBatch(
    schemaOf(type, nullable),
    values.map((c) => ({ c })),
    0,
    buildContext(),
  );

/** Type, values in, and the values that come back if not the same. */
const ACCEPTED: [string, DataType, unknown[], unknown[]?][] = [
  ['null', new Null(), [null, undefined], [null, null]],
  ['int8', new Int8(), [-128, 127, 5n, '-7', -0], [-128, 127, 5, -7, 0]],
  ['uint8', new Uint8(), [0, 255]],
  ['int16', new Int16(), [-32768, 32767]],
  ['uint16', new Uint16(), [0, 65535]],
  ['int32', new Int32(), [-2147483648, 2147483647]],
  ['uint32', new Uint32(), [0, 4294967295]],
  [
    'int64',
    new Int64(),
    [-(2n ** 63n), 2n ** 63n - 1n, -1, 2 ** 53 - 1, -(2 ** 53) + 1, '9007199254740993', '+4'],
    [-(2n ** 63n), 2n ** 63n - 1n, -1n, 2n ** 53n - 1n, -(2n ** 53n) + 1n, 9007199254740993n, 4n],
  ],
  ['uint64', new Uint64(), [0n, 2n ** 64n - 1n, 2 ** 40], [0n, 2n ** 64n - 1n, 2n ** 40n]],
  ['float16', new Float16(), [0, -0, 1.5, -2, 65504, 2 ** -24, Infinity, -Infinity, NaN]],
  ['float16 rounds to even', new Float16(), [1.0009765625 + 0.00048828125], [1.001953125]],
  [
    'float32',
    new Float32(),
    [1.5, -0, 0.1, NaN, Infinity, 3n],
    [1.5, -0, Math.fround(0.1), NaN, Infinity, 3],
  ],
  [
    'float64',
    new Float64(),
    [0.1, 1e300, NaN, -Infinity, 2n ** 60n, new Date(1e12)],
    [0.1, 1e300, NaN, -Infinity, 2 ** 60, 1e12],
  ],
  ['bool', new Bool(), [true, false, null, true]],
  ['utf8', new Utf8(), ['', 'plain', 'ünï', '日本', '👍🏽', null, '\u0000', '\ufeffx']],
  ['utf8 in plain ASCII', new Utf8(), ['a', '', null, 'bcd']],
  ['large_utf8', new LargeUtf8(), ['a', null, 'é']],
  ['utf8_view', new Utf8View(), ['short', 'long enough to be kept elsewhere', null, '', 'é']],
  [
    'binary',
    new Binary(),
    [bytes(), bytes(1, 2), null, Buffer.from('x'), bytes(9).buffer],
    [bytes(), bytes(1, 2), null, bytes(120), bytes(9)],
  ],
  ['large_binary', new LargeBinary(), [bytes(7), null]],
  ['binary_view', new BinaryView(), [bytes(7), bytes(...Array(20).keys()), null]],
  ['fixed_size_binary', new FixedSizeBinary(2), [bytes(1, 2), null, bytes(3, 4)]],
  [
    'date32',
    new DateDay(),
    [new Date('2024-02-29'), '2024-02-29', '1960-01-02T00:00:00Z', 86_400_000, 3n],
    ['2024-02-29', '2024-02-29', '1960-01-02', '1970-01-02', '1970-01-04'].map((d) => new Date(d)),
  ],
  [
    'date64',
    new DateMillisecond(),
    [new Date(5), -5, '2024-01-01', 7n],
    [new Date(5), new Date(-5), new Date('2024-01-01'), new Date(7)],
  ],
  ['time32(s)', new TimeSecond(), [0, 86399, '01:02:03', 5n], [0, 86399, 3723, 5]],
  ['time32(ms)', new TimeMillisecond(), ['01:02', '00:00:00.5'], [3720000, 500]],
  ['time64(us)', new TimeMicrosecond(), ['00:00:00.000001', 7], [1n, 7n]],
  ['time64(ns)', new TimeNanosecond(), ['23:59:59.999999999', 7n], [86_399_999_999_999n, 7n]],
  [
    'timestamp(s)',
    new TimestampSecond(),
    [new Date(2000), -1000, '1970-01-01T00:00:09', 7n],
    [new Date(2000), new Date(-1000), new Date(9000), new Date(7000)],
  ],
  [
    'timestamp(ms)',
    new TimestampMillisecond(),
    [new Date(-1), 5, '2024-01-01T12:00:00.123+02:00', 7n, new Date(8.64e15), 2n ** 62n],
    [
      new Date(-1),
      new Date(5),
      new Date('2024-01-01T10:00:00.123Z'),
      new Date(7),
      new Date(8.64e15),
      2n ** 62n,
    ],
  ],
  [
    'timestamp(us)',
    new TimestampMicrosecond('UTC'),
    [new Date(5), 5, '1970-01-01 00:00:00.000001', -7n],
    [5000n, 5000n, 1n, -7n],
  ],
  [
    'timestamp(ns)',
    new TimestampNanosecond(),
    [new Date(5), '1969-12-31T23:59:59.999999999Z', 1_700_000_000_123_456_789n],
    [5_000_000n, -1n, 1_700_000_000_123_456_789n],
  ],
  ['duration(ms)', new Duration(TimeUnit.MILLISECOND), [-5, 7n, '9'], [-5n, 7n, 9n]],
  [
    'interval(year_month)',
    new IntervalYearMonth(),
    [5, { years: 1, months: 2 }, Int32Array.of(2, 3), null],
    [{ months: 5 }, { months: 14 }, { months: 27 }, null],
  ],
  [
    'interval(day_time)',
    new IntervalDayTime(),
    [{ days: 1, milliseconds: -2 }, { days: 4 }],
    [
      { days: 1, milliseconds: -2 },
      { days: 4, milliseconds: 0 },
    ],
  ],
  [
    'interval(month_day_nano)',
    new IntervalMonthDayNano(),
    [{ months: 1, days: -2, nanoseconds: -(2n ** 40n) }, { nanoseconds: 5 }],
    [
      { months: 1, days: -2, nanoseconds: -(2n ** 40n) },
      { months: 0, days: 0, nanoseconds: 5n },
    ],
  ],
  [
    'decimal128',
    new Decimal(2, 10, 128),
    ['1.5', '-0.01', 3n, 0.1, '1e3', '.5', '0', '99999999.99', null],
    ['1.50', '-0.01', '3.00', '0.10', '1000.00', '0.50', '0.00', '99999999.99', null],
  ],
  ['decimal256', new Decimal(0, 76, 256), [`-${'9'.repeat(76)}`, 5n], [`-${'9'.repeat(76)}`, '5']],
  ['decimal with a negative scale', new Decimal(-3, 5, 128), [12000n], ['12000']],
  [
    'list',
    new List(field(new Int32())),
    [[1, null], [], null, Int8Array.of(3)],
    [[1, null], [], null, [3]],
  ],
  ['large_list', new LargeList(field(new Utf8())), [['a'], null, ['b', 'c']]],
  ['list of lists', new List(field(new List(field(new Bool())))), [[[true], null, []], null]],
  [
    'fixed_size_list of float32',
    new FixedSizeList(2, field(new Float32())),
    [[1, 2], null, Float32Array.of(3, 4), [5, null]],
    [Float32Array.of(1, 2), null, Float32Array.of(3, 4), [5, null]],
  ],
  ['fixed_size_list of utf8', new FixedSizeList(2, field(new Utf8(), false)), [['a', 'b'], null]],
  [
    'struct',
    point,
    [{ x: 1, y: 'a' }, null, { x: 2 }],
    [{ x: 1, y: 'a' }, null, { x: 2, y: null }],
  ],
  ['list of structs', new List(field(point)), [[{ x: 1, y: null }, null], null]],
  [
    'map',
    map,
    [new Map([['a', 1]]), { b: 2 }, [['c', null]], null, {}],
    [new Map([['a', 1]]), new Map([['b', 2]]), new Map([['c', null]]), null, new Map()],
  ],
  ['sparse union', union(SparseUnion), [1.5, 'a', 7n, null, 2]],
  ['dense union', union(DenseUnion), [1.5, 'a', 7n, null, 2]],
  ['dictionary', new Dictionary(new Utf8(), new Int8()), ['a', 'b', null, 'a']],
  [
    'dictionary of wide codes',
    // Its declarations leave out codes of 64 bits.
    new Dictionary(new Utf8(), new Int64() as DataType as Int32),
    ['a', 'b', null, 'a'],
  ],
  [
    'dictionary of binary',
    new Dictionary(new Binary(), new Int32()),
    [bytes(1), bytes(1), bytes(2)],
  ],
];

describe('a column built from values', () => {
  it.each(ACCEPTED)('%s', (_, type, values, expected = values) => {
    const batch = build(type, values);
    expect(batchRows(batch).map((row) => row.c)).toStrictEqual(expected);
  });

  it.each(ACCEPTED)('%s survives Arrow IPC', (_, type, values, expected = values) => {
    const batch = build(type, values);
    const back = tableFromIPC(tableToIPC(new Table([batch]), 'stream')).batches.flatMap(batchRows);
    expect(back.map((row) => row.c)).toStrictEqual(expected);
  });

  it.each(ACCEPTED.filter(([name]) => name !== 'null'))('%s without nulls', (_, type, values) => {
    const present = values.filter((value) => value !== null);
    expect(build(type, present, false).numRows).toBe(present.length);
  });

  it('stores equal dictionary values once, over all batches of a stream', () => {
    const schema = schemaOf(new Dictionary(new Utf8(), new Int8()));
    const context = buildContext();
    const first = buildBatch(schema, [{ c: 'a' }, { c: 'b' }, { c: 'a' }], 0, context);
    const second = buildBatch(schema, [{ c: 'b' }, { c: 'z' }], 3, context);
    expect(first.data.children[0]?.values).toEqual(Int8Array.of(0, 1, 0));
    expect(second.data.children[0]?.values).toEqual(Int8Array.of(1, 2));
    const [older, newer] = [first, second].map((batch) => batch.data.children[0]?.dictionary);
    expect(newer?.data[0]).toBe(older?.data[0]);
    expect(batchRows(second)).toEqual([{ c: 'b' }, { c: 'z' }]);
  });
});

const REFUSED: [string, DataType, unknown, RegExp][] = [
  ['int8', new Int8(), 128, /found number 128, expected int8/],
  ['int8', new Int8(), -129n, /bigint -129n/],
  ['int8', new Int8(), 1.5, /number 1.5/],
  ['int8', new Int8(), NaN, /number NaN/],
  ['int8', new Int8(), true, /boolean true/],
  ['int8', new Int8(), '1.0', /string "1.0"/],
  ['uint8', new Uint8(), -1, /uint8/],
  ['int32', new Int32(), 2 ** 31, /int32/],
  ['int64', new Int64(), 2n ** 63n, /out of range/],
  ['int64', new Int64(), 2 ** 53, /pass a bigint/],
  ['int64', new Int64(), 0.5, /number 0.5, expected int64\./],
  ['uint64', new Uint64(), -1n, /out of range/],
  ['uint64', new Uint64(), -1, /uint64/],
  ['float16', new Float16(), 65520, /float16/],
  ['float32', new Float32(), 1e39, /float32/],
  ['float64', new Float64(), 2n ** 53n + 1n, /float64/],
  ['float64', new Float64(), '1', /string "1"/],
  ['a time', new Float64(), new Date(Number.NaN), /Date/],
  ['a time', new Float32(), new Date(1e12), /Date/],
  ['bool', new Bool(), 1, /bool/],
  ['utf8', new Utf8(), 5, /found number 5, expected utf8/],
  ['utf8', new Utf8(), 'x'.length, /utf8/],
  ['binary', new Binary(), 'x', /binary/],
  ['binary', new Binary(), [1, 2], /array of 2/],
  ['fixed_size_binary', new FixedSizeBinary(2), bytes(1), /fixed_size_binary\[2\]/],
  ['date32', new DateDay(), new Date(5), /Date 1970-01-01T00:00:00.005Z/],
  ['date32', new DateDay(), '2023-02-29', /date32/],
  ['timestamp', new TimestampSecond(), new Date(5), /timestamp\(s\)/],
  ['timestamp', new TimestampMillisecond(), new Date(NaN), /Date \(invalid\)/],
  ['timestamp', new TimestampMillisecond(), '1970-01-01T00:00:00.0001', /timestamp\(ms\)/],
  ['timestamp', new TimestampMillisecond(), '1970-01-01T25:00', /timestamp\(ms\)/],
  ['timestamp', new TimestampNanosecond(), new Date(8.64e15), /out of range/],
  ['timestamp', new TimestampMillisecond(), 0.5, /number 0.5/],
  ['time', new TimeSecond(), 86400, /time32\(s\)/],
  ['time', new TimeSecond(), '24:00:00', /time32/],
  ['duration', new Duration(TimeUnit.SECOND), 0.5, /duration\(s\)/],
  ['interval', new IntervalDayTime(), { hours: 1 }, /interval\(day_time\)/],
  ['interval', new IntervalYearMonth(), 1.5, /interval/],
  ['decimal', new Decimal(2, 4, 128), '1.234', /decimal128\(4, 2\)/],
  ['decimal', new Decimal(2, 4, 128), '100', /more than 4 digits/],
  ['decimal', new Decimal(2, 4, 128), '1e9999', /decimal128/],
  ['decimal', new Decimal(2, 4, 128), 'abc', /decimal128/],
  ['decimal', new Decimal(2, 4, 128), NaN, /decimal128/],
  ['list', new List(field(new Int32())), 'abc', /list<int32>/],
  ['list', new List(field(new Int32())), { length: 1 }, /list<int32>/],
  ['list item', new List(field(new Int32())), [1, 'x'], /column "c\[1\]": found string "x"/],
  [
    'list item',
    new List(field(new Int32(), false)),
    [1, null],
    /column "c\[1\]": found null, expected int32 \(not null\)/,
  ],
  ['fixed list', new FixedSizeList(2, field(new Float32())), [1], /1 items instead of 2/],
  ['fixed list', new FixedSizeList(2, field(new Float32())), [1, 1e39], /column "c\[1\]"/],
  [
    'fixed list',
    new FixedSizeList(2, field(new Float32())),
    [1, '2'],
    /column "c\[1\]": found string/,
  ],
  ['struct', point, [1], /struct<x: int32, y: utf8>/],
  ['struct', point, new Map(), /Map of 0/],
  ['struct', point, { x: 1, z: 2 }, /schema: c\.z at row.*no such column \(x, y\)/],
  ['struct', point, { y: 'a' }, /column "c.x": found null, expected int32 \(not null\)/],
  [
    'struct in list',
    new List(field(point)),
    [{ x: 1 }, { x: 'no' }],
    /column "c\[1\].x": found string "no"/,
  ],
  ['map', map, [['a', 'b']], /column "c\[string \\?"a\\?"\]": found string "b"/],
  ['map', map, [['a']], /map<utf8, int32>/],
  ['map', map, 5, /map<utf8, int32>/],
  ['map key', map, new Map([[null, 1]]), /found null, expected utf8 \(not null\)/],
  ['union', union(SparseUnion), true, /sparse_union<0: float64, 5: int64, 7: utf8>/],
  ['null', new Null(), 0, /expected null/],
  ['dictionary', new Dictionary(new Utf8(), new Int8()), 5, /found number 5/],
];

describe('a value that does not fit', () => {
  it.each(REFUSED)('%s', (_, type, value, message) => {
    const good = { c: null };
    const make = (): unknown =>
      buildBatch(schemaOf(type), [good, { c: value }, good], 40, buildContext());
    expect(make).toThrow(message);
    try {
      make();
    } catch (error) {
      expect(isDirspaceError(error, 'TableSchemaValidation')).toBe(true);
      expect(error).toMatchObject({ details: { row: 41 } });
    }
  });

  it('is null in a column that is not nullable', () => {
    expect(() => build(new Utf8(), ['a', null], false)).toThrow(
      'Row 1, column "c": found null, expected utf8 (not null).',
    );
  });

  it('is one of values of fixed size that take more than 2 GiB', () => {
    const type = new FixedSizeBinary(2 ** 30);
    expect(() => build(type, [null, null])).toThrow(/exceed 2 GiB/);
  });

  it('is a key that is no column', () => {
    expect(() => buildBatch(schemaOf(new Utf8()), [{ d: 1 }], 7, buildContext())).toThrow(
      /Found field not in schema: d at row 7: found number 1, but there is no such column \(c\)/,
    );
    expect(buildBatch(schemaOf(new Utf8()), [{ d: undefined }], 7, buildContext()).numRows).toBe(1);
  });

  it.each([null, 5, 'row', [1], new Date(0), new Map()])('is %s in place of a row', (row) => {
    const make = (): unknown => buildBatch(schemaOf(new Utf8()), [{}, row], 0, buildContext());
    expect(make).toThrow(/Row 1: found .*expected an object/);
  });

  it('is a dictionary value that its index type cannot count', () => {
    const values = Array.from({ length: 129 }, (_, i) => `v${i}`);
    const type = new Dictionary(new Utf8(), new Int8());
    expect(build(type, values.slice(0, 128)).numRows).toBe(128);
    expect(() => build(type, values)).toThrow(/Row 128.*128 distinct values/);
  });
});

describe('names of columns', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''];
  const schema = new Schema(names.map((name) => new Field(name, new Float64(), true)));

  it('may be those every object inherits', () => {
    const row = JSON.parse('{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":4,"":5}');
    const [back] = batchRows(buildBatch(schema, [row], 0, buildContext()));
    expect(Object.entries(back ?? {})).toEqual(Object.entries(row));
    expect(Object.keys(Object.getPrototypeOf(back))).toEqual([]);
    expect(Object.getPrototypeOf(Object.getPrototypeOf(back))).toBe(Object.prototype);
  });

  it('are null, not inherited, where a row lacks them', () => {
    const [back] = batchRows(buildBatch(schema, [{}], 0, buildContext()));
    expect(Object.entries(back ?? {})).toEqual(names.map((name) => [name, null]));
  });
});

describe('a dictionary', () => {
  it('keeps nothing of a batch that was too large, whose rows come again', () => {
    const type = new Dictionary(new Utf8(), new Int32());
    const schema = new Schema([new Field('d', type, true)]);
    const context = buildContext();
    let isTooLarge = true;
    const strict = {
      ...context,
      build: (...given: Parameters<typeof context.build>) => {
        if (isTooLarge) throw new DirspaceError('PayloadTooLarge', 'The values are too large.');
        return context.build(...given);
      },
    };
    const rows = [{ d: 'x' }, { d: 'y' }];
    expect(() => buildBatch(schema, rows, 0, strict)).toThrow('too large');
    isTooLarge = false;
    const batches = rows.map((row, at) => buildBatch(schema, [row], at, strict));
    expect(batches.flatMap(batchRows)).toEqual(rows);
  });
});

describe('a DataView in place of another value', () => {
  it('is shown by its bytes', () => {
    const schema = new Schema([new Field('a', new Int32(), true)]);
    const rows = [{ a: new DataView(new ArrayBuffer(8)) }];
    expect(() => buildBatch(schema, rows, 0, buildContext())).toThrow('DataView of 8 bytes');
  });
});

describe('a date beyond those of a Date', () => {
  it('is read as its count of days', () => {
    const schema = new Schema([new Field('a', new DateDay(), true)]);
    const rows = [100_000_000n, -100_000_000n, 100_000_001n, -(2n ** 31n)].map((a) => ({ a }));
    const read = batchRows(buildBatch(schema, rows, 0, buildContext())).map(({ a }) => a);
    expect(read).toEqual([new Date(8.64e15), new Date(-8.64e15), 100_000_001n, -(2n ** 31n)]);
  });
});
