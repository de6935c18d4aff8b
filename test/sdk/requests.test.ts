/** Which requests the SDK makes, and what it makes of the answers. */

import { describe, expect, test } from 'vitest';
import {
  Field,
  Float32,
  Int64,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  tableFromArrays,
  Utf8,
} from '../../src/arrow/apache.ts';
import type { Env } from '../../src/env.ts';
import { systemEnv } from '../../src/env.ts';
import { DirspaceError, isDirspaceError } from '../../src/errors.ts';
import { Connection } from '../../src/sdk/connection.ts';
import { collectRows } from '../../src/sdk/convert/rows.ts';
import { toSql } from '../../src/sdk/table/sql-literal.ts';
import { updatesOf } from '../../src/sdk/table/updates.ts';
import { recordingCatalog, SCHEMA_JSON, TABLE_ANSWERS } from '../helpers/recording-catalog.ts';

type Answers = Parameters<typeof recordingCatalog>[0];

function setUp(answers: Answers = {}, options: Parameters<typeof recordingCatalog>[1] = {}) {
  const recording = recordingCatalog({ ...TABLE_ANSWERS, ...answers }, options);
  const env: Env = { ...systemEnv, now: () => 1_000_000_000_000 };
  return { ...recording, connection: new Connection(recording.catalog, { label: 'test', env }) };
}

const failsWith = async (call: Promise<unknown>, code: string): Promise<string> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isDirspaceError(error) ? error.code : error).toBe(code);
  return (error as Error).message;
};

const rows = [
  { id: 1n, name: 'a' },
  { id: 2n, name: 'b' },
];

describe('namespaces', () => {
  test('their operations', async () => {
    const { connection, calls } = setUp({
      createNamespace: () => ({ properties: { a: 'b' }, transaction_id: 't' }),
      listNamespaces: () => ({ namespaces: ['x'], page_token: 'more' }),
      dropNamespace: () => ({ transaction_id: ['t'] }),
      updateNamespaceProperties: () => ({ properties: { a: 'c' } }),
    });
    const created = await connection.createNamespace(['p', 'q'], {
      mode: 'exist_ok',
      properties: { a: 'b' },
    });
    expect(created).toEqual({ properties: { a: 'b' }, transactionId: 't' });
    expect(await connection.listNamespaces(['p'], { limit: 1, pageToken: 'k' })).toEqual({
      namespaces: ['x'],
      pageToken: 'more',
    });
    await connection.listNamespaces({ limit: 2 });
    await connection.listNamespaces();
    expect(await connection.dropNamespace(['p'], { behavior: 'cascade', mode: 'skip' })).toEqual({
      transactionId: ['t'],
    });
    const changes = { properties: { a: 'c' }, removals: ['d'] };
    expect(await connection.updateNamespaceProperties(['p'], changes)).toEqual({ a: 'c' });
    expect(calls.map(({ request }) => request)).toEqual([
      { id: ['p', 'q'], mode: 'exist_ok', properties: { a: 'b' } },
      { id: ['p'], limit: 1, page_token: 'k' },
      { id: [], limit: 2 },
      { id: [] },
      { id: ['p'], mode: 'skip', behavior: 'cascade' },
      { id: ['p'], ...changes },
    ]);
  });

  test('a path that is no array is refused before anything is asked', async () => {
    const { connection, calls } = setUp();
    await failsWith(connection.createNamespace('prod' as never), 'InvalidInput');
    await failsWith(connection.openTable('t', 'prod' as never), 'InvalidInput');
    await failsWith(connection.createTable('t', rows, 'prod' as never), 'InvalidInput');
    expect(calls).toEqual([]);
  });

  test('what a catalog cannot do is Unsupported', async () => {
    const without = ['updateNamespaceProperties', 'undropTable', 'watch', 'optimizeTable'];
    const { connection } = setUp({}, { without });
    await failsWith(connection.updateNamespaceProperties(['p'], {}), 'Unsupported');
    await failsWith(connection.undropTable('t'), 'Unsupported');
    expect(() => connection.watch()).toThrow('not supported');
    const table = await connection.openTable('t');
    await failsWith(table.optimize(), 'Unsupported');
  });
});

describe('lists of tables', () => {
  const answers: Answers = {
    listTables: ({ page_token }: { page_token?: string }) =>
      page_token === undefined ? { tables: ['a', 'b'], page_token: '2' } : { tables: ['c', 'd'] },
  };

  test('names of all pages', async () => {
    const { connection, calls } = setUp(answers);
    expect(await connection.tableNames(['p'])).toEqual(['a', 'b', 'c', 'd']);
    expect(calls.map(({ request }) => request)).toEqual([
      { id: ['p'] },
      { id: ['p'], page_token: '2' },
    ]);
    expect(await connection.tableNames({ startAfter: 'a', limit: 2 })).toEqual(['b', 'c']);
    expect(await connection.tableNames({ limit: 0 })).toEqual([]);
  });

  test('one page', async () => {
    const { connection, requests } = setUp({
      ...answers,
      listAllTables: () => ({ tables: ['p$t'] }),
    });
    expect(await connection.listTables({ limit: 2 })).toEqual({
      tables: ['a', 'b'],
      pageToken: '2',
    });
    const options = { includeDeclared: false, pageToken: '2' };
    expect(await connection.listTables(['p'], options)).toEqual({ tables: ['c', 'd'] });
    expect(requests('listTables')).toEqual([
      { id: [], limit: 2 },
      { id: ['p'], page_token: '2', include_declared: false },
    ]);
    expect(await connection.listAllTables()).toEqual({ tables: ['p$t'] });
  });

  test('a page token that does not move is an error, not a loop', async () => {
    const { connection } = setUp({ listTables: () => ({ tables: [], page_token: 'x' }) });
    await failsWith(connection.tableNames(), 'Internal');
  });
});

