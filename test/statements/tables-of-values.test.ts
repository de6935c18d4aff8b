/** Tables that number values grow in steps before values are added, and number them the same. */
import { describe, expect, test } from 'vitest';
import { Int32, Int64, Utf8, vectorFromArray } from '../../src/arrow/apache.ts';
import { indicesOf } from '../../src/arrow/index.ts';
import { type Column, reader } from '../../src/sql/index.ts';
import { ByteTable } from '../../src/statements/keys/byte-table.ts';
import { KeyNumbers } from '../../src/statements/keys/index.ts';
import { grown, WordTable } from '../../src/statements/keys/word-table.ts';

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
    expect(Buffer.from(add(from).buffer).equals(Buffer.from(numbers.buffer))).toBe(true);
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
      expect(Buffer.from(known.buffer).equals(Buffer.from(out.buffer))).toBe(true);
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

/** Numbers as a map gives them: from 1 on, in the order in which values first come. */
function numbered(keys: readonly string[], known: Map<string, number>): number[] {
  return keys.map((key) => {
    const number = known.get(key) ?? known.size + 1;
    known.set(key, number);
    return number;
  });
}

const random = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
};

test('short texts that come again, next to ones that differ in a byte or in length', () => {
  const int = random(5);
  const table = new ByteTable();
  const known = new Map<string, number>();
  for (let lot = 0; lot < 4; lot++) {
    const texts = Array.from({ length: 5_000 }, () => {
      const length = int(19);
      const text = 'a'.repeat(length).split('');
      if (length > 0) text[int(length)] = 'ab\0'[int(3)] as string;
      return text.join('');
    });
    const data = Buffer.from(texts.join(''));
    const ends = new Int32Array(texts.length);
    const starts = new Int32Array(texts.length);
    for (let at = 0, end = 0; at < texts.length; at++) {
      starts[at] = end;
      end += (texts[at] as string).length;
      ends[at] = end;
    }
    const looked = new Int32Array(texts.length);
    table.numbers({ data, starts, ends, valid: null }, false, looked);
    expect([...looked]).toEqual(texts.map((text) => known.get(text) ?? 0));
    const out = new Int32Array(texts.length);
    table.numbers({ data, starts, ends, valid: null }, true, out);
    expect([...out]).toEqual(numbered(texts, known));
  }
});

test.each([0, 4, 8, 12])('texts that differ in four bytes from %i on', (place) => {
  const table = new ByteTable();
  const count = 4_000;
  const data = Buffer.alloc(16 * count, 'a');
  for (let at = 0; at < count; at++) data.writeInt32LE(at * 31, 16 * at + place);
  const starts = Int32Array.from({ length: count }, (_, at) => 16 * at);
  const ends = starts.map((start) => start + 16);
  const out = new Int32Array(count);
  table.numbers({ data, starts, ends, valid: null }, true, out);
  expect(out.every((number, at) => number === at + 1)).toBe(true);
});

test('pairs of few numbers, and of ever more', () => {
  const int = random(9);
  const type = new Int32();
  const column = (values: Int32Array): Column => ({
    ...{ form: 'number', type, length: values.length, values, valid: null },
  });
  const keys = new KeyNumbers([type, type, type]);
  const known = new Map<string, number>();
  for (const below of [3, 3, 40, 7, 400, 2_000, 5]) {
    const columns = [0, 1, 2].map((at) =>
      Int32Array.from({ length: 3_000 }, () => int(at === 1 ? 5 : below) - 1),
    );
    const texts = Array.from({ length: 3_000 }, (_, row) =>
      columns.map((values) => values[row]).join(),
    );
    expect([...keys.add(columns.map(column))]).toEqual(numbered(texts, known));
    expect([...keys.find(columns.map(column))]).toEqual(numbered(texts, known));
    const numbers = Int32Array.from(texts, (text) => known.get(text) as number);
    const back = keys.columns(numbers).map(reader);
    expect(texts.map((_, row) => back.map((read) => read(row)).join())).toEqual(texts);
  }
  const none = [9_999, 1, 1].map((value) => column(Int32Array.of(value)));
  expect([...keys.find(none)]).toEqual([0]);
});

