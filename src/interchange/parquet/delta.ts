/**
 * `deltaReader` decodes integers that Parquet stores as differences (delta encoding, in blocks of
 * miniblocks), as many at a time as the caller asks for. Sums wrap around at the width of the type.
 * `end` finds where the encoded numbers end without decoding them, and does not disturb reading.
 * Damage, and reading more numbers than there are, goes to the caller's `refuse`.
 */
import type { Refuse } from './thrift.ts';

export interface DeltaReader {
  read32(out: Int32Array, count: number): void;
  read64(out: BigInt64Array, count: number): void;
  /** The byte after the last number. */
  end(): number;
}

export function deltaReader(bytes: Uint8Array, from: number, refuse: Refuse): DeltaReader {
  return new Deltas(bytes, from, refuse);
}

/** More values in a block than any writer has: 128 are usual. */
const MOST_IN_BLOCK = 1 << 16;

class Deltas implements DeltaReader {
  readonly #bytes: Uint8Array;
  readonly #refuse: Refuse;
  readonly #perMiniblock: number;
  readonly #miniblocks: number;
  readonly #total: number;
  readonly #start: number;
  #at: number;
  #left: number;
  #value: bigint;
  #isFirst = true;
  /** Of the block: the least difference, the widths of its miniblocks, and which of them is next. */
  #least = 0n;
  #widths: Uint8Array = new Uint8Array(0);
  #miniblock = 0;
  /** Differences of the miniblock that is read. */
  readonly #lot: BigInt64Array;
  #next = 0;
  #inLot = 0;

  constructor(bytes: Uint8Array, from: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#refuse = refuse;
    this.#at = from;
    const perBlock = this.#varint();
    this.#miniblocks = this.#varint();
    this.#total = this.#varint();
    this.#value = this.#zigzag();
    this.#perMiniblock = perBlock / this.#miniblocks;
    const isWhole = Number.isInteger(this.#perMiniblock) && this.#perMiniblock % 8 === 0;
    if (!isWhole || perBlock > MOST_IN_BLOCK || perBlock === 0)
      refuse('a page of differences is damaged');
    this.#lot = new BigInt64Array(this.#perMiniblock);
    this.#left = this.#total;
    this.#start = this.#at;
  }

  read64(out: BigInt64Array, count: number): void {
    this.#each(count, (at, value) => {
      out[at] = value;
    });
  }

  read32(out: Int32Array, count: number): void {
    this.#each(count, (at, value) => {
      out[at] = Number(BigInt.asIntN(32, value));
    });
  }

  #each(count: number, put: (at: number, value: bigint) => void): void {
    if (count > this.#left) this.#refuse('a page is cut short');
    this.#left -= count;
    for (let at = 0; at < count; at++) {
      if (this.#isFirst) this.#isFirst = false;
      else {
        if (this.#next === this.#inLot) this.#readMiniblock();
        this.#value = BigInt.asIntN(64, this.#value + (this.#lot[this.#next++] as bigint));
      }
      put(at, this.#value);
    }
  }

  #readMiniblock(): void {
    if (this.#miniblock === this.#widths.length) this.#readBlock();
    const width = this.#widths[this.#miniblock++] as number;
    if (width > 64) this.#refuse('a page of differences is damaged');
    const [bytes, lot, least] = [this.#bytes, this.#lot, this.#least];
    const from = this.#at;
    const size = (width * lot.length) / 8;
    if (from + size > bytes.length) this.#refuse('a page is cut short');
    if (width === 0) lot.fill(least);
    else if (width <= 24) {
      const mask = (1 << width) - 1;
      for (let at = 0, bit = 0; at < lot.length; at++, bit += width) {
        const byte = from + (bit >>> 3);
        const word =
          (bytes[byte] as number) |
          ((bytes[byte + 1] ?? 0) << 8) |
          ((bytes[byte + 2] ?? 0) << 16) |
          ((bytes[byte + 3] ?? 0) << 24);
        lot[at] = least + BigInt((word >>> (bit & 7)) & mask);
      }
    } else {
      for (let at = 0, bit = 0; at < lot.length; at++, bit += width) {
        let value = 0n;
        const first = from + (bit >>> 3);
        const last = from + ((bit + width - 1) >>> 3);
        for (let byte = last; byte >= first; byte--)
          value = (value << 8n) | BigInt(bytes[byte] as number);
        lot[at] = least + BigInt.asUintN(width, value >> BigInt(bit & 7));
      }
    }
    this.#at += size;
    this.#next = 0;
    this.#inLot = lot.length;
  }

  #readBlock(): void {
    this.#least = this.#zigzag();
    const end = this.#at + this.#miniblocks;
    if (end > this.#bytes.length) this.#refuse('a page is cut short');
    this.#widths = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    this.#miniblock = 0;
  }

  end(): number {
    let at = this.#start;
    const kept = this.#at;
    for (let left = this.#total - 1; left > 0; ) {
      this.#at = at;
      this.#zigzag();
      at = this.#at + this.#miniblocks;
      for (let mini = 0; mini < this.#miniblocks && left > 0; mini++) {
        const width = this.#bytes[this.#at + mini];
        if (width === undefined || width > 64) this.#refuse('a page of differences is damaged');
        at += (width * this.#perMiniblock) / 8;
        left -= this.#perMiniblock;
      }
      if (at > this.#bytes.length) this.#refuse('a page is cut short');
    }
    this.#at = kept;
    return at;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || scale > 2 ** 42) return this.#refuse('a page is cut short');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  #zigzag(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || shift > 63n) return this.#refuse('a page is cut short');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
  }
}
