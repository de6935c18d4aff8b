/**
 * The table of rights in SECURITY.md against the server: every operation and every stricter mode of
 * one is allowed with the right that the table names, and refused with the right below it.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import {
  type AnyOperation,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  resourceKind,
} from '../../src/protocol/every-operation.ts';
import type { OperationRow, Permission } from '../../src/protocol/operation-row.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { ARROW, ask, type Pair, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const RIGHTS: readonly Permission[] = ['read', 'write', 'admin'];

interface Listed {
  readonly operation: string;
  readonly right: Permission;
  readonly member: string | undefined;
  readonly mode: string | undefined;
}

/** The rows of the table, as SECURITY.md has them. */
function listedRights(): Listed[] {
  const text = readFileSync('SECURITY.md', 'utf8');
  return RIGHTS.flatMap((right) => {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${right}\` |`)) ?? '';
    const cells = row.split('|')[2] ?? '';
    return Array.from(cells.matchAll(/`(\w+)`(?: with `(\w+)`(?: `(\w+)`)?)?/g), (match) => ({
      operation: match[1] as string,
      right,
      member: match[2],
      mode: match[3],
    }));
  });
}

const plain = listedRights().filter(({ member }) => member === undefined);
const stricter = listedRights().filter(({ member }) => member !== undefined);

/** Members without which a request would not get as far as its rights. */
const BODIES: Partial<Record<AnyOperation, object>> = {
  RegisterTable: { location: 'x' },
  RestoreTable: { version: 1 },
  RenameTable: { new_table_name: 'z' },
  CreateTableVersion: { version: 2, manifest_path: 'x/_versions/1.manifest-0' },
  BatchDeleteTableVersions: { ranges: [] },
  BatchCreateTableVersions: { entries: [] },
  BatchCommitTables: { operations: [] },
  AlterTableAlterColumns: { alterations: [] },
  UpdateFieldMetadata: { updates: [] },
  AlterTableDropColumns: { columns: [] },
  UpdateTable: { updates: [['a', '1']] },
  DeleteFromTable: { predicate: 'true' },
  QueryTable: { k: 1 },
  ExplainTableQueryPlan: { query: { k: 1 } },
  AnalyzeTableQueryPlan: { k: 1 },
  AlterTableAddColumns: { new_columns: [] },
  AlterTableBackfillColumns: { column: 'id' },
  CreateMaterializedView: {
    kind: 'query',
    source_query: '{"source_table": "t", "source_namespace": ["prod"]}',
    output_schema: '',
  },
  RunSql: { sql: 'SELECT * FROM t' },
  ExplainSql: { sql: 'SELECT * FROM t' },
  DiffTable: { from: {} },
  DiffTableBranch: { from_branch: 'b' },
  CloneTable: { source_id: ['prod', 'source'] },
  CherryPickTableBranch: { from_branch: 'b' },
  CreateTableIndex: { column: 'id', index_type: 'BTREE' },
  CreateTableScalarIndex: { column: 'id', index_type: 'BTREE' },
  GetTableTagVersion: { tag: 't' },
  CreateTableTag: { tag: 't', version: 1 },
  UpdateTableTag: { tag: 't', version: 1 },
  DeleteTableTag: { tag: 't' },
  CreateTableBranch: { name: 'b' },
  DeleteTableBranch: { name: 'b' },
  DeleteRows: { row_ids: [] },
  FetchBlobs: { column: 'image', row_ids: [] },
  CleanupTable: { older_than_millis: 0 },
  BeginJob: { operation: 'OptimizeTable' },
  DescribeJob: { job_id: 'j' },
  CancelJob: { job_id: 'j' },
  PurgeTrash: { older_than_millis: 0 },
  AlterTransaction: { actions: [{ setPropertyAction: { key: 'a', value: 'b' } }] },
};

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  manifest_path: ['x', 'x/staged-1.json', 'x/_versions/1.manifest'],
  mode: ['overwrite', 'Overwrite', 'OVERWRITE', 'over_write'],
  cleanup_older_than_millis: [0, 604_800_000],
};

/** A server that refuses every operation itself with 406: any other refusal is one of rights. */
async function serverOf(namespace: readonly string[]): Promise<Pair> {
  return restPair({
    namespace: stubNamespace(),
    auth: {
      apiKeys: RIGHTS.map((permission) => ({
        key: `${permission}-key`,
        name: permission,
        grants: [{ namespace, permission }],
      })),
    },
  });
}

