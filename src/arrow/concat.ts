/**
 * `concatData` joins columns of one type into one by copying their buffers, and `concatBatches`
 * joins batches. `concatBatchesInSteps` does the same as a generator, which pauses between columns
 * if there are many. A single column or batch is returned as it is, and the data buffers of views
 * are shared. The functions throw InvalidInput if there is nothing to join, or if the result needs
 * wider offsets or dictionary indices than its type has. `indexCapacity` tells how many entries a
 * dictionary type can address, and `unionVector` joins the pieces of a DictionaryUnion.
 */

import { DirspaceError } from '../errors.ts';
import { drained } from '../steps.ts';
import { type Data, type DataType, type RecordBatch, Type, UnionMode, Vector } from './apache.ts';
import {
  columnsOf,
  dataOf,
  nullColumn,
  type Offsets,
  offsetAt,
  recordBatch,
  sliceData,
} from './arrow-data.ts';
import {
  childFields,
  hasLargeOffsets,
  layoutOf,
  strideOf,
  type TypedArray,
  valueArray,
} from './arrow-types.ts';
import { bitmapBytes, copyBits, setBits } from './bitmaps.ts';
import { DictionaryUnion, remapIndices } from './dictionaries.ts';

/**
 * One column with the rows of all, which must be of one type and at least one.
 * @throws InvalidInput when the result needs wider offsets or dictionary indices than its type has
 */
export function concatData(columns: readonly Data[]): Data {
  const [first] = columns;
  if (first === undefined) throw new DirspaceError('InvalidInput', 'There are no columns to join');
  if (columns.length === 1) return first;
  const { type } = first;
  const length = columns.reduce((rows, column) => rows + column.length, 0);
  const validity = concatValidity(columns, length);
  switch (layoutOf(type)) {
    case 'null':
      return dataOf(type, length, {});
    case 'bits':
      return dataOf(type, length, { ...validity, values: concatBits(columns, length) });
    case 'fixed':
      return dataOf(type, length, { ...validity, values: concatValues(columns, type, length) });
    case 'dictionary':
      return concatDictionaries(columns, type, length, validity);
    case 'view':
      return dataOf(type, length, { ...validity, ...concatViews(columns, type, length) });
    case 'binary': {
      const offsets = concatOffsets(columns, type, length);
      const values = new Uint8Array(offsetAt(offsets, length));
      let at = 0;
      for (const column of columns) {
        const [begin, end] = span(column);
        if (end > begin) values.set((column.values as Uint8Array).subarray(begin, end), at);
        at += end - begin;
      }
      return dataOf(type, length, { ...validity, offsets, values });
    }
    case 'list':
      return dataOf(type, length, {
        ...validity,
        offsets: concatOffsets(columns, type, length),
        children: [
          concatData(
            columns.map((column) => {
              const [begin, end] = span(column);
              return sliceData(column.children[0] as Data, begin, end - begin);
            }),
          ),
        ],
      });
    case 'fixed-list':
      return dataOf(type, length, {
        ...validity,
        children: concatChildren(columns, type, strideOf(type)),
      });
    case 'struct':
      return dataOf(type, length, { ...validity, children: concatChildren(columns, type, 1) });
    case 'union':
      return concatUnions(columns, type, length);
  }
}

/** One batch with the rows of all, which must fit one schema. */
export const concatBatches = (batches: readonly RecordBatch[]): RecordBatch =>
  drained(concatBatchesInSteps(batches));

/** Parts of columns that are joined in one step, about. */
const STEP_PARTS = 1 << 12;

/** The same in steps, where there are many columns. */
export function* concatBatchesInSteps(
  batches: readonly RecordBatch[],
): Generator<undefined, RecordBatch> {
  const [first] = batches;
  if (first === undefined) throw new DirspaceError('InvalidInput', 'There are no batches to join');
  if (batches.length === 1) return first;
  const rows = batches.reduce((total, batch) => total + batch.numRows, 0);
  const columns: Data[] = [];
  let parts = 0;
  for (let column = 0; column < first.schema.fields.length; column++) {
    columns.push(concatData(batches.map((batch) => columnsOf(batch)[column] as Data)));
    parts += batches.length;
    if (parts < STEP_PARTS) continue;
    parts = 0;
    yield;
  }
  return recordBatch(first.schema, columns, rows);
}

interface Validity {
  readonly nullCount: number;
  readonly validity: Uint8Array | undefined;
}

function concatValidity(columns: readonly Data[], length: number): Validity {
  const { type } = columns[0] as Data;
  if (type.typeId === Type.Null || type.typeId === Type.Union) {
    return { nullCount: 0, validity: undefined };
  }
  const nullCount = columns.reduce((nulls, column) => nulls + Math.max(column.nullCount, 0), 0);
  if (nullCount === 0) return { nullCount, validity: undefined };
  const validity = new Uint8Array(bitmapBytes(length));
  let at = 0;
  for (const column of columns) {
    if (column.nullCount > 0)
      copyBits(column.nullBitmap, column.offset, validity, at, column.length);
    else setBits(validity, at, column.length);
    at += column.length;
  }
  return { nullCount, validity };
}

function concatBits(columns: readonly Data[], length: number): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(length));
  let at = 0;
  for (const column of columns) {
    copyBits(column.values as Uint8Array, column.offset, bits, at, column.length);
    at += column.length;
  }
  return bits;
}

