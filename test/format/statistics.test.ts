/** Statistics: bounds against a plain search through the values, merging, the JSON form. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Data,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  DurationNanosecond,
  Float32,
  Float64,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  makeData,
  TimeMicrosecond,
  TimestampNanosecond,
  Uint32,
  Uint64,
  Utf8,
  Utf8View,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { concatData } from '../../src/arrow/concat.ts';
import { columnStatistics } from '../../src/format/fragment/column-statistics.ts';
import {
  type ColumnStatistics,
  compareValues,
  decodeStatistics,
  encodeStatistics,
  mergeStatistics,
  type StatisticValue,
} from '../../src/format/fragment/statistics.ts';
import { compareText } from '../../src/values/index.ts';
import { everyType, exactColumn, randomData } from '../helpers/arrow-samples.ts';
import { seeded } from '../helpers/seeded.ts';

/** A value as statistics give it, out of the exact form of the samples. */
function comparable(type: DataType, value: unknown): StatisticValue | undefined {
  if (value === null) return undefined;
  const name = String(type);
  if (value === '-0') return 0;
  if (typeof value === 'string') {
    if (name.startsWith('Decimal')) {
      let big = 0n;
      for (const byte of Buffer.from(value, 'hex').reverse()) big = (big << 8n) | BigInt(byte);
      return BigInt.asIntN(value.length * 4, big);
    }
    return Buffer.from(value, 'hex').toString();
  }
  return value as StatisticValue;
}

const bounded: readonly DataType[] = [
  new Int8(),
  new Int32(),
  new Uint32(),
  new Int64(),
  new Uint64(),
  new Float32(),
  new Float64(),
  new Decimal(2, 30, 128),
  new Decimal(2, 60, 256),
  new DateDay(),
  new DateMillisecond(),
  new TimeMicrosecond(),
  new TimestampNanosecond(),
  new DurationNanosecond(),
  new Utf8(),
  new LargeUtf8(),
  new Utf8View(),
  new Dictionary(new Utf8(), new Int32()),
];

describe.each(bounded.map((type) => [String(type), type] as const))('%s', (_, type) => {
  test('bounds and counts are those of the values', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(10), fc.integer(), (rows, skip, seed) => {
        const data = randomData(type, rows + skip, seeded(seed)).slice(skip, rows);
        const statistics = columnStatistics(data);
        const all = exactColumn(data).map((value) => comparable(type, value));
        const values = all.filter((value) => value !== undefined && !Number.isNaN(value));
        const sorted = (values as StatisticValue[]).sort(compareValues);
        expect(statistics.rows).toBe(rows);
        expect(statistics.nulls).toBe(all.filter((value) => value === undefined).length);
        expect(statistics.nans).toBe(all.filter((value) => Number.isNaN(value)).length);
        expect(statistics.min).toEqual(sorted[0]);
        expect(statistics.max).toEqual(sorted.at(-1));
      }),
      { numRuns: 60 },
    );
  });

  test('merging gives what the joined column has, and the JSON form keeps it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(8), { minLength: 1, maxLength: 5 }),
        fc.integer(),
        (sizes, seed) => {
          const random = seeded(seed);
          const columns = sizes.map((size) => randomData(type, size, random, 0.6));
          const merged = columns.map(columnStatistics).reduce(mergeStatistics);
          expect(merged).toEqual(columnStatistics(concatData(columns)));
          const json = JSON.parse(JSON.stringify(encodeStatistics(merged)));
          expect(decodeStatistics(json, type, 'f')).toEqual(merged);
        },
      ),
      { numRuns: 40 },
    );
  });
});

test('other types have counts only', () => {
  for (const field of everyType().fields) {
    const data = randomData(field.type, 30, seeded(4));
    const statistics = columnStatistics(data);
    expect(decodeStatistics([...encodeStatistics(statistics)], field.type, 'f')).toEqual(
      statistics,
    );
    expect(statistics.nulls).toBe(exactColumn(data).filter((value) => isNull(value)).length);
  }
});

