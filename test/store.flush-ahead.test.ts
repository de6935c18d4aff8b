/** Large objects reach the disk while they are being written: its complaints must not get lost. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../src/directory/directory-namespace.ts';
import { openFileStore } from '../src/store/file-store.ts';
import { strictFileSystem } from '../src/store/strict-fs.ts';
import { memoryFs } from './helpers/catalogs.ts';
import { FaultyFs } from './helpers/faulty-fs.ts';
import { people } from './helpers/people.ts';

const PIECE = new Uint8Array(4 * 1024 * 1024);

function faulty() {
  const disk = new FaultyFs(strictFileSystem(memoryFs()));
  const store = openFileStore({ root: '/c', fs: disk.fs });
  return { disk, store };
}

test('a flush that failed once on the way fails the object, and abort removes it', async () => {
  const { disk, store } = faulty();
  await store.createFolder('data');
  const writer = await store.create('data/large');
  disk.arm({ at: 1, kind: 'EIO', only: ['fdatasync'] });
  for (let piece = 0; piece < 6; piece++) await writer.write([PIECE]);
  await expect(writer.finish()).rejects.toThrow(/data\/large/);
  expect(disk.fired).toBe(true);
  await writer.abort();
  expect(store.head('data/large')).toBeUndefined();
});

test('what was written since the last flush is flushed at the end', async () => {
  const { disk, store } = faulty();
  await store.createFolder('data');
  const writer = await store.create('data/large');
  disk.arm({ at: 1_000_000, kind: 'EIO' });
  for (let piece = 0; piece < 5; piece++) await writer.write([PIECE]);
  expect(await writer.finish()).toBe(5 * PIECE.length);
  const last = disk.log.lastIndexOf('fdatasync');
  expect(disk.log.filter((call) => call === 'fdatasync').length).toBeGreaterThan(1);
  expect(disk.log.lastIndexOf('writev')).toBeLessThan(last);
});

test('a flush of the first fragment that fails while others are written is the error of the write', async () => {
  const disk = new FaultyFs(strictFileSystem(memoryFs()));
  const limits = { batchRows: 2, fragmentRows: 2 };
  await using catalog = await openDirectoryNamespace({ root: '/c', fs: disk.fs, limits });
  await catalog.createTable({ id: ['t'] }, people(2));
  disk.arm({ at: 1, kind: 'EIO', only: ['fdatasync'] });
  // An error that nobody listens to would end the process, and this test with it.
  await expect(catalog.insertIntoTable({ id: ['t'] }, people(20, 2))).rejects.toThrow();
  expect(disk.fired).toBe(true);
  disk.arm();
  expect(await catalog.countTableRows({ id: ['t'] })).toEqual({ count: 2 });
});
