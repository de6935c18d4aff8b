/**
 * `decodeColumn` builds an Arrow column from the bytes of one stored column; `decodeColumnInSteps`
 * does so in steps. The buffers of an uncompressed column become views of these bytes, which are
 * copied first if their address is not a multiple of 8. Those of a compressed one are decoded into
 * memory from `room`. Lengths that do not fit the type throw the error that `fail` makes. Offsets
 * are checked at both ends only, and views, rows of unions and dictionary indices not at all,
 * because callers have verified the checksum. ipc/encode/column-writer.ts is the inverse.
 */

import {
  bitmapBytes,
  byteWidth,
  childFields,
  type Data,
  type DataType,
  dataOf,
  hasLargeOffsets,
  layoutOf,
  NO_BYTES,
  type Offsets,
  offsetAt,
  strideOf,
  type TypedArray,
  type TypedArrayConstructor,
  UnionMode,
  type Vector,
  valueArray,
} from '../../arrow/index.ts';
import { atWords } from '../../bytes.ts';
import { aligned } from '../../ipc/index.ts';
import { drained } from '../../steps.ts';
import { type BufferForm, decodedBuffers, newRoom, type Room } from './buffer-forms.ts';
import { narrowOffsets } from './wide-offsets.ts';

/** Where the parts of a column lie within its bytes. */
export interface ColumnParts {
  /** Length and null count of the column and its children, depth first. */
  readonly nodes: readonly number[];
  /** Bytes of each buffer without padding. */
  readonly buffers: readonly number[];
  /** How many data buffers each view column among them has. */
  readonly views: readonly number[];
  /** Undefined if the buffers are stored uncompressed. */
  readonly forms?: readonly BufferForm[] | undefined;
  /** Whether its offsets take twice the bytes of those of its type. */
  readonly isWide?: boolean;
}

/** Dictionaries by id. */
export type Dictionaries = ReadonlyMap<number, Vector>;

/**
 * @param bytes the whole column; copied only when its address is not a multiple of 8
 * @param fail makes the error to throw out of what is wrong
 */
export function decodeColumn(
  type: DataType,
  parts: ColumnParts,
  bytes: Uint8Array,
  dictionaries: Dictionaries,
  fail: (what: string) => Error,
  room: Room = newRoom,
): Data {
  // Without a generator, which would cost more than reading a short column.
  if (parts.forms === undefined) return columnOf(type, parts, bytes, undefined, dictionaries, fail);
  return drained(decodeColumnInSteps(type, parts, bytes, dictionaries, fail, room));
}

/**
 * The same in steps, of which there are many where it is compressed.
 * @param room gives memory for what is decoded, which the column then lies in
 */
export function* decodeColumnInSteps(
  type: DataType,
  parts: ColumnParts,
  bytes: Uint8Array,
  dictionaries: Dictionaries,
  fail: (what: string) => Error,
  room: Room,
): Generator<undefined, Data> {
  const { buffers, forms, isWide = false } = parts;
  const decoded =
    forms === undefined
      ? undefined
      : yield* decodedBuffers({ buffers, forms, isWide }, atWords(bytes), room, fail);
  return columnOf(type, parts, bytes, decoded, dictionaries, fail);
}

/** @param decoded each buffer by itself, where they do not lie in the column as they are */
function columnOf(
  type: DataType,
  parts: ColumnParts,
  bytes: Uint8Array,
  decoded: readonly Uint8Array[] | undefined,
  dictionaries: Dictionaries,
  fail: (what: string) => Error,
): Data {
  const usable = decoded === undefined ? atWords(bytes) : bytes;
  const reader = new ColumnReader(parts, usable, decoded, dictionaries, fail);
  const data = reader.column(type);
  reader.finish();
  return data;
}

class ColumnReader {
  readonly #parts: ColumnParts;
  readonly #bytes: Uint8Array;
  /** Each buffer by itself, where they do not lie in the column as they are. */
  readonly #decoded: readonly Uint8Array[] | undefined;
  readonly #dictionaries: Dictionaries;
  readonly #fail: (what: string) => Error;
  #node = 0;
  #buffer = 0;
  #view = 0;
  #position = 0;

  constructor(
    parts: ColumnParts,
    bytes: Uint8Array,
    decoded: readonly Uint8Array[] | undefined,
    dictionaries: Dictionaries,
    fail: (what: string) => Error,
  ) {
    this.#parts = parts;
    this.#bytes = bytes;
    this.#decoded = decoded;
    this.#dictionaries = dictionaries;
    this.#fail = fail;
  }

