/**
 * Computed columns: a value that is there is that of the expression over the row as it is, whatever
 * happened before, and a backfill leaves no row out. Rows keep their ids while columns are filled.
 */
import { describe, expect, test } from 'vitest';
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
const open = (fs: TestFs, overlayBytes = 0): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({
    root: '/c',
    fs,
    durability: 'relaxed',
    limits: { overlayBytes, batchRows: 8, fragmentRows: 32 },
  });

interface Row {
  readonly id: number;
  x: number | null;
  s: string;
  [computed: string]: unknown;
}

const rowsFrom = (from: number, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: from + at,
    x: (from + at) % 7 === 0 ? null : from + at,
    s: `s${from + at}`,
  }));

async function read(catalog: DirectoryNamespace, request: object = {}): Promise<Row[]> {
  const rows = await collectRows(await catalog.queryTable({ id, k: 1e6, vector: {}, ...request }));
  return rows as never;
}

const byId = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => a.id - b.id);
const insert = async (catalog: DirectoryNamespace, rows: readonly Row[]): Promise<unknown> =>
  catalog.insertIntoTable({ id }, await toRecordBatchStream([...rows]));
const declare = (catalog: DirectoryNamespace, name: string, computed: string): Promise<unknown> =>
  catalog.alterTableAddColumns({ id, new_columns: [{ name, computed }] });

async function create(fs: TestFs, count = 70, overlayBytes = 0): Promise<DirectoryNamespace> {
  const catalog = await open(fs, overlayBytes);
  await catalog.createTable({ id }, await toRecordBatchStream(rowsFrom(0, count)));
  return catalog;
}

/** What expressions give, by hand. */
const COMPUTED: Readonly<Record<string, (row: Row) => unknown>> = {
  y: ({ x }) => (x === null ? null : x * 2),
  z: ({ s, x }) => (x === null ? null : `${s}!`),
};

async function declareBoth(catalog: DirectoryNamespace): Promise<void> {
  await declare(catalog, 'y', 'x * 2');
  await declare(catalog, 'z', "CASE WHEN x IS NULL THEN NULL ELSE s || '!' END");
}

describe.each([
  ['beside their fragments', 0],
  ['with their fragments', 1 << 20],
])('values %s', (_, overlayBytes) => {
  test(`random histories: a value is right or null, and a backfill leaves none out`, async () => {
    for (let seed = 1; seed <= casesOf(6, 200); seed++) {
      const next = seeded(1000 * seed + overlayBytes);
      const among = (count: number): number => Math.floor(next() * count);
      const fs = memoryFs();
      const catalog = await create(fs, 10 + among(60), overlayBytes);
      await declareBoth(catalog);
      let known = await read(catalog);
      let from = 1000;
      for (let step = 0; step < 12; step++) {
        const least = among(80);
        const column = among(2) === 0 ? 'y' : 'z';
        const action = among(7);
        if (action === 0) {
          const { rows_filled } = await catalog.alterTableBackfillColumns({ id, column });
          const missing = known.filter((row) => row[column] === null);
          expect(rows_filled).toBe(
            missing.filter((row) => COMPUTED[column]?.(row) !== null).length,
          );
          for (const row of known) row[column] = COMPUTED[column]?.(row);
        } else if (action === 1) {
          const where = `id >= ${least}`;
          const filled = await catalog.alterTableBackfillColumns({ id, column, where });
          const chosen = known.filter((row) => row.id >= least);
          expect(filled.rows_filled).toBe(chosen.length);
          for (const row of chosen) row[column] = COMPUTED[column]?.(row);
        } else if (action === 2) {
          const added = rowsFrom(from, 1 + among(40));
          from += 100;
          await insert(catalog, added);
          known.push(...added.map((row) => ({ ...row, y: null, z: null })));
        } else if (action === 3) {
          await catalog.updateTable({ id, predicate: `id < ${least}`, updates: [['x', 'id + 1']] });
          for (const row of known.filter((one) => one.id < least)) {
            Object.assign(row, { x: row.id + 1, y: null, z: null });
          }
        } else if (action === 4) {
          await catalog.deleteFromTable({
            id,
            predicate: `id % 9 = ${among(9)} AND id < ${least}`,
          });
          const left = new Set((await read(catalog)).map((row) => row.id));
          known = known.filter((row) => left.has(row.id));
        } else if (action === 5) {
          const came = [{ id: least, s: 'came' }];
          await catalog.mergeInsertIntoTable(
            { id, on: 'id', when_matched_update_all: true },
            await toRecordBatchStream(came),
          );
          for (const row of known) if (row.id === least) Object.assign(row, { s: 'came', z: null });
        } else await catalog.optimizeTable({ id });
        expect(byId(await read(catalog)), `seed ${seed}, step ${step}`).toEqual(byId(known));
      }
      expect((await catalog.verify({})).problems).toEqual([]);
      const again = await open(fs, overlayBytes);
      expect(byId(await read(again))).toEqual(byId(known));
    }
  });
});

