import nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import { afterEach, describe, expect, test } from 'vitest';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { type FolderWatch, type Hint, isHidden, watchFolder } from '../../src/store/watch.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const one = new Uint8Array(1);

interface Seen {
  readonly watch: FolderWatch;
  readonly hints: Hint[];
  readonly errors: unknown[];
  /** Resolves when the hints since `from` satisfy the condition. */
  until(condition: (hints: readonly Hint[]) => boolean, from?: number): Promise<void>;
}

const open: FolderWatch[] = [];
afterEach(async () => {
  for (const watch of open.splice(0)) await watch.close();
});

function observe(
  store: FileStore,
  options: { polling?: boolean; signal?: AbortSignal } = {},
): Seen {
  const hints: Hint[] = [];
  const errors: unknown[] = [];
  const waiting = new Set<() => void>();
  const watch = watchFolder(store.root, {
    fs: store.given,
    onHint: (hint) => {
      hints.push(hint);
      for (const check of [...waiting]) check();
    },
    onError: (error) => errors.push(error),
    ...options,
  });
  open.push(watch);
  const until: Seen['until'] = (condition, from = 0) =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!condition(hints.slice(from))) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { watch, hints, errors, until };
}

const paths = (hints: readonly Hint[]): (string | undefined)[] => hints.map((hint) => hint.path);
const hinted =
  (folder: string) =>
  (hints: readonly Hint[]): boolean =>
    paths(hints).includes(folder);
const rescanned = (hints: readonly Hint[]): boolean => hints.some((hint) => hint.rescan);

/** Follows a folder the way a caller does: a hint makes it look; true once all were found. */
function follow(store: FileStore, folder: string, expected: number) {
  return (hints: readonly Hint[]): boolean =>
    hints.length > 0 &&
    (store.list(folder)?.filter((entry) => !entry.name.startsWith('.')).length ?? 0) >= expected;
}

const disk = (): FileStore => openFileStore({ root: temporaryFolder(), durability: 'relaxed' });
const memory = (): FileStore =>
  openFileStore({ root: '/c', fs: createFsFromVolume(new Volume()), durability: 'relaxed' });

describe.each([
  ['disk', disk, {}],
  ['disk by polling', disk, { polling: true }],
  ['memfs', memory, {}],
] as const)('watch: %s', (_name, make, options) => {
  test('a rescan comes first, then hints for what is published', async () => {
    const store = make();
    await store.createFolder('ns/t.table/versions-1');
    const seen = observe(store, options);
    await seen.watch.ready;
    expect(seen.hints).toEqual([{ rescan: true }]);
    await store.putIfAbsent('ns/t.table/versions-1/1.json', one);
    await seen.until(hinted('ns/t.table/versions-1'));
    await store.createFolder('ns/u.table/versions-1');
    await seen.until(hinted('ns'));
    await seen.until(hinted('ns/u.table'));
    await store.putIfAbsent('ns/u.table/versions-1/1.json', one);
    await seen.until(hinted('ns/u.table/versions-1'));
    expect(seen.errors).toEqual([]);
  });

  test('a burst of 200 versions leads to all of them', async () => {
    const store = make();
    await store.createFolder('t.table/versions-1');
    const seen = observe(store, options);
    await seen.watch.ready;
    const from = seen.hints.length;
    for (let version = 1; version <= 200; version++) {
      await store.putIfAbsent(`t.table/versions-1/${version}`, one);
    }
    await seen.until(
      (hints) =>
        hinted('t.table/versions-1')(hints) && follow(store, 't.table/versions-1', 200)(hints),
      from,
    );
  });

  test('private, temporary and bulk names are never hinted', async () => {
    const store = make();
    await store.createFolder('t.table/data');
    await store.createFolder('t.table/deletions');
    await store.createFolder('.dirspace/staging');
    await store.createFolder('data');
    const seen = observe(store, options);
    await seen.watch.ready;
    await store.put('t.table/data/x', one);
    await store.put('t.table/deletions/x', one);
    await store.put('.dirspace/staging/x', one);
    await store.put('data/x', one);
    await seen.until(hinted('data'));
    const found = new Set(paths(seen.hints.slice(1)));
    for (const hidden of ['t.table/data', 't.table/deletions', '.dirspace', '.dirspace/staging']) {
      expect(found).not.toContain(hidden);
    }
  });

  test('a folder moved into place and one moved away are hinted', async () => {
    const store = make();
    await store.createFolder('ns');
    await store.createFolder('.dirspace/staging/x/versions-1');
    await store.createFolder('.dirspace/trash');
    const seen = observe(store, options);
    await seen.watch.ready;
    await store.moveFolder('.dirspace/staging/x', 'ns/t.table');
    await seen.until(hinted('ns'));
    const from = seen.hints.length;
    await store.moveFolder('ns/t.table', '.dirspace/trash/x');
    await seen.until(hinted('ns'), from);
  });

  test('nothing is called after close, which may come twice', async () => {
    const store = make();
    await store.createFolder('ns');
    const seen = observe(store, options);
    await seen.watch.ready;
    await store.put('ns/before', one);
    await seen.until(hinted('ns'));
    const closing = seen.watch.close();
    const count = seen.hints.length;
    await store.put('ns/after', one);
    await closing;
    await seen.watch.close();
    // Another watch that hears of a later change proves that the first had its chance.
    const other = observe(store, options);
    await other.watch.ready;
    await store.put('ns/later', one);
    await other.until(hinted('ns'));
    expect(seen.hints.length).toBe(count);
  });

  test('closing before readiness settles it, an aborted signal closes', async () => {
    const store = make();
    const early = observe(store, options);
    await early.watch.close();
    await early.watch.ready;
    expect(early.hints).toEqual([]);
    const controller = new AbortController();
    const seen = observe(store, { ...options, signal: controller.signal });
    await seen.watch.ready;
    controller.abort();
    await seen.watch.close();
    await store.put('x', one);
    expect(seen.hints).toEqual([{ rescan: true }]);
    expect(observe(store, { ...options, signal: AbortSignal.abort() }).hints).toEqual([]);
  });
});

