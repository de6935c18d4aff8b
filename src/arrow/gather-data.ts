/**
 * `gatherData` picks rows of one column by their positions, for every Arrow type. It copies bytes
 * and does not decode values. Dictionaries and the data buffers of views are shared with the
 * source. It throws InvalidInput if the result needs wider offsets than its type has. Positions
 * must be valid. gather.ts checks them, and handles chunked columns and batches.
 */
import { type Data, type DataType, Type, UnionMode } from './apache.ts';
import { dataOf, nullColumn, type Offsets } from './arrow-data.ts';
import { childFields, layoutOf, strideOf, type TypedArray, valueArray } from './arrow-types.ts';
import { bitmapBytes, getBit, setBit } from './bitmaps.ts';
import { gatherBinary, spreadLists } from './gather-spans.ts';
import { newArray } from './small-arrays.ts';

/** The rows at `indices`, which must all be below the length; repeats are allowed. */
export function gatherData(data: Data, indices: Uint32Array): Data {
  const { type } = data;
  const { length } = indices;
  if (length === 0) return nullColumn(type, 0);
  // Spread into what is made below, they would cost more than picking a few rows.
  const { nullCount, validity } = gatherValidity(data, indices);
  switch (layoutOf(type)) {
    case 'null':
      return dataOf(type, length, {});
    case 'bits':
      return dataOf(type, length, {
        nullCount,
        validity,
        values: gatherBits(data.values as Uint8Array, data.offset, indices),
      });
    case 'fixed':
      return dataOf(type, length, {
        nullCount,
        validity,
        values: gatherFixed(data.values as TypedArray, type, indices),
      });
    case 'dictionary':
      return dataOf(type, length, {
        nullCount,
        validity,
        values: gatherFixed(data.values as TypedArray, type, indices),
        dictionary: data.dictionary,
      });
    case 'view':
      return dataOf(type, length, {
        nullCount,
        validity,
        values: gatherFixed(data.values as TypedArray, type, indices),
        views: data.variadicBuffers,
      });
    case 'binary': {
      const { offsets, values } = gatherBinary(data, indices);
      return dataOf(type, length, { nullCount, validity, offsets, values });
    }
    case 'list': {
      const { offsets, positions } = spreadLists(data.valueOffsets as Offsets, type, indices);
      return dataOf(type, length, {
        nullCount,
        validity,
        offsets,
        children: data.children.map((child) => gatherData(child, positions)),
      });
    }
    case 'fixed-list': {
      const positions = repeat(indices, strideOf(type));
      return dataOf(type, length, {
        nullCount,
        validity,
        children: data.children.map((child) =>
          gatherFixedChild(child, strideOf(type), indices, positions),
        ),
      });
    }
    case 'struct':
      return dataOf(type, length, {
        nullCount,
        validity,
        children: data.children.map((child) => gatherData(child, indices)),
      });
    case 'union':
      return gatherUnion(data, indices);
  }
}

function gatherValidity(
  data: Data,
  indices: Uint32Array,
): { nullCount: number; validity: Uint8Array | undefined } {
  if (layoutOf(data.type) === 'union' || data.type.typeId === Type.Null || data.nullCount <= 0) {
    return { nullCount: 0, validity: undefined };
  }
  const source = data.nullBitmap;
  const { offset } = data;
  const validity = newArray(Uint8Array, bitmapBytes(indices.length));
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
  const out = newArray(Uint8Array, bitmapBytes(indices.length));
  for (let at = 0; at < indices.length; at += 1) {
    if (getBit(bits, offset + (indices[at] as number))) setBit(out, at);
  }
  return out;
}

function gatherFixed(values: TypedArray, type: DataType, indices: Uint32Array): TypedArray {
  const stride = strideOf(type);
  if (stride === 1) return gatherValues(values, type, indices);
  const out = newArray(valueArray(type), indices.length * stride);
  copyRows(values, out, stride, indices);
  return out;
}

/** Wide values are moved as 32-bit words or doubles: copying a bigint would make an object of it. */
function gatherValues(values: TypedArray, type: DataType, indices: Uint32Array): TypedArray {
  const out = newArray(valueArray(type), indices.length);
  switch (values.BYTES_PER_ELEMENT) {
    case 8: {
      if (values instanceof Float64Array) {
        pickDoubles(values, out as Float64Array, indices);
        break;
      }
      const from = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
      const to = new Int32Array(out.buffer, out.byteOffset, out.length * 2);
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
        new Int32Array(out.buffer, out.byteOffset, out.length),
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

/** Up to so many words a row a loop beats the set-up of a block copy. */
const MOST_WORDS = 16;

/** Copies narrow rows word by word, and runs of neighbouring wide ones at once. */
function copyRows(from: TypedArray, to: TypedArray, stride: number, indices: Uint32Array): void {
  const bytes = stride * from.BYTES_PER_ELEMENT;
  if (bytes % 4 === 0 && bytes <= 4 * MOST_WORDS && from.byteOffset % 4 === 0) {
    const source = new Int32Array(from.buffer, from.byteOffset, from.byteLength / 4);
    const target = new Int32Array(to.buffer, to.byteOffset, to.byteLength / 4);
    if (bytes === 16) copyFours(source, target, indices);
    else copyWords(source, target, bytes >> 2, indices);
    return;
  }
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

/** The loop for four words a row, as decimals have. */
function copyFours(from: Int32Array, to: Int32Array, indices: Uint32Array): void {
  let next = 0;
  for (let at = 0; at < indices.length; at += 1) {
    const first = (indices[at] as number) * 4;
    to[next] = from[first] as number;
    to[next + 1] = from[first + 1] as number;
    to[next + 2] = from[first + 2] as number;
    to[next + 3] = from[first + 3] as number;
    next += 4;
  }
}

function copyWords(from: Int32Array, to: Int32Array, words: number, indices: Uint32Array): void {
  let next = 0;
  for (let at = 0; at < indices.length; at += 1) {
    const first = (indices[at] as number) * words;
    for (let word = 0; word < words; word += 1) to[next + word] = from[first + word] as number;
    next += words;
  }
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
  const out = newArray(valueArray(child.type), indices.length * width);
  copyRows(child.values as TypedArray, out, width, indices);
  return dataOf(child.type, indices.length * stride, { values: out });
}

function gatherUnion(data: Data, indices: Uint32Array): Data {
  const { type } = data;
  const { mode, typeIds } = type as unknown as { mode: UnionMode; typeIds: Int32Array };
  const source = data.typeIds as Int8Array;
  const ids = newArray(Int8Array, indices.length);
  for (let at = 0; at < indices.length; at += 1) ids[at] = source[indices[at] as number] as number;
  if (mode === UnionMode.Sparse) {
    return dataOf(type, indices.length, {
      typeIds: ids,
      children: data.children.map((child) => gatherData(child, indices)),
    });
  }
  const from = data.valueOffsets as Int32Array;
  const offsets = newArray(Int32Array, indices.length);
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