test('rows keep their ids and their order, and a second backfill makes no version', async () => {
  const catalog = await create(memoryFs());
  await catalog.deleteFromTable({ id, predicate: 'id % 5 = 1' });
  await declareBoth(catalog);
  const before = await read(catalog, { with_row_id: true });
  const first = await catalog.alterTableBackfillColumns({ id, column: 'y' });
  const after = await read(catalog, { with_row_id: true });
  expect(after).toEqual(before.map((row) => ({ ...row, y: COMPUTED.y?.(row) })));
  const second = await catalog.alterTableBackfillColumns({ id, column: 'y' });
  expect(second).toMatchObject({ version: first.version, rows_filled: 0 });
  expect(second.transaction_id).toBeUndefined();
});

test('a fragment whose values are all null is not written again', async () => {
  const fs = memoryFs();
  const catalog = await create(fs, 20);
  await declare(catalog, 'none', 'CASE WHEN x < 0 THEN x END');
  const files = (): string[] => fs.readdirSync('/c/data/t.table/data') as string[];
  const before = files();
  const answer = await catalog.alterTableBackfillColumns({ id, column: 'none' });
  expect(answer).toMatchObject({ version: 2, rows_filled: 0 });
  expect(files()).toEqual(before);
});

test('some fragments at a time, in a version each', async () => {
  const catalog = await create(memoryFs(), 100);
  await declareBoth(catalog);
  const some = await catalog.alterTableBackfillColumns({ id, column: 'z', num_frags: 1 });
  expect(some).toMatchObject({ version: 4 });
  expect((await read(catalog)).filter((row) => row.z !== null).every((row) => row.id < 32)).toBe(
    true,
  );
  const rest = await catalog.alterTableBackfillColumns({ id, column: 'z', commit_granularity: 2 });
  expect(rest.version).toBe(6);
  const rows = await read(catalog);
  expect(rows).toEqual(rows.map((row) => ({ ...row, z: COMPUTED.z?.(row) })));
  const parts = { id, column: 'z', where: '_rowoffset < 3', num_frags: 1 };
  await expect(catalog.alterTableBackfillColumns(parts)).rejects.toMatchObject({
    code: 'InvalidInput',
  });
});

test('beside writers a backfill is built anew on what they made', async () => {
  const fs = memoryFs();
  const catalog = await create(fs, 64);
  const other = await open(fs);
  await declareBoth(catalog);
  let from = 500;
  const writing = (async () => {
    for (let at = 0; at < 10; at++) {
      await insert(other, rowsFrom(from, 3));
      from += 3;
      await other.updateTable({ id, predicate: `id = ${at}`, updates: [['x', '7']] });
    }
  })();
  for (let at = 0; at < 4; at++) await catalog.alterTableBackfillColumns({ id, column: 'y' });
  await writing;
  for (const row of await read(catalog)) if (row.y !== null) expect(row.y).toBe(COMPUTED.y?.(row));
  await catalog.alterTableBackfillColumns({ id, column: 'y' });
  const rows = await read(catalog);
  expect(rows.length).toBe(94);
  for (const row of rows) expect(row.y).toBe(COMPUTED.y?.(row));
  expect((await catalog.verify({})).problems).toEqual([]);
});

