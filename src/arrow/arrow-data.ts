/**
 * Builds Arrow columns, record batches and tables around existing buffers (`dataOf`, `recordBatch`,
 * `arrowTable`), faster than apache-arrow's public constructors. It trusts the caller that the
 * buffers fit the type and begin at row 0. `sliceData` slices a column, `columnsOf` and `columnsAt`
 * pick those of a batch, and `projectSchema` projects a schema; up to 64 projections of a schema
 * are kept, so that they stay the same objects. `bytesColumn` and `nullColumn` build columns, and
 * `dataBytes` and `batchBytes` count the bytes that the rows of columns and batches take.
 */

import { DirspaceError } from '../errors.ts';
import {
  type Binary,
  Data,
  type DataType,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Type,
  type Union,
  type Utf8,
  Vector,
} from './apache.ts';
import {
  byteWidth,
  childFields,
  hasLargeOffsets,
  layoutOf,
  strideOf,
  type TypedArray,
  valueArray,
} from './arrow-types.ts';
import { bitmapBytes, setBit } from './bitmaps.ts';

/** Never handed to callers: one could transfer it to another thread, which empties it for all. */
export const NO_BYTES: Uint8Array = new Uint8Array(0);
export type Offsets = Int32Array | BigInt64Array;

export interface DataParts {
  readonly nullCount?: number;
  readonly validity?: Uint8Array | undefined;
  readonly offsets?: Offsets | undefined;
  readonly values?: TypedArray | undefined;
  readonly typeIds?: Int8Array | undefined;
  readonly children?: Data[];
  readonly dictionary?: Vector | undefined;
  readonly views?: readonly Uint8Array[];
}

/**
 * Makes objects of an apache-arrow class with `fill` instead of the public constructor, which takes
 * several times as long because it first sorts out which kind of arguments it was given.
 */
export function plainMaker<Made, Args extends unknown[]>(
  { prototype }: { readonly prototype: Made },
  fill: (this: Record<string, unknown>, ...args: Args) => void,
): new (
  ...args: Args
) => Made {
  fill.prototype = prototype;
  return fill as unknown as new (
    ...args: Args
  ) => Made;
}

const PlainData = plainMaker(
  Data,
  function (
    type: DataType,
    length: number,
    { nullCount = 0, validity, offsets, values, typeIds, children, dictionary, views }: DataParts,
  ) {
    const nulls = type.typeId === Type.Null ? length : nullCount;
    this.type = type;
    this.children = children ?? [];
    this.dictionary = dictionary;
    this.offset = 0;
    this.length = length;
    this._nullCount = nulls;
    this.stride = strideOf(type);
    this.valueOffsets = offsets;
    this.values = values;
    this.nullBitmap = nulls > 0 ? validity : NO_BYTES;
    this.typeIds = typeIds;
    this.variadicBuffers = views ?? [];
  },
);

/** Wraps buffers that all begin at row 0. */
export const dataOf = (type: DataType, length: number, parts: DataParts): Data =>
  new PlainData(type, length, parts);

/** A column of byte strings, or of the texts that they are. */
export function bytesColumn(type: Utf8 | Binary, values: readonly (Uint8Array | null)[]): Data {
  const offsets = new Int32Array(values.length + 1);
  for (const [at, value] of values.entries())
    offsets[at + 1] = (offsets[at] as number) + (value?.length ?? 0);
  const bytes = new Uint8Array(offsets[values.length] as number);
  const validity = new Uint8Array(bitmapBytes(values.length));
  let nullCount = 0;
  for (const [at, value] of values.entries()) {
    if (value === null) nullCount++;
    else {
      bytes.set(value, offsets[at]);
      setBit(validity, at);
    }
  }
  return dataOf(type, values.length, { nullCount, validity, offsets, values: bytes });
}

const structs = new WeakMap<Schema, Struct>();

/**
 * A batch of columns that are known to fit `schema` and to have `rows` rows each. The public
 * constructor would merge the schema with itself field by field for every batch.
 */
