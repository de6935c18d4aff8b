/**
 * Converts view columns to their plain types and back (Utf8View to Utf8, BinaryView to Binary).
 * Lance 2.0 has no views, so fragments of tables for Lance hold plain columns, while the tables'
 * schemas keep the views. Writers use `withoutViews` and `plainColumn`, which also convert the
 * items of lists and the children of structs. 2 GiB and more of values in one batch throw
 * InvalidInput, and a view that points outside its buffers throws TableSchemaValidation. Readers
 * use `viewsOf`, which returns the function that converts a column back, or undefined for types
 * that are no such pair.
 */
import {
  Binary,
  bytesOf,
  type Data,
  type DataType,
  dataOf,
  Field,
  getBit,
  mapType,
  Schema,
  Type,
  Utf8,
} from '../../arrow/index.ts';
import { MOST_BYTES, tooManyBytes, usedViewBytes } from '../../ipc/index.ts';

const VIEW_BYTES = 16;
/** Longer values are in a data buffer, and their view has the first four bytes. */
const INLINE_BYTES = 12;

function typeWithoutViews(type: DataType): DataType {
  if (type.typeId === Type.Utf8View) return new Utf8();
  if (type.typeId === Type.BinaryView) return new Binary();
  const isNested =
    type.typeId === Type.List ||
    type.typeId === Type.LargeList ||
    type.typeId === Type.FixedSizeList ||
    type.typeId === Type.Struct;
  if (!isNested || !holdsViews(type)) return type;
  return mapType(type, plainField);
}

const holdsViews = ({ children }: DataType): boolean =>
  (children ?? []).some(({ type }: Field) => typeWithoutViews(type) !== type);

function plainField(field: Field): Field {
  const type = typeWithoutViews(field.type);
  return type === field.type ? field : new Field(field.name, type, field.nullable, field.metadata);
}

const plainSchemas = new WeakMap<Schema, Schema>();

/** The schema with views in their plain form: the same object where it has none. */
export function withoutViews(schema: Schema): Schema {
  let plain = plainSchemas.get(schema);
  if (plain === undefined) {
    const fields = schema.fields.map(plainField);
    const isPlain = fields.every((field, at) => field === schema.fields[at]);
    plain = isPlain ? schema : new Schema(fields, schema.metadata);
    plainSchemas.set(schema, plain);
  }
  return plain;
}

/**
 * A column of the stored type with the values of `data`.
 * @throws TableSchemaValidation where a view points out of its buffers, InvalidInput for 2 GiB and more
 */
export function plainColumn(data: Data, type: DataType, name: string): Data {
  if (data.type.typeId === Type.Utf8View || data.type.typeId === Type.BinaryView) {
    return plainValues(data, type, name);
  }
  if (!holdsViews(data.type)) return data;
  const children = data.children.map((child, at) => {
    const field = type.children[at] as Field;
    return plainColumn(child, field.type, `${name}.${field.name}`);
  });
  return data.clone(
    type,
    data.offset,
    data.length,
    data.nullCount,
    data.buffers as never,
    children,
  );
}

function plainValues(data: Data, type: DataType, name: string): Data {
  const { length, nullCount } = data;
  const held = bytesOf(data.values as Uint8Array).subarray(0, length * VIEW_BYTES);
  usedViewBytes(data, held, nullCount, name);
  const words = new DataView(held.buffer, held.byteOffset, held.byteLength);
  const offsets = new Int32Array(length + 1);
  let end = 0;
  for (let row = 0; row < length; row++) {
    const isNull = nullCount > 0 && !getBit(data.nullBitmap, data.offset + row);
    if (!isNull) end += words.getInt32(row * VIEW_BYTES, true);
    if (end > MOST_BYTES) throw tooManyBytes(name);
    offsets[row + 1] = end;
  }
  const values = new Uint8Array(end);
  for (let row = 0; row < length; row++) {
    const begin = offsets[row] as number;
    const size = (offsets[row + 1] as number) - begin;
    if (size === 0) continue;
    const at = row * VIEW_BYTES;
    let source = held;
    let from = at + 4;
    if (size > INLINE_BYTES) {
      source = data.variadicBuffers[words.getInt32(at + 8, true)] as Uint8Array;
      from = words.getInt32(at + 12, true);
    }
    values.set(source.subarray(from, from + size), begin);
  }
  const buffers = [offsets, values, data.nullBitmap, undefined];
  return data.clone(type, data.offset, length, nullCount, buffers as never, [], []);
}

/** Reads stored values as views; undefined where the one type is not the plain form of the other. */
export function viewsOf(stored: DataType, wanted: DataType): ((data: Data) => Data) | undefined {
  const fits =
    (stored.typeId === Type.Utf8 && wanted.typeId === Type.Utf8View) ||
    (stored.typeId === Type.Binary && wanted.typeId === Type.BinaryView);
  return fits ? (data) => views(data, wanted) : undefined;
}

function views(data: Data, type: DataType): Data {
  const { length, nullCount } = data;
  const offsets = data.valueOffsets as Int32Array;
  const bytes = bytesOf(data.values as Uint8Array);
  const held = new Uint8Array(length * VIEW_BYTES);
  const words = new DataView(held.buffer);
  let isLong = false;
  for (let row = 0; row < length; row++) {
    const begin = offsets[row] as number;
    const size = (offsets[row + 1] as number) - begin;
    const at = row * VIEW_BYTES;
    words.setInt32(at, size, true);
    if (size <= INLINE_BYTES) {
      for (let each = 0; each < size; each++) held[at + 4 + each] = bytes[begin + each] as number;
    } else {
      isLong = true;
      for (let each = 0; each < 4; each++) held[at + 4 + each] = bytes[begin + each] as number;
      words.setInt32(at + 12, begin, true);
    }
  }
  const buffers = isLong ? [bytes] : [];
  // The bitmap goes on where it did, and everything else begins at the first row.
  const made = dataOf(type, length, {
    nullCount,
    validity: data.nullBitmap,
    values: held,
    views: buffers,
  });
  return data.offset === 0 ? made : Object.assign(made, { offset: data.offset });
}
