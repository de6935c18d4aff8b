/** Deleted rows: stored as an Arrow file, read back, joined. */
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tableFromIPC } from '../../src/arrow/apache.ts';
import {
  checkSharedDeletions,
  decodeDeletionSlice,
  decodeDeletions,
  encodeDeletions,
  encodeSharedDeletions,
  sharedDeletionsId,
  unionDeletions,
} from '../../src/format/catalog/deletions.ts';

const offsets = fc
  .uniqueArray(fc.nat(4999), { maxLength: 300 })
  .map((list) => Uint32Array.from(list).sort());

test('round trip, also through apache-arrow', () => {
  fc.assert(
    fc.property(offsets, (deleted) => {
      const bytes = encodeDeletions(deleted, 5000);
      expect(decodeDeletions(bytes, 5000, 'd')).toEqual(deleted);
      expect([...tableFromIPC(bytes).toArray()].map((row) => row.row_id)).toEqual([...deleted]);
    }),
    { numRuns: 50 },
  );
});

test('a shared file has the rows of each fragment in a slice of its own', () => {
  const parts = fc.array(
    offsets.filter((list) => list.length > 0).map((list) => ({ offsets: list, rows: 5000 })),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(parts, (all) => {
      const { bytes, slices } = encodeSharedDeletions(all);
      expect(slices).toHaveLength(all.length);
      for (const [at, slice] of slices.entries()) {
        const own = bytes.subarray(slice.offset, slice.offset + slice.bytes);
        expect(crc32(own)).toBe(slice.checksum);
        expect(decodeDeletionSlice(own, 5000, 'd')).toEqual(all[at]?.offsets);
      }
      const id = sharedDeletionsId('1f0e', bytes);
      checkSharedDeletions(bytes, id, 'd');
      for (const wrong of [bytes.subarray(1), flipped(bytes, bytes.length - 1)])
        expect(() => checkSharedDeletions(wrong, id, 'd')).toThrow(/checksum in its name/);
      const together = all.flatMap((part) => [...part.offsets]);
      expect([...tableFromIPC(bytes).toArray()].map((row) => row.row_id)).toEqual(together);
    }),
    { numRuns: 30 },
  );
});

test('a slice is copied out of memory that it shares with other bytes', () => {
  const { bytes, slices } = encodeSharedDeletions([
    { offsets: Uint32Array.of(1, 2), rows: 9 },
    { offsets: Uint32Array.of(3, 8), rows: 9 },
  ]);
  const [, { offset, bytes: length } = { offset: 0, bytes: 0 }] = slices;
  // A Buffer's slice is a view, not a copy.
  const shared = Buffer.concat([Buffer.alloc(1), bytes]).subarray(1 + offset, 1 + offset + length);
  const found = decodeDeletionSlice(shared, 9, 'd');
  shared.fill(0);
  expect(found).toEqual(Uint32Array.of(3, 8));
});

test('a slice of a longer fragment, out of order or cut within a row, is corrupt', () => {
  const bytes = (...list: number[]) => new Uint8Array(Uint32Array.from(list).buffer);
  expect(() => decodeDeletionSlice(bytes(1, 2).subarray(0, 7), 99, 'd')).toThrow(
    expect.objectContaining({ code: 'Corrupt' }),
  );
  for (const wrong of [bytes(1, 99), bytes(3, 2), bytes(3, 3)])
    expect(() => decodeDeletionSlice(wrong, 99, 'd')).toThrow(
      expect.objectContaining({ code: 'Corrupt' }),
    );
  expect(() =>
    encodeSharedDeletions([
      { offsets: Uint32Array.of(1), rows: 2 },
      { offsets: Uint32Array.of(2), rows: 2 },
    ]),
  ).toThrow(expect.objectContaining({ code: 'Internal' }));
});

test('union is that of sets, ascending', () => {
  fc.assert(
    fc.property(offsets, offsets, (a, b) => {
      const expected = [...new Set([...a, ...b])].sort((x, y) => x - y);
      expect([...unionDeletions(a, b)]).toEqual(expected);
    }),
  );
});

test.each([
  ['out of order', [3, 2], 10],
  ['repeated', [3, 3], 10],
  ['past the end', [3, 10], 10],
])('offsets %s are refused', (_, list, rows) => {
  expect(() => encodeDeletions(Uint32Array.from(list), rows)).toThrow(
    expect.objectContaining({ code: 'Internal' }),
  );
});

test('a file for a longer fragment is corrupt for a shorter one', () => {
  const bytes = encodeDeletions(Uint32Array.of(1, 99), 100);
  expect(() => decodeDeletions(bytes, 99, 'd')).toThrow(
    expect.objectContaining({ code: 'Corrupt' }),
  );
});

test('damaged bytes are corrupt or read the same', () => {
  const bytes = encodeDeletions(Uint32Array.of(1, 5, 70), 100);
  const expected = decodeDeletions(bytes, 100, 'd');
  for (let at = 0; at < bytes.length; at += 1) {
    for (const damaged of [bytes.subarray(0, at), flipped(bytes, at)]) {
      try {
        expect(decodeDeletions(damaged, 100, 'd')).toEqual(expected);
      } catch (error) {
        expect(error).toMatchObject({ code: 'Corrupt' });
      }
    }
  }
});

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = (copy[at] as number) ^ (1 << (at % 8));
  return copy;
}
