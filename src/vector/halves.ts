/**
 * Half-precision numbers: 16 bits to a float and a number to the nearest half. Knows nothing of
 * vectors. (Neither typed arrays nor Math speak of halves in every supported release of Node.)
 */

let table: Float32Array | undefined;

/** The value of each of the 65,536 halves. */
export function halfValues(): Float32Array {
  if (table === undefined) {
    table = new Float32Array(65_536);
    for (let bits = 0; bits < 65_536; bits += 1) table[bits] = halfValue(bits);
  }
  return table;
}

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** Adding and taking this away leaves a double without the bits below 1, rounded to even. */
const UNIT_ROUNDER = 1.5 * 2 ** 52;

/** The half nearest to `value`, ties to even, infinite from 65,520 on. */
export function nearestHalf(value: number): number {
  const size = Math.abs(value);
  if (Number.isNaN(value) || size === 0) return value;
  if (size >= 65_520) return Math.sign(value) * Infinity;
  const unit = 2 ** (Math.max(Math.floor(Math.log2(size)), -14) - 10);
  return (value / unit + UNIT_ROUNDER - UNIT_ROUNDER) * unit;
}
