/**
 * `encodeColumn` encodes one column as the buffers of an Arrow IPC record batch; `buffersOf` cuts
 * them apart again. The values of a dictionary go to a `DictionaryUnion` of the caller, and the
 * column's indices are rewritten to fit it. Data that does not fit the type, such as a buffer that
 * is too short, an offset that leads out of one or dictionary indices of 64 bits, throws
 * TableSchemaValidation naming the column. Views with nulls or unused bytes are compacted, and 2
 * GiB or more of their values then throw InvalidInput.
 */
import {
  bitmapBytes,
  bytesOf,
  byteWidth,
  childFields,
  type Data,
  type DataType,
  type DictionaryUnion,
  getBit,
  hasLargeOffsets,
  indexCapacity,
  layoutOf,
  NO_BYTES,
  type Offsets,
  offsetAt,
  remapIndices,
  sliceBits,
  sliceData,
  strideOf,
  type TypedArray,
  typesEqual,
  UnionMode,
  valueArray,
} from '../../arrow/index.ts';
import { paddingAfter } from './alignment.ts';
import { invalidColumn, nullCountOf } from './normalise-column.ts';
import { rebaseOffsets } from './rebase-offsets.ts';
import { compactViews, usedViewBytes } from './view-columns.ts';

export interface EncodedColumn {
  /** What to write, padding included; views of the source where possible. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces, a multiple of ALIGNMENT. */
  readonly bytes: number;
  /** Length and null count of the column and its children, depth first. */
  readonly nodes: readonly number[];
  /** Bytes of each buffer without padding. */
  readonly buffers: readonly number[];
  /** How many data buffers each view column among them has. */
  readonly views: readonly number[];
}

/** Each buffer of a column by itself, without padding. */
export function buffersOf({ pieces, buffers }: EncodedColumn): Uint8Array[] {
  let piece = 0;
  return buffers.map((bytes) => {
    if (bytes === 0) return NO_BYTES;
    const buffer = pieces[piece] as Uint8Array;
    piece += paddingAfter(bytes).length > 0 ? 2 : 1;
    return buffer;
  });
}

/** The union of dictionaries that fields of this type write to. */
export type DictionaryOf = (type: DataType) => DictionaryUnion;

/**
 * @param type what the schema says; its dictionary types are passed to `dictionaryOf`
 * @throws TableSchemaValidation naming the column when data and type or lengths do not agree
 */
export function encodeColumn(
  type: DataType,
  data: Data,
  name: string,
  dictionaryOf: DictionaryOf,
): EncodedColumn {
  const writer = new ColumnWriter(dictionaryOf);
  writer.column(type, data, name);
  return writer;
}

class ColumnWriter implements EncodedColumn {
  readonly pieces: Uint8Array[] = [];
  bytes = 0;
  readonly nodes: number[] = [];
  readonly buffers: number[] = [];
  readonly views: number[] = [];
  readonly #dictionaryOf: DictionaryOf;

  constructor(dictionaryOf: DictionaryOf) {
    this.#dictionaryOf = dictionaryOf;
  }

  column(type: DataType, data: Data, name: string): void {
    if (!typesEqual(type, data.type)) {
      throw invalidColumn(
        name,
        `it holds ${String(data.type)} where the schema says ${String(type)}`,
      );
    }
    const { length } = data;
    const nulls = nullCountOf(data, name);
    this.nodes.push(length, nulls);
    const layout = layoutOf(type);
    if (layout === 'null') return;
    if (layout !== 'union') {
      this.#push(nulls === 0 ? NO_BYTES : sliceBits(data.nullBitmap, data.offset, length));
    }
    switch (layout) {
      case 'bits':
        this.#bits(data, name);
        break;
      case 'fixed':
        this.#push(this.#values(data, length * byteWidth(type), name));
        break;
      case 'binary':
        this.#binary(data, name);
        break;
      case 'view':
        this.#views(data, nulls, name);
        break;
      case 'dictionary':
        this.#dictionary(type, data, nulls, name);
        break;
      case 'list':
        this.#list(type, data, name);
        break;
      case 'fixed-list':
        this.#children(type, data, length * strideOf(type), name);
        break;
      case 'struct':
        this.#children(type, data, length, name);
        break;
      case 'union':
        this.#union(type, data, name);
        break;
    }
  }

