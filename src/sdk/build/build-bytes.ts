/**
 * Builds text and binary columns (`buildText`, `buildBinary`, `buildFixedBinary`) from JavaScript
 * values: with offsets of 32 or 64 bits, of a fixed size, or as views. A lone surrogate in a text
 * becomes U+FFFD. A value of another kind or size throws TableSchemaValidation. More than 2 GiB in
 * one column of one record batch throw PayloadTooLarge; convert/row-stream.ts then tries record
 * batches of fewer rows.
 */
import { Buffer } from 'node:buffer';
import { type Data, type DataType, type FixedSizeBinary, Type } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { arrowData, type BuildContext, findNulls, misfit, type Place } from './column-data.ts';
import { asBytes } from './js-values.ts';

type Values = readonly unknown[];

/** What 32-bit offsets can address. */
const MAX_BYTES = 2 ** 31 - 1;
/** Up to here all strings of a column are joined and encoded in one call. */
const JOIN_LIMIT = 2 ** 24;
const VIEW_BYTES = 16;
const VIEW_INLINE = 12;

interface Flat {
  readonly bytes: Uint8Array;
  /** One more than there are values. */
  readonly ends: Int32Array;
}

export function buildText(
  type: DataType,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  let characters = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'string') characters += value.length;
    else if (value !== null && value !== undefined) throw misfit(place, i, value, type, context);
  }
  const flat = encodeJoined(values, characters) ?? encodeEach(values, characters);
  return arrowData(type, values.length, nulls, layout(type, flat));
}

/** Encodes all strings at once; only plain ASCII tells where each one ends, so else undefined. */
function encodeJoined(values: Values, characters: number): Flat | undefined {
  if (characters > JOIN_LIMIT) return undefined;
  const joined = values.join('');
  if (Buffer.byteLength(joined, 'utf8') !== characters) return undefined;
  const bytes = new Uint8Array(characters);
  Buffer.from(bytes.buffer).write(joined, 'latin1');
  const ends = new Int32Array(values.length + 1);
  for (let i = 0, end = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'string') end += value.length;
    ends[i + 1] = end;
  }
  return { bytes, ends };
}

function encodeEach(values: Values, characters: number): Flat {
  // Three bytes a character is the most UTF-8 needs; most text needs far less, so it grows.
  let bytes = Buffer.allocUnsafeSlow(Math.max(64, Math.min(MAX_BYTES, characters + 64)));
  const ends = new Int32Array(values.length + 1);
  let end = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'string') {
      const most = value.length * 3;
      if (end + most > bytes.length) {
        const need = Buffer.byteLength(value, 'utf8');
        if (end + need > MAX_BYTES) throw tooLarge();
        if (end + need > bytes.length) {
          bytes = grow(bytes, end, Math.max(end + need, bytes.length * 1.5));
        }
      }
      end += bytes.write(value, end, 'utf8');
    }
    ends[i + 1] = end;
  }
  return { bytes: bytes.subarray(0, end), ends };
}

function grow(from: Buffer, used: number, size: number): Buffer<ArrayBuffer> {
  const next = Buffer.allocUnsafeSlow(Math.min(MAX_BYTES, Math.ceil(size)));
  next.set(from.subarray(0, used));
  return next;
}

export function buildBinary(
  type: DataType,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  const parts = bytesOf(type, values, place, context);
  const ends = new Int32Array(values.length + 1);
  let end = 0;
  for (let i = 0; i < parts.length; i++) {
    end += parts[i]?.length ?? 0;
    if (end > MAX_BYTES) throw tooLarge();
    ends[i + 1] = end;
  }
  const bytes = new Uint8Array(end);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (part !== undefined) bytes.set(part, ends[i]);
  }
  return arrowData(type, values.length, nulls, layout(type, { bytes, ends }));
}

export function buildFixedBinary(
  type: FixedSizeBinary,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  const { byteWidth } = type;
  if (values.length * byteWidth > MAX_BYTES) throw tooLarge();
  const out = new Uint8Array(values.length * byteWidth);
  const parts = bytesOf(type, values, place, context);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (part === undefined) continue;
    if (part.length !== byteWidth) throw misfit(place, i, values[i], type, context);
    out.set(part, i * byteWidth);
  }
  return arrowData(type, values.length, nulls, { values: out });
}

function bytesOf(
  type: DataType,
  values: Values,
  place: Place,
  context: BuildContext,
): (Uint8Array | undefined)[] {
  return values.map((value, i) => {
    if (value === null || value === undefined) return undefined;
    const bytes = asBytes(value);
    if (bytes === undefined) throw misfit(place, i, value, type, context);
    return bytes;
  });
}

interface Laid {
  readonly offsets?: Int32Array | BigInt64Array;
  readonly values: Uint8Array;
  readonly variadic?: readonly Uint8Array[];
}

/** Arranges flat bytes as the type wants them: offsets of 32 or 64 bits, or views. */
function layout(type: DataType, flat: Flat): Laid {
  switch (type.typeId) {
    case Type.LargeUtf8:
    case Type.LargeBinary:
      return { offsets: wideOffsets(flat.ends), values: flat.bytes };
    case Type.Utf8View:
    case Type.BinaryView:
      return { values: views(flat), variadic: [flat.bytes] };
    default:
      return { offsets: flat.ends, values: flat.bytes };
  }
}

export const wideOffsets = (ends: Int32Array): BigInt64Array =>
  BigInt64Array.from(ends, (end) => BigInt(end));

/** Views of 16 bytes: the length, then the bytes themselves or their first four and an address. */
function views({ bytes, ends }: Flat): Uint8Array {
  const count = ends.length - 1;
  const out = new Uint8Array(count * VIEW_BYTES);
  const view = new DataView(out.buffer);
  for (let i = 0; i < count; i++) {
    const at = i * VIEW_BYTES;
    const start = ends[i] as number;
    const length = (ends[i + 1] as number) - start;
    view.setInt32(at, length, true);
    const inline = length <= VIEW_INLINE;
    out.set(bytes.subarray(start, start + (inline ? length : 4)), at + 4);
    if (!inline) view.setInt32(at + 12, start, true);
  }
  return out;
}

/** Caught by the maker of batches, which then tries with fewer rows. */
const tooLarge = (): DirspaceError =>
  new DirspaceError(
    'PayloadTooLarge',
    'The values of one column and batch exceed 2 GiB. Pass a smaller batchRows or smaller values.',
  );
