/** Sorting the rows of an ordering: exact order, bounded memory, short steps. */
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateMillisecond,
  Decimal,
  Dictionary,
  FixedSizeBinary,
  Float16,
  Float32,
  Float64,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  TimestampNanosecond,
  Uint32,
  Uint64,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { nullColumn, sliceData } from '../../../src/arrow/arrow-data.ts';
import { concatData } from '../../../src/arrow/concat.ts';
import { gatherData } from '../../../src/arrow/gather-data.ts';
import { compareText } from '../../../src/format/fragment/statistics.ts';
import { RowSorter } from '../../../src/table/query/row-sorter.ts';
import { hasOrder } from '../../../src/table/query/sort-keys.ts';
import { sortedRows } from '../../../src/table/query/sort-steps.ts';
import { seeded } from '../../helpers/seeded.ts';
import { run } from '../../helpers/steps.ts';

type Value = number | bigint | string | boolean | Uint8Array | null;

const random = seeded(7);
const pick = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;
const whole = (below: number): number => Math.floor(random() * below);
const bits64 = (): bigint => (BigInt(whole(2 ** 32)) << 32n) | BigInt(whole(2 ** 32));

const float = (): number =>
  pick([0, -0, NaN, Infinity, -Infinity, 1, -1, 0.5, whole(100) / 4, -whole(100) / 8]);
const text = (): string => {
  const start = pick([
    '',
    'a',
    'ab',
    'ab\0',
    'abcdef',
    'abcdefg',
    'abcdefgh',
    '\u{1f600}',
    '\uffff',
  ]);
  return start + pick(['', '', 'x', '\0', 'é', 'long '.repeat(12), `${whole(50)}`]);
};
const bytes = (): Uint8Array =>
  Uint8Array.from({ length: whole(10) }, () => pick([0, 1, 127, 255]));
const wide = (): bigint =>
  pick([0n, 1n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 62n, BigInt(whole(9))]);
/** Around the numbers where 64 bits end, and doubles miss some. */
const decimal = (): bigint =>
  pick([
    0n,
    5n,
    -5n,
    2n ** 53n + 1n,
    2n ** 53n,
    2n ** 63n,
    2n ** 64n,
    -(2n ** 63n),
    -(2n ** 63n) - 1n,
    2n ** 63n - 1n,
    2n ** 100n,
    -(2n ** 100n),
    -(2n ** 53n) - 1n,
    2n ** 90n + bits64(),
  ]);

const CASES: readonly [string, DataType, () => Value][] = [
  ['int8', new Int8(), () => whole(256) - 128],
  ['int32', new Int32(), () => pick([0, 1, -1, 2 ** 31 - 1, -(2 ** 31), whole(50)])],
  ['uint32', new Uint32(), () => pick([0, 2 ** 32 - 1, 2 ** 31, whole(50)])],
  ['int64', new Int64(), wide],
  ['uint64', new Uint64(), () => pick([0n, 2n ** 64n - 1n, 2n ** 63n, 2n ** 53n + 1n, 2n ** 53n])],
  ['float16', new Float16(), float],
  ['float32', new Float32(), float],
  ['float64', new Float64(), float],
  ['bool', new Bool(), () => pick([true, false])],
  ['utf8', new Utf8(), text],
  ['large utf8', new LargeUtf8(), text],
  ['binary', new Binary(), bytes],
  [
    'fixed binary',
    new FixedSizeBinary(3),
    () => Uint8Array.from({ length: 3 }, () => pick([0, 1, 255])),
  ],
  ['timestamp', new TimestampNanosecond(), wide],
  ['date', new DateMillisecond(), wide],
  ['decimal128', new Decimal(2, 38, 128), decimal],
  ['decimal256', new Decimal(2, 70, 256), decimal],
  ['dictionary', new Dictionary(new Utf8(), new Int32()), text],
];

function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string') return compareText(a, b as string);
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array);
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

