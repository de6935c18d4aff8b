/** What goes beyond the protocol, over HTTP: who may, what is checked, and what lacks it. */
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { DirspaceError } from '../../src/errors.ts';
import {
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  isExtension,
} from '../../src/protocol/every-operation.ts';
import type { CatalogExtensions } from '../../src/protocol/extensions.ts';
import type { Model } from '../../src/protocol/models/index.ts';
import { connectNamespace } from '../../src/sdk/connect.ts';
import { callCli } from '../helpers/cli.ts';
import { ask, restPair, someRows } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

type Extensions = Required<CatalogExtensions>;
type Answered<Name extends keyof Extensions> = Awaited<ReturnType<Extensions[Name]>>;

/** What is sent fits the interfaces, and what they answer can be sent. Checked by the compiler. */
const requests = {
  undropTable: (request: Model<'UndropTableRequest'>) => ({ id: [], ...request }),
  deleteRows: (request: Model<'DeleteRowsRequest'>) => ({ id: [], ...request }),
  takeRows: (request: Model<'TakeRowsRequest'>) => ({ id: [], ...request }),
  fetchBlobs: (request: Model<'FetchBlobsRequest'>) => ({ id: [], ...request }),
  cloneTable: (request: Model<'CloneTableRequest'>) => ({ id: [], ...request }),
  cleanupTable: (request: Model<'CleanupTableRequest'>) => ({ id: [], ...request }),
  optimizeTable: (request: Model<'OptimizeTableRequest'>) => ({ id: [], ...request }),
  listTableFiles: (request: Model<'ListTableFilesRequest'>) => ({ id: [], ...request }),
  runSql: (request: Model<'RunSqlRequest'>) => request,
  explainSql: (request: Model<'ExplainSqlRequest'>) => request,
  profileTable: (request: Model<'ProfileTableRequest'>) => ({ id: [], ...request }),
  diffTable: (request: Model<'DiffTableRequest'>) => ({ id: [], ...request }),
  prewarmTableIndex: (request: Model<'PrewarmTableIndexRequest'>) => ({ id: [], ...request }),
  diffTableBranch: (request: Model<'DiffTableBranchRequest'>) => ({ id: [], ...request }),
  cherryPickTableBranch: (request: Model<'CherryPickTableBranchRequest'>) => ({
    id: [],
    ...request,
  }),
  updateNamespaceProperties: (request: Model<'UpdateNamespacePropertiesRequest'>) => ({
    id: [],
    ...request,
  }),
  verify: (request: Model<'VerifyRequest'>) => request,
  repair: (request: Model<'RepairRequest'>) => request,
  syncLance: (request: Model<'SyncLanceRequest'>) => request,
  purgeTrash: (request: Model<'PurgeTrashRequest'>) => request,
  listTrash: (request: Model<'ListTrashRequest'>) => request,
  beginJob: (request: Model<'BeginJobRequest'>) => request,
  describeJob: (request: Model<'DescribeJobRequest'>) => request,
  listJobs: (request: Model<'ListJobsRequest'>) => request,
  cancelJob: (request: Model<'CancelJobRequest'>) => request,
} satisfies {
  [Name in Exclude<keyof Extensions, 'watch'>]: (r: never) => Parameters<Extensions[Name]>[0];
};
const answers: {
  readonly optimizeTable: (answer: Answered<'optimizeTable'>) => Model<'OptimizeTableResponse'>;
  readonly cleanupTable: (answer: Answered<'cleanupTable'>) => Model<'CleanupTableResponse'>;
  readonly deleteRows: (answer: Answered<'deleteRows'>) => Model<'DeleteRowsResponse'>;
  readonly purgeTrash: (answer: Answered<'purgeTrash'>) => Model<'PurgeTrashResponse'>;
  readonly listTrash: (answer: Answered<'listTrash'>) => Model<'ListTrashResponse'>;
  readonly listTableFiles: (answer: Answered<'listTableFiles'>) => Model<'ListTableFilesResponse'>;
  readonly profileTable: (answer: Answered<'profileTable'>) => Model<'ProfileTableResponse'>;
  readonly diffTable: (answer: Answered<'diffTable'>) => Model<'DiffTableResponse'>;
} = {
  optimizeTable: (answer) => answer,
  cleanupTable: (answer) => answer,
  deleteRows: (answer) => answer,
  purgeTrash: (answer) => answer,
  listTrash: (answer) => answer as never,
  listTableFiles: (answer) => answer as never,
  profileTable: (answer) => answer as never,
  diffTable: (answer) => answer as never,
};

