/** Nothing outside the root is read, written or removed through a link inside it. */
import { execFileSync } from 'node:child_process';
import nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import { beforeEach, describe, expect, test } from 'vitest';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const one = new Uint8Array([9]);
const places = {
  disk: (): { fs: typeof nodeFs; base: string } => ({ fs: nodeFs, base: temporaryFolder() }),
  memfs: (): { fs: typeof nodeFs; base: string } => {
    const fs = createFsFromVolume(new Volume());
    fs.mkdirSync('/base');
    return { fs: fs as unknown as typeof nodeFs, base: '/base' };
  },
};

describe.each(Object.entries(places))('links inside the root: %s', (_name, place) => {
  let store: FileStore;
  let fs: typeof nodeFs;
  let outside: string;

  beforeEach(() => {
    const { fs: given, base } = place();
    fs = given;
    outside = `${base}/outside`;
    fs.mkdirSync(`${outside}/folder`, { recursive: true });
    fs.writeFileSync(`${outside}/secret`, 'secret');
    fs.writeFileSync(`${outside}/folder/file`, 'secret');
    store = openFileStore({ root: `${base}/root`, fs });
    fs.mkdirSync(`${store.root}/ns/t.table`, { recursive: true });
    fs.mkdirSync(`${store.root}/other`);
    fs.symlinkSync(outside, `${store.root}/ns/link`);
    fs.symlinkSync(`${outside}/folder`, `${store.root}/ns/t.table/data`);
    fs.symlinkSync(`${outside}/secret`, `${store.root}/ns/file`);
    fs.symlinkSync(`${outside}/absent`, `${store.root}/ns/dangling`);
    fs.symlinkSync('loop', `${store.root}/ns/loop`);
  });

  const untouched = (): void => {
    expect(fs.readdirSync(outside).sort()).toEqual(['folder', 'secret']);
    expect(fs.readdirSync(`${outside}/folder`)).toEqual(['file']);
    expect(fs.readFileSync(`${outside}/secret`, 'utf8')).toBe('secret');
  };

  test.each(['ns/file', 'ns/dangling', 'ns/loop', 'ns/link'])('reading %s is refused', (path) => {
    expect(() => store.get(path)).toThrow(/symbolic link/);
    expect(() => store.open(path)).toThrow(/symbolic link/);
    expect(() => store.head(path)).toThrow(`\`${path}\` is a symbolic link`);
  });

  test.each([
    ['ns/link', 'ns/link'],
    ['ns/link/folder', 'ns/link'],
    ['ns/link/absent', 'ns/link'],
    ['ns/t.table/data', 'ns/t.table/data'],
    ['ns/dangling', 'ns/dangling'],
    ['ns/dangling/x', 'ns/dangling'],
    ['ns/loop', 'ns/loop'],
  ])('no call goes through %s', async (folder, link) => {
    const refused = {
      code: 'InvalidInput',
      message: `\`${link}\` is a symbolic link, and links inside a catalog are not followed`,
    };
    expect(() => store.enter(folder)).toThrow(expect.objectContaining(refused));
    expect(() => store.list(folder)).toThrow(expect.objectContaining(refused));
    expect(() => store.create(`${folder}/x`)).toThrow(expect.objectContaining(refused));
    expect(() => store.create(`${folder}/x/y`)).toThrow(expect.objectContaining(refused));
    expect(() => store.delete(`${folder}/file`)).toThrow(expect.objectContaining(refused));
    expect(() => store.putHint(`${folder}/file`, one)).toThrow(expect.objectContaining(refused));
    await expect(store.putIfAbsent(`${folder}/x`, one)).rejects.toMatchObject(refused);
    await expect(store.put(`${folder}/file`, one)).rejects.toMatchObject(refused);
    await expect(store.createFolder(`${folder}/x/y`)).rejects.toMatchObject(refused);
    await expect(store.syncFolders([folder])).rejects.toMatchObject(refused);
    await expect(store.deleteFolder(`${folder}/folder`)).rejects.toMatchObject(refused);
    await expect(store.moveFolder(`${folder}/folder`, 'stolen')).rejects.toMatchObject(refused);
    await expect(store.moveFolder('other', `${folder}/t`)).rejects.toMatchObject(refused);
    untouched();
  });

  test('a link in the place of its own folder is refused where the one above was entered', () => {
    for (const folder of ['ns/t.table/data', 'ns/link', 'ns/dangling', 'ns/loop'])
      expect(() => store.create(`${folder}/x`, true)).toThrow(`\`${folder}\` is a symbolic link`);
    untouched();
  });

  test('reads refuse a link in the place of the folder they read from', () => {
    fs.writeFileSync(`${outside}/folder/x.arrow`, 'secret');
    for (const [path, link] of [
      ['ns/t.table/data/x.arrow', 'ns/t.table/data'],
      ['ns/link/secret', 'ns/link'],
    ] as const) {
      const refused = expect.objectContaining({
        code: 'InvalidInput',
        message: expect.stringContaining(`\`${link}\` is a symbolic link`),
      });
      expect(() => store.get(path)).toThrow(refused);
      expect(() => store.open(path)).toThrow(refused);
    }
  });

  test('a link is never a folder to move, remove or make', async () => {
    await expect(store.deleteFolder('ns/link')).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(store.moveFolder('ns/link', 'x')).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(store.createFolder('ns/link')).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(store.createFolder('ns/dangling')).rejects.toMatchObject({ code: 'InvalidInput' });
    expect(await store.moveFolder('ns/t.table', 'ns/dangling')).toBe('taken');
    untouched();
  });

  test('writes to a linked name leave its target alone', async () => {
    expect(await store.putIfAbsent('ns/dangling', one)).toBe(false);
    expect(await store.putIfAbsent('ns/file', one)).toBe(false);
    expect(() => store.create('ns/dangling')).toThrow();
    store.putHint('ns/file', one);
    store.putHint('ns/dangling', one);
    untouched();
    await store.put('ns/file', one);
    expect(await store.get('ns/file')).toEqual(one);
    expect(store.delete('ns/dangling')).toBe(true);
    untouched();
  });

  test('a tree with links is removed, and their targets stay', async () => {
    const listed = store.list('ns')?.map(({ name, kind }) => `${name} ${kind}`);
    expect(listed?.sort()).toEqual([
      'dangling other',
      'file other',
      'link other',
      'loop other',
      't.table folder',
    ]);
    expect(store.list('ns/t.table')).toEqual([{ name: 'data', kind: 'other' }]);
    await store.deleteFolder('ns');
    expect(store.enter('ns')).toBe(false);
    untouched();
  });

  test('private folders that are links are refused by the probe', () => {
    fs.symlinkSync(`${outside}/folder`, `${store.root}/.dirspace`);
    expect(() => store.probe()).toThrow(/symbolic link/);
    untouched();
  });
});

test('a named pipe in the place of a file does not stop the process', async () => {
  const store = openFileStore({ root: temporaryFolder() });
  execFileSync('mkfifo', [store.locate('pipe')]);
  expect(() => store.open('pipe')).toThrow(/not a file/);
  store.putHint('pipe', one);
  expect(store.head('pipe')).toBeUndefined();
  expect(store.list('')).toEqual([{ name: 'pipe', kind: 'other' }]);
});
