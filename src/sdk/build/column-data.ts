/**
 * Defines what the builders of Arrow columns in this folder share. `BuildContext` is the state that
 * all columns and record batches of one stream share. A `Place` tells at which row and path of the
 * caller's data a value stands, and whether it may be null; `columnPlace` makes that of a top-level
 * column. `misfit` returns the error for a value that does not fit its column
 * (TableSchemaValidation). `findNulls` returns the bitmap of nulls, and throws that error for a
 * null where none is allowed. `arrowData` wraps buffers as Arrow data.
 */
import {
  Data,
  type DataType,
  type Dictionary,
  describeType,
  type Field,
  type Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { showValue } from './show-value.ts';

/** The place of a column in the caller's data, for messages about values that do not fit. */
export interface Place {
  readonly nullable: boolean;
  /** Row of the whole input, counted from 0. */
  row(index: number): number;
  /** Column path such as `a.b[3]`. */
  path(index: number): string;
  /** True where a parent is null, so that a null here breaks no rule. */
  hidden(index: number): boolean;
}

/** What a dictionary column has handed out so far; lives as long as its stream. */
export interface DictionaryMemory {
  readonly codes: Map<unknown, number>;
  readonly chunks: Data[];
  /** Columns of the batch being built that use it. */
  readonly users: Data[];
  vector?: Vector;
}

export interface BuildContext {
  /** Builds any column; passed along so that nested builders need no import cycle. */
  build(type: DataType, values: readonly unknown[], place: Place, context: BuildContext): Data;
  readonly dictionaries: Map<Dictionary['id'], DictionaryMemory>;
  /** Refuse numbers that float32 or float16 would round (casts of Arrow data). */
  readonly exactFloats: boolean;
  /** Round bigints in columns of floats: the digits of a file are those of some float, not all of its own. */
  readonly roundsIntegers: boolean;
  /** Added to messages about a column, for example that its type was inferred. */
  readonly hint: (column: string, isMissing?: boolean) => string;
}

export interface Nulls {
  readonly count: number;
  readonly bitmap: Uint8Array;
}

export function misfit(
  place: Place,
  index: number,
  value: unknown,
  type: DataType,
  context: Pick<BuildContext, 'hint'>,
  why = '',
): DirspaceError {
  const row = place.row(index);
  const column = place.path(index);
  const expected = describeType(type) + (place.nullable ? '' : ' (not null)');
  const found = showValue(value ?? null);
  const reason = why === '' ? '' : ` (${why})`;
  return new DirspaceError(
    'TableSchemaValidation',
    `Row ${row}, column "${column}": found ${found}, expected ${expected}${reason}.${context.hint(column)}`,
    { details: { row, column, found, expected } },
  );
}

/** The bitmap of nulls, undefined when there are none. Refuses nulls where none may be. */
export function findNulls(
  type: DataType,
  values: readonly unknown[],
  place: Place,
  context: BuildContext,
): Nulls | undefined {
  const { length } = values;
  let count = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (value !== null && value !== undefined) continue;
    if (!place.nullable && !place.hidden(i)) throw misfit(place, i, value, type, context);
    count++;
  }
  if (count === 0) return undefined;
  const bitmap = new Uint8Array(bitmapBytes(length));
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (value !== null && value !== undefined) bitmap[i >> 3]! |= 1 << (i & 7);
  }
  return { count, bitmap };
}

/** Bytes of a bitmap for `length` values, padded to 8 as Arrow wants buffers. */
export const bitmapBytes = (length: number): number => Math.ceil(length / 64) * 8;

export interface DataParts {
  readonly offsets?: Int32Array | BigInt64Array | undefined;
  readonly values?: ArrayBufferView | undefined;
  readonly typeIds?: Int8Array | undefined;
  readonly children?: readonly Data[];
  readonly dictionary?: Vector;
  readonly variadic?: readonly Uint8Array[];
}

type BufferTuple = ConstructorParameters<typeof Data>[4];

/** Wraps buffers as Arrow data starting at offset 0. */
export function arrowData(
  type: DataType,
  length: number,
  nulls: Nulls | undefined,
  parts: DataParts,
): Data {
  const buffers = [parts.offsets, parts.values, nulls?.bitmap, parts.typeIds];
  return new Data(
    type,
    0,
    length,
    nulls?.count ?? 0,
    buffers as unknown as BufferTuple,
    (parts.children ?? []) as Data[],
    parts.dictionary,
    parts.variadic as Uint8Array[] | undefined,
  );
}

/** The place of a top-level column whose first value stands at row `base`. */
export function columnPlace(field: Field, base: number): Place {
  const { name, nullable } = field;
  return { nullable, row: (i) => base + i, path: () => name, hidden: () => false };
}
