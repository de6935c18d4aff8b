/** The bytes of pieces of any sizes, in about as much memory as they take. */
import { expect, test } from 'vitest';
import { JoinedPieces } from '../../src/server/http/joined-pieces.ts';
import { seeded } from '../helpers/seeded.ts';

test.each([1, 2, 3])('are the pieces one after the other, seed %d', (seed) => {
  const random = seeded(seed);
  const sizes = [1, 3, 700, 1_024, 5_000, 16_383, 16_384, 65_536, 70_000];
  const joined = new JoinedPieces();
  const pieces = Array.from({ length: 200 }, (_, at) => {
    const size = sizes[Math.floor(random() * sizes.length)] as number;
    return Buffer.alloc(size, at + 1);
  });
  for (const piece of pieces) joined.add(piece);
  const whole = Buffer.concat(pieces);
  expect(joined.length).toBe(whole.byteLength);
  expect(joined.bytes().equals(whole)).toBe(true);
});

test('nothing is no bytes', () => {
  expect(new JoinedPieces().bytes()).toHaveLength(0);
});

test.each([1, 1_000, 16_384])('pieces of %d bytes take little more than they have', (size) => {
  const piece = Buffer.alloc(size, 1);
  const BODY = 1_025 * 1_024;
  const before = process.memoryUsage().arrayBuffers;
  const bodies = Array.from({ length: 16 }, () => {
    const joined = new JoinedPieces();
    while (joined.length < BODY) joined.add(size < 16_384 ? piece : Buffer.from(piece));
    return joined;
  });
  const taken = process.memoryUsage().arrayBuffers - before;
  expect(bodies.every(({ length }) => length >= BODY)).toBe(true);
  expect(taken).toBeLessThan(16 * BODY * 1.25);
});
