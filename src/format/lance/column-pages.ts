/**
 * `BatchPages` describes the columns of record batches as pages of Lance, which refer to the bytes
 * that are already in the file; `dictionaryValues` does so for a dictionary. `column` takes the
 * columns in file order, walks the buffers of each and records their encoding. Lance marks null
 * lists and null values of dictionary columns in another way than Arrow, so rewritten offsets and
 * indices are added for them. The parts of a dictionary column's page are a function, to be called
 * once all dictionaries are known. What Lance cannot read, such as null structs, is reported to
 * `refuse`.
 */
import {
  bytesOf,
  byteWidth,
  childFields,
  type DataType,
  type Dictionary,
  type Field,
  getBit,
  hasLargeOffsets,
  layoutOf,
  strideOf,
} from '../../arrow/index.ts';
import { aligned, buffersOf } from '../../ipc/index.ts';
import { PREFIX_BYTES, SHORTER_FROM, type StoredColumn } from '../fragment/index.ts';
import {
  allNulls,
  binary,
  dictionary,
  endOffsets,
  type FileRange,
  fixedSizeList,
  flat,
  keptEncoding,
  list,
  noNulls,
  nullAddition,
  pageEncoding,
  someNulls,
  struct,
} from './page-encoding.ts';
import type { ProtoMembers } from './protobuf.ts';

/** Numbers by which `keptEncoding` tells the encodings of one type apart; they are added up. */
const NO_NULLS = 0;
const SOME_NULLS = 2;
const COMPRESSED = 4;
const COMPRESSED_OFFSETS = 8;

/** A buffer of a page: bytes of the file as they lie, or bytes of the Lance part's own. */
export type PageBuffer = FileRange | Uint8Array;

export interface PageParts {
  readonly buffers: readonly PageBuffer[];
  readonly encoding: Uint8Array;
}

export interface PendingPage {
  readonly rows: number;
  /** The first row of the file that it belongs to. */
  readonly priority: number;
  /** Those of a dictionary's indices are asked for when the dictionaries of the fragment are complete. */
  readonly parts: PageParts | ((dictionaries: Dictionaries) => PageParts);
}

/** The values of one dictionary, which stand in one message of the file. */
export interface DictionaryValues {
  readonly rows: number;
  /** The place of the first null value. */
  readonly nullAt: number | undefined;
  readonly ends: FileRange;
  readonly bytes: FileRange;
  /** The ends of the values and of one null behind them, nulls marked by addition. */
  readonly endsWithNulls: Uint8Array;
}

/** By their numbers. */
export type Dictionaries = ReadonlyMap<number, DictionaryValues>;

/** @param offset where the values begin in the file */
export function dictionaryValues(values: StoredColumn, offset: number): DictionaryValues {
  const cursor = new Cursor(values, offset);
  const [rows, nulls] = cursor.node();
  const validity = cursor.buffer();
  const offsets = cursor.buffer();
  const bytes = cursor.buffer();
  const addition = nullAddition(bytes.bytes);
  const ends = new BigUint64Array(rows + 1);
  ends.set(endsWithNulls(offsets, false, rows, nulls > 0 ? validity.content : undefined, addition));
  ends[rows] = BigInt(bytes.bytes) + BigInt(addition);
  return {
    rows,
    nullAt: nulls > 0 ? firstNull(validity, rows) : undefined,
    ends: withoutFirst(offsets, false, rows),
    bytes,
    endsWithNulls: bytesOf(ends),
  };
}

const firstNull = ({ content }: Content, rows: number): number | undefined => {
  for (let row = 0; row < rows; row++)
    if (content !== undefined && !getBit(content, row)) return row;
  return undefined;
};

/** Adds the pages of one batch to those of the batches before. */
export class BatchPages {
  readonly #pages: PendingPage[][];
  readonly #priority: number;
  /** Number of the next Lance column. */
  #column = 0;
  #cursor!: Cursor;
  readonly #refuse: (problem: string) => void;

