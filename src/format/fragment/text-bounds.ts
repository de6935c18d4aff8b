/**
 * Shortens the bounds of texts in statistics: of a longer text, it keeps a prefix of at most 64
 * bytes. `lowerBound` returns the prefix. `upperBound` also raises the last character of a prefix,
 * so that the bound stays above the text. `exact` is true if nothing was cut off. Both return
 * undefined if the kept bytes are not UTF-8, and `upperBound` also if there is no such bound.
 */
import { isUtf8 } from 'node:buffer';

/** Longest bound kept, in bytes. */
const MAX_TEXT_BOUND_BYTES = 64;

export interface TextBound {
  readonly value: string;
  readonly exact: boolean;
}

const text = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

/** Undefined when the bytes are not UTF-8, whose order would not be that of the string. */
export function lowerBound(bytes: Uint8Array): TextBound | undefined {
  const kept = prefix(bytes);
  if (!isUtf8(kept)) return undefined;
  return { value: text(kept), exact: kept.length === bytes.length };
}

/** Undefined also when no text of the kept length is greater. */
export function upperBound(bytes: Uint8Array): TextBound | undefined {
  const kept = prefix(bytes);
  if (!isUtf8(kept)) return undefined;
  if (kept.length === bytes.length) return { value: text(kept), exact: true };
  const points = Array.from(text(kept), (character) => character.codePointAt(0) ?? 0);
  for (let last = points.length - 1; last >= 0; last -= 1) {
    const point = points[last] as number;
    if (point < 0x10ffff) {
      const next = point === 0xd7ff ? 0xe000 : point + 1;
      return { value: String.fromCodePoint(...points.slice(0, last), next), exact: false };
    }
  }
  return undefined;
}

/** The longest prefix within the limit that does not cut a character. */
function prefix(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= MAX_TEXT_BOUND_BYTES) return bytes;
  let end = MAX_TEXT_BOUND_BYTES;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}