  #push(bytes: Uint8Array): void {
    this.buffers.push(bytes.length);
    if (bytes.length === 0) return;
    this.pieces.push(bytes);
    const padding = paddingAfter(bytes.length);
    if (padding.length > 0) this.pieces.push(padding);
    this.bytes += bytes.length + padding.length;
  }

  #values(data: Data, needed: number, name: string): Uint8Array {
    const values = data.values as TypedArray | undefined;
    const held = values === undefined ? NO_BYTES : bytesOf(values);
    if (held.length < needed) {
      throw invalidColumn(
        name,
        `its values take ${held.length} bytes where its ${data.length} rows need ${needed}`,
      );
    }
    return held.subarray(0, needed);
  }

  #bits(data: Data, name: string): void {
    const bits = (data.values ?? NO_BYTES) as Uint8Array;
    if (bits.length < bitmapBytes(data.offset + data.length)) {
      throw invalidColumn(name, `its values hold fewer bits than its ${data.length} rows`);
    }
    this.#push(sliceBits(bytesOf(bits), data.offset, data.length));
  }

  #binary(data: Data, name: string): void {
    const values = (data.values ?? NO_BYTES) as Uint8Array;
    const [begin, end] = this.#offsets(data, values.length, name);
    this.#push(bytesOf(values.subarray(begin, end)));
  }

  /** Pushes offsets that begin at 0; returns the range of values that they stand for. */
  #offsets(data: Data, available: number, name: string): [begin: number, end: number] {
    const { length } = data;
    const large = hasLargeOffsets(data.type);
    const offsets = data.valueOffsets as Offsets | undefined;
    if (length === 0) {
      this.#push(new Uint8Array(large ? 8 : 4));
      return [0, 0];
    }
    if (offsets === undefined || offsets instanceof Int32Array === large) {
      throw invalidColumn(name, `it lacks offsets of ${large ? 64 : 32} bits`);
    }
    if (offsets.length < length + 1) {
      throw invalidColumn(
        name,
        `it has ${offsets.length} offsets where its ${length} rows need one more`,
      );
    }
    const begin = offsetAt(offsets, 0);
    const end = offsetAt(offsets, length);
    const shifted =
      begin < 0 || end > available ? undefined : rebaseOffsets(offsets, length, begin);
    if (shifted === undefined) {
      throw invalidColumn(name, `its offsets do not ascend within its ${available} values`);
    }
    this.#push(bytesOf(shifted));
    return [begin, end];
  }

  #list(type: DataType, data: Data, name: string): void {
    const child = this.#child(data, 0, name);
    const [begin, end] = this.#offsets(data, child.length, name);
    this.#field(type, 0, sliceData(child, begin, end - begin), name);
  }

  #children(type: DataType, data: Data, rows: number, name: string): void {
    for (const [at, field] of childFields(type).entries()) {
      const child = this.#child(data, at, name);
      if (child.length < rows) {
        const what = `it has ${child.length} rows where ${rows} are needed`;
        throw invalidColumn(`${name}.${field.name}`, what);
      }
      this.#field(type, at, sliceData(child, 0, rows), name);
    }
  }

  #child(data: Data, at: number, name: string): Data {
    const child = data.children[at];
    if (child === undefined) throw invalidColumn(name, `its child ${at} is missing`);
    return child;
  }

  #field(type: DataType, at: number, child: Data, name: string): void {
    const field = childFields(type)[at];
    if (field === undefined) throw invalidColumn(name, `the schema lacks its child ${at}`);
    this.column(field.type, child, `${name}.${field.name}`);
  }

  #dictionary(type: DataType, data: Data, nulls: number, name: string): void {
    const indices = this.#values(data, data.length * byteWidth(type), name);
    const capacity = indexCapacity(type);
    if (capacity > 2 ** 32)
      throw invalidColumn(name, 'dictionary indices of 64 bits are not supported');
    const { dictionary, length, offset } = data;
    const values = data.values as Int32Array;
    const known = dictionary?.length ?? 0;
    for (let row = 0; row < length; row += 1) {
      const index = values[row] as number;
      if ((index < 0 || index >= known) && (nulls === 0 || getBit(data.nullBitmap, offset + row))) {
        throw invalidColumn(
          name,
          `row ${row} has index ${index} into a dictionary of ${known} values`,
        );
      }
    }
    const union = this.#dictionaryOf(type);
    const map = dictionary === undefined ? undefined : union.add(dictionary);
    if (union.length > capacity) {
      throw invalidColumn(
        name,
        `its dictionaries have ${union.length} values in all, more than ${String(type)} can index`,
      );
    }
    if (map === undefined) this.#push(indices);
    else {
      const into = new (valueArray(type))(length) as Int32Array;
      this.#push(bytesOf(remapIndices(values.subarray(0, length), into, map)));
    }
  }

  /** Data buffers go as they are when all of them is in use, else only what is. */
  #views(data: Data, nulls: number, name: string): void {
    const held = this.#values(data, data.length * 16, name);
    const buffers = data.variadicBuffers;
    const used = usedViewBytes(data, held, nulls, name);
    const total = buffers.reduce((bytes, buffer) => bytes + buffer.length, 0);
    if (used >= total && nulls === 0) {
      this.#push(held);
      for (const buffer of buffers) this.#push(bytesOf(buffer));
      this.views.push(buffers.length);
    } else {
      const { views, heap } = compactViews(data, held, nulls, used, name);
      this.#push(views);
      if (used > 0) this.#push(heap);
      this.views.push(used > 0 ? 1 : 0);
    }
  }

  #union(type: DataType, data: Data, name: string): void {
    const { length } = data;
    const { mode, typeIds: known } = type as unknown as { mode: UnionMode; typeIds: Int32Array };
    const ids = (data.typeIds ?? new Int8Array(0)) as Int8Array;
    if (ids.length < length)
      throw invalidColumn(name, `it has ${ids.length} type ids for ${length} rows`);
    const childOf = new Map(Array.from(known, (id, at) => [id, at]));
    const lows = known.map(() => 0x7fffffff);
    const highs = known.map(() => -1);
    const offsets = data.valueOffsets as Int32Array | undefined;
    const dense = mode === UnionMode.Dense;
    if (dense && (offsets === undefined || offsets.length < length)) {
      throw invalidColumn(name, `it has fewer offsets than its ${length} rows`);
    }
    for (let row = 0; row < length; row += 1) {
      const child = childOf.get(ids[row] as number);
      if (child === undefined)
        throw invalidColumn(name, `row ${row} has the unknown type id ${ids[row]}`);
      const position = dense ? ((offsets as Int32Array)[row] as number) : row;
      if (position < 0 || position >= this.#child(data, child, name).length) {
        throw invalidColumn(name, `row ${row} lies outside of child ${child}`);
      }
      lows[child] = Math.min(lows[child] as number, position);
      highs[child] = Math.max(highs[child] as number, position);
    }
    this.#push(bytesOf(ids.subarray(0, length)));
    if (!dense) {
      this.#children(type, data, length, name);
      return;
    }
    const shifted = Int32Array.from(
      (offsets as Int32Array).subarray(0, length),
      (position, row) => position - (lows[childOf.get(ids[row] as number) as number] as number),
    );
    this.#push(bytesOf(shifted));
    for (let child = 0; child < known.length; child += 1) {
      const rows =
        (highs[child] as number) < 0 ? 0 : (highs[child] as number) - (lows[child] as number) + 1;
      const from = rows === 0 ? 0 : (lows[child] as number);
      this.#field(type, child, sliceData(this.#child(data, child, name), from, rows), name);
    }
  }
}
