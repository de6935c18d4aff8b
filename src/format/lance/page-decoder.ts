/**
 * `PageDecoder`: decodes rows of one page of a Lance 2.0 column into an Arrow column, for the
 * encodings of page-encoding.ts and others that Lance's own writers use. Only the bytes of those
 * rows are read. Bounds, offsets, indices and UTF-8 are checked, and `ReadBudget` bounds what one
 * read may allocate.
 */
import {
  bitmapBytes,
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
  sliceBits,
  strideOf,
  Type,
  type TypedArray,
  Vector,
  valueArray,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { checkText } from '../../ipc/index.ts';
import { type DataPage, type LanceDataFile, unreadable } from './data-file.ts';
import type { ProtoReader } from './proto-reader.ts';

/** Rows of a page, or what a column of Arrow has at those rows. */
interface Rows {
  readonly from: number;
  readonly count: number;
}

/** Offsets of 32 bits end here. */
const MAX_VALUE_BYTES = 2 ** 31 - 1;
/** What the rows that are read at once may take in memory. */
const MAX_READ_BYTES = 2 ** 30;

/** What one read may still make: pages of nulls stand for many values in no bytes. */
export class ReadBudget {
  #left = MAX_READ_BYTES;
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws Unsupported */
  claim(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new DirspaceError(
      'Unsupported',
      `The rows of the Lance file ${this.#file} that are read at once take more than ${MAX_READ_BYTES} bytes.`,
      { details: { file: this.#file } },
    );
  }
}

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

/** `lance.encodings.ArrayEncoding` by member. */
const NAMES = [
  '',
  'flat',
  'nullable',
  'fixed_size_list',
  'list',
  'struct',
  'binary',
  'dictionary',
  'fsst',
  'packed_struct',
  'bitpacked',
  'fixed_size_binary',
  'bitpacked_for_non_neg',
  'constant',
  'inline_bitpacking',
  'out_of_line_bitpacking',
  'variable',
  'packed_struct_fixed_width_mini_block',
  'block',
  'rle',
  'general_mini_block',
  'byte_stream_split',
];

interface Encoding {
  readonly kind: string;
  readonly body: ProtoReader;
}

/** Lists of a page: their ends among the items of the page, and which are there. */
export interface PageLists {
  /** One more than there are lists. */
  readonly ends: Float64Array;
  readonly validity: Uint8Array | undefined;
  readonly nulls: number;
}

/** Items that the lists of a page refer to. */
export function pageItems(page: DataPage, file: LanceDataFile): number {
  const { kind, body } = new PageDecoder(file, page, '', new ReadBudget(file.name)).root();
  if (kind !== 'list') return 0;
  while (body.next()) if (body.member === 3) return body.uint();
  return 0;
}

export class PageDecoder {
  readonly #file: LanceDataFile;
  readonly #page: DataPage;
  readonly #column: string;
  readonly #budget: ReadBudget;

  /** @param column that errors name */
  constructor(file: LanceDataFile, page: DataPage, column: string, budget: ReadBudget) {
    this.#file = file;
    this.#page = page;
    this.#column = column;
    this.#budget = budget;
  }

  root(): Encoding {
    return this.#encoding(this.#page.encoding());
  }

  /** Values of any type but lists and structs. */
  values(type: DataType, rows: Rows): Promise<Data> {
    return this.#values(this.root(), type, rows, undefined);
  }

  /** @param rows of the page */
  async lists(rows: Rows): Promise<PageLists> {
    const { kind, body } = this.root();
    if (kind === 'nullable' && this.#nullable(body).kind === 'all') {
      this.#budget.claim(rows.count * 9);
      const ends = new Float64Array(rows.count + 1);
      return { ends, validity: new Uint8Array(bitmapBytes(rows.count)), nulls: rows.count };
    }
    if (kind !== 'list') throw this.#unreadable(kind, 'lists');
    let offsets: ProtoReader | undefined;
    let adjustment = 0n;
    let items = 0;
    while (body.next()) {
      if (body.member === 1) offsets = body.part('ArrayEncoding');
      else if (body.member === 2) adjustment = body.uint64();
      else if (body.member === 3) items = body.uint();
      else throw body.fault('it is not known');
    }
    const found = await this.#ends(offsets, rows, adjustment, items);
    const isEnd = rows.from + rows.count === this.#page.rows;
    if (isEnd && rows.count > 0 && found.ends[rows.count] !== items) {
      throw this.#damaged(`its lists end at item ${found.ends[rows.count]} of ${items}`);
    }
    return found;
  }

  /** The members of a packed struct, of types with fixed widths. */
  async packed(fields: readonly Field[], { from, count }: Rows): Promise<Data[]> {
    const { kind, body } = this.root();
    if (kind !== 'packed_struct') throw this.#unreadable(kind, 'packed structs');
    let members = 0;
    let buffer = 0;
    while (body.next()) {
      if (body.member === 1) {
        body.item('ArrayEncoding');
        members += 1;
      } else if (body.member === 2) buffer = this.#bufferIndex(body.part('Buffer'));
      else throw body.fault('it is not known');
    }
    if (members !== fields.length) {
      throw this.#damaged(`it packs ${members} members of ${fields.length}`);
    }
    const widths = fields.map(({ type }) => this.#width(type));
    const stride = widths.reduce((sum, width) => sum + width, 0);
    const bytes = await this.#buffer(buffer, from * stride, (from + count) * stride);
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
    if (layout !== 'fixed-list') throw this.#unreadable(String(type), 'packed structs');
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
        const found = this.#nullable(body);
        if (found.kind === 'all') {
          this.#budget.claim(count * nullBytes(type));
          return nullColumn(type, count);
        }
        const inner = this.#encoding(found.values);
        if (found.validity === undefined) return this.#values(inner, type, rows, validity);
        const bits = await this.#flat(this.#encoding(found.validity), 1, rows);
        return this.#values(inner, type, rows, both(bits, validity));
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
          const values = await this.#flat({ kind, body }, 1, rows);
          return dataOf(type, count, { ...nulls, values });
        }
        if (layout !== 'fixed') throw this.#unreadable(kind, String(type));
        const bytes = await this.#flat({ kind, body }, byteWidth(type) * 8, rows);
        return dataOf(type, count, { ...nulls, values: typed(type, bytes) });
      }
      default:
        throw this.#unreadable(kind, String(type));
    }
  }

  #nullable(
    body: ProtoReader,
  ):
    | { readonly kind: 'all' }
    | { readonly kind: 'some'; readonly values: ProtoReader; readonly validity?: ProtoReader } {
    if (!body.next()) throw body.fault('it is empty');
    const { member } = body;
    if (member === 3) return { kind: 'all' };
    if (member !== 1 && member !== 2) throw body.fault('it is not known');
    const inner = body.part('Nullable');
    let values: ProtoReader | undefined;
    let validity: ProtoReader | undefined;
    while (inner.next()) {
      if (inner.member === member) values = inner.part('ArrayEncoding');
      else if (inner.member === 1) validity = inner.part('ArrayEncoding');
      else throw inner.fault('it is not known');
    }
    if (values === undefined || (member === 2 && validity === undefined)) {
      throw inner.fault('it has no values or no validity');
    }
    return { kind: 'some', values, ...(validity !== undefined && { validity }) };
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
      throw this.#damaged(`it holds vectors of ${dimension} values, and is ${String(type)}`);
    }
    const [item] = childFields(type) as [Field];
    const within = { from: from * size, count: count * size };
    const child = await this.#values(this.#encoding(items), item.type, within, undefined);
    return dataOf(type, count, { ...nullsOf(validity, count), children: [child] });
  }

  async #binary(
    body: ProtoReader,
    type: DataType,
    rows: Rows,
    validity: Uint8Array | undefined,
  ): Promise<Data> {
    if (layoutOf(type) !== 'binary') throw this.#unreadable('binary', String(type));
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
    const found = await this.#ends(indices, rows, adjustment, Number.MAX_SAFE_INTEGER);
    const begin = found.ends[0] as number;
    const bytes = (found.ends[count] as number) - begin;
    const large = hasLargeOffsets(type);
    if (bytes > MAX_VALUE_BYTES) throw this.#damaged(`${count} values have ${bytes} bytes`);
    const values = await this.#flat(this.#encoding(content), 8, { from: begin, count: bytes });
    const valid = both(found.validity, validity);
    const offsets: Offsets = large ? new BigInt64Array(count + 1) : new Int32Array(count + 1);
    for (let row = 0; row <= count; row++) {
      const end = (found.ends[row] as number) - begin;
      if (large) (offsets as BigInt64Array)[row] = BigInt(end);
      else (offsets as Int32Array)[row] = end;
    }
    const nulls = nullsOf(valid, count);
    if (type.typeId === Type.Utf8 || type.typeId === Type.LargeUtf8) {
      checkText(offsets, count, values, nulls.validity, (problem) => {
        throw this.#damaged(problem);
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
    const valueType = isDictionary ? (type as Dictionary).dictionary : type;
    const values = await this.#dictionaryValues(items, valueType, known);
    const found = await this.#numbers(indices, rows);
    const valid = validity?.slice() ?? new Uint8Array(bitmapBytes(count)).fill(0xff);
    const clear = (row: number): void => {
      valid[row >> 3] = (valid[row >> 3] as number) & ~(1 << (row & 7));
    };
    const positions = new Uint32Array(count);
    for (let row = 0; row < count; row++) {
      if (!getBit(valid, row)) continue;
      // Of texts, 0 is null and others begin at 1; a dictionary column points at a null value.
      const index = (found[row] as number) - (isDictionary ? 0 : 1);
      if (index >= known) throw this.#damaged(`index ${index} into a dictionary of ${known}`);
      if (index < 0 || isNull(values, index)) clear(row);
      else positions[row] = index;
    }
    const nulls = nullsOf(valid, count);
    if (!isDictionary) {
      if (known === 0) return nullColumn(type, count);
      const picked = gatherData(values, positions);
      const { values: bytes } = picked;
      return dataOf(type, count, { ...nulls, offsets: picked.valueOffsets, values: bytes });
    }
    const width = byteWidth(type);
    const array = new (valueArray(type))(count);
    for (let row = 0; row < count; row++) {
      array[row] = width === 8 ? BigInt(positions[row] as number) : (positions[row] as number);
    }
    return dataOf(type, count, { ...nulls, values: array, dictionary: new Vector([values]) });
  }

  /** Batches of the same page, and pages with the same dictionary, ask for it again. */
  #dictionaryValues(items: ProtoReader, type: DataType, known: number): Promise<Data> {
    const places = this.#page.buffers.slice(1).map(({ at, bytes }) => `${at}:${bytes}`);
    const key = `${places.join()};${known};${Buffer.from(items.content).toString('base64')}`;
    return this.#file.remembered(this.#column, key, () =>
      this.#values(this.#encoding(items), type, { from: 0, count: known }, undefined),
    );
  }

  /**
   * The ends of values or lists. A null has `adjustment` added to it.
   * @param most that an end may be
   */
  async #ends(
    encoding: ProtoReader | undefined,
    { from, count }: Rows,
    adjustment: bigint,
    most: number,
  ): Promise<PageLists> {
    const before = from > 0 ? 1 : 0;
    const numbers = await this.#numbers(encoding, { from: from - before, count: count + before });
    const added = adjustment > BigInt(2 ** 53) ? Number.POSITIVE_INFINITY : Number(adjustment);
    const ends = new Float64Array(count + 1);
    let validity: Uint8Array | undefined;
    let nulls = 0;
    let last = 0;
    for (let at = 0; at < numbers.length; at++) {
      const row = at - before;
      let end = numbers[at] as number;
      if (added > 0 && end >= added) {
        end -= added;
        if (row >= 0) {
          validity ??= new Uint8Array(bitmapBytes(count)).fill(0xff);
          validity[row >> 3] = (validity[row >> 3] as number) & ~(1 << (row & 7));
          nulls += 1;
        }
      }
      if (row >= 0 && end < last) throw this.#damaged(`an end of ${end} follows one of ${last}`);
      if (end > most) throw this.#damaged(`an end of ${end}, where ${most} are there`);
      if (row < 0) ends[0] = end;
      else ends[row + 1] = end;
      last = end;
    }
    return { ends, validity, nulls };
  }

  /** Unsigned numbers of 8, 16, 32 or 64 bits. */
  async #numbers(encoding: ProtoReader | undefined, rows: Rows): Promise<ArrayLike<number>> {
    if (encoding === undefined) throw this.#damaged('its ends or indices are missing');
    let found = this.#encoding(encoding);
    if (found.kind === 'nullable') {
      const inner = this.#nullable(found.body);
      if (inner.kind === 'all' || inner.validity !== undefined) {
        throw this.#damaged('its ends or indices have nulls');
      }
      found = this.#encoding(inner.values);
    }
    const { bits, buffer } =
      found.kind === 'bitpacked' ? this.#bitpacked(found.body) : this.#flatParts(found);
    if (![8, 16, 32, 64].includes(bits)) throw this.#unreadable(`${bits} bits`, 'offsets');
    const width = bits / 8;
    const bytes = await this.#buffer(buffer, rows.from * width, (rows.from + rows.count) * width);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#budget.claim(rows.count * 24);
    const numbers = new Float64Array(rows.count);
    for (let row = 0; row < rows.count; row++) {
      numbers[row] =
        width === 1
          ? view.getUint8(row)
          : width === 2
            ? view.getUint16(row * 2, true)
            : width === 4
              ? view.getUint32(row * 4, true)
              : view.getUint32(row * 8, true) + view.getUint32(row * 8 + 4, true) * 2 ** 32;
    }
    return numbers;
  }

  /** Bytes of values of so many bits, in memory of their own. */
  async #flat(encoding: Encoding, bits: number, { from, count }: Rows): Promise<Uint8Array> {
    let inner = encoding;
    if (inner.kind === 'nullable') {
      const found = this.#nullable(inner.body);
      if (found.kind === 'all' || found.validity !== undefined) {
        throw this.#damaged('its bytes or bits have nulls');
      }
      inner = this.#encoding(found.values);
    }
    const found = this.#flatParts(inner);
    if (found.bits !== bits) {
      throw this.#damaged(`its values have ${found.bits} bits, where ${bits} are due`);
    }
    if (bits === 1) {
      const first = Math.floor(from / 8);
      const bytes = await this.#buffer(found.buffer, first, bitmapBytes(from + count));
      return sliceBits(bytes, from - first * 8, count).slice();
    }
    const width = bits / 8;
    const bytes = await this.#buffer(found.buffer, from * width, (from + count) * width);
    return new Uint8Array(bytes);
  }

  #flatParts({ kind, body }: Encoding): { readonly bits: number; readonly buffer: number } {
    if (kind !== 'flat') throw this.#unreadable(kind, 'plain values');
    let bits = 0;
    let buffer = 0;
    while (body.next()) {
      if (body.member === 1) bits = body.uint();
      else if (body.member === 2) buffer = this.#bufferIndex(body.part('Buffer'));
      else if (body.member === 3) throw this.#unreadable('compressed', 'values');
      else throw body.fault('it is not known');
    }
    if (bits !== 1 && (bits === 0 || bits % 8 !== 0)) throw this.#unreadable(`${bits} bits`, 'it');
    return { bits, buffer };
  }

  /** Whole bytes of which readers are to make longer numbers. */
  #bitpacked(body: ProtoReader): { readonly bits: number; readonly buffer: number } {
    let bits = 0;
    let buffer = 0;
    while (body.next()) {
      if (body.member === 1) bits = body.uint();
      else if (body.member === 2) body.uint();
      else if (body.member === 3) buffer = this.#bufferIndex(body.part('Buffer'));
      else if (body.member !== 4 || body.bool())
        throw this.#unreadable('bitpacked', 'signed numbers');
    }
    return { bits, buffer };
  }

  #bufferIndex(message: ProtoReader): number {
    let index = 0;
    while (message.next()) {
      if (message.member === 1) index = message.uint();
      else if (message.member !== 2 || message.uint() !== 0) {
        throw this.#unreadable('buffers of files or columns', 'it');
      }
    }
    return index;
  }

  async #buffer(index: number, from: number, to: number): Promise<Uint8Array> {
    const range = this.#page.buffers[index];
    if (from === to) return new Uint8Array(0);
    if (range === undefined) throw this.#damaged(`buffer ${index} of its page is missing`);
    if (to > range.bytes || to - from > MAX_VALUE_BYTES) {
      throw this.#damaged(`a buffer of ${range.bytes} bytes is read from ${from} to ${to}`);
    }
    this.#budget.claim(to - from);
    return this.#file.read(range, from, to);
  }

  #encoding(message: ProtoReader): Encoding {
    if (!message.next()) throw message.fault('it is empty');
    const kind = NAMES[message.member] ?? `number ${message.member}`;
    return { kind, body: message.part(kind) };
  }

  #damaged(what: string): DirspaceError {
    return this.#file.damaged(`in column ${JSON.stringify(this.#column)}, ${what}`);
  }

  #unreadable(encoding: string, what: string): DirspaceError {
    return unreadable(
      this.#file.name,
      `values of column ${JSON.stringify(this.#column)} (${what}) in the encoding "${encoding}"`,
    );
  }
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

/** Rows that both say are valid. */
function both(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.map((byte, at) => byte & (b[at] as number));
}

const isNull = (data: Data, row: number): boolean =>
  data.nullCount > 0 && !getBit(data.nullBitmap, row);
