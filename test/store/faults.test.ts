/** Every file system call of every write fails once, in every way: old state or new, no third. */
import nodeFs from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Durability } from '../../src/store/disk/disk.ts';
import { strictFileSystem, trustFileSystem } from '../../src/store/disk/strict-fs.ts';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { type Fault, FaultyFs, Killed } from '../helpers/faulty-fs.ts';
import { LONG } from '../helpers/long.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';
import { grow, type Tree, treeOf } from '../helpers/trees.ts';

const small = new Uint8Array(2000).fill(7);
const large = new Uint8Array(200_000).fill(8);
const old = new Uint8Array(3000).fill(1);

type State = 'old' | 'new';

interface Case {
  run(store: FileStore): Promise<unknown>;
  /** What is there now; throws on anything between. */
  state(store: FileStore): Promise<State>;
  /** The one right answer when nothing else touches the store. */
  readonly answer: unknown;
  /** Success does not promise anything. */
  readonly lossy?: true;
  /** A plain error means that nothing changed. */
  readonly exact: boolean;
}

async function stateOf(
  store: FileStore,
  path: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): Promise<State> {
  const found = await store.get(path);
  const same = (expected: Uint8Array | undefined): boolean =>
    expected === undefined || found === undefined
      ? expected === found
      : Buffer.compare(found, expected) === 0;
  if (same(after)) return 'new';
  if (same(before)) return 'old';
  throw new Error(`${path} has ${found?.length} bytes, neither the old nor the new ones`);
}

const put = (bytes: Uint8Array): Case => ({
  run: (store) => store.putIfAbsent('t/new', bytes),
  state: (store) => stateOf(store, 't/new', undefined, bytes),
  answer: true,
  exact: true,
});
const replace = (bytes: Uint8Array): Case => ({
  run: (store) => store.put('t/old', bytes),
  state: (store) => stateOf(store, 't/old', old, bytes),
  answer: undefined,
  exact: false,
});

const CASES: Readonly<Record<string, Case>> = {
  'putIfAbsent, small': put(small),
  'putIfAbsent, large': put(large),
  'putIfAbsent, taken': {
    run: (store) => store.putIfAbsent('t/old', small),
    state: (store) => stateOf(store, 't/old', undefined, old),
    answer: false,
    exact: false,
  },
  link: {
    run: (store) => store.link('t/old', 't/new'),
    state: (store) => stateOf(store, 't/new', undefined, old),
    answer: true,
    exact: false,
  },
  'put, small': replace(small),
  'put, large': replace(large),
  create: {
    async run(store) {
      const writer = store.create('t/data/new');
      try {
        await writer.write([small, large]);
        return await writer.finish();
      } catch (error) {
        await writer.abort();
        throw error;
      }
    },
    // Nothing refers to the name before finish() has resolved, so what is there till then is free.
    state: async (store) =>
      store.head('t/data/new')?.size === small.length + large.length ? 'new' : 'old',
    answer: small.length + large.length,
    exact: false,
  },
  createFolder: {
    run: (store) => store.createFolder('t/p/q'),
    state: async (store) => (store.enter('t/p/q') ? 'new' : 'old'),
    answer: undefined,
    exact: false,
  },
  moveFolder: {
    run: (store) => store.moveFolder('t/from', 'u/to'),
    async state(store) {
      const [from, to] = [store.enter('t/from'), store.enter('u/to')];
      if (from === to) throw new Error(`source there: ${from}, target there: ${to}`);
      const marker = await store.get(to ? 'u/to/marker' : 't/from/marker');
      if (marker?.length !== old.length) throw new Error('the folder lost its content');
      return to ? 'new' : 'old';
    },
    answer: 'moved',
    exact: true,
  },
  deleteFolder: {
    run: (store) => store.deleteFolder('t/from'),
    state: async (store) => (store.enter('t/from') ? 'old' : 'new'),
    answer: undefined,
    exact: false,
  },
  delete: {
    run: async (store) => store.delete('t/old'),
    state: (store) => stateOf(store, 't/old', old, undefined),
    answer: true,
    exact: false,
  },
  'putIfAbsent by way of a folder': {
    ...put(small),
    run: (store) => store.putIfAbsent('t/new', small, undefined, 'u'),
  },
  'put by way of a folder': {
    ...replace(small),
    run: (store) => store.put('t/old', small, 'u'),
  },
  'delete by way of a folder': {
    run: async (store) => store.delete('t/old', 'u'),
    state: (store) => stateOf(store, 't/old', old, undefined),
    answer: true,
    exact: false,
  },
  putHint: {
    run: async (store) => store.putHint('t/hint', small),
    // A hint may be lost or torn.
    state: async (store) => (store.head('t/hint') === undefined ? 'old' : 'new'),
    answer: undefined,
    lossy: true,
    exact: false,
  },
};

