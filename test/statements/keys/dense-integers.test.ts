/**
 * Integers keep their numbers, in the order in which they came first, whether they lie near each other,
 * far apart, or mostly near each other; and keys that lie near each other take little memory.
 */
import { describe, expect, test } from 'vitest';
import { type DataType, Int32, Int64 } from '../../../src/arrow/index.ts';
import type { Column } from '../../../src/sql/index.ts';
import { KeyNumbers, ValueNumbers } from '../../../src/statements/keys/index.ts';

const ROWS = 5_000;
const BATCHES = 8;

/** Ranks from 0 on in no order, the same in every run. */
const mixed = (at: number): number => (Math.imul(at, 0x9e3779b1) >>> 8) % (ROWS * BATCHES);

/** By name, the value of a row. */
const SHAPES: Record<string, (at: number) => number> = {
  'in order': (at) => at * 4,
  'in falling order': (at) => -at * 3,
  'near each other, with repeats': (at) => (mixed(at) % 700) - 350,
  'far apart': (at) => mixed(at) * 50_000,
  'near each other, but for a few': (at) => (at % 97 === 5 ? mixed(at) * 40_000 - 2e9 : at),
  'near each other, but for one of the first': (at) => (at === 3 ? -(2 ** 31) : 20_000_000 + at),
  'far apart at first': (at) => (at < 20 ? at * 100_000_000 : mixed(at)),
  'near the ends of 32 bits': (at) => (at % 2 === 0 ? 2 ** 31 - 1 - at : -(2 ** 31) + at),
  'one value': () => 7,
};

const isNull = (at: number): boolean => at % 11 === 4;

function column(type: DataType, value: (at: number) => number | bigint, from: number): Column {
  const valid = Uint8Array.from({ length: ROWS }, (_, row) => (isNull(from + row) ? 0 : 1));
  if (type instanceof Int32) {
    const values = Int32Array.from({ length: ROWS }, (_, row) => Number(value(from + row)) | 0);
    return { form: 'number', type, length: ROWS, values, valid };
  }
  const values = BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(value(from + row)));
  return { form: 'wide', type, length: ROWS, values, valid };
}

const valueAt = (given: Column, row: number): unknown =>
  (given as { values: ArrayLike<unknown> }).values[row];

/** As texts: comparing typed arrays item by item takes ten times as long as the numbering. */
function expectSame(found: Int32Array, expected: Int32Array): void {
  expect(String(found)).toBe(String(expected));
}

/** Numbers all batches, and compares with a map. */
function check(type: DataType, value: (at: number) => number | bigint): ValueNumbers {
  const numbers = new ValueNumbers(type);
  const known = new Map<unknown, number>();
  for (let batch = 0; batch < BATCHES; batch++) {
    const given = column(type, value, batch * ROWS);
    const before = numbers.find(given);
    const expected = Int32Array.from({ length: ROWS }, (_, row) =>
      isNull(batch * ROWS + row) ? 0 : (known.get(valueAt(given, row)) ?? 0),
    );
    expectSame(before, expected);
    const added = numbers.add(given);
    for (let row = 0; row < ROWS; row++) {
      if (isNull(batch * ROWS + row)) continue;
      const key = valueAt(given, row);
      if (!known.has(key)) known.set(key, known.size + 1);
      expected[row] = known.get(key) as number;
    }
    expectSame(added, expected);
    expectSame(numbers.find(given), expected);
    expect(numbers.size).toBe(known.size + 1);
  }
  const all = Int32Array.from({ length: known.size }, (_, at) => at + 1);
  const back = numbers.column(all);
  expect([...known.keys()].join()).toBe(Array.from(all, (_, at) => valueAt(back, at)).join());
  return numbers;
}

describe.each([new Int32(), new Int64()])('of %s', (type) => {
  test.each(Object.keys(SHAPES))('%s', (shape) => {
    check(type, SHAPES[shape] as (at: number) => number);
  });
});

test('of 64 bits beyond what doubles count', () => {
  check(new Int64(), (at) => 2n ** 62n - BigInt(mixed(at) % 999));
  check(new Int64(), (at) => (at % 3 === 0 ? 2n ** 53n + BigInt(at) : BigInt(mixed(at))));
  check(new Int64(), (at) => 2n ** 52n - 100n + BigInt(mixed(at) % 200));
  check(new Int64(), (at) => -(2n ** 52n) + 50n - BigInt(mixed(at) % 200));
  check(new Int64(), (at) => 1_700_000_000_000_000n + BigInt(at) * 7_000_000n);
});

test('keys in order take less memory than a table of them', () => {
  const { bytes } = check(new Int32(), (at) => at * 4);
  // A table has 24 bytes and more for each key, and an array of places beside it 16 for these.
  expect(bytes).toBeLessThan(ROWS * BATCHES * 50);
});

test('keys in no order lie near each other once their number is known', () => {
  const type = new Int32();
  const given = column(type, (at) => Math.imul(mixed(at), 300), 0);
  const [told, untold] = [new KeyNumbers([type]), new KeyNumbers([type])];
  told.expect(ROWS * 300);
  expectSame(told.add([given]), untold.add([given]));
  expectSame(told.find([given]), untold.find([given]));
  expect(told.bytes).not.toBe(untold.bytes);
});

test('what is found lies in one array for batch after batch', () => {
  const type = new Int32();
  const keys = new KeyNumbers([type, type]);
  const given = [column(type, mixed, 0), column(type, (at) => at % 3, 0)];
  const added = keys.add(given);
  const found = keys.find(given);
  const both = Int32Array.from(added, (number, row) => (isNull(row) ? 0 : number));
  expectSame(found, both);
  const { buffer } = found;
  const later = [column(type, mixed, ROWS), column(type, (at) => at % 3, ROWS)];
  expect(keys.find(later).buffer).toBe(buffer);
  expectSame(keys.find(given), both);
});
