/** Compaction changes how rows are stored and nothing else, whatever else happens meanwhile. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { isDirspaceError } from '../../../src/errors.ts';
import { decodeTable } from '../../../src/format/catalog/records.ts';
import { strictFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { mainBranch } from '../../../src/table/versions/branches.ts';
import type { Limits } from '../../../src/table/versions/engine.ts';
import { resolveHead, type TableBranch } from '../../../src/table/versions/head.ts';
import { compact } from '../../../src/table/write/compact.ts';
import { deleteRowsById } from '../../../src/table/write/delete-rows.ts';
import { filesOf, memoryFs, type TestFs } from '../../helpers/catalogs.ts';
import { TestClock, type TestEngine, testEngine } from '../../helpers/engines.ts';
import { FaultyFs } from '../../helpers/faulty-fs.ts';
import { casesOf } from '../../helpers/long.ts';
import { grow, treeOf } from '../../helpers/trees.ts';
import { idsOf, people, rowIdsOf } from '../../suites/namespace/context.ts';

const ROOT = '/c';
const id = ['t'];

const open = (fs: TestFs = memoryFs(), limits: Partial<Limits> = {}): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({ root: ROOT, fs, limits, durability: 'relaxed' });

const fragmentsOf = async (catalog: DirectoryNamespace): Promise<number> =>
  (await catalog.getTableStats({ id })).fragment_stats.num_fragments;

/** A table of `count` fragments with `rows` rows each, ids counting up. */
async function tableOf(catalog: DirectoryNamespace, count: number, rows: number): Promise<void> {
  await catalog.createTable({ id }, people(rows));
  for (let at = 1; at < count; at++) {
    await catalog.insertIntoTable({ id }, people(rows, at * rows));
  }
}

async function deleteIds(catalog: DirectoryNamespace, ids: readonly number[]): Promise<void> {
  const rowIds = await rowIdsOf(catalog, id);
  await catalog.deleteRows({ id, row_ids: ids.flatMap((value) => rowIds.get(value) ?? []) });
}

