/** Values have one hash where they are equal, and others where they are not. */
import {
  Binary,
  Bool,
  type DataType,
  Decimal,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  List,
  makeData,
  Struct,
  Uint32,
  Uint64,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { hashValues, loadColumn } from '../../src/sql/index.ts';

function hashesOf(type: DataType, values: readonly unknown[]): string[] {
  const data = vectorFromArray(values as never, type).data[0];
  if (data === undefined) throw new Error('no data');
  const { low, high } = hashValues(loadColumn(data));
  return Array.from(low, (word, row) => `${word} ${high[row]}`);
}

const list = new List(new Field('item', new Float32(), true));

test.each<[string, DataType, readonly (readonly unknown[])[]]>([
  ['floats', new Float64(), [[0, -0], [Number.NaN, -Number.NaN], [1], [2 ** -1074], [null, null]]],
  ['short floats', new Float32(), [[0, -0], [Number.NaN], [1.5], [null]]],
  ['integers', new Int64(), [[0n], [1n, 1n], [-1n], [2n ** 32n], [2n ** 62n], [null]]],
  ['truth', new Bool(), [[true, true], [false], [null]]],
  [
    'texts',
    new Utf8(),
    [['a', 'a'], ['\0a'], ['a\0'], [''], ['abcd'], ['abcd\0'], ['abcdabcd'], [null]],
  ],
  ['bytes', new Binary(), [[Uint8Array.of(0)], [Uint8Array.of(0, 0)], [Uint8Array.of()], [null]]],
  ['lists', list, [[[0], [-0]], [[0, 0]], [[]], [[1, 2]], [[2, 1]], [null]]],
])('%s', (_, type, groups) => {
  const hashes = hashesOf(type, groups.flat());
  const sizes = groups.map(({ length }) => length);
  let at = 0;
  for (const size of sizes) {
    expect(new Set(hashes.slice(at, at + size)).size).toBe(1);
    at += size;
  }
  expect(new Set(hashes).size).toBe(groups.length);
});

test('decimals have one hash in batches of small and of large ones', () => {
  const type = new Decimal(0, 38, 128);
  const of = (values: readonly bigint[]): string[] =>
    hashesOf(
      type,
      values.map((value) => {
        const words = new Uint32Array(4);
        for (let word = 0; word < 4; word++) {
          words[word] = Number(BigInt.asUintN(32, value >> BigInt(32 * word)));
        }
        return words;
      }),
    );
  const small = of([5n, -5n]);
  const large = of([5n, -5n, 2n ** 100n, -(2n ** 100n), 2n ** 64n + 5n]);
  expect(large.slice(0, 2)).toEqual(small);
  expect(new Set(large).size).toBe(5);
});

test.each([
  ['short floats', new Float32(), 1.5],
  ['integers', new Int32(), 7],
  ['wide floats', new Float64(), 1.5],
  ['wide integers', new Int64(), 7n],
  ['texts', new Utf8(), 'abc'],
])('lists of %s have one hash beside lists with a null and without', (_, item, value) => {
  const type = new List(new Field('item', item as DataType, true));
  const [alone] = hashesOf(type, [[value, value], [value]]);
  const beside = hashesOf(type, [[value, value], [null], [value, null], [null, value], []]);
  expect(beside[0]).toBe(alone);
  expect(new Set(beside).size).toBe(5);
});

const pair = new Struct([new Field('a', new Int32(), true), new Field('b', new Utf8(), true)]);

test.each<[DataType, readonly unknown[]]>([
  [new Utf8(), ['a', 'bcdef', '']],
  [new Binary(), [Uint8Array.of(1), Uint8Array.of(2, 3), Uint8Array.of(4)]],
  [new Int16(), [1, -2, 3]],
  [new Int32(), [1, -2, 2 ** 31 - 1]],
  [new Uint32(), [1, 2, 2 ** 32 - 1]],
  [new Float32(), [1.5, -2, 0]],
  [new Int64(), [1n, -2n, 2n ** 62n]],
  [new Uint64(), [1n, 2n, 2n ** 64n - 1n]],
  [new Bool(), [true, false, true]],
  [new List(new Field('item', new Int32(), true)), [[1, 2], [], [3]]],
  [
    pair,
    [
      { a: 1, b: 'x' },
      { a: 2, b: null },
      { a: null, b: 'y' },
    ],
  ],
])('entries of a dictionary in two pieces have the hashes of those in one: %s', (type, values) => {
  const of = (...pieces: readonly (readonly unknown[])[]): string[] => {
    const [first, ...more] = pieces.map((piece) => vectorFromArray(piece as never, type));
    const dictionary = first?.concat(...(more as never[]));
    const data = makeData({
      ...{ type: new Dictionary(type, new Int32()), length: 3, data: Int32Array.of(0, 1, 2) },
      dictionary,
    } as never);
    const { low, high } = hashValues(loadColumn(data as never));
    return Array.from(low, (word, row) => `${word} ${high[row]}`);
  };
  const one = of(values);
  expect(of(values.slice(0, 1), values.slice(1))).toEqual(one);
  expect(of(values.slice(0, 2), values.slice(2), [null])).toEqual(one);
  // The second piece is a part of what its memory holds.
  const part = vectorFromArray([...values, ...values] as never, type).slice(4, 6);
  const [first] = [vectorFromArray(values.slice(0, 1) as never, type)];
  const dictionary = first.concat(part as never);
  const data = makeData({
    ...{ type: new Dictionary(type, new Int32()), length: 3, data: Int32Array.of(0, 1, 2) },
    dictionary,
  } as never);
  const { low, high } = hashValues(loadColumn(data as never));
  expect(Array.from(low, (word, row) => `${word} ${high[row]}`)).toEqual(one);
});
