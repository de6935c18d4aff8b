/** Bitmaps at their edges: odd offsets, and more bits than a signed 32-bit shift can count. */
import { expect, test } from 'vitest';
import { bitmapBytes, copyBits, countBits, setBits, sliceBits } from '../../src/arrow/bitmaps.ts';

test('the size of a bitmap has no sign and does not wrap', () => {
  for (const [bits, bytes] of [
    [0, 0],
    [1, 1],
    [8, 1],
    [9, 2],
    [2 ** 31 - 8, 2 ** 28 - 1],
    [2 ** 31 - 7, 2 ** 28],
    [2 ** 31 - 1, 2 ** 28],
    [2 ** 32, 2 ** 29],
    [2 ** 40 + 1, 2 ** 37 + 1],
  ] as const) {
    expect(bitmapBytes(bits)).toBe(bytes);
  }
});

test('positions beyond 2^31 are counted, set and copied where they are', () => {
  const from = 2 ** 31 + 5;
  const bitmap = new Uint8Array(bitmapBytes(from + 64));
  setBits(bitmap, from, 40);
  expect(bitmap[0]).toBe(0);
  expect(countBits(bitmap, 2 ** 31, 60)).toBe(40);
  expect(countBits(bitmap, from + 10, 7)).toBe(7);
  expect(sliceBits(bitmap, from - 1, 8)).toEqual(Uint8Array.of(0b1111_1110));
  const copy = new Uint8Array(6);
  copyBits(bitmap, 2 ** 31, copy, 0, 45);
  expect(countBits(copy, 0, 48)).toBe(40);
});
