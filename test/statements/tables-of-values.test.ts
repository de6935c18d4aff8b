/** Tables that number values grow in steps before values are added, and number them the same. */
import { describe, expect, test } from 'vitest';
import { ByteTable, WordTable } from '../../src/statements/keys/word-table.ts';

const COUNT = 200_000;
const LOT = 20_000;

/** Adds all values in lots, each lot twice; gives the steps of `reserve`. */
function filled(add: (from: number) => Int32Array, reserve: () => Generator<void, void>): number {
  let steps = 0;
  let next = 1;
  for (let from = 0; from < COUNT; from += LOT) {
    for (const _ of reserve()) steps++;
    const numbers = add(from);
    expect(numbers[0]).toBe(from === 0 ? 1 : next);
    next = (numbers.at(-1) as number) + 1;
    expect(add(from)).toEqual(numbers);
  }
  expect(next).toBe(COUNT + 1);
  return steps;
}

describe.each(['reserved', 'as it grows'])('%s', (how) => {
  const isReserved = how === 'reserved';
  function* none(): Generator<void, void> {}

  test('words', () => {
    const table = new WordTable();
    const words = (from: number): Int32Array =>
      Int32Array.from({ length: 2 * LOT }, (_, at) =>
        at % 2 === 0 ? (from + (at >> 1)) * 7 : (from + (at >> 1)) % 3,
      );
    const add = (from: number): Int32Array => {
      const { bytes, size } = table;
      const out = new Int32Array(LOT);
      table.numbers(words(from), out);
      if (isReserved && size >= 1 << 15) expect(table.bytes).toBe(bytes);
      const known = new Int32Array(LOT);
      table.known(words(from), known);
      expect(known).toEqual(out);
      return out;
    };
    const steps = filled(add, () => (isReserved ? table.reserve(LOT) : none()));
    expect(steps > 3).toBe(isReserved);
  });

  test('texts', () => {
    const table = new ByteTable();
    const add = (from: number): Int32Array => {
      const texts = Array.from({ length: LOT }, (_, at) => `value ${from + at}`);
      const data = Buffer.from(texts.join(''));
      const ends = new Int32Array(LOT);
      const starts = new Int32Array(LOT);
      for (let at = 0, end = 0; at < LOT; at++) {
        starts[at] = end;
        end += (texts[at] as string).length;
        ends[at] = end;
      }
      const out = new Int32Array(LOT);
      table.numbers({ data, starts, ends, valid: null }, true, out);
      return out;
    };
    const steps = filled(add, () => (isReserved ? table.reserve(LOT) : none()));
    expect(steps > 3).toBe(isReserved);
  });
});