async function first(): Promise<Tree> {
  const fs = memoryFs();
  const store = openFileStore({ root: '/c', fs: strictFileSystem(fs), durability: 'relaxed' });
  for (const folder of ['t/from', 'u']) await store.createFolder(folder);
  for (const path of ['t/old', 't/from/marker', 'u/other']) await store.put(path, old);
  return treeOf(fs, '/c');
}
let tree: Tree;
beforeAll(async () => {
  tree = await first();
});

async function prepare(durability: Durability): Promise<[FaultyFs, FileStore, FileStore]> {
  const base = strictFileSystem(grow(tree, '/c'));
  const faulty = new FaultyFs(base);
  const clean = openFileStore({ root: '/c', fs: base, durability });
  return [faulty, openFileStore({ root: '/c', fs: faulty.fs, durability }), clean];
}

const faults: Omit<Fault, 'at'>[] = [
  { kind: 'short' },
  { kind: 'kill' },
  { kind: 'kill', after: true },
];
for (const [index, kind] of ['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'EROFS'].entries()) {
  const ways = [false, true].flatMap((persistent) =>
    [false, true].map((after) => ({ kind, persistent, after })),
  );
  // A usual run sees EIO in every way, and each of the others in one, all of them together in all.
  faults.push(...ways.filter((_, way) => LONG || kind === 'EIO' || way === index % ways.length));
}

describe.each(['full', 'relaxed'] as const)('faults, durability %s', (durability) => {
  test.each(Object.entries(CASES))('%s', async (_name, each) => {
    let runs = 0;
    for (const fault of faults) {
      for (let at = 1; ; at++) {
        const [faulty, store, clean] = await prepare(durability);
        faulty.arm({ ...fault, at });
        const label = `${JSON.stringify({ ...fault, at })} in ${faulty.log.join(' ')}`;
        const result = await each.run(store).then(
          (answer) => ({ answer }),
          (error: unknown) => ({ error }),
        );
        const { fired, log } = faulty;
        const state = await each.state(clean);
        if ('answer' in result) {
          expect(result.answer, label).toBe(each.answer);
          if (fault.kind !== 'kill' && !each.lossy) expect([state, label]).toEqual(['new', label]);
        } else if (!(result.error instanceof Killed)) {
          expect(each.lossy, label).toBeUndefined();
          const { code } = result.error as { code?: string };
          expect(result.error, label).toMatchObject({ name: 'DirspaceError' });
          expect(
            ['Internal', 'ResourceExhausted', 'PermissionDenied', 'ReadOnly', 'CommitStateUnknown'],
            label,
          ).toContain(code);
          if (code === 'CommitStateUnknown') expect(state, label).toBe('new');
          else if (each.exact)
            expect([state, log.join(' '), label]).toEqual(['old', log.join(' '), label]);
        }
        if (
          fault.kind !== 'kill' &&
          !fault.persistent &&
          !/^(open|close)Sync$/.test(log[at - 1] ?? '')
        ) {
          const count = (name: string): number => log.filter((call) => call === name).length;
          expect(count('closeSync'), label).toBe(count('openSync'));
        }
        // The store works on, whatever was left behind.
        faulty.arm();
        for (const folder of ['t', 'u']) {
          for (const entry of clean.list(folder) ?? []) {
            expect(entry.name).toMatch(/^(\.tmp-.*|old|new|hint|data|from|to|p|other)$/);
          }
        }
        if (state === 'old' && each !== CASES.create) {
          await each.run(store);
          expect(await each.state(clean), label).toBe('new');
        }
        runs++;
        if (!fired) break;
      }
    }
    expect(runs).toBeGreaterThan(faults.length * 2);
  });
});

test.each(['EIO', 'EACCES', 'ENOENT'])(
  'what was moved out of its place counts as deleted, whatever %s keeps of it',
  async (kind) => {
    const [faulty, store, clean] = await prepare('full');
    faulty.arm({ kind, at: 1, only: ['unlinkSync'] });
    expect(store.delete('t/old', 'u')).toBe(true);
    expect(faulty.fired).toBe(true);
    expect(await clean.get('t/old')).toBeUndefined();
    expect(store.delete('t/old', 'u')).toBe(false);
  },
);

describe.each(['full', 'relaxed'] as const)('an error of close, durability %s', (durability) => {
  const names = ['putIfAbsent, small', 'putIfAbsent, large', 'put, small', 'put, large', 'create'];
  // Without flushes it is the only sign that the disk did not take the bytes.
  test.each(names)('%s fails with it and leaves the old state', async (name) => {
    const each = CASES[name] as Case;
    for (const after of [false, true]) {
      const [faulty, store, clean] = await prepare(durability);
      // The first file closed is the one that was written.
      faulty.arm({ at: 1, kind: 'EIO', only: ['closeSync'], after });
      await expect(each.run(store)).rejects.toMatchObject({ code: 'Internal' });
      expect(faulty.fired).toBe(true);
      expect(await each.state(clean)).toBe('old');
    }
  });
});

test('a folder whose name could not be flushed is gone, so that the next caller makes it anew', async () => {
  const [faulty, store, clean] = await prepare('full');
  faulty.arm({ at: 1, kind: 'EIO', only: ['fsync'] });
  await expect(store.createFolder('t/p/q')).rejects.toMatchObject({ code: 'Internal' });
  expect(clean.enter('t/p')).toBe(false);
  faulty.arm();
  await store.createFolder('t/p/q');
  expect(faulty.log.filter((call) => call === 'fsync')).toHaveLength(2);
  faulty.arm({ at: 1, kind: 'EIO', only: ['fsync'] });
  await clean.put('t/p/q/file', small);
  await expect(store.createFolder('t/p/q/r')).rejects.toMatchObject({ code: 'Internal' });
  expect([clean.enter('t/p/q/r'), clean.enter('t/p/q')]).toEqual([false, true]);
});

describe('what each error is called', () => {
  test.each([
    ['ENOSPC', 'ResourceExhausted'],
    ['EDQUOT', 'ResourceExhausted'],
    ['EMFILE', 'ResourceExhausted'],
    ['ENFILE', 'ResourceExhausted'],
    ['EACCES', 'PermissionDenied'],
    ['EPERM', 'PermissionDenied'],
    ['EROFS', 'ReadOnly'],
    ['EIO', 'Internal'],
    ['EUNHEARDOF', 'Internal'],
  ])('%s is %s, its cause kept', async (kind, code) => {
    const [faulty, store] = await prepare('full');
    faulty.arm({ at: 1, kind, only: ['writeSync', 'readSync', 'readdirSync'] });
    const cause = { code: kind };
    await expect(store.putIfAbsent('t/x', small)).rejects.toMatchObject({ code, cause });
    faulty.arm({ at: 1, kind, only: ['readSync'] });
    expect(() => store.get('t/old')).toThrow(expect.objectContaining({ code }));
    faulty.arm({ at: 1, kind, only: ['readdirSync'] });
    expect(() => store.list('t')).toThrow(expect.objectContaining({ code }));
  });

  test('a link whose answer was lost counts as ours, a foreign one does not', async () => {
    const [faulty, store, clean] = await prepare('full');
    faulty.arm({ at: 1, kind: 'EEXIST', only: ['linkSync'], after: true });
    expect(await store.putIfAbsent('t/x', small)).toBe(true);
    expect((await clean.get('t/x'))?.length).toBe(small.length);
    faulty.arm({ at: 1, kind: 'EEXIST', only: ['linkSync'] });
    expect(await store.putIfAbsent('t/y', small)).toBe(false);
  });

  test('a rename whose answer was lost counts as done', async () => {
    const [faulty, store] = await prepare('full');
    faulty.arm({ at: 1, kind: 'ENOENT', only: ['renameSync'], after: true });
    expect(await store.moveFolder('t/from', 'u/to')).toBe('moved');
  });

  test('folders that cannot be flushed by nature are not an error', async () => {
    const [faulty, store] = await prepare('full');
    faulty.arm({ at: 1, kind: 'EINVAL', only: ['fsync'], persistent: true });
    expect(await store.putIfAbsent('t/x', small)).toBe(true);
  });
});

describe('a folder that appears at the target between the look of a move and its rename', () => {
  const move = async (hasFile: boolean): Promise<[outcome: string, files: string[]]> => {
    const fs = {
      ...nodeFs,
      renameSync: (from: string, to: string) => {
        nodeFs.mkdirSync(to);
        if (hasFile) nodeFs.writeFileSync(`${to}/theirs`, 'theirs');
        nodeFs.renameSync(from, to);
      },
    };
    const store = openFileStore({ root: temporaryFolder(), fs: trustFileSystem(fs) });
    await store.createFolder('from');
    await store.putIfAbsent('from/ours', small);
    const outcome = await store.moveFolder('from', 'to');
    return [outcome, nodeFs.readdirSync(store.root, { recursive: true }).map(String).sort()];
  };

  test('an empty one is replaced: it held nothing to lose', async () => {
    expect(await move(false)).toEqual(['moved', ['to', 'to/ours']]);
  });

  test('one with a file stays, and so does what was to be moved', async () => {
    expect(await move(true)).toEqual(['taken', ['from', 'from/ours', 'to', 'to/theirs']]);
  });
});

test('relaxed stores never flush, full ones flush before and after the name', async () => {
  const calls = async (durability: Durability): Promise<string[]> => {
    const [faulty, store] = await prepare(durability);
    faulty.arm();
    await store.putIfAbsent('t/x', small);
    return faulty.log.filter((name) => /fdatasync|fsync|linkSync|unlinkSync/.test(name));
  };
  expect(await calls('full')).toEqual(['fdatasync', 'linkSync', 'fsync', 'unlinkSync']);
  expect(await calls('relaxed')).toEqual(['linkSync', 'unlinkSync']);
});
