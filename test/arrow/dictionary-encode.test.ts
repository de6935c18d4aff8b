/** How many values a dictionary gets for a column, and where they are once columns are joined. */
import {
  Bool,
  type Data,
  Dictionary,
  Int8,
  Int64,
  makeData,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { concatData } from '../../src/arrow/concat.ts';
import { encodeDictionary } from '../../src/arrow/dictionary-encode.ts';

const dataOf = (values: unknown[], type: Bool | Utf8): Data =>
  vectorFromArray(values, type).data[0] as Data;

test('values that cannot be compared get one entry for each row, as many as the indices number', () => {
  const rows = Array.from({ length: 128 }, (_, row) => row % 3 === 0);
  const type = new Dictionary(new Bool(), new Int8());
  const encoded = encodeDictionary(dataOf(rows, new Bool()), type);
  expect(encoded.dictionary?.length).toBe(128);
  expect(Array.from(encoded.values as Int8Array)).toEqual(Array.from(rows.keys()));
  expect(() => encodeDictionary(dataOf([...rows, true], new Bool()), type)).toThrow('129 values');
});

test('equal texts share an entry, the first ones too', () => {
  const type = new Dictionary(new Utf8(), new Int8());
  const encoded = encodeDictionary(dataOf(['a', 'a', null, 'b', 'a'], new Utf8()), type);
  expect(encoded.dictionary?.toArray()).toEqual(['a', 'b']);
  expect(encoded.nullCount).toBe(1);
  const indices = Array.from(encoded.values as Int8Array);
  expect([indices[0], indices[1], indices[3], indices[4]]).toEqual([0, 0, 1, 0]);
});

test('columns with indices of 64 bits are joined', () => {
  const column = (values: string[], indices: bigint[]): Data =>
    makeData({
      type: new Dictionary(new Utf8(), new Int64() as never),
      length: indices.length,
      data: BigInt64Array.from(indices),
      dictionary: vectorFromArray(values, new Utf8()),
    } as never);
  const joined = concatData([column(['a', 'b'], [0n, 1n]), column(['b', 'c'], [1n, 0n])]);
  expect(joined.dictionary?.toArray()).toEqual(['a', 'b', 'c']);
  expect(joined.values).toEqual(BigInt64Array.of(0n, 1n, 2n, 1n));
});
