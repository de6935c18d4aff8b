/**
 * `packBits` packs bits into bytes, for vectors that are compared by `hamming` distance. Each
 * number other than 0 and NaN is a set bit. The first number is the lowest bit of the first byte,
 * and the last byte is filled up with zeros.
 */

/** Eight numbers to a byte, the first in its lowest bit; the last byte is filled up with zeros. */
export function packBits(data: readonly number[]): number[] {
  const packed = new Array<number>(Math.ceil(data.length / 8)).fill(0);
  for (const [at, bit] of data.entries()) {
    if (bit) packed[at >> 3] = (packed[at >> 3] as number) | (1 << (at & 7));
  }
  return packed;
}
