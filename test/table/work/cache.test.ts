/** The cache against a plain list of its keys, the least recently used first. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CacheCounts } from '../../../src/counters.ts';
import { ByteCache, CacheBudget } from '../../../src/table/work/cache.ts';
import { keptMemory } from '../../../src/table/work/kept-memory.ts';

const LIMIT = 100;

test('what was used longest ago makes room, whatever is asked of it before', () => {
  const key = fc.nat(7).map((number) => `key ${number}`);
  const step = fc.oneof(
    fc.record({ do: fc.constant('get' as const), key }),
    fc.record({ do: fc.constant('set' as const), key, bytes: fc.integer({ min: 1, max: 120 }) }),
    fc.record({ do: fc.constant('delete' as const), key }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const cache = new ByteCache(LIMIT);
      let model: { key: string; value: number; bytes: number }[] = [];
      for (const [value, taken] of steps.entries()) {
        const known = model.find((entry) => entry.key === taken.key);
        if (taken.do === 'get') {
          expect(cache.get(taken.key)).toBe(known?.value);
          if (known !== undefined) model = [...model.filter((entry) => entry !== known), known];
        } else if (taken.do === 'delete') {
          cache.delete(taken.key);
          model = model.filter((entry) => entry !== known);
        } else if (taken.bytes <= LIMIT) {
          cache.set(taken.key, value, taken.bytes);
          model = [...model.filter((entry) => entry !== known), { ...taken, value }];
          while (model.reduce((sum, { bytes }) => sum + bytes, 0) > LIMIT) model.shift();
        } else {
          // Too large to be kept; what the key had before is not what it has now.
          cache.set(taken.key, value, taken.bytes);
          model = model.filter((entry) => entry !== known);
        }
      }
      for (const { key: left, value } of model) expect(cache.get(left)).toBe(value);
      for (let number = 0; number < 8; number++) {
        const gone = !model.some((entry) => entry.key === `key ${number}`);
        if (gone) expect(cache.get(`key ${number}`)).toBeUndefined();
      }
    }),
    { numRuns: 300 },
  );
});

test('look-ups are counted, by whether they found something', () => {
  const counts = new CacheCounts();
  const cache = new ByteCache(LIMIT, counts);
  const other = new ByteCache(LIMIT, counts);
  cache.set('a', 1, 10);
  for (const key of ['a', 'b', 'a']) cache.get(key);
  other.get('a');
  expect(counts).toEqual({ hits: 2, misses: 2 });
});

test('caches of one budget hold no more together; the largest of them makes room', () => {
  const budget = new CacheBudget(LIMIT);
  const [one, two] = [new ByteCache(budget), new ByteCache(budget)];
  for (let at = 0; at < 9; at++) one.set(`one ${at}`, at, 10);
  for (let at = 0; at < 5; at++) two.set(`two ${at}`, at, 10);
  expect([budget.used, one.used, two.used]).toEqual([100, 50, 50]);
  expect(one.get('one 3')).toBeUndefined();
  expect(one.get('one 4')).toBe(4);
  expect(two.get('two 0')).toBe(0);
  two.delete('two 0');
  expect([budget.used, two.used]).toEqual([90, 40]);
  one.set('large', 1, LIMIT);
  expect([budget.used, one.used, two.used]).toEqual([100, 100, 0]);
  one.set('larger', 1, LIMIT + 1);
  expect(one.get('larger')).toBeUndefined();
  expect(budget.used).toBe(100);
});

test('what is known of tables and the rest of the metadata share cacheBytes', () => {
  const { cache, heads } = keptMemory(1_000, 0);
  const [chunks, tables] = [new ByteCache(cache), new ByteCache(heads)];
  tables.set('a', 1, 900);
  expect(tables.get('a')).toBe(1);
  chunks.set('b', 2, 200);
  expect(tables.get('a')).toBeUndefined();
  expect(chunks.get('b')).toBe(2);
});