  /**
   * @param pages of each column that Lance sees
   * @param priority number of the batch's first row in the file
   * @param refuse called with what keeps Lance from reading the batch, as the end of a sentence
   */
  constructor(pages: PendingPage[][], priority: number, refuse: (problem: string) => void) {
    this.#pages = pages;
    this.#priority = priority;
    this.#refuse = refuse;
  }

  /** @param offset where the column begins in the file */
  column(field: Field, encoded: StoredColumn, offset: number): void {
    this.#cursor = new Cursor(encoded, offset);
    this.#field(field.type, field.name);
  }

  #field(type: DataType, path: string): void {
    const [rows, nulls] = this.#cursor.node();
    const layout = layoutOf(type);
    if (layout === 'null') {
      this.#add(rows, { buffers: [], encoding: keptEncoding(type, 0, allNulls) });
      return;
    }
    const validity = this.#cursor.buffer();
    switch (layout) {
      case 'bits':
      case 'fixed': {
        const values = this.#cursor.buffer();
        const form = values.isCompressed ? COMPRESSED : 0;
        this.#nullable(type, rows, nulls, validity, [values], form, (at) =>
          flat(layout === 'bits' ? 1 : byteWidth(type) * 8, at, values.isCompressed),
        );
        return;
      }
      case 'binary': {
        const large = hasLargeOffsets(type);
        const offsets = this.#cursor.buffer();
        const bytes = this.#cursor.buffer();
        const buffers = [withoutFirst(offsets, large, rows), bytes];
        const form =
          (bytes.isCompressed ? COMPRESSED : 0) + (offsets.isCompressed ? COMPRESSED_OFFSETS : 0);
        const values = (at: number): ProtoMembers => {
          const ends = endOffsets(large ? 64 : 32, at, offsets.isCompressed);
          return binary(ends, at + 1, undefined, bytes.isCompressed);
        };
        if (nulls > 0) this.#nullable(type, rows, nulls, validity, buffers, form, values);
        else {
          const encoding = keptEncoding(type, NO_NULLS + form, () => values(0));
          this.#add(rows, { buffers, encoding });
        }
        return;
      }
      case 'fixed-list':
        this.#vectors(type, rows, nulls, validity);
        return;
      case 'list':
        this.#lists(type, rows, nulls, validity, path);
        return;
      case 'struct':
        if (nulls > 0) this.#refuse(`column ${JSON.stringify(path)} holds null structs`);
        this.#structs(type, rows);
        for (const child of childFields(type)) this.#field(child.type, `${path}.${child.name}`);
        return;
      case 'dictionary':
        this.#indices(type as Dictionary, rows, nulls, validity, path);
        return;
      default:
        this.#refuse(`column ${JSON.stringify(path)} holds ${String(type)}`);
    }
  }

  /**
   * @param form what tells the encoding of the values from others that the type has: 0 or 1, or COMPRESSED
   * @param values their encoding if the first of their buffers has this number in the page
   */
  #nullable(
    type: DataType,
    rows: number,
    nulls: number,
    validity: FileRange,
    buffers: readonly PageBuffer[],
    form: number,
    values: (firstBuffer: number) => ProtoMembers,
  ): void {
    const encoding =
      nulls > 0
        ? keptEncoding(type, SOME_NULLS + form, () => someNulls(0, values(1)))
        : keptEncoding(type, NO_NULLS + form, () => noNulls(values(0)));
    this.#add(rows, { buffers: nulls > 0 ? [validity, ...buffers] : buffers, encoding });
  }

  #vectors(type: DataType, rows: number, nulls: number, validity: FileRange): void {
    const [item] = childFields(type) as [Field];
    const [, nullItems] = this.#cursor.node();
    const itemValidity = this.#cursor.buffer();
    const values = this.#cursor.buffer();
    const buffers = nullItems > 0 ? [itemValidity, values] : [values];
    this.#nullable(type, rows, nulls, validity, buffers, nullItems > 0 ? 1 : 0, (at) => {
      const bits = byteWidth(item.type) * 8;
      const items = nullItems > 0 ? someNulls(at, flat(bits, at + 1)) : noNulls(flat(bits, at));
      return fixedSizeList(strideOf(type), items);
    });
  }

  #lists(type: DataType, rows: number, nulls: number, validity: Content, path: string): void {
    const large = hasLargeOffsets(type);
    const offsets = this.#cursor.buffer();
    const items = this.#cursor.nextLength();
    const ends: PageBuffer =
      nulls > 0
        ? bytesOf(endsWithNulls(offsets, large, rows, validity.content, nullAddition(items)))
        : withoutFirst(offsets, large, rows);
    const bits = large || nulls > 0 ? 64 : 32;
    this.#add(rows, {
      buffers: [ends],
      encoding: pageEncoding(list(endOffsets(bits, 0), items)),
    });
    const [child] = childFields(type) as [Field];
    this.#field(child.type, `${path}.${child.name}`);
  }

  /** Lance takes a struct of exactly one page, which counts the rows of all batches. */
  #structs(type: DataType, rows: number): void {
    const pages = this.#pages[this.#column++] as PendingPage[];
    const before = pages.pop()?.rows ?? 0;
    const parts = { buffers: [], encoding: keptEncoding(type, 0, struct) };
    pages.push({ rows: before + rows, priority: 0, parts });
  }

  /** A null index is written anew: Lance wants it to point at a null value of the dictionary. */
  #indices(type: Dictionary, rows: number, nulls: number, validity: Content, path: string): void {
    const indices = this.#cursor.buffer();
    const width = byteWidth(type);
    const copy = nulls > 0 ? indices.content?.slice(0, rows * width) : undefined;
    const isCompressed = copy === undefined && indices.isCompressed;
    const valid = nulls > 0 ? validity.content?.slice() : undefined;
    const place = placeOf(indices);
    const refuse = this.#refuse;
    this.#add(rows, (dictionaries) => {
      const values = dictionaries.get(type.id) as DictionaryValues;
      if (copy !== undefined && valid !== undefined) {
        if (values.nullAt === undefined && values.rows >= 2 ** (width * 8 - 1)) {
          refuse(`column ${JSON.stringify(path)} holds nulls and a full dictionary`);
        }
        pointNullsAt(values.nullAt ?? values.rows, copy, width, valid);
      }
      const marked = copy !== undefined || values.nullAt !== undefined;
      // A full dictionary has no place for a null value beside its own.
      const count = values.rows + (marked && values.nullAt === undefined ? 1 : 0);
      const ends = marked ? values.endsWithNulls.subarray(0, count * 8) : values.ends;
      const items = marked
        ? binary(endOffsets(64, 1), 2, nullAddition(values.bytes.bytes))
        : binary(endOffsets(32, 1), 2);
      return {
        buffers: [copy ?? place, ends, values.bytes],
        encoding: pageEncoding(dictionary(noNulls(flat(width * 8, 0, isCompressed)), items, count)),
      };
    });
  }

  #add(rows: number, parts: PendingPage['parts']): void {
    const pages = this.#pages[this.#column++] as PendingPage[];
    if (rows === 0) return;
    // Pages are kept until the fragment ends: the values of its batches are not.
    const kept =
      typeof parts === 'function' ? parts : { ...parts, buffers: parts.buffers.map(placeOf) };
    pages.push({ rows, priority: this.#priority, parts: kept });
  }
}

