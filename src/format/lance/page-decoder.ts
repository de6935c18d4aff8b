/**
 * `PageDecoder` decodes rows of one page of a Lance 2.0 column into an Arrow column. `values` is
 * for all types but lists and structs. `lists` decodes the ends of lists, and `packed` the members
 * of a packed struct. It understands the encodings that this engine writes for such pages
 * (page-encoding.ts), and some others of Lance's own writers. Damage throws Corrupt, and any other
 * encoding, or more memory than the budget allows, throws Unsupported. page-reader.ts reads the
 * buffers and checks their bounds. `nullBytes` tells how many bytes a null of a type takes.
 */
import {
  bitmapBytes,
  bothBits,
  byteWidth,
  childFields,
  countBits,
  type Data,
  type DataType,
  type Dictionary,
  dataOf,
  type Field,
  gatherData,
  getBit,
  hasLargeOffsets,
  layoutOf,
  nullColumn,
  type Offsets,
  strideOf,
  Type,
  type TypedArray,
  Vector,
  valueArray,
} from '../../arrow/index.ts';
import { checkText } from '../../ipc/index.ts';
import type { DataPage, LanceDataFile } from './data-file.ts';
import type { ReadBudget } from './page-reader.ts';
import {
  type Encoding,
  MAX_VALUE_BYTES,
  type PageLists,
  PageReader,
  type Rows,
} from './page-reader.ts';
import type { ProtoReader } from './proto-reader.ts';

/** Bytes that a null of a type takes. */
export function nullBytes(type: DataType): number {
  switch (layoutOf(type)) {
    case 'null':
      return 0;
    case 'bits':
      return 1;
    case 'fixed':
    case 'dictionary':
      return byteWidth(type) + 1;
    case 'fixed-list':
      return 1 + strideOf(type) * nullBytes((childFields(type)[0] as Field).type);
    case 'struct':
      return childFields(type).reduce((sum, child) => sum + nullBytes(child.type), 1);
    default:
      return 9;
  }
}

export class PageDecoder {
  readonly #reader: PageReader;

  /** @param column that errors name */
  constructor(file: LanceDataFile, page: DataPage, column: string, budget: ReadBudget) {
    this.#reader = new PageReader(file, page, column, budget);
  }

  /** Values of any type but lists and structs. */
  values(type: DataType, rows: Rows): Promise<Data> {
    return this.#values(this.#reader.root(), type, rows, undefined);
  }

  /** @param rows of the page */
  async lists(rows: Rows): Promise<PageLists> {
    const { kind, body } = this.#reader.root();
    if (kind === 'nullable' && this.#reader.nullable(body).kind === 'all') {
      this.#reader.budget.claim(rows.count * 9);
      const ends = new Float64Array(rows.count + 1);
      return { ends, validity: new Uint8Array(bitmapBytes(rows.count)), nulls: rows.count };
    }
    if (kind !== 'list') throw this.#reader.unreadable(kind, 'lists');
    let offsets: ProtoReader | undefined;
    let adjustment = 0n;
    let items = 0;
    while (body.next()) {
      if (body.member === 1) offsets = body.part('ArrayEncoding');
      else if (body.member === 2) adjustment = body.uint64();
      else if (body.member === 3) items = body.uint();
      else throw body.fault('it is not known');
    }
    const found = await this.#reader.ends(offsets, rows, adjustment, items);
    const isEnd = rows.from + rows.count === this.#reader.page.rows;
    if (isEnd && rows.count > 0 && found.ends[rows.count] !== items) {
      throw this.#reader.damaged(`its lists end at item ${found.ends[rows.count]} of ${items}`);
    }
    return found;
  }

  /** The members of a packed struct, of types with fixed widths. */
  async packed(fields: readonly Field[], { from, count }: Rows): Promise<Data[]> {
    const { kind, body } = this.#reader.root();
    if (kind !== 'packed_struct') throw this.#reader.unreadable(kind, 'packed structs');
    let members = 0;
    let buffer = 0;
    while (body.next()) {
      if (body.member === 1) {
        body.item('ArrayEncoding');
        members += 1;
      } else if (body.member === 2) buffer = this.#reader.bufferIndex(body.part('Buffer'));
      else throw body.fault('it is not known');
    }
    if (members !== fields.length) {
      throw this.#reader.damaged(`it packs ${members} members of ${fields.length}`);
    }
    const widths = fields.map(({ type }) => this.#width(type));
    const stride = widths.reduce((sum, width) => sum + width, 0);
    const bytes = await this.#reader.buffer(buffer, from * stride, (from + count) * stride);
    let before = 0;
    return fields.map(({ type }, at) => {
      const width = widths[at] as number;
      const values = new Uint8Array(count * width);
      for (let row = 0; row < count; row++) {
        const start = row * stride + before;
        values.set(bytes.subarray(start, start + width), row * width);
      }
      before += width;
      return this.#withoutNulls(type, values, count);
    });
  }

  /** Bytes that a value of a packed struct takes. */
  #width(type: DataType): number {
    const layout = layoutOf(type);
    if (layout === 'fixed') return byteWidth(type);
    if (layout !== 'fixed-list') throw this.#reader.unreadable(String(type), 'packed structs');
    return strideOf(type) * this.#width((childFields(type)[0] as Field).type);
  }