test.each([
  ['beside their fragment', 0],
  ['with their fragment', 1 << 20],
])('as many other rows after a conflict are filled, %s', async (_, overlayBytes) => {
  const fs = memoryFs();
  const catalog = await create(fs, 20, overlayBytes);
  await declare(catalog, 'y', 'id * 2');
  const { version } = await catalog.deleteFromTable({ id, predicate: 'id < 2' });
  // The deletion is hidden until the backfill is published: its rows are others by then.
  const { versions } = await catalog.listTableVersions({ id });
  const path = versions.find((one) => one.version === version)?.manifest_path as string;
  fs.renameSync(path, `/hidden`);
  const linkSync = fs.linkSync.bind(fs);
  fs.linkSync = (from, to) => {
    if (to === path && fs.existsSync('/hidden')) fs.renameSync('/hidden', path);
    linkSync(from, to);
  };
  const other = await open(fs, overlayBytes);
  const where = '_rowoffset >= 5 AND _rowoffset < 10';
  const filled = await other.alterTableBackfillColumns({ id, column: 'y', where });
  expect(filled).toMatchObject({ version: 4, rows_filled: 5 });
  const rows = (await read(other)).filter(({ y }) => y !== null);
  expect(rows.map((row) => [row.id, row.y])).toEqual([7, 8, 9, 10, 11].map((at) => [at, 2 * at]));
  expect((await other.verify({})).problems).toEqual([]);
});

test('a branch and an older version have values of their own', async () => {
  const catalog = await create(memoryFs(), 20);
  await declareBoth(catalog);
  await catalog.createTableBranch({ id, name: 'b' });
  await catalog.alterTableBackfillColumns({ id, column: 'y', branch: 'b' });
  expect((await read(catalog)).every((row) => row.y === null)).toBe(true);
  expect((await read(catalog, { branch: 'b' })).filter((row) => row.y !== null).length).toBe(17);
  await catalog.alterTableBackfillColumns({ id, column: 'y' });
  await catalog.restoreTable({ id, version: 3 });
  expect((await read(catalog)).every((row) => row.y === null)).toBe(true);
});

test.each([
  ['where', { where: 'nope > 1' }, 'TableColumnNotFound'],
  ['a column of values', { column: 'x' }, 'InvalidInput'],
  ['a missing column', { column: 'nope' }, 'TableColumnNotFound'],
  ['no fragments', { num_frags: 0 }, 'InvalidInput'],
  ['less than a fragment a version', { commit_granularity: -1 }, 'InvalidInput'],
  ['a cluster', { cluster: 'c' }, 'Unsupported'],
  ['read_version', { read_version: 1 }, 'Unsupported'],
])('refuses %s', async (_, request, code) => {
  const catalog = await create(memoryFs(), 5);
  await declareBoth(catalog);
  const work = catalog.alterTableBackfillColumns({ id, column: 'y', ...request });
  await expect(work).rejects.toMatchObject({ code });
  expect((await catalog.listTableVersions({ id })).versions.length).toBe(3);
});

test('of several versions the last one that was made is told, also where the last fragments need none', async () => {
  const catalog = await open(memoryFs());
  // Two fragments, of which the second has nothing to compute from.
  const rows = rowsFrom(0, 40).map((row) => ({ ...row, x: row.id < 32 ? 1 : null }));
  await catalog.createTable({ id }, await toRecordBatchStream(rows));
  await declare(catalog, 'y', 'x * 2');
  const request = { id, column: 'y', commit_granularity: 1 };
  const filled = await catalog.alterTableBackfillColumns(request);
  expect(filled).toMatchObject({ version: 3, rows_filled: 32 });
  const { status } = await catalog.describeTransaction({ id: [filled.transaction_id ?? ''] });
  expect(status).toBe('Succeeded');
  expect(filled.job_id).toBe(filled.transaction_id);
});

test('a repeat under the same key is told what the first one did', async () => {
  const catalog = await create(memoryFs(), 20);
  await declareBoth(catalog);
  const request = { id, column: 'y' };
  const options = { idempotencyKey: 'k' };
  const first = await catalog.alterTableBackfillColumns(request, options);
  await insert(catalog, rowsFrom(100, 2));
  expect(await catalog.alterTableBackfillColumns(request, options)).toEqual(first);
});
