/** DescribeTable: one test for each row of the specification's tables, named after its rule. */
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { expectError, partOf, people, rowIdsOf, type SuiteOptions } from './context.ts';

export function describePart(options: SuiteOptions): void {
  describe('describe table', () => {
    const { test, testOf, ns, subject } = partOf(options);
    const id = ['n', 't'];
    const detailed = { id, load_detailed_metadata: true };

    async function fill(): Promise<void> {
      await ns().createNamespace({ id: ['n'] });
      await ns().createTable({ id }, people(2));
      await ns().insertIntoTable({ id }, people(3, 2));
      await ns().createTableTag({ id, tag: 'first', version: 1 });
      await ns().createTableBranch({ id, name: 'side', from_version: 1 });
      await ns().insertIntoTable({ id, branch: 'side' }, people(7, 2));
    }

    test('version: when absent the latest', async () => {
      await fill();
      expect((await ns().describeTable(detailed)).version).toBe(2);
    });

    test('version: the one asked for, with its own schema, stats and metadata', async () => {
      await fill();
      const answer = await ns().describeTable({ ...detailed, version: 1 });
      expect(answer).toMatchObject({ version: 1, stats: { num_fragments: 1 } });
    });

    test('version: 0 and versions that are not there are not found', async () => {
      await fill();
      for (const version of [0, 3, 99]) {
        await expectError(ns().describeTable({ id, version }), 'TableVersionNotFound');
        await expectError(ns().describeTable({ ...detailed, version }), 'TableVersionNotFound');
      }
    });

    test('tag: resolved to its version', async () => {
      await fill();
      expect((await ns().describeTable({ ...detailed, tag: 'first' })).version).toBe(1);
      await ns().createTableTag({ id, tag: 'aside', version: 2, branch: 'side' });
      const aside = await ns().describeTable({ ...detailed, tag: 'aside' });
      expect(aside.version).toBe(2);
      await expectError(ns().describeTable({ id, tag: 'none' }), 'TableTagNotFound');
    });

    test('tag: must not be combined with version or branch', async () => {
      await fill();
      for (const other of [
        { version: 1 },
        { branch: 'side' },
        { branch: 'main' },
        { version: 0 },
      ]) {
        await expectError(ns().describeTable({ id, tag: 'first', ...other }), 'InvalidInput');
      }
    });

    test('branch: main if absent, otherwise the branch named', async () => {
      await fill();
      const main = await ns().describeTable({ ...detailed, branch: 'main' });
      const side = await ns().describeTable({ ...detailed, branch: 'side' });
      expect([main.version, side.version]).toEqual([2, 2]);
      expect((await ns().countTableRows({ id, branch: 'side' })).count).toBe(9);
      const old = await ns().describeTable({ ...detailed, branch: 'side', version: 1 });
      expect(old.version).toBe(1);
      await expectError(ns().describeTable({ id, branch: 'none' }), 'TableBranchNotFound');
    });

    test('with_table_uri: table_uri only when it is true, and a complete, valid URI', async () => {
      await fill();
      expect(await ns().describeTable({ id })).not.toHaveProperty('table_uri');
      expect(await ns().describeTable({ id, with_table_uri: false })).not.toHaveProperty(
        'table_uri',
      );
      const { table_uri = '', location } = await ns().describeTable({ id, with_table_uri: true });
      expect(new URL(table_uri).protocol).toBe('file:');
      expect(fileURLToPath(table_uri)).toBe(location);
    });

    test('with_table_uri: escaped folder names are encoded once more', async () => {
      await ns().createTable({ id: ['..'] }, people(1));
      const { table_uri = '', location } = await ns().describeTable({
        id: ['..'],
        with_table_uri: true,
      });
      expect(fileURLToPath(table_uri)).toBe(location);
      expect(table_uri).toContain('%25');
    });

    test('load_detailed_metadata: when true all of version, schema, stats, table, namespace', async () => {
      await fill();
      const answer = await ns().describeTable(detailed);
      expect(answer).toMatchObject({
        table: 't',
        namespace: ['n'],
        version: 2,
        stats: { num_deleted_rows: 0, num_fragments: 2 },
        metadata: {},
        properties: {},
        is_only_declared: false,
      });
      expect(answer.schema?.fields.map(({ name, type }) => [name, type.type])).toEqual([
        ['id', 'int32'],
        ['name', expect.stringMatching(/utf8|dictionary/)],
      ]);
      const root = await ns().createTable({ id: ['r'] }, people(1));
      expect(root.version).toBe(1);
      const described = await ns().describeTable({ id: ['r'], load_detailed_metadata: true });
      expect(described).toMatchObject({ table: 'r', namespace: [] });
    });

    test('load_detailed_metadata: when false or unset only location, properties, managed_versioning', async () => {
      await fill();
      for (const request of [{ id }, { id, load_detailed_metadata: false }]) {
        const answer = await ns().describeTable(request);
        expect(Object.keys(answer).sort()).toEqual([
          'location',
          'managed_versioning',
          'properties',
        ]);
      }
    });

    test('location: always there', async () => {
      await fill();
      const { location } = await ns().describeTable({ id });
      expect(location).toMatch(/^\/.*n\/t\.table$/);
      expect((await ns().describeTable({ ...detailed, tag: 'first' })).location).toBe(location);
    });

    test('schema: JSON Arrow with name, nullable and type of each field', async () => {
      await fill();
      const { schema } = await ns().describeTable(detailed);
      expect(schema?.fields[0]).toMatchObject({
        name: 'id',
        nullable: expect.any(Boolean),
        type: { type: 'int32' },
      });
    });

    testOf('extensions')('stats: num_deleted_rows and num_fragments of that version', async () => {
      await fill();
      const rowIds = await rowIdsOf(ns(), id);
      await ns().deleteRows({ id, row_ids: [rowIds.get(0) ?? 0n, rowIds.get(2) ?? 0n] });
      expect((await ns().describeTable(detailed)).stats).toEqual({
        num_deleted_rows: 2,
        num_fragments: 2,
      });
      expect((await ns().describeTable({ ...detailed, version: 2 })).stats).toEqual({
        num_deleted_rows: 0,
        num_fragments: 2,
      });
    });

    test('properties: an empty object when none are set, of the table and not of a version', async () => {
      await ns().createTable({ id: ['a'] }, people(1));
      await ns().createTable({ id: ['b'], properties: { k: 'v' } }, people(1));
      await ns().insertIntoTable({ id: ['b'] }, people(1));
      expect((await ns().describeTable({ id: ['a'] })).properties).toEqual({});
      expect((await ns().describeTable({ id: ['b'], version: 1 })).properties).toEqual({ k: 'v' });
    });

    test('managed_versioning: says how the catalog commits', async () => {
      await fill();
      const { managed_versioning } = await ns().describeTable({ id });
      expect(managed_versioning).toBe(subject().managed ?? false);
    });

    test('is_only_declared: omitted unless asked for or required', async () => {
      await ns().declareTable({ id: ['d'] });
      for (const request of [{ id: ['d'] }, { id: ['d'], check_declared: false }]) {
        expect((await ns().describeTable(request)).is_only_declared ?? null).toBe(null);
      }
    });

    test('is_only_declared: true for a table without data, with check_declared', async () => {
      await ns().declareTable({ id: ['d'] });
      const answer = await ns().describeTable({ id: ['d'], check_declared: true });
      expect(answer.is_only_declared).toBe(true);
    });

    test('is_only_declared: false once it has storage components', async () => {
      await ns().declareTable({ id: ['d'] });
      await ns().createTable({ id: ['d'] }, people(0));
      const answer = await ns().describeTable({ id: ['d'], check_declared: true });
      expect(answer.is_only_declared).toBe(false);
    });

    test('is_only_declared: load_detailed_metadata requires the check', async () => {
      await ns().declareTable({ id: ['d'] });
      const declared = { id: ['d'], load_detailed_metadata: true, check_declared: false };
      expect((await ns().describeTable(declared)).is_only_declared).toBe(true);
    });

    test('a declared-only table described in detail answers what it has', async () => {
      await ns().declareTable({ id: ['d'], properties: { k: 'v' } });
      const answer = await ns().describeTable({
        id: ['d'],
        load_detailed_metadata: true,
        with_table_uri: true,
      });
      expect(answer).toMatchObject({
        table: 'd',
        namespace: [],
        properties: { k: 'v' },
        is_only_declared: true,
        location: expect.any(String),
        table_uri: expect.any(String),
      });
      for (const member of ['version', 'schema', 'stats', 'metadata']) {
        expect(answer).not.toHaveProperty(member);
      }
      await expectError(ns().describeTable({ id: ['d'], version: 1 }), 'TableVersionNotFound');
    });

    test('vend_credentials: the local default vends none', async () => {
      await fill();
      for (const vend_credentials of [true, false]) {
        const answer = await ns().describeTable({ id, vend_credentials });
        expect(answer).not.toHaveProperty('storage_options');
      }
    });

    test('identity and context are taken and change nothing', async () => {
      await fill();
      const answer = await ns().describeTable({
        ...detailed,
        identity: { api_key: 'k', auth_token: 't' },
        context: { tenant: 'x' },
      });
      expect(answer.version).toBe(2);
    });

    test('id: a missing table and a missing namespace are not found', async () => {
      await expectError(ns().describeTable({ id: ['x'] }), 'TableNotFound');
      await expectError(ns().describeTable({ id: ['x', 'y'] }), 'TableNotFound');
      await ns().createNamespace({ id: ['x'] });
      await expectError(ns().describeTable({ id: ['x'] }), 'TableNotFound');
    });
  });
}
