/**
 * Bringing a branch to main: main has then what the branch changed, once, or stays as it is. What is told of
 * the rows of both is what a comparison row by row finds.
 */
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { seeded } from '../../helpers/seeded.ts';

const id = ['t'];
const b = { id, branch: 'b' };
const open = (fs: TestFs): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({
    root: '/c',
    fs,
    durability: 'relaxed',
    limits: { overlayBytes: 0, batchRows: 8, fragmentRows: 32 },
  });

const rowsFrom = (from: number, count: number) =>
  toRecordBatchStream(Array.from({ length: count }, (_, at) => ({ id: from + at, x: from + at })));

async function read(catalog: DirectoryNamespace, request: object = {}): Promise<unknown[]> {
  return collectRows(await catalog.queryTable({ id, k: 1e6, vector: {}, ...request }));
}

async function setUp(fs = memoryFs()): Promise<DirectoryNamespace> {
  const catalog = await open(fs);
  await catalog.createTable({ id }, await rowsFrom(0, 40));
  await catalog.createTableBranch({ id, name: 'b' });
  return catalog;
}

const pick = (catalog: DirectoryNamespace, dry_run = false) =>
  catalog.cherryPickTableBranch({ id, from_branch: 'b', dry_run });
const diff = (catalog: DirectoryNamespace) => catalog.diffTableBranch({ id, from_branch: 'b' });