test('many small fragments become one, in order, without the deleted rows', async () => {
  const catalog = await open();
  await tableOf(catalog, 100, 5);
  await deleteIds(catalog, [0, 7, 8, 9, 499]);
  const before = await idsOf(catalog, id);
  const progress: number[] = [];
  const dry = await catalog.optimizeTable({ id, dry_run: true });
  expect(await fragmentsOf(catalog)).toBe(100);
  const report = await catalog.optimizeTable(
    { id },
    { on_progress: ({ rows_done, rows_total }) => progress.push(rows_done, rows_total) },
  );
  expect(report).toEqual({
    fragments_removed: 100,
    fragments_added: 1,
    files_removed: 101,
    files_added: 1,
    versions_removed: 0,
    unused_files_removed: 0,
    bytes_removed: 0,
    dry_run: false,
    version: 102,
  });
  expect({ ...report, dry_run: true, version: undefined }).toEqual(dry);
  expect(progress).toEqual([495, 495]);
  expect(await idsOf(catalog, id)).toEqual(before);
  expect(await fragmentsOf(catalog)).toBe(1);
  const described = await catalog.describeTable({ id, load_detailed_metadata: true });
  expect(described.stats).toMatchObject({ num_deleted_rows: 0, num_fragments: 1 });
  expect(await idsOf(catalog, id, { version: 101 })).toEqual(before);
  // There is nothing more to do.
  expect((await catalog.optimizeTable({ id })).version).toBeUndefined();
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('large fragments stay as they are, and only neighbours are joined', async () => {
  const catalog = await open();
  await catalog.createTable({ id }, people(3));
  await catalog.insertIntoTable({ id }, people(3, 3));
  await catalog.insertIntoTable({ id }, people(50, 6));
  await catalog.insertIntoTable({ id }, people(3, 56));
  await catalog.insertIntoTable({ id }, people(3, 59));
  const report = await catalog.optimizeTable({ id, compact: { target_rows: 10 } });
  expect(report).toMatchObject({ fragments_removed: 4, fragments_added: 2 });
  expect(await fragmentsOf(catalog)).toBe(3);
  expect(await idsOf(catalog, id)).toEqual(Array.from({ length: 62 }, (_, at) => at));
  expect((await catalog.optimizeTable({ id, compact: { target_rows: 10 } })).version).toBe(
    undefined,
  );
});

test('a fragment with many deleted rows is rewritten alone, one with few is not', async () => {
  const catalog = await open();
  await tableOf(catalog, 2, 100);
  await deleteIds(catalog, [5, 100, 120, 130]);
  const compact = { target_rows: 100, max_deleted_share: 0.02 };
  const report = await catalog.optimizeTable({ id, compact });
  expect(report).toMatchObject({ fragments_removed: 1, fragments_added: 1, files_removed: 1 });
  expect(await idsOf(catalog, id)).toHaveLength(196);
  const wrong = [{ target_rows: 0 }, { target_bytes: 1.5 }, { max_deleted_share: 2 }];
  for (const aims of wrong) {
    await expect(catalog.optimizeTable({ id, compact: aims })).rejects.toMatchObject({
      code: 'InvalidInput',
    });
  }
});

test('old versions and their files go with cleanup in the same call', async () => {
  const catalog = await open();
  await tableOf(catalog, 10, 2);
  const report = await catalog.optimizeTable({
    id,
    cleanup_older_than_millis: 0,
    orphan_grace_millis: 0,
  });
  expect(report).toMatchObject({ fragments_removed: 10, unused_files_removed: 10 });
  expect(report.versions_removed).toBeGreaterThanOrEqual(10);
  expect(await idsOf(catalog, id)).toEqual(Array.from({ length: 20 }, (_, at) => at));
  expect(await catalog.verify({})).toMatchObject({ ok: true, leftovers: [] });
});

test('appends during compaction stay, deletions during it are never undone', async () => {
  const catalog = await open();
  await tableOf(catalog, 80, 3);
  let expected = Array.from({ length: 240 }, (_, at) => at);
  const meddle = async (): Promise<void> => {
    await catalog.insertIntoTable({ id }, people(3, 240));
    await catalog.deleteFromTable({ id, predicate: 'id IN (1, 100, 241)' });
    expected = [...expected, 240, 241, 242].filter((value) => ![1, 100, 241].includes(value));
  };
  let meddling: Promise<void> | undefined;
  await catalog.optimizeTable(
    { id, compact: { target_rows: 60 } },
    {
      on_progress: () => {
        meddling ??= meddle();
      },
    },
  );
  await meddling;
  expect(await idsOf(catalog, id)).toEqual(expected);
  expect(await catalog.verify({})).toMatchObject({ ok: true });
});

/** An engine on the catalog's files, and the main branch of its table. */
async function below(
  fs: TestFs,
): Promise<{ readonly one: TestEngine; readonly branch: TableBranch }> {
  const one = testEngine({ fs, firstId: 5000, root: ROOT });
  const folder = 'data/t.table';
  const bytes = (await one.engine.store.get(`${folder}/.table.json`)) ?? new Uint8Array();
  return { one, branch: mainBranch(folder, decodeTable(bytes, 'record').id) };
}

/** Lets `meddle` land right before the engine publishes its first version. */
function overtaken({ calls }: TestEngine, meddle: () => Promise<unknown>): void {
  calls.putIfAbsent = async (run, ...args) => {
    calls.putIfAbsent = undefined;
    await meddle();
    return run(...args);
  };
}

test('a delete by row ids that a compaction overtakes is refused, not forgotten', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await tableOf(catalog, 4, 3);
  const rowIds = await rowIdsOf(catalog, id);
  const { one, branch } = await below(fs);
  overtaken(one, () => catalog.optimizeTable({ id }));
  await expect(deleteRowsById(one.engine, branch, [rowIds.get(4) ?? 0n])).rejects.toMatchObject({
    code: 'ConcurrentModification',
    message: expect.stringContaining('compacted the table'),
  });
  expect(await idsOf(catalog, id)).toHaveLength(12);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('a column dropped during compaction is not written into the fragments it makes', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await tableOf(catalog, 4, 3);
  const { one, branch } = await below(fs);
  overtaken(one, () => catalog.alterTableDropColumns({ id, columns: ['name'] }));
  const report = await compact(one.engine, branch, {
    targetRows: 100,
    targetBytes: 1e6,
    maxDeletedShare: 0.1,
    tiered: false,
    dryRun: false,
  });
  // What had been written under the older schema was thrown away, and the run made anew.
  expect(report).toMatchObject({ fragmentsRemoved: 4, fragmentsAdded: 1 });
  const { manifest } = (await resolveHead(one.engine, branch))?.snapshot ?? {};
  expect(manifest?.fragments.map(({ fields }) => fields)).toEqual([manifest?.fieldIds]);
  expect(await idsOf(catalog, id)).toEqual(Array.from({ length: 12 }, (_, at) => at));
  const { problems, leftovers } = await catalog.verify({});
  expect(problems).toEqual([]);
  expect(leftovers.filter(({ kind }) => kind === 'orphan')).toEqual([]);
});

test('commits are followed by compaction in the background if asked for', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({
    root: ROOT,
    fs,
    durability: 'relaxed',
    // By a clock that stands still no reading of a few fragments is interrupted.
    env: new TestClock(),
    autoCompact: { fragments: 8 },
  });
  await tableOf(catalog, 60, 3);
  await catalog.close();
  const again = await open(fs);
  expect(await fragmentsOf(again)).toBeLessThan(25);
  expect(await idsOf(again, id)).toEqual(Array.from({ length: 180 }, (_, at) => at));
  const { versions } = await again.listTableVersions({ id });
  expect(versions.length).toBeGreaterThan(60);
  await expect(
    openDirectoryNamespace({ root: ROOT, fs, autoCompact: { fragments: 0 } }),
  ).rejects.toMatchObject({ code: 'InvalidInput' });
});

test('an overwritten branch is compacted by its own fragments, not by those before', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({
    ...{ root: ROOT, fs, durability: 'relaxed', env: new TestClock() },
    limits: { fragmentRows: 3 },
    autoCompact: { fragments: 8 },
  });
  // Each is as large as a fragment may be, so that compaction leaves them all.
  await tableOf(catalog, 30, 3);
  await catalog.insertIntoTable({ id, mode: 'overwrite' }, people(1));
  for (let at = 1; at < 24; at++) await catalog.insertIntoTable({ id }, people(1, at));
  await catalog.close();
  const again = await open(fs);
  expect(await fragmentsOf(again)).toBeLessThan(18);
  expect(await idsOf(again, id)).toEqual(Array.from({ length: 24 }, (_, at) => at));
});

