/** Keys of a merge that a sender chose so that they share a slot, unless each process hashes its own way. */
import { beforeEach, expect, test, vi } from 'vitest';

type Hashes = typeof import('../../../src/table/merge/key-hash.ts');

beforeEach(() => vi.resetModules());
const loaded = (): Promise<Hashes> => import('../../../src/table/merge/key-hash.ts');

/** Odd constants of multiplicative hashes: what a sender reads in the source. */
const [A, B] = [0x85ebca6b, 0x9e3779b1];
const KEYS = 4_096;

/** `low ^ high * A` is one number for all. */
const words = Array.from({ length: KEYS }, (_, high) => [Math.imul(high, A), high] as const);

/** Pairs of words whose highest bits cancel out, whatever was hashed before them. */
const texts = Array.from({ length: KEYS }, (_, key) => {
  const view = new DataView(new ArrayBuffer(8 * 12));
  for (let bit = 0; bit < 12; bit++) {
    if (((key >> bit) & 1) === 0) continue;
    view.setUint32(8 * bit, 0x80000000, true);
    view.setUint32(8 * bit + 4, 0x80010000, true);
  }
  return view;
});

const differing = (hashes: readonly number[]): number => new Set(hashes).size;
const slots = (hashes: readonly number[]): number =>
  differing(hashes.map((hash) => hash & (4 * KEYS - 1)));

test('the keys would collide under a hash that multiplies by constants', () => {
  const plain = words.map(([low, high]) => Math.imul(low ^ Math.imul(high, A), B));
  expect(differing(plain)).toBe(1);
});

test('numbers and texts that were made to collide fall into slots of their own', async () => {
  const { hashWords, hashBytes } = await loaded();
  // Of so many keys in four times as many slots, a random hash leaves about 88 % in one of their own.
  expect(slots(words.map(([low, high]) => hashWords(low, high)))).toBeGreaterThan(KEYS * 0.8);
  expect(slots(texts.map((view) => hashBytes(view, 0, view.byteLength)))).toBeGreaterThan(
    KEYS * 0.8,
  );
});

test('each byte of a key counts, and its place', async () => {
  const { hashWords, hashBytes } = await loaded();
  const places = Array.from({ length: 64 }, (_, bit) =>
    bit < 32 ? hashWords(1 << bit, 0) : hashWords(0, 1 << (bit - 32)),
  );
  expect(differing([...places, hashWords(0, 0)])).toBe(65);
  for (const length of [1, 2, 3, 4, 5, 7, 9]) {
    const hashes = Array.from({ length: 8 * length }, (_, bit) => {
      const bytes = new Uint8Array(length);
      bytes[bit >> 3] = 1 << (bit & 7);
      return hashBytes(new DataView(bytes.buffer), 0, length);
    });
    expect(differing(hashes)).toBe(8 * length);
  }
  const zeros = new DataView(new ArrayBuffer(12));
  expect(differing([0, 1, 2, 3, 4, 5, 8, 12].map((length) => hashBytes(zeros, 0, length)))).toBe(8);
  // Bytes around the key do not count.
  const around = new Uint8Array(12).fill(7);
  around.fill(0, 3, 8);
  expect(hashBytes(new DataView(around.buffer), 3, 5)).toBe(hashBytes(zeros, 0, 5));
});

test('another process hashes the same keys in another way', async () => {
  const first = await loaded();
  vi.resetModules();
  const second = await loaded();
  const [view] = texts as [DataView];
  expect(first.hashWords(5, 6)).toBe(first.hashWords(5, 6));
  expect(first.hashWords(5, 6)).not.toBe(second.hashWords(5, 6));
  expect(first.hashBytes(view, 0, 96)).not.toBe(second.hashBytes(view, 0, 96));
});
