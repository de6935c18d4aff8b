/** Columns of integers are compared in the kernels as value by value, also where their differences are large. */
import { expect, test } from 'vitest';
import { type DataType, Int32, Int64 } from '../../src/arrow/index.ts';
import { compareColumns } from '../../src/sql/evaluate/evaluate-compare-columns.ts';
import type { Column } from '../../src/sql/index.ts';

const TRUTHS = {
  '=': (a: bigint, b: bigint) => a === b,
  '<>': (a: bigint, b: bigint) => a !== b,
  '<': (a: bigint, b: bigint) => a < b,
  '<=': (a: bigint, b: bigint) => a <= b,
  '>': (a: bigint, b: bigint) => a > b,
  '>=': (a: bigint, b: bigint) => a >= b,
} as const;

const ROWS = 3_001;

function column(type: DataType, value: (row: number) => bigint): Column {
  const valid = Uint8Array.from({ length: ROWS }, (_, row) => (row % 13 === 5 ? 0 : 1));
  const all = Array.from({ length: ROWS }, (_, row) => value(row));
  return type instanceof Int32
    ? { form: 'number', type, length: ROWS, values: Int32Array.from(all, Number), valid }
    : { form: 'wide', type, length: ROWS, values: BigInt64Array.from(all), valid };
}

test.each([
  ['of 32 bits', new Int32(), 2n ** 31n],
  ['of 64 bits', new Int64(), 2n ** 40n],
  ['of 64 bits whose differences need more', new Int64(), 2n ** 63n],
])('%s', (_, type, limit) => {
  const edges = [-limit, limit - 1n, 0n, -1n, 1n, 7n];
  const left = (row: number): bigint => edges[row % 6] as bigint;
  const right = (row: number): bigint => edges[(row * 5 + (row >> 3)) % 6] as bigint;
  const [a, b] = [column(type, left), column(type, right)];
  for (const [op, holds] of Object.entries(TRUTHS)) {
    const expected = Uint8Array.from({ length: ROWS }, (_, row) =>
      row % 13 === 5 ? 1 : holds(left(row), right(row)) ? 2 : 0,
    );
    expect(compareColumns(op as keyof typeof TRUTHS, a, b), op).toEqual(expected);
  }
});
