/**
 * Turns functions of single values into functions of whole columns, for the definitions of SQL
 * functions. A `strict` function gives null if an argument is null. Its `evaluate` computes at
 * once; its `inSteps` yields between texts of 65,536 UTF-16 units together, and with `long` within
 * a longer text, so that the event loop is not blocked. `strictInSteps` is for functions of which
 * each single value may take long. `boundedReader` counts long texts and lists as memory before it
 * reads them. `quicker` first tries a faster computation of the whole column.
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

/**
 * A function that is null wherever an argument is null, computed row by row; in steps, a step ends after
 * 65,536 units of text. `long` has the same outcome as `compute`, in steps, for a row of more text.
 */
export function strict(
  name: string,
  compute: Compute,
  options: { fallible?: boolean; long?: ComputeInSteps } = {},
): RowFunction {
  const { long } = options;
  return {
    name,
    fallible: options.fallible ?? false,
    evaluate: (args, length, type, memory) => mapRows(args, length, type, compute, memory),
    inSteps: (args, length, type, memory) =>
      mapInSteps(args, length, type, { compute, long }, memory),
  };
}

/** The value of a row, in steps. */
export type ComputeInSteps = (
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

interface Whole {
  readonly length: number;
  readonly type: DataType;
  readonly memory: BatchMemory;
}

/** A column of all rows, or steps that make it; null where the values are computed one by one. */
type Quick = Column | null | Generator<void, Column>;

/**
 * `run`, by `quick` where that gives a column: for all rows at once, in a few milliseconds at most, or
 * in steps that take as long.
 */
export function quicker(
  run: RowFunction,
  quick: (args: readonly Column[], whole: Whole) => Quick,
): RowFunction {
  const { inSteps } = run;
  return {
    ...run,
    evaluate(args, length, type, memory) {
      const made = quick(args, { length, type, memory });
      if (made === null) return run.evaluate(args, length, type, memory);
      return 'form' in made ? made : drained(made);
    },
    ...(inSteps && {
      *inSteps(args, length, type, memory) {
        const made = quick(args, { length, type, memory });
        if (made === null) return yield* inSteps(args, length, type, memory);
        return 'form' in made ? made : yield* made;
      },
    }),
  };
}

/** A longer text is counted before it is made of its bytes. */
const LONG_BYTES = 1 << 20;
/** And so is a list of more items, each of so many bytes at least. */
const LONG_LIST = 1 << 16;
const ITEM_BYTES = 16;

export function boundedReader(column: Column, memory: BatchMemory): (row: number) => Value {
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
function mapRows(
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

/** Units of text that rows have between two steps; one with more is gone through in steps of its own. */
export const STEP_UNITS: number = 1 << 16;
/** What a row takes beside its text, in units. */
const ROW_UNITS = 16;

interface Computed {
  readonly compute: Compute;
  readonly long: ComputeInSteps | undefined;
}

/** As `mapRows`, in steps. */
function* mapInSteps(
  args: readonly Column[],
  length: number,
  type: DataType,
  computed: Computed,
  memory: BatchMemory,
): Generator<void, Column> {
  const constant = args.every(({ form }) => form === 'constant');
  const nothing = args.some((arg) => arg.form === 'constant' && arg.value === null);
  if (nothing || length === 0 || !args.some(isText)) {
    return mapRows(args, length, type, computed.compute, memory);
  }
  const rows = constant ? 1 : length;
  const values: Value[] = new Array(rows);
  const read = rowReader(args, memory);
  for (let row = 0; row < rows; ) {
    if (row > 0) yield;
    const step = mapStep(read, values, row, computed, type, memory);
    row = step.row;
    if (step.long !== null && computed.long !== undefined) {
      values[row++] = yield* computed.long(step.long, type, memory);
    }
  }
  return constant ? constantColumn(type, values[0] ?? null, length) : columnOf(type, values);
}

const isText = ({ form }: Column): boolean =>
  form === 'bytes' || form === 'values' || form === 'constant';

/** Computes values from `first` on until a step is full; `long` is the row that it came to, to be gone through in steps. */
function mapStep(
  read: (at: number) => readonly Value[] | null,
  values: Value[],
  first: number,
  computed: Computed,
  type: DataType,
  memory: BatchMemory,
): { row: number; long: readonly Value[] | null } {
  const { compute, long } = computed;
  let units = 0;
  for (let row = first; row < values.length; row++) {
    const args = read(row);
    let here = ROW_UNITS;
    if (args === null) values[row] = null;
    else {
      for (let k = 0; k < args.length; k++) {
        const value = args[k];
        if (typeof value === 'string' || value instanceof Uint8Array) here += value.length;
      }
      if (here > STEP_UNITS && long !== undefined) return { row, long: args };
      values[row] = compute(args, type, memory);
    }
    units += here;
    if (units >= STEP_UNITS) return { row: row + 1, long: null };
  }
  return { row: values.length, long: null };
}