/** Where a buffer lies, without its content; the bytes of the part's own. */
const placeOf = (buffer: PageBuffer): PageBuffer =>
  buffer instanceof Uint8Array ? buffer : { at: buffer.at, bytes: buffer.bytes };

/** A buffer of a column; no content where it has no bytes. */
interface Content extends FileRange {
  /** As it was before it was compressed. */
  readonly content: Uint8Array | undefined;
  readonly isCompressed: boolean;
}

/** Steps through a column in the order of ipc/encode/column-writer.ts. */
class Cursor {
  readonly #encoded: StoredColumn;
  /** Of compressed batches, whose buffers have prefixes. */
  readonly #contents: readonly Uint8Array[] | undefined;
  #node = 0;
  #buffer = 0;
  #piece = 0;
  #position: number;

  constructor(encoded: StoredColumn, offset: number) {
    this.#encoded = encoded;
    this.#position = offset;
    this.#contents = encoded.forms === undefined ? undefined : buffersOf(encoded.plain);
  }

  node(): readonly [rows: number, nulls: number] {
    const { nodes } = this.#encoded;
    this.#node += 2;
    return [nodes[this.#node - 2] as number, nodes[this.#node - 1] as number];
  }

  /** Rows of the next node, which stays the next. */
  nextLength(): number {
    return this.#encoded.nodes[this.#node] as number;
  }

  buffer(): Content {
    if (this.#contents !== undefined) return this.#prefixed(this.#contents);
    const at = this.#position;
    const bytes = this.#encoded.buffers[this.#buffer++] as number;
    const isCompressed = false;
    if (bytes === 0) return { at, bytes, content: undefined, isCompressed };
    const content = this.#encoded.pieces[this.#piece] as Uint8Array;
    const padded = aligned(bytes);
    this.#piece += padded > bytes ? 2 : 1;
    this.#position += padded;
    return { at, bytes, content, isCompressed };
  }

  /** What was left as it is lies behind its prefix; Lance reads that of compressed ones itself. */
  #prefixed(contents: readonly Uint8Array[]): Content {
    const at = this.#position;
    const bytes = this.#encoded.buffers[this.#buffer] as number;
    const isCompressed = typeof this.#encoded.forms?.[this.#buffer] === 'object';
    const content = contents[this.#buffer++];
    this.#position += aligned(bytes);
    if (isCompressed) return { at, bytes, content, isCompressed };
    if (bytes === 0) return { at, bytes, content: undefined, isCompressed };
    return { at: at + PREFIX_BYTES, bytes: bytes - PREFIX_BYTES, content, isCompressed };
  }
}

/**
 * Arrow's offsets without the first one, which is 0: where each value ends. Compressed ones have a length
 * for it within the buffer.
 */
function withoutFirst(offsets: Content, large: boolean, rows: number): FileRange {
  if (offsets.isCompressed) {
    return { at: offsets.at + SHORTER_FROM, bytes: offsets.bytes - SHORTER_FROM };
  }
  const width = large ? 8 : 4;
  return { at: offsets.at + width, bytes: rows * width };
}

/** The same as 64-bit numbers, with `addition` added where a value is null. */
function endsWithNulls(
  offsets: Content,
  large: boolean,
  rows: number,
  validity: Uint8Array | undefined,
  addition: number,
): BigUint64Array {
  const ends = new BigUint64Array(rows);
  const bytes = offsets.content as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 0; row < rows; row++) {
    const end = large
      ? view.getBigUint64((row + 1) * 8, true)
      : BigInt(view.getUint32((row + 1) * 4, true));
    ends[row] = validity === undefined || getBit(validity, row) ? end : end + BigInt(addition);
  }
  return ends;
}

function pointNullsAt(index: number, indices: Uint8Array, width: number, valid: Uint8Array): void {
  const view = new DataView(indices.buffer, indices.byteOffset, indices.byteLength);
  const rows = indices.length / width;
  for (let row = 0; row < rows; row++) {
    if (getBit(valid, row)) continue;
    if (width === 1) view.setUint8(row, index);
    else if (width === 2) view.setUint16(row * 2, index, true);
    else if (width === 4) view.setUint32(row * 4, index, true);
    else view.setBigUint64(row * 8, BigInt(index), true);
  }
}
