/** Bytes and moments as the page shows them. */
import { expect, test } from 'vitest';
import { bytes, moment, percent } from '../../../src/ui/base/format.ts';

test.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1.00 KiB'],
  [999.4 * 1024, '999 KiB'],
  [999.9 * 1024, '999 KiB'],
  [1_024_000, '1000 KiB'],
  [1023.9 * 1024, '1023 KiB'],
  [5 * 2 ** 30, '5.00 GiB'],
  [2000 * 2 ** 40, '2000 TiB'],
])('%d bytes are %s', (value, text) => {
  expect(bytes(value)).toBe(text);
});

test.each([
  [0, '1970-01-01 00:00:00'],
  [8.64e15, '+275760-09-13 00:00'],
  [9e15, ''],
  [-9e15, ''],
  [Number.NaN, ''],
  [undefined, ''],
])('the moment %s is %j', (millis, text) => {
  expect(moment(millis)).toBe(text);
});

test.each([
  [0, '0 %'],
  [1, '100 %'],
  [0.5, '50 %'],
  [0.12345, '12 %'],
  [0.999, 'almost 100 %'],
  [0.00123, '0.12 %'],
])('the share %d is %s', (share, text) => {
  expect(percent(share)).toBe(text);
});
