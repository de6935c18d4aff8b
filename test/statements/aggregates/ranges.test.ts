/**
 * Results of a range of groups take time and memory for these groups alone, however many there are
 * before them: a statement asks for all groups range after range.
 */
import { describe, expect, test } from 'vitest';
import { type DataType, Float64, Int64 } from '../../../src/arrow/index.ts';
import { RequestMemory } from '../../../src/request-memory.ts';
import { type Column, reader } from '../../../src/sql/index.ts';
import { accumulator, resultOf } from '../../../src/statements/aggregates/index.ts';
import { run } from '../../helpers/steps.ts';

const GROUPS = 300;
/** More groups than an array may have places for. */
const FAR = 2 ** 50;

const SHAPES: Record<string, readonly [name: string, argument: DataType, type: DataType]> = {
  'a sum of integers': ['sum', new Int64(), new Int64()],
  'a mean of integers': ['avg', new Int64(), new Float64()],
  'a sum of floats': ['sum', new Float64(), new Float64()],
  'a mean of floats': ['avg', new Float64(), new Float64()],
  'a deviation': ['stddev_samp', new Float64(), new Float64()],
  'a bound of floats': ['min', new Float64(), new Float64()],
  'a correlation': ['corr', new Float64(), new Float64()],
};

function columnOf(type: DataType): Column {
  const values = Float64Array.from({ length: 3 * GROUPS }, (_, row) => (row % 7) + (row % GROUPS));
  return { form: 'number', type, length: values.length, values, valid: null };
}

describe.each(Object.entries(SHAPES))('%s', (_, [name, argument, type]) => {
  const memory = new RequestMemory(2 ** 30);
  const state = accumulator({ name, type, argument, separator: '', order: [], memory });
  const groups = Int32Array.from({ length: 3 * GROUPS }, (_, row) => (row % GROUPS) - 1);
  state.add(groups, GROUPS - 1, [columnOf(argument), columnOf(argument)]);
  const valuesOf = (from: number, to: number): unknown[] => {
    const column = run(resultOf(state, { from, to })) as Column;
    const read = reader(column);
    return Array.from({ length: column.length }, (_, at) => read(at) ?? null);
  };

  test('has the values of all groups, range after range', () => {
    const all = valuesOf(0, GROUPS);
    const parts = [0, 100, 200].flatMap((from) => valuesOf(from, from + 100));
    expect(parts).toEqual(all);
    expect(all.slice(0, -1)).not.toContain(null);
    expect(all.at(-1)).toBeNull();
  });

  test('makes no room for the groups before', () => {
    expect(valuesOf(FAR, FAR + 2)).toEqual([null, null]);
  });
});
