/** Digests of columns: the same for the same values however they are cut, and others for others. */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  type Data,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int8,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { dataOf } from '../../../src/arrow/arrow-data.ts';
import { concatData } from '../../../src/arrow/concat.ts';
import { gatherData } from '../../../src/arrow/gather-data.ts';
import { ColumnDigest } from '../../../src/table/lance-write/column-digest.ts';
import {
  exactColumn,
  leafTypes,
  nestedTypes,
  randomData,
  seeded,
} from '../../helpers/arrow-samples.ts';

const digestOf = (type: DataType, ...pieces: readonly Data[]): string => {
  const digest = new ColumnDigest(type);
  for (const piece of pieces) digest.add(piece);
  return digest.finish();
};

const leaves = Object.entries(leafTypes).filter(([name]) => name !== 'dictionary_int8');
const nested = ['list', 'large_list', 'fixed_size_list', 'struct'].flatMap((name) =>
  ['bool', 'int64', 'utf8', 'utf8_view', 'decimal128', 'dictionary'].map((leaf) => {
    const make = nestedTypes[name] as (a: DataType, b: DataType) => DataType;
    const inner = (leafTypes[leaf] as () => DataType)();
    return [`${name} of ${leaf}`, () => make(inner, new Utf8())] as const;
  }),
);
const deeper = [
  ['list of structs of lists', ['list', 'struct', 'list']],
  ['vectors of structs', ['fixed_size_list', 'struct', 'large_list']],
] as const;
const deep = deeper.map(([name, path]) => {
  const make = (): DataType =>
    path.reduceRight<DataType>(
      (type, each) => (nestedTypes[each] as (a: DataType, b: DataType) => DataType)(type, type),
      new Utf8(),
    );
  return [name, make] as const;
});

test.each([...leaves, ...nested, ...deep])('%s: cut anywhere, and changed', (_, make) => {
  const random = seeded(7);
  for (const nulls of [0, 0.3, 1]) {
    const type = make();
    const data = randomData(type, 40, random, nulls);
    const whole = digestOf(type, data);
    const rows = Uint32Array.from({ length: 40 }, (_, row) => row);
    for (let round = 0; round < 6; round++) {
      const cut = Math.floor(random() * 41);
      const [one, two] = [rows.subarray(0, cut), rows.subarray(cut)];
      expect(digestOf(type, gatherData(data, one), gatherData(data, two))).toBe(whole);
      expect(digestOf(type, data.slice(0, cut), data.slice(cut, 40 - cut))).toBe(whole);
    }
    const values = exactColumn(data);
    for (let round = 0; round < 12; round++) {
      const changed = rows.slice();
      const [at, from] = [Math.floor(random() * 40), Math.floor(random() * 40)];
      // A row that is there twice in place of another, two that changed places, and one that is gone.
      if (round % 3 === 0) changed[at] = from;
      else [changed[at], changed[from]] = [from, at];
      const kept = round % 3 === 1 ? changed.filter((_, row) => row !== at) : changed;
      const same =
        kept.length === 40 &&
        [...kept].every((row, place) => isDeepStrictEqual(values[row], values[place]));
      expect(digestOf(type, gatherData(data, kept)) === whole).toBe(same);
    }
  }
});

test('what lies in the place of nulls does not count, nor how a dictionary is filled', () => {
  const validity = Uint8Array.of(0b101);
  const numbers = (middle: number): Data =>
    dataOf(new Float64(), 3, {
      nullCount: 1,
      validity,
      values: Float64Array.of(1, middle, Number.NaN),
    });
  expect(digestOf(new Float64(), numbers(5))).toBe(digestOf(new Float64(), numbers(0)));
  const texts = (bytes: string, ...offsets: number[]): Data =>
    dataOf(new Utf8(), 3, {
      nullCount: 1,
      validity,
      offsets: Int32Array.from(offsets),
      values: Buffer.from(bytes),
    });
  const plain = digestOf(new Utf8(), texts('ab', 0, 1, 1, 2));
  expect(digestOf(new Utf8(), texts('axxb', 0, 1, 3, 4))).toBe(plain);
  expect(digestOf(new Utf8(), texts('ab', 0, 0, 0, 2))).not.toBe(plain);
  const type = new Dictionary(new Utf8(), new Int8());
  const words = (items: (string | null)[], indices: number[]): Data =>
    dataOf(type, 3, {
      values: Int8Array.from(indices),
      dictionary: vectorFromArray(items, new Utf8()),
    });
  const before = digestOf(type, words(['a', 'b', null], [0, 1, 2]));
  expect(digestOf(type, words([null, 'b', 'x', 'a'], [3, 1, 0]))).toBe(before);
  const twice = digestOf(type, words(['a', 'b', null], [0, 1, 2]), words(['b', 'a'], [1, 0, 5]));
  expect(twice).toBe(
    digestOf(type, words(['a', 'b', null], [0, 1, 2]), words(['a', 'b'], [0, 1, 5])),
  );
  const withNull = dataOf(type, 3, {
    nullCount: 1,
    validity: Uint8Array.of(0b011),
    values: Int8Array.of(0, 1, 0),
    dictionary: vectorFromArray(['a', 'b'], new Utf8()),
  });
  expect(digestOf(type, withNull)).toBe(before);
  expect(digestOf(type, words(['', 'b', 'a'], [2, 1, 0]))).not.toBe(before);
});

test('members of a null struct do not count', () => {
  const type = new Struct([new Field('a', new Float64(), true)]);
  const structs = (value: number): Data =>
    dataOf(type, 2, {
      nullCount: 1,
      validity: Uint8Array.of(0b01),
      children: [dataOf(new Float64(), 2, { values: Float64Array.of(1, value) })],
    });
  expect(digestOf(type, structs(2))).toBe(digestOf(type, structs(3)));
  const both = concatData([structs(2), structs(3)]);
  expect(digestOf(type, both)).toBe(digestOf(type, structs(4), structs(5)));
});
