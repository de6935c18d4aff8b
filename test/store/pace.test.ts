/** Large reads at once or through the thread pool: by what the ones before took, with the same bytes. */
import { expect, test } from 'vitest';
import { Pace, PIECE_BYTES } from '../../src/store/disk/pace.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import type { ObjectReader } from '../../src/store/store.ts';
import { TestClock } from '../helpers/engines.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { memoryFs } from '../helpers/memory-fs.ts';

const CONTENT = Uint8Array.from({ length: 3 * PIECE_BYTES + 77 }, (_, at) => (at * 31) >> 3);

/** A store whose piecewise reads take so many milliseconds of its clock. */
async function storeOf(slowness: { ms: number }) {
  const clock = new TestClock();
  const memory = memoryFs();
  const disk = new FaultyFs(strictFileSystem(memory));
  const fs = new Proxy(disk.fs, {
    get(target, name) {
      const real = Reflect.get(target, name);
      if (name !== 'readSync') return real;
      return (...args: unknown[]) => {
        clock.time += slowness.ms;
        return (real as (...all: unknown[]) => number)(...args);
      };
    },
  });
  const store = openFileStore({ root: '/c', fs, env: clock });
  await store.put('object', CONTENT);
  const object = (await store.open('object')) as ObjectReader;
  const into = new Uint8Array(CONTENT.length + 100);
  const calls = () => disk.log.splice(0).filter((call) => call.startsWith('read'));
  return { object, into, calls, memory };
}

const same = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;

test('into memory that is there a quick file is read at once, and any other through the pool', async () => {
  const { object, into, calls } = await storeOf({ ms: 1 });
  calls();
  const read = object.read(1, CONTENT.length - 1, into);
  expect(read).toBeInstanceOf(Uint8Array);
  expect(same(read as Uint8Array, CONTENT.subarray(1))).toBe(true);
  expect(calls()).toEqual(Array(4).fill('readSync'));
  const fresh = object.read(0, CONTENT.length);
  expect(fresh).toBeInstanceOf(Promise);
  expect(same(await fresh, CONTENT)).toBe(true);
  expect(calls()).toEqual(['read']);
  object.close();
});

test('after a slow piece the rest goes through the pool, as do the next reads, then it is tried again', async () => {
  const slowness = { ms: 2 };
  const { object, into, calls } = await storeOf(slowness);
  calls();
  expect(same(await object.read(0, CONTENT.length, into), CONTENT)).toBe(true);
  expect(calls()).toEqual(['readSync', 'read']);
  slowness.ms = 0;
  for (let pooled = 1; pooled < 64; pooled++) {
    expect(
      same(await object.read(pooled, 100_000, into), CONTENT.slice(pooled, pooled + 1e5)),
    ).toBe(true);
  }
  expect(calls()).toEqual(Array(63).fill('read'));
  expect(object.read(0, 100_000, into)).toBeInstanceOf(Uint8Array);
  expect(calls()).toEqual(['readSync']);
  object.close();
});

test('a file that is cut while it is read at once is reported', async () => {
  const { object, into, memory } = await storeOf({ ms: 0 });
  memory.truncateSync('/c/object', 2 * PIECE_BYTES + 5);
  expect(() => object.read(0, CONTENT.length, into)).toThrow(
    `became shorter while it was read: ${2 * PIECE_BYTES + 5} of ${CONTENT.length} bytes`,
  );
  object.close();
});

test('a pace is slow from two milliseconds on', () => {
  const pace = new Pace();
  pace.took(1);
  expect(pace.isQuick()).toBe(true);
  pace.took(2);
  expect(pace.isQuick()).toBe(false);
});
