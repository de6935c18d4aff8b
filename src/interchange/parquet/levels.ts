/**
 * Decodes and encodes the RLE and bit-packed runs of numbers in which Parquet stores levels and
 * dictionary codes. `HybridReader` decodes only as many numbers as are asked for, because a run of
 * six bytes may stand for billions of them; a run that is cut short goes to the caller's `refuse`.
 * `PackedReader` decodes the packed levels of old writers, and `encodeHybrid` encodes runs.
 * `bitsOf` returns the bits that numbers up to a given one take.
 */
import type { Refuse } from './thrift.ts';

export class HybridReader {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  readonly #refuse: Refuse;
  #at: number;
  readonly #end: number;
  /** Numbers that are left of the run, and its value; of bit-packed ones the bit where the next is. */
  #left = 0;
  #value = 0;
  #isPacked = false;
  #bit = 0;

  /** @param width bits of a number, up to 32 */
  constructor(bytes: Uint8Array, from: number, to: number, width: number, refuse: Refuse) {
    if (width > 32) refuse('it has numbers of more than 32 bits where fewer are expected');
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#width = width;
    this.#refuse = refuse;
  }

  /** Fills `out` from `start` to before `end`. */
  read(out: Uint8Array | Int32Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#left === 0) this.#run();
      const count = Math.min(end - at, this.#left);
      if (this.#isPacked) this.#unpack(out, at, at + count);
      else out.fill(this.#value, at, at + count);
      this.#left -= count;
      at += count;
    }
  }

  #run(): void {
    let head = 0;
    for (let scale = 1; ; scale *= 128) {
      if (this.#at >= this.#end || scale > 2 ** 35) this.#refuse('a run of numbers is cut short');
      const byte = this.#bytes[this.#at++] as number;
      head += (byte & 127) * scale;
      if (byte < 128) break;
    }
    this.#isPacked = head % 2 === 1;
    const count = Math.floor(head / 2);
    if (this.#isPacked) {
      this.#bit = this.#at * 8;
      this.#left = count * 8;
      this.#at += count * this.#width;
      // The last run may lack the bytes of numbers that are not there.
      if (this.#at > this.#end) {
        const bits = this.#end * 8 - this.#bit;
        this.#left = Math.floor(bits / this.#width);
        this.#at = this.#end;
      }
    } else {
      const bytes = (this.#width + 7) >> 3;
      if (this.#at + bytes > this.#end) this.#refuse('a run of numbers is cut short');
      let value = 0;
      for (let each = 0; each < bytes; each++) {
        value += (this.#bytes[this.#at + each] as number) * 256 ** each;
      }
      this.#value = value;
      this.#left = count;
      this.#at += bytes;
    }
    if (this.#left === 0 && this.#at >= this.#end) this.#refuse('a run of numbers is cut short');
  }

  #unpack(out: Uint8Array | Int32Array, start: number, end: number): void {
    const [bytes, width] = [this.#bytes, this.#width];
    let bit = this.#bit;
    if (width === 1) {
      for (let at = start; at < end; at++, bit++) {
        out[at] = ((bytes[bit >>> 3] as number) >> (bit & 7)) & 1;
      }
    } else if (width <= 24) {
      const mask = (1 << width) - 1;
      for (let at = start; at < end; at++, bit += width) {
        const byte = Math.floor(bit / 8);
        const word =
          (bytes[byte] as number) |
          ((bytes[byte + 1] ?? 0) << 8) |
          ((bytes[byte + 2] ?? 0) << 16) |
          ((bytes[byte + 3] ?? 0) << 24);
        out[at] = (word >>> (bit & 7)) & mask;
      }
    } else {
      for (let at = start; at < end; at++, bit += width) {
        let value = 0;
        for (let each = 0; each < width; each++) {
          const place = bit + each;
          if (((bytes[Math.floor(place / 8)] as number) >> (place & 7)) & 1) value += 2 ** each;
        }
        out[at] = value;
      }
    }
    this.#bit = bit;
  }
}

/** Bits that numbers up to `most` take. */
export const bitsOf = (most: number): number => 32 - Math.clz32(most);

/** Numbers packed from the highest bit on, as old writers have levels. */
export class PackedReader {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  #bit: number;

  constructor(bytes: Uint8Array, from: number, width: number) {
    this.#bytes = bytes;
    this.#bit = from * 8;
    this.#width = width;
  }

  read(out: Uint8Array | Int32Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      let value = 0;
      for (let each = 0; each < this.#width; each++, this.#bit++) {
        const byte = this.#bytes[this.#bit >>> 3] ?? 0;
        value = value * 2 + ((byte >> (7 - (this.#bit & 7))) & 1);
      }
      out[at] = value;
    }
  }
}

/** Values that are the same from here on become a run of their own if there are as many. */
const LEAST_RUN = 8;

/** @param width bits of a number, up to 24 */
export function encodeHybrid(
  values: Uint8Array | Int32Array,
  count: number,
  width: number,
): Uint8Array {
  const bytes = (width + 7) >> 3;
  const out = new Uint8Array(
    16 + Math.ceil(count / 8) * (width + 1) + 8 * Math.ceil(count / 8 / 64),
  );
  let into = 0;
  const putHead = (head: number): void => {
    let rest = head;
    for (; rest > 127; rest = Math.floor(rest / 128)) out[into++] = (rest & 127) | 128;
    out[into++] = rest;
  };
  /** Where numbers that are to be packed begin: eight or a multiple of it, but for the last ones. */
  let packed = 0;
  const flush = (to: number): void => {
    if (to === packed) return;
    const groups = Math.ceil((to - packed) / 8);
    putHead(groups * 2 + 1);
    let word = 0;
    let bits = 0;
    for (let at = packed; at < packed + groups * 8; at++) {
      word |= (at < to ? (values[at] as number) : 0) << bits;
      bits += width;
      for (; bits >= 8; bits -= 8, word >>>= 8) out[into++] = word & 255;
    }
  };
  for (let at = 0; at < count; ) {
    const value = values[at] as number;
    let end = at + 1;
    while (end < count && values[end] === value) end++;
    if (end - at >= LEAST_RUN) {
      flush(at);
      putHead((end - at) * 2);
      for (let each = 0; each < bytes; each++) out[into++] = (value >>> (8 * each)) & 255;
      packed = end;
      at = end;
    } else at = Math.min(count, at + 8);
  }
  flush(count);
  return out.subarray(0, into);
}
