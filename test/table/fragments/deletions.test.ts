/** Deleted rows of a fragment, as its batches ask for them; files of them that are not the ones. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { encodeDeletions, encodeSharedDeletions } from '../../../src/format/catalog/deletions.ts';
import { connect } from '../../../src/index.ts';
import { DeletedRows } from '../../../src/table/fragments/deletions.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';

const deleted = new DeletedRows(Uint32Array.of(0, 3, 4, 9, 12, 13, 19));

test('live rows of a batch are those no offset names, counted from its first', () => {
  const kept = (first: number, rows: number) => {
    const found = deleted.keptBetween(first, rows);
    return found === undefined ? undefined : Array.from(found);
  };
  expect(kept(0, 10)).toEqual([1, 2, 5, 6, 7, 8]);
  expect(kept(10, 10)).toEqual([0, 1, 4, 5, 6, 7, 8]);
  expect(kept(3, 2)).toEqual([]);
  expect(kept(5, 4)).toBeUndefined();
  expect(kept(20, 5)).toBeUndefined();
});

test('of rows that were found those that are deleted go, in any batch', () => {
  const live = (rows: number[], first: number) =>
    Array.from(deleted.liveOf(Uint32Array.from(rows), first));
  expect(live([0, 1, 2, 3, 4, 5, 9], 0)).toEqual([1, 2, 5]);
  expect(live([0, 2, 3, 4, 9], 10)).toEqual([0, 4]);
  expect(live([2, 3], 10)).toEqual([]);
  expect(live([0, 1, 3], 5)).toEqual([0, 1, 3]);
  expect(live([5, 6], 10)).toEqual([5, 6]);
  expect(live([], 0)).toEqual([]);
});

const FOLDER = '/c/data/t.table/deletions';

/** A table of 100 rows, 0 to 99, of which three are deleted, with its deletion file. */
async function withDeletedRows(): Promise<{ fs: TestFs; path: string; bytes: Uint8Array }> {
  const fs = memoryFs();
  const connection = await connect('/c', { fs, durability: 'relaxed' });
  const rows = Array.from({ length: 100 }, (_, id) => ({ id }));
  await (await connection.createTable('t', rows)).delete('id IN (1, 5, 70)');
  await connection.close();
  const [name] = fs.readdirSync(FOLDER) as string[];
  const path = `${FOLDER}/${name}`;
  return { fs, path, bytes: new Uint8Array(fs.readFileSync(path) as Buffer) };
}

/** The rows that a fresh process reads. */
async function rowsRead(fs: TestFs): Promise<unknown[]> {
  const connection = await connect('/c', { fs, durability: 'relaxed' });
  try {
    const rows = await (await connection.openTable('t')).query().toArray();
    return rows.map(({ id }) => Number(id));
  } finally {
    await connection.close();
  }
}

test('a deletion file with other rows, sound in itself, is corrupt by its checksum', async () => {
  const { fs, path, bytes } = await withDeletedRows();
  expect(await rowsRead(fs)).toHaveLength(97);
  const other = encodeDeletions(Uint32Array.of(2, 5, 70), 100);
  // Nothing but the checksum in the manifest tells them apart.
  expect(other.length).toBe(bytes.length);
  fs.writeFileSync(path, other);
  const damage = {
    code: 'Corrupt',
    message: expect.stringContaining(path.split('/').at(-1) ?? ''),
  };
  await expect(rowsRead(fs)).rejects.toMatchObject(damage);
  const namespace = await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' });
  const { ok, problems } = await namespace.verify({});
  await namespace.close();
  expect(ok).toBe(false);
  expect(problems.map(({ path: place }) => `/c/${place}`)).toEqual([path]);
});

test('a deletion file with any byte changed, or cut, is corrupt', async () => {
  const { fs, path, bytes } = await withDeletedRows();
  for (let at = 0; at < bytes.length; at += 31) {
    const changed = bytes.slice();
    changed[at] = (changed[at] as number) ^ (1 << (at % 8));
    for (const damaged of [changed, bytes.subarray(0, at)]) {
      fs.writeFileSync(path, damaged);
      await expect(rowsRead(fs), `byte ${at}`).rejects.toMatchObject({ code: 'Corrupt' });
    }
  }
  fs.writeFileSync(path, bytes);
  expect(await rowsRead(fs)).toHaveLength(97);
});

/** Three tables' worth of fragments that lose rows in one commit, and the file that they share. */
async function withSharedDeletions(): Promise<{ fs: TestFs; path: string; bytes: Uint8Array }> {
  const fs = memoryFs();
  const connection = await connect('/c', { fs, durability: 'relaxed' });
  const rows = (from: number) => Array.from({ length: 10 }, (_, at) => ({ id: from + at }));
  const table = await connection.createTable('t', rows(0));
  for (const from of [10, 20]) await table.add(rows(from));
  await table.delete('id % 10 IN (1, 5)');
  await connection.close();
  const [name, ...more] = fs.readdirSync(FOLDER) as string[];
  expect(more).toEqual([]);
  const path = `${FOLDER}/${name}`;
  return { fs, path, bytes: new Uint8Array(fs.readFileSync(path) as Buffer) };
}

test('every byte that fragments read of a shared deletion file is verified', async () => {
  const { fs, path, bytes } = await withSharedDeletions();
  expect(await rowsRead(fs)).toHaveLength(24);
  const slices = Buffer.from(bytes).indexOf(Buffer.from(Uint32Array.of(1, 5, 1, 5, 1, 5).buffer));
  expect(slices).toBeGreaterThan(0);
  for (let at = slices; at < slices + 24; at++) {
    const changed = bytes.slice();
    changed[at] = (changed[at] as number) ^ (1 << (at % 8));
    fs.writeFileSync(path, changed);
    await expect(rowsRead(fs), `byte ${at}`).rejects.toMatchObject({ code: 'Corrupt' });
  }
  fs.writeFileSync(path, bytes.subarray(0, slices + 23));
  await expect(rowsRead(fs)).rejects.toMatchObject({ code: 'Corrupt' });
});

test('damage anywhere in a shared deletion file is found by verify, and said once', async () => {
  const { fs, path, bytes } = await withSharedDeletions();
  const problems = async () => {
    const namespace = await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' });
    const found = await namespace.verify({});
    await namespace.close();
    return found.problems.map((problem) => `/c/${problem.path}`);
  };
  expect(await problems()).toEqual([]);
  const start = Buffer.from(bytes).indexOf(Buffer.from(Uint32Array.of(1, 5, 1, 5, 1, 5).buffer));
  for (const at of [0, 20, start, start + 12, start + 23, bytes.length - 30, bytes.length - 1]) {
    const changed = bytes.slice();
    changed[at] = (changed[at] as number) ^ 16;
    fs.writeFileSync(path, changed);
    expect(await problems(), `byte ${at}`).toEqual([path]);
  }
  // Another file, sound in itself, whose slices lie at the same places.
  const other = [0, 1, 2].map(() => ({ offsets: Uint32Array.of(2, 5), rows: 10 }));
  fs.writeFileSync(path, encodeSharedDeletions(other).bytes);
  expect(await problems()).toEqual([path]);
  fs.unlinkSync(path);
  expect(await problems()).toEqual([path]);
});
