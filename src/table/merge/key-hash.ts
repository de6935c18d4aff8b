/**
 * Hashes merge keys with random words drawn for each process, so that a sender cannot choose keys
 * that collide and make a merge quadratic. `hashWords` hashes a 64-bit key by tabulation: two given
 * keys collide with probability 2^-32. `hashBytes` hashes a string of bytes.
 */
import { systemEnv } from '../../env.ts';

const BYTE_VALUES = 256;
/** The bytes of a 64-bit key. */
const KEY_BYTES = 8;

/** A random word for each value of the first byte of a key, then of the second one, and so on. */
const words = Int32Array.from(
  { length: KEY_BYTES * BYTE_VALUES },
  () => systemEnv.random() * 2 ** 32,
);

const ofWord = (word: number): number =>
  (words[word & 0xff] as number) ^
  (words[0x100 | ((word >>> 8) & 0xff)] as number) ^
  (words[0x200 | ((word >>> 16) & 0xff)] as number) ^
  (words[0x300 | (word >>> 24)] as number);

/** Hashes a 64-bit key given as two words. */
export const hashWords = (low: number, high: number): number =>
  ofWord(low) ^
  (words[0x400 | (high & 0xff)] as number) ^
  (words[0x500 | ((high >>> 8) & 0xff)] as number) ^
  (words[0x600 | ((high >>> 16) & 0xff)] as number) ^
  (words[0x700 | (high >>> 24)] as number);

/** Hashes `length` bytes from `begin` on. Mixes between words, so that their order counts. */
export function hashBytes(view: DataView, begin: number, length: number): number {
  let hash = ofWord(length);
  const end = begin + length;
  let at = begin;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ ofWord(view.getInt32(at, true)), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  if (at < end) {
    let rest = 0;
    for (; at < end; at++) rest = (rest << 8) | view.getUint8(at);
    hash = Math.imul(hash ^ ofWord(rest), 0x9e3779b1);
  }
  // A slot is told by the low bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
