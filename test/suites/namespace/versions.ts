/** Versions, tags, branches, transactions, deleted rows, cleanup. */
import { describe, expect } from 'vitest';
import {
  expectError,
  idsOf,
  partOf,
  people,
  range,
  rowIdsOf,
  type SuiteOptions,
} from './context.ts';

export function versionsPart(options: SuiteOptions): void {
  describe('versions', () => {
    const { test, testOf, ns, subject } = partOf(options);
    const id = ['t'];

    /** Versions 1 to `count`; version v has rows 0 to v - 1. */
    async function fill(count: number): Promise<void> {
      await ns().createTable({ id }, people(1));
      for (const from of range(1, count)) await ns().insertIntoTable({ id }, people(1, from));
    }
    const numbers = async (request: object = {}): Promise<number[]> =>
      (await ns().listTableVersions({ id, ...request })).versions.map(({ version }) => version);

    test('every write is a version; each is read at its number', async () => {
      await fill(3);
      for (const version of [1, 2, 3]) {
        expect(await idsOf(ns(), id, { version })).toEqual(range(0, version));
      }
      await expectError(idsOf(ns(), id, { version: 4 }), 'TableVersionNotFound');
    });

    test('list: ascending, descending, and in pages of either', async () => {
      await fill(5);
      expect(await numbers()).toEqual([1, 2, 3, 4, 5]);
      expect(await numbers({ descending: true })).toEqual([5, 4, 3, 2, 1]);
      for (const descending of [false, true]) {
        const first = await ns().listTableVersions({ id, limit: 2, descending });
        const rest = await ns().listTableVersions({
          id,
          descending,
          page_token: first.page_token ?? '',
        });
        const found = [...first.versions, ...rest.versions].map(({ version }) => version);
        expect(found).toEqual(descending ? [5, 4, 3, 2, 1] : [1, 2, 3, 4, 5]);
      }
    });

    test('list: a version says what it is', async () => {
      await fill(2);
      const [first, second] = (await ns().listTableVersions({ id })).versions;
      expect(first).toMatchObject({
        version: 1,
        manifest_path: expect.any(String),
        manifest_size: expect.any(Number),
        e_tag: expect.any(String),
        timestamp_millis: expect.any(Number),
        metadata: { operation: 'create', added_rows: '1' },
      });
      expect(second?.metadata).toMatchObject({ operation: 'append' });
      expect(second?.timestamp_millis).toBeGreaterThanOrEqual(first?.timestamp_millis ?? 0);
    });

    test('describe: one version, or the newest', async () => {
      await fill(2);
      const listed = (await ns().listTableVersions({ id })).versions;
      const first = await ns().describeTableVersion({ id, version: 1 });
      expect(first.version).toEqual(listed[0]);
      expect((await ns().describeTableVersion({ id })).version).toEqual(listed[1]);
      await expectError(ns().describeTableVersion({ id, version: 9 }), 'TableVersionNotFound');
      await ns().declareTable({ id: ['d'] });
      await expectError(ns().describeTableVersion({ id: ['d'] }), 'TableVersionNotFound');
      expect((await ns().listTableVersions({ id: ['d'] })).versions).toEqual([]);
    });

    test('restore makes an older version the newest', async () => {
      await fill(3);
      const { transaction_id } = await ns().restoreTable({ id, version: 1 });
      expect(transaction_id).toBeTypeOf('string');
      expect(await numbers()).toEqual([1, 2, 3, 4]);
      expect(await idsOf(ns(), id)).toEqual([0]);
      await ns().insertIntoTable({ id }, people(1, 7));
      expect(await idsOf(ns(), id)).toEqual([0, 7]);
      await expectError(ns().restoreTable({ id, version: 9 }), 'TableVersionNotFound');
    });

    testOf('extensions')('restore after an overwrite brings back schema and row ids', async () => {
      await fill(2);
      await ns().createTable({ id, mode: 'overwrite' }, people(3, 10));
      await ns().restoreTable({ id, version: 2 });
      await ns().insertIntoTable({ id }, people(1, 2));
      const rowIds = await rowIdsOf(ns(), id);
      expect(new Set(rowIds.values()).size).toBe(3);
      await ns().deleteRows({ id, row_ids: [rowIds.get(2) ?? 0n] });
      expect(await idsOf(ns(), id)).toEqual([0, 1]);
    });

    test('tags: create, get, list, update, delete', async () => {
      await fill(3);
      await ns().createTableTag({ id, tag: 'b', version: 1 });
      await ns().createTableTag({ id, tag: 'A', version: 2 });
      expect(await ns().getTableTagVersion({ id, tag: 'A' })).toEqual({ version: 2 });
      const { tags } = await ns().listTableTags({ id });
      expect(Object.keys(tags)).toEqual(['A', 'b']);
      expect(tags.b).toEqual({ version: 1, manifestSize: expect.any(Number) });
      await ns().updateTableTag({ id, tag: 'b', version: 3 });
      expect((await ns().getTableTagVersion({ id, tag: 'b' })).version).toBe(3);
      await ns().deleteTableTag({ id, tag: 'b' });
      await expectError(ns().getTableTagVersion({ id, tag: 'b' }), 'TableTagNotFound');
    });

    test('tags: taken, missing, and of versions that are not there', async () => {
      await fill(1);
      await ns().createTableTag({ id, tag: 'a', version: 1 });
      const again = { id, tag: 'a', version: 1 };
      await expectError(ns().createTableTag(again), 'TableTagAlreadyExists');
      await expectError(ns().createTableTag({ id, tag: 'b', version: 2 }), 'TableVersionNotFound');
      await expectError(ns().updateTableTag({ id, tag: 'x', version: 1 }), 'TableTagNotFound');
      await expectError(ns().updateTableTag({ id, tag: 'a', version: 2 }), 'TableVersionNotFound');
      expect((await ns().getTableTagVersion({ id, tag: 'a' })).version).toBe(1);
      await expectError(ns().deleteTableTag({ id, tag: 'x' }), 'TableTagNotFound');
      for (const tag of ['', '.x', 'a/b', '../x', 'a b', 'x'.repeat(201)]) {
        await expectError(ns().createTableTag({ id, tag, version: 1 }), 'InvalidInput');
      }
      await expectError(
        ns().createTableTag({ id, tag: 'b', version: 1, branch: 'none' }),
        'TableBranchNotFound',
      );
    });

    test('tags: pages', async () => {
      await fill(1);
      for (const tag of ['a', 'b', 'c']) await ns().createTableTag({ id, tag, version: 1 });
      const first = await ns().listTableTags({ id, limit: 2 });
      expect(Object.keys(first.tags)).toEqual(['a', 'b']);
      const rest = await ns().listTableTags({ id, page_token: first.page_token ?? '' });
      expect(Object.keys(rest.tags)).toEqual(['c']);
    });

    test('tags: a token survives concurrent change', async () => {
      await fill(2);
      for (const tag of ['b', 'd', 'f', 'h']) await ns().createTableTag({ id, tag, version: 1 });
      const first = await ns().listTableTags({ id, limit: 2 });
      await ns().deleteTableTag({ id, tag: 'd' });
      await ns().deleteTableTag({ id, tag: 'h' });
      await ns().createTableTag({ id, tag: 'a', version: 1 });
      await ns().createTableTag({ id, tag: 'g', version: 1 });
      await ns().updateTableTag({ id, tag: 'f', version: 2 });
      const rest = await ns().listTableTags({ id, page_token: first.page_token ?? '' });
      expect([first.tags, rest.tags].map(Object.keys)).toEqual([
        ['b', 'd'],
        ['f', 'g'],
      ]);
      expect(rest.tags).toMatchObject({ f: { version: 2 }, g: { version: 1 } });
      expect(rest.page_token).toBeUndefined();
    });

    test('branches: from any version of any branch; numbers continue', async () => {
      await fill(3);
      await ns().createTableBranch({ id, name: 'newest' });
      await ns().createTableBranch({ id, name: 'old', from_version: 1 });
      await ns().insertIntoTable({ id, branch: 'old' }, people(1, 100));
      await ns().createTableBranch({ id, name: 'twig', from_branch: 'old', from_version: 2 });
      const twig = await ns().insertIntoTable({ id, branch: 'twig' }, people(1, 200));
      const newest = await ns().insertIntoTable({ id, branch: 'newest' }, people(1, 300));
      expect([twig.version, newest.version]).toEqual([3, 4]);
      expect(await idsOf(ns(), id)).toEqual([0, 1, 2]);
      expect(await idsOf(ns(), id, { branch: 'newest' })).toEqual([0, 1, 2, 300]);
      expect(await idsOf(ns(), id, { branch: 'old' })).toEqual([0, 100]);
      expect(await idsOf(ns(), id, { branch: 'twig' })).toEqual([0, 100, 200]);
      expect(await idsOf(ns(), id, { branch: 'twig', version: 2 })).toEqual([0, 100]);
      expect(await numbers({ branch: 'twig' })).toEqual([2, 3]);
      const { branches } = await ns().listTableBranches({ id });
      expect(branches).toMatchObject({
        newest: { parentVersion: 3 },
        old: { parentVersion: 1 },
        twig: { parentBranch: 'old', parentVersion: 2, createAt: expect.any(Number) },
      });
      // Main goes without saying.
      expect(branches.newest).not.toHaveProperty('parentBranch');
      expect(Object.keys(branches)).toEqual(['newest', 'old', 'twig']);
    });

    testOf('extensions')(
      'branches: rows are deleted, versions restored and overwritten on them',
      async () => {
        await fill(2);
        await ns().createTableBranch({ id, name: 'side' });
        const rowIds = await rowIdsOf(ns(), id, { branch: 'side' });
        await ns().deleteRows({ id, branch: 'side', row_ids: [rowIds.get(0) ?? 0n] });
        expect(await idsOf(ns(), id, { branch: 'side' })).toEqual([1]);
        await ns().restoreTable({ id, branch: 'side', version: 2 });
        expect(await idsOf(ns(), id, { branch: 'side' })).toEqual([0, 1]);
        await ns().insertIntoTable({ id, branch: 'side', mode: 'overwrite' }, people(1, 5));
        expect(await idsOf(ns(), id, { branch: 'side' })).toEqual([5]);
        expect(await idsOf(ns(), id)).toEqual([0, 1]);
        expect(await numbers({ branch: 'side' })).toEqual([2, 3, 4, 5]);
      },
    );

    test('branches: taken, missing, main, and tagged ones', async () => {
      await fill(2);
      await ns().createTableBranch({ id, name: 'side' });
      for (const name of ['side', 'main']) {
        await expectError(ns().createTableBranch({ id, name }), 'TableBranchAlreadyExists');
      }
      await expectError(
        ns().createTableBranch({ id, name: 'x', from_version: 9 }),
        'TableVersionNotFound',
      );
      await expectError(
        ns().createTableBranch({ id, name: 'x', from_branch: 'no' }),
        'TableBranchNotFound',
      );
      for (const name of ['', '.x', 'a/b', '..', 'x'.repeat(201)]) {
        await expectError(ns().createTableBranch({ id, name }), 'InvalidInput');
      }
      await expectError(ns().deleteTableBranch({ id, name: 'main' }), 'InvalidInput');
      await expectError(ns().deleteTableBranch({ id, name: 'no' }), 'TableBranchNotFound');
      await ns().createTableTag({ id, tag: 'k', version: 2, branch: 'side' });
      await expectError(ns().deleteTableBranch({ id, name: 'side' }), 'InvalidTableState');
      await ns().deleteTableTag({ id, tag: 'k' });
      await ns().deleteTableBranch({ id, name: 'side' });
      await expectError(idsOf(ns(), id, { branch: 'side' }), 'TableBranchNotFound');
      await ns().declareTable({ id: ['d'] });
      await expectError(ns().createTableBranch({ id: ['d'], name: 'x' }), 'InvalidTableState');
    });

    test('branches: one that is made anew starts anew', async () => {
      await fill(2);
      await ns().createTableBranch({ id, name: 'side' });
      await ns().insertIntoTable({ id, branch: 'side' }, people(1, 50));
      await ns().deleteTableBranch({ id, name: 'side' });
      await ns().createTableBranch({ id, name: 'side', from_version: 1 });
      expect(await idsOf(ns(), id, { branch: 'side' })).toEqual([0]);
      expect(await numbers({ branch: 'side' })).toEqual([1]);
    });

    test('branches: pages', async () => {
      await fill(1);
      for (const name of ['a', 'b', 'c']) await ns().createTableBranch({ id, name });
      const first = await ns().listTableBranches({ id, limit: 2 });
      expect(Object.keys(first.branches)).toEqual(['a', 'b']);
      const rest = await ns().listTableBranches({ id, page_token: first.page_token ?? '' });
      expect(Object.keys(rest.branches)).toEqual(['c']);
    });

    test('branches: a token survives concurrent change', async () => {
      await fill(1);
      for (const name of ['b', 'd', 'f', 'h']) await ns().createTableBranch({ id, name });
      const first = await ns().listTableBranches({ id, limit: 2 });
      await ns().deleteTableBranch({ id, name: 'd' });
      await ns().deleteTableBranch({ id, name: 'h' });
      await ns().createTableBranch({ id, name: 'a' });
      await ns().createTableBranch({ id, name: 'g' });
      await ns().insertIntoTable({ id, branch: 'f' }, people(1, 50));
      const rest = await ns().listTableBranches({ id, page_token: first.page_token ?? '' });
      expect([first.branches, rest.branches].map(Object.keys)).toEqual([
        ['b', 'd'],
        ['f', 'g'],
      ]);
      expect(rest.page_token).toBeUndefined();
    });

    testOf('extensions')('rows are deleted by row id; unknown ids are ignored', async () => {
      await ns().createTable({ id }, people(4));
      await ns().insertIntoTable({ id }, people(4, 4));
      const rowIds = await rowIdsOf(ns(), id);
      const gone = [1, 3, 6].map((row) => rowIds.get(row) ?? 0n);
      const answer = await ns().deleteRows({ id, row_ids: [...gone, 99n << 32n, 77n, -1n] });
      expect(answer).toMatchObject({ version: 3, num_deleted_rows: 3 });
      expect(await idsOf(ns(), id)).toEqual([0, 2, 4, 5, 7]);
      expect(await idsOf(ns(), id, { version: 2 })).toEqual(range(0, 8));
      const again = await ns().deleteRows({ id, row_ids: gone });
      expect(again).toMatchObject({ version: 3, num_deleted_rows: 0 });
      expect(await numbers()).toEqual([1, 2, 3]);
      const after = await rowIdsOf(ns(), id);
      for (const row of [0, 2, 4, 5, 7]) expect(after.get(row)).toBe(rowIds.get(row));
    });

    testOf('extensions')('a fragment wholly deleted is dropped', async () => {
      await ns().createTable({ id }, people(3));
      await ns().insertIntoTable({ id }, people(3, 3));
      const rowIds = await rowIdsOf(ns(), id);
      await ns().deleteRows({ id, row_ids: [rowIds.get(0) ?? 0n] });
      await ns().deleteRows({ id, row_ids: [1, 2].map((row) => rowIds.get(row) ?? 0n) });
      const { stats } = await ns().describeTable({ id, load_detailed_metadata: true });
      expect(stats).toEqual({ num_deleted_rows: 0, num_fragments: 1 });
      expect(await idsOf(ns(), id)).toEqual([3, 4, 5]);
      await ns().deleteRows({ id, row_ids: [3, 4, 5].map((row) => rowIds.get(row) ?? 0n) });
      expect(await idsOf(ns(), id)).toEqual([]);
      await ns().insertIntoTable({ id }, people(1, 9));
      expect((await rowIdsOf(ns(), id)).get(9)).not.toBe(rowIds.get(0));
    });

    test('delete versions: ranges, end exclusive, the newest stays', async () => {
      await fill(8);
      const ranges = [
        { start_version: 2, end_version: 4 },
        { start_version: 6, end_version: 7 },
      ];
      const { deleted_count } = await ns().batchDeleteTableVersions({ id, ranges });
      expect(deleted_count).toBe(3);
      expect(await numbers()).toEqual([1, 4, 5, 7, 8]);
      await expectError(idsOf(ns(), id, { version: 3 }), 'TableVersionNotFound');
      await expectError(idsOf(ns(), id, { version: 2 }), 'TableVersionNotFound');
      expect(await idsOf(ns(), id, { version: 4 })).toEqual(range(0, 4));
      await ns().insertIntoTable({ id }, people(1, 8));
      expect(await idsOf(ns(), id)).toEqual(range(0, 9));
      const again = await ns().batchDeleteTableVersions({ id, ranges });
      expect(again.deleted_count).toBe(0);
      const all = [{ start_version: 0, end_version: 9 }];
      expect((await ns().batchDeleteTableVersions({ id, ranges: all })).deleted_count).toBe(5);
      expect(await numbers()).toEqual([9]);
    });

    test('delete versions: all ranges or none', async () => {
      await fill(5);
      await ns().createTableTag({ id, tag: 'keep', version: 3 });
      for (const ranges of [
        [
          { start_version: 1, end_version: 2 },
          { start_version: 3, end_version: 4 },
        ],
        [{ start_version: 1, end_version: 6 }],
        [{ start_version: 1, end_version: -1 }],
      ]) {
        await expectError(ns().batchDeleteTableVersions({ id, ranges }), 'InvalidTableState');
      }
      await expectError(
        ns().batchDeleteTableVersions({ id, ranges: [{ start_version: 4, end_version: 2 }] }),
        'InvalidInput',
      );
      expect(await numbers()).toEqual([1, 2, 3, 4, 5]);
    });

    test('delete versions: from 0 to -1 deletes all but the newest, once', async () => {
      await fill(3);
      const all = { id, ranges: [{ start_version: 0, end_version: -1 }] };
      expect((await ns().batchDeleteTableVersions(all)).deleted_count).toBe(2);
      expect(await numbers()).toEqual([3]);
      expect((await ns().batchDeleteTableVersions(all)).deleted_count).toBe(0);
      await ns().insertIntoTable({ id }, people(1, 3));
      const operations = [{ delete_table_versions: all }];
      expect((await ns().batchCommitTables({ operations })).results).toEqual([
        { delete_table_versions: { deleted_count: 1 } },
      ]);
      expect(await numbers()).toEqual([4]);
      expect(await idsOf(ns(), id)).toEqual([0, 1, 2, 3]);
    });

    test('delete versions: the newest named as such is refused, and the error says what to ask', async () => {
      await fill(3);
      const refused = await expectError(
        ns().batchDeleteTableVersions({ id, ranges: [{ start_version: 0, end_version: 4 }] }),
        'InvalidTableState',
      );
      expect(refused.message).toContain('Version 3');
      expect(refused.message).toContain('End the range at 3');
      expect(await numbers()).toEqual([1, 2, 3]);
      const ranges = [{ start_version: 0, end_version: 3 }];
      expect((await ns().batchDeleteTableVersions({ id, ranges })).deleted_count).toBe(2);
    });

    testOf('extensions')('cleanup keeps the newest of each branch and what tags name', async () => {
      await fill(6);
      await ns().createTableBranch({ id, name: 'side', from_version: 2 });
      await ns().insertIntoTable({ id, branch: 'side' }, people(1, 50));
      await ns().createTableTag({ id, tag: 'keep', version: 3 });
      const cleanup = { id, older_than_millis: 0, orphan_grace_millis: 0 };
      const dry = await ns().cleanupTable({ ...cleanup, dry_run: true });
      expect(await numbers()).toEqual([1, 2, 3, 4, 5, 6]);
      const done = await ns().cleanupTable(cleanup);
      expect(done).toEqual({ ...dry, dry_run: false });
      expect(await numbers()).toEqual([3, 6]);
      expect(await numbers({ branch: 'side' })).toEqual([3]);
      expect(await idsOf(ns(), id, { version: 3 })).toEqual([0, 1, 2]);
      expect(await idsOf(ns(), id)).toEqual(range(0, 6));
      expect(await idsOf(ns(), id, { branch: 'side' })).toEqual([0, 1, 50]);
      await ns().insertIntoTable({ id }, people(1, 6));
      expect(await idsOf(ns(), id)).toEqual(range(0, 7));
      expect(await numbers()).toEqual([3, 6, 7]);
    });

    testOf('extensions')('cleanup removes the files that nothing refers to', async () => {
      await fill(3);
      await ns().createTable({ id, mode: 'overwrite' }, people(1, 9));
      const report = await ns().cleanupTable({
        id,
        older_than_millis: 0,
        orphan_grace_millis: 0,
      });
      expect(report).toMatchObject({ versions_removed: 3, files_removed: 3 });
      expect(report.bytes_removed).toBeGreaterThan(0);
      expect(await idsOf(ns(), id)).toEqual([9]);
      const arrow = subject()
        .files?.all()
        .filter((path) => path.endsWith('.arrow'));
      expect(arrow ?? ['one']).toHaveLength(1);
    });

    testOf('extensions')(
      'cleanup spares what is young, and refuses ages that are none',
      async () => {
        await fill(3);
        const report = await ns().cleanupTable({ id, older_than_millis: 3_600_000 });
        expect(report).toMatchObject({ versions_removed: 0, files_removed: 0 });
        for (const older_than_millis of [-1, 0.5, Number.NaN]) {
          await expectError(ns().cleanupTable({ id, older_than_millis }), 'InvalidInput');
        }
        await expectError(ns().cleanupTable({ id: ['x'], older_than_millis: 0 }), 'TableNotFound');
      },
    );

    test('transactions: described by the id a commit returned', async () => {
      const { transaction_id = '' } = await ns().createTable({ id }, people(1));
      const inserted = await ns().insertIntoTable({ id }, people(1));
      for (const [transaction, version, operation] of [
        [transaction_id, '1', 'create'],
        [inserted.transaction_id ?? '', '2', 'append'],
      ] as const) {
        const answer = await ns().describeTransaction({ id: [transaction] });
        expect(answer.status).toBe('Succeeded');
        expect(answer.properties).toMatchObject({ table: 't', branch: 'main', version, operation });
      }
    });

    test('transactions: every change of rows or columns answers its own', async () => {
      const made = await ns().createTable({ id }, people(2));
      const answers = [
        made,
        await ns().insertIntoTable({ id }, people(1)),
        await ns().updateTable({ id, updates: [['name', "'x'"]] }),
        await ns().deleteFromTable({ id, predicate: 'true' }),
        await ns().alterTableAddColumns({ id, new_columns: [{ name: 'n', expression: '1' }] }),
        await ns().alterTableAlterColumns({ id, alterations: [{ path: 'n', rename: 'm' }] }),
        await ns().updateFieldMetadata({ id, updates: [{ path: 'm', metadata: { a: 'b' } }] }),
        await ns().alterTableDropColumns({ id, columns: ['m'] }),
        await ns().restoreTable({ id, version: 1 }),
      ];
      for (const [at, { transaction_id = '' }] of answers.entries()) {
        const answer = await ns().describeTransaction({ id: [transaction_id] });
        expect(answer.properties).toMatchObject({ table: 't', version: String(at + 1) });
      }
    });

    test('transactions: after the id of their table, as Lance names them, and of no other', async () => {
      await ns().createNamespace({ id: ['n'] });
      const other = ['n', 'u'];
      const { transaction_id = '' } = await ns().createTable({ id: other }, people(1));
      await ns().createTable({ id }, people(1));
      const named = [...other, transaction_id];
      const { properties } = await ns().describeTransaction({ id: named });
      expect(properties).toMatchObject({ table: 'n$u', operation: 'create' });
      const actions = [{ setPropertyAction: { key: 'k', value: '1' } }];
      expect(await ns().alterTransaction({ id: named, actions })).toMatchObject({
        properties: { k: '1' },
      });
      for (const table of [id, ['u'], ['n']]) {
        const wrong = [...table, transaction_id];
        await expectError(ns().describeTransaction({ id: wrong }), 'TransactionNotFound');
        await expectError(ns().alterTransaction({ id: wrong, actions }), 'TransactionNotFound');
      }
    });

    test('transactions: unknown ones are not found', async () => {
      await ns().createTable({ id }, people(1));
      for (const unknown of [[], ['x'], ['a', 'b'], ['../../x'], ['0'.repeat(36)]]) {
        await expectError(ns().describeTransaction({ id: unknown }), 'TransactionNotFound');
        await expectError(
          ns().alterTransaction({
            id: unknown,
            actions: [{ setPropertyAction: { key: 'a', value: 'b' } }],
          }),
          'TransactionNotFound',
        );
      }
    });

    test('transactions: properties are set and unset, by mode', async () => {
      const { transaction_id = '' } = await ns().createTable({ id }, people(1));
      const alter = (action: object) =>
        ns().alterTransaction({ id: [transaction_id], actions: [action] });
      const set = (key: string, value: string, mode?: string) =>
        alter({ setPropertyAction: { key, value, ...(mode && { mode }) } });
      const unset = (key: string, mode?: string) =>
        alter({ unsetPropertyAction: { key, ...(mode && { mode }) } });
      expect((await set('k', '1')).properties).toMatchObject({ k: '1' });
      expect((await set('k', '2', 'skip')).properties).toMatchObject({ k: '1' });
      expect((await set('k', '3', 'Overwrite')).properties).toMatchObject({ k: '3' });
      await expectError(set('k', '4', 'FAIL'), 'InvalidInput');
      const described = await ns().describeTransaction({ id: [transaction_id] });
      expect(described.properties).toMatchObject({ k: '3', operation: 'create' });
      expect((await unset('k')).properties).not.toHaveProperty('k');
      await unset('k', 'Skip');
      await expectError(unset('k', 'fail'), 'InvalidInput');
      await expectError(set('version', '9'), 'InvalidInput');
      // An action that says two things, or nothing, is refused before any is done.
      const both = {
        setPropertyAction: { key: 'k', value: '5' },
        unsetPropertyAction: { key: 'k' },
      };
      for (const action of [both, {}]) {
        const actions = [{ setPropertyAction: { key: 'j', value: '1' } }, action];
        await expectError(ns().alterTransaction({ id: [transaction_id], actions }), 'InvalidInput');
      }
      const last = await ns().describeTransaction({ id: [transaction_id] });
      expect(last.properties).not.toHaveProperty('j');
    });

    test('transactions: of an action that is refused, no other one is done', async () => {
      const { transaction_id = '' } = await ns().createTable({ id }, people(1));
      const actions = [
        { setPropertyAction: { key: 'j', value: '1' } },
        { setStatusAction: { status: 'Canceled' } },
      ];
      await expectError(ns().alterTransaction({ id: [transaction_id], actions }), 'InvalidInput');
      const { properties } = await ns().describeTransaction({ id: [transaction_id] });
      expect(properties).not.toHaveProperty('j');
    });

    test('transactions: what succeeded stays so', async () => {
      const { transaction_id = '' } = await ns().createTable({ id }, people(1));
      const status = (value: string) =>
        ns().alterTransaction({
          id: [transaction_id],
          actions: [{ setStatusAction: { status: value } }],
        });
      expect((await status('succeeded')).status).toBe('Succeeded');
      for (const value of ['Canceled', 'FAILED', 'running', 'nonsense']) {
        await expectError(status(value), 'InvalidInput');
      }
    });
  });
}
