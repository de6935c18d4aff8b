/**
 * Works on the bits of Arrow's bitmaps: reads (`getBit`), sets (`setBit`, `setBits`), counts
 * (`countBits`), slices (`sliceBits`), copies (`copyBits`) and intersects them (`bothBits`, where
 * an absent bitmap stands for ones). The first bit is the least significant bit of a byte.
 * Positions must be below 2^32, and bounds are not checked. `sliceBits` gives a view of the bitmap
 * where it can. `copyBits` needs a target whose bits are still clear.
 */

/** Bytes that hold so many bits, however many they are. */
export const bitmapBytes = (bits: number): number => Math.ceil(bits / 8);

export const getBit = (bitmap: Uint8Array, index: number): boolean =>
  (((bitmap[index >>> 3] as number) >> (index & 7)) & 1) === 1;

/** Bits from `from` on; a view where that begins at a byte, a shifted copy otherwise. */
export function sliceBits(bitmap: Uint8Array, from: number, length: number): Uint8Array {
  const bytes = bitmapBytes(length);
  const start = from >>> 3;
  const shift = from & 7;
  if (shift === 0) return bitmap.subarray(start, start + bytes);
  const out = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 1) {
    const low = (bitmap[start + at] as number) >> shift;
    const high = (bitmap[start + at + 1] ?? 0) << (8 - shift);
    out[at] = low | high;
  }
  return out;
}

/** How many of `length` bits from `from` on are set. */
export function countBits(bitmap: Uint8Array, from: number, length: number): number {
  let count = 0;
  let at = from;
  const end = from + length;
  while (at < end && (at & 7) !== 0) {
    if (getBit(bitmap, at)) count += 1;
    at += 1;
  }
  let byte = at >>> 3;
  const lastByte = end >>> 3;
  for (; byte + 4 <= lastByte; byte += 4) {
    const word =
      (bitmap[byte] as number) |
      ((bitmap[byte + 1] as number) << 8) |
      ((bitmap[byte + 2] as number) << 16) |
      ((bitmap[byte + 3] as number) << 24);
    count += ones(word);
  }
  for (; byte < lastByte; byte += 1) count += ones(bitmap[byte] as number);
  for (at = Math.max(at, byte * 8); at < end; at += 1) if (getBit(bitmap, at)) count += 1;
  return count;
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The bits that are set in both bitmaps; an absent one stands for ones alone. */
export function bothBits(
  one: Uint8Array | undefined,
  other: Uint8Array | undefined,
): Uint8Array | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.map((byte, at) => byte & (other[at] as number));
}

/** Copies `length` bits into a bitmap whose target bits are still clear. */
export function copyBits(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  length: number,
): void {
  let at = 0;
  if (((from | to) & 7) === 0) {
    const whole = length >>> 3;
    target.set(source.subarray(from >>> 3, (from >>> 3) + whole), to >>> 3);
    at = whole * 8;
  }
  for (; at < length; at += 1) {
    if (getBit(source, from + at)) setBit(target, to + at);
  }
}

export function setBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >>> 3] = (bitmap[index >>> 3] as number) | (1 << (index & 7));
}

/** Sets `length` bits from `from` on. */
export function setBits(bitmap: Uint8Array, from: number, length: number): void {
  let at = from;
  const end = from + length;
  while (at < end && (at & 7) !== 0) {
    setBit(bitmap, at);
    at += 1;
  }
  if (at < end) bitmap.fill(255, at >>> 3, end >>> 3);
  for (at = Math.max(at, (end >>> 3) * 8); at < end; at += 1) setBit(bitmap, at);
}