describe('createTable', () => {
  const created = async (
    call: (connection: Connection) => Promise<unknown>,
  ): Promise<{ request: unknown; rows: unknown }> => {
    let written: unknown;
    const { connection, requests } = setUp({
      createTable: async (_: unknown, data: RecordBatchStream) => {
        written = await collectRows(data);
        return { version: 1 };
      },
    });
    await call(connection);
    return { request: requests('createTable')[0], rows: written };
  };

  test.each<[string, (connection: Connection) => Promise<unknown>, object]>([
    ['name, data', (c) => c.createTable('t', rows), { id: ['t'] }],
    ['with a path', (c) => c.createTable('t', rows, ['p', 'q']), { id: ['p', 'q', 't'] }],
    [
      'with options',
      (c) => c.createTable('t', rows, { mode: 'overwrite' }),
      { id: ['t'], mode: 'overwrite' },
    ],
    [
      'with both',
      (c) => c.createTable('t', rows, ['p'], { existOk: true, properties: { a: 'b' } }),
      { id: ['p', 't'], mode: 'exist_ok', properties: { a: 'b' } },
    ],
    [
      'as one object',
      (c) => c.createTable({ name: 't', data: rows, mode: 'create' }, ['p']),
      { id: ['p', 't'], mode: 'create' },
    ],
    [
      'existOk beside create',
      (c) => c.createTable({ name: 't', data: rows, mode: 'create', existOk: true }),
      { id: ['t'], mode: 'exist_ok' },
    ],
    [
      'existOk beside create in another spelling',
      (c) => c.createTable('t', rows, { mode: 'CREATE' as 'create', existOk: true }),
      { id: ['t'], mode: 'exist_ok' },
    ],
    [
      'storage options',
      (c) => c.createTable('t', rows, { storageOptions: { k: 'v' } }),
      { id: ['t'], storage_options: { k: 'v' } },
    ],
  ])('%s', async (_, call, request) => {
    expect(await created(call)).toEqual({ request, rows });
  });

  test('tables that somebody else drops meanwhile are no failure of dropping all', async () => {
    const { connection, calls } = setUp({
      listTables: () => ({ tables: ['a', 'b'] }),
      dropTable: ({ id }: { id: string[] }) => {
        if (id[0] === 'a') throw new DirspaceError('TableNotFound', 'gone');
        return {};
      },
    });
    await connection.dropAllTables();
    expect(calls.map(({ method }) => method)).toEqual(['listTables', 'dropTable', 'dropTable']);
  });

  test('answers a table without asking for it again', async () => {
    const { connection, calls } = setUp({ createTable: () => ({ version: 1 }) });
    const table = await connection.createTable('t', rows, ['p']);
    expect(table.name).toBe('t');
    expect(table.namespacePath).toEqual(['p']);
    expect(calls.map(({ method }) => method)).toEqual(['createTable']);
  });

  test('an empty table has the schema given', async () => {
    let schema: Schema | undefined;
    const { connection } = setUp({
      createTable: (_: unknown, data: RecordBatchStream) => {
        schema = data.schema;
        return {};
      },
    });
    await connection.createEmptyTable('t', SCHEMA_JSON, ['p']);
    expect(schema?.fields.map(String)).toEqual(['id: Int64', 'name: Utf8']);
    await connection.createEmptyTable('t', new Schema([new Field('x', new Float32())]));
    expect(schema?.fields.map(String)).toEqual(['x: Float32']);
  });

  test('options given twice are refused', async () => {
    const { connection } = setUp();
    const call = connection.createTable('t', rows, {} as never, {});
    await failsWith(call, 'InvalidInput');
  });
});

describe('opening', () => {
  test('asks once', async () => {
    const { connection, calls } = setUp();
    const table = await connection.openTable('user', ['prod']);
    expect(calls).toEqual([
      {
        method: 'describeTable',
        request: { id: ['prod', 'user'], load_detailed_metadata: true },
        rest: [expect.anything()],
      },
    ]);
    expect(table.display()).toBe('Table(prod/user)');
    expect(table.currentBranch()).toBeNull();
  });

  test.each([
    [{ version: 3 }, { version: 3 }, 'Table(t at 3)'],
    [{ branch: 'work', version: 4 }, { version: 4, branch: 'work' }, 'Table(t at work@4)'],
    [{ branch: 'work' }, { branch: 'work' }, 'Table(t at work)'],
    [{ branch: 'main' }, {}, 'Table(t)'],
  ])('at %j', async (options, members, shown) => {
    const { connection, requests } = setUp();
    const table = await connection.openTable('t', [], options);
    const request = { id: ['t'], ...members, load_detailed_metadata: true };
    expect(requests('describeTable')).toEqual([request]);
    expect(table.display()).toBe(shown);
    await table.countRows();
    expect(requests('countTableRows')).toEqual([{ id: ['t'], ...members }]);
  });

  test.each([
    [{ tag: 'v1' }, { version: 1 }, 'Table(t at 1)'],
    [{ tag: 'draft' }, { version: 5, branch: 'work' }, 'Table(t at work@5)'],
  ])('at %j asks first which table it is', async (options, members, shown) => {
    const { connection, requests } = setUp();
    const table = await connection.openTable('t', [], options);
    const described = { id: ['t'], load_detailed_metadata: true };
    expect(requests('describeTable')).toEqual([described, { ...described, ...members }]);
    expect(table.display()).toBe(shown);
    await table.countRows();
    expect(requests('countTableRows')).toEqual([{ id: ['t'], ...members }]);
  });

  test.each([
    [{ version: 1, tag: 'v1' }],
    [{ tag: 'v1', branch: 'work' }],
    [{ version: 1, asOf: 5 }],
    [{ tag: 'v1', asOf: 5 }],
    [{ asOf: 'yesterday' }],
  ])('%j is refused', async (options) => {
    const { connection } = setUp();
    await failsWith(connection.openTable('t', [], options), 'InvalidInput');
  });

  test('a table that is only declared says so', async () => {
    const { connection } = setUp({ describeTable: () => ({ is_only_declared: true }) });
    expect(await failsWith(connection.openTable('t'), 'InvalidTableState')).toContain('declared');
  });

  test('as of a time: the newest version not after it, over pages', async () => {
    const times = new Map([
      [5, 5000],
      [4, 4000],
      [3, 3000],
      [2, 3000],
      [1, 1000],
    ]);
    const entries = [...times].map(([version, timestamp_millis]) => ({
      version,
      timestamp_millis,
    }));
    const { connection, requests } = setUp({
      listTableVersions: ({ page_token = '0' }: { page_token?: string }) => {
        const at = Number(page_token);
        const versions = entries.slice(at, at + 2);
        return at + 2 < entries.length ? { versions, page_token: String(at + 2) } : { versions };
      },
    });
    const versionAt = async (asOf: Date | number | string): Promise<number> =>
      (await connection.openTable('t', [], { asOf })).version();
    expect(await versionAt(9000)).toBe(5);
    expect(await versionAt(3999)).toBe(3);
    expect(await versionAt(new Date(1000))).toBe(1);
    expect(await versionAt('1970-01-01T00:00:02Z')).toBe(1);
    expect(requests('listTableVersions')[0]).toMatchObject({ id: ['t'], descending: true });
    const message = await failsWith(
      connection.openTable('t', [], { asOf: 999 }),
      'TableVersionNotFound',
    );
    expect(message).toContain('1970-01-01T00:00:01.000Z');
  });
});

