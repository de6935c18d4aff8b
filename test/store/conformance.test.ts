import nodeFs, * as nodeFsModule from 'node:fs';
import { createFsFromVolume, fs as sharedMemFs, Volume } from 'memfs';
import { expect, test } from 'vitest';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { temporaryFolder } from '../helpers/temporary.ts';
import { storeSuite } from '../suites/store-suite.ts';

storeSuite('disk, full durability', () => openFileStore({ root: temporaryFolder() }));
storeSuite('disk, relaxed', () =>
  openFileStore({ root: temporaryFolder(), durability: 'relaxed' }),
);
storeSuite('memfs', () =>
  openFileStore({ root: '/catalog', fs: createFsFromVolume(new Volume()) }),
);
storeSuite('memfs, relaxed', () =>
  openFileStore({
    root: '/some/catalog',
    fs: createFsFromVolume(new Volume()),
    durability: 'relaxed',
  }),
);

test('node:fs, its namespace object and memfs have the shape asked for', () => {
  const shapes: FileSystem[] = [nodeFs, nodeFsModule, sharedMemFs];
  expect(shapes).toHaveLength(3);
  expect(openFileStore({ root: temporaryFolder(), fs: nodeFsModule }).fs).toBe(nodeFs);
});

test('read-only creates nothing and refuses every write', async () => {
  const parent = temporaryFolder();
  const root = `${parent}/absent`;
  const absent = openFileStore({ root, readOnly: true });
  expect(absent.list('')).toBeUndefined();
  expect(await absent.get('x')).toBeUndefined();
  expect(nodeFs.existsSync(root)).toBe(false);

  const writable = openFileStore({ root });
  await writable.createFolder('a');
  await writable.put('a/x', new Uint8Array(3));
  const store = openFileStore({ root, readOnly: true });
  const one = new Uint8Array(1);
  for (const call of [
    () => store.putIfAbsent('a/y', one),
    () => store.link('a/x', 'a/y'),
    () => store.put('a/x', one),
    () => store.putHint('a/x', one),
    () => store.create('a/y'),
    () => store.delete('a/x'),
    () => store.createFolder('b'),
    () => store.moveFolder('a', 'b'),
    () => store.deleteFolder('a'),
  ]) {
    await expect((async () => call())()).rejects.toMatchObject({ code: 'ReadOnly' });
  }
  expect(store.probe()).toEqual({ hardLinks: true, foldsCase: false });
  expect((await store.get('a/x'))?.length).toBe(3);
  expect(nodeFs.readdirSync(root)).toEqual(['a']);
});

test.each(['EPERM', 'EMLINK', 'ENOSYS', 'EOPNOTSUPP', 'EXDEV'])(
  'a file system that answers a link with %s has none',
  (code) => {
    const fs = { ...createFsFromVolume(new Volume()) } as unknown as FileSystem;
    fs.linkSync = () => {
      throw Object.assign(new Error(code), { code });
    };
    expect(openFileStore({ root: '/c', fs }).probe().hardLinks).toBe(false);
  },
);

test('the root is made canonical once and created with its parents', async () => {
  const parent = temporaryFolder();
  nodeFs.mkdirSync(`${parent}/real`);
  nodeFs.symlinkSync(`${parent}/real`, `${parent}/alias`);
  const store = openFileStore({ root: `${parent}/alias/deep/er` });
  expect(store.root).toBe(`${parent}/real/deep/er`);
  await store.put('x', new Uint8Array(1));
  expect(nodeFs.readdirSync(`${parent}/real/deep/er`)).toEqual(['x']);
  expect(() => openFileStore({ root: `${parent}/real/deep/er/x/below` })).toThrow();
});

test('files and folders are private to their owner', async () => {
  const store = openFileStore({ root: temporaryFolder() });
  await store.createFolder('a');
  await store.put('a/x', new Uint8Array(1));
  const writer = store.create('a/y');
  await writer.finish();
  expect(nodeFs.statSync(store.locate('a')).mode & 0o777).toBe(0o700);
  expect(nodeFs.statSync(store.locate('a/x')).mode & 0o777).toBe(0o600);
  expect(nodeFs.statSync(store.locate('a/y')).mode & 0o777).toBe(0o600);
});

test('the whole machine as root', async () => {
  const store = openFileStore({ root: '/', fs: createFsFromVolume(new Volume()) });
  expect(store.root).toBe('/');
  await store.put('x', new Uint8Array(1));
  expect(store.list('')).toEqual([{ name: 'x', kind: 'file' }]);
  expect(store.enter('')).toBe(true);
});