  #withoutNulls(type: DataType, bytes: Uint8Array, count: number): Data {
    if (layoutOf(type) === 'fixed') {
      return dataOf(type, count, { values: typed(type, bytes) });
    }
    const [item] = childFields(type) as [Field];
    const items = this.#withoutNulls(item.type, bytes, count * strideOf(type));
    return dataOf(type, count, { children: [items] });
  }

  /** @param validity which rows have a value, as encodings around this one say */
  async #values(
    { kind, body }: Encoding,
    type: DataType,
    rows: Rows,
    validity: Uint8Array | undefined,
  ): Promise<Data> {
    const { count } = rows;
    switch (kind) {
      case 'nullable': {
        const found = this.#reader.nullable(body);
        if (found.kind === 'all') {
          this.#reader.budget.claim(count * nullBytes(type));
          return nullColumn(type, count);
        }
        const inner = this.#reader.encoding(found.values);
        if (found.validity === undefined) return this.#values(inner, type, rows, validity);
        const bits = await this.#reader.flat(this.#reader.encoding(found.validity), 1, rows);
        return this.#values(inner, type, rows, bothBits(bits, validity));
      }
      case 'fixed_size_list':
        return this.#vectors(body, type, rows, validity);
      case 'binary':
        return this.#binary(body, type, rows, validity);
      case 'dictionary':
        return this.#dictionary(body, type, rows, validity);
      case 'flat': {
        const layout = layoutOf(type);
        const nulls = nullsOf(validity, count);
        if (layout === 'bits') {
          const values = await this.#reader.flat({ kind, body }, 1, rows);
          return dataOf(type, count, { ...nulls, values });
        }
        if (layout !== 'fixed') throw this.#reader.unreadable(kind, String(type));
        const bytes = await this.#reader.flat({ kind, body }, byteWidth(type) * 8, rows);
        return dataOf(type, count, { ...nulls, values: typed(type, bytes) });
      }
      default:
        throw this.#reader.unreadable(kind, String(type));
    }
  }

  async #vectors(
    body: ProtoReader,
    type: DataType,
    { from, count }: Rows,
    validity: Uint8Array | undefined,
  ): Promise<Data> {
    let dimension = 0;
    let items: ProtoReader | undefined;
    while (body.next()) {
      if (body.member === 1) dimension = body.uint();
      else if (body.member === 2) items = body.part('ArrayEncoding');
      else if (body.member === 3) body.bool();
      else throw body.fault('it is not known');
    }
    const size = layoutOf(type) === 'fixed-list' ? strideOf(type) : -1;
    if (items === undefined || dimension !== size || size === 0) {
      throw this.#reader.damaged(`it holds vectors of ${dimension} values, and is ${String(type)}`);
    }
    const [item] = childFields(type) as [Field];
    const within = { from: from * size, count: count * size };
    const child = await this.#values(this.#reader.encoding(items), item.type, within, undefined);
    return dataOf(type, count, { ...nullsOf(validity, count), children: [child] });
  }

  async #binary(
    body: ProtoReader,
    type: DataType,
    rows: Rows,
    validity: Uint8Array | undefined,
  ): Promise<Data> {
    if (layoutOf(type) !== 'binary') throw this.#reader.unreadable('binary', String(type));
    let indices: ProtoReader | undefined;
    let content: ProtoReader | undefined;
    let adjustment = 0n;
    while (body.next()) {
      if (body.member === 1) indices = body.part('ArrayEncoding');
      else if (body.member === 2) content = body.part('ArrayEncoding');
      else if (body.member === 3) adjustment = body.uint64();
      else throw body.fault('it is not known');
    }
    if (content === undefined) throw body.fault('it has no bytes');
    const { count } = rows;
    const found = await this.#reader.ends(indices, rows, adjustment, Number.MAX_SAFE_INTEGER);
    const begin = found.ends[0] as number;
    const bytes = (found.ends[count] as number) - begin;
    const large = hasLargeOffsets(type);
    if (bytes > MAX_VALUE_BYTES) throw this.#reader.damaged(`${count} values have ${bytes} bytes`);
    const values = await this.#reader.flat(this.#reader.encoding(content), 8, {
      from: begin,
      count: bytes,
    });
    const valid = bothBits(found.validity, validity);
    const offsets: Offsets = large ? new BigInt64Array(count + 1) : new Int32Array(count + 1);
    for (let row = 0; row <= count; row++) {
      const end = (found.ends[row] as number) - begin;
      if (large) (offsets as BigInt64Array)[row] = BigInt(end);
      else (offsets as Int32Array)[row] = end;
    }
    const nulls = nullsOf(valid, count);
    if (type.typeId === Type.Utf8 || type.typeId === Type.LargeUtf8) {
      checkText(offsets, count, values, nulls.validity, (problem) => {
        throw this.#reader.damaged(problem);
      });
    }
    return dataOf(type, count, { ...nulls, offsets, values });
  }

  /** Columns of dictionaries, and texts of which a writer found few distinct ones. */
  async #dictionary(
    body: ProtoReader,
    type: DataType,
    rows: Rows,
    validity: Uint8Array | undefined,
  ): Promise<Data> {
    let indices: ProtoReader | undefined;
    let items: ProtoReader | undefined;
    let known = 0;
    while (body.next()) {
      if (body.member === 1) indices = body.part('ArrayEncoding');
      else if (body.member === 2) items = body.part('ArrayEncoding');
      else if (body.member === 3) known = body.uint();
      else throw body.fault('it is not known');
    }
    if (items === undefined) throw body.fault('it has no items');
    const { count } = rows;
    const isDictionary = type.typeId === Type.Dictionary;
    if (!isDictionary && layoutOf(type) !== 'binary') {
      throw this.#reader.unreadable('dictionary', String(type));
    }
    const valueType = isDictionary ? (type as Dictionary).dictionary : type;
    const values = await this.#dictionaryValues(items, valueType, known);
    const found = await this.#reader.numbers(indices, rows);
    const valid = validity?.slice() ?? new Uint8Array(bitmapBytes(count)).fill(0xff);
    const clear = (row: number): void => {
      valid[row >> 3] = (valid[row >> 3] as number) & ~(1 << (row & 7));
    };
    const positions = new Uint32Array(count);
    for (let row = 0; row < count; row++) {
      if (!getBit(valid, row)) continue;
      // Of texts, 0 is null and others begin at 1; a dictionary column points at a null value.
      const index = (found[row] as number) - (isDictionary ? 0 : 1);
      if (index >= known)
        throw this.#reader.damaged(`index ${index} into a dictionary of ${known}`);
      if (index < 0 || isNull(values, index)) clear(row);
      else positions[row] = index;
    }
    const nulls = nullsOf(valid, count);
    if (!isDictionary) {
      if (known === 0) return nullColumn(type, count);
      this.#reader.budget.claim(pickedBytes(values, positions));
      const picked = gatherData(values, positions);
      const { values: bytes } = picked;
      return dataOf(type, count, { ...nulls, offsets: picked.valueOffsets, values: bytes });
    }
    const width = byteWidth(type);
    const array = new (valueArray(type))(count);
    for (let row = 0; row < count; row++) {
      const index = positions[row] as number;
      array[row] = width === 8 ? BigInt(index) : index;
      // Another number where the type of the indices is too narrow.
      if (Number(array[row]) !== index) {
        const { indices: indexType } = type as Dictionary;
        throw this.#reader.damaged(`index ${index} has no place in ${String(indexType)}`);
      }
    }
    return dataOf(type, count, { ...nulls, values: array, dictionary: new Vector([values]) });
  }

  /** Batches of the same page, and pages with the same dictionary, ask for it again. */
  #dictionaryValues(items: ProtoReader, type: DataType, known: number): Promise<Data> {
    const places = this.#reader.page.buffers.slice(1).map(({ at, bytes }) => `${at}:${bytes}`);
    const key = `${places.join()};${known};${Buffer.from(items.content).toString('base64')}`;
    return this.#reader.file.dictionary(this.#reader.column, key, () =>
      this.#values(this.#reader.encoding(items), type, { from: 0, count: known }, undefined),
    );
  }
}

/** Bytes of the texts at these positions, each as often as it is picked. */
function pickedBytes({ valueOffsets }: Data, positions: Uint32Array): number {
  const offsets = valueOffsets as Offsets;
  let bytes = 0;
  for (const at of positions) bytes += Number(offsets[at + 1]) - Number(offsets[at]);
  return bytes;
}

/** Bytes in memory of their own, as an array of the type. */
function typed(type: DataType, bytes: Uint8Array): TypedArray {
  const array = valueArray(type);
  return new array(bytes.buffer as ArrayBuffer, 0, bytes.length / array.BYTES_PER_ELEMENT);
}

function nullsOf(
  validity: Uint8Array | undefined,
  count: number,
): { readonly nullCount: number; readonly validity: Uint8Array | undefined } {
  const nullCount = validity === undefined ? 0 : count - countBits(validity, 0, count);
  return { nullCount, validity: nullCount === 0 ? undefined : validity };
}

const isNull = (data: Data, row: number): boolean =>
  data.nullCount > 0 && !getBit(data.nullBitmap, row);