describe('what exists', () => {
  const missing = (code: 'TableNotFound' | 'NamespaceNotFound' | 'PermissionDenied') => () => {
    throw new DirspaceError(code, 'no');
  };

  test('is true or false, and other failures stay failures', async () => {
    const there = setUp().connection;
    expect(await there.tableExists('t', ['p'])).toBe(true);
    expect(await there.namespaceExists(['p'])).toBe(true);
    const gone = setUp({
      tableExists: missing('NamespaceNotFound'),
      namespaceExists: missing('NamespaceNotFound'),
    }).connection;
    expect(await gone.tableExists('t', ['p'], { version: 3 })).toBe(false);
    expect(await gone.namespaceExists(['p'])).toBe(false);
    const closed = setUp({ tableExists: missing('PermissionDenied') }).connection;
    await failsWith(closed.tableExists('t'), 'PermissionDenied');
  });
});

describe('operations on tables of a catalog', () => {
  test('make these requests', async () => {
    const { connection, calls } = setUp({ listTables: () => ({ tables: ['a', 'b'] }) });
    await connection.declareTable('t', ['p'], { location: 'x', vendCredentials: true });
    await connection.registerTable('t', 'x.table', ['p'], { mode: 'overwrite' });
    await connection.deregisterTable('t');
    await connection.dropTable('t', ['p']);
    await connection.undropTable('t');
    await connection.renameTable('a', 'b', { namespacePath: ['p'], newNamespacePath: [] });
    await connection.renameTable('a', 'b');
    await connection.describeTable('t', ['p'], { check_declared: true });
    await connection.dropAllTables(['p']);
    await connection.describeTransaction('p$t$x');
    await connection.alterTransaction(['x'], [{ setStatusAction: { status: 'Canceled' } }]);
    expect(calls.map(({ method, request }) => [method, request])).toEqual([
      ['declareTable', { id: ['p', 't'], location: 'x', vend_credentials: true }],
      ['registerTable', { id: ['p', 't'], location: 'x.table', mode: 'overwrite' }],
      ['deregisterTable', { id: ['t'] }],
      ['dropTable', { id: ['p', 't'] }],
      ['undropTable', { id: ['t'] }],
      ['renameTable', { id: ['p', 'a'], new_table_name: 'b', new_namespace_id: [] }],
      ['renameTable', { id: ['a'], new_table_name: 'b' }],
      ['describeTable', { id: ['p', 't'], check_declared: true }],
      ['listTables', { id: ['p'] }],
      ['dropTable', { id: ['p', 'a'] }],
      ['dropTable', { id: ['p', 'b'] }],
      ['describeTransaction', { id: ['p', 't', 'x'] }],
      ['alterTransaction', { id: ['x'], actions: [{ setStatusAction: { status: 'Canceled' } }] }],
    ]);
  });
});

