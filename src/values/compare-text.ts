/**
 * `compareText` orders two strings by code points, which is the order of their UTF-8 bytes.
 * JavaScript's `<` orders by UTF-16 code units, which puts U+E000 to U+FFFF behind the characters
 * above them.
 */

/** Code units of long texts that are compared at once. */
const BLOCK = 4096;

/** By code points, as the bytes of UTF-8 compare; JavaScript's own < puts U+FFFF above U+10000. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  let i = 0;
  // Blocks that are equal are compared by the runtime.
  if (a.charCodeAt(0) === b.charCodeAt(0)) {
    while (i + BLOCK < shared && a.slice(i, i + BLOCK) === b.slice(i, i + BLOCK)) i += BLOCK;
  }
  while (i < shared && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === shared) return a.length - b.length;
  const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
  const [p, q] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
  return p === q ? x - y : p && y >= 0xe000 ? 1 : q && x >= 0xe000 ? -1 : x - y;
}