function concatValues(columns: readonly Data[], type: DataType, length: number): TypedArray {
  const stride = strideOf(type);
  const values = new (valueArray(type))(length * stride);
  let at = 0;
  for (const column of columns) {
    const part = (column.values as Uint8Array).subarray(0, column.length * stride);
    (values as Uint8Array).set(part, at);
    at += column.length * stride;
  }
  return values;
}

/** Where the values of a column's rows begin and end. */
function span(column: Data): [begin: number, end: number] {
  const offsets = column.valueOffsets as Offsets | undefined;
  if (offsets === undefined || column.length === 0) return [0, 0];
  return [offsetAt(offsets, 0), offsetAt(offsets, column.length)];
}

function concatOffsets(columns: readonly Data[], type: DataType, length: number): Offsets {
  const large = hasLargeOffsets(type);
  const total = columns.reduce((sum, column) => {
    const [begin, end] = span(column);
    return sum + end - begin;
  }, 0);
  if (!large && total > 0x7fffffff) {
    throw new DirspaceError(
      'InvalidInput',
      `${total} values or bytes do not fit into one column with 32-bit offsets`,
    );
  }
  const offsets = large ? new BigInt64Array(length + 1) : new Int32Array(length + 1);
  let row = 0;
  let end = 0;
  for (const column of columns) {
    const source = column.valueOffsets as Offsets;
    const shift = end - span(column)[0];
    for (let at = 1; at <= column.length; at += 1) {
      end = offsetAt(source, at) + shift;
      if (large) (offsets as BigInt64Array)[row + at] = BigInt(end);
      else (offsets as Int32Array)[row + at] = end;
    }
    row += column.length;
  }
  return offsets;
}

const concatChildren = (columns: readonly Data[], type: DataType, perRow: number): Data[] =>
  childFields(type).map((_, child) =>
    concatData(
      columns.map((column) => sliceData(column.children[child] as Data, 0, column.length * perRow)),
    ),
  );

function concatViews(
  columns: readonly Data[],
  type: DataType,
  length: number,
): { values: TypedArray; views: Uint8Array[] } {
  const values = concatValues(columns, type, length) as Uint8Array;
  const words = new DataView(values.buffer);
  const views: Uint8Array[] = [];
  let row = 0;
  for (const column of columns) {
    const shift = views.length;
    for (const end = row + column.length; row < end; row += 1) {
      if (shift > 0 && words.getInt32(row * 16, true) > 12) {
        words.setInt32(row * 16 + 8, words.getInt32(row * 16 + 8, true) + shift, true);
      }
    }
    views.push(...column.variadicBuffers);
  }
  return { values, views };
}

function concatDictionaries(
  columns: readonly Data[],
  type: DataType,
  length: number,
  validity: Validity,
): Data {
  const union = new DictionaryUnion();
  const values = concatValues(columns, type, length) as Int32Array;
  let row = 0;
  for (const column of columns) {
    const map = column.dictionary === undefined ? undefined : union.add(column.dictionary);
    if (map !== undefined) {
      const part = values.subarray(row, row + column.length);
      remapIndices(part, part, map);
    }
    row += column.length;
  }
  checkIndexWidth(type, union.length);
  return dataOf(type, length, { ...validity, values, dictionary: unionVector(union, type) });
}

/** The one dictionary of a union, as a vector of one chunk. */
export function unionVector(union: DictionaryUnion, type: DataType): Vector {
  const { dictionary } = type as unknown as { dictionary: DataType };
  return new Vector([
    union.pieces.length === 0 ? nullColumn(dictionary, 0) : concatData(union.pieces),
  ]);
}

/** The number of entries that the indices of a dictionary type can address. */
export function indexCapacity(type: DataType): number {
  const { bitWidth, isSigned } = (
    type as unknown as { indices: { bitWidth: number; isSigned: boolean } }
  ).indices;
  return bitWidth === 64 ? Number.MAX_SAFE_INTEGER : 2 ** (isSigned ? bitWidth - 1 : bitWidth);
}

function checkIndexWidth(type: DataType, values: number): void {
  if (values > indexCapacity(type)) {
    throw new DirspaceError(
      'InvalidInput',
      `A dictionary of ${values} values is more than ${String(type)} can index`,
    );
  }
}

function concatUnions(columns: readonly Data[], type: DataType, length: number): Data {
  const typeIds = new Int8Array(length);
  let row = 0;
  for (const column of columns) {
    typeIds.set((column.typeIds as Int8Array).subarray(0, column.length), row);
    row += column.length;
  }
  const { mode, typeIds: known } = type as unknown as { mode: UnionMode; typeIds: Int32Array };
  if (mode === UnionMode.Sparse) {
    return dataOf(type, length, { typeIds, children: concatChildren(columns, type, 1) });
  }
  const offsets = new Int32Array(length);
  const starts = new Map<number, number>();
  row = 0;
  for (const column of columns) {
    const source = column.valueOffsets as Int32Array;
    for (let at = 0; at < column.length; at += 1) {
      offsets[row + at] = (source[at] as number) + (starts.get(typeIds[row + at] as number) ?? 0);
    }
    row += column.length;
    for (const [child, id] of known.entries()) {
      starts.set(id, (starts.get(id) ?? 0) + (column.children[child] as Data).length);
    }
  }
  const children = childFields(type).map((_, child) =>
    concatData(columns.map((column) => column.children[child] as Data)),
  );
  return dataOf(type, length, { typeIds, offsets, children });
}