test('they have rows for everything but watching, under a prefix of their own', () => {
  const names = EVERY_OPERATION_NAMES.filter(isExtension);
  const methods = names.map((name) => name.charAt(0).toLowerCase() + name.slice(1)).sort();
  expect(methods).toEqual(Object.keys(requests).sort());
  expect(Object.keys(answers).every((name) => methods.includes(name))).toBe(true);
  for (const name of names) expect(EVERY_OPERATION[name].path).toMatch(/^\/v1\/dirspace\//);
});

describe('permissions', () => {
  const grants = (permission: 'read' | 'write' | 'admin') => [
    { namespace: ['prod'], permission } as const,
  ];
  const apiKeys = (['read', 'write', 'admin'] as const).map((permission) => ({
    key: `${permission}-key`,
    name: permission,
    grants: grants(permission),
  }));
  const root = { key: 'root-key', name: 'root', grants: [{ namespace: [], permission: 'admin' }] };
  const needs: readonly (readonly [path: string, body: object, least: string])[] = [
    ['table/prod$t/take_rows', { row_ids: ['0'] }, 'read'],
    ['table/prod$t/delete_rows', { row_ids: [] }, 'write'],
    ['table/prod$t/optimize', { compact: false }, 'write'],
    ['table/prod$t/cleanup', { older_than_millis: 1e9 }, 'admin'],
    ['table/prod$t/optimize', { cleanup_older_than_millis: 1e9 }, 'admin'],
    ['namespace/prod/update_properties', { properties: { a: 'b' } }, 'write'],
    ['namespace/prod/verify', {}, 'admin'],
    ['namespace/prod/repair', {}, 'admin'],
    ['namespace/$/verify', {}, 'root'],
    ['namespace/$/repair', {}, 'root'],
    ['trash/purge', { older_than_millis: 1e9 }, 'root'],
  ];
  test.each(needs)('%s %j asks for %s', async (path, body, least) => {
    const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
    await namespace.createNamespace({ id: ['prod'] });
    await namespace.createTable({ id: ['prod', 't'] }, someRows());
    const pair = await restPair({ namespace, auth: { apiKeys: [...apiKeys, root as never] } });
    const names = ['read', 'write', 'admin', 'root'];
    const found: Record<string, number> = {};
    for (const name of names) {
      const key = { 'x-api-key': `${name}-key` };
      found[name] = (await ask(pair, 'POST', `/v1/dirspace/${path}`, body, key)).status;
    }
    const allowed = names.map((name, rank) => [name, rank < names.indexOf(least) ? 403 : 200]);
    expect(found).toEqual(Object.fromEntries(allowed));
    expect((await ask(pair, 'POST', `/v1/dirspace/${path}`, body)).status).toBe(401);
    await namespace.close();
  });
});

describe('requests', () => {
  test('row ids keep all their digits', async () => {
    const asked: unknown[] = [];
    const namespace = Object.assign(stubNamespace(), {
      deleteRows: async (request: unknown) => {
        asked.push(request);
        return { version: 2, num_deleted_rows: 1 };
      },
    });
    const { client } = await restPair({ namespace });
    const row_ids = [0n, -1n, 2n ** 53n + 1n, 2n ** 63n + 5n];
    expect(await client.deleteRows({ id: ['t'], row_ids })).toEqual({
      version: 2,
      num_deleted_rows: 1,
    });
    expect(asked).toEqual([{ id: ['t'], row_ids }]);
  });

  test.each([
    ['table/t/delete_rows', {}, 'row_ids'],
    ['table/t/delete_rows', { row_ids: ['1x'] }, 'row_ids[0]'],
    ['table/t/delete_rows', { row_ids: [1.5] }, 'row_ids[0]'],
    ['table/t/delete_rows', { row_ids: ['99999999999999999999'] }, 'row_ids[0]'],
    ['table/t/delete_rows', { row_ids: [1, 2 ** 53] }, 'row_ids[1] is a number beyond 2^53'],
    ['table/t/delete_rows', { row_ids: [-(2 ** 63)] }, 'row_ids[0] is a number beyond 2^53'],
    ['table/t/delete_rows', { row_ids: [2 ** 64] }, 'expected a string of its digits'],
    ['table/t/take_rows', { offsets: [true] }, 'offsets[0]'],
    ['table/t/fetch_blobs', { column: 'b', row_ids: [], length: -1 }, 'length'],
    ['table/t/optimize', { compact: true }, 'compact'],
    ['table/t/optimize', { compact: { target_rows: 0 } }, 'compact.target_rows'],
    ['table/t/cleanup', {}, 'older_than_millis'],
    ['table/t/cleanup', { older_than_millis: -1 }, 'older_than_millis'],
    ['table/$/undrop', {}, 'root'],
    ['trash/purge', { older_than_millis: '1' }, 'older_than_millis'],
    ['namespace/$/repair', { apply: 'yes' }, 'apply'],
  ])('%s refuses %j', async (path, body, member) => {
    const pair = await restPair({ namespace: stubNamespace() });
    const answer = await ask(pair, 'POST', `/v1/dirspace/${path}`, body);
    expect(answer).toMatchObject({ status: 400, json: { code: 13 } });
    expect(answer.json.error).toContain(member);
  });

  test('a delete by row ids that is sent twice with one key is done once', async () => {
    const { client } = await restPair({ root: temporaryFolder() });
    await client.createTable({ id: ['t'] }, someRows());
    const once = { idempotencyKey: 'k' };
    const first = await client.deleteRows({ id: ['t'], row_ids: [1n] }, once);
    expect(first.num_deleted_rows).toBe(1);
    expect(await client.deleteRows({ id: ['t'], row_ids: [1n] }, once)).toEqual(first);
    expect((await client.listTableVersions({ id: ['t'] })).versions).toHaveLength(2);
  });
});

describe('a scope', () => {
  test('undrops and verifies inside its prefix, and leaves the trash of the catalog alone', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createNamespace({ id: ['team'] });
    for (const id of [['t'], ['team', 't']]) await pair.client.createTable({ id }, someRows());
    for (const id of [['t'], ['team', 't']]) await pair.client.dropTable({ id });
    const scope = { 'x-service-database-prefix': 'team' };
    const post = (path: string, body: object = {}) =>
      ask(pair, 'POST', `/v1/dirspace/${path}`, body, scope);
    expect((await post('table/t/undrop')).json).toMatchObject({ id: ['t'] });
    expect((await pair.client.listAllTables({})).tables).toEqual(['team$t']);
    expect((await post('namespace/$/verify')).json.counts).toMatchObject({ tables: 1 });
    expect(await post('trash/purge', { older_than_millis: 0 })).toMatchObject({
      status: 406,
      json: { code: 0 },
    });
    expect((await pair.client.undropTable({ id: ['t'] })).id).toEqual(['t']);
  });
});

