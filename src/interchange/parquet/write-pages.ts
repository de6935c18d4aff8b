/**
 * `ChunkWriter` encodes and compresses the pages of one column (a leaf of the schema) of a row
 * group. Texts and binaries of variable length are stored as dictionary codes until the dictionary
 * is full, and then plain. They are plain from the start if more than half of the values of the
 * first page, and more than 16, are distinct. Other types are always plain. All pages stay in
 * memory until `end` returns them with the column's entry for the footer, because the columns of a
 * row group stand one after another in the file.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type Data, type DataType, Type } from '../../arrow/index.ts';
import { encodeFrame, FRAME_BYTES } from '../../ipc/index.ts';
import { bytesAt } from '../text/index.ts';
import { bitsOf, encodeHybrid } from './levels.ts';
import { PageDictionary } from './page-dictionary.ts';
import { type Shredded, shred } from './shred.ts';
import { encodeSnappy } from './snappy.ts';
import { type Value, writeThrift } from './thrift-writer.ts';
import type { WriteLeaf } from './write-schema.ts';
import { plainValues } from './write-values.ts';

/** How pages are compressed. */
export type ParquetCompression = 'snappy' | 'zstd' | 'gzip' | 'none';

const CODECS: Readonly<Record<ParquetCompression, number>> = {
  none: 0,
  snappy: 1,
  gzip: 2,
  zstd: 6,
};
export const PARQUET_COMPRESSIONS = Object.keys(CODECS) as readonly ParquetCompression[];

const [PLAIN, RLE, RLE_DICTIONARY] = [0, 3, 8];
const [DATA_PAGE, DICTIONARY_PAGE] = [0, 2];
/** Bytes of a page before it is compressed, and values at most. */
const PAGE_BYTES = 1 << 20;
const PAGE_VALUES = 1 << 16;

const gzip = promisify(zlib.gzip) as (
  bytes: Uint8Array,
  options: zlib.ZlibOptions,
) => Promise<Buffer>;

async function compress(bytes: Uint8Array, codec: ParquetCompression): Promise<Uint8Array> {
  switch (codec) {
    case 'none':
      // Views of columns may change once their batch is given back.
      return bytes.slice();
    case 'snappy':
      return encodeSnappy(bytes);
    case 'gzip':
      return gzip(bytes, { level: 4 });
    case 'zstd': {
      const frames: Uint8Array[] = [];
      for (let at = 0; at === 0 || at < bytes.length; at += FRAME_BYTES) {
        // The encoder's memory is overwritten by its next call.
        frames.push(Uint8Array.from(encodeFrame(bytes.subarray(at, at + FRAME_BYTES)) ?? []));
      }
      return Buffer.concat(frames);
    }
  }
}

const isBytes = ({ type }: WriteLeaf): boolean =>
  [
    Type.Utf8,
    Type.LargeUtf8,
    Type.Utf8View,
    Type.Binary,
    Type.LargeBinary,
    Type.BinaryView,
  ].includes((type as DataType).typeId);

export class ChunkWriter {
  readonly #leaf: WriteLeaf;
  readonly #codec: ParquetCompression;
  readonly #pages: Uint8Array[] = [];
  #words: PageDictionary | undefined;
  /** Whether there are pages of codes. */
  #hasCodes = false;
  #hasPlain = false;
  /** Whether no more words come into the dictionary. */
  #isFull = false;
  #bytes = 0;
  #plainBytes = 0;
  #values = 0;
  #nulls = 0;

  constructor(leaf: WriteLeaf, codec: ParquetCompression) {
    this.#leaf = leaf;
    this.#codec = codec;
    this.#words = isBytes(leaf) ? new PageDictionary() : undefined;
  }

  /** Bytes of the pages so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the rows of the column that the leaf is in. */
  async add(column: Data): Promise<void> {
    const part = shred(this.#leaf, column);
    const there = part.rows?.length ?? part.count;
    const perPage = this.#pageValues(part, there);
    let value = 0;
    for (let from = 0; from < part.count; ) {
      let to = Math.min(part.count, from + perPage);
      // A row is on one page.
      const { repetitions } = part;
      while (repetitions !== undefined && to < part.count && repetitions[to] !== 0) to++;
      const next = value + this.#countThere(part, from, to);
      await this.#page(part, from, to, value, next);
      [from, value] = [to, next];
    }
    this.#values += part.count;
    this.#nulls += part.count - there;
  }

  #countThere({ definitions }: Shredded, from: number, to: number): number {
    if (definitions === undefined) return to - from;
    const { maxDefinition } = this.#leaf;
    let there = 0;
    for (let at = from; at < to; at++) if (definitions[at] === maxDefinition) there++;
    return there;
  }

  #pageValues({ count, data, rows }: Shredded, there: number): number {
    if (data === undefined || there === 0) return PAGE_VALUES;
    let size = this.#leaf.width * there;
    if (isBytes(this.#leaf)) {
      const place = bytesAt(data);
      for (let value = 0; value < there; value++) {
        const { start, end } = place(rows === undefined ? value : (rows[value] as number));
        size += 4 + end - start;
      }
    }
    return Math.max(1, Math.min(PAGE_VALUES, Math.floor((count * PAGE_BYTES) / Math.max(1, size))));
  }