async function statusOf(
  server: Pair,
  operation: AnyOperation,
  right: Permission,
  members: object = {},
): Promise<number> {
  const { method, path, body } = EVERY_OPERATION[operation];
  const isTransaction = resourceKind(operation) === 'transaction';
  const url = path.replace('{id}', isTransaction ? 'x' : 'prod$x').replace('{index_name}', 'i');
  const query = operation === 'MergeInsertIntoTable' ? '?on=id' : '';
  const isArrow = body === 'arrow-stream';
  const data = isArrow ? await streamBytes() : { ...BODIES[operation], ...members };
  const sent = method === 'GET' || body === 'none' ? undefined : data;
  const headers = { ...(isArrow ? ARROW : {}), 'x-api-key': `${right}-key` };
  return (await ask(server, method, url + query, sent, headers)).status;
}

test('SECURITY.md lists every operation once, with the right of its row', () => {
  const rights = Object.fromEntries(plain.map(({ operation, right }) => [operation, right]));
  expect(plain).toHaveLength(EVERY_OPERATION_NAMES.length);
  expect(rights).toEqual(
    Object.fromEntries(
      EVERY_OPERATION_NAMES.map((name) => [name, EVERY_OPERATION[name].permission]),
    ),
  );
});

test('SECURITY.md lists every member that asks for more, and so does the document', () => {
  const rows = EVERY_OPERATION_NAMES.flatMap((operation) =>
    (EVERY_OPERATION[operation] as OperationRow).stricter.map(({ member, mode, permission }) => ({
      operation,
      right: permission,
      member,
      mode,
    })),
  );
  expect(stricter).toEqual(rows);
  const { paths } = openApiDocument() as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  for (const name of EVERY_OPERATION_NAMES) {
    const { path, method, permission, stricter: more }: OperationRow = EVERY_OPERATION[name];
    const item = paths[path]?.[method.toLowerCase()];
    expect(item?.['x-permission'], name).toBe(permission);
    expect(item?.['x-permission-stricter'] ?? [], name).toEqual(more);
  }
});

describe('every operation', () => {
  test.each(plain)('$operation asks for $right', async ({ operation, right }) => {
    const name = operation as AnyOperation;
    const kind = resourceKind(name);
    const isOfRoot = name === 'RegisterTable' || kind === 'transaction' || kind === 'catalog';
    const server = await serverOf(isOfRoot ? [] : ['prod']);
    for (const held of RIGHTS) {
      const status = await statusOf(server, name, held);
      const isAllowed = RIGHTS.indexOf(held) >= RIGHTS.indexOf(right);
      expect(status === 403, `${name} with ${held}: ${status}`).toBe(!isAllowed);
      if (isAllowed) expect(status, `${name} with ${held}`).toBe(406);
    }
  });

  test.each(stricter)('$operation with $member $mode asks for $right', async (listed) => {
    const server = await serverOf(['prod']);
    const name = listed.operation as AnyOperation;
    for (const value of VALUES[listed.member ?? ''] ?? []) {
      for (const held of RIGHTS) {
        const status = await statusOf(server, name, held, { [listed.member ?? '']: value });
        const isAllowed = RIGHTS.indexOf(held) >= RIGHTS.indexOf(listed.right);
        expect(status, `${name} ${String(value)} with ${held}`).toBe(isAllowed ? 406 : 403);
      }
    }
  });

  test('other modes ask for no more than the operation does', async () => {
    const server = await serverOf(['prod']);
    for (const mode of ['create', 'exist_ok', null, undefined]) {
      expect(await statusOf(server, 'CreateNamespace', 'write', { mode })).toBe(406);
    }
    expect(await statusOf(server, 'OptimizeTable', 'write', { compact: false })).toBe(406);
    expect(
      await statusOf(server, 'OptimizeTable', 'write', { cleanup_older_than_millis: null }),
    ).toBe(406);
  });
});