const isNull = (value: unknown): boolean =>
  value === null ||
  (typeof value === 'object' && 'value' in value && isNull((value as { value: unknown }).value));

const text = (...values: (string | null)[]): Data =>
  vectorFromArray(values, new Utf8()).data[0] as Data;

describe('long text', () => {
  const long = (start: string): string => start.padEnd(200, 'x');

  test('is shortened to bounds that still hold', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 120 }), { minLength: 1, maxLength: 6 }),
        (values) => {
          const { min, max, minExact, maxExact } = columnStatistics(text(...values));
          for (const value of values) {
            expect(compareText(min as string, value)).toBeLessThanOrEqual(0);
            if (max !== undefined)
              expect(compareText(max as string, value)).toBeGreaterThanOrEqual(0);
          }
          if (minExact) expect(values).toContain(min);
          if (maxExact && max !== undefined) expect(values).toContain(max);
          expect(Buffer.byteLength(min as string)).toBeLessThanOrEqual(64);
        },
      ),
    );
  });

  test('says so', () => {
    const statistics = columnStatistics(text(long('b'), long('a')));
    expect(statistics).toMatchObject({ minExact: false, maxExact: false });
    expect(statistics.min).toBe(long('a').slice(0, 64));
    expect(statistics.max).toBe(`${long('b').slice(0, 63)}y`);
  });

  test('of highest characters has no upper bound', () => {
    const statistics = columnStatistics(text('\u{10ffff}'.repeat(40)));
    expect(statistics.max).toBeUndefined();
    expect(statistics.min).toBe('\u{10ffff}'.repeat(16));
    // Unknown stays unknown when merged with something known.
    expect(mergeStatistics(statistics, columnStatistics(text('a'))).max).toBeUndefined();
  });
});

test('text that is not UTF-8 has no bounds', () => {
  const data = makeData({
    type: new Utf8(),
    length: 2,
    nullCount: 0,
    valueOffsets: Int32Array.of(0, 2, 3),
    data: Uint8Array.of(0xff, 0xfe, 0x61),
  }) as unknown as Data;
  expect(columnStatistics(data)).toMatchObject({ rows: 2, min: 'a' });
  expect(columnStatistics(data).max).toBeUndefined();
});

test('text is ordered by its bytes', () => {
  const words = ['\uffff', '\u{10000}', 'z', '', '\ud7ff', '\ue000'];
  const byBytes = [...words].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect([...words].sort(compareText)).toEqual(byBytes);
});

test('zeros have no sign, NaN is counted and left out', () => {
  const data = vectorFromArray([-0, Number.NaN, null], new Float64()).data[0] as Data;
  const statistics = columnStatistics(data);
  expect(Object.is(statistics.min, 0) && Object.is(statistics.max, 0)).toBe(true);
  expect(statistics).toMatchObject({ rows: 3, nulls: 1, nans: 1 });
});

test.each([
  ['no list', {}, new Int32()],
  ['more nulls than rows', [1, 2], new Int32()],
  ['fractional counts', [1.5, 0], new Int32()],
  ['bounds of another type', [1, 0, 0, 'a', 'b'], new Int32()],
  ['numbers for 64-bit values', [1, 0, 0, 1, 2], new Int64()],
  ['endless digits', [1, 0, 0, '1'.repeat(1000), null], new Int64()],
  ['bounds out of order', [2, 0, 0, 5, 4], new Int32()],
  ['unknown flags', [2, 0, 0, 1, 4, 9], new Int32()],
  ['bounds where there are none', [2, 0, 0, 1, 4], new Dictionary(new Int32(), new Int8())],
] as [string, unknown, DataType][])('%s is corrupt', (_, value, type) => {
  expect(() => decodeStatistics(value, type, 'some-file')).toThrow(
    expect.objectContaining({ code: 'Corrupt', message: expect.stringContaining('some-file') }),
  );
});

test('an empty side of a merge changes nothing', () => {
  const some: ColumnStatistics = columnStatistics(text('a', 'b'));
  expect(mergeStatistics(some, columnStatistics(text(null, null)))).toEqual({
    ...some,
    rows: 4,
    nulls: 2,
  });
});
