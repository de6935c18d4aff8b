/** The index operations of a catalog. */
import { describe, expect } from 'vitest';
import {
  Field,
  FixedSizeList,
  Float32,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Table,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { expectError, partOf, people, type SuiteOptions } from './context.ts';

function vectorRows(count: number): RecordBatchStream {
  const vectors = Array.from({ length: count }, (_, row) => [row % 7, row % 5, row]);
  const type = new FixedSizeList(3, new Field('item', new Float32(), true));
  const table = new Table({ vector: vectorFromArray(vectors, type) });
  return recordBatchStream(table.schema, table.batches);
}

async function valuesOf(rows: AsyncIterable<RecordBatch>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const batch of rows) values.push(...(batch.getChild('_distance') ?? []));
  return values;
}

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
      for (const { message } of [stats, drop]) expect(message).toContain('was not found');
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

    test('an index of a column is listed, described, replaced and dropped', async () => {
      await ns().createTable({ id }, people(20));
      await ns().createTableIndex({ id, column: 'id', index_type: 'BTREE' });
      await ns().insertIntoTable({ id }, people(5, 20));
      const { indexes } = await ns().listTableIndices({ id });
      expect(indexes).toEqual([
        {
          index_name: 'id_idx',
          index_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          columns: ['id'],
          status: 'done',
          index_type: 'BTREE',
          num_indexed_rows: 20,
          num_unindexed_rows: 5,
          size_bytes: expect.any(Number),
          num_segments: 1,
          created_at: expect.stringMatching(/^\d{4}-/),
          index_version: 1,
          index_details: '{}',
        },
      ]);
      expect((await ns().getTableStats({ id })).num_indices).toBe(1);
      const named = { id, index_name: 'id_idx' };
      expect(await ns().describeTableIndexStats(named)).toEqual({
        index_type: 'BTREE',
        num_indexed_rows: 20,
        num_unindexed_rows: 5,
        num_indices: 1,
      });
      const again = { id, column: 'id', index_type: 'btree', name: 'id_idx' };
      const taken = ns().createTableIndex({ ...again, replace: false });
      expect((await expectError(taken, 'TableIndexAlreadyExists')).message).toContain(
        'already exists',
      );
      await ns().createTableScalarIndex(again);
      const other = { id, column: 'name', index_type: 'BTREE', name: 'other' };
      await ns().createTableScalarIndex(other);
      const second = await ns().listTableIndices({ id });
      expect(second.indexes.map((index) => [index.index_name, index.num_unindexed_rows])).toEqual([
        ['id_idx', 0],
        ['other', 0],
      ]);
      expect(second.indexes[0]?.index_uuid).not.toBe(indexes[0]?.index_uuid);
      const page = await ns().listTableIndices({ id, limit: 1 });
      expect(page.indexes).toHaveLength(1);
      const rest = await ns().listTableIndices({ id, page_token: page.page_token ?? '' });
      expect(rest.indexes.map(({ index_name }) => index_name)).toEqual(['other']);
      await ns().dropTableIndex(named);
      await expectError(ns().describeTableIndexStats(named), 'TableIndexNotFound');
      // An older version has what it had.
      expect((await ns().listTableIndices({ id, version: 2 })).indexes).toEqual([
        { ...indexes[0], num_unindexed_rows: 0 },
      ]);
    });

    test('an index of vectors says what it is, whatever type was asked for', async () => {
      await ns().createTable({ id }, vectorRows(40));
      const request = { id, column: 'vector', index_type: 'IVF_HNSW_SQ', m: 8 };
      await ns().createTableIndex({ ...request, distance_type: 'Cosine', num_partitions: 3 });
      const { indexes } = await ns().listTableIndices({ id });
      expect(indexes).toMatchObject([
        { index_name: 'vector_idx', columns: ['vector'], index_type: 'IVF_SQ', num_segments: 1 },
      ]);
      expect(JSON.parse(indexes[0]?.index_details ?? '')).toEqual({
        distance_type: 'cosine',
        num_partitions: 3,
        requested: { index_type: 'IVF_HNSW_SQ', m: 8 },
      });
      const named = { id, index_name: 'vector_idx' };
      expect(await ns().describeTableIndexStats(named)).toEqual({
        index_type: 'IVF_SQ',
        distance_type: 'cosine',
        num_indexed_rows: 40,
        num_unindexed_rows: 0,
        num_indices: 1,
      });
      const vector = { single_vector: [1, 1, 0] };
      const probes = { nprobes: 2, refine_factor: 2, minimum_nprobes: 1, maximum_nprobes: 2 };
      const query = { id, k: 5, vector, ...probes };
      expect(await valuesOf(await ns().queryTable(query))).toHaveLength(5);
      const { plan } = await ns().explainTableQueryPlan({ id, query });
      expect(plan).toContain('by cosine');
      expect(plan).toContain('Index: none used, 40 rows are measured as fast');
      await expectError(ns().queryTable({ ...query, minimum_nprobes: 3 }), 'InvalidInput');
      await expectError(ns().createTableIndex({ ...request, num_bits: 8 }), 'InvalidInput');
      await ns().dropTableIndex(named);
      expect(await ns().listTableIndices({ id })).toEqual({ indexes: [] });
    });

    test('an index that cannot be is refused, and says why', async () => {
      await ns().createTable({ id }, people(1));
      const index = { id, column: 'id', index_type: 'BTREE' };
      for (const call of [
        (more: object) => ns().createTableIndex({ ...index, ...more }),
        (more: object) => ns().createTableScalarIndex({ ...index, ...more }),
      ]) {
        await expectError(call({ id: ['missing'] }), 'TableNotFound');
        await expectError(call({ branch: 'missing' }), 'TableBranchNotFound');
        await expectError(call({ column: 'missing' }), 'TableColumnNotFound');
        await expectError(call({ index_type: 'TREE' }), 'InvalidInput');
        await expectError(call({ name: '' }), 'InvalidInput');
        const vector = await expectError(call({ index_type: 'IVF_XY' }), 'Unsupported');
        expect(vector.message).toContain('IVF_XY');
        for (const index_type of ['IVF_PQ', 'IVF_RQ']) {
          const plain = await expectError(call({ index_type }), 'InvalidInput');
          expect(plain.message).toContain('fixed_size_list');
        }
        const option = await expectError(call({ num_partitions: 2 }), 'InvalidInput');
        expect(option.message).toContain('num_partitions');
      }
      await ns().declareTable({ id: ['d'] });
      await expectError(ns().createTableIndex({ ...index, id: ['d'] }), 'InvalidTableState');
      expect(await ns().listTableIndices({ id })).toEqual({ indexes: [] });
    });
  });
}
