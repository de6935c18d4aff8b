/** Halves, all of them: every one of the 65,536 is a number, and that number is stored as it. */
import { expect, test } from 'vitest';
import { halfValue, halfValues, nearestHalf, storeHalf } from '../../src/values/half.ts';

const out = new Uint16Array(1);
const bitsOf = (value: number): number => {
  storeHalf(out, 0, value);
  return out[0] as number;
};

test('every half that is a number is stored as itself', () => {
  const wrong: number[] = [];
  for (let bits = 0; bits < 65_536; bits++) {
    const value = halfValue(bits);
    if (Number.isNaN(value)) continue;
    if (bitsOf(value) !== bits || !Object.is(halfValues()[bits], value)) wrong.push(bits);
  }
  expect(wrong).toEqual([]);
});

test.each([
  ['halfway down to even', 1 + 2 ** -11, 1],
  ['halfway up to even', 1 + 3 * 2 ** -11, 1 + 2 ** -9],
  ['just above halfway', 1 + 2 ** -11 + 2 ** -30, 1 + 2 ** -10],
  ['a mantissa that carries', 1.9999, 2],
  ['the last that is finite', 65_519, 65_504],
  ['the first that is infinite', 65_520, Number.POSITIVE_INFINITY],
  ['half of the least', 2 ** -25, 0],
  ['more than half of the least', 2 ** -25 * 1.01, 2 ** -24],
])('%s', (_, value, nearest) => {
  expect(nearestHalf(value)).toBe(nearest);
  expect(nearestHalf(-value)).toBe(-nearest);
});

test('a number is stored exactly, or it is said', () => {
  expect(
    [0.5, 65_504, Number.NaN, Number.POSITIVE_INFINITY, 0.1, 1e6].map((value) =>
      storeHalf(out, 0, value),
    ),
  ).toEqual([true, true, true, true, false, false]);
});