test('where main stayed, it has all that the branch did', async () => {
  const catalog = await setUp();
  await catalog.updateTable({ ...b, predicate: 'id < 5', updates: [['x', '0']] });
  await catalog.deleteFromTable({ ...b, predicate: 'id = 39' });
  const new_columns = [{ name: 'y', expression: 'x + 1' }];
  await catalog.alterTableAddColumns({ ...b, new_columns });
  await catalog.insertIntoTable(b, await toRecordBatchStream([{ id: 100, x: 1, y: 2 }]));
  const before = await read(catalog);
  expect(await pick(catalog, true)).toMatchObject({ status: 'ready' });
  expect(await read(catalog)).toEqual(before);
  const done = await pick(catalog);
  expect(done).toMatchObject({ status: 'cherry_picked', version: 2 });
  expect(done.diff.added_columns).toEqual([{ name: 'y', data_type: 'float64', nullable: true }]);
  expect(await read(catalog)).toEqual(await read(catalog, b));
  expect(await pick(catalog)).toMatchObject({ status: 'failed', error: { code: 'NO_CHANGES' } });
  await catalog.insertIntoTable({ id }, await toRecordBatchStream([{ id: 200, x: 1, y: 2 }]));
  expect((await read(catalog)).length).toBe(41);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('where main went on, new rows of the branch are added, and each once', async () => {
  const catalog = await setUp();
  await catalog.insertIntoTable(b, await rowsFrom(100, 5));
  await catalog.deleteFromTable({ id, predicate: 'id < 10' });
  expect(await pick(catalog)).toMatchObject({ status: 'cherry_picked', version: 3 });
  const added = (await rowsFrom(100, 5)).schema.fields.length;
  expect(added).toBe(2);
  expect((await read(catalog)).length).toBe(35);
  await catalog.optimizeTable({ id });
  expect(await pick(catalog)).toMatchObject({ status: 'failed', error: { code: 'NO_CHANGES' } });
  await catalog.insertIntoTable(b, await rowsFrom(200, 3));
  await catalog.deleteFromTable({ ...b, predicate: 'id = 201' });
  expect(await pick(catalog)).toMatchObject({ status: 'cherry_picked' });
  const ids = (await read(catalog)).map((row) => (row as { id: number }).id);
  expect(ids.slice(-7)).toEqual([100, 101, 102, 103, 104, 200, 202]);
  expect(ids.length).toBe(37);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('a branch that is brought over again and again is followed', async () => {
  const catalog = await setUp();
  for (let turn = 1; turn <= 3; turn++) {
    await catalog.updateTable({ ...b, predicate: `id = ${turn}`, updates: [['x', '-1']] });
    expect(await pick(catalog)).toMatchObject({ status: 'cherry_picked', version: turn + 1 });
    expect(await read(catalog)).toEqual(await read(catalog, b));
  }
});

test('what cannot be joined is said, and nothing is changed', async () => {
  const catalog = await setUp();
  await catalog.updateTable({ ...b, predicate: 'id = 1', updates: [['x', '0']] });
  await catalog.insertIntoTable({ id }, await rowsFrom(100, 5));
  const before = await read(catalog);
  const failed = await pick(catalog);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'MAIN_MOVED' } });
  expect(failed.version).toBeUndefined();
  expect(await read(catalog)).toEqual(before);
  await catalog.createTableBranch({ id, name: 'c' });
  await catalog.insertIntoTable({ id, branch: 'c' }, await rowsFrom(300, 1));
  await catalog.alterTableAlterColumns({ id, alterations: [{ path: 'x', rename: 'z' }] });
  const other = await catalog.cherryPickTableBranch({ id, from_branch: 'c' });
  expect(other).toMatchObject({ status: 'failed', error: { code: 'MAIN_MOVED' } });
});

test('where versions in between are gone it is said, for what was brought over is not known', async () => {
  const catalog = await setUp();
  await catalog.insertIntoTable(b, await rowsFrom(100, 5));
  for (let at = 0; at < 3; at++) await catalog.insertIntoTable({ id }, await rowsFrom(200 + at, 1));
  const reopened = catalog;
  const ranges = [{ start_version: 1, end_version: 4 }];
  await reopened.batchDeleteTableVersions({ ...b, ranges: [{ start_version: 1, end_version: 2 }] });
  await reopened.batchDeleteTableVersions({ id, ranges }).catch(() => {});
  const found = await pick(reopened);
  expect(['BASE_GONE', undefined]).toContain(found.error?.code);
  const rows = (await read(reopened)).length;
  expect(rows).toBe(found.status === 'failed' ? 43 : 48);
});

test('random histories: rows of both, and what is told of them', async () => {
  for (let seed = 1; seed <= casesOf(6, 200); seed++) {
    const next = seeded(seed * 31);
    const among = (count: number): number => Math.floor(next() * count);
    const catalog = await setUp();
    const from = 1000;
    for (let step = 0; step < 8; step++) {
      const on = among(2) === 0 ? { id } : b;
      const action = among(4);
      if (action === 0)
        await catalog.insertIntoTable(on, await rowsFrom(from + step * 50, 1 + among(9)));
      else if (action === 1) {
        await catalog.deleteFromTable({ ...on, predicate: `id = ${among(40)}` });
      } else if (action === 2) {
        await catalog.updateTable({
          ...on,
          predicate: `id >= ${among(40)}`,
          updates: [['x', 'x + 1']],
        });
      } else await catalog.optimizeTable({ ...on });
    }
    const told = await diff(catalog);
    const [main, branch] = [await read(catalog), await read(catalog, b)];
    expect([told.row_count_main, told.row_count_branch]).toEqual([main.length, branch.length]);
    const common = told.rows_unchanged + told.rows_changed;
    expect(common + told.rows_on_main).toBe(main.length);
    expect(common + told.rows_on_branch).toBe(branch.length);
    const keyed = new Set(main.map((row) => JSON.stringify(row)));
    const same = branch.filter((row) => keyed.has(JSON.stringify(row))).length;
    expect(told.rows_unchanged).toBeLessThanOrEqual(same);
    const done = await pick(catalog);
    const after = await read(catalog);
    if (done.status === 'failed') expect(after).toEqual(main);
    else if (done.diff.main_version === 1) expect(after).toEqual(branch);
    else {
      expect(after.slice(0, main.length)).toEqual(main);
      const ids = new Set(branch.map((row) => (row as { id: number }).id));
      const brought = after.slice(main.length) as { id: number }[];
      expect(brought.every((row) => ids.has(row.id) && row.id >= 1000)).toBe(true);
      expect(brought.length).toBe(branch.length - 40);
    }
    expect((await catalog.verify({})).problems).toEqual([]);
  }
});

test('a fresh branch is its base, and indexes are told apart', async () => {
  const catalog = await setUp();
  expect(await diff(catalog)).toMatchObject({
    parent_version: 1,
    main_version: 1,
    branch_version: 1,
    rows_unchanged: 40,
    rows_changed: 0,
    rows_on_main: 0,
    rows_on_branch: 0,
    added_columns: [],
    changed_columns: [],
  });
  await catalog.createTableScalarIndex({ ...b, column: 'id', index_type: 'BTREE' });
  await catalog.alterTableAlterColumns({ ...b, alterations: [{ path: 'x', rename: 'z' }] });
  const told = await diff(catalog);
  expect(told.added_indexes).toMatchObject([{ columns: ['id'], index_type: 'BTREE' }]);
  expect(told.added_columns.map(({ name }) => name)).toEqual(['z']);
  expect(told.removed_columns.map(({ name }) => name)).toEqual(['x']);
  await catalog.updateTable({ ...b, predicate: 'id < 30', updates: [['z', '1']] });
  const { rows_unchanged, rows_changed } = await diff(catalog);
  expect(rows_changed).toBeGreaterThan(0);
  expect(rows_unchanged + rows_changed).toBeLessThanOrEqual(40);
});

test.each([
  ['main', 'main', 'InvalidInput'],
  ['a missing branch', 'no', 'TableBranchNotFound'],
  ['a branch of a branch', 'c', 'InvalidInput'],
])('%s is refused', async (_, from_branch, code) => {
  const catalog = await setUp();
  await catalog.createTableBranch({ id, name: 'c', from_branch: 'b' });
  const asked = { id, from_branch };
  await expect(catalog.diffTableBranch(asked)).rejects.toMatchObject({ code });
  await expect(catalog.cherryPickTableBranch(asked)).rejects.toMatchObject({ code });
});

test('a damaged version of main is told as that, not as one that is gone', async () => {
  const fs = memoryFs();
  const catalog = await setUp(fs);
  await catalog.insertIntoTable(b, await rowsFrom(100, 5));
  for (const row of [200, 201]) await catalog.insertIntoTable({ id }, await rowsFrom(row, 1));
  await catalog.close();
  const table = '/c/data/t.table';
  const folder = (fs.readdirSync(table) as string[]).find((name) => name.startsWith('versions-'));
  const file = `${String(2).padStart(20, '0')}.json`;
  fs.writeFileSync(`${table}/${folder}/${file}`, 'damaged');
  const again = await open(fs);
  await expect(pick(again)).rejects.toMatchObject({
    code: 'Corrupt',
    message: expect.stringContaining(file),
  });
});
