/**
 * `normaliseColumn` prepares a column from outside for statistics: the result has an exact null
 * count, and its values lie in the array class of its type. The children of nested columns stay
 * unchanged. `nullCountOf` counts the nulls by the validity bitmap; a union has none. A bitmap that
 * is shorter than the rows throws TableSchemaValidation, for which `invalidColumn` makes the error.
 */
import {
  bitmapBytes,
  bytesOf,
  countBits,
  type Data,
  type DataType,
  layoutOf,
  NO_BYTES,
  Type,
  type TypedArray,
  valueArray,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';

/**
 * The column with an exact null count and values in the array class of its type, which is what
 * statistics rely on.
 */
export function normaliseColumn(type: DataType, data: Data, name: string): Data {
  const nulls = nullCountOf(data, name);
  const values = data.values as TypedArray | undefined;
  const layout = layoutOf(type);
  const wanted = layout === 'fixed' || layout === 'dictionary' ? valueArray(type) : Uint8Array;
  const wrong = values !== undefined && !(values instanceof wanted);
  if (nulls === data.nullCount && !wrong) return data;
  const bytes = values === undefined ? NO_BYTES : bytesOf(values);
  const usable = bytes.byteOffset % wanted.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  const rewrapped = new wanted(
    usable.buffer,
    usable.byteOffset,
    Math.floor(usable.byteLength / wanted.BYTES_PER_ELEMENT),
  );
  const buffers = { ...data.buffers, 1: values === undefined ? undefined : rewrapped };
  return data.clone(data.type, data.offset, data.length, nulls, buffers as Data['buffers']);
}

/** @throws TableSchemaValidation where the bitmap is too short to say */
export function nullCountOf(data: Data, name: string): number {
  if (data.type.typeId === Type.Null) return data.length;
  if (data.type.typeId === Type.Union || data.nullCount <= 0) return 0;
  const bitmap = data.nullBitmap;
  if (bitmap === undefined || bitmap.length < bitmapBytes(data.offset + data.length)) {
    throw invalidColumn(name, `its validity bitmap is shorter than its ${data.length} rows`);
  }
  return data.length - countBits(bitmap, data.offset, data.length);
}

/** A column whose parts do not hold what they claim. */
export const invalidColumn = (name: string, what: string): DirspaceError =>
  new DirspaceError(
    'TableSchemaValidation',
    `Column ${name} cannot be written: ${what}. Give every column of a batch the type of the schema and one value for each row.`,
    { details: { column: name } },
  );
