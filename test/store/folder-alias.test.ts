/** Second paths of folders, for other programs. */
import nodeFs from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const one = new Uint8Array([9]);
let root: string;
let store: FileStore;
beforeEach(async () => {
  root = `${temporaryFolder()}/root`;
  store = openFileStore({ root });
  await store.createFolder('a/t');
  await store.put('a/t/file', one);
});

test('a link leads to the folder, and follows where it is asked to lead elsewhere', async () => {
  expect(store.alias('links/x', 'a/t')).toBe(true);
  expect(store.alias('links/x', 'a/t')).toBe(true);
  expect(nodeFs.readlinkSync(`${root}/links/x`)).toBe('../a/t');
  expect(nodeFs.readFileSync(`${root}/links/x/file`)).toEqual(Buffer.from(one));
  // The folder need not be there.
  expect(store.alias('links/x', 'b/u')).toBe(true);
  expect(nodeFs.readlinkSync(`${root}/links/x`)).toBe('../b/u');
  expect(nodeFs.readdirSync(`${root}/links`)).toEqual(['x']);
  expect(() => store.get('links/x/file')).toThrow(/symbolic link/);
});

test('what stands at the name stays', async () => {
  await store.createFolder('links/folder');
  await store.put('links/file', one);
  expect(store.alias('links/folder', 'a/t')).toBe(false);
  expect(store.alias('links/file', 'a/t')).toBe(false);
  expect(nodeFs.readdirSync(`${root}/links`).sort()).toEqual(['file', 'folder']);
  expect(store.get('links/file')).toEqual(one);
});

test('a path out of the root, or below a link, is refused', () => {
  expect(() => store.alias('links/x', '../other')).toThrow(/not a path inside/);
  expect(() => store.alias('../x', 'a/t')).toThrow(/not a path inside/);
  nodeFs.symlinkSync(`${root}/a`, `${root}/links`);
  expect(() => store.alias('links/x', 'a/t')).toThrow(/symbolic link/);
});

test('a read-only store knows links that are there, and makes none', () => {
  const reader = openFileStore({ root, readOnly: true });
  expect(reader.alias('links/x', 'a/t')).toBe(false);
  expect(nodeFs.existsSync(`${root}/links`)).toBe(false);
  store.alias('links/x', 'a/t');
  expect(reader.alias('links/x', 'a/t')).toBe(true);
  expect(reader.alias('links/x', 'b/u')).toBe(false);
});

test.each([['symlinkSync'], ['readlinkSync']])('a file system without %s has none', (name) => {
  const fs = memoryFs();
  fs.mkdirSync('/r/a', { recursive: true });
  expect(openFileStore({ root: '/r', fs }).alias('links/x', 'a')).toBe(true);
  const plain = openFileStore({ root: '/r', fs: { ...fs, [name]: undefined } as never });
  expect(plain.alias('links/y', 'a')).toBe(false);
  expect(fs.readdirSync('/r/links')).toEqual(['x']);
});

test('a file system that refuses links keeps nothing of one', () => {
  const fs = memoryFs();
  fs.mkdirSync('/r/a', { recursive: true });
  const refusing = {
    ...fs,
    symlinkSync: () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    },
  };
  expect(openFileStore({ root: '/r', fs: refusing as never }).alias('links/x', 'a')).toBe(false);
  expect(fs.readdirSync('/r/links')).toEqual([]);
});