test('short texts among nulls, of two tables, and some that lie elsewhere than in a row', () => {
  const int = random(11);
  const tables = [new ByteTable(), new ByteTable()] as const;
  const known = [new Map<string, number>(), new Map<string, number>()] as const;
  for (let lot = 0; lot < 6; lot++) {
    const which = lot % 2;
    const rows = 3_000;
    // The second table has the texts of the first in another order, so that numbers differ.
    const texts = Array.from({ length: rows }, () => `t${which === 0 ? int(50) : 49 - int(50)}`);
    const data = Buffer.from(texts.join(''));
    const starts = new Int32Array(rows);
    const ends = new Int32Array(rows);
    const valid = new Uint8Array(rows).fill(1);
    for (let row = 0, end = 0; row < rows; row++) {
      starts[row] = end;
      end += (texts[row] as string).length;
      ends[row] = end;
    }
    for (let row = 5; row < rows - 5; row += 7) {
      // Null, with garbage for a place or a text; and a row that has the text of another.
      valid[row] = 0;
      if (row % 2 === 0) starts[row] = -5;
      starts[row + 1] = starts[rows - 1] as number;
      ends[row + 1] = ends[rows - 1] as number;
      texts[row + 1] = texts[rows - 1] as string;
    }
    const out = new Int32Array(rows);
    tables[which]?.numbers({ data, starts, ends, valid }, true, out);
    const there = texts.filter((_, row) => valid[row] === 1);
    const expected = numbered(there, known[which] as Map<string, number>);
    expect([...out].filter((_, row) => valid[row] === 1)).toEqual(expected);
    expect([...out].filter((_, row) => valid[row] === 0).every((number) => number === 0)).toBe(
      true,
    );
  }
});

test('integers of one and of two words, small, negative and beyond, with nulls', () => {
  const int = random(13);
  const [narrow, wide] = [new Int32(), new Int64()];
  const known = new Map<string, number>();
  const keys = new KeyNumbers([wide]);
  for (const below of [10, 5_000, 600_000, 2 ** 31, 4]) {
    const rows = 4_000;
    const values = Int32Array.from({ length: rows }, () => int(below) * (int(2) === 0 ? 1 : -1));
    const valid = Uint8Array.from({ length: rows }, () => (int(5) === 0 ? 0 : 1));
    const columns: readonly Column[] = [
      { form: 'number', type: narrow, length: rows, values, valid },
      { form: 'number', type: narrow, length: rows, values, valid: null },
      {
        form: 'wide',
        type: wide,
        length: rows,
        values: BigInt64Array.from(values, BigInt),
        valid: null,
      },
      {
        form: 'wide',
        type: wide,
        length: rows,
        values: BigInt64Array.from(values, (value) => BigInt(value) + (1n << 32n)),
        valid: null,
      },
    ];
    for (const column of columns) {
      const read = reader(column);
      const texts = Array.from({ length: rows }, (_, row) => String(read(row)));
      const found = [...keys.find([column])];
      expect(found).toEqual(texts.map((text) => known.get(text) ?? 0));
      const there = texts.filter((text) => text !== 'null');
      const expected = numbered(there, known);
      const added = [...keys.add([column])];
      expect(added.filter((_, row) => texts[row] !== 'null')).toEqual(expected);
      expect(added.filter((_, row) => texts[row] === 'null').every((number) => number === 0)).toBe(
        true,
      );
    }
  }
});

test('indices of a dictionary, and those that lead out of it', () => {
  const words = vectorFromArray(['a', 'b', null, 'b'], new Utf8());
  const keys = new KeyNumbers([new Utf8()]);
  const numbersOf = (rows: readonly number[]): number[] => [
    ...keys.add([indicesOf(words, Uint32Array.from(rows))]),
  ];
  expect(numbersOf([1, 1, 4, -1, 2, 2 ** 31])).toEqual([1, 1, 0, 0, 0, 0]);
  expect(numbersOf([0, 3, 1, 9])).toEqual([2, 1, 1, 0]);
});

test('a table that can grow no more says how many keys are possible, and what to do', () => {
  const most = 1 << 26;
  expect(grown(most >> 1)).toBe(most);
  expect(() => grown(most)).toThrow(
    expect.objectContaining({
      code: 'InvalidInput',
      message: expect.stringMatching(/44739242 different ones.* Filter the rows/),
    }),
  );
});
