/** Deleting rows by id and by predicate, over few and many fragments. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { connect } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { InterruptedCatalog, publication } from '../../helpers/interrupted.ts';
import { people } from '../../helpers/people.ts';

const catalog = () => connect({ uri: '/c', fs: memoryFs() as never });

test('an id given twice, or in any order, names its row once', async () => {
  await using db = await catalog();
  const table = await db.createTable('t', [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }]);
  const rows = await table.query().withRowId().toArray();
  const ids = rows.map(({ _rowid }) => _rowid as bigint);
  const [first, second, , last] = ids as [bigint, bigint, bigint, bigint];
  const deleted = await table.deleteRows([last, second, second, last, 99n]);
  expect(deleted).toMatchObject({ numDeletedRows: 2 });
  expect((await table.query().toArray()).map(({ a }) => a)).toEqual([1, 3]);
  expect(await table.deleteRows([second, first])).toMatchObject({ numDeletedRows: 1 });
});

test('fragments that lose rows together share a deletion file, as long as one needs it', async () => {
  const fs = memoryFs();
  await using db = await connect({ uri: '/c', fs: fs as never });
  const files = () => (fs.readdirSync('/c/data/t.table/deletions') as string[]).length;
  const features = () => {
    const folder = `/c/data/t.table/${(fs.readdirSync('/c/data/t.table') as string[]).find((name) => name.startsWith('versions-'))}`;
    const newest = (fs.readdirSync(folder) as string[]).filter((name) => /^\d+\.json$/.test(name));
    const text = String(fs.readFileSync(`${folder}/${newest.sort().at(-1)}`));
    return (JSON.parse(text) as { features: string[] }).features;
  };
  const table = await db.createTable('t', [{ a: 0 }, { a: 1 }, { a: 2 }]);
  for (let made = 1; made < 50; made++) await table.add([{ a: 0 }, { a: 1 }, { a: 2 }]);
  await table.delete('a = 1');
  expect(await table.countRows()).toBe(100);
  expect(files()).toBe(1);
  expect(features()).toEqual(['lance', 'shared_deletions']);
  // One fragment alone has a file that every release reads; the others go on sharing.
  await table.delete('_rowid = 4294967296');
  expect(await table.countRows()).toBe(99);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
  await db.namespace.optimizeTable?.({
    id: ['t'],
    cleanup_older_than_millis: 0,
    orphan_grace_millis: 0,
    compact: false,
  });
  expect(files()).toBe(2);
  {
    await using other = await connect({ uri: '/c', fs: fs as never });
    const rows = await (await other.openTable('t')).query().toArray();
    expect(rows.filter(({ a }) => a === 0)).toHaveLength(49);
    expect(rows.filter(({ a }) => a === 2)).toHaveLength(50);
  }
  await table.optimize();
  expect(features()).toEqual(['lance']);
  expect(await table.countRows()).toBe(99);
});

test('what a change wrote of a fragment is not read again by the next one', async () => {
  const fs = memoryFs();
  const opened: string[] = [];
  const openSync = fs.openSync.bind(fs);
  Object.assign(fs, {
    openSync: (path: string, ...rest: [number]) => {
      opened.push(path);
      return openSync(path, ...rest);
    },
  });
  await using db = await connect({ uri: '/c', fs: fs as never });
  // Statistics of its batches, which the footer holds, rule out what those of the fragment do not.
  const rows = Array.from({ length: 70_000 }, (_, id) => ({ id, x: id < 65_536 ? 0 : 2 }));
  const table = await db.createTable('t', rows);
  opened.length = 0;
  const openedIn = (folder: string) =>
    opened.filter((path) => path.includes(`t.table/${folder}/`) && path.endsWith('.arrow')).length;
  expect(await table.countRows('x = 1')).toBe(0);
  expect(openedIn('data')).toBe(0);
  await table.delete('id = 7');
  await table.delete('id = 8');
  expect(await table.countRows('x >= 0')).toBe(69_998);
  // Each was opened once, to be written.
  expect(openedIn('deletions')).toBe(2);
});

test('what a delete reads of small fragments is kept for the next one', async () => {
  const fs = memoryFs();
  const opened: string[] = [];
  const openSync = fs.openSync.bind(fs);
  Object.assign(fs, {
    openSync: (path: string, ...rest: [number]) => {
      if (path.includes('/data/t.table/data/')) opened.push(path);
      return openSync(path, ...rest);
    },
  });
  {
    await using db = await connect({ uri: '/c', fs: fs as never });
    await db.createTable('t', [{ a: 0 }, { a: 1 }, { a: 2 }]);
    const table = await db.openTable('t');
    for (let more = 0; more < 2; more++) await table.add([{ a: 0 }, { a: 1 }, { a: 2 }]);
  }
  await using db = await connect({ uri: '/c', fs: fs as never });
  const table = await db.openTable('t');
  opened.length = 0;
  await table.delete('a = 0');
  expect(opened.length).toBeGreaterThan(1);
  opened.length = 0;
  await table.delete('a = 2');
  expect(opened).toEqual([]);
  expect(await table.query().toArray()).toEqual([{ a: 1 }, { a: 1 }, { a: 1 }]);
});

test.each([
  ['a predicate', { predicate: 'id < 3' }],
  ['ids', { row_ids: [0n, 1n, 2n] }],
])('of a delete by %s that met another writer no file is left behind', async (_, what) => {
  const fs = memoryFs();
  const options = { root: '/c', fs, durability: 'relaxed' } as const;
  const id = ['t'];
  const other = await openDirectoryNamespace(options);
  await other.createTable({ id }, people(10));
  const catalog = await InterruptedCatalog.open(options);
  catalog.interrupt(publication, () => other.insertIntoTable({ id }, people(1, 20)));
  const { namespace } = catalog;
  const answer =
    'predicate' in what
      ? await namespace.deleteFromTable({ id, ...what })
      : await namespace.deleteRows({ id, ...what });
  expect(answer).toMatchObject({ version: 3, num_deleted_rows: 3 });
  expect(await other.countTableRows({ id })).toEqual({ count: 8 });
  const { problems, leftovers } = await other.verify({});
  expect([problems, leftovers]).toEqual([[], []]);
});

test('a delete by ids that met a compaction changes nothing, as rows have other ids by then', async () => {
  const fs = memoryFs();
  const options = { root: '/c', fs, durability: 'relaxed' } as const;
  const id = ['t'];
  const other = await openDirectoryNamespace(options);
  await other.createTable({ id }, people(2));
  await other.insertIntoTable({ id }, people(1, 20));
  const catalog = await InterruptedCatalog.open(options);
  catalog.interrupt(publication, () => other.optimizeTable({ id }));
  const work = catalog.namespace.deleteRows({ id, row_ids: [0n] });
  await expect(work).rejects.toMatchObject({ code: 'ConcurrentModification' });
  expect(await other.countTableRows({ id })).toEqual({ count: 3 });
  const { problems, leftovers } = await other.verify({});
  expect([problems, leftovers.map(({ kind }) => kind)]).toEqual([[], []]);
});