describe('a table', () => {
  test('reads its schema once as long as it is the same', async () => {
    const json = structuredClone(SCHEMA_JSON);
    const answer = { version: 1, schema: json };
    const { connection } = setUp({ describeTable: () => answer });
    const table = await connection.openTable('t');
    const schema = await table.schema();
    expect(await table.schema()).toEqual(schema);
    answer.schema = structuredClone(SCHEMA_JSON);
    expect(await table.schema()).toEqual(schema);
    answer.schema = { fields: [{ name: 'x', nullable: false, type: { type: 'int8' } }] };
    expect((await table.schema()).fields.map(String)).toEqual(['x: Int8']);
  });

  test('adds rows in the types of the table', async () => {
    const seen: unknown[] = [];
    const { connection, requests } = setUp({
      insertIntoTable: async (_: unknown, data: RecordBatchStream) => {
        seen.push(data.schema.fields.map(String), await collectRows(data));
        return { version: 8, num_inserted_rows: 1, transaction_id: 'x' };
      },
    });
    const table = await connection.openTable('t', ['p'], { branch: 'work' });
    expect(await table.add([{ id: 1 }])).toEqual({
      version: 8,
      numInsertedRows: 1,
      transactionId: 'x',
    });
    await table.add([{ name: 'x' }], { mode: 'overwrite' });
    await table.add(tableFromArrays({ z: Int32Array.of(5) }), { mode: 'overwrite' });
    await table.add([{ z: 5 }], {
      mode: 'overwrite',
      schema: { fields: [{ name: 'z', nullable: true, type: { type: 'int8' } }] },
    });
    const types = ['id: Int64', 'name: Utf8'];
    expect(seen).toEqual([
      types,
      [{ id: 1n, name: null }],
      types,
      [{ id: null, name: 'x' }],
      ['z: Int32'],
      [{ z: 5 }],
      ['z: Int8'],
      [{ z: 5 }],
    ]);
    const id = ['p', 't'];
    expect(requests('insertIntoTable')).toEqual([
      { id, branch: 'work' },
      ...Array.from({ length: 3 }, () => ({ id, branch: 'work', mode: 'overwrite' })),
    ]);
  });

  test('asks for the schema once, and again only where it may have changed', async () => {
    let refused = false;
    const { connection, calls } = setUp({
      insertIntoTable: async (_: unknown, data: RecordBatchStream) => {
        await collectRows(data);
        if (refused) throw new DirspaceError('TableSchemaValidation', 'other columns');
        return { version: 8, num_inserted_rows: 1 };
      },
    });
    const methods = (): string =>
      calls
        .splice(0)
        .map(({ method }) => method)
        .join(' ');
    const table = await connection.openTable('t');
    methods();
    await table.add([{ id: 1 }]);
    expect(methods()).toBe('describeTable insertIntoTable');
    await table.add([{ id: 2 }]);
    expect(methods()).toBe('insertIntoTable');
    // What can be read once, and what makes a schema of it, takes no chances.
    await table.add(
      (async function* () {
        yield { id: 3 };
      })(),
    );
    expect(methods()).toBe('describeTable insertIntoTable');
    await table.add([{ id: 4 }], { mode: 'overwrite' });
    expect(methods()).toBe('describeTable insertIntoTable');
    refused = true;
    expect(await failsWith(table.add([{ id: 5 }]), 'TableSchemaValidation')).toBe('other columns');
    expect(methods()).toBe('insertIntoTable describeTable');
  });

  test('names the row that does not fit', async () => {
    const { connection } = setUp({
      insertIntoTable: async (_: unknown, data: RecordBatchStream) => collectRows(data),
    });
    const table = await connection.openTable('t');
    const call = table.add([{ id: 1 }, { id: 'two' }]);
    expect(await failsWith(call, 'TableSchemaValidation')).toContain('two');
  });

  test('changes rows', async () => {
    const { connection, calls } = setUp({
      updateTable: () => ({ updated_rows: 2, version: 8 }),
      deleteFromTable: () => ({ version: 9, num_deleted_rows: 1 }),
      deleteRows: () => ({ version: 10, num_deleted_rows: 2 }),
    });
    const table = await connection.openTable('t');
    calls.length = 0;
    expect(await table.update({ values: { name: "O'Hara" }, where: 'id = 1' })).toEqual({
      version: 8,
      rowsUpdated: 2,
    });
    await table.update({ name: "'x'" }, { where: 'id > 1' });
    await table.update(new Map([['id', 'id + 1']]));
    expect(await table.delete('id = 1')).toEqual({ version: 9, numDeletedRows: 1 });
    expect(await table.deleteRows([1n, 2])).toEqual({ version: 10, numDeletedRows: 2 });
    expect(calls.map(({ request }) => request)).toEqual([
      { id: ['t'], updates: [['name', "'O''Hara'"]], predicate: 'id = 1' },
      { id: ['t'], updates: [['name', "'x'"]], predicate: 'id > 1' },
      { id: ['t'], updates: [['id', 'id + 1']] },
      { id: ['t'], predicate: 'id = 1' },
      { id: ['t'], row_ids: [1n, 2n] },
    ]);
  });

  test('tells no count of deleted rows where the catalog tells none', async () => {
    const { connection } = setUp({ deleteFromTable: () => ({ version: 9 }) });
    const table = await connection.openTable('t');
    expect(await table.delete('id = 1')).toStrictEqual({ version: 9 });
  });

  test('deletes row ids by predicate where the catalog has nothing better', async () => {
    const { connection, requests } = setUp({}, { without: ['deleteRows'] });
    const table = await connection.openTable('t');
    await table.deleteRows([1n, 2n ** 63n]);
    await table.deleteRows([]);
    expect(requests('deleteFromTable')).toEqual([
      { id: ['t'], predicate: '_rowid IN (1, 9223372036854775808)' },
      { id: ['t'], predicate: 'FALSE' },
    ]);
    await failsWith(table.deleteRows([-1]), 'InvalidInput');
    await failsWith(table.deleteRows([0.5]), 'InvalidInput');
    await failsWith(table.deleteRows([2 ** 60]), 'InvalidInput');
  });

  test('merges', async () => {
    let written: unknown;
    const { connection, requests } = setUp({
      mergeInsertIntoTable: async (_: unknown, data: RecordBatchStream) => {
        written = await collectRows(data);
        return { version: 8, num_inserted_rows: 1, num_updated_rows: 2 };
      },
    });
    const table = await connection.openTable('t');
    const merge = table
      .mergeInsert('id')
      .whenMatchedUpdateAll({ where: 'target.id > 0' })
      .whenNotMatchedInsertAll()
      .whenNotMatchedBySourceDelete({ where: 'id < 5' })
      .useIndex(false);
    expect(await merge.execute(rows, { timeoutMs: 60_000 })).toEqual({
      version: 8,
      numInsertedRows: 1,
      numUpdatedRows: 2,
      numDeletedRows: 0,
      numAttempts: 1,
      numRows: 3,
    });
    expect(written).toEqual(rows);
    await table.mergeInsert(['id', 'name']).execute(rows);
    expect(requests('mergeInsertIntoTable')).toEqual([
      {
        id: ['t'],
        on: 'id',
        when_matched_update_all: true,
        when_matched_update_all_filt: 'target.id > 0',
        when_not_matched_insert_all: true,
        when_not_matched_by_source_delete: true,
        when_not_matched_by_source_delete_filt: 'id < 5',
        use_index: false,
      },
      { id: ['t'], on: ['id', 'name'] },
    ]);
    expect(() => table.mergeInsert([])).toThrow('key column');
  });

  test('changes columns and metadata', async () => {
    const { connection, calls } = setUp({
      updateTableSchemaMetadata: () => ({ metadata: { a: 'b' } }),
      alterTableAddColumns: () => ({ version: 8 }),
    });
    const table = await connection.openTable('t');
    calls.length = 0;
    expect(await table.updateSchemaMetadata({ a: 'b' })).toEqual({ a: 'b' });
    const [x] = [{ name: 'x', valueSql: 'id * 2' }];
    expect(await table.addColumns([x])).toEqual({ version: 8 });
    await table.addColumns({ computed: [x] });
    await table.alterColumns([
      { path: 'id', dataType: 'int32', nullable: false },
      { path: 'a.b', rename: 'c' },
      { path: 'name', dataType: new Utf8() },
      { path: 'v', dataType: { type: 'fixed_size_binary', length: 3 } },
    ]);
    await table.dropColumns(['x', 'y']);
    await table.updateFieldMetadata([{ path: 'id', metadata: { k: null }, replace: true }]);
    expect(calls.map(({ request }) => request)).toEqual([
      { id: ['t'], metadata: { a: 'b' } },
      { id: ['t'], new_columns: [{ name: 'x', expression: 'id * 2' }] },
      { id: ['t'], new_columns: [{ name: 'x', computed: 'id * 2' }] },
      {
        id: ['t'],
        alterations: [
          { path: 'id', data_type: { type: 'int32' }, nullable: false },
          { path: 'a.b', rename: 'c' },
          { path: 'name', data_type: { type: 'utf8' } },
          { path: 'v', data_type: { type: 'fixed_size_binary', length: 3 } },
        ],
      },
      { id: ['t'], columns: ['x', 'y'] },
      { id: ['t'], updates: [{ path: 'id', metadata: { k: null }, replace: true }] },
    ]);
    await failsWith(table.addColumns([{ x: 'id' }] as never), 'InvalidInput');
  });

  test('is described', async () => {
    const { connection, requests } = setUp({
      getTableStats: () => ({
        total_bytes: 10,
        num_rows: 3,
        num_indices: 0,
        fragment_stats: {
          num_fragments: 1,
          num_small_fragments: 1,
          lengths: { min: 3, max: 3, mean: 3, p25: 3, p50: 3, p75: 3, p99: 3 },
        },
      }),
    });
    const table = await connection.openTable('t');
    expect(await table.location()).toBe('/catalog/user.table');
    expect(await table.uri()).toBe('file:///catalog/user.table');
    expect(await table.version()).toBe(7);
    expect(await table.countRows('id > 1')).toBe(3);
    expect(requests('countTableRows')).toEqual([{ id: ['t'], predicate: 'id > 1' }]);
    const stats = await table.stats();
    expect(stats.totalBytes).toBe(10);
    expect(stats.fragmentStats).toMatchObject({ numFragments: 1, lengths: { p99: 3 } });
  });

  test('is optimized: compacted, and cleaned up by age', async () => {
    const { connection, calls, requests } = setUp({
      optimizeTable: () => ({
        fragments_removed: 5,
        fragments_added: 1,
        files_removed: 6,
        files_added: 1,
        versions_removed: 2,
        unused_files_removed: 3,
        bytes_removed: 4,
        dry_run: true,
      }),
    });
    const table = await connection.openTable('t');
    const cleanupOlderThan = new Date(1_000_000_000_000 - 5000);
    const compaction = { targetRows: 10, targetBytes: 20, maxDeletedShare: 0.5 };
    const stats = await table.optimize({
      cleanupOlderThan,
      compaction,
      dryRun: true,
      deleteUnverified: true,
    });
    expect(stats).toEqual({
      compaction: { fragmentsRemoved: 5, fragmentsAdded: 1, filesRemoved: 6, filesAdded: 1 },
      prune: { oldVersionsRemoved: 2, filesRemoved: 3, bytesRemoved: 4 },
      dryRun: true,
    });
    await table.optimize({ compaction: false });
    const progress: unknown[] = [];
    await table.optimize({
      cleanupOlderThan: new Date(2_000_000_000_000),
      onProgress: (step) => progress.push(step),
    });
    const asked = { target_rows: 10, target_bytes: 20, max_deleted_share: 0.5 };
    expect(requests('optimizeTable')).toEqual([
      {
        id: ['t'],
        compact: asked,
        cleanup_older_than_millis: 5000,
        dry_run: true,
        orphan_grace_millis: 0,
      },
      { id: ['t'], compact: false, cleanup_older_than_millis: 7 * 86_400_000 },
      { id: ['t'], cleanup_older_than_millis: 0 },
    ]);
    const [options] = (calls.at(-1)?.rest ?? []) as [{ on_progress(step: unknown): void }];
    options.on_progress({ rows_done: 1, rows_total: 2 });
    expect(progress).toEqual([{ rowsDone: 1, rowsTotal: 2 }]);
    await failsWith(table.optimize({ cleanupOlderThan: new Date(NaN) }), 'InvalidInput');
    await table.optimize({ cleanupOlderThan: false });
    expect(requests('optimizeTable').at(-1)).toEqual({ id: ['t'] });
    const unverified = { cleanupOlderThan: false, deleteUnverified: true } as const;
    await failsWith(table.optimize(unverified), 'InvalidInput');
  });
});

