/** Large objects reach the disk while they are being written: its complaints must not get lost. */
import { expect, test } from 'vitest';
import { openFileStore } from '../src/store/file-store.ts';
import { strictFileSystem } from '../src/store/strict-fs.ts';
import { memoryFs } from './helpers/catalogs.ts';
import { FaultyFs } from './helpers/faulty-fs.ts';

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
