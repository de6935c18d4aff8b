/** Whether lists share values, in time that grows with their lengths and not with their product. */
import { describe, expect, test } from 'vitest';
import { Field, Int32, Int64, List, Utf8, vectorFromArray } from '../../src/arrow/apache.ts';
import { sliceData } from '../../src/arrow/arrow-data.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { LIST_FUNCTIONS } from '../../src/sql/functions/lists.ts';
import { loadColumn } from '../../src/sql/load/load.ts';
import {
  BOOL,
  constantColumn,
  type ListColumn,
  reader,
  type TruthColumn,
  type Value,
} from '../../src/sql/typed/column.ts';
import { drained } from '../../src/steps.ts';
import { seeded } from '../helpers/seeded.ts';

const call = (name: string, list: readonly Value[], wanted: readonly Value[]): unknown => {
  const args = [list, wanted].map((value) => ({
    form: 'values' as const,
    type: BOOL,
    length: 1,
    values: [value],
  }));
  const memory = new RequestMemory(2 ** 40).batch();
  const column = LIST_FUNCTIONS[name]?.evaluate(args, 1, BOOL, memory);
  return column?.form === 'truth' ? column.values[0] === 2 : undefined;
};

const filler = Array.from({ length: 100 }, (_, at) => `other ${at}`);

describe.each([
  ['numbers', [1, 2, Number.NaN, -0, null], [Number.NaN, 0], 7],
  ['whole numbers', [1n, 2n ** 63n], [2n ** 63n], 3n],
  ['texts', ['a', 'über', null], ['über'], 'u'],
  ['bytes', [Uint8Array.of(1, 255), Uint8Array.of(2)], [Uint8Array.of(1, 255)], Uint8Array.of(255)],
  ['lists', [[1n, 'a'], [2n]], [[1n, 'a']], [1n, 'b']],
  ['structs', [{ x: 1, y: null }], [{ x: 1, y: null }], { x: 2, y: null }],
] as const)('of %s', (_, list: readonly Value[], there: readonly Value[], other: Value) => {
  test.each([
    ['short', []],
    ['long', filler],
  ])('%s lists', (__, more) => {
    const all = [...list, ...more];
    expect(call('array_has_all', all, there)).toBe(true);
    expect(call('array_has_all', all, [...there, other])).toBe(false);
    expect(call('array_has_any', all, [other, ...there])).toBe(true);
    expect(call('array_has_any', all, [other])).toBe(false);
    expect(call('array_has_any', all, [null])).toBe(false);
  });
});

test('constants are found in columns of lists as in lists by themselves', () => {
  const random = seeded(77);
  const list = new List(new Field('item', new Utf8(), true));
  const words = ['a', 'b', 'über', 'c', '', 'long enough to be hashed'];
  const draw = (most: number): (string | null)[] =>
    Array.from({ length: Math.floor(random() * most) }, () =>
      random() < 0.1 ? null : (words[Math.floor(random() * words.length)] as string),
    );
  const lists = Array.from({ length: 200 }, () => (random() < 0.1 ? null : draw(5)));
  const column = loadColumn(vectorFromArray(lists, list).data[0] as never);
  const memory = new RequestMemory().batch();
  for (let round = 0; round < 60; round++) {
    const wanted = [...draw(6), ...(round % 3 === 0 ? filler : [])];
    for (const name of ['array_has_any', 'array_has_all']) {
      const constant = constantColumn(list, wanted, lists.length);
      const found = LIST_FUNCTIONS[name]?.evaluate([column, constant], lists.length, BOOL, memory);
      const has = (items: readonly Value[], value: Value): boolean =>
        value !== null && items.includes(value);
      const expected = lists.map((items) => {
        if (items === null) return 1;
        const each = wanted.map((value) => has(items, value));
        return (name === 'array_has_any' ? each.some(Boolean) : each.every(Boolean)) ? 2 : 0;
      });
      expect([...(found as TruthColumn).values], `${name} ${wanted.join()}`).toEqual(expected);
    }
  }
});

test('a slice of a column of lists has its own items alone', () => {
  const type = new List(new Field('item', new Int32(), true));
  const data = vectorFromArray([[1, 2, 3], null, [4], [5, 6], [7]], type).data[0] as never;
  const column = loadColumn(sliceData(data, 1, 3)) as ListColumn;
  expect(column.child.length).toBe(3);
  expect([...column.starts]).toEqual([0, 0, 1]);
  expect([...column.ends]).toEqual([0, 1, 3]);
  const read = reader(column);
  expect([0, 1, 2].map(read)).toEqual([null, [4], [5, 6]]);
});

test('lists of 60,000 values are compared without going through all pairs', {
  timeout: 5_000,
}, () => {
  const [a, b] = [0, 1].map((odd) => Array.from({ length: 60_000 }, (_, at) => 2 * at + odd));
  expect(call('array_has_any', a as Value[], b as Value[])).toBe(false);
  expect(call('array_has_all', a as Value[], (a as Value[]).toReversed())).toBe(true);
});

test('what a set of a list takes is counted before it is made', () => {
  const memory = new RequestMemory(1 << 16).batch();
  const list = Array.from({ length: 1_000 }, (_, at) => at);
  const args = [list, list].map((value) => constantColumn(BOOL, value, 1));
  expect(() => LIST_FUNCTIONS.array_has_all?.evaluate(args, 1, BOOL, memory)).toThrow(
    'requestMemory',
  );
});

test('the length of a list does not look at its items', () => {
  const type = new List(new Field('item', new Int32(), true));
  const data = vectorFromArray([[1, 2, 3], [], null], type).data[0];
  const column = loadColumn(data as never);
  const blind = { ...column, child: undefined } as never;
  const memory = new RequestMemory().batch();
  const { array_length } = LIST_FUNCTIONS;
  const steps = array_length?.inSteps?.([blind], 3, new Int64(), memory);
  for (const found of [
    array_length?.evaluate([blind], 3, new Int64(), memory),
    steps && drained(steps),
  ]) {
    expect(found).toMatchObject({
      form: 'number',
      values: Float64Array.of(3, 0, 0),
      valid: Uint8Array.of(1, 1, 0),
    });
  }
});

test('a long list is counted before its items are read', () => {
  const type = new List(new Field('item', new Int32(), true));
  const column = {
    form: 'list' as const,
    type,
    length: 1,
    starts: Int32Array.of(0),
    ends: Int32Array.of(10_000_000),
    valid: null,
    child: constantColumn(new Int32(), 1, 0),
  };
  const memory = new RequestMemory(1 << 20).batch();
  const args = [column, { form: 'values' as const, type, length: 1, values: [[1]] }];
  expect(() => LIST_FUNCTIONS.array_has_any?.evaluate(args, 1, BOOL, memory)).toThrow(
    'requestMemory',
  );
});
