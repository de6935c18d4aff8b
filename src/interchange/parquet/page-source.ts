/**
 * `ChunkPages` reads the pages of one column chunk in order, and decompresses them. It skips pages
 * of indexes. It reads the bytes in windows, so that many columns can be read side by side in
 * little memory. It verifies the checksum of a page that has one, if this version of Node can
 * compute it. Damage goes to the caller's `refuse`.
 */
import zlib from 'node:zlib';
import type { FileBytes } from '../../ipc/index.ts';
import { type ColumnChunk, type PageHeader, pageHeader } from './metadata.ts';
import { decompressPage, MOST_PAGE_BYTES } from './page-codecs.ts';
import type { Refuse } from './thrift.ts';

export interface Page {
  readonly header: PageHeader;
  /** The content; of version 2 the levels, which are not compressed, come first. */
  readonly bytes: Uint8Array;
}

/** Node has it from 20.15 and 22.2 on. */
const { crc32 } = zlib as unknown as { crc32?: (bytes: Uint8Array) => number };
const FIRST_HEADER_BYTES = 1 << 10;
/** Headers may hold the least and the greatest value. */
const MOST_HEADER_BYTES = 1 << 25;

class CutShort extends Error {}

export class ChunkPages {
  readonly #file: FileBytes;
  readonly #codec: number;
  readonly #end: number;
  readonly #window: number;
  readonly #refuse: Refuse;
  /** Bytes that were read, and where in the file they begin. */
  #bytes: Uint8Array = new Uint8Array(0);
  #from: number;
  #at: number;

  constructor(file: FileBytes, chunk: ColumnChunk, window: number, refuse: Refuse) {
    this.#file = file;
    this.#codec = chunk.codec;
    this.#at = chunk.offset;
    this.#from = chunk.offset;
    this.#end = chunk.offset + chunk.bytes;
    this.#window = window;
    this.#refuse = refuse;
    if (this.#end > file.size) refuse('a column leads out of the file');
  }

  /** The next page of data or with a dictionary. */
  async next(): Promise<Page> {
    for (;;) {
      const header = await this.#header();
      if (header.bytes > this.#end - this.#at) this.#refuse('a page leads out of its column');
      if (header.bytes > MOST_PAGE_BYTES) this.#refuse(`a page has ${header.bytes} bytes`);
      if (header.kind === 'index') {
        this.#at += header.bytes;
        continue;
      }
      const stored = (await this.#peek(header.bytes)).subarray(0, header.bytes);
      this.#at += header.bytes;
      if (header.crc !== undefined && crc32 !== undefined && crc32(stored) !== header.crc) {
        this.#refuse('a page does not match its checksum');
      }
      return { header, bytes: await this.#content(header, stored) };
    }
  }

  async #content(header: PageHeader, stored: Uint8Array): Promise<Uint8Array> {
    const refuse = this.#refuse;
    if (header.kind !== 'data2') {
      return decompressPage(this.#codec, stored, header.plainBytes, refuse);
    }
    const levels = header.repetitionBytes + header.definitionBytes;
    if (levels > stored.length || levels > header.plainBytes) refuse('a page is cut short');
    if (!header.isCompressed || this.#codec === 0) return stored;
    const plain = header.plainBytes - levels;
    // Where all values are null, some writers compress nothing and store no bytes.
    if (plain === 0) return stored.subarray(0, levels);
    const values = await decompressPage(this.#codec, stored.subarray(levels), plain, refuse);
    return Buffer.concat([stored.subarray(0, levels), values]);
  }

  async #header(): Promise<PageHeader> {
    if (this.#at >= this.#end) this.#refuse('a column has fewer values than it says');
    for (let size = FIRST_HEADER_BYTES; ; size *= 8) {
      const bytes = await this.#peek(size);
      const isAll = this.#at + bytes.length >= this.#end || size > MOST_HEADER_BYTES;
      const cutShort = (): never => {
        throw new CutShort();
      };
      try {
        const { header, end } = pageHeader(bytes, 0, this.#refuse, isAll ? undefined : cutShort);
        this.#at += end;
        return header;
      } catch (error) {
        if (!(error instanceof CutShort)) throw error;
      }
    }
  }

  /** As many of the next bytes, and more where they are there; fewer only at the end of the column. */
  async #peek(size: number): Promise<Uint8Array> {
    const wanted = Math.min(size, this.#end - this.#at);
    let begin = this.#at - this.#from;
    if (begin + wanted > this.#bytes.length) {
      const known = begin < this.#bytes.length ? this.#bytes.subarray(begin) : new Uint8Array(0);
      const from = this.#at + known.length;
      const to = Math.min(this.#end, Math.max(this.#at + wanted, from + this.#window));
      const more = await this.#file.read(from, to);
      if (more.length < to - from) this.#refuse('the file has become shorter');
      this.#bytes = known.length === 0 ? more : Buffer.concat([known, more]);
      this.#from = this.#at;
      begin = 0;
    }
    return this.#bytes.subarray(begin);
  }
}
