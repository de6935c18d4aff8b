/**
 * `PageDictionary` collects the distinct texts or byte strings of a column chunk and numbers them
 * (`code`), so that pages can store the numbers instead. `isFull` is true once it has 65,536
 * entries or 1 MiB of bytes. `code` does not look at this: the writer then has to add no more.
 */
import { systemEnv } from '../../env.ts';
import { BytesStore } from './stores.ts';

/** A dictionary that is larger does not pay: its readers keep it in memory. */
const MOST_BYTES = 1 << 20;
const MOST_WORDS = 1 << 16;

/** Drawn for each process, so that nobody can choose texts that all fall on one slot. */
const SEED = (systemEnv.random() * 2 ** 32) | 0;

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED ^ (end - start);
  for (let at = start; at < end; at++) {
    hash = Math.imul(hash ^ (bytes[at] as number), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

export class PageDictionary {
  readonly words = new BytesStore((what) => {
    throw new RangeError(what);
  });
  /** Codes + 1 by the hash of their words; 0 where there is none. */
  #slots = new Int32Array(1 << 10);

  /** Whether no more words may come. */
  get isFull(): boolean {
    const { length, offsets } = this.words;
    return length >= MOST_WORDS || (offsets[length] as number) >= MOST_BYTES;
  }

  /** The code of a word, which is new or known. */
  code(bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(bytes, start, end) & mask; ; slot = (slot + 1) & mask) {
      const code = (this.#slots[slot] as number) - 1;
      if (code < 0) return this.#add(bytes, start, end, slot);
      if (this.#isWord(code, bytes, start, end)) return code;
    }
  }

  #isWord(code: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { offsets, bytes: known } = this.words;
    const from = offsets[code] as number;
    if ((offsets[code + 1] as number) - from !== end - start) return false;
    for (let at = start, other = from; at < end; at++, other++)
      if (bytes[at] !== known[other]) return false;
    return true;
  }

  #add(bytes: Uint8Array, start: number, end: number, slot: number): number {
    const code = this.words.length;
    this.words.reserve(1);
    this.words.add(bytes, start, end);
    this.#slots[slot] = code + 1;
    if (2 * this.words.length > this.#slots.length) this.#grow();
    return code;
  }

  #grow(): void {
    const slots = new Int32Array(4 * this.#slots.length);
    const mask = slots.length - 1;
    const { offsets, bytes, length } = this.words;
    for (let code = 0; code < length; code++) {
      const [start, end] = [offsets[code] as number, offsets[code + 1] as number];
      let slot = hashOf(bytes, start, end) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = code + 1;
    }
    this.#slots = slots;
  }
}
