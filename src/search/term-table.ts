/**
 * `TermTable` numbers distinct terms (byte strings) from 0 on, in the order of their first
 * appearance. One array holds the bytes of all terms, so that a million terms take only a few
 * objects. `intern` takes the hash of a term, which `hashOf` computes. The hash differs in each
 * process, so that nobody can choose terms that collide. `longer` copies an array to a longer one.
 */
import { systemEnv } from '../env.ts';

const FIRST_SLOTS = 1024;

export class TermTable {
  /** Terms so far. */
  size = 0;
  #bytes = new Uint8Array(8 * FIRST_SLOTS);
  /** Where the bytes of each term end. */
  #ends = new Uint32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS);
  /** Number of a term plus 1, by its hash; 0 where there is none. */
  #slots = new Int32Array(2 * FIRST_SLOTS);

  /** Bytes of memory that the table takes. */
  get heldBytes(): number {
    return (
      this.#bytes.byteLength +
      this.#ends.byteLength +
      this.#hashes.byteLength +
      this.#slots.byteLength
    );
  }

  /**
   * The number of a term, which is new if it equals `size` as it was before.
   * @param hash `hashOf` it
   */
  intern(source: Uint8Array, from: number, length: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = spread(hash) & mask;
    for (;;) {
      const number = (this.#slots[slot] as number) - 1;
      if (number < 0) break;
      if (this.#hashes[number] === hash && this.#equals(number, source, from, length))
        return number;
      slot = (slot + 1) & mask;
    }
    const number = this.#append(source, from, length, hash);
    this.#slots[slot] = number + 1;
    if (2 * this.size > this.#slots.length) this.#grow();
    return number;
  }

  /** The number of a term, or -1. */
  find(term: Uint8Array): number {
    const hash = hashOf(term, 0, term.length);
    const mask = this.#slots.length - 1;
    let slot = spread(hash) & mask;
    for (;;) {
      const number = (this.#slots[slot] as number) - 1;
      if (number < 0) return -1;
      if (this.#hashes[number] === hash && this.#equals(number, term, 0, term.length))
        return number;
      slot = (slot + 1) & mask;
    }
  }

  /** The bytes of a term; they stay as they are while the table does. */
  bytesOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.#startOf(number), this.#ends[number] as number);
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : (this.#ends[number - 1] as number);
  }

  #equals(number: number, source: Uint8Array, from: number, length: number): boolean {
    const start = this.#startOf(number);
    if ((this.#ends[number] as number) - start !== length) return false;
    const bytes = this.#bytes;
    for (let at = 0; at < length; at++) if (bytes[start + at] !== source[from + at]) return false;
    return true;
  }

  #append(source: Uint8Array, from: number, length: number, hash: number): number {
    const number = this.size;
    const start = number === 0 ? 0 : (this.#ends[number - 1] as number);
    const end = start + length;
    if (end > this.#bytes.length) this.#bytes = longer(this.#bytes, end);
    if (number === this.#ends.length) {
      this.#ends = longer(this.#ends, number + 1);
      this.#hashes = longer(this.#hashes, number + 1);
    }
    for (let at = 0; at < length; at++) this.#bytes[start + at] = source[from + at] as number;
    this.#ends[number] = end;
    this.#hashes[number] = hash;
    this.size = number + 1;
    return number;
  }

  #grow(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let number = 0; number < this.size; number++) {
      let slot = spread(this.#hashes[number] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

/** A copy with room for at least `least` elements, and for twice as many as before. */
export function longer<Values extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  values: Values,
  least: number,
): Values {
  const copy = new (values.constructor as new (length: number) => Values)(
    Math.max(least, 2 * values.length),
  );
  copy.set(values);
  return copy;
}

/**
 * The value of a hash before any byte, and the factor of each. Drawn for each process, so that
 * nobody can choose terms that all fall on one slot: from another start alone, many of those that
 * share a hash do so as well.
 */
export const HASH_START: number = (systemEnv.random() * 2 ** 32) | 0;
export const HASH_FACTOR: number = ((systemEnv.random() * 2 ** 29) << 3) | 5;

/** The hash of bytes that `intern` takes: that of FNV-1a, with another start and factor. */
export function hashOf(bytes: Uint8Array, from: number, length: number): number {
  let hash = HASH_START;
  for (let at = from; at < from + length; at++) {
    hash = Math.imul(hash ^ (bytes[at] as number), HASH_FACTOR);
  }
  return hash;
}

/** Its low bits depend on all of the hash. */
const spread = (hash: number): number => hash ^ (hash >>> 15);
