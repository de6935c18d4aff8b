/** What is kept of sketches, and for how long. */
import { expect, test } from 'vitest';
import { SKETCHES_AT, sieveOf } from '../../src/vector/sieve.ts';
import { type Sketch, type SketchPlace, sketchBytes, sketchOf } from '../../src/vector/sketch.ts';
import { SketchCache, type SketchScope, UNUSED_SEARCHES } from '../../src/vector/sketch-cache.ts';
import { sketching } from '../helpers/sketched.ts';
import { run } from '../helpers/steps.ts';

const [rows, dimension] = [1024, 32];
const BYTES = sketchBytes(rows, dimension);
/** What a segment takes beside its sketches, in whole pages. */
const OVERHEAD = SKETCHES_AT + 65_536;

const vectorsOf = (value: number): Float32Array =>
  Float32Array.from({ length: rows * dimension }, (_, at) => value + (at % 7));

const newSketch = (place: SketchPlace, value = 0): Sketch =>
  run(sketchOf(sketching, 'float32', dimension, { values: vectorsOf(value), rows }, place));

const admit = (scope: SketchScope, key: string): SketchPlace | undefined =>
  scope.admit(key, BYTES, sketching.openMemory);

/** Searches a batch, by its sketch or else as a whole. */
function search(scope: SketchScope, key: string, value = 0): Sketch | null | undefined {
  const sketch = scope.get(key);
  const place = sketch === undefined ? admit(scope, key) : undefined;
  if (place !== undefined) scope.made(key, newSketch(place, value));
  return sketch;
}

function searches(scope: SketchScope, count: number, ...keys: string[]): void {
  for (let n = 0; n < count; n++) {
    scope.begin();
    for (const key of keys) search(scope, key);
  }
}

/** The first element of the centre, which is near the rows' value. */
const centreOf = ({ kernels, at }: Sketch): number =>
  new Float32Array(kernels.memory.buffer, at, 1)[0] as number;

test('the second search makes the sketch, and later ones find it', () => {
  const cache = new SketchCache(1e8);
  const scope = cache.scope();
  expect([search(scope, 'a', 100), cache.used]).toEqual([undefined, 0]);
  expect(search(scope, 'a', 100)).toBeUndefined();
  expect(cache.used).toBeGreaterThan(BYTES);
  const sketch = search(scope, 'a') as Sketch;
  expect([sketch.rows, sketch.dimension]).toEqual([rows, dimension]);
  expect(centreOf(sketch)).toBeGreaterThan(99);
  search(scope, 'b', 200);
  search(scope, 'b', 200);
  expect(centreOf(search(scope, 'b') as Sketch)).toBeGreaterThan(199);
  expect(centreOf(search(scope, 'a') as Sketch)).toBeLessThan(120);
});

test('of searches at once only one makes the sketch, and the next one where that fails', () => {
  const scope = new SketchCache(1e8).scope();
  admit(scope, 'a');
  const first = admit(scope, 'a') as SketchPlace;
  expect([first.at, admit(scope, 'a')]).toEqual([SKETCHES_AT, undefined]);
  scope.made('a', undefined);
  expect(scope.get('a')).toBeUndefined();
  const second = admit(scope, 'a') as SketchPlace;
  expect(second).toEqual(first);
  // A place given meanwhile stays its own.
  admit(scope, 'b');
  const other = admit(scope, 'b') as SketchPlace;
  expect(other.at).toBeGreaterThanOrEqual(second.at + BYTES);
  scope.made('a', undefined);
  const third = admit(scope, 'a') as SketchPlace;
  expect(third.at).toBeGreaterThanOrEqual(other.at + BYTES);
  scope.made('a', newSketch(third));
  expect([scope.get('a')?.at, admit(scope, 'a')]).toEqual([third.at, undefined]);
});

test('files of one name in two catalogs are told apart', () => {
  const cache = new SketchCache(1e8);
  const [one, other] = [cache.scope(), cache.scope()];
  searches(one, 3, 'a');
  expect(one.get('a')).toBeDefined();
  expect(other.get('a')).toBeUndefined();
  expect(admit(other, 'a')).toBeUndefined();
});

test('no more is kept than the limit, and nothing where it is 0', () => {
  const limit = OVERHEAD + 3 * BYTES;
  const cache = new SketchCache(limit);
  const scope = cache.scope();
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  searches(scope, 2 * UNUSED_SEARCHES, ...keys);
  expect(cache.used).toBeLessThanOrEqual(limit);
  const kept = keys.map((key) => search(scope, key) !== undefined);
  // What is searched again and again stays: no search pushes out what the next one needs.
  expect(kept.indexOf(false)).toBeGreaterThanOrEqual(2);
  expect(kept.slice(kept.indexOf(false))).not.toContain(true);
  searches(scope, 3, ...keys);
  expect(keys.map((key) => search(scope, key) !== undefined)).toEqual(kept);
  const none = new SketchCache(0);
  searches(none.scope(), 4, 'a');
  expect(none.used).toBe(0);
  const small = new SketchCache(BYTES);
  searches(small.scope(), 4, 'a');
  expect(small.used).toBe(0);
});

test('what was not searched for a while makes room; whoever still uses it can go on', () => {
  const cache = new SketchCache(OVERHEAD + BYTES);
  const scope = cache.scope();
  searches(scope, 2, 'old');
  const old = search(scope, 'old') as Sketch;
  searches(scope, UNUSED_SEARCHES - 1, 'new');
  expect(scope.get('old')).toBe(old);
  searches(scope, UNUSED_SEARCHES + 1, 'new');
  expect([scope.get('old'), scope.get('new') === undefined]).toEqual([undefined, false]);
  const query = { vector: vectorsOf(0).slice(0, dimension), norm: 0 };
  expect(sieveOf(old, 'l2', query)?.candidates(1e6, 0, rows)).toHaveLength(rows);
  expect(cache.used).toBeLessThanOrEqual(cache.limit);
});

test('a sketch of no use for three searches in a row is set aside, and tried again later', () => {
  const scope = new SketchCache(1e8).scope();
  searches(scope, 2, 'a');
  const told = (...useful: boolean[]): boolean => {
    for (const each of useful) scope.judge('a', each);
    return scope.get('a') !== null;
  };
  expect(told(false, false, true, false, false)).toBe(true);
  expect(told(false)).toBe(false);
  expect(admit(scope, 'a')).toBeUndefined();
  const tries = Array.from({ length: 40 }, () => {
    const tried = scope.get('a') !== null;
    if (tried) scope.judge('a', false);
    return tried;
  });
  expect(tries.filter(Boolean)).toHaveLength(2);
  while (scope.get('a') === null);
  expect(told(true, false, false)).toBe(true);
  scope.judge('unknown', false);
});

test('where the system has no more memory for kernels, searches go on without', () => {
  const scope = new SketchCache(1e8).scope();
  const openMemory = (): never => {
    throw new RangeError('WebAssembly.Instance(): Out of memory');
  };
  admit(scope, 'a');
  expect(scope.admit('a', BYTES, openMemory)).toBeUndefined();
  scope.made('a', undefined);
  expect(scope.get('a')).toBeUndefined();
});
