/**
 * Converts between JavaScript numbers and half-precision floats (IEEE 754 binary16), because some
 * supported releases of Node have no Float16Array. Writing rounds to the nearest half, ties to
 * even, and tells whether it was exact (`storeHalf`); numbers from `HALF_LIMIT` on become infinite.
 * `halfValue` decodes one half, `halvesToFloats` an array, `halfValues` has the values of all, and
 * `nearestHalf` rounds a number.
 */

/** Numbers of this size or more round to infinity. */
export const HALF_LIMIT = 65_520;

const scratch = new DataView(new ArrayBuffer(8));

/** Stores the half nearest to `value`; true when it is stored exactly. NaN counts as exact. */
export function storeHalf(out: Uint16Array, index: number, value: number): boolean {
  if (Number.isNaN(value)) {
    out[index] = 0x7e00;
    return true;
  }
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= HALF_LIMIT) {
    out[index] = sign | 0x7c00;
    return size === Number.POSITIVE_INFINITY;
  }
  scratch.setFloat64(0, size);
  const exponent = Math.max(((scratch.getUint16(0) >> 4) & 0x7ff) - 1023, -14);
  const scaled = size * 2 ** (10 - exponent);
  const mantissa = roundEven(scaled);
  // A mantissa below 1024 is subnormal; one that rounds up to 2048 carries into the exponent.
  out[index] = sign | (mantissa < 1024 ? mantissa : ((exponent + 14) << 10) + mantissa);
  return mantissa === scaled;
}

function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** The value of a half. */
export function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

let table: Float32Array | undefined;

/** The values of all 65,536 halves, by their bits. */
export function halfValues(): Float32Array {
  if (table === undefined) {
    table = new Float32Array(65_536);
    for (let bits = 0; bits < 65_536; bits += 1) table[bits] = halfValue(bits);
  }
  return table;
}

/** The values of the first `length` halves. */
export function halvesToFloats(halves: Uint16Array, length: number): Float32Array {
  const values = new Float32Array(length);
  for (let row = 0; row < length; row += 1) values[row] = halfValue(halves[row] as number);
  return values;
}

const one = new Uint16Array(1);

/** The half nearest to `value` as a number: infinite from HALF_LIMIT on. */
export function nearestHalf(value: number): number {
  storeHalf(one, 0, value);
  return halfValue(one[0] as number);
}
