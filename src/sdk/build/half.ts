/** Conversion between numbers and IEEE 754 half precision, rounding to nearest, ties to even. */

/** Numbers of this size or more round to infinity. */
export const FLOAT16_LIMIT = 65520;

const scratch = new DataView(new ArrayBuffer(8));

/** Stores `value` as a half; true when it is stored exactly. NaN counts as exact. */
export function toHalf(out: Uint16Array, index: number, value: number): boolean {
  if (Number.isNaN(value)) {
    out[index] = 0x7e00;
    return true;
  }
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= FLOAT16_LIMIT) {
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

export function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
