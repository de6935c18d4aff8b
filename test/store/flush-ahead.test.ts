/** Large objects reach the disk while they are being written: its complaints must not get lost. */
import { expect, test, vi } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { strictFileSystem, trustFileSystem } from '../../src/store/disk/strict-fs.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { assignFieldIds } from '../../src/table/fields/field-ids.ts';
import { writeFragments } from '../../src/table/write/write.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { testEngine } from '../helpers/engines.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { people } from '../helpers/people.ts';

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

test('abort waits for a finish under way, whose file it closes neither early nor twice', async () => {
  const calls: string[] = [];
  let release: (() => void) | undefined;
  const inner = strictFileSystem(memoryFs());
  const fs = Object.assign(Object.create(inner), {
    fdatasync: (fd: number, done: Parameters<typeof inner.fdatasync>[1]) => {
      release = () => {
        calls.push('flushed');
        inner.fdatasync(fd, done);
      };
    },
    closeSync: (fd: number) => {
      calls.push('closed');
      inner.closeSync(fd);
    },
    unlinkSync: (path: string) => {
      calls.push('removed');
      inner.unlinkSync(path);
    },
  });
  const store = openFileStore({ root: '/c', fs: trustFileSystem(fs) });
  await store.createFolder('data');
  const writer = await store.create('data/large');
  const small = PIECE.subarray(0, 1024 * 1024);
  await writer.write([small]);
  calls.length = 0;
  const finished = writer.finish();
  const aborted = writer.abort();
  const late = writer.write([small]);
  await vi.waitFor(() => expect(release).toBeDefined(), { interval: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([]);
  release?.();
  expect(await finished).toBe(small.length);
  await aborted;
  await expect(late).rejects.toMatchObject({ code: 'Closed' });
  expect(calls).toEqual(['flushed', 'closed', 'removed']);
  expect(store.head('data/large')).toBeUndefined();
});

test('a flush of the first fragment that fails while others are written is the error of the write', async () => {
  const disk = new FaultyFs(strictFileSystem(memoryFs()));
  const limits = { batchRows: 2, fragmentRows: 2 };
  await using catalog = await openDirectoryNamespace({ root: '/c', fs: disk.fs, limits });
  await catalog.createTable({ id: ['t'] }, people(2));
  disk.arm({ at: 1, kind: 'EIO', only: ['fdatasync'] });
  await expect(catalog.insertIntoTable({ id: ['t'] }, people(20, 2))).rejects.toThrow();
  expect(disk.fired).toBe(true);
  disk.arm();
  expect(await catalog.countTableRows({ id: ['t'] })).toEqual({ count: 2 });
});

test('a fragment that fails to reach the disk while the next is made is the error of the write', async () => {
  const { engine, calls } = testEngine({ limits: { batchRows: 2, fragmentRows: 2 } });
  const broken = new Error('no disk');
  calls.create = async (run, path) => {
    const writer = await run(path);
    // Every later fragment takes long enough for an error that nobody listens to to be noticed.
    await new Promise((resolve) => setImmediate(resolve));
    return {
      write: (buffers) => writer.write(buffers),
      finish: () => Promise.reject(broken),
      abort: () => writer.abort(),
    };
  };
  const rows = people(6);
  const { tree } = assignFieldIds(rows.schema.fields, 0);
  await engine.store.createFolder('t');
  const written = await writeFragments(engine, 't', rows, tree, {
    lance: true,
    compression: 'none',
  });
  expect(written.fragments).toHaveLength(3);
  await expect(written.durable).rejects.toBe(broken);
});