export function recordBatch(schema: Schema, columns: Data[], rows: number): RecordBatch {
  let struct = structs.get(schema);
  if (struct === undefined) {
    struct = new Struct(schema.fields);
    structs.set(schema, struct);
  }
  const data = dataOf(struct, rows, { children: columns });
  // A batch may be given away with all its memory.
  Object.assign(data, { nullBitmap: new Uint8Array(0) });
  return new PlainBatch(schema, data);
}

/** The columns of a batch at these places, under the schema of them alone. */
export function columnsAt(
  batch: RecordBatch,
  schema: Schema,
  places: readonly number[],
): RecordBatch {
  const columns = columnsOf(batch);
  return recordBatch(
    schema,
    places.map((place) => columns[place] as Data),
    batch.numRows,
  );
}

const PlainBatch = plainMaker(RecordBatch, function (schema: Schema, data: Data) {
  this.schema = schema;
  this.data = data;
  this._metadata = new Map();
});

/**
 * A table of batches. The public constructor looks at each of them several times; that is left out
 * where all have the very schema of the table.
 */
export function arrowTable(schema: Schema, batches: RecordBatch[]): Table {
  const ends = new Uint32Array(batches.length + 1);
  for (const [at, batch] of batches.entries()) {
    if (batch.schema !== schema) return new Table(schema, batches);
    ends[at + 1] = (ends[at] as number) + batch.numRows;
  }
  return new PlainTable(schema, batches, ends);
}

const PlainTable = plainMaker(
  Table,
  function (schema: Schema, batches: RecordBatch[], ends: Uint32Array) {
    this.schema = schema;
    this.batches = batches;
    this._offsets = ends;
  },
);

/** The columns of a batch, in the order of its schema. */
export const columnsOf = (batch: RecordBatch): readonly Data[] => batch.data.children;

const projections = new WeakMap<Schema, Map<string, Schema>>();
const MAX_PROJECTIONS = 64;

/** The schema of some columns, the same object for the same request. */
export function projectSchema(schema: Schema, columns: readonly number[]): Schema {
  if (columns.length === schema.fields.length && columns.every((column, at) => column === at)) {
    return schema;
  }
  let known = projections.get(schema);
  if (known === undefined) {
    known = new Map();
    projections.set(schema, known);
  }
  const key = columns.join();
  let projected = known.get(key);
  if (projected === undefined) {
    projected = new Schema(
      columns.map((column) => {
        const field = schema.fields[column];
        if (field === undefined)
          throw new DirspaceError('Internal', `There is no column ${column}`);
        return field;
      }),
      schema.metadata,
    );
    if (known.size >= MAX_PROJECTIONS) known.clear();
    known.set(key, projected);
  }
  return projected;
}

/** A slice that shares all buffers; the same object when it is the whole. */
export const sliceData = (data: Data, from: number, length: number): Data =>
  from === 0 && length === data.length ? data : data.slice(from, length);

/** The bytes of a typed array. */
export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** An offset as a number; values past 2^53 lose precision and so fail every bounds check. */
export const offsetAt = (offsets: Offsets, index: number): number => Number(offsets[index]);

/** The bitmap to test rows with, or undefined when all are valid. */
export const validityOf = (data: Data): Uint8Array | undefined =>
  data.nullCount > 0 ? data.nullBitmap : undefined;

