/**
 * How a function of single values becomes one over columns. It knows columns and the rule that a
 * null argument gives null; it knows no particular function.
 */
import type { DataType } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
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
  const readers = args.map((arg) => boundedReader(arg, memory));
  const values: Value[] = new Array(length);
  const row: Value[] = new Array(args.length);
  for (let i = 0; i < length; i++) {
    let missing = false;
    for (let k = 0; k < readers.length; k++) {
      const value = readers[k]?.(i) ?? null;
      if (value === null) {
        missing = true;
        break;
      }
      row[k] = value;
    }
    values[i] = missing ? null : compute(row, type, memory);
  }
  return columnOf(type, values);
}