test('fragments of before and after a change of the schema become one of the newest', async () => {
  const catalog = await open();
  await tableOf(catalog, 4, 3);
  await catalog.alterTableAddColumns({
    id,
    new_columns: [{ name: 'twice', expression: 'id * 2' }],
  });
  await catalog.alterTableAlterColumns({ id, alterations: [{ path: 'id', rename: 'number' }] });
  const rows = async (): Promise<unknown[]> => {
    const found: unknown[] = [];
    for await (const batch of await catalog.queryTable({ id, k: 1000 } as never)) {
      for (let row = 0; row < batch.numRows; row++) found.push(batch.get(row)?.toJSON());
    }
    return found;
  };
  const before = await rows();
  expect(before).toHaveLength(12);
  expect(Object.keys(before[0] as object)).toContain('twice');
  expect(await catalog.optimizeTable({ id })).toMatchObject({ fragments_added: 1 });
  expect(await rows()).toEqual(before);
  const { count } = await catalog.countTableRows({ id, predicate: 'number >= 11 AND twice > 1' });
  expect(count).toBe(1);
  expect((await catalog.verify({})).problems).toEqual([]);
});

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 3, arbitrary: fc.record({ delete: fc.integer({ min: 1, max: 9 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      compact: fc.record({
        target_rows: fc.integer({ min: 1, max: 60 }),
        max_deleted_share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    }),
  },
);

test('any history reads the same with compactions in it as without', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 30, maxLength: 90 }),
      fc.integer({ min: 1, max: 20 }),
      async (steps, batchRows) => {
        const catalog = await open(memoryFs(), { batchRows });
        await catalog.createTable({ id }, people(3));
        let rows = [0, 1, 2];
        let next = 3;
        for (const one of steps) {
          if ('append' in one) {
            await catalog.insertIntoTable({ id }, people(one.append, next));
            rows = [...rows, ...Array.from({ length: one.append }, (_, at) => next + at)];
            next += one.append;
          } else if ('delete' in one) {
            const gone = rows.filter((value) => value % one.delete === 0);
            await catalog.deleteFromTable({ id, predicate: `id % ${one.delete} = 0` });
            rows = rows.filter((value) => !gone.includes(value));
          } else {
            await catalog.optimizeTable({ id, compact: one.compact });
            expect(await idsOf(catalog, id)).toEqual(rows);
          }
        }
        expect(await idsOf(catalog, id)).toEqual(rows);
        expect((await catalog.verify({})).problems).toEqual([]);
        expect((await catalog.countTableRows({ id })).count).toBe(rows.length);
      },
    ),
    { numRuns: casesOf(4, 12) },
  );
});

