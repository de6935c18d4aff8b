/**
 * `codePointAt` decodes one code point of UTF-8, and leaves its length in `decodedBytes`. A byte
 * that is not valid UTF-8 decodes to U+FFFD, which is not a letter. `isWordCharacter` tells letters
 * and numbers of all scripts from other characters. `startsWith` tells whether a term begins with
 * given bytes.
 */

/** Not a character of any word. */
const REPLACEMENT = 0xfffd;

/** Bytes of the last code point that `codePointAt` decoded. */
export let decodedBytes = 1;

/** The code point that begins at a byte; `decodedBytes` tells how long it is. */
export function codePointAt(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at] as number;
  decodedBytes = 1;
  if (first < 0x80) return first;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > end) return REPLACEMENT;
  let point = first & (0xff >> (length + 1));
  for (let next = 1; next < length; next++) {
    const byte = bytes[at + next] as number;
    if ((byte & 0xc0) !== 0x80) return REPLACEMENT;
    point = (point << 6) | (byte & 0x3f);
  }
  const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
  if (point < least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return REPLACEMENT;
  decodedBytes = length;
  return point;
}

const WORD = /^[\p{Alphabetic}\p{N}]$/u;
/** A bit for each code point, by blocks of 256 that are made when one of theirs is asked for. */
const blocks = new Map<number, Uint8Array>();
let lastBlock = -1;
let lastFlags: Uint8Array = new Uint8Array(256);

/** Letters, marks that count as such, digits and other numbers. */
export function isWordCharacter(point: number): boolean {
  const block = point >>> 8;
  if (block !== lastBlock) {
    lastFlags = blocks.get(block) ?? blockOf(block);
    lastBlock = block;
  }
  return lastFlags[point & 0xff] === 1;
}

function blockOf(block: number): Uint8Array {
  const flags = new Uint8Array(256);
  for (let at = 0; at < 256; at++) {
    const point = block * 256 + at;
    const isPair = point >= 0xd800 && point < 0xe000;
    if (!isPair && point <= 0x10ffff && WORD.test(String.fromCodePoint(point))) flags[at] = 1;
  }
  blocks.set(block, flags);
  return flags;
}

/** Whether a term begins with these bytes. */
export function startsWith(term: Uint8Array, prefix: Uint8Array): boolean {
  if (term.length < prefix.length) return false;
  for (let at = 0; at < prefix.length; at++) if (term[at] !== prefix[at]) return false;
  return true;
}
