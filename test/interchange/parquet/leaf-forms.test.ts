/** Values of Parquet that its own annotation, or Arrow's type, cannot hold are refused by column. */
import { expect, test } from 'vitest';
import { leafForm } from '../../../src/interchange/parquet/leaf-forms.ts';
import type { ParquetNode } from '../../../src/interchange/parquet/metadata.ts';
import { FixedStore } from '../../../src/interchange/parquet/stores.ts';

const node = (of: Partial<ParquetNode>): ParquetNode => ({
  ...{ name: 'small', physical: 1, width: 0, repetition: 'required', converted: undefined },
  ...{ logical: undefined, scale: 0, precision: 0, children: [], maxDefinition: 0 },
  ...{ maxRepetition: 0 },
  ...of,
});

const refuse = (what: string): never => {
  throw new Error(what);
};

function read(of: ParquetNode, words: readonly number[], width: number): unknown[] {
  const store = new FixedStore(width, refuse);
  const at = store.add((4 * words.length) / width);
  const view = new DataView(store.bytes.buffer, at);
  for (const [each, word] of words.entries()) view.setInt32(4 * each, word, true);
  const length = (4 * words.length) / width;
  const slots = { length, nulls: 0, validity: undefined };
  return [...(leafForm(of, undefined, refuse).make(store, slots).values as Int8Array)];
}

test.each<[string, number, number, readonly number[], readonly number[]]>([
  ['8 bits without a sign', 11, 8, [0, 255], [256, 300, -1]],
  ['16 bits without a sign', 12, 16, [0, 65_535], [65_536, -1]],
  ['8 bits', 15, 8, [-128, 127], [128, -129, 300]],
  ['16 bits', 16, 16, [-32_768, 32_767], [32_768, -32_769]],
])('an integer of %s', (what, converted, bits, good, bad) => {
  const logical = { 10: { 1: bits, 2: !what.includes('without') } };
  for (const of of [node({ converted }), node({ logical })]) {
    expect(read(of, good, 4)).toEqual(good);
    for (const value of bad) {
      expect(() => read(of, [good[0] as number, value], 4)).toThrow(
        `the column "small" is of ${what} and has the value ${value}`,
      );
    }
  }
});

test('months and days of an interval that Arrow has not', () => {
  const of = node({ name: 'iv', physical: 7, width: 12, converted: 21 });
  const most = 2 ** 31 - 1;
  expect(read(of, [most, most, 5], 12)).toEqual([most, most, 5_000_000, 0]);
  expect(() => read(of, [2 ** 31, 1, 0], 12)).toThrow(
    'the column "iv" has an interval of 2147483648 months and 1 days',
  );
  expect(() => read(of, [0, 2 ** 32 - 1, 0], 12)).toThrow('of 0 months and 4294967295 days');
});
