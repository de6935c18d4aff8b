/** Reading a file whose size is known: one call, and whatever else is there is told. */
import nodeFs from 'node:fs';
import { expect, test } from 'vitest';
import { trustFileSystem } from '../../src/store/disk/strict-fs.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

function counted(most = Number.MAX_SAFE_INTEGER) {
  let reads = 0;
  const readSync = (
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): number => {
    reads += 1;
    return nodeFs.readSync(fd, bytes, offset, Math.min(length, most), position);
  };
  const root = temporaryFolder();
  const fs = trustFileSystem({ ...nodeFs, readSync } as never);
  return { root, store: openFileStore({ root, fs }), reads: () => reads };
}

test('a file of the size expected is read in one call', () => {
  const { root, store, reads } = counted();
  nodeFs.writeFileSync(`${root}/file`, 'twelve bytes');
  expect(Buffer.from(store.get('file', false, 12) as Uint8Array).toString()).toBe('twelve bytes');
  expect(reads()).toBe(1);
});

test.each([0, 5, 11, 13, 100_000])(
  'a file that is not the %i bytes expected is read whole',
  (size) => {
    const { root, store } = counted();
    nodeFs.writeFileSync(`${root}/file`, 'twelve bytes');
    expect(Buffer.from(store.get('file', false, size) as Uint8Array).toString()).toBe(
      'twelve bytes',
    );
  },
);

test('a read that gives less than there is goes on', () => {
  const { root, store, reads } = counted(5);
  nodeFs.writeFileSync(`${root}/file`, 'twelve bytes');
  expect(Buffer.from(store.get('file', false, 12) as Uint8Array).toString()).toBe('twelve bytes');
  expect(reads()).toBe(3);
});
