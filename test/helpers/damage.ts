/** Ways for bytes to be wrong: flipped, cut, overwritten, moved, or forged with a right checksum. */
import { crc32 } from 'node:zlib';

/** Flips one bit in place; the same call again restores it. */
export function flipBit(bytes: Uint8Array, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
}

/** A copy with one bit flipped. */
export function withFlippedBit(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  flipBit(copy, bit);
  return copy;
}

/** Words that lengths and offsets break at. */
export const STAMPS: readonly number[] = [0x7fffffff, 0xffffffff, 0x80000000, 0, 0x00ffffff];

/** A copy with one 32-bit word overwritten. */
export function stamped(bytes: Uint8Array, at: number, word: number): Uint8Array {
  const copy = bytes.slice();
  new DataView(copy.buffer, copy.byteOffset, copy.byteLength).setUint32(at, word, true);
  return copy;
}

/** A copy with one to eight runs of bytes overwritten or moved. */
export function damagedAtRandom(bytes: Uint8Array, random: () => number): Uint8Array {
  const whole = (below: number): number => Math.floor(random() * below);
  const copy = bytes.slice();
  for (let edits = 1 + whole(8); edits > 0; edits -= 1) {
    const at = whole(copy.length);
    const length = Math.min(1 + whole(8), copy.length - at);
    if (random() < 0.3) copy.copyWithin(at, whole(copy.length), copy.length - at);
    else for (let byte = 0; byte < length; byte += 1) copy[at + byte] = whole(256);
  }
  return copy;
}

const HEAD = '{"checksum":"crc32:';
const DIGITS = 8;

/** The same metadata document with the checksum made right for what follows it, in place. */
export function rechecksummed(bytes: Uint8Array): Uint8Array {
  const from = HEAD.length + DIGITS + 1;
  if (bytes.length <= from) return bytes;
  const checksum = crc32(bytes.subarray(from)).toString(16).padStart(DIGITS, '0');
  bytes.set(Buffer.from(HEAD + checksum), 0);
  return bytes;
}

/** A document of these bytes, an object's, behind a checksum that is right for them. */
export function checksummedText(object: Uint8Array | string): Uint8Array {
  const text = typeof object === 'string' ? Buffer.from(object) : object;
  const head = Buffer.from(`${HEAD}${'0'.repeat(DIGITS)}",`);
  return rechecksummed(new Uint8Array(Buffer.concat([head, text.subarray(1), Buffer.from('\n')])));
}
