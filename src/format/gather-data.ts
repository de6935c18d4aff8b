/**
 * Picking rows of one column by position, at the level of buffers: exact for every type, with no
 * value ever turned into a JavaScript one. Knows nothing of chunks, batches or files.
 */
import { type Data, type DataType, Type, UnionMode } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { dataOf, NO_BYTES, type Offsets, offsetAt, sliceData } from './arrow-data.ts';
import {
  childFields,
  hasLargeOffsets,
  layoutOf,
  strideOf,
  type TypedArray,
  valueArray,
} from './arrow-types.ts';
import { bitmapBytes, getBit, setBit } from './bitmaps.ts';

/** The rows at `indices`, which must all be below the length; repeats are allowed. */
export function gatherData(data: Data, indices: Uint32Array): Data {
  const { type } = data;
  const { length } = indices;
  if (length === 0) return emptyLike(data);
  const validity = gatherValidity(data, indices);
  switch (layoutOf(type)) {
    case 'null':
      return dataOf(type, length, {});
    case 'bits':
      return dataOf(type, length, {
        ...validity,
        values: gatherBits(data.values as Uint8Array, data.offset, indices),
      });
    case 'fixed':
      return dataOf(type, length, {
        ...validity,
        values: gatherFixed(data.values as TypedArray, type, indices),
      });
    case 'dictionary':
      return dataOf(type, length, {
        ...validity,
        values: gatherFixed(data.values as TypedArray, type, indices),
        dictionary: data.dictionary,
      });
    case 'view':
      return dataOf(type, length, {
        ...validity,
        values: gatherFixed(data.values as TypedArray, type, indices),
        views: data.variadicBuffers,
      });
    case 'binary':
      return dataOf(type, length, { ...validity, ...gatherBinary(data, indices) });
    case 'list': {
      const { offsets, positions } = spread(data.valueOffsets as Offsets, type, indices);
      return dataOf(type, length, {
        ...validity,
        offsets,
        children: data.children.map((child) => gatherData(child, positions)),
      });
    }
    case 'fixed-list': {
      const positions = repeat(indices, strideOf(type));
      return dataOf(type, length, {
        ...validity,
        children: data.children.map((child) =>
          gatherFixedChild(child, strideOf(type), indices, positions),
        ),
      });
    }
    case 'struct':
      return dataOf(type, length, {
        ...validity,
        children: data.children.map((child) => gatherData(child, indices)),
      });
    case 'union':
      return gatherUnion(data, indices);
  }
}

const emptyLike = (data: Data): Data => sliceData(data, 0, 0);

function gatherValidity(
  data: Data,
  indices: Uint32Array,
): { nullCount: number; validity: Uint8Array | undefined } {
  if (layoutOf(data.type) === 'union' || data.type.typeId === Type.Null || data.nullCount <= 0) {
    return { nullCount: 0, validity: undefined };
  }
  const source = data.nullBitmap;
  const { offset } = data;
  const validity = new Uint8Array(bitmapBytes(indices.length));
  let valid = 0;
  for (let at = 0; at < indices.length; at += 1) {
    if (getBit(source, offset + (indices[at] as number))) {
      setBit(validity, at);
      valid += 1;
    }
  }
  return { nullCount: indices.length - valid, validity };
}

function gatherBits(bits: Uint8Array, offset: number, indices: Uint32Array): Uint8Array {
  const out = new Uint8Array(bitmapBytes(indices.length));
  for (let at = 0; at < indices.length; at += 1) {
    if (getBit(bits, offset + (indices[at] as number))) setBit(out, at);
  }
  return out;
}

function gatherFixed(values: TypedArray, type: DataType, indices: Uint32Array): TypedArray {
  const stride = strideOf(type);
  if (stride === 1) return gatherValues(values, type, indices);
  const out = new (valueArray(type))(indices.length * stride);
  copyRows(values, out, stride, indices);
  return out;
}