  column(type: DataType): Data {
    const { nodes } = this.#parts;
    const length = nodes[this.#node];
    const nullCount = nodes[this.#node + 1];
    if (length === undefined || nullCount === undefined || nullCount > length) {
      throw this.#fail('its nodes do not fit its type');
    }
    this.#node += 2;
    const layout = layoutOf(type);
    if (layout === 'null') return dataOf(type, length, {});
    if (layout === 'union') return this.#union(type, length);
    // Spread into what is made below, they would cost more than reading a short column.
    const validity = this.#take(
      nullCount === 0 ? 0 : bitmapBytes(length),
      Uint8Array,
    ) as Uint8Array;
    switch (layout) {
      case 'bits':
        return dataOf(type, length, {
          nullCount,
          validity,
          values: this.#take(bitmapBytes(length), Uint8Array),
        });
      case 'fixed':
        return dataOf(type, length, {
          nullCount,
          validity,
          values: this.#take(length * byteWidth(type), valueArray(type)),
        });
      case 'dictionary': {
        const dictionary = this.#dictionaries.get((type as unknown as { id: number }).id);
        if (dictionary === undefined) throw this.#fail('its dictionary was not given');
        return dataOf(type, length, {
          nullCount,
          validity,
          values: this.#take(length * byteWidth(type), valueArray(type)),
          dictionary,
        });
      }
      case 'binary': {
        const offsets = this.#offsets(type, length);
        const values = this.#take(0, Uint8Array) as Uint8Array;
        this.#checkEnd(offsets, length, values.length);
        return dataOf(type, length, { nullCount, validity, offsets, values });
      }
      case 'view': {
        const values = this.#take(length * 16, Uint8Array);
        const count = this.#parts.views[this.#view] ?? 0;
        this.#view += 1;
        const { length: most } = this.#parts.buffers;
        if (count > most) throw this.#fail(`it has ${most} buffers, and ${count} of views`);
        const views = Array.from({ length: count }, () => this.#take(0, Uint8Array) as Uint8Array);
        return dataOf(type, length, { nullCount, validity, values, views });
      }
      case 'list': {
        const offsets = this.#offsets(type, length);
        const children = this.#children(type);
        this.#checkEnd(offsets, length, children[0]?.length ?? 0);
        return dataOf(type, length, { nullCount, validity, offsets, children });
      }
      case 'fixed-list':
        return dataOf(type, length, {
          nullCount,
          validity,
          children: this.#children(type, length * strideOf(type)),
        });
      case 'struct':
        return dataOf(type, length, {
          nullCount,
          validity,
          children: this.#children(type, length),
        });
    }
  }

  /** All that the layout lists must belong to the type, no more and no less. */
  finish(): void {
    const { nodes, buffers, views } = this.#parts;
    if (
      this.#node !== nodes.length ||
      this.#buffer !== buffers.length ||
      this.#view !== views.length ||
      (this.#decoded === undefined && this.#position !== this.#bytes.length)
    ) {
      throw this.#fail('its layout has more parts than its type');
    }
  }

  /** The next buffer, of at least `needed` bytes. */
  #take(needed: number, array: TypedArrayConstructor): TypedArray {
    if (this.#decoded !== undefined) return this.#takeDecoded(this.#decoded, needed, array);
    const bytes = this.#parts.buffers[this.#buffer];
    const begin = this.#position;
    if (bytes === undefined || bytes < needed || begin + bytes > this.#bytes.length) {
      throw this.#fail(`its buffer ${this.#buffer} is missing or too short`);
    }
    this.#buffer += 1;
    this.#position = begin + aligned(bytes);
    if (bytes === 0) return array === Uint8Array ? NO_BYTES : new array(0);
    return new array(
      this.#bytes.buffer,
      this.#bytes.byteOffset + begin,
      Math.floor(bytes / array.BYTES_PER_ELEMENT),
    );
  }

  #takeDecoded(
    decoded: readonly Uint8Array[],
    needed: number,
    array: TypedArrayConstructor,
  ): TypedArray {
    const buffer = decoded[this.#buffer];
    if (buffer === undefined || buffer.length < needed) {
      throw this.#fail(`its buffer ${this.#buffer} is missing or too short`);
    }
    this.#buffer += 1;
    if (array === Uint8Array) return buffer;
    const { byteOffset, length } = buffer;
    // What is empty may lie anywhere.
    if (length === 0) return new array(0);
    return new array(buffer.buffer, byteOffset, Math.floor(length / array.BYTES_PER_ELEMENT));
  }

  #offsets(type: DataType, length: number): Offsets {
    const large = hasLargeOffsets(type);
    if (this.#parts.isWide === true && this.#decoded === undefined)
      return this.#wideOffsets(length);
    return this.#take(
      (length + 1) * (large ? 8 : 4),
      large ? BigInt64Array : Int32Array,
    ) as Offsets;
  }

  /** Of batches that are not compressed, which have few rows. */
  #wideOffsets(length: number): Offsets {
    const wide = this.#take((length + 1) * 8, Uint8Array) as Uint8Array;
    const offsets = new Int32Array(length + 1);
    if (!narrowOffsets(wide, offsets)) throw this.#fail('an offset has more than 32 bits');
    return offsets;
  }

  #checkEnd(offsets: Offsets, length: number, available: number): void {
    if (offsetAt(offsets, 0) !== 0 || !(offsetAt(offsets, length) <= available)) {
      throw this.#fail('its offsets lie outside of its values');
    }
  }

  #children(type: DataType, rows?: number): Data[] {
    return childFields(type).map((field) => {
      const child = this.column(field.type);
      if (rows !== undefined && child.length !== rows) {
        throw this.#fail(`its child has ${child.length} rows instead of ${rows}`);
      }
      return child;
    });
  }

  #union(type: DataType, length: number): Data {
    const typeIds = this.#take(length, Int8Array) as Int8Array;
    const dense = (type as unknown as { mode: UnionMode }).mode === UnionMode.Dense;
    const offsets = dense ? (this.#take(length * 4, Int32Array) as Int32Array) : undefined;
    return dataOf(type, length, {
      typeIds,
      offsets,
      children: this.#children(type, dense ? undefined : length),
    });
  }
}
