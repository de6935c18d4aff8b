/** What holds for every method alike: closed catalogs, aborted signals, read-only ones. */
import { describe, expect } from 'vitest';
import { DirspaceError } from '../../../src/errors.ts';
import { expectError, partOf, people, type SuiteOptions } from './context.ts';

interface Call {
  readonly request: Readonly<Record<string, unknown>>;
  readonly data?: true;
  readonly write?: true;
}

const id = ['t'];

/** A request for every method; those that write succeed on a catalog with the table t. */
export const CALLS: Readonly<Record<string, Call>> = {
  createNamespace: { request: { id: ['x'] }, write: true },
  listNamespaces: { request: { id: [] } },
  describeNamespace: { request: { id: ['n'] } },
  dropNamespace: { request: { id: ['n'] }, write: true },
  namespaceExists: { request: { id: ['n'] } },
  updateNamespaceProperties: { request: { id: ['n'], properties: { a: 'b' } }, write: true },
  listTables: { request: { id: [] } },
  listAllTables: { request: {} },
  describeTable: { request: { id, load_detailed_metadata: true } },
  tableExists: { request: { id } },
  declareTable: { request: { id: ['d'] }, write: true },
  createTable: { request: { id: ['c'] }, data: true, write: true },
  insertIntoTable: { request: { id }, data: true, write: true },
  dropTable: { request: { id }, write: true },
  cloneTable: { request: { id: ['c'], source_id: id }, write: true },
  undropTable: { request: { id: ['dropped'] }, write: true },
  listTrash: { request: { id: [] } },
  syncLance: { request: { id: [] }, write: true },
  purgeTrash: { request: { older_than_millis: 0 }, write: true },
  deregisterTable: { request: { id }, write: true },
  registerTable: { request: { id: ['r'], location: 'x' }, write: true },
  renameTable: { request: { id, new_table_name: 'u' }, write: true },
  restoreTable: { request: { id, version: 1 }, write: true },
  updateTableSchemaMetadata: { request: { id, metadata: { a: 'b' } }, write: true },
  updateTable: { request: { id, updates: [['id', 'id + 1']] }, write: true },
  deleteFromTable: { request: { id, predicate: 'id = 0' }, write: true },
  mergeInsertIntoTable: {
    request: { id, on: 'id', when_matched_update_all: true },
    data: true,
    write: true,
  },
  alterTableAddColumns: {
    request: { id, new_columns: [{ name: 'twice', expression: 'id * 2' }] },
    write: true,
  },
  alterTableAlterColumns: {
    request: { id, alterations: [{ path: 'id', rename: 'number' }] },
    write: true,
  },
  alterTableDropColumns: { request: { id, columns: ['id'] }, write: true },
  updateFieldMetadata: {
    request: { id, updates: [{ path: 'id', metadata: { a: 'b' } }] },
    write: true,
  },
  createTableIndex: { request: { id, column: 'id', index_type: 'BTREE' }, write: true },
  createTableScalarIndex: { request: { id, column: 'id', index_type: 'BTREE' }, write: true },
  alterTableBackfillColumns: { request: { id, column: 'id' }, write: true },
  createMaterializedView: {
    request: { id: ['v'], kind: 'query', output_schema: '', source_query: '{"source_table":"t"}' },
    write: true,
  },
  refreshMaterializedView: { request: { id }, write: true },
  listTableFiles: { request: { id } },
  runSql: { request: { sql: 'SELECT id FROM t' } },
  explainSql: { request: { sql: 'SELECT id FROM t' } },
  profileTable: { request: { id } },
  diffTable: { request: { id, from: {} } },
  diffTableBranch: { request: { id, from_branch: 'side' } },
  cherryPickTableBranch: { request: { id, from_branch: 'side' }, write: true },
  deleteRows: { request: { id, row_ids: [0n] }, write: true },
  cleanupTable: { request: { id, older_than_millis: 0 }, write: true },
  beginJob: { request: { id, operation: 'OptimizeTable' }, write: true },
  describeJob: { request: { job_id: 'missing' } },
  listJobs: { request: {} },
  cancelJob: { request: { job_id: 'missing' } },
  optimizeTable: { request: { id }, write: true },
  verify: { request: {} },
  repair: { request: { apply: true }, write: true },
  listTableVersions: { request: { id } },
  describeTableVersion: { request: { id } },
  createTableVersion: { request: { id, version: 2, manifest_path: 'x' }, write: true },
  batchCreateTableVersions: { request: { entries: [] }, write: true },
  batchDeleteTableVersions: { request: { id, ranges: [] }, write: true },
  batchCommitTables: { request: { operations: [] }, write: true },
  getTableStats: { request: { id } },
  queryTable: { request: { id, k: 1 } },
  takeRows: { request: { id, offsets: [0n] } },
  fetchBlobs: { request: { id, column: 'missing', row_ids: [0n] } },
  explainTableQueryPlan: { request: { id, query: { k: 1 } } },
  analyzeTableQueryPlan: { request: { id, k: 1 } },
  countTableRows: { request: { id } },
  listTableIndices: { request: { id } },
  describeTableIndexStats: { request: { id, index_name: 'missing' } },
  prewarmTableIndex: { request: { id, index_name: 'missing' } },
  dropTableIndex: { request: { id, index_name: 'missing' }, write: true },
  listTableTags: { request: { id } },
  getTableTagVersion: { request: { id, tag: 'first' } },
  createTableTag: { request: { id, tag: 'x', version: 1 }, write: true },
  updateTableTag: { request: { id, tag: 'first', version: 1 }, write: true },
  deleteTableTag: { request: { id, tag: 'first' }, write: true },
  listTableBranches: { request: { id } },
  createTableBranch: { request: { id, name: 'x' }, write: true },
  deleteTableBranch: { request: { id, name: 'side' }, write: true },
  describeTransaction: { request: { id: ['0'.repeat(36)] } },
  alterTransaction: {
    request: { id: ['0'.repeat(36)], actions: [{ setPropertyAction: { key: 'a', value: 'b' } }] },
    write: true,
  },
};

