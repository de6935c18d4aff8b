/** Which catalog a request is for. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DirspaceError } from '../../src/errors.ts';
import { type DatabaseSource, Databases } from '../../src/server/databases.ts';
import { createServer } from '../../src/server.ts';
import { ask, type Pair, restPair, someRows } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const named = (name: string): ReturnType<typeof stubNamespace> =>
  stubNamespace({ listAllTables: () => ({ tables: [name] }) });

const both = (): Promise<Pair> =>
  restPair({
    databases: { one: named('in-one'), two: named('in-two') },
    databaseRouting: { hosts: { 'special.test': 'two' } },
  });

const listed = (pair: Pair, headers: Record<string, string>): ReturnType<typeof ask> =>
  ask(pair, 'GET', '/v1/table', undefined, headers);

describe('which database', () => {
  test.each([
    [{ 'x-service-database': 'one' }, 'in-one'],
    [{ 'x-lancedb-database': 'two', 'user-agent': 'dirspace' }, 'in-two'],
    [{ 'x-service-database': 'one', 'x-lancedb-database': 'one' }, 'in-one'],
    [{ host: 'two.catalog.test:8080' }, 'in-two'],
    [{ host: 'special.test' }, 'in-two'],
    [{ host: 'two.catalog.test', 'x-service-database': 'one' }, 'in-one'],
  ])('%j selects %s', async (headers, table) => {
    const answer = await listed(await both(), { 'user-agent': 'dirspace', ...headers });
    expect(answer.json).toEqual({ tables: [table] });
  });
  test.each([
    ['x-service-database', 'x-lancedb-database'],
    ['x-service-database-prefix', 'x-lancedb-database-prefix'],
  ])('two that differ are refused: %s and %s', async (first, second) => {
    const named = first.endsWith('prefix') ? { 'x-service-database': 'one' } : {};
    const headers = { ...named, [first]: 'one', [second]: 'two', 'user-agent': 'dirspace' };
    expect(await listed(await both(), headers)).toMatchObject({
      status: 400,
      json: {
        code: 13,
        detail: expect.stringContaining(`${first} is "one" and ${second} is "two"`),
      },
    });
    const same = { ...headers, [second]: 'one' };
    expect((await listed(await both(), same)).status).not.toBe(400);
  });
  test('an unknown one is 404, a missing one where several exist 400', async () => {
    const pair = await both();
    expect(await listed(pair, { 'x-service-database': 'none' })).toMatchObject({ status: 404 });
    expect(await listed(pair, { 'x-service-database': '__proto__' })).toMatchObject({
      status: 404,
    });
    expect(await listed(pair, {})).toMatchObject({ status: 400, json: { code: 13 } });
    expect(await listed(pair, { host: 'unknown.test' })).toMatchObject({ status: 400 });
  });
  test('the names of the headers are configurable', async () => {
    const pair = await restPair({
      databases: { one: named('in-one'), two: named('in-two') },
      databaseRouting: { headers: ['X-Tenant'] },
    });
    expect((await listed(pair, { 'x-tenant': 'two' })).json).toEqual({ tables: ['in-two'] });
    expect(await listed(pair, { 'x-service-database': 'two' })).toMatchObject({ status: 400 });
  });
  test('one catalog answers whatever database is named', async () => {
    const pair = await restPair({ namespace: named('here') });
    for (const name of ['', 'a', '../x']) {
      expect((await listed(pair, { 'x-service-database': name })).json).toEqual({
        tables: ['here'],
      });
    }
  });
  test('every folder of databasesRoot is one, and nothing outside it', async () => {
    const outer = temporaryFolder();
    for (const name of ['root/a', 'root/b', 'outside'])
      mkdirSync(`${outer}/${name}`, { recursive: true });
    const pair = await restPair({ databasesRoot: `${outer}/root` });
    const create = (database: string): ReturnType<typeof ask> =>
      ask(pair, 'POST', '/v1/namespace/n/create', {}, { 'x-service-database': database });
    expect((await create('a')).status).toBe(200);
    expect((await create('a')).status).toBe(409);
    expect((await create('b')).status).toBe(200);
    for (const name of ['../outside', '..', '.', 'a/../b', 'none', '/tmp']) {
      expect((await create(name)).status, name).toBe(404);
    }
  });
  test('a link to a folder in databasesRoot is one, and is listed', async () => {
    const outer = temporaryFolder();
    for (const name of ['root/a', 'elsewhere']) mkdirSync(`${outer}/${name}`, { recursive: true });
    symlinkSync(`${outer}/elsewhere`, `${outer}/root/linked`);
    symlinkSync(`${outer}/none`, `${outer}/root/broken`);
    writeFileSync(`${outer}/root/file`, '');
    symlinkSync('file', `${outer}/root/of-a-file`);
    const pair = await restPair({ databasesRoot: `${outer}/root`, ui: true });
    const about = await ask(pair, 'POST', '/ui/api/about', {});
    expect(about.json).toMatchObject({ databases: ['a', 'linked'] });
    const listedIn = (name: string) => listed(pair, { 'x-service-database': name });
    expect(await listedIn('linked')).toMatchObject({ status: 200 });
    for (const name of ['broken', 'of-a-file']) expect((await listedIn(name)).status).toBe(404);
    // Of several databases a request has to name one.
    expect((await listed(pair, {})).status).toBe(400);
  });
  test('a server needs exactly one source', async () => {
    for (const source of [{}, { root: 'a', databasesRoot: 'b' }]) {
      await expect(createServer(source)).rejects.toMatchObject({ code: 'InvalidInput' });
    }
  });
  test('grants for a database are for that one', async () => {
    const pair = await restPair({
      databases: { one: named('in-one'), two: named('in-two') },
      auth: {
        apiKeys: [
          {
            key: 'k-one',
            name: 'x',
            grants: [{ database: 'one', namespace: [], permission: 'read' }],
          },
        ],
      },
    });
    const status = async (database: string): Promise<number> =>
      (await listed(pair, { 'x-api-key': 'k-one', 'x-service-database': database })).status;
    expect([await status('one'), await status('two'), await status('none')]).toEqual([
      200, 403, 403,
    ]);
  });
});

test('a root that cannot be opened is no fault of the request, and the log says why', async () => {
  const root = `${temporaryFolder()}/file`;
  mkdirSync(root);
  const lines: unknown[] = [];
  const error = (fields: object): void => void lines.push(fields);
  const pair = await restPair({ root, logger: { error } });
  // What is a file at the start is refused then.
  rmSync(root, { recursive: true });
  writeFileSync(root, 'no catalog');
  const answer = await listed(pair, {});
  expect(answer).toMatchObject({ status: 500, json: { code: 18 } });
  expect(answer.text).not.toContain('file');
  expect(JSON.stringify(lines)).toContain('it is a file');
});

test('a folder of databases that is made has none', async () => {
  const pair = await restPair({ databasesRoot: `${temporaryFolder()}/later`, create: true });
  expect(await listed(pair, {})).toMatchObject({ status: 400, json: { code: 13 } });
  expect(await listed(pair, { 'x-service-database': 'a' })).toMatchObject({ status: 404 });
});

test('hosts do not tell which databases there are to who may not use them', async () => {
  const grants = [{ database: 'one', namespace: [], permission: 'read' as const }];
  const pair = await restPair({
    databases: { one: named('in-one'), two: named('in-two') },
    auth: { apiKeys: [{ key: 'k-one', name: 'x', grants }] },
  });
  const of = async (host: string, headers: Record<string, string>): Promise<string> => {
    const send = { host, ...headers };
    const { status, text } = await ask(pair, 'POST', '/v1/table/t/tags/list', {}, send);
    return `${status} ${text}`;
  };
  for (const [headers, status] of [
    [{}, '401'],
    [{ 'x-api-key': 'wrong' }, '401'],
    [{ 'x-api-key': 'k-one' }, '400'],
  ] as const) {
    const there = await of('two.catalog.test', headers);
    expect(there.slice(0, 3)).toBe(status);
    expect(await of('none.catalog.test', headers)).toBe(there);
  }
  expect(await of('one.catalog.test', { 'x-api-key': 'k-one' })).toMatch(/^406/);
});

test('paths that messages must not show are whole: a relative one is a word like others', () => {
  const open = async (): Promise<never> => Promise.reject(new Error('nothing is opened'));
  const roots = (source: DatabaseSource): readonly string[] =>
    new Databases(source, {}, open).roots;
  expect(roots({ root: 'catalog' })).toEqual([resolve('catalog')]);
  expect(roots({ databasesRoot: './dbs/' })).toEqual([resolve('dbs')]);
  expect(roots({ databases: { a: '/', b: 'x/../y', c: named('c') } })).toEqual([resolve('y')]);
});

test('a catalog made without types may answer and fail at once', async () => {
  const namespace = stubNamespace();
  Object.assign(namespace, {
    countTableRows: () => ({ count: 7 }),
    tableExists: () => {
      throw new DirspaceError('TableNotFound', 'There is none.');
    },
  });
  const pair = await restPair({ namespace });
  const count = await ask(pair, 'POST', '/v1/table/t/count_rows', {});
  expect(count).toMatchObject({ status: 200, json: 7 });
  expect(await ask(pair, 'POST', '/v1/table/t/exists', {})).toMatchObject({ status: 404 });
});

describe('a prefix scopes a catalog', () => {
  test('ids are relative to it, in requests and in answers', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createNamespace({ id: ['team'] });
    await pair.client.createNamespace({ id: ['team', 'a'] });
    await pair.client.createTable({ id: ['outside'] }, someRows());
    const scope = { 'x-service-database-prefix': 'team/a' };
    const post = (path: string, body: unknown): ReturnType<typeof ask> =>
      ask(pair, 'POST', path, body, scope);
    expect((await post('/v1/namespace/n/create', {})).status).toBe(200);
    expect((await post('/v1/table/n$t/declare', {})).status).toBe(200);
    expect((await listed(pair, scope)).json).toEqual({ tables: ['n$t'] });
    expect((await post('/v1/table/outside/describe', {})).status).toBe(404);
    expect(
      (await post('/v1/table/n$t/rename', { new_table_name: 'u', to_root: true })).status,
    ).toBe(200);
    expect((await listed(pair, {})).json).toEqual({ tables: ['outside', 'team$a$u'] });
    expect((await post('/v1/table/u/drop', undefined)).json.id).toEqual(['u']);
    await pair.client.dropTable({ id: ['outside'] });
    // Only what was dropped below the prefix, by names that are relative to it.
    const { entries } = (await post('/v1/dirspace/namespace/$/trash', {})).json;
    expect(entries).toMatchObject([{ kind: 'table', id: ['u'] }]);
    expect((await post('/v1/dirspace/trash/purge', { older_than_millis: 0 })).status).toBe(406);
    for (const verb of ['create', 'drop']) {
      expect((await post(`/v1/namespace/$/${verb}`, {})).status).toBe(400);
    }
    expect(
      (await ask(pair, 'GET', '/v1/table', undefined, { 'x-service-database-prefix': 'a//b' }))
        .status,
    ).toBe(400);
  });

  test('ids are relative to it in results of a batch and in errors', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createNamespace({ id: ['a'] });
    await pair.client.createNamespace({ id: ['a', 'a'] });
    const scope = { 'x-service-database-prefix': 'a' };
    const post = (path: string, body: unknown): ReturnType<typeof ask> =>
      ask(pair, 'POST', path, body, scope);
    await pair.client.declareTable({ id: ['a', 'a', 't'] });
    const missing = await post('/v1/table/a$none/describe', {});
    expect(missing.status).toBe(404);
    expect(missing.json.error).toContain('The table a$none ');
    expect(missing.json.error).not.toContain('a$a$none');
    const ofOthers = await post('/v1/table/a$t/update', { updates: [['x', '1']] });
    expect(ofOthers.json.error).not.toContain('a$a$t');
    const operations = [{ deregister_table: { id: ['a', 't'] } }];
    const committed = await post('/v1/table/batch-commit', { operations });
    expect(committed.json.results[0].deregister_table.id).toEqual(['a', 't']);
  });
});

describe('the namespaces of one root as databases', () => {
  const start = (): Promise<Pair> =>
    restPair({ root: temporaryFolder(), databaseRouting: { namespaces: true } });
  const of = (database: string): Record<string, string> => ({
    'x-lancedb-database': database,
    'user-agent': 'dirspace',
  });

  test('are listed, created and dropped without a header, and isolated with one', async () => {
    const pair = await start();
    for (const name of ['one', 'two']) {
      const made = await ask(pair, 'POST', `/v1/namespace/${name}/create`, { mode: 'Create' });
      expect(made.status).toBeLessThan(300);
      const declared = await ask(pair, 'POST', '/v1/table/t/declare', {}, of(name));
      expect(declared.status).toBe(200);
    }
    const root = await ask(pair, 'GET', '/v1/namespace/$/list');
    expect(root.json.namespaces).toEqual(['one', 'two']);
    for (const name of ['one', 'two']) {
      const tables = await ask(pair, 'GET', '/v1/namespace/$/table/list', undefined, of(name));
      expect(tables.json.tables).toEqual(['t']);
    }
    const places = await Promise.all(
      ['one', 'two'].map((name) => ask(pair, 'POST', '/v1/table/t/describe', {}, of(name))),
    );
    expect(new Set(places.map(({ json }) => json.location)).size).toBe(2);
    await ask(pair, 'POST', '/v1/table/t/drop', {}, of('one'));
    expect((await ask(pair, 'POST', '/v1/table/t/describe', {}, of('one'))).status).toBe(404);
    expect((await ask(pair, 'POST', '/v1/table/t/describe', {}, of('two'))).status).toBe(200);
    // A database with tables stays; one without goes.
    const drop = { mode: 'Fail', behavior: 'Restrict' };
    expect((await ask(pair, 'POST', '/v1/namespace/two/drop', drop)).status).toBe(409);
    expect((await ask(pair, 'POST', '/v1/namespace/one/drop', drop)).status).toBe(200);
    expect((await ask(pair, 'GET', '/v1/namespace/$/list')).json.namespaces).toEqual(['two']);
  });

  test('one that is not there is 404, and a name that could be none is 400', async () => {
    const pair = await start();
    for (const path of ['/v1/namespace/$/table/list', '/v1/namespace/$/list'])
      expect((await ask(pair, 'GET', path, undefined, of('none'))).status).toBe(404);
    expect((await ask(pair, 'POST', '/v1/table/t/declare', {}, of('none'))).status).toBe(404);
    expect((await ask(pair, 'GET', '/v1/namespace/$/list', undefined, of('a/b'))).status).toBe(400);
  });

  test('rights are those on the namespace', async () => {
    const pair = await restPair({
      root: temporaryFolder(),
      databaseRouting: { namespaces: true },
      auth: {
        apiKeys: [
          { key: 'k'.repeat(32), name: 'all', grants: ['admin:$'] },
          { key: 'o'.repeat(32), name: 'one', grants: ['admin:one'] },
        ],
      },
    } as never);
    const all = { 'x-api-key': 'k'.repeat(32) };
    const one = { 'x-api-key': 'o'.repeat(32) };
    for (const name of ['one', 'two'])
      await ask(pair, 'POST', `/v1/namespace/${name}/create`, {}, all);
    expect(
      (await ask(pair, 'GET', '/v1/namespace/$/list', undefined, one)).json.namespaces,
    ).toEqual(['one']);
    const into = (name: string) =>
      ask(pair, 'POST', '/v1/table/t/declare', {}, { ...of(name), ...one });
    expect((await into('one')).status).toBe(200);
    expect((await into('two')).status).toBe(403);
    expect((await ask(pair, 'POST', '/v1/namespace/three/create', {}, one)).status).toBe(403);
  });

  test('there are none where several roots are served, and without the option nothing changes', async () => {
    for (const source of [{ databases: { one: named('x') } }, { databasesRoot: '/nowhere' }])
      expect(() => new Databases(source, { namespaces: true }, async () => named('x'))).toThrow(
        'several roots',
      );
    expect(
      () => new Databases({ root: '/x' }, { namespaces: 'yes' } as never, async () => named('x')),
    ).toThrow('databaseRouting.namespaces');
    const pair = await restPair({ root: temporaryFolder() });
    await ask(pair, 'POST', '/v1/namespace/one/create', {});
    await ask(pair, 'POST', '/v1/table/t/declare', {}, of('one'));
    expect((await ask(pair, 'POST', '/v1/table/t/describe', {}, of('two'))).status).toBe(200);
  });
});
