/**
 * Reads single characters for the matcher of regular expressions: of UTF-8 bytes `sizeAt` and
 * `pointAt`, which is for bytes beyond ASCII alone, and of strings `widthAt` and `pointBefore`. A
 * byte that is no UTF-8 counts as one character. `kindBefore` and `kindAt` classify the characters
 * next to a position, for assertions such as \b. It also defines `Found`, the positions of a match
 * and its groups.
 */
import { EDGE, type Program } from './program.ts';

/** Where a match lies: two positions for the whole and for each group, -1 for one that took no part. */
export type Found = readonly number[];

/** Bytes of the character at `at`, 1 where it is none. */
export function sizeAt(data: Uint8Array, at: number, end: number): number {
  const lead = data[at] as number;
  const size = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (at + size > end) return 1;
  for (let k = 1; k < size; k++) if (((data[at + k] as number) & 0xc0) !== 0x80) return 1;
  return size;
}

const REPLACEMENT = 0xfffd;

export function pointAt(data: Uint8Array, at: number, size: number): number {
  const lead = data[at] as number;
  if (size === 1) return REPLACEMENT;
  let point = lead & (0xff >> (size + 1));
  for (let k = 1; k < size; k++) point = (point << 6) | ((data[at + k] as number) & 0x3f);
  return point;
}

export const widthAt = (text: string, at: number): number =>
  (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;

/** The code point before `at`, which is not 0. */
export function pointBefore(text: string, at: number): number {
  const pair = at > 1 ? (text.codePointAt(at - 2) as number) : 0;
  return pair > 0xffff ? pair : text.charCodeAt(at - 1);
}

export function kindBefore({ alphabet }: Program, text: string, at: number): number {
  return at === 0 ? EDGE : (alphabet.kinds[alphabet.classOf(pointBefore(text, at))] as number);
}

export function kindAt({ alphabet }: Program, text: string, at: number): number {
  const point = text.codePointAt(at);
  return point === undefined ? EDGE : (alphabet.kinds[alphabet.classOf(point)] as number);
}
