/** Sorting the rows of an ordering: exact order, bounded memory, short steps. */
import {
  type Data,
  type DataType,
  Dictionary,
  Float64,
  Int32,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { dataBytes, nullColumn, sliceData } from '../../../src/arrow/arrow-data.ts';
import { concatData } from '../../../src/arrow/concat.ts';
import { gatherData } from '../../../src/arrow/gather-data.ts';
import { RowSorter } from '../../../src/table/query/row-sorter.ts';
import { hasOrder } from '../../../src/table/query/sort-keys.ts';
import { sortedRows } from '../../../src/table/query/sort-steps.ts';
import {
  all,
  CASES,
  columnOf,
  expected,
  type Key,
  keyOf,
  pick,
  random,
  whole,
} from '../../helpers/sort-keys.ts';
import { run } from '../../helpers/steps.ts';

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

test('many short runs of one rank are gone through in steps together', () => {
  const rows = 60_000;
  const ranks = Float64Array.from({ length: rows }, (_, row) => row >> 2);
  let since = 0;
  let most = 0;
  const compare = (a: number, b: number): number => {
    since += 1;
    return b - a;
  };
  const work = sortedRows(ranks, rows, { compare, meter: { work: 0 }, isFinal: () => false });
  let next = work.next();
  for (; next.done !== true; next = work.next()) {
    most = Math.max(most, since);
    since = 0;
  }
  expect(Math.max(most, since)).toBeLessThan(20_000);
  expect([...next.value.subarray(0, 8)]).toEqual([3, 2, 1, 0, 7, 6, 5, 4]);
});

test('runs of few rows that are ranked are gone through in steps together', () => {
  const rows = 200_000;
  const ranks = Float64Array.from({ length: rows }, (_, row) => row >> 1);
  let since = 0;
  let most = 0;
  const work = sortedRows(ranks, rows, {
    compare: () => 1,
    meter: { work: 0 },
    isFinal: () => false,
    finer: {
      after: (level) => ({ ...level, depth: level.depth + 6 }),
      isLast: () => true,
      rankOf(row) {
        since += 1;
        return -row;
      },
      fill: () => {
        throw new Error('there are too few rows of one rank');
      },
    },
  });
  let next = work.next();
  for (; next.done !== true; next = work.next()) {
    most = Math.max(most, since);
    since = 0;
  }
  expect(Math.max(most, since)).toBeLessThan(20_000);
  expect([...next.value.subarray(0, 4)]).toEqual([1, 0, 3, 2]);
});

test('few rows of one rank are ranked by what follows, and compared where this is not enough', () => {
  const rows = 5_000;
  const ranks = Float64Array.from({ length: rows }, (_, row) => row >> 3);
  const seconds = Float64Array.from({ length: rows }, () => whole(20));
  const thirds = Float64Array.from({ length: rows }, () => whole(5));
  const levels: object[] = [];
  const sortedBy = (compare: (a: number, b: number) => number, isLast: boolean): Uint32Array =>
    run(
      sortedRows(ranks, rows, {
        compare,
        meter: { work: 0 },
        isFinal: () => false,
        finer: {
          after: (level) => ({ ...level, depth: level.depth + 6 }),
          isLast: () => isLast,
          rankOf(row, level) {
            levels.push(level);
            return seconds[row] as number;
          },
          fill: () => {
            throw new Error('there are too few rows of one rank');
          },
        },
      }),
    );
  const by = (...keys: readonly Float64Array[]): Uint32Array =>
    Uint32Array.from(all(rows)).sort((a, b) => {
      for (const key of keys) if (key[a] !== key[b]) return (key[a] as number) - (key[b] as number);
      return a - b;
    });
  const none = (): number => {
    throw new Error('ranks tell these rows apart');
  };
  expect(sortedBy(none, true)).toEqual(by(ranks, seconds));
  expect(levels).toHaveLength(rows);
  expect(new Set(levels.map((level) => JSON.stringify(level)))).toEqual(
    new Set([JSON.stringify({ key: 0, depth: 6 })]),
  );
  let compared = 0;
  const compare = (a: number, b: number): number => {
    compared += 1;
    for (const key of [seconds, thirds])
      if (key[a] !== key[b]) return (key[a] as number) - (key[b] as number);
    return a - b;
  };
  expect(sortedBy(compare, false)).toEqual(by(ranks, seconds, thirds));
  expect(compared).toBeGreaterThan(0);
});

describe('many rows of one rank are ranked by what follows', () => {
  const rows = 4_000;
  const ordered = (keys: readonly Key[]): { found: number[]; steps: number } => {
    const sorter = new RowSorter({ directions: keys, limit: rows, most: rows });
    const columns = keys.map(({ data }) => data);
    run(sorter.add({ keys: columns, rows, fragment: 0, first: 0, selection: undefined }));
    const work = sorter.finish();
    let steps = 0;
    let next = work.next();
    for (; next.done !== true; next = work.next()) steps += 1;
    return { found: Array.from(next.value.rowIds(0, rows), Number), steps };
  };
  const keyed = (type: DataType, values: readonly (string | number | null)[]): Key => {
    const data = vectorFromArray(values as never[], type).data[0] as Data;
    return { values, data, ascending: random() < 0.5, nullsFirst: random() < 0.5 };
  };

  test('a long common start is passed over at once', () => {
    const start = 'the same '.repeat(120);
    const key = keyed(
      new Utf8(),
      Array.from({ length: rows }, () => start + whole(3_000)),
    );
    const { found, steps } = ordered([key]);
    expect(found).toEqual(expected([key], all(rows), rows));
    // Six bytes at a time there would be 180 levels of some steps each.
    expect(steps).toBeLessThan(100);
  });

  test('starts of some of them, and of some of those', () => {
    const part = (): string => pick(['', 'a', 'common start of some ', 'another one of others ']);
    const values = Array.from({ length: rows }, () =>
      random() < 0.1 ? null : part() + part() + part(),
    );
    const keys = [
      keyed(new Utf8(), values),
      keyed(
        new Int32(),
        Array.from({ length: rows }, () => whole(9)),
      ),
    ];
    expect(ordered(keys).found).toEqual(expected(keys, all(rows), rows));
  });

  test('the second and the third key', () => {
    const of = (make: () => number | string | null): (number | string | null)[] =>
      Array.from({ length: rows }, () => (random() < 0.05 ? null : make()));
    const keys = [
      keyed(
        new Utf8(),
        of(() => pick(['a', 'b', 'longer than a rank', 'longer than a rank too'])),
      ),
      keyed(
        new Float64(),
        of(() => pick([0, -0, NaN, Infinity, -Infinity, 1.5])),
      ),
      keyed(
        new Int32(),
        of(() => whole(40)),
      ),
    ];
    expect(ordered(keys).found).toEqual(expected(keys, all(rows), rows));
  });
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

test('columns that the caller keeps are counted once, whether their ranks decide or not', () => {
  const rows = 1_000;
  const order = { ascending: true, nullsFirst: false };
  const numbers = columnOf(new Float64(), all(rows));
  const texts = columnOf(
    new Utf8(),
    all(rows).map((row) => `the same ${row}`),
  );
  for (const data of [numbers, texts]) {
    const heldBy = (keeps: boolean): number => {
      let held = 0;
      const holding = (bytes: number): void => {
        held = bytes;
      };
      const sorter = new RowSorter({
        directions: [order],
        limit: rows,
        most: rows,
        keeps,
        holding,
      });
      const batch = { keys: [data], rows, fragment: 0, first: 0, selection: undefined };
      run(sorter.add(batch));
      expect([...run(sorter.finish()).rows].toSorted((a, b) => a - b)).toEqual(all(rows));
      return held;
    };
    const own = data === numbers ? dataBytes(data) : 0;
    expect(heldBy(true)).toBe(heldBy(false) + own);
  }
});

test('short runs of rows that are tied are ranked together, by levels of their own', () => {
  const rows = 30_000;
  const texts = Array.from({ length: rows }, (_, row) =>
    row % 7 === 0
      ? null
      : `${String(row % 3_000).padStart(6, '0')}${'x'.repeat(row % 3)}${row % 5}`,
  );
  const numbers = Array.from({ length: rows }, (_, row) => (row * 7_919) % 11);
  const keys = [columnOf(new Utf8(), texts), columnOf(new Int32(), numbers)];
  const directions = [
    { ascending: false, nullsFirst: true },
    { ascending: true, nullsFirst: false },
  ];
  const sorter = new RowSorter({ directions, limit: rows, most: rows });
  for (let first = 0; first < rows; first += 4_000) {
    const count = Math.min(4_000, rows - first);
    const some = keys.map((data) => sliceData(data, first, count));
    const place = { rows: count, fragment: 0, first, selection: undefined };
    run(sorter.add({ keys: some, ...place }));
  }
  const order = (a: number, b: number): number => {
    const [x, y] = [texts[a] ?? null, texts[b] ?? null];
    if (x !== y) return x === null ? -1 : y === null ? 1 : x < y ? 1 : -1;
    return (numbers[a] as number) - (numbers[b] as number) || a - b;
  };
  expect([...run(sorter.finish()).rows]).toEqual(all(rows).sort(order));
});