describe('versions', () => {
  test('a table checked out is pinned and refuses to be changed', async () => {
    const { connection, calls, requests } = setUp();
    const table = await connection.openTable('t');
    await table.checkout(3);
    expect(await table.version()).toBe(3);
    const asked = calls.length;
    await table.schema();
    expect(calls.length).toBe(asked);
    for (const call of [
      table.add(rows),
      table.update({ id: '1' }),
      table.delete('TRUE'),
      table.deleteRows([1n]),
      table.mergeInsert('id').execute(rows),
      table.optimize(),
      table.addColumns([]),
      table.alterColumns([]),
      table.dropColumns([]),
      table.updateSchemaMetadata({}),
      table.updateFieldMetadata([]),
    ]) {
      expect(await failsWith(call, 'InvalidInput')).toContain('checkoutLatest()');
    }
    await failsWith(table.stats(), 'Unsupported');
    expect(calls.length).toBe(asked);
    await table.checkoutLatest();
    expect(await table.version()).toBe(7);
    await table.checkout('draft');
    expect(table.currentBranch()).toBe('work');
    await table.checkout({ branch: 'work', version: 2 });
    expect(requests('describeTable').at(-1)).toEqual({
      id: ['t'],
      branch: 'work',
      version: 2,
      load_detailed_metadata: true,
    });
    await failsWith(table.checkout({ branch: 'work' }), 'InvalidInput');
    await failsWith(table.checkout('nothing'), 'TableTagNotFound');
    expect(await table.version()).toBe(2);
  });

  test('restoring', async () => {
    const { connection, requests } = setUp();
    const table = await connection.openTable('t');
    await failsWith(table.restore(), 'InvalidInput');
    await table.checkout(3);
    await table.restore();
    expect(await table.version()).toBe(7);
    await table.restore('v1');
    await table.restore(2);
    await failsWith(table.restore('draft'), 'InvalidInput');
    expect(requests('restoreTable')).toEqual([3, 1, 2].map((version) => ({ id: ['t'], version })));
  });

  test('are listed over pages', async () => {
    const { connection, requests } = setUp({
      listTableVersions: ({ page_token }: { page_token?: string }) =>
        page_token === undefined
          ? {
              versions: [{ version: 1, timestamp_millis: 5, metadata: { a: 'b' } }],
              page_token: 'x',
            }
          : { versions: [{ version: 2, timestamp_millis: 6 }, { version: 3 }] },
    });
    const table = await connection.openTable('t');
    const versions = await table.listVersions({ limit: 2 });
    expect(versions).toEqual([
      { version: 1, timestamp: new Date(5), metadata: { a: 'b' } },
      { version: 2, timestamp: new Date(6), metadata: {} },
    ]);
    expect(requests('listTableVersions')).toEqual([
      { id: ['t'], descending: false, limit: 2 },
      { id: ['t'], descending: false, limit: 1, page_token: 'x' },
    ]);
    expect((await table.listVersions()).length).toBe(3);
    expect(await table.listVersions({ limit: 0 })).toEqual([]);
  });

  test('tags', async () => {
    const { connection, calls } = setUp({
      listTableTags: ({ page_token }: { page_token?: string }) =>
        page_token === undefined
          ? { tags: { a: { version: 1, manifestSize: 0 } }, page_token: 'x' }
          : { tags: { b: { version: 2, manifestSize: 0 } } },
    });
    const table = await connection.openTable('t', [], { branch: 'work' });
    const tags = await table.tags();
    calls.length = 0;
    expect(Object.keys(await tags.list())).toEqual(['a', 'b']);
    expect(await tags.getVersion('v1')).toBe(1);
    await tags.create('x', 3);
    await tags.update('x', 4, { branch: 'main' });
    await tags.delete('x');
    expect(calls.slice(2).map(({ method, request }) => [method, request])).toEqual([
      ['getTableTagVersion', { id: ['t'], tag: 'v1' }],
      ['createTableTag', { id: ['t'], tag: 'x', version: 3, branch: 'work' }],
      ['updateTableTag', { id: ['t'], tag: 'x', version: 4 }],
      ['deleteTableTag', { id: ['t'], tag: 'x' }],
    ]);
  });

  test('branches', async () => {
    const contents = { parentVersion: 1, createAt: 2, manifestSize: 3 };
    const { connection, requests } = setUp({
      listTableBranches: () => ({ branches: { work: contents } }),
    });
    const table = await connection.openTable('t', ['p']);
    const branches = await table.branches();
    expect(await branches.list()).toEqual({ work: { ...contents, parentBranch: null } });
    const made = await branches.create('new');
    expect(made.currentBranch()).toBe('new');
    expect(made.namespacePath).toEqual(['p']);
    await branches.create('b', 'new', 4);
    await branches.create('c', null, 5);
    const pinned = await branches.checkout('work', 2);
    expect(pinned.display()).toBe('Table(p/t at work@2)');
    expect((await branches.checkout('main')).currentBranch()).toBeNull();
    await branches.delete('work');
    const id = ['p', 't'];
    expect(requests('createTableBranch')).toEqual([
      { id, name: 'new' },
      { id, name: 'b', from_branch: 'new', from_version: 4 },
      { id, name: 'c', from_version: 5 },
    ]);
    expect(requests('deleteTableBranch')).toEqual([{ id, name: 'work' }]);
  });

  // What failed afterwards would be taken for the making, and the branch be made once more or missed.
  test('a branch that was made is answered without another look', async () => {
    const { connection, calls } = setUp();
    const table = await connection.openTable('t');
    const branches = await table.branches();
    calls.length = 0;
    expect((await branches.create('new')).currentBranch()).toBe('new');
    expect(calls.map(({ method }) => method)).toEqual(['createTableBranch']);
  });
});