describe('a server that lacks them', () => {
  const servers: { close(): void }[] = [];
  afterAll(() => {
    for (const server of servers) server.close();
  });

  test('they are Unsupported, whatever its 404 looks like', async () => {
    const server = createServer((_, answer) => {
      answer.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>');
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const db = await connectNamespace('rest', { uri });
    await expect(db.undropTable('t')).rejects.toMatchObject({ code: 'Unsupported' });
    await expect(db.namespace.verify?.({})).rejects.toMatchObject({ code: 'Unsupported' });
    await db.close();
  });

  test('the catalog behind ours may lack them too', async () => {
    const { client } = await restPair({ namespace: stubNamespace() });
    const error = await client.optimizeTable({ id: ['t'] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DirspaceError);
    expect(error).toMatchObject({ code: 'Unsupported', status: 406 });
  });

  test('rows are then taken and deleted by predicates', async () => {
    const inner = await openDirectoryNamespace({ root: temporaryFolder() });
    const plain = new Proxy(inner, {
      get: (target, name) =>
        name === 'takeRows' || name === 'deleteRows'
          ? undefined
          : (Reflect.get(target, name) as () => unknown).bind(target),
    });
    const { base, fetch } = await restPair({ namespace: plain });
    const db = await connectNamespace('rest', { uri: base }, { fetch: fetch as never });
    const table = await db.createTable('t', [{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await table.takeRowIds([2n, 0n]).toArray()).toEqual([{ n: 3 }, { n: 1 }]);
    expect((await table.deleteRows([1n])).numDeletedRows).toBe(1);
    expect(await table.countRows()).toBe(2);
    await db.close();
    await inner.close();
  });

  test('watching says that there is none over HTTP', async () => {
    const { base } = await restPair({ namespace: stubNamespace() });
    const db = await connectNamespace('rest', { uri: base });
    expect(() => db.watch()).toThrow(expect.objectContaining({ code: 'Unsupported' }));
    await db.close();
  });
});

test('the command line works on a server as it does on a directory', async () => {
  const root = temporaryFolder();
  const auth = {
    apiKeys: [{ key: 'k', name: 'operator', grants: [{ namespace: [], permission: 'admin' }] }],
  } as const;
  const { base } = await restPair({ root, auth }, { wire: 'socket' });
  const cli = (...args: string[]) =>
    callCli(['--uri', base, ...args], { env: { DIRSPACE_API_KEY: 'k' } });

  const rows = join(temporaryFolder(), 'rows.ndjson');
  writeFileSync(rows, '{"n":1}\n{"n":2}\n{"n":3}\n');
  expect((await cli('create-namespace', 'prod')).code).toBe(0);
  expect((await cli('import', rows, 'prod/t')).code).toBe(0);
  expect((await cli('import', rows, 'prod/t', '--mode', 'append')).code).toBe(0);
  expect((await cli('ls', '-r', '--json')).out).toContain('"t"');
  expect((await cli('query', 'prod/t', 'n > 2')).out).toBe('n\n3\n3\n');
  expect((await cli('optimize', 'prod/t', '--older-than', '0')).out).toContain('2 became 1');
  expect(JSON.parse((await cli('verify', '--json')).out)).toMatchObject({ ok: true, problems: [] });

  expect((await cli('drop', 'prod/t')).code).toBe(0);
  const trash = JSON.parse((await cli('trash', 'ls', 'prod', '--json')).out);
  expect(trash).toMatchObject([{ kind: 'table', path: ['prod', 't'] }]);
  expect((await cli('trash', 'restore', 'prod/t', '--entry', trash[0].trashId)).code).toBe(0);
  expect(JSON.parse((await cli('trash', 'empty', '--json')).out)).toMatchObject({ removed: 0 });
  expect(JSON.parse((await cli('verify', '--trash', '--json')).out)).toMatchObject({
    trash_checked: true,
  });

  const table = join(root, 'prod', 't.table');
  const versions = readdirSync(table).find((name) => name.startsWith('versions-')) as string;
  const manifests = readdirSync(join(table, versions)).filter((name) => /^\d+\.json$/.test(name));
  writeFileSync(join(table, versions, manifests.sort().at(-1) as string), '{');
  expect((await cli('verify', 'prod')).code).not.toBe(0);
  const repaired = await cli('repair', '--apply', '--json');
  expect(JSON.parse(repaired.out)).toMatchObject({ applied: true });
  expect((await callCli(['--uri', base, 'ls'])).code).toBe(6);
  expect((await callCli(['--uri', base, '--root', root, 'ls'])).code).toBe(2);
});
