/**
 * Lifts a function of single values to columns (`strict`): it is null wherever an argument is null.
 * `strictInSteps` does so for functions that may take long per value.
 */
import type { DataType } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { drained } from '../../steps.ts';
import {
  type Column,
  columnOf,
  constantColumn,
  type RowFunction,
  reader,
  type Value,
} from '../typed/index.ts';

/** The value of a row; asks `memory` before it makes a text. */
type Compute = (args: readonly Value[], type: DataType, memory: BatchMemory) => Value;

/** A function that is null wherever an argument is null, one row at a time. */
export function strict(
  name: string,
  compute: Compute,
  options: { fallible?: boolean } = {},
): RowFunction {
  return {
    name,
    fallible: options.fallible ?? false,
    evaluate: (args, length, type, memory) => mapRows(args, length, type, compute, memory),
  };
}

/** The value of a row, in steps. */
type ComputeInSteps = (
  args: readonly Value[],
  type: DataType,
  memory: BatchMemory,
) => Generator<void, Value>;

type Stepped = RowFunction & Required<Pick<RowFunction, 'inSteps'>>;

/** The same for values that may take long each. It may throw for some of them. */
export function strictInSteps(name: string, compute: ComputeInSteps): Stepped {
  function* inSteps(
    args: readonly Column[],
    length: number,
    type: DataType,
    memory: BatchMemory,
  ): Generator<void, Column> {
    const values: Value[] = [];
    const isConstant = args.every((arg) => arg.form === 'constant') && length > 0;
    const read = rowReader(args, memory);
    for (let i = 0; i < (isConstant ? 1 : length); i++) {
      const row = read(i);
      values.push(row === null ? null : yield* compute(row, type, memory));
    }
    return isConstant ? constantColumn(type, values[0] ?? null, length) : columnOf(type, values);
  }
  return {
    name,
    fallible: true,
    evaluate: (args, length, type, memory) => drained(inSteps(args, length, type, memory)),
    inSteps,
  };
}

/** A longer text is counted before it is made of its bytes. */
const LONG_BYTES = 1 << 20;
/** And so is a list of more items, each of so many bytes at least. */
const LONG_LIST = 1 << 16;
const ITEM_BYTES = 16;

function boundedReader(column: Column, memory: BatchMemory): (row: number) => Value {
  const read = reader(column);
  if (column.form !== 'bytes' && column.form !== 'list') return read;
  const { starts, ends, form } = column;
  return (row) => {
    const size = (ends[row] as number) - (starts[row] as number);
    if (form === 'list' && size > LONG_LIST) memory.take(ITEM_BYTES * size);
    else if (form === 'bytes' && size > LONG_BYTES) memory.text(size);
    return read(row);
  };
}

/** Row by row; constants are read once. */
export function mapRows(
  args: readonly Column[],
  length: number,
  type: DataType,
  compute: Compute,
  memory: BatchMemory,
): Column {
  if (args.some((arg) => arg.form === 'constant' && arg.value === null)) {
    return constantColumn(type, null, length);
  }
  if (args.every((arg) => arg.form === 'constant') && length > 0) {
    const value = compute(
      args.map((arg) => (arg.form === 'constant' ? arg.value : null)),
      type,
      memory,
    );
    return constantColumn(type, value, length);
  }
  const read = rowReader(args, memory);
  const values: Value[] = new Array(length);
  for (let i = 0; i < length; i++) {
    const row = read(i);
    values[i] = row === null ? null : compute(row, type, memory);
  }
  return columnOf(type, values);
}

/** Reads the arguments of a row into the same array again and again; null where one of them is. */
function rowReader(
  args: readonly Column[],
  memory: BatchMemory,
): (at: number) => readonly Value[] | null {
  const readers = args.map((arg) => boundedReader(arg, memory));
  const row: Value[] = new Array(args.length);
  return (at) => {
    for (let k = 0; k < readers.length; k++) {
      const value = readers[k]?.(at) ?? null;
      if (value === null) return null;
      row[k] = value;
    }
    return row;
  };
}