test('a connection hands its signal and idempotency key on', async () => {
  const { connection, calls } = setUp();
  const { signal } = new AbortController();
  await connection.dropTable('t', [], { signal, idempotencyKey: 'k' });
  expect(calls[0]?.rest).toEqual([{ signal, idempotencyKey: 'k' }]);
});

describe('updates', () => {
  test('take one condition', () => {
    const input = { values: { a: 1 }, where: 'b' };
    expect(() => updatesOf(input, { where: 'c' })).toThrow('where is given twice, as "b"');
    expect(updatesOf(input, { where: 'b' }).predicate).toBe('b');
  });

  test.each([
    [{ values: { a: 1 } }, [['a', '1']]],
    [{ valuesSql: { a: 'b + 1' } }, [['a', 'b + 1']]],
    [new Map([['a', 'b']]), [['a', 'b']]],
    [
      { values: 'b', where: 'c' },
      [
        ['values', 'b'],
        ['where', 'c'],
      ],
    ],
  ])('%o', (input, updates) => {
    expect(updatesOf(input as never)).toEqual({ updates });
  });

  test.each([[{}], [{ values: {} }], [{ a: 1 }], [{ valuesSql: { a: 1 } }]])(
    '%j is refused',
    (input) => {
      expect(() => updatesOf(input as never)).toThrow();
    },
  );
});

