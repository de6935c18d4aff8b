/** Keys of a merge that are codes of dictionaries are matched by their values. */
import {
  type Data,
  Dictionary,
  Int32,
  makeData,
  makeVector,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { drained } from '../../../src/steps.ts';
import { indexKeys } from '../../../src/table/merge/key-index.ts';
import { seeded } from '../../helpers/seeded.ts';

const random = seeded(3);
const below = (count: number): number => Math.floor(random() * count);
const utf8 = new Utf8();

/** Values may be there twice, or null, or of no row. */
function dictionaryOf(size: number): Vector {
  const values = Array.from({ length: size }, () => (random() < 0.1 ? null : `k${below(60)}`));
  const [first] = vectorFromArray(values, utf8).data;
  return makeVector(first as Data<Utf8>);
}

function columnOf(dictionary: Vector, rows: number): { data: Data; values: (string | null)[] } {
  const codes = Int32Array.from({ length: rows }, () => below(dictionary.length));
  const valid = Array.from({ length: rows }, () => random() < 0.9);
  const bits = new Uint8Array(Math.ceil(rows / 8));
  for (const [row, isValid] of valid.entries())
    if (isValid) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  const type = new Dictionary(utf8, new Int32());
  const nullCount = valid.filter((isValid) => !isValid).length;
  const data = makeData({
    type,
    length: rows,
    nullCount,
    nullBitmap: bits,
    data: codes,
    dictionary,
  });
  const values = valid.map((isValid, row) =>
    isValid ? dictionary.get(codes[row] as number) : null,
  );
  return { data, values };
}

test('codes match the first row of the same value, of any dictionary', () => {
  for (let run = 0; run < 20; run++) {
    const shared = dictionaryOf(30);
    const chunks = [columnOf(shared, 90), columnOf(dictionaryOf(40), 50), columnOf(shared, 70)];
    const values = chunks.flatMap((chunk) => chunk.values);
    const type = chunks[0]?.data.type as Dictionary;
    const index = drained(
      indexKeys(
        [type],
        chunks.map(({ data }) => [data]),
      ),
    );
    const first = (value: string | null): number => (value === null ? -1 : values.indexOf(value));
    expect([...index.firsts]).toEqual(values.map(first));
    for (const dictionary of [
      shared,
      dictionaryOf(90),
      ...Array.from({ length: 20 }, () => dictionaryOf(3)),
    ]) {
      const { data, values: asked } = columnOf(dictionary, 100);
      expect([...drained(index.match([data], 100))]).toEqual(asked.map(first));
    }
  }
});