/** Wide values are moved as 32-bit words or doubles: copying a bigint would make an object of it. */
function gatherValues(values: TypedArray, type: DataType, indices: Uint32Array): TypedArray {
  const out = new (valueArray(type))(indices.length);
  switch (values.BYTES_PER_ELEMENT) {
    case 8: {
      if (values instanceof Float64Array) {
        pickDoubles(values, out as Float64Array, indices);
        break;
      }
      const from = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
      const to = new Int32Array(out.buffer);
      for (let at = 0; at < indices.length; at += 1) {
        const row = (indices[at] as number) * 2;
        to[2 * at] = from[row] as number;
        to[2 * at + 1] = from[row + 1] as number;
      }
      break;
    }
    case 4:
      pickWords(
        new Int32Array(values.buffer, values.byteOffset, values.length),
        new Int32Array(out.buffer),
        indices,
      );
      break;
    default: {
      const narrow = values as Uint8Array | Int8Array | Uint16Array | Int16Array;
      for (let at = 0; at < indices.length; at += 1) {
        (out as Uint8Array)[at] = narrow[indices[at] as number] as number;
      }
    }
  }
  return out;
}

function pickDoubles(from: Float64Array, to: Float64Array, indices: Uint32Array): void {
  for (let at = 0; at < indices.length; at += 1) to[at] = from[indices[at] as number] as number;
}

function pickWords(from: Int32Array, to: Int32Array, indices: Uint32Array): void {
  for (let at = 0; at < indices.length; at += 1) to[at] = from[indices[at] as number] as number;
}

/** Copies runs of neighbouring rows at once. */
function copyRows(from: TypedArray, to: TypedArray, stride: number, indices: Uint32Array): void {
  const target = to as Uint8Array;
  const source = from as Uint8Array;
  let at = 0;
  while (at < indices.length) {
    const first = indices[at] as number;
    let run = 1;
    while (at + run < indices.length && indices[at + run] === first + run) run += 1;
    target.set(source.subarray(first * stride, (first + run) * stride), at * stride);
    at += run;
  }
}

function gatherBinary(data: Data, indices: Uint32Array): { offsets: Offsets; values: Uint8Array } {
  const source = data.valueOffsets as Offsets;
  const large = hasLargeOffsets(data.type);
  const total = totalSpan(source, indices);
  checkTotal(total, large);
  const from = (data.values ?? NO_BYTES) as Uint8Array;
  const values = new Uint8Array(total);
  if (source instanceof Int32Array) {
    return { offsets: copyTexts(source, from, values, indices), values };
  }
  const offsets = new BigInt64Array(indices.length + 1);
  let end = 0;
  for (let at = 0; at < indices.length; at += 1) {
    const begin = offsetAt(source, indices[at] as number);
    const bytes = offsetAt(source, (indices[at] as number) + 1) - begin;
    copyBytes(from, begin, values, end, bytes);
    end += bytes;
    offsets[at + 1] = BigInt(end);
  }
  return { offsets, values };
}

/** The loop for 32-bit offsets alone; neighbouring rows are copied at once. */
function copyTexts(
  source: Int32Array,
  from: Uint8Array,
  to: Uint8Array,
  indices: Uint32Array,
): Int32Array {
  const offsets = new Int32Array(indices.length + 1);
  const count = indices.length;
  // Texts begin anywhere; a view moves four of their bytes at a time all the same.
  const words = new DataView(from.buffer, from.byteOffset, from.byteLength);
  const target = new DataView(to.buffer, to.byteOffset, to.byteLength);
  let end = 0;
  let at = 0;
  while (at < count) {
    const first = indices[at] as number;
    const begin = source[first] as number;
    const shift = end - begin;
    let row = first;
    do {
      row += 1;
      at += 1;
      offsets[at] = (source[row] as number) + shift;
    } while (at < count && indices[at] === row);
    const stop = source[row] as number;
    if (stop - begin > BLOCK_BYTES) to.set(from.subarray(begin, stop), end);
    else {
      let byte = begin;
      for (; byte + 4 <= stop; byte += 4) target.setInt32(shift + byte, words.getInt32(byte));
      for (; byte < stop; byte += 1) to[shift + byte] = from[byte] as number;
    }
    end += stop - begin;
  }
  return offsets;
}

/** Up to here a loop beats the set-up of a block copy. */
const BLOCK_BYTES = 96;