describe('watch: what a system watcher misses', () => {
  test.each([0, 1, 10, 300])('a folder dropped and made anew after %i ms', async (gap) => {
    const store = disk();
    await store.createFolder('ns/t.table/tags');
    const seen = observe(store);
    await seen.watch.ready;
    const from = seen.hints.length;
    nodeFs.rmSync(store.locate('ns/t.table'), { recursive: true });
    if (gap > 0) await new Promise((resolve) => setTimeout(resolve, gap));
    nodeFs.mkdirSync(store.locate('ns/t.table/tags'), { recursive: true });
    await seen.until((hints) => rescanned(hints) || hinted('ns/t.table')(hints), from);
    // Once it is noticed, changes inside are: keep changing until one is.
    const after = seen.hints.length;
    await changeUntil(store, 'ns/t.table/tags', () => seen.until(hinted('ns/t.table/tags'), after));
  });

  test('a table renamed over the place of another', async () => {
    const store = disk();
    await store.createFolder('ns/t.table/tags');
    await store.createFolder('.dirspace/staging/new/tags');
    const seen = observe(store);
    await seen.watch.ready;
    await store.createFolder('.dirspace/trash');
    nodeFs.renameSync(store.locate('ns/t.table'), store.locate('.dirspace/trash/old'));
    nodeFs.renameSync(store.locate('.dirspace/staging/new'), store.locate('ns/t.table'));
    const after = seen.hints.length;
    await changeUntil(store, 'ns/t.table/tags', () => seen.until(hinted('ns/t.table/tags'), after));
  });

  test('the root removed and made anew', async () => {
    const store = disk();
    await store.createFolder('ns');
    const seen = observe(store);
    await seen.watch.ready;
    const from = seen.hints.length;
    nodeFs.rmSync(store.root, { recursive: true });
    await expect(store.createFolder('ns')).rejects.toMatchObject({ code: 'InvalidTableState' });
    await openFileStore({ root: store.root }).createFolder('ns');
    await seen.until(rescanned, from);
    const after = seen.hints.length;
    await changeUntil(store, 'ns', () => seen.until(hinted('ns'), after));
  });

  test('a root that appears only later', async () => {
    const root = `${temporaryFolder()}/later`;
    const reader = openFileStore({ root, readOnly: true });
    const seen = observe(reader);
    const writer = openFileStore({ root, durability: 'relaxed' });
    await seen.watch.ready;
    expect(seen.hints).toEqual([{ rescan: true }]);
    await writer.createFolder('ns');
    await seen.until(hinted(''));
  });
});

/** Restarts take their time, so changes go on until the watch has noticed one. */
async function changeUntil(
  store: FileStore,
  folder: string,
  noticed: () => Promise<void>,
): Promise<void> {
  let done = false;
  const waiting = noticed().then(() => {
    done = true;
  });
  for (let change = 0; !done; change++) {
    await store.put(`${folder}/change-${change % 5}`, one);
    await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100))]);
  }
}

test('two stores over one memfs volume hear each other, others do not', async () => {
  const fs = createFsFromVolume(new Volume());
  const first = openFileStore({ root: '/c', fs });
  const second = openFileStore({ root: '/c', fs });
  const inner = openFileStore({ root: '/c/ns', fs });
  const stranger = openFileStore({ root: '/c', fs: createFsFromVolume(new Volume()) });
  const seen = observe(second);
  const deaf = observe(stranger);
  const narrow = observe(inner);
  await Promise.all([seen.watch.ready, deaf.watch.ready, narrow.watch.ready]);
  await first.createFolder('other');
  await first.put('ns/x', one);
  await seen.until(hinted('ns'));
  await narrow.until(hinted(''));
  expect(paths(narrow.hints)).toEqual([undefined, '']);
  expect(deaf.hints).toEqual([{ rescan: true }]);
});

test('which paths are hidden', () => {
  for (const path of [
    '.dirspace',
    '.dirspace/x',
    'a/.tmp-1',
    'a/t.table/data',
    't.table/deletions/x',
  ]) {
    expect(isHidden(path)).toBe(true);
  }
  for (const path of [
    '',
    'data',
    'data/t.table',
    'a/data',
    'a/.dirspace',
    'a/t.table/versions-1',
  ]) {
    expect(isHidden(path)).toBe(false);
  }
});
