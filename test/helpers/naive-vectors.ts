/**
 * Vector distances as their definitions say, in doubles and one row at a time, and random vectors.
 * Knows nothing of the kernels it is compared with.
 */
import type { ElementType, Metric, VectorValues } from '../../src/vector/elements.ts';

/** What a half's bits stand for, by way of the definition. */
export function halfOf(bits: number): number {
  const sign = bits >> 15 === 1 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -14 : sign * (1 + fraction) * 2 ** (exponent - 15);
}

export function randomValues(type: ElementType, count: number, random: () => number): VectorValues {
  switch (type) {
    case 'float16':
      // Both signs, sizes of about 2^-15 (subnormal) to 4.
      return Uint16Array.from(
        { length: count },
        () => (random() < 0.5 ? 0x8000 : 0) | Math.floor(random() * 0x4400),
      );
    case 'float32':
      return Float32Array.from({ length: count }, () => random() * 2 - 1);
    case 'float64':
      return Float64Array.from({ length: count }, () => random() * 2 - 1);
    case 'uint8':
      return Uint8Array.from({ length: count }, () => random() * 256);
  }
}

/** A vector's elements as plain numbers. */
export function numbersOf(values: VectorValues, row: number, dimension: number): number[] {
  const own = Array.from(values.subarray(row * dimension, (row + 1) * dimension));
  return values instanceof Uint16Array ? own.map(halfOf) : own;
}

export function naiveDistance(metric: Metric, one: number[], other: number[]): number {
  const sum = (term: (a: number, b: number) => number): number =>
    one.reduce((total, value, index) => total + term(value, other[index] as number), 0);
  switch (metric) {
    case 'l2':
      return sum((a, b) => (a - b) ** 2);
    case 'dot':
      return 1 - sum((a, b) => a * b);
    case 'cosine':
      return 1 - sum((a, b) => a * b) / Math.sqrt(sum((a) => a * a) * sum((_, b) => b * b));
    case 'hamming':
      return sum((a, b) => (a ^ b).toString(2).replaceAll('0', '').length);
  }
}
