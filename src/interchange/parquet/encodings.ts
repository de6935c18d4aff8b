/**
 * `valueReader` decodes the values of a page, as many at a time as the caller asks for, into a
 * store. It reads plain values, dictionary codes, runs of booleans, differences (delta encodings)
 * and split streams of bytes. It calls the caller's `refuse` for values past the end of the page
 * or of a wrong length, for codes without an entry in the dictionary or without a dictionary, and
 * for an encoding that the type does not allow. `widthOf` returns the bytes that a value of a
 * physical type takes in the store, or undefined if values differ in length.
 */
import { type DeltaReader, deltaReader } from './delta.ts';
import { HybridReader } from './levels.ts';
import { PHYSICAL } from './metadata.ts';
import { BytesStore, type FixedStore, type Store } from './stores.ts';
import type { Refuse } from './thrift.ts';

/** The values of one page. */
export interface ValueReader {
  /** Adds the next values to the store. */
  read(store: Store, count: number): void;
}

const [PLAIN, PLAIN_DICTIONARY, RLE] = [0, 2, 3];
const [DELTA_BINARY, DELTA_LENGTH, DELTA_BYTES, RLE_DICTIONARY, SPLIT] = [5, 6, 7, 8, 9];

/** Bytes of a value as it is collected; undefined of bytes of any length. */
export function widthOf(physical: number, width: number): number | undefined {
  switch (physical) {
    case PHYSICAL.BOOLEAN:
      return 1;
    case PHYSICAL.INT32:
    case PHYSICAL.FLOAT:
      return 4;
    case PHYSICAL.INT64:
    case PHYSICAL.DOUBLE:
      return 8;
    case PHYSICAL.INT96:
      return 12;
    case PHYSICAL.FIXED_LEN_BYTE_ARRAY:
      return width;
    default:
      return undefined;
  }
}

export interface PageValues {
  readonly physical: number;
  /** Of values of fixed length. */
  readonly width: number | undefined;
  readonly encoding: number;
  readonly bytes: Uint8Array;
  readonly from: number;
  /** Values of the page, nulls counted too. */
  readonly values: number;
  readonly dictionary: Store | undefined;
}

export function valueReader(page: PageValues, refuse: Refuse): ValueReader {
  const { physical, width, encoding, bytes, from } = page;
  switch (encoding) {
    case PLAIN:
      if (physical === PHYSICAL.BOOLEAN) return new PlainBooleans(bytes, from, refuse);
      return width === undefined
        ? new PlainBytes(bytes, from, refuse)
        : new PlainFixed(bytes, from, refuse);
    case PLAIN_DICTIONARY:
    case RLE_DICTIONARY:
      if (page.dictionary === undefined)
        return refuse('a page has codes of a dictionary that is not there');
      return new Codes(bytes, from, page.dictionary, refuse);
    case RLE: {
      if (physical !== PHYSICAL.BOOLEAN || from + 4 > bytes.length) break;
      const length = new DataView(bytes.buffer, bytes.byteOffset + from, 4).getUint32(0, true);
      const end = from + 4 + length;
      if (end > bytes.length) refuse('a page is cut short');
      const runs = new HybridReader(bytes, from + 4, end, 1, refuse);
      return {
        read: (store, count) => {
          const at = (store as FixedStore).add(count);
          runs.read((store as FixedStore).bytes, at, at + count);
        },
      };
    }
    case DELTA_BINARY: {
      if (physical !== PHYSICAL.INT32 && physical !== PHYSICAL.INT64) break;
      const deltas = deltaReader(bytes, from, refuse);
      return { read: (store, count) => readDeltas(deltas, store as FixedStore, count) };
    }
    case DELTA_LENGTH:
      if (physical !== PHYSICAL.BYTE_ARRAY) break;
      return new LengthsFirst(bytes, from, refuse);
    case DELTA_BYTES:
      if (physical !== PHYSICAL.BYTE_ARRAY && physical !== PHYSICAL.FIXED_LEN_BYTE_ARRAY) break;
      return new SharedBegins(bytes, from, refuse);
    case SPLIT:
      if (width === undefined || physical === PHYSICAL.BOOLEAN || physical === PHYSICAL.INT96)
        break;
      return new SplitStreams(bytes, from, width, refuse);
  }
  return refuse(`a page has the encoding ${encoding}, which is not read for its type`);
}

class PlainFixed implements ValueReader {
  readonly #bytes: Uint8Array;
  readonly #refuse: Refuse;
  #at: number;

  constructor(bytes: Uint8Array, from: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#at = from;
    this.#refuse = refuse;
  }

