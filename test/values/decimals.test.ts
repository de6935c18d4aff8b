/** Exact numbers in text, also in texts that are made to take long. */
import { expect, test } from 'vitest';
import { parseExact } from '../../src/values/index.ts';

const exact = (unscaled: bigint, scale = 0) => ({ unscaled, scale });

test('numbers are read in base 10, 16, 8 and 2, with blanks around those in base 10', () => {
  expect(parseExact(' -12.50\n')).toEqual(exact(-125n, 1));
  expect(parseExact('1e3')).toEqual(exact(1000n));
  expect(parseExact('-0x1F')).toEqual(exact(-31n));
  expect(parseExact('0b0101')).toEqual(exact(5n));
  expect(parseExact('+0o17')).toEqual(exact(15n));
  for (const text of ['', ' ', '.', '0x', ' 0x1', '1 2', '1e', '0b2', 'x']) {
    expect(parseExact(text), text).toBeNull();
  }
});

test('long texts are read in one pass, and numbers of very many digits are none', () => {
  const many = 400_000;
  // A second look at each of these characters would take minutes.
  expect(parseExact(`${' '.repeat(many)}x`)).toBeNull();
  expect(parseExact(`0x${'0'.repeat(many)}x`)).toBeNull();
  expect(parseExact(`0x${'0'.repeat(many)}1`)).toEqual(exact(1n));
  expect(parseExact(`${' '.repeat(many)}7`)).toEqual(exact(7n));
  expect(parseExact(`0x${'f'.repeat(1_601)}`)).toBeNull();
  expect(parseExact(`0b1${'0'.repeat(1_599)}`)).toEqual(exact(2n ** 1_599n));
});
