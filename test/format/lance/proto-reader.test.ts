/** Lists of numbers in messages of any writer: packed, one by one, in parts; each in time that its length bounds. */
import { expect, test } from 'vitest';
import { ProtoFile, type ProtoReader } from '../../../src/format/lance/proto-reader.ts';
import { message } from '../../../src/format/lance/protobuf.ts';

const readerOf = (bytes: Uint8Array): ProtoReader =>
  new ProtoFile(bytes, 'a file').message('M', 0, bytes.length);

test('lists are joined from packed parts and single numbers, of several members by turns', () => {
  const written = message().packed(1, [1, 2]).integer(2, 10).packed(2, [11]).integer(1, -3);
  written.packed(1, [4]).packed(2, [12, 13]);
  const reader = readerOf(written.finish());
  const lists: (readonly number[])[] = [[], [], []];
  while (reader.next()) lists[reader.member] = reader.int32s(lists[reader.member] ?? []);
  expect(lists).toEqual([[], [1, 2, -3, 4], [10, 11, 12, 13]]);
});

test('a list that another message shares does not grow with it', () => {
  const part = message().packed(1, [1, 2]);
  const bytes = message()
    .message(1, part)
    .message(1, part)
    .message(1, part.packed(1, [3]))
    .finish();
  const reader = readerOf(bytes);
  const lists: (readonly number[])[] = [];
  while (reader.next()) {
    const item = reader.item('Part');
    let list: readonly number[] = [];
    while (item.next()) list = item.int32s(list);
    lists.push(list);
  }
  expect(lists).toEqual([
    [1, 2],
    [1, 2],
    [1, 2, 3],
  ]);
  expect(lists[1]).toBe(lists[0]);
});

test('a list that comes number by number is not copied for each', () => {
  const reader = readerOf(message().integer(1, 5).integer(1, 6).integer(1, 7).finish());
  expect(reader.next()).toBe(true);
  const first = reader.int32s([]);
  expect(reader.next()).toBe(true);
  const second = reader.int32s(first);
  expect(second).toBe(first);
  expect(reader.next()).toBe(true);
  expect(reader.int32s(second)).toEqual([5, 6, 7]);
});
