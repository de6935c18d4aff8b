import nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import { listDeep } from '../../src/store/deep-list.ts';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

describe.each([
  ['disk', () => openFileStore({ root: temporaryFolder(), durability: 'relaxed' })],
  ['memfs', () => openFileStore({ root: '/c', fs: createFsFromVolume(new Volume()) })],
] as const)('deep listing: %s', (_name, make: () => FileStore) => {
  const filled = async (): Promise<FileStore> => {
    const store = make();
    // Names that are patterns to a careless lister.
    for (const folder of ['par(en)/a', 'br{a,b}/a', '[x]', '!not', 'b*', '.hidden', 'empty']) {
      await store.createFolder(folder);
      if (folder !== 'empty') await store.put(`${folder}/file`, new Uint8Array(3));
    }
    await store.put('.tmp-1', new Uint8Array(1));
    return store;
  };

  test('everything is listed, in order, whatever its name', async () => {
    const store = await filled();
    const found = await listDeep(store, '', { depth: 9 });
    expect(found?.map(({ path }) => path)).toEqual([
      '!not',
      '!not/file',
      '.hidden',
      '.hidden/file',
      '.tmp-1',
      '[x]',
      '[x]/file',
      'b*',
      'b*/file',
      'br{a,b}',
      'br{a,b}/a',
      'br{a,b}/a/file',
      'empty',
      'par(en)',
      'par(en)/a',
      'par(en)/a/file',
    ]);
  });

  test.each(['par(en)', 'br{a,b}'])('inside %s', async (folder) => {
    const store = await filled();
    const found = await listDeep(store, folder, { depth: 9, stats: true });
    expect(found).toMatchObject([
      { path: 'a', kind: 'folder' },
      { path: 'a/file', kind: 'file', size: 3, modified: expect.any(Number) },
    ]);
  });

  test('depth and kind', async () => {
    const store = await filled();
    const top = await listDeep(store, '', { depth: 1, only: 'folders' });
    expect(top?.map(({ path }) => path)).toEqual([
      '!not',
      '.hidden',
      '[x]',
      'b*',
      'br{a,b}',
      'empty',
      'par(en)',
    ]);
    const files = await listDeep(store, '', { depth: 2, only: 'files' });
    expect(files?.map(({ path }) => path)).toEqual([
      '!not/file',
      '.hidden/file',
      '.tmp-1',
      '[x]/file',
      'b*/file',
    ]);
    expect(await listDeep(store, 'empty', { depth: 3 })).toEqual([]);
  });

  test('a missing folder is not an empty one', async () => {
    const store = make();
    expect(await listDeep(store, 'nowhere', { depth: 3 })).toBeUndefined();
  });

  test('an aborted listing throws the reason', async () => {
    const reason = new Error('stop');
    const signal = AbortSignal.abort(reason);
    await expect(listDeep(make(), '', { depth: 3, signal })).rejects.toBe(reason);
  });
});

test('what cannot be read is an error, never left out', async () => {
  for (const base of [
    openFileStore({ root: '/c', fs: createFsFromVolume(new Volume()) }),
    openFileStore({ root: temporaryFolder(), fs: nodeFs }),
  ]) {
    await base.createFolder('a/b');
    await base.put('a/b/file', new Uint8Array(1));
    for (const [kind, code] of [
      ['EACCES', 'PermissionDenied'],
      ['EMFILE', 'ResourceExhausted'],
      ['EIO', 'Internal'],
    ] as const) {
      const faulty = new FaultyFs(base.fs);
      const store = openFileStore({ root: base.root, fs: faulty.fs });
      faulty.arm({ at: 2, kind, only: ['readdir'] });
      await expect(listDeep(store, '', { depth: 9 })).rejects.toMatchObject({ code });
      faulty.arm({ at: 2, kind, only: ['lstatSync'] });
      await expect(listDeep(store, '', { depth: 9, stats: true })).rejects.toMatchObject({ code });
    }
  }
});