interface Key {
  readonly values: readonly Value[];
  readonly data: Data;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

function expected(keys: readonly Key[], rows: readonly number[], limit: number): number[] {
  const order = [...rows].sort((a, b) => {
    for (const { values, ascending, nullsFirst } of keys) {
      const [x, y] = [values[a] as Value, values[b] as Value];
      const both =
        x === null || y === null
          ? x === y
            ? 0
            : (x === null) === nullsFirst
              ? -1
              : 1
          : compareValues(x, y) * (ascending ? 1 : -1);
      if (both !== 0) return both;
    }
    return a - b;
  });
  return order.slice(0, limit);
}

/** Words of a decimal, lowest first, as Arrow holds it. */
const wordsOf = (value: bigint, bits: number): Uint32Array =>
  Uint32Array.from({ length: bits / 32 }, (_, at) =>
    Number((value >> BigInt(32 * at)) & 0xffff_ffffn),
  );

function columnOf(type: DataType, values: readonly Value[]): Data {
  const isDecimal = type instanceof Decimal;
  const items = isDecimal
    ? values.map((value) => (value === null ? null : wordsOf(value as bigint, type.bitWidth)))
    : values;
  const raw = type instanceof TimestampNanosecond || type instanceof DateMillisecond;
  const [data] = vectorFromArray(items as never[], raw ? new Int64() : type).data as Data[];
  if (!raw) return data as Data;
  return Object.assign((data as Data).clone(), { type });
}

interface Sorted {
  readonly found: number[];
  readonly held: number;
}

/** Sorts in batches of `size` rows; every third row is left out where there is a selection. */
function sorted(
  keys: readonly Key[],
  limit: number,
  size: number,
  { lent = false, selected = false } = {},
): Sorted {
  const rows = keys[0]?.values.length ?? 0;
  let held = 0;
  const holding = (bytes: number): void => {
    held = Math.max(held, bytes);
  };
  const sorter = new RowSorter({ directions: keys, limit, most: rows, lent, holding });
  for (let first = 0; first < rows; first += size) {
    const count = Math.min(size, rows - first);
    const selection = selected
      ? Uint32Array.from(Array.from({ length: count }, (_, at) => at).filter((at) => at % 3 !== 1))
      : undefined;
    const columns = keys.map(({ data }) => {
      const part = sliceData(data, first, count);
      return selection === undefined && !lent
        ? part
        : gatherData(part, selection ?? Uint32Array.from(all(count)));
    });
    const lengths = selection?.length ?? count;
    run(sorter.add({ keys: columns, rows: lengths, fragment: 3, first, selection }));
    // Memory that was lent is filled anew.
    if (lent)
      for (const { values } of columns) (values as Uint8Array | undefined)?.fill?.(0 as never);
  }
  const { count, rowIds } = run(sorter.finish());
  const ids = rowIds(0, count);
  expect([...ids].every((id) => id >> 32n === 3n)).toBe(true);
  return { found: Array.from(ids, (id) => Number(id & 0xffff_ffffn)), held };
}

function keyOf([, type, make]: (typeof CASES)[number], rows: number, nulls: number): Key {
  const values = Array.from({ length: rows }, () => {
    if (random() < nulls) return null;
    const value = make();
    return type instanceof Float16 && typeof value === 'number' ? Math.fround(value) : value;
  });
  const [ascending, nullsFirst] = [random() < 0.5, random() < 0.5];
  return { values, data: columnOf(type, values), ascending, nullsFirst };
}

const all = (rows: number): number[] => Array.from({ length: rows }, (_, at) => at);

describe.each(CASES)('rows by %s', (...kind) => {
  test.each([0, 0.2, 1])('with a share of nulls of %d', (nulls) => {
    for (const limit of [1, 7, 300, Number.MAX_SAFE_INTEGER]) {
      const key = keyOf(kind, 700, nulls);
      expect(sorted([key], limit, 97).found).toEqual(expected([key], all(700), limit));
      const second = keyOf(pick(CASES), 700, 0.1);
      const both = [key, second];
      expect(sorted(both, limit, 256).found).toEqual(expected(both, all(700), limit));
    }
  });

  test('rows chosen by a filter', () => {
    const key = keyOf(kind, 600, 0.1);
    const rows = all(600).filter((row) => (row % 200) % 3 !== 1);
    expect(sorted([key], 50, 200, { selected: true }).found).toEqual(expected([key], rows, 50));
  });
});

/** More rows than are collected before the first of them are picked, so that others are dropped. */
const MANY = 60_000;

describe.each([
  ['rising', (row: number) => row],
  ['falling', (row: number) => MANY - row],
  ['in any order', () => whole(MANY)],
  ['few different ones', () => whole(3)],
])('the first of many rows, %s', (_, make) => {
  const numbers = Float64Array.from({ length: MANY }, (__, row) => make(row));
  const texts = Array.from(
    numbers,
    (number) => `the same start ${String(number).padStart(6, '0')}`,
  );

  test.each([1, 10, 1000])('%d numbers', (limit) => {
    const data = vectorFromArray(Array.from(numbers), new Float64()).data[0] as Data;
    const key = { values: Array.from(numbers), data, ascending: true, nullsFirst: false };
    const { found, held } = sorted([key], limit, 25_000);
    expect(found).toEqual(expected([key], all(MANY), limit));
    // Ranks and numbers of the rows collected, never all of them.
    expect(held).toBeLessThan(40 * (16_384 + 2 * limit));
  });

  test('texts that differ late, out of lent memory', () => {
    const data = vectorFromArray(texts, new Utf8()).data[0] as Data;
    const key = { values: texts, data, ascending: false, nullsFirst: false };
    const { found, held } = sorted([key], 10, 20_000, { lent: true });
    expect(found).toEqual(expected([key], all(MANY), 10));
    expect(held).toBeLessThan(80 * (16_384 + 20));
  });
});

test('batches with dictionaries of their own, one of them empty', () => {
  const type = new Dictionary(new Utf8(), new Int32());
  const of = (values: readonly (string | null)[]): Data =>
    vectorFromArray(values as never[], new Dictionary(new Utf8(), new Int32())).data[0] as Data;
  const parts: (string | null)[][] = [
    ['b', 'a'],
    [null, null],
    ['c', null, 'a'],
    ['abcdefgz', 'abcdefgh'],
  ];
  const batches = [of(parts[0] ?? []), nullColumn(type, 2), of(parts[2] ?? []), of(parts[3] ?? [])];
  const sorter = new RowSorter({
    directions: [{ ascending: true, nullsFirst: true }],
    limit: 100,
    most: 9,
  });
  let first = 0;
  for (const data of batches) {
    run(sorter.add({ keys: [data], rows: data.length, fragment: 0, first, selection: undefined }));
    first += data.length;
  }
  const { count, rowIds } = run(sorter.finish());
  const values = parts.flat();
  const found = Array.from(rowIds(0, count), (id) => values[Number(id)]);
  expect(found).toEqual([null, null, null, 'a', 'a', 'abcdefgh', 'abcdefgz', 'b', 'c']);
});

test('a null in a dictionary is a null', () => {
  const entries = vectorFromArray(['b', null, 'a'], new Utf8());
  const type = new Dictionary(new Utf8(), new Int32());
  const codes = vectorFromArray([0, 1, 2, 1], new Int32()).data[0] as Data;
  const data = Object.assign(codes.clone(), { type, dictionary: entries });
  const key: Key = { values: ['b', null, 'a', null], data, ascending: true, nullsFirst: false };
  expect(sorted([key], 10, 4).found).toEqual([2, 0, 1, 3]);
  expect(sorted([{ ...key, nullsFirst: true }], 2, 4).found).toEqual([1, 3]);
});

test('comparisons between two steps are bounded, however long the values are', () => {
  const rows = 100_000;
  let [since, most, steps] = [0, 0, 0];
  const meter = { work: 0 };
  const numbers = Uint32Array.from({ length: rows }, () => whole(2 ** 32));
  const work = sortedRows(new Float64Array(rows), rows, {
    compare: (a, b) => {
      since += 1;
      meter.work += 99;
      return (numbers[a] as number) - (numbers[b] as number) || a - b;
    },
    meter,
    isFinal: () => false,
  });
  for (let next = work.next(); next.done !== true; next = work.next()) {
    most = Math.max(most, since);
    since = 0;
    steps += 1;
  }
  // A run of 16 rows is put in order without a look at the meter.
  expect(most).toBeLessThan(16_384 / 100 + 16 * 16);
  expect(steps).toBeGreaterThan(1000);
});

test('long values count for more than one comparison, and few of them are compared at once', () => {
  const rows = 100;
  const texts = Array.from({ length: rows }, (_, row) => `${'the same '.repeat(20_000)}${row % 7}`);
  const data = vectorFromArray(texts, new Utf8()).data[0] as Data;
  const direction = { ascending: true, nullsFirst: false };
  const sorter = new RowSorter({ directions: [direction], limit: rows, most: rows });
  run(sorter.add({ keys: [data], rows, fragment: 0, first: 0, selection: undefined }));
  const steps = sorter.finish();
  let count = 1;
  let next = steps.next();
  for (; next.done !== true; next = steps.next()) count += 1;
  // 180,000 bytes each: a comparison counts for about 350 of short values. Were it one, there would be one step.
  expect(count).toBeGreaterThan(5);
  const ids = next.value.rowIds(0, rows);
  expect(Array.from(ids, Number)).toEqual(all(rows).sort((a, b) => (a % 7) - (b % 7) || a - b));
});

test('many rows of one rank, and many ranks, are gone through in steps', () => {
  const none = { compare: () => 0, meter: { work: 0 }, isFinal: () => true };
  const rows = 400_000;
  const stepsOf = (ranks: Float64Array): number => [...sortedRows(ranks, rows, none)].length;
  expect(stepsOf(new Float64Array(rows))).toBeGreaterThan(10);
  expect(stepsOf(Float64Array.from({ length: rows }, () => random()))).toBeGreaterThan(60);
});

test('what has no order', () => {
  const list = vectorFromArray([[1]]).type as DataType;
  expect(hasOrder(list)).toBe(false);
  expect(hasOrder(new Dictionary(list, new Int32()))).toBe(false);
});

test('more rows than were said to come are refused', () => {
  const data = concatData(
    new Vector([vectorFromArray([1, 2, 3], new Int32()).data[0] as Data]).data as Data[],
  );
  const sorter = new RowSorter({
    directions: [{ ascending: true, nullsFirst: false }],
    limit: 5,
    most: 2,
  });
  const batch = { keys: [data], rows: 3, fragment: 0, first: 0, selection: undefined };
  expect(() => run(sorter.add(batch))).toThrow('More than 2 rows');
});
