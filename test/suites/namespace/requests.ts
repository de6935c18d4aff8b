/** Requests that ask for nothing, for what cannot be, or for two things at once: refused by name. */
import { describe, expect } from 'vitest';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { expectError, partOf, people, type SuiteOptions } from './context.ts';

export function requestsPart(options: SuiteOptions): void {
  describe('requests', () => {
    const { test, ns } = partOf(options);
    const id = ['t'];

    async function fill(): Promise<void> {
      const rows = [0, 1, 2].map((n) => ({ n, vector: [n, 1] }));
      await ns().createTable({ id }, await toRecordBatchStream(rows));
    }

    const ways = (query: object): (() => Promise<unknown>)[] => [
      () => ns().queryTable({ id, k: 2, ...query }),
      () => ns().explainTableQueryPlan({ id, query: { k: 2, ...query } }),
      () => ns().analyzeTableQueryPlan({ id, k: 2, ...query }),
    ];

    test('a query without a vector refuses a distance and a vector column that are none', async () => {
      await fill();
      const ordered = { order_by: [{ column_name: 'n' }] };
      for (const [query, code, word] of [
        [{ distance_type: 'nonsense' }, 'InvalidInput', 'nonsense'],
        [{ distance_type: 'nonsense', ...ordered }, 'InvalidInput', 'nonsense'],
        [{ vector_column: 'missing' }, 'TableColumnNotFound', 'vectors are in vector.'],
        [{ vector_column: 'missing', ...ordered }, 'TableColumnNotFound', '"missing"'],
        [{ vector_column: 'n' }, 'InvalidInput', 'Column n is float64'],
      ] as const) {
        for (const way of ways(query)) {
          expect((await expectError(way(), code)).message).toContain(word);
        }
      }
      for (const query of [{ distance_type: 'Cosine', vector_column: 'vector' }, {}]) {
        for (const way of ways({ ...query, vector: { single_vector: [], multi_vector: [] } })) {
          await way();
        }
      }
    });

    test('a query with one vector and several is refused', async () => {
      await fill();
      const vector = { single_vector: [1, 1], multi_vector: [[0, 1]] };
      for (const way of ways({ vector, vector_column: 'vector' })) {
        const error = await expectError(way(), 'InvalidInput');
        expect(error.message).toContain('both single_vector and multi_vector');
      }
      for (const one of [
        { single_vector: [1, 1], multi_vector: [] },
        { single_vector: [], multi_vector: [[0, 1]] },
      ]) {
        for (const way of ways({ vector: one, vector_column: 'vector' })) await way();
      }
    });

    test('pages of tables hold each once, whatever their size, beside one that goes', async () => {
      const names = ['a', 'a.b', 'b', 'b-c', 'd'];
      for (const name of names) await ns().declareTable({ id: [name] });
      for (const list of [
        (page: object) => ns().listTables({ id: [], ...page }),
        (page: object) => ns().listTables({ id: [], include_declared: true, ...page }),
        (page: object) => ns().listAllTables(page),
      ]) {
        for (let limit = 1; limit <= 6; limit++) {
          const pages: string[][] = [];
          let page_token: string | undefined;
          do {
            const page = await list({ limit, ...(page_token && { page_token }) });
            pages.push(page.tables);
            page_token = page.page_token;
          } while (page_token !== undefined);
          expect(pages.flat()).toEqual(names);
          expect(pages).toHaveLength(Math.ceil(names.length / limit));
        }
      }
      const { page_token = '' } = await ns().listTables({ id: [], limit: 2 });
      await ns().dropTable({ id: ['a.b'] });
      expect((await ns().listTables({ id: [], page_token })).tables).toEqual(['b', 'b-c', 'd']);
      for (const wrong of [{ limit: 0 }, { page_token: 'x' }]) {
        await expectError(ns().listTables({ id: [], ...wrong }), 'InvalidInput');
      }
    });

    test('an alteration of columns that changes nothing is refused, and no version is made', async () => {
      await ns().createTable({ id }, people(2));
      const alter = (alterations: object[]): Promise<unknown> =>
        ns().alterTableAlterColumns({ id, alterations: alterations as { path: string }[] });
      expect((await expectError(alter([]), 'InvalidInput')).message).toContain('No column');
      const sound = { path: 'name', rename: 'title' };
      const error = await expectError(alter([sound, { path: 'id' }]), 'InvalidInput');
      expect(error.message).toContain('"id" changes nothing');
      expect((await ns().listTableVersions({ id })).versions).toHaveLength(1);
      for (const [change, name] of [
        [{ rename: 'number' }, 'id'],
        [{ nullable: true }, 'number'],
        [{ data_type: { type: 'int64' } }, 'number'],
      ] as const) {
        await alter([{ path: name, ...change }]);
      }
    });
  });
}
