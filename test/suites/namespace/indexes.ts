/** The index operations of a catalog whose tables have no indexes. */
import { describe, expect } from 'vitest';
import { expectError, partOf, people, type SuiteOptions } from './context.ts';

export function indexesPart(options: SuiteOptions): void {
  describe('indexes', () => {
    const { test, ns } = partOf(options);
    const id = ['t'];

    test('a table without indexes lists none: empty, declared, on a branch, at a version', async () => {
      await ns().createTable({ id }, people(2));
      await ns().createTableBranch({ id, name: 'side' });
      await ns().declareTable({ id: ['d'] });
      for (const request of [{ id }, { id, branch: 'side' }, { id, version: 1 }, { id: ['d'] }]) {
        expect(await ns().listTableIndices(request)).toEqual({ indexes: [] });
      }
      expect((await ns().getTableStats({ id })).num_indices).toBe(0);
    });

    test('statistics of a missing index are not found, and it cannot be dropped', async () => {
      await ns().createTable({ id }, people(2));
      const request = { id, index_name: 'id_idx' };
      const stats = await expectError(ns().describeTableIndexStats(request), 'TableIndexNotFound');
      const drop = await expectError(ns().dropTableIndex(request), 'TableIndexNotFound');
      for (const { message } of [stats, drop]) expect(message).toContain('t has no index "id_idx"');
    });

    test('the table, branch and version of an index request are looked for first', async () => {
      await ns().createTable({ id }, people(2));
      const calls = (more: object): (() => Promise<unknown>)[] => {
        const request = { id, index_name: 'i', ...more };
        return [
          () => ns().listTableIndices(request),
          () => ns().describeTableIndexStats(request),
          // The protocol's DropTableIndex names no version.
          ...('version' in more ? [] : [() => ns().dropTableIndex(request)]),
        ];
      };
      for (const [more, code] of [
        [{ id: ['missing'] }, 'TableNotFound'],
        [{ branch: 'missing' }, 'TableBranchNotFound'],
        [{ version: 9 }, 'TableVersionNotFound'],
      ] as const) {
        for (const call of calls(more)) await expectError(call(), code);
      }
      await expectError(ns().listTableIndices({ id, page_token: 'x' }), 'InvalidInput');
    });

    test('an index without a name is refused', async () => {
      await ns().createTable({ id }, people(1));
      await expectError(ns().describeTableIndexStats({ id }), 'InvalidInput');
      await expectError(ns().dropTableIndex({ id }), 'InvalidInput');
    });

    test('creating an index is not supported, and says so by name', async () => {
      await ns().createTable({ id }, people(1));
      const index = { id, column: 'id', index_type: 'BTREE' };
      const vector = await expectError(ns().createTableIndex(index), 'Unsupported');
      expect(vector.message).toContain('CreateTableIndex ');
      const scalar = await expectError(ns().createTableScalarIndex(index), 'Unsupported');
      expect(scalar.message).toContain('CreateTableScalarIndex ');
    });
  });
}