/** Reads of what no table of these tests has. */
const NOT_THERE = new Set([
  'describeTransaction',
  'describeTableIndexStats',
  'prewarmTableIndex',
  'describeJob',
  'cancelJob',
  'fetchBlobs',
]);

type Method = (...args: unknown[]) => Promise<unknown>;

export function traitsPart(options: SuiteOptions): void {
  describe('traits', () => {
    const { test, testOf, ns, subject } = partOf(options);

    const call = (target: object, name: string, signal?: AbortSignal): Promise<unknown> => {
      const { request, data } = CALLS[name] as Call;
      const method = (target as Record<string, Method>)[name]?.bind(target) as Method;
      const rest = signal === undefined ? [] : [{ signal }];
      return data ? method(request, people(1), ...rest) : method(request, ...rest);
    };

    async function fill(): Promise<void> {
      await ns().createNamespace({ id: ['n'] });
      await ns().createTable({ id }, people(2));
      await ns().createTable({ id: ['dropped'] }, people(2));
      await ns().dropTable({ id: ['dropped'] });
      await ns().createTableTag({ id, tag: 'first', version: 1 });
      await ns().createTableBranch({ id, name: 'side' });
    }
    const names = Object.keys(CALLS);

    testOf('extensions')('every method is covered', () => {
      for (const name of names) expect(ns()).toHaveProperty(name);
      return Promise.resolve();
    });

    testOf('extensions')('a closed catalog rejects every method with Closed', async () => {
      await fill();
      const target = subject().namespace;
      await target.close();
      await target.close();
      for (const name of names) await expectError(call(target, name), 'Closed');
    });

    testOf('extensions')(
      'an aborted signal rejects every method, and nothing changes',
      async () => {
        await fill();
        const before = subject().files?.all();
        const reason = new Error('enough');
        for (const name of names) {
          const work = call(ns(), name, AbortSignal.abort(reason));
          await expect(work, name).rejects.toBe(reason);
        }
        expect(subject().files?.all()).toEqual(before);
      },
    );

    testOf('signal reasons')('a signal aborted midway ends a write with its reason', async () => {
      await ns().createTable({ id }, people(1));
      const controller = new AbortController();
      const reason = new Error('midway');
      const source = people(3);
      const data = {
        schema: source.schema,
        async *[Symbol.asyncIterator]() {
          yield* source;
          controller.abort(reason);
          yield* source;
        },
      };
      const work = ns().insertIntoTable({ id }, data, { signal: controller.signal });
      await expect(work).rejects.toBe(reason);
      expect((await ns().countTableRows({ id })).count).toBe(1);
    });

    testOf('files')('a read-only catalog reads all and writes nothing', async () => {
      await fill();
      const { files, reopen } = subject();
      const before = files?.all();
      const readOnly = (await reopen?.({ readOnly: true })) as object;
      for (const name of names) {
        if (CALLS[name]?.write === true) await expectError(call(readOnly, name), 'ReadOnly');
        else if (!NOT_THERE.has(name)) await call(readOnly, name);
      }
      expect(files?.all()).toEqual(before);
    });

    test('errors are DirspaceErrors that say what was asked', async () => {
      const error = await expectError(ns().describeTable({ id: ['nowhere'] }), 'TableNotFound');
      expect(error).toBeInstanceOf(DirspaceError);
      expect(error.message).toContain('nowhere');
    });
  });
}