test.each([
  [null, 'NULL'],
  [true, 'TRUE'],
  [-1.5, '-1.5'],
  [1e300, '1e+300'],
  [NaN, "CAST('NaN' AS DOUBLE)"],
  [-Infinity, "CAST('-Infinity' AS DOUBLE)"],
  [2n ** 63n, '9223372036854775808'],
  [2 ** 63, '9223372036854775808'],
  [-(2 ** 60), '-1152921504606846976'],
  [1e21, '1e+21'],
  ["it's", "'it''s'"],
  [new Date(0), "'1970-01-01T00:00:00.000Z'"],
  [Buffer.from([1, 255]), "X'01ff'"],
  [Uint8Array.of(1, 2, 3).subarray(1), "X'0203'"],
  [Uint8Array.of(7).buffer, "X'07'"],
  [Float32Array.of(1, 2.5), '[1, 2.5]'],
  [BigInt64Array.of(5n), '[5]'],
  [[1, 'a', [null]], "[1, 'a', [NULL]]"],
])('%o as an SQL literal', (value, sql) => {
  expect(toSql(value)).toBe(sql);
});

test.each([
  [{}],
  [undefined],
  [new Date(NaN)],
  [Symbol('x')],
  [new Map()],
  [new DataView(new ArrayBuffer(1))],
])('%o has no SQL literal', (value) => {
  expect(() => toSql(value as never)).toThrow('no SQL literal');
});

