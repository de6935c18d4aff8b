/**
 * Holds the values of a Parquet column that are not null while its pages are decoded. `FixedStore`
 * holds values of one width in one array; its `add` makes room, and the caller writes the values.
 * `BytesStore` holds values of any length, with their offsets; the caller reserves room for the
 * offsets. Both grow as values are added. `take` returns the values and empties the store. More
 * than 1 GiB of values in one store goes to the caller's `refuse`.
 */
import type { Refuse } from './thrift.ts';

/** Most bytes of one column of a batch. */
const MOST_BYTES = 2 ** 30;

/** Values of one width, as little-endian bytes. */
export class FixedStore {
  readonly width: number;
  readonly #refuse: Refuse;
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(width: number, refuse: Refuse) {
    this.width = width;
    this.#refuse = refuse;
    this.bytes = new Uint8Array(0);
  }

  /** Makes room for more values, and counts them. Answers the byte where they begin. */
  add(count: number): number {
    const at = this.length * this.width;
    const end = at + count * this.width;
    if (end > this.bytes.length) {
      if (end > MOST_BYTES) this.#refuse(tooLarge);
      const larger = new Uint8Array(
        (Math.min(MOST_BYTES, Math.max(end, 2 * this.bytes.length)) + 7) & ~7,
      );
      larger.set(this.bytes.subarray(0, at));
      this.bytes = larger;
    }
    this.length += count;
    return at;
  }

  /** Hands the values on: the store begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const { bytes } = this;
    const taken = bytes.subarray(0, this.length * this.width);
    this.bytes = new Uint8Array(bytes.length);
    this.length = 0;
    return taken;
  }
}

export class BytesStore {
  readonly #refuse: Refuse;
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  offsets: Int32Array<ArrayBuffer> = new Int32Array(1);
  length = 0;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  /** Makes room for the offsets of more values. */
  reserve(count: number): void {
    const needed = this.length + count + 1;
    if (needed <= this.offsets.length) return;
    const larger = new Int32Array(Math.max(needed, 2 * this.offsets.length));
    larger.set(this.offsets.subarray(0, this.length + 1));
    this.offsets = larger;
  }

  /** Makes room for more bytes than there are. */
  room(more: number): void {
    const at = this.offsets[this.length] as number;
    if (at + more <= this.bytes.length) return;
    if (at + more > MOST_BYTES) this.#refuse(tooLarge);
    const larger = new Uint8Array(Math.min(MOST_BYTES, Math.max(at + more, 2 * this.bytes.length)));
    larger.set(this.bytes.subarray(0, at));
    this.bytes = larger;
  }

  /** One value; `reserve` was called. */
  add(from: Uint8Array, start: number, end: number): void {
    const size = end - start;
    const at = this.offsets[this.length] as number;
    if (at + size > this.bytes.length) this.room(size);
    const { bytes } = this;
    if (size > 24) bytes.set(from.subarray(start, end), at);
    else for (let each = 0; each < size; each++) bytes[at + each] = from[start + each] as number;
    this.offsets[++this.length] = at + size;
  }

  take(): { readonly offsets: Int32Array<ArrayBuffer>; readonly bytes: Uint8Array<ArrayBuffer> } {
    const offsets = this.offsets.subarray(0, this.length + 1);
    const size = offsets[this.length] as number;
    // What is much larger than its values would be kept with them.
    const isTight = 4 * size >= 3 * this.bytes.length;
    const bytes = isTight ? this.bytes.subarray(0, size) : this.bytes.slice(0, size);
    this.offsets = new Int32Array(this.offsets.length);
    if (isTight) this.bytes = new Uint8Array(this.bytes.length);
    this.length = 0;
    return { offsets, bytes };
  }
}

const tooLarge = 'one column of some rows has more than 1 GiB; write it in smaller row groups';

export type Store = FixedStore | BytesStore;
