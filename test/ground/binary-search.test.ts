/** Places in ascending values, against looking at each. */
import { expect, test } from 'vitest';
import { firstAbove, firstAtLeast } from '../../src/binary-search.ts';

test('the first value from a value on, and above it, is found as by looking at each', () => {
  for (let length = 0; length < 9; length++) {
    const numbers = Array.from({ length }, (_, at) => 2 * (at >> (length % 2)));
    const big = numbers.map(BigInt);
    for (let value = -1; value < 18; value++) {
      const least = numbers.filter((number) => number < value).length;
      expect(firstAtLeast(numbers, value)).toBe(least);
      expect(firstAtLeast(big, BigInt(value))).toBe(least);
      expect(firstAtLeast(Int32Array.from(numbers), value)).toBe(least);
      expect(firstAbove(numbers, value)).toBe(numbers.filter((number) => number <= value).length);
    }
  }
});
