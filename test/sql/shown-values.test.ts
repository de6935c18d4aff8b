/** Values as JSON holds them, for the page, profiles and comparisons alike. */
import { expect, test } from 'vitest';
import {
  Binary,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int64,
  List,
  Struct,
  Timestamp,
  TimeUnit,
  Utf8,
} from '../../src/arrow/apache.ts';
import { dataOf } from '../../src/arrow/index.ts';
import { cellReader } from '../../src/server/ui/cells.ts';
import { cutText, loadColumn, reader, shownNumber, shownValue } from '../../src/sql/index.ts';

test('texts are cut behind as many characters as are asked for, and within no pair', () => {
  expect(cutText('abc', 3)).toBe('abc');
  expect(cutText('abcd', 3)).toBe('abc…');
  expect(cutText('ab🦆d', 3)).toBe('ab…');
  expect(cutText('a🦆cd', 3)).toBe('a🦆…');
  expect(shownValue('x'.repeat(257), new Utf8())).toBe(`${'x'.repeat(256)}…`);
});

test('numbers that JSON has none for are texts, the same on the page', () => {
  const values = [0.5, -0, Number.NaN, Infinity, -Infinity];
  const words = [0.5, '-0', 'NaN', 'inf', '-inf'];
  expect(values.map(shownNumber)).toEqual(words);
  expect(values.map((value) => shownValue(value, new Float64()))).toEqual(words);
  const type = new Float64();
  const read = cellReader(dataOf(type, 5, { values: Float64Array.from(values) }), 100);
  expect(values.map((_, row) => read(row))).toEqual(words);
  expect(shownValue(2n ** 53n, new Int64())).toBe('9007199254740992');
});

test('a time in a zone that the runtime does not know is the number of its unit', () => {
  const type = new Timestamp(TimeUnit.SECOND, 'No/Where');
  expect(shownValue(7n, type)).toBe('7');
  const read = cellReader(dataOf(type, 1, { values: BigInt64Array.of(7n) }), 100);
  expect(read(0)).toBe('7');
});

test('bytes within lists and structs are hexadecimal digits, in memory of whatever class', () => {
  const type = new List(new Field('item', new Binary(), true));
  const bytes = [Uint8Array.of(1, 255), Buffer.from([1, 255])];
  for (const one of bytes) expect(shownValue([one, null], type)).toBe('["01ff",null]');
  const numbers = new List(new Field('item', new Int64(), true));
  expect(shownValue([2n ** 60n, null], numbers)).toBe('["1152921504606846976",null]');
});

test('values within lists and structs are as they are by themselves', () => {
  const day = new Field('day', new DateDay(), true);
  const price = new Field('__proto__', new Decimal(2, 5), true);
  const type = new Struct([price, day]);
  const words = Uint32Array.of(125, 0, 0, 0);
  const children = [
    dataOf(price.type, 1, { values: words }),
    dataOf(day.type, 1, { values: Int32Array.of(1) }),
  ];
  const read = reader(loadColumn(dataOf(type, 1, { children })));
  expect(shownValue(read(0), type)).toBe('{"__proto__":"1.25","day":"1970-01-02"}');
  expect(shownValue([read(0)], new List(new Field('item', type, true)))).toBe(
    '[{"__proto__":"1.25","day":"1970-01-02"}]',
  );
});
