import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../src/env.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { isLocked, withLock } from '../../src/store/lock.ts';
import {
  hasDied,
  type ProcessIdentity,
  parseProcessTag,
  processTag,
  thisProcess,
} from '../../src/store/process-identity.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

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
    expect(isLocked(store, 'k')).toBe(false);
    expect(await withLock(store, 'k', () => [isLocked(store, 'k'), isLocked(store, 'j')])).toEqual([
      true,
      false,
    ]);
    expect(isLocked(store, 'k')).toBe(false);
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

  test('a lock of an older release whose holder died is taken over', async () => {
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
      store.fs.unlinkSync(store.locate(lockPath('k')));
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

test.each([
  'openSync',
  'writeSync',
  'readSync',
  'lstatSync',
  'unlinkSync',
  'renameSync',
  'linkSync',
])('a failing %s never fails the work', async (call) => {
  for (const kind of ['EIO', 'EACCES', 'ENOSPC', 'EROFS', 'ENOENT']) {
    const faulty = new FaultyFs(memory().fs);
    const store = openFileStore({ root: '/c', fs: faulty.fs });
    await store.createFolder('.dirspace/locks');
    for (const persistent of [false, true]) {
      faulty.arm({ at: 1, kind, only: [call], persistent });
      expect(await withLock(store, `k${persistent}`, () => 7, { waitMs: 20 })).toBe(7);
    }
  }
});

describe('a holder that is dead', () => {
  const DEAD = { host: thisProcess().host, pid: 0x7ffffff0, start: 77 };
  const markOf = (identity: ProcessIdentity): Uint8Array =>
    Buffer.from(`${processTag(identity)} 00000000-0000-4000-8000-000000000000\n`);
  const left = async (store: FileStore, mark: Uint8Array): Promise<void> => {
    await store.createFolder('.dirspace/locks');
    await store.put(lockPath('k'), mark);
  };
  /** Whether the lock was had, and what was slept for it. */
  async function taken(store: FileStore): Promise<[boolean, number]> {
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      slept += ms;
    };
    const began = Date.now();
    const env = { ...systemEnv, sleep };
    const waits = { now: () => began + slept, random: () => 0.5 };
    const held = await withLock(store, 'k', (lease) => lease.held, {
      env: { ...env, ...waits },
      waitMs: 1000,
    });
    return [held, slept];
  }

  test('is noticed without waiting, whatever the age of its lock', async () => {
    const store = memory();
    await left(store, markOf(DEAD));
    expect(await taken(store)).toEqual([true, 0]);
    expect(locks(store)).toBe(0);
  });

  test.each([
    ['of another machine', { ...DEAD, host: '00000000' }],
    ['that lives', thisProcess()],
  ])('is not one %s: its lock is waited for, and taken over once it is silent', async (_, who) => {
    const store = memory();
    await left(store, markOf(who));
    expect(await taken(store)).toEqual([false, expect.closeTo(1000)]);
    const old = new Date(Date.now() - 31_000);
    await new Promise<void>((done) =>
      store.fs.utimes(store.locate(lockPath('k')), old, old, () => done()),
    );
    expect(await taken(store)).toEqual([true, 0]);
  });

  test.skipIf(process.platform !== 'linux')(
    'is one whose number has passed on to another',
    async () => {
      const store = memory();
      await left(store, markOf({ ...thisProcess(), start: thisProcess().start + 1 }));
      expect(await taken(store)).toEqual([true, 0]);
    },
  );

  test.each([
    ['empty', ''],
    ['no mark', 'x'.repeat(5000)],
    ['a UUID', systemEnv.uuid()],
  ])('is not told by a lock that says nothing of it: %s', async (_, text) => {
    const store = memory();
    await left(store, Buffer.from(text));
    expect((await taken(store))[0]).toBe(false);
  });

  test('who moves away a lock made anew meanwhile puts it back', async () => {
    const store = memory();
    await left(store, markOf(DEAD));
    const fresh = markOf(thisProcess());
    const rename = store.fs.renameSync.bind(store.fs);
    (store.fs as { renameSync: typeof rename }).renameSync = (from, to) => {
      if (from.endsWith(lockPath('k'))) store.fs.unlinkSync(from);
      if (from.endsWith(lockPath('k'))) {
        const fd = store.fs.openSync(from, 'w');
        store.fs.writeSync(fd, fresh, 0, fresh.length, null);
        store.fs.closeSync(fd);
      }
      rename(from, to);
    };
    expect((await taken(store))[0]).toBe(false);
    expect(Buffer.from((await store.get(lockPath('k'))) as Uint8Array)).toEqual(fresh);
    expect(locks(store)).toBe(1);
  });

  test('who finds it moved away by another takes the lock all the same', async () => {
    const store = memory();
    await left(store, markOf(DEAD));
    const rename = store.fs.renameSync.bind(store.fs);
    let moves = 0;
    (store.fs as { renameSync: typeof rename }).renameSync = (from, to) => {
      if (!from.endsWith(lockPath('k')) || moves++ >= 2) rename(from, to);
      else throw Object.assign(new Error('moved by another'), { code: 'ENOENT' });
    };
    expect((await taken(store))[0]).toBe(true);
    expect(moves).toBe(3);
  });

  test('who cannot put back a lock, as a third one has it by now, waits', async () => {
    const store = memory();
    await left(store, markOf(DEAD));
    const fresh = markOf(thisProcess());
    const [rename, link] = [
      store.fs.renameSync.bind(store.fs),
      store.fs.linkSync.bind(store.fs),
    ] as const;
    const write = (path: string): void => {
      const fd = store.fs.openSync(path, 'w');
      store.fs.writeSync(fd, fresh, 0, fresh.length, null);
      store.fs.closeSync(fd);
    };
    (store.fs as { renameSync: typeof rename }).renameSync = (from, to) => {
      if (from.endsWith(lockPath('k'))) write(from);
      rename(from, to);
    };
    (store.fs as { linkSync: typeof link }).linkSync = (from, to) => {
      if (to.endsWith(lockPath('k'))) write(to);
      link(from, to);
    };
    expect(await taken(store)).toEqual([false, expect.closeTo(1000)]);
    expect(Buffer.from((await store.get(lockPath('k'))) as Uint8Array)).toEqual(fresh);
    expect(locks(store)).toBe(1);
  });

  test('lets exactly one of many processes in at a time', async () => {
    const store = disk();
    const url = compiledModule('store/file-store.js');
    const victim = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, url, store.root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((done) => victim.stdout.once('data', done));
    const ended = new Promise((done) => victim.once('close', done));
    victim.kill('SIGKILL');
    await ended;
    expect(locks(store)).toBe(1);
    const results = await Promise.all(
      [0, 1, 2].map(
        () =>
          new Promise<{ held: boolean; alone: boolean; waited: number }>((done, failed) => {
            const child = spawn(
              process.execPath,
              ['--input-type=module', '-e', WAITER, url, store.root],
              {
                stdio: ['ignore', 'pipe', 'inherit'],
              },
            );
            let text = '';
            child.stdout.on('data', (chunk: Buffer) => {
              text += chunk;
            });
            child.on('error', failed);
            child.on('close', () => done(JSON.parse(text)));
          }),
      ),
    );
    expect(results.map(({ held, alone }) => [held, alone])).toEqual(Array(3).fill([true, true]));
    expect(locks(store)).toBe(0);
  });
});

const HOLDER = `
const [url, root] = process.argv.slice(1);
const { openFileStore } = await import(url);
const { withLock } = await import(new URL('lock.js', url));
setInterval(() => {}, 1000);
await withLock(openFileStore({ root }), 'k', () => {
  process.stdout.write('held');
  return new Promise(() => {});
});
`;

const WAITER = `
const [url, root] = process.argv.slice(1);
const { openFileStore } = await import(url);
const { withLock } = await import(new URL('lock.js', url));
const store = openFileStore({ root });
const found = await withLock(store, 'k', async ({ held }) => {
  const alone = await store.putIfAbsent('inside', new Uint8Array(1));
  await new Promise((resolve) => setTimeout(resolve, 20));
  store.delete('inside');
  return { held, alone };
});
console.log(JSON.stringify(found));
`;

describe('the identity of a process', () => {
  const here = { host: 'aaaaaaaa', pid: 1, start: 5 };
  const stat = (state: string, start: number) => `7 (a) b) ${state} ${'0 '.repeat(18)}${start} 0`;
  const throws = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };
  test.each([
    ['not there', throws('ESRCH'), () => '', true],
    ["somebody else's", throws('EPERM'), () => '', false],
    ['not told of', () => {}, throws('ENOENT'), false],
    ['the same', () => {}, () => stat('S', 9), false],
    ['another one', () => {}, () => stat('S', 10), true],
    ['ended and not buried', () => {}, () => stat('Z', 9), true],
    ['garbled', () => {}, () => '7 (a', false],
  ])('a process that is %s', (_, signal, text, dead) => {
    const table = { signal: signal as () => void, stat: text as () => string };
    expect(hasDied({ host: here.host, pid: 7, start: 9 }, table, here)).toBe(dead);
    expect(hasDied({ host: 'bbbbbbbb', pid: 7, start: 9 }, table, here)).toBe(false);
  });

  test('its tag is read back, and a UUID is none', () => {
    const identity = { host: '0123abcd', pid: 4_194_304, start: 2 ** 40 };
    expect(parseProcessTag(processTag(identity))).toEqual(identity);
    expect(parseProcessTag(`${processTag(identity)}-rest`)).toEqual(identity);
    for (let time = 0; time < 1000; time++) {
      expect(parseProcessTag(systemEnv.uuid())).toBeUndefined();
    }
    expect(thisProcess().pid).toBe(process.pid);
  });
});