/** A column of nulls with real buffers, nested ones too; null where the type itself allows it. */
export function nullColumn(type: DataType, length: number): Data {
  const nulls = { nullCount: length, validity: new Uint8Array((length + 7) >> 3) };
  const offsets = (): Offsets =>
    hasLargeOffsets(type) ? new BigInt64Array(length + 1) : new Int32Array(length + 1);
  const child = (index: number, rows: number): Data => {
    const field = childFields(type)[index];
    if (field === undefined)
      throw new DirspaceError('Internal', `${String(type)} lacks child ${index}`);
    return nullColumn(field.type, rows);
  };
  switch (layoutOf(type)) {
    case 'null':
      return dataOf(type, length, {});
    case 'bits':
      return dataOf(type, length, { ...nulls, values: new Uint8Array((length + 7) >> 3) });
    case 'fixed':
      return dataOf(type, length, {
        ...nulls,
        values: new (valueArray(type))(length * strideOf(type)),
      });
    case 'view':
      return dataOf(type, length, { ...nulls, values: new Uint8Array(length * 16) });
    case 'binary':
      return dataOf(type, length, { ...nulls, offsets: offsets(), values: NO_BYTES });
    case 'list':
      return dataOf(type, length, { ...nulls, offsets: offsets(), children: [child(0, 0)] });
    case 'fixed-list':
      return dataOf(type, length, { ...nulls, children: [child(0, length * strideOf(type))] });
    case 'struct':
      return dataOf(type, length, {
        ...nulls,
        children: childFields(type).map((field) => nullColumn(field.type, length)),
      });
    case 'dictionary': {
      const { dictionary } = type as unknown as { dictionary: DataType };
      return dataOf(type, length, {
        ...nulls,
        values: new (valueArray(type))(length),
        dictionary: new Vector([nullColumn(dictionary, 0)]),
      });
    }
    case 'union': {
      // A union has no validity of its own: every row points at a null of its first child.
      const { typeIds, mode } = type as unknown as { typeIds: Int32Array; mode: number };
      const ids = new Int8Array(length).fill(typeIds[0] ?? 0);
      const dense = mode === 1;
      return dataOf(type, length, {
        typeIds: ids,
        offsets: dense ? Int32Array.from(ids, (_, row) => row) : undefined,
        children: childFields(type).map((field, at) =>
          nullColumn(field.type, dense && at > 0 ? 0 : length),
        ),
      });
    }
  }
}

/** Bytes that the rows of a column take, not counting what its slice leaves out. */
export function dataBytes(data: Data): number {
  const { type, length } = data;
  const validity = data.nullCount > 0 ? (length + 7) >> 3 : 0;
  const span = (): [number, number] =>
    length === 0 || data.valueOffsets === undefined
      ? [0, 0]
      : [offsetAt(data.valueOffsets, 0), offsetAt(data.valueOffsets, length)];
  const items = (): number => data.children.reduce((bytes, child) => bytes + dataBytes(child), 0);
  switch (layoutOf(type)) {
    case 'null':
      return 0;
    case 'bits':
      return validity + ((length + 7) >> 3);
    case 'fixed':
    case 'dictionary':
      return validity + length * byteWidth(type);
    case 'view': {
      const views = data.values as Uint8Array;
      const words = new DataView(views.buffer, views.byteOffset, views.byteLength);
      let bytes = validity + length * 16;
      for (let row = 0; row < length; row += 1) {
        const size = words.getInt32(row * 16, true);
        if (size > 12) bytes += size;
      }
      return bytes;
    }
    case 'binary': {
      const [begin, end] = span();
      return validity + (length + 1) * (hasLargeOffsets(type) ? 8 : 4) + end - begin;
    }
    case 'list': {
      const [begin, end] = span();
      const child = data.children[0];
      return (
        validity +
        (length + 1) * (hasLargeOffsets(type) ? 8 : 4) +
        (child === undefined ? 0 : dataBytes(sliceData(child, begin, end - begin)))
      );
    }
    case 'union':
      return data.valueOffsets === undefined
        ? length + items()
        : length * 5 + denseItemBytes(data, data.valueOffsets as Int32Array);
    default:
      return items() + validity;
  }
}

/** Bytes of the items of a dense union: a slice of it has its children whole. */
function denseItemBytes(data: Data, offsets: Int32Array): number {
  const { typeIds, length, children } = data;
  const { typeIdToChildIndex } = data.type as Union;
  const first = children.map(({ length }) => length);
  const end = children.map(() => 0);
  for (let row = 0; row < length; row++) {
    const child = typeIdToChildIndex[(typeIds as Int8Array)[row] as number] as number;
    const at = offsets[row] as number;
    if (at < (first[child] as number)) first[child] = at;
    if (at >= (end[child] as number)) end[child] = at + 1;
  }
  return children.reduce((bytes, child, at) => {
    const [from, to] = [first[at] as number, end[at] as number];
    return to > from ? bytes + dataBytes(sliceData(child, from, to - from)) : bytes;
  }, 0);
}

/** Bytes that the rows of a batch take. */
export const batchBytes = (batch: RecordBatch): number =>
  columnsOf(batch).reduce((bytes, column) => bytes + dataBytes(column), 0);