function copyBytes(
  from: Uint8Array,
  begin: number,
  to: Uint8Array,
  at: number,
  length: number,
): void {
  if (length > BLOCK_BYTES) {
    to.set(from.subarray(begin, begin + length), at);
  } else {
    for (let byte = 0; byte < length; byte += 1) to[at + byte] = from[begin + byte] as number;
  }
}

function totalSpan(offsets: Offsets, indices: Uint32Array): number {
  let total = 0;
  if (offsets instanceof Int32Array) {
    for (let at = 0; at < indices.length; at += 1) {
      const row = indices[at] as number;
      total += (offsets[row + 1] as number) - (offsets[row] as number);
    }
    return total;
  }
  for (let at = 0; at < indices.length; at += 1) {
    const row = indices[at] as number;
    total += offsetAt(offsets, row + 1) - offsetAt(offsets, row);
  }
  return total;
}

function checkTotal(total: number, large: boolean): void {
  if (!large && total > 0x7fffffff) {
    throw new DirspaceError(
      'InvalidInput',
      `${total} bytes do not fit into one column with 32-bit offsets`,
    );
  }
}

/** The child positions of the picked lists, and the offsets of these lists among them. */
function spread(
  source: Offsets,
  type: DataType,
  indices: Uint32Array,
): { offsets: Offsets; positions: Uint32Array } {
  const large = hasLargeOffsets(type);
  const total = totalSpan(source, indices);
  checkTotal(total, large);
  const positions = new Uint32Array(total);
  const offsets = large
    ? new BigInt64Array(indices.length + 1)
    : new Int32Array(indices.length + 1);
  let end = 0;
  for (let at = 0; at < indices.length; at += 1) {
    const row = indices[at] as number;
    const stop = offsetAt(source, row + 1);
    for (let child = offsetAt(source, row); child < stop; child += 1) {
      positions[end] = child;
      end += 1;
    }
    if (large) (offsets as BigInt64Array)[at + 1] = BigInt(end);
    else (offsets as Int32Array)[at + 1] = end;
  }
  return { offsets, positions };
}

/** Lazily, as lists of plain numbers do not need it. */
function repeat(indices: Uint32Array, stride: number): () => Uint32Array {
  let positions: Uint32Array | undefined;
  return () => {
    if (positions !== undefined) return positions;
    positions = new Uint32Array(indices.length * stride);
    for (let at = 0; at < indices.length; at += 1) {
      const first = (indices[at] as number) * stride;
      for (let item = 0; item < stride; item += 1) positions[at * stride + item] = first + item;
    }
    return positions;
  };
}

function gatherFixedChild(
  child: Data,
  stride: number,
  indices: Uint32Array,
  positions: () => Uint32Array,
): Data {
  if (layoutOf(child.type) !== 'fixed' || child.nullCount > 0)
    return gatherData(child, positions());
  const width = stride * strideOf(child.type);
  const out = new (valueArray(child.type))(indices.length * width);
  copyRows(child.values as TypedArray, out, width, indices);
  return dataOf(child.type, indices.length * stride, { values: out });
}

function gatherUnion(data: Data, indices: Uint32Array): Data {
  const { type } = data;
  const { mode, typeIds } = type as unknown as { mode: UnionMode; typeIds: Int32Array };
  const source = data.typeIds as Int8Array;
  const ids = new Int8Array(indices.length);
  for (let at = 0; at < indices.length; at += 1) ids[at] = source[indices[at] as number] as number;
  if (mode === UnionMode.Sparse) {
    return dataOf(type, indices.length, {
      typeIds: ids,
      children: data.children.map((child) => gatherData(child, indices)),
    });
  }
  const from = data.valueOffsets as Int32Array;
  const offsets = new Int32Array(indices.length);
  const children = childFields(type).map((_, at) => {
    const id = typeIds[at];
    const positions: number[] = [];
    for (let row = 0; row < indices.length; row += 1) {
      if (ids[row] !== id) continue;
      offsets[row] = positions.length;
      positions.push(from[indices[row] as number] as number);
    }
    return gatherData(data.children[at] as Data, Uint32Array.from(positions));
  });
  return dataOf(type, indices.length, { typeIds: ids, offsets, children });
}