/** A usual run takes calls that change the disk, and some of those that fail; a long one all. */
const FAULTS = [
  { kind: 'kill', first: 1, step: casesOf(7, 1), changing: true },
  { kind: 'EIO', first: 1, step: casesOf(37, 1), changing: false },
  { kind: 'ENOSPC', first: casesOf(5, 1), step: casesOf(37, 1), changing: false },
];

test('killed or failing at any call, the table is as it was or compacted', async () => {
  const whole = memoryFs();
  const made = await open(whole);
  await tableOf(made, 16, 2);
  await deleteIds(made, [3]);
  const tree = treeOf(whole, ROOT);
  const expected = await idsOf(await open(whole), id);
  for (const { kind, first, step, changing } of FAULTS) {
    for (let at = first; ; at += step) {
      const fs = grow(tree, ROOT);
      const faulty = new FaultyFs(strictFileSystem(fs));
      const catalog = await openDirectoryNamespace({ root: ROOT, fs: faulty.fs });
      faulty.arm({ at, kind, changing });
      const error = await catalog.optimizeTable({ id, compact: { target_rows: 12 } }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (kind !== 'kill' && error !== undefined) {
        expect(isDirspaceError(error), String(error)).toBe(true);
      }
      const again = await open(fs);
      expect(await idsOf(again, id), `${kind} at ${at}`).toEqual(expected);
      expect((await again.verify({})).problems, `${kind} at ${at}`).toEqual([]);
      if (kind !== 'kill' && error !== undefined) {
        const { leftovers } = await again.verify({});
        const orphans = leftovers.filter(({ path }) => path.includes('/data/'));
        expect(orphans.length, `${kind} at ${at}`).toBeLessThanOrEqual(1);
      }
      await again.insertIntoTable({ id }, people(1, 900));
      expect(await idsOf(again, id)).toEqual([...expected, 900]);
      if (!faulty.fired) break;
    }
  }
}, 120_000);

test('a run that fails ends the others, and leaves nothing of them', async () => {
  const fs = memoryFs();
  const made = await open(fs);
  const fragments = (): string[] =>
    filesOf(fs, ROOT)
      .all()
      .filter((path) => /\/data\/.*\.arrow$/.test(path));
  await tableOf(made, 1, 2);
  const [first] = fragments();
  for (let at = 1; at < 60; at++) await made.insertIntoTable({ id }, people(2, 2 * at));
  await made.close();
  const before = fragments();
  const bytes = fs.readFileSync(`${ROOT}/${first}`) as Uint8Array;
  fs.writeFileSync(
    `${ROOT}/${first}`,
    bytes.map((byte) => byte ^ 0xff),
  );
  const catalog = await open(fs);
  let runs = 0;
  const work = catalog.optimizeTable(
    { id, compact: { target_rows: 6 } },
    {
      on_progress: () => {
        runs += 1;
      },
    },
  );
  await expect(work).rejects.toMatchObject({ code: 'Corrupt' });
  expect(runs).toBeLessThanOrEqual(2);
  expect(fragments()).toEqual(before);
});
