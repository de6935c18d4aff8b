import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../src/env.ts';
import { type FileStore, openFileStore } from '../src/store/file-store.ts';
import type { FileSystem } from '../src/store/file-system.ts';
import { withLock } from '../src/store/lock.ts';
import { FaultyFs } from './helpers/faulty-fs.ts';
import { temporaryFolder } from './helpers/temporary.ts';

const memory = (): FileStore => openFileStore({ root: '/c', fs: createFsFromVolume(new Volume()) });
const disk = (): FileStore => openFileStore({ root: temporaryFolder() });
const lockPath = (key: string): string =>
  `.dirspace/locks/${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
const locks = (store: FileStore): number => store.list('.dirspace/locks')?.length ?? 0;

describe.each([
  ['disk', disk],
  ['memfs', memory],
] as const)('lock: %s', (_name, make) => {
  test('holders of one key follow each other, those of others do not wait', async () => {
    const store = make();
    let inside = 0;
    let most = 0;
    const held: boolean[] = [];
    await Promise.all(
      Array.from({ length: 12 }, () =>
        withLock(store, 'k', async (lease) => {
          held.push(lease.held);
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setImmediate(resolve));
          inside--;
        }),
      ),
    );
    expect(held).toEqual(Array(12).fill(true));
    expect(most).toBe(1);
    const nested = await withLock(store, 'one', () => withLock(store, '../two', (two) => two.held));
    expect(nested).toBe(true);
    expect(locks(store)).toBe(0);
  });

  test('the result and the error of the work come through, the lock is free again', async () => {
    const store = make();
    const failure = new Error('work');
    await expect(withLock(store, 'k', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await withLock(store, 'k', () => 7)).toBe(7);
    expect(locks(store)).toBe(0);
  });

  test('waiting ends: the work is done without the lock and told so', async () => {
    const store = make();
    const inner = await withLock(store, 'k', () =>
      withLock(store, 'k', (lease) => lease.held, { waitMs: 30 }),
    );
    expect(inner).toBe(false);
  });

  test('an aborted wait throws the reason of the signal', async () => {
    const store = make();
    const controller = new AbortController();
    const reason = new Error('stop');
    let ran = false;
    await withLock(store, 'k', async () => {
      const waiting = withLock(
        store,
        'k',
        () => {
          ran = true;
        },
        { signal: controller.signal },
      );
      controller.abort(reason);
      await expect(waiting).rejects.toBe(reason);
    });
    expect(ran).toBe(false);
  });

  test('a lock whose holder died is taken over', async () => {
    const store = make();
    await store.createFolder(lockPath('k'));
    const old = new Date(Date.now() - 60_000);
    await new Promise<void>((resolve) => {
      store.fs.utimes(store.locate(lockPath('k')), old, old, () => resolve());
    });
    expect(await withLock(store, 'k', (lease) => lease.held, { waitMs: 1000 })).toBe(true);
  });

  test('a lock from the future and one with a stray file only cost the wait', async () => {
    const store = make();
    const future = new Date(Date.now() + 3_600_000);
    await store.createFolder(lockPath('future'));
    await new Promise<void>((resolve) => {
      store.fs.utimes(store.locate(lockPath('future')), future, future, () => resolve());
    });
    await store.createFolder(lockPath('stray'));
    await store.put(`${lockPath('stray')}/file`, new Uint8Array(1));
    const old = new Date(Date.now() - 60_000);
    await new Promise<void>((resolve) => {
      store.fs.utimes(store.locate(lockPath('stray')), old, old, () => resolve());
    });
    expect(await withLock(store, 'future', (lease) => lease.held, { waitMs: 20 })).toBe(false);
    expect(await withLock(store, 'stray', (lease) => lease.held, { waitMs: 20 })).toBe(false);
  });

  test('a lock removed by somebody else does no harm on release', async () => {
    const store = make();
    const result = await withLock(store, 'k', async () => {
      store.fs.rmdirSync(store.locate(lockPath('k')));
      return 'done';
    });
    expect(result).toBe('done');
    expect(await withLock(store, 'k', (lease) => lease.held)).toBe(true);
  });
});

test('waiting is jittered by the environment and bounded', async () => {
  const store = memory();
  const sleeps: number[] = [];
  let now = 0;
  const env = {
    ...systemEnv,
    now: () => now,
    random: () => 0.5,
    sleep: async (ms: number) => {
      sleeps.push(ms);
      now += ms;
    },
  };
  await withLock(store, 'k', async () => {
    const held = await withLock(store, 'k', (lease) => lease.held, { waitMs: 1000, env });
    expect(held).toBe(false);
  });
  expect(sleeps.reduce((total, ms) => total + ms, 0)).toBeCloseTo(1000);
  expect(Math.max(...sleeps)).toBeLessThanOrEqual(300);
  expect(sleeps.length).toBeLessThan(20);
});

test('a frozen file system is fine', async () => {
  const fs = Object.freeze({ ...nodeFs });
  const store = openFileStore({ root: temporaryFolder(), fs });
  expect(await withLock(store, 'k', (lease) => lease.held)).toBe(true);
  const memfs = Object.freeze({ ...createFsFromVolume(new Volume()) }) as unknown as FileSystem;
  expect(await withLock(openFileStore({ root: '/c', fs: memfs }), 'k', (lease) => lease.held)).toBe(
    true,
  );
});

test('equal paths in two volumes are two locks', async () => {
  const first = memory();
  const second = memory();
  const held = await withLock(first, 'k', () => withLock(second, 'k', (lease) => lease.held));
  expect(held).toBe(true);
  expect(locks(first) + locks(second)).toBe(0);
});

test('read-only stores run the work without a lock', async () => {
  const root = temporaryFolder();
  const store = openFileStore({ root, readOnly: true });
  expect(await withLock(store, 'k', (lease) => lease.held)).toBe(false);
  expect(nodeFs.readdirSync(root)).toEqual([]);
});

test.each(['mkdir', 'stat', 'utimes', 'rmdir'])(
  'a failing %s never fails the work',
  async (call) => {
    for (const kind of ['EIO', 'EACCES', 'ENOSPC', 'EROFS', 'ENOENT']) {
      const faulty = new FaultyFs(memory().fs);
      const store = openFileStore({ root: '/c', fs: faulty.fs });
      await store.createFolder('.dirspace/locks');
      for (const persistent of [false, true]) {
        faulty.arm({ at: 1, kind, only: [call], persistent });
        expect(await withLock(store, `k${persistent}`, () => 7, { waitMs: 20 })).toBe(7);
      }
    }
  },
);