  async #page(part: Shredded, from: number, to: number, value: number, end: number): Promise<void> {
    const pieces: Uint8Array[] = [];
    const { maxDefinition, maxRepetition } = this.#leaf;
    for (const [levels, most] of [
      [part.repetitions, maxRepetition],
      [part.definitions, maxDefinition],
    ] as const) {
      if (levels === undefined) continue;
      const coded = encodeHybrid(levels.subarray(from, to), to - from, bitsOf(most));
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, coded.length, true);
      pieces.push(length, coded);
    }
    const codes = this.#codes(part, value, end);
    if (codes === undefined) {
      this.#hasPlain = true;
      pieces.push(plainValues(this.#leaf, part.data, part.rows, value, end));
    } else {
      this.#hasCodes = true;
      pieces.push(codes);
    }
    const encoding = codes === undefined ? PLAIN : RLE_DICTIONARY;
    const header: Value = {
      struct: [
        [1, to - from],
        [2, encoding],
        [3, RLE],
        [4, RLE],
      ],
    };
    const [first] = pieces;
    const bytes = pieces.length === 1 ? (first as Uint8Array) : Buffer.concat(pieces);
    this.#put(await this.#stored(bytes, DATA_PAGE, 5, header));
  }

  /** The values as codes; undefined where a dictionary does not pay. */
  #codes({ data, rows }: Shredded, from: number, to: number): Uint8Array | undefined {
    const words = this.#words;
    if (words === undefined || data === undefined) return undefined;
    const place = bytesAt(data);
    const codes = new Int32Array(to - from);
    for (let value = from; value < to; value++) {
      if (words.isFull) break;
      const { bytes, start, end } = place(rows === undefined ? value : (rows[value] as number));
      codes[value - from] = words.code(bytes, start, end);
    }
    const isRare = !this.#hasCodes && words.words.length > 16 && 2 * words.words.length > to - from;
    if (words.isFull || isRare) {
      // Codes that were written keep their words; those of this page are among them or not, which is all one.
      if (!this.#hasCodes) this.#words = undefined;
      else this.#isFull = true;
      return undefined;
    }
    if (this.#isFull) return undefined;
    const width = Math.max(1, bitsOf(Math.max(1, words.words.length - 1)));
    const coded = encodeHybrid(codes, codes.length, width);
    return Buffer.concat([Uint8Array.of(width), coded]);
  }

  async #stored(bytes: Uint8Array, type: number, field: number, own: Value): Promise<Uint8Array[]> {
    const content = await compress(bytes, this.#codec);
    const header = writeThrift([
      [1, type],
      [2, bytes.length],
      [3, content.length],
      [field, own],
    ]);
    this.#plainBytes += header.length + bytes.length;
    return [header, content];
  }

  #put(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) {
      this.#pages.push(piece);
      this.#bytes += piece.length;
    }
  }

  /** The bytes of the chunk, and what the footer says of it. @param offset where it begins in the file */
  async end(
    offset: number,
  ): Promise<{ readonly pieces: readonly Uint8Array[]; readonly chunk: Value }> {
    let dictionary: readonly Uint8Array[] = [];
    if (this.#hasCodes) {
      const { words } = this.#words as PageDictionary;
      const plain = new Uint8Array((words.offsets[words.length] as number) + 4 * words.length);
      const view = new DataView(plain.buffer);
      for (let word = 0, at = 0; word < words.length; word++) {
        const [start, end] = [words.offsets[word] as number, words.offsets[word + 1] as number];
        view.setUint32(at, end - start, true);
        plain.set(words.bytes.subarray(start, end), at + 4);
        at += 4 + end - start;
      }
      dictionary = await this.#stored(plain, DICTIONARY_PAGE, 7, {
        struct: [
          [1, words.length],
          [2, PLAIN],
        ],
      });
    }
    const before = dictionary.reduce((sum, { length }) => sum + length, 0);
    const { path, physical } = this.#leaf;
    const encodings = [
      ...(this.#hasPlain || this.#hasCodes ? [PLAIN] : []),
      RLE,
      ...(this.#hasCodes ? [RLE_DICTIONARY] : []),
    ];
    const metadata: Value = {
      struct: [
        [1, physical],
        [2, { list: encodings }],
        [3, { list: path }],
        [4, CODECS[this.#codec]],
        [5, BigInt(this.#values)],
        [6, BigInt(this.#plainBytes)],
        [7, BigInt(before + this.#bytes)],
        [9, BigInt(offset + before)],
        [11, this.#hasCodes ? BigInt(offset) : undefined],
        [12, { struct: [[3, BigInt(this.#nulls)]] }],
      ],
    };
    const chunk: Value = {
      struct: [
        [2, BigInt(0)],
        [3, metadata],
      ],
    };
    return { pieces: [...dictionary, ...this.#pages], chunk };
  }
}