describe('with write alone', () => {
  const apiKeys = [
    { key: 'k', name: 'writer', grants: [{ namespace: ['prod'], permission: 'write' }] },
  ] as const;

  test('a namespace is not overwritten, and its tables stay', async () => {
    const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
    await namespace.createNamespace({ id: ['prod'] });
    await namespace.createNamespace({ id: ['prod', 'search'] });
    await namespace.createTable({ id: ['prod', 'search', 't'] }, someRows());
    const server = await restPair({ namespace, auth: { apiKeys } });
    for (const id of ['prod', 'prod$search', 'prod$free']) {
      const path = `/v1/namespace/${id}/create`;
      const answer = await ask(server, 'POST', path, { mode: 'Overwrite' }, { 'x-api-key': 'k' });
      expect(answer).toMatchObject({
        status: 403,
        json: { error: expect.stringContaining('mode Overwrite there, which needs admin') },
      });
    }
    expect((await namespace.listAllTables({})).tables).toEqual(['prod$search$t']);
    await namespace.close();
  });

  test('the history of a table stays', async () => {
    const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
    await namespace.createNamespace({ id: ['prod'] });
    const id = ['prod', 't'];
    await namespace.createTable({ id }, someRows());
    await namespace.createTableBranch({ id, name: 'b' });
    await namespace.insertIntoTable({ id }, someRows());
    const server = await restPair({ namespace, auth: { apiKeys } });
    for (const [path, body] of [
      ['/v1/dirspace/table/prod$t/cleanup', { older_than_millis: 0 }],
      ['/v1/dirspace/table/prod$t/optimize', { cleanup_older_than_millis: 0 }],
      ['/v1/table/prod$t/version/delete', { ranges: [{ start_version: 1, end_version: 2 }] }],
      ['/v1/table/prod$t/branches/delete', { name: 'b' }],
    ] as const) {
      expect((await ask(server, 'POST', path, body, { 'x-api-key': 'k' })).status, path).toBe(403);
    }
    expect((await namespace.listTableVersions({ id })).versions).toHaveLength(2);
    expect(Object.keys((await namespace.listTableBranches({ id })).branches)).toEqual(['b']);
    await namespace.close();
  });
});

describe('credentials of the storage', () => {
  const storage_options = { key: 'secret' };
  /** Vends also where it is not asked to, as the protocol lets it. */
  const asked: unknown[] = [];
  const answer = (request: { vend_credentials?: boolean }): object => {
    asked.push(request.vend_credentials);
    return { location: '/x', storage_options };
  };
  const namespace = stubNamespace({
    describeTable: answer,
    declareTable: answer,
    createTable: answer,
  });
  const told = async (right: Permission, at: readonly string[], path: string, body: unknown) => {
    asked.length = 0;
    const apiKeys = [{ key: 'k', name: 'n', grants: [{ namespace: at, permission: right }] }];
    const server = await restPair({ namespace, auth: { apiKeys } });
    const isArrow = body instanceof Uint8Array;
    const headers = { ...(isArrow ? ARROW : {}), 'x-api-key': 'k' };
    const { status, json, text } = await ask(server, 'POST', path, body, headers);
    expect([status, json.location]).toEqual([200, '/x']);
    return { vended: text.includes('secret'), asked: asked[0] };
  };

  test.each([
    ['/v1/table/prod$t/describe', 'read'],
    ['/v1/table/prod$t/declare', 'write'],
  ] as const)('%s: only to admin on the table', async (path, least) => {
    const wanted = { vend_credentials: true };
    for (const right of RIGHTS.slice(RIGHTS.indexOf(least), 2)) {
      expect(await told(right, [], path, wanted)).toEqual({ vended: false, asked: false });
      expect(await told(right, ['prod'], path, {})).toEqual({ vended: false, asked: undefined });
    }
    for (const at of [[], ['prod'], ['prod', 't']]) {
      expect(await told('admin', at, path, wanted)).toEqual({ vended: true, asked: true });
    }
  });

  test('nor in the answer of CreateTable', async () => {
    const path = '/v1/table/prod$t/create';
    const data = await streamBytes();
    expect((await told('write', ['prod'], path, data)).vended).toBe(false);
    expect((await told('admin', ['prod'], path, data)).vended).toBe(true);
  });

  test('without auth they are given as ever', async () => {
    const server = await restPair({ namespace });
    const { text } = await ask(server, 'POST', '/v1/table/t/describe', { vend_credentials: true });
    expect(text).toContain('secret');
  });
});