describe('queries', () => {
  const setUpQuery = async () => {
    const schema = new Schema([new Field('id', new Int64())]);
    const table = tableFromArrays({ id: BigInt64Array.of(1n, 2n, 3n) });
    const recording = setUp({
      queryTable: () => recordBatchStream(table.schema, table.batches),
      explainTableQueryPlan: () => ({ plan: 'p' }),
      analyzeTableQueryPlan: () => ({ analysis: 'a' }),
    });
    const opened = await recording.connection.openTable('t', [], { version: 3 });
    return {
      ...recording,
      table: opened,
      schema,
      last: () => recording.requests('queryTable').at(-1),
    };
  };

  const plain = {
    id: ['t'],
    version: 3,
    k: Number.MAX_SAFE_INTEGER,
    vector: { single_vector: [] },
  };

  test('fill the request', async () => {
    const { table, last } = await setUpQuery();
    await table.query().toArray();
    expect(last()).toEqual(plain);
    await table
      .query()
      .select(['id'])
      .where('id > 1')
      .limit(5)
      .offset(2)
      .withRowId()
      .orderBy([{ columnName: 'id', ascending: false, nullsFirst: true }])
      .fastSearch()
      .fullTextSearch('words', { columns: 'name' })
      .toArray();
    expect(last()).toEqual({
      ...plain,
      columns: { column_names: ['id'] },
      filter: 'id > 1',
      k: 5,
      offset: 2,
      with_row_id: true,
      order_by: [{ column_name: 'id', ascending: false, nulls_first: true }],
      fast_search: true,
      full_text_query: { string_query: { query: 'words', columns: ['name'] } },
    });
  });

  test.each([
    ['a', { column_names: ['a'] }],
    [['a', 'b'], { column_names: ['a', 'b'] }],
    [{ x: 'a + 1' }, { column_aliases: { x: 'a + 1' } }],
    [new Map([['x', 'a']]), { column_aliases: { x: 'a' } }],
  ])('select %o', async (columns, expected) => {
    const { table, last } = await setUpQuery();
    await table.query().select(columns).toArray();
    expect(last()).toEqual({ ...plain, columns: expected });
  });

  test('several predicates are joined, as in the SDK of LanceDB', async () => {
    const { table, last } = await setUpQuery();
    const query = table.query().where('id > 1 -- so').filter("name = 'a' or id = 3");
    await query.nearestTo([1, 2]).where('id < 9').toArray();
    expect(last()).toMatchObject({
      filter: "((id > 1 -- so\n) AND (name = 'a' or id = 3\n)\n) AND (id < 9\n)",
    });
  });

  test('by vector', async () => {
    const { table, last } = await setUpQuery();
    await table.query().where('id > 1').nearestTo(Float32Array.of(1, 2)).toArray();
    expect(last()).toEqual({
      ...plain,
      filter: 'id > 1',
      k: 10,
      prefilter: true,
      vector: { single_vector: [1, 2] },
    });
    await table
      .vectorSearch([1])
      .addQueryVector([2])
      .column('v')
      .distanceType('cosine')
      .distanceRange(0, 1)
      .nprobes(3)
      .minimumNprobes(2)
      .maximumNprobes(9)
      .ef(4)
      .refineFactor(5)
      .postfilter()
      .bypassVectorIndex()
      .limit(7)
      .toArray();
    expect(last()).toEqual({
      ...plain,
      k: 7,
      prefilter: false,
      vector: { multi_vector: [[1], [2]] },
      vector_column: 'v',
      distance_type: 'cosine',
      lower_bound: 0,
      upper_bound: 1,
      nprobes: 3,
      minimum_nprobes: 2,
      maximum_nprobes: 9,
      ef: 4,
      refine_factor: 5,
      bypass_vector_index: true,
    });
    await table.query().limit(3).nearestTo([1]).toArray();
    expect(last()).toMatchObject({ k: 3 });
    expect(() => table.vectorSearch([])).toThrow('empty');
    expect(() => table.vectorSearch([1, NaN])).toThrow('NaN at 1');
    for (const [low, high, said] of [
      [Number.NaN, 1, 'lowerBound of a distance range is NaN'],
      [0, '1', 'upperBound of a distance range is string'],
    ] as [number, number, string][]) {
      expect(() => table.vectorSearch([1]).distanceRange(low, high)).toThrow(said);
    }
  });

  test('with bounds of the partitions: 0 is no upper one, less than 1 no lower one', async () => {
    const { table, last } = await setUpQuery();
    await table.vectorSearch([1]).maximumNprobes(9).maximumNprobes(0).toArray();
    expect(last()).not.toHaveProperty('maximum_nprobes');
    const query = table.vectorSearch([1]);
    expect(() => query.minimumNprobes(0)).toThrow('minimumNprobes');
    expect(() => query.maximumNprobes(-1)).toThrow('maximumNprobes');
  });

  test('by vectors that are promised, and by several', async () => {
    const { table, last } = await setUpQuery();
    await table.vectorSearch(Promise.resolve(Float32Array.of(1, 2))).toArray();
    expect(last()).toMatchObject({ k: 10, vector: { single_vector: [1, 2] } });
    const several = [[1, 2], Promise.resolve([3, 4]), Uint8Array.of(5, 6)];
    await table
      .search(several)
      .addQueryVector(Promise.resolve([7, 8]))
      .toArray();
    const multi_vector = [
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
    ];
    expect(last()).toMatchObject({ vector: { multi_vector } });
    const query = table.vectorSearch(Promise.reject(new Error('no model')));
    await expect(query.toArray()).rejects.toThrow('no model');
    await expect(query.explainPlan()).rejects.toThrow('no model');
    await expect(query.outputSchema()).rejects.toThrow('no model');
    const bad = table.vectorSearch(Promise.resolve([NaN]));
    await expect(bad.analyzePlan()).rejects.toThrow('NaN at 0');
  });

  test('by words', async () => {
    const { table, last } = await setUpQuery();
    await table.search('words', 'fts', ['a', 'b']).toArray();
    const string_query = { query: 'words', columns: ['a', 'b'] };
    expect(last()).toEqual({ ...plain, k: 10, full_text_query: { string_query } });
    await table.search([1, 2]).toArray();
    expect(last()).toMatchObject({ vector: { single_vector: [1, 2] } });
  });

  test('of rows by number', async () => {
    const { table, last } = await setUpQuery();
    await table.takeRowIds([1, 2n]).toArray();
    // The numbers come along, so that the rows can be put into the order asked for.
    const columns = (...names: string[]) => ({ columns: { column_names: names } });
    expect(last()).toEqual({ ...plain, ...columns('id', '_rowid'), filter: '_rowid IN (1, 2)' });
    await table.takeOffsets([5]).select('id').toArray();
    expect(last()).toMatchObject({ filter: '_rowoffset IN (5)', ...columns('id', '_rowoffset') });
    await table.takeOffsets([]).toArray();
    expect(last()).toEqual({ ...plain, ...columns('id', '_rowoffset'), filter: 'FALSE' });
  });

  test('come out as batches, as a table and as rows', async () => {
    const { table } = await setUpQuery();
    expect(await table.query().toArray()).toEqual([{ id: 1n }, { id: 2n }, { id: 3n }]);
    const arrow = await table.toArrow();
    expect([arrow.numRows, arrow.schema.fields.map(String)]).toEqual([3, ['id: Int64']]);
    const sizes: number[] = [];
    for await (const batch of table.query()) sizes.push(batch.numRows);
    expect(sizes).toEqual([3]);
    const cut: RecordBatch[] = [];
    for await (const batch of table.query().execute({ maxBatchLength: 2 })) cut.push(batch);
    expect(cut.map((batch) => batch.numRows)).toEqual([2, 1]);
    expect(await collectRows(cut)).toEqual([{ id: 1n }, { id: 2n }, { id: 3n }]);
  });

  test('plans and schemas', async () => {
    const { table, requests, last } = await setUpQuery();
    expect((await table.query().limit(3).outputSchema()).fields.map(String)).toEqual(['id: Int64']);
    expect(last()).toEqual({ ...plain, k: 0 });
    expect(await table.query().limit(3).explainPlan(true)).toBe('p');
    expect(requests('explainTableQueryPlan')).toEqual([
      { id: ['t'], query: { ...plain, k: 3 }, verbose: true },
    ]);
    expect(await table.query().analyzePlan()).toBe('a');
    expect(requests('analyzeTableQueryPlan')).toEqual([plain]);
  });

  test.each([[-1], [0.5], [NaN], [2 ** 60]])('limit %s is refused', async (limit) => {
    const { table } = await setUpQuery();
    expect(() => table.query().limit(limit)).toThrow('limit');
    expect(() => table.query().offset(limit)).toThrow('offset');
  });

  test('of no batch keep their schema', async () => {
    const schema = new Schema([new Field('x', new Utf8())]);
    const { connection } = setUp({ queryTable: () => recordBatchStream(schema, []) });
    const arrow = await (await connection.openTable('t')).toArrow();
    expect([arrow.numRows, arrow.schema.fields.map(String)]).toEqual([0, ['x: Utf8']]);
  });

  test('end after their time', async () => {
    const { connection } = setUp({
      queryTable: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    // A timer of AbortSignal.timeout alone keeps no process alive, so this one stands in for work.
    const work = setTimeout(() => undefined, 60_000);
    const query = (await connection.openTable('t')).query().toArray({ timeoutMs: 1 });
    const over = { name: 'TimeoutError', message: 'Query timeout after 1 ms (timeoutMs).' };
    await expect(query).rejects.toMatchObject(over);
    clearTimeout(work);
  });

  test('end after their time between two batches, and give back what they hold', async () => {
    let isClosed = false;
    const { connection } = setUp({
      queryTable: (_: unknown, { signal }: { signal: AbortSignal }) => {
        const batches = async function* (): AsyncGenerator<never> {
          try {
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            signal.throwIfAborted();
          } finally {
            isClosed = true;
          }
        };
        return recordBatchStream(new Schema([new Field('x', new Utf8())]), batches());
      },
    });
    const work = setTimeout(() => undefined, 60_000);
    const query = (await connection.openTable('t')).query().toArrow({ timeoutMs: 1 });
    const over = { name: 'TimeoutError', message: 'Query timeout after 1 ms (timeoutMs).' };
    await expect(query).rejects.toMatchObject(over);
    expect(isClosed).toBe(true);
    clearTimeout(work);
  });
});
