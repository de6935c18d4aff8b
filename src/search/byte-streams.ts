/**
 * `ByteStreams` holds many growing byte strings in pages of 1 MiB. Each string is a chain of slices
 * of 12 to 1,028 bytes, so that a million short strings and a few long ones both waste little.
 * Strings are numbered from 0 and only grow: `append` adds a byte, and `appendNumber` a number in
 * groups of 7 bits. `bytesOf` copies one. Appending throws ResourceExhausted when the pages would
 * exceed 4 GiB.
 */
import { DirspaceError } from '../errors.ts';
import { longer } from './term-table.ts';

const PAGE_BITS = 20;
const PAGE_BYTES = 1 << PAGE_BITS;
const MOST_PAGES = 2 ** 32 / PAGE_BYTES;
/**
 * Bytes of the slices of a stream, one after the other; the last size is used for all that follow.
 */
const SLICES = [12, 20, 36, 68, 132, 260, 516, 1028];
/** At the end of a slice, the address of the next one. */
const LINK = 4;

export class ByteStreams {
  readonly #pages: Uint8Array[] = [];
  /** Bytes used of the last page. */
  #used = PAGE_BYTES;
  #heads = new Uint32Array(1024);
  /** Where the next byte goes, and where the slice ends; equal where there is none. */
  #tails = new Uint32Array(1024);
  #ends = new Uint32Array(1024);
  #levels = new Uint8Array(1024);
  #lengths = new Uint32Array(1024);

  get heldBytes(): number {
    return this.#pages.length * PAGE_BYTES + this.#heads.length * 17;
  }

  /** Appends a byte to a stream; streams begin empty. */
  append(stream: number, byte: number): void {
    if (stream >= this.#heads.length) this.#grow(stream + 1);
    let at = this.#tails[stream] as number;
    if (at === this.#ends[stream]) at = this.#slice(stream);
    (this.#pages[at >>> PAGE_BITS] as Uint8Array)[at & (PAGE_BYTES - 1)] = byte;
    this.#tails[stream] = at + 1;
    this.#lengths[stream] = (this.#lengths[stream] as number) + 1;
  }

  /** Appends a number from 0 up to 2^53 in groups of 7 bits. */
  appendNumber(stream: number, value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.append(stream, (rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.append(stream, rest);
  }

  /** The bytes of a stream, in memory of their own. */
  bytesOf(stream: number): Uint8Array {
    if (stream >= this.#heads.length) return new Uint8Array(0);
    const bytes = new Uint8Array(this.#lengths[stream] as number);
    let at = this.#heads[stream] as number;
    for (let filled = 0, level = 0; filled < bytes.length; level++) {
      const size = sizeOf(level) - LINK;
      const count = Math.min(size, bytes.length - filled);
      const page = this.#pages[at >>> PAGE_BITS] as Uint8Array;
      const from = at & (PAGE_BYTES - 1);
      bytes.set(page.subarray(from, from + count), filled);
      filled += count;
      at = linkAt(page, from + size);
    }
    return bytes;
  }

  #slice(stream: number): number {
    const level = this.#levels[stream] as number;
    const size = sizeOf(level);
    if (this.#used + size > PAGE_BYTES) {
      if (this.#pages.length === MOST_PAGES) {
        throw new DirspaceError(
          'ResourceExhausted',
          'The postings of one part of a text index take more than 4 GiB of memory. Leave out the positions of words (with_position: false), or use ngrams of fewer lengths.',
        );
      }
      this.#pages.push(new Uint8Array(PAGE_BYTES));
      this.#used = 0;
    }
    const start = (this.#pages.length - 1) * PAGE_BYTES + this.#used;
    this.#used += size;
    if (level === 0) this.#heads[stream] = start;
    else {
      const end = this.#ends[stream] as number;
      const page = this.#pages[end >>> PAGE_BITS] as Uint8Array;
      const at = end & (PAGE_BYTES - 1);
      page[at] = start;
      page[at + 1] = start >>> 8;
      page[at + 2] = start >>> 16;
      page[at + 3] = start >>> 24;
    }
    this.#ends[stream] = start + size - LINK;
    this.#levels[stream] = Math.min(level + 1, SLICES.length);
    return start;
  }

  #grow(least: number): void {
    this.#heads = longer(this.#heads, least);
    this.#tails = longer(this.#tails, least);
    this.#ends = longer(this.#ends, least);
    this.#levels = longer(this.#levels, least);
    this.#lengths = longer(this.#lengths, least);
  }
}

const sizeOf = (level: number): number => SLICES[Math.min(level, SLICES.length - 1)] as number;

const linkAt = (page: Uint8Array, at: number): number =>
  ((page[at] as number) |
    ((page[at + 1] as number) << 8) |
    ((page[at + 2] as number) << 16) |
    ((page[at + 3] as number) << 24)) >>>
  0;