  read(store: FixedStore, count: number): void {
    const end = this.#at + count * store.width;
    if (end > this.#bytes.length) this.#refuse('a page is cut short');
    const into = store.add(count);
    store.bytes.set(this.#bytes.subarray(this.#at, end), into);
    this.#at = end;
  }
}

class PlainBooleans implements ValueReader {
  readonly #bytes: Uint8Array;
  readonly #refuse: Refuse;
  #bit: number;

  constructor(bytes: Uint8Array, from: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#bit = from * 8;
    this.#refuse = refuse;
  }

  read(store: FixedStore, count: number): void {
    if (this.#bit + count > this.#bytes.length * 8) this.#refuse('a page is cut short');
    let into = store.add(count);
    for (const end = this.#bit + count; this.#bit < end; this.#bit++) {
      const byte = this.#bytes[this.#bit >>> 3] as number;
      store.bytes[into++] = (byte >> (this.#bit & 7)) & 1;
    }
  }
}

class PlainBytes implements ValueReader {
  readonly #bytes: Uint8Array;
  readonly #refuse: Refuse;
  #at: number;

  constructor(bytes: Uint8Array, from: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#at = from;
    this.#refuse = refuse;
  }

  read(store: BytesStore, count: number): void {
    const bytes = this.#bytes;
    // Each has four bytes of length: no memory is taken for more values than there can be.
    if (this.#at + 4 * count > bytes.length) this.#refuse('a page is cut short');
    store.reserve(count);
    let at = this.#at;
    for (let each = 0; each < count; each++) {
      if (at + 4 > bytes.length) this.#refuse('a page is cut short');
      const size =
        (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24);
      at += 4;
      if (size < 0 || size > bytes.length - at) this.#refuse('a value leads out of its page');
      store.add(bytes, at, at + size);
      at += size;
    }
    this.#at = at;
  }
}

/** Codes that are looked up at once. */
const LOT = 4096;

class Codes implements ValueReader {
  readonly #runs: HybridReader;
  readonly #dictionary: Store;
  readonly #refuse: Refuse;
  readonly #codes = new Int32Array(LOT);

  constructor(bytes: Uint8Array, from: number, dictionary: Store, refuse: Refuse) {
    // A page of nulls alone has no width.
    const width = from < bytes.length ? (bytes[from] as number) : 0;
    this.#runs = new HybridReader(bytes, from + 1, bytes.length, width, refuse);
    this.#dictionary = dictionary;
    this.#refuse = refuse;
  }

  read(store: Store, count: number): void {
    for (let done = 0; done < count; done += LOT) {
      const lot = Math.min(LOT, count - done);
      this.#runs.read(this.#codes, 0, lot);
      this.#check(lot);
      if (store instanceof BytesStore) this.#copyBytes(store, lot);
      else this.#copyFixed(store, lot);
    }
  }

  #check(lot: number): void {
    const { length } = this.#dictionary;
    const codes = this.#codes;
    for (let at = 0; at < lot; at++) {
      if ((codes[at] as number) >>> 0 >= length)
        this.#refuse('a code has no word in its dictionary');
    }
  }

  #copyBytes(store: BytesStore, lot: number): void {
    const { bytes, offsets } = this.#dictionary as BytesStore;
    const codes = this.#codes;
    store.reserve(lot);
    for (let at = 0; at < lot; at++) {
      const code = codes[at] as number;
      store.add(bytes, offsets[code] as number, offsets[code + 1] as number);
    }
  }

  #copyFixed(store: FixedStore, lot: number): void {
    const { width } = store;
    const codes = this.#codes;
    const into = store.add(lot);
    const { buffer: words, byteOffset } = (this.#dictionary as FixedStore).bytes;
    const { buffer } = store.bytes;
    if (width % 4 === 0 && width <= 16) {
      const per = width / 4;
      const from = new Int32Array(words, byteOffset, (this.#dictionary.length * width) >> 2);
      const out = new Int32Array(buffer, store.bytes.byteOffset + into, lot * per);
      if (per === 1) for (let at = 0; at < lot; at++) out[at] = from[codes[at] as number] as number;
      else if (per === 2) {
        for (let at = 0, to = 0; at < lot; at++) {
          const code = 2 * (codes[at] as number);
          out[to++] = from[code] as number;
          out[to++] = from[code + 1] as number;
        }
      } else {
        for (let at = 0; at < lot; at++) {
          const code = codes[at] as number;
          for (let each = 0; each < per; each++)
            out[at * per + each] = from[code * per + each] as number;
        }
      }
      return;
    }
    const from = new Uint8Array(words, byteOffset);
    for (let at = 0; at < lot; at++) {
      const start = (codes[at] as number) * width;
      store.bytes.set(from.subarray(start, start + width), into + at * width);
    }
  }
}

function readDeltas(deltas: DeltaReader, store: FixedStore, count: number): void {
  const into = store.add(count);
  const { buffer, byteOffset } = store.bytes;
  if (store.width === 4) deltas.read32(new Int32Array(buffer, byteOffset + into, count), count);
  else deltas.read64(new BigInt64Array(buffer, byteOffset + into, count), count);
}

/** The lengths of all values, and then their bytes. */
class LengthsFirst implements ValueReader {
  readonly #bytes: Uint8Array;
  readonly #refuse: Refuse;
  readonly #lengths: DeltaReader;
  readonly #lot = new Int32Array(LOT);
  #at: number;

  constructor(bytes: Uint8Array, from: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#refuse = refuse;
    this.#lengths = deltaReader(bytes, from, refuse);
    this.#at = this.#lengths.end();
  }

  read(store: BytesStore, count: number): void {
    for (let done = 0; done < count; done += LOT) {
      const lot = Math.min(LOT, count - done);
      this.#lengths.read32(this.#lot, lot);
      store.reserve(lot);
      for (let at = 0; at < lot; at++) {
        const size = this.#lot[at] as number;
        if (size < 0 || size > this.#bytes.length - this.#at)
          this.#refuse('a value leads out of its page');
        store.add(this.#bytes, this.#at, this.#at + size);
        this.#at += size;
      }
    }
  }
}

/** Values that begin as the one before them does. */
class SharedBegins implements ValueReader {
  readonly #bytes: Uint8Array;
  readonly #refuse: Refuse;
  readonly #shared: DeltaReader;
  readonly #lengths: DeltaReader;
  readonly #lot = new Int32Array(2 * LOT);
  #at: number;
  #last: Uint8Array = new Uint8Array(0);
  #lastLength = 0;

  constructor(bytes: Uint8Array, from: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#refuse = refuse;
    this.#shared = deltaReader(bytes, from, refuse);
    this.#lengths = deltaReader(bytes, this.#shared.end(), refuse);
    this.#at = this.#lengths.end();
  }

  read(store: Store, count: number): void {
    for (let done = 0; done < count; done += LOT) {
      const lot = Math.min(LOT, count - done);
      this.#shared.read32(this.#lot, lot);
      this.#lengths.read32(this.#lot.subarray(LOT), lot);
      if (store instanceof BytesStore) store.reserve(lot);
      for (let at = 0; at < lot; at++) {
        const [shared, size] = [this.#lot[at] as number, this.#lot[LOT + at] as number];
        if (
          shared < 0 ||
          shared > this.#lastLength ||
          size < 0 ||
          size > this.#bytes.length - this.#at
        ) {
          this.#refuse('a value leads out of its page');
        }
        if (shared + size > this.#last.length) {
          const larger = new Uint8Array(Math.max(64, 2 * (shared + size)));
          larger.set(this.#last.subarray(0, shared));
          this.#last = larger;
        }
        this.#last.set(this.#bytes.subarray(this.#at, this.#at + size), shared);
        this.#at += size;
        this.#lastLength = shared + size;
        if (store instanceof BytesStore) store.add(this.#last, 0, this.#lastLength);
        else {
          if (this.#lastLength !== store.width)
            this.#refuse('a value has not the length of its type');
          const into = store.add(1);
          store.bytes.set(this.#last.subarray(0, store.width), into);
        }
      }
    }
  }
}

/** The first bytes of all values, then the second ones, and so on. */
class SplitStreams implements ValueReader {
  readonly #bytes: Uint8Array;
  readonly #refuse: Refuse;
  readonly #from: number;
  readonly #values: number;
  #next = 0;

  constructor(bytes: Uint8Array, from: number, width: number, refuse: Refuse) {
    this.#bytes = bytes;
    this.#from = from;
    this.#refuse = refuse;
    this.#values = Math.floor((bytes.length - from) / width);
  }

  read(store: FixedStore, count: number): void {
    if (this.#next + count > this.#values) this.#refuse('a page is cut short');
    const { width } = store;
    const into = store.add(count);
    for (let each = 0; each < width; each++) {
      let from = this.#from + each * this.#values + this.#next;
      for (let at = into + each, end = into + count * width; at < end; at += width) {
        store.bytes[at] = this.#bytes[from++] as number;
      }
    }
    this.#next += count;
  }
}
