/**
 * `KeyFilter` rules out most keys that an index of merge keys (key-index.ts) does not have, in a
 * fraction of the time that a look-up in the index takes. It sets one bit for each key in an array
 * of 512 bytes to 1 MiB. So it may say "maybe" of a key that was not added, but never "no" of one
 * that was. Its hashes are quick and not secret: keys chosen to collide are looked up in the index,
 * and are still answered right.
 */

/** Of so many bits for each key, one in sixteen is set at most. */
const BITS_PER_KEY = 16;
const FEWEST_BITS = 12;
/** 1 MiB: a larger filter leaves the caches of the processor. */
const MOST_BITS = 23;

const BY_GOLDEN_RATIO = 0x9e3779b1 | 0;
const BY_SECOND = 0x85ebca6b | 0;

export class KeyFilter {
  readonly #bits: Uint8Array;
  readonly #shift: number;

  /** @param keys that are added at most */
  constructor(keys: number) {
    const wanted = Math.ceil(Math.log2(Math.max(1, keys * BITS_PER_KEY)));
    const bits = Math.min(MOST_BITS, Math.max(FEWEST_BITS, wanted));
    this.#bits = new Uint8Array(2 ** (bits - 3));
    this.#shift = 32 - bits;
  }

  /** Adds a 64-bit key given as two words. */
  addWords(low: number, high: number): void {
    this.#set(ofWords(low, high));
  }

  mayHaveWords(low: number, high: number): boolean {
    return this.#isSet(ofWords(low, high));
  }

  /** Adds the key of `length` bytes from `begin` on. */
  addBytes(view: DataView, begin: number, length: number): void {
    this.#set(ofBytes(view, begin, length));
  }

  mayHaveBytes(view: DataView, begin: number, length: number): boolean {
    return this.#isSet(ofBytes(view, begin, length));
  }

  #set(hash: number): void {
    const bit = hash >>> this.#shift;
    this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] as number) | (1 << (bit & 7));
  }

  #isSet(hash: number): boolean {
    const bit = hash >>> this.#shift;
    return ((this.#bits[bit >>> 3] as number) & (1 << (bit & 7))) !== 0;
  }
}

const ofWords = (low: number, high: number): number =>
  Math.imul(low ^ Math.imul(high, BY_SECOND), BY_GOLDEN_RATIO);

/** Of longer keys, the bytes in the middle are passed over. */
const MOST_BYTES = 64;

function ofBytes(view: DataView, begin: number, length: number): number {
  const end = begin + length;
  if (length <= MOST_BYTES) return mixed(ofRange(view, begin, end, length));
  const first = ofRange(view, begin, begin + MOST_BYTES / 2, length);
  return mixed(ofRange(view, end - MOST_BYTES / 2, end, first));
}

function ofRange(view: DataView, begin: number, end: number, start: number): number {
  let hash = start;
  let at = begin;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), BY_SECOND);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), BY_SECOND);
  return hash;
}

const mixed = (hash: number): number => Math.imul(hash ^ (hash >>> 13), BY_GOLDEN_RATIO);
