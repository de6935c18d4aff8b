/** Who may do what: credentials, grants, and what is shown to whom. */
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import {
  type AnyOperation,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
} from '../../src/protocol/every-operation.ts';
import { type ApiKey, createServer, type Grant, startServer } from '../../src/server.ts';
import { ARROW, ask, type Pair, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const grant = (permission: Grant['permission'], ...namespace: string[]): Grant => ({
  namespace,
  permission,
});

const apiKeys: ApiKey[] = [
  { key: 'root-key', name: 'root', grants: [grant('admin')] },
  { key: 'reader-key', name: 'reader', grants: [grant('read', 'prod')] },
  { key: 'writer-key', name: 'writer', grants: [grant('write', 'prod', 'search')] },
  { key: 'nobody-key', name: 'nobody', grants: [] },
  {
    sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    name: 'digest',
    grants: [grant('read')],
  },
];

const as = (name: string): Record<string, string> => ({ 'x-api-key': `${name}-key` });

let pair: Pair;

beforeAll(async () => {
  const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
  for (const id of [['prod'], ['prod', 'search'], ['secret'], ['secret', 'inner']]) {
    await namespace.createNamespace({ id });
  }
  for (const id of [['prod', 'a'], ['prod', 'search', 'b'], ['secret', 'c'], ['top']]) {
    await namespace.createTable({ id }, someRows());
  }
  pair = await restPair({ namespace, auth: { apiKeys } });
});

describe('credentials', () => {
  test.each([
    ['none', {}],
    ['a wrong key', { 'x-api-key': 'root-kez' }],
    ['an empty key', { 'x-api-key': '' }],
    ['a token where only keys are known', { authorization: 'Bearer root-key' }],
    ['a key as basic credentials', { authorization: 'Basic root-key' }],
  ])('%s: 401 on every route', async (_, headers) => {
    for (const operation of EVERY_OPERATION_NAMES) {
      const { method, path } = EVERY_OPERATION[operation];
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      const answer = await ask(pair, method, url, method === 'POST' ? {} : undefined, headers);
      expect(answer, operation).toMatchObject({
        status: 401,
        json: { type: '/errors/unauthorized-request', code: 16 },
      });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });
  test('two keys of the same value are refused, whichever way they are given', async () => {
    const digest = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';
    const one = { name: 'one', grants: [grant('read')] };
    const two = { name: 'two', grants: [grant('admin')] };
    const namespace = stubNamespace();
    for (const keys of [
      [
        { ...one, key: 'foo' },
        { ...two, key: 'foo' },
      ],
      [
        { ...one, key: 'foo' },
        { ...two, sha256: digest },
      ],
      [
        { ...one, sha256: digest },
        { ...two, sha256: digest.toUpperCase() },
      ],
    ]) {
      await expect(createServer({ namespace, auth: { apiKeys: keys } })).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringMatching(/"one" and "two" have the same value/),
      });
    }
    const different = [
      { ...one, key: 'foo' },
      { ...one, key: 'bar' },
    ];
    await (await createServer({ namespace, auth: { apiKeys: different } })).close();
  });
  test.each([' k', 'k\t', 'a\nb', 'a\u0000', 'ключ', ' '])(
    'a key that no header carries is refused: %j',
    async (key) => {
      const keys = [{ name: 'one', grants: [grant('read')], key }];
      const opened = createServer({ namespace: stubNamespace(), auth: { apiKeys: keys } });
      await expect(opened).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringMatching(/"one" .* no request could show it/),
      });
    },
  );
  test('a key may be configured by its digest', async () => {
    const headers = { 'x-api-key': 'foo' };
    expect((await ask(pair, 'GET', '/v1/table', undefined, headers)).status).toBe(200);
  });
  test('identity in the body counts for operations that need no body too', async () => {
    const identity = { api_key: 'root-key' };
    const list = (body: unknown): ReturnType<typeof ask> =>
      ask(pair, 'POST', '/v1/table/prod$a/tags/list', body);
    expect((await list({ identity })).status).toBe(200);
    expect((await list({ identity: { api_key: 'no-key' } })).status).toBe(401);
    for (const body of [undefined, null, {}]) expect((await list(body)).status).toBe(401);
  });
  test('identity in the body counts where the header is absent', async () => {
    const describe = (identity: object, headers = {}): ReturnType<typeof ask> =>
      ask(pair, 'POST', '/v1/table/prod$a/describe', { identity }, headers);
    expect((await describe({ api_key: 'reader-key' })).status).toBe(200);
    expect((await describe({ api_key: 'wrong' })).status).toBe(401);
    expect((await describe({ api_key: 'wrong' }, as('reader'))).status).toBe(200);
    expect((await describe({ api_key: 'reader-key' }, { 'x-api-key': 'wrong' })).status).toBe(401);
  });
  test('/health and /openapi.json need none', async () => {
    expect((await ask(pair, 'GET', '/health')).status).toBe(200);
    expect((await ask(pair, 'GET', '/openapi.json')).status).toBe(200);
  });
  test('an authenticate function decides', async () => {
    const custom = await restPair({
      namespace: stubNamespace({ listAllTables: () => ({ tables: [] }) }),
      auth: {
        authenticate: ({ token }) =>
          token === 'yes' ? { name: 'x', grants: [grant('admin')] } : undefined,
      },
    });
    const list = (token: string): ReturnType<typeof ask> =>
      ask(custom, 'GET', '/v1/table', undefined, { authorization: `Bearer ${token}` });
    expect((await list('yes')).status).toBe(200);
    expect((await list('no')).status).toBe(401);
  });
});

/** Requests that would be valid for who may send them. */
const BODIES: Partial<Record<AnyOperation, unknown>> = {
  BeginJob: { operation: 'OptimizeTable' },
  FetchBlobs: { column: 'x', row_ids: [] },
  RegisterTable: { location: 'x' },
  RestoreTable: { version: 1 },
  RenameTable: { new_table_name: 'z' },
  CreateTableVersion: { version: 2, manifest_path: 'x/_versions/1.manifest-0' },
  BatchDeleteTableVersions: { ranges: [] },
  AlterTableAlterColumns: { alterations: [] },
  UpdateFieldMetadata: { updates: [] },
  AlterTableDropColumns: { columns: [] },
  UpdateTable: { updates: [] },
  DeleteFromTable: { predicate: 'true' },
  QueryTable: { k: 1 },
  ExplainTableQueryPlan: { query: { k: 1 } },
  AnalyzeTableQueryPlan: { k: 1 },
  AlterTableAddColumns: { new_columns: [] },
  AlterTableBackfillColumns: { column: 'id' },
  CreateMaterializedView: { kind: 'query', source_query: '', output_schema: '' },
  CreateTableIndex: { column: 'id', index_type: 'BTREE' },
  CreateTableScalarIndex: { column: 'id', index_type: 'BTREE' },
  GetTableTagVersion: { tag: 't' },
  CreateTableTag: { tag: 't', version: 1 },
  UpdateTableTag: { tag: 't', version: 1 },
  DeleteTableTag: { tag: 't' },
  CreateTableBranch: { name: 'b' },
  DeleteTableBranch: { name: 'b' },
  DiffTable: { from: {} },
  DiffTableBranch: { from_branch: 'b' },
  CloneTable: { source_id: ['prod', 'source'] },
  CherryPickTableBranch: { from_branch: 'b' },
  DeleteRows: { row_ids: [] },
  CleanupTable: { older_than_millis: 0 },
};

describe('permissions', () => {
  const rename = { new_table_name: 'z', new_namespace_id: ['prod', 'search'] };
  const cases: [string, string, string, unknown, number][] = [
    ['root', 'POST', '/v1/table/secret$c/describe', {}, 200],
    ['reader', 'POST', '/v1/table/prod$a/describe', {}, 200],
    ['reader', 'POST', '/v1/table/prod$search$b/count_rows', {}, 200],
    ['reader', 'POST', '/v1/table/prod$a/drop', undefined, 403],
    ['reader', 'POST', '/v1/namespace/prod$new/create', {}, 403],
    ['reader', 'POST', '/v1/table/secret$c/describe', {}, 403],
    ['reader', 'POST', '/v1/table/top/describe', {}, 403],
    ['reader', 'POST', '/v1/table/production/describe', {}, 403],
    ['writer', 'POST', '/v1/table/prod$search$b/tags/create', { tag: 't', version: 1 }, 200],
    ['writer', 'POST', '/v1/table/prod$a/describe', {}, 403],
    ['writer', 'POST', '/v1/namespace/prod$search/drop', {}, 403],
    ['writer', 'POST', '/v1/table/prod$a/rename', rename, 403],
    [
      'writer',
      'POST',
      '/v1/table/prod$search$b/rename',
      { new_table_name: 'z', new_namespace_id: ['prod'] },
      403,
    ],
    ['writer', 'POST', '/v1/table/prod$search$d/declare', { location: 'secret/c.table' }, 403],
    [
      'writer',
      'POST',
      '/v1/table/batch-commit',
      { operations: [{ declare_table: { id: ['secret', 'x'] } }] },
      403,
    ],
    ['writer', 'POST', '/v1/transaction/x/describe', {}, 403],
    ['nobody', 'GET', '/v1/table', undefined, 403],
    ['nobody', 'POST', '/v1/table/batch-commit', { operations: [] }, 403],
    ['nobody', 'POST', '/v1/table/batch-commit', { operations: [{}] }, 403],
    ['nobody', 'POST', '/v1/table/version/batch-create', { entries: [] }, 403],
    ['nobody', 'POST', '/v1/namespace/$/describe', {}, 403],
  ];
  test.each(cases)('%s: %s %s %j is %i', async (name, method, path, body, status) => {
    expect((await ask(pair, method, path, body, as(name))).status).toBe(status);
  });
  test('what is missing and what is forbidden look the same to who may not see it', async () => {
    const mask = (text: string): string => text.replaceAll(/secret\$\w+/g, '');
    const bytes = await streamBytes();
    for (const operation of EVERY_OPERATION_NAMES) {
      const { method, path, body } = EVERY_OPERATION[operation];
      if (!/\{id\}/.test(path) || path.includes('/transaction/')) continue;
      const data = body === 'arrow-stream' ? bytes : BODIES[operation];
      const type = body === 'arrow-stream' ? ARROW : {};
      const ofName = async (name: string): Promise<string> => {
        const url = path.replace('{id}', `secret$${name}`).replace('{index_name}', 'i');
        const query = operation === 'MergeInsertIntoTable' ? '?on=id' : '';
        const sent = method === 'GET' ? undefined : (data ?? {});
        const headers = { ...type, ...as('reader') };
        const { status, text } = await ask(pair, method, url + query, sent, headers);
        return `${operation} ${status} ${mask(text)}`;
      };
      const there = await ofName(path.includes('/namespace/') ? 'inner' : 'c');
      expect(there).toMatch(/^\w+ 403 /);
      expect(there).toBe(await ofName('zz'));
    }
  });
  test('a table is renamed to names that are granted only, and others stay unknown', async () => {
    const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
    await namespace.createNamespace({ id: ['prod'] });
    for (const name of ['mine', 'other']) {
      await namespace.createTable({ id: ['prod', name] }, someRows());
    }
    const narrow = { key: 'narrow-key', name: 'narrow', grants: [grant('write', 'prod', 'mine')] };
    const server = await restPair({ namespace, auth: { apiKeys: [narrow] } });
    const target = async (body: object): Promise<string> => {
      const path = '/v1/table/prod$mine/rename';
      const { status, text } = await ask(server, 'POST', path, body, as('narrow'));
      return `${status} ${text}`;
    };
    const there = await target({ new_table_name: 'other' });
    expect(there).toMatch(/^403 /);
    expect(await target({ new_table_name: 'free' })).toBe(there);
    expect(await target({ new_table_name: 'other', new_namespace_id: ['prod'] })).toBe(there);
    expect((await namespace.listAllTables({})).tables).toEqual(['prod$mine', 'prod$other']);
  });
  test('a write with Arrow data is refused before its data is read', async () => {
    const bytes = await streamBytes();
    const path = '/v1/table/prod$a/insert';
    expect((await ask(pair, 'POST', path, bytes, { ...ARROW, ...as('reader') })).status).toBe(403);
  });
});

describe('lists show what may be read', () => {
  const list = async (name: string, path: string): Promise<unknown> =>
    (await ask(pair, 'GET', path, undefined, as(name))).json;
  test('all tables', async () => {
    expect(await list('root', '/v1/table')).toEqual({
      tables: ['prod$a', 'prod$search$b', 'secret$c', 'top'],
    });
    expect(await list('reader', '/v1/table')).toEqual({ tables: ['prod$a', 'prod$search$b'] });
    expect(await list('writer', '/v1/tables')).toEqual({ tables: ['prod$search$b'] });
  });
  test('namespaces, with those on the way', async () => {
    expect(await list('reader', '/v1/namespace/$/list')).toEqual({ namespaces: ['prod'] });
    expect(await list('writer', '/v1/namespace/prod/list')).toEqual({ namespaces: ['search'] });
    expect(await list('writer', '/v1/namespace/secret/list')).toMatchObject({ status: 403 });
  });
  test('tables of a namespace on the way', async () => {
    expect(await list('writer', '/v1/namespace/prod/table/list')).toEqual({ tables: [] });
    expect(await list('reader', '/v1/namespace/$/table/list')).toEqual({ tables: [] });
  });
  test('pages are filled, and their tokens tell nothing of what is hidden', async () => {
    const first = (await list('reader', '/v1/table?limit=1')) as { page_token: string };
    expect(first).toEqual({ tables: ['prod$a'], page_token: expect.any(String) });
    const token = encodeURIComponent(first.page_token);
    expect(await list('reader', `/v1/table?limit=1&page_token=${token}`)).toEqual({
      tables: ['prod$search$b'],
    });
  });
});

describe('tokens', () => {
  const issuer = 'https://issuer.test';
  const audience = 'catalog';
  type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  let key: Key;
  let jwk: JWK;
  let other: Key;

  beforeAll(async () => {
    const pairOfKeys = await generateKeyPair('ES256');
    key = pairOfKeys.privateKey;
    jwk = { ...(await exportJWK(pairOfKeys.publicKey)), kid: 'k1', alg: 'ES256' };
    other = (await generateKeyPair('ES256')).privateKey;
  });

  const token = (
    claims: Record<string, unknown> = {},
    signer = key,
    expiry = '5m',
  ): Promise<string> =>
    new SignJWT({ dirspace: ['read:prod'], ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(String(claims.iss ?? issuer))
      .setAudience(String(claims.aud ?? audience))
      .setSubject('someone')
      .setExpirationTime(expiry)
      .sign(signer);

  async function withKeys(
    from: 'file' | 'address',
    text = JSON.stringify({ keys: [jwk] }),
  ): Promise<Pair> {
    const namespace = stubNamespace({ describeTable: () => ({ location: '/x' }) });
    if (from === 'file') {
      const jwksFile = `${temporaryFolder()}/keys.json`;
      writeFileSync(jwksFile, text);
      return restPair({ namespace, auth: { jwt: { jwksFile, issuer, audience } } });
    }
    const http = createHttpServer((_, response) => response.end(text)).listen(0, '127.0.0.1');
    await new Promise((resolve) => http.once('listening', resolve));
    http.unref();
    const jwksUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}/keys`;
    return restPair({ namespace, auth: { jwt: { jwksUrl, issuer, audience } } });
  }

  const status = async (server: Pair, bearer: string, id = 'prod$a'): Promise<number> =>
    (
      await ask(
        server,
        'POST',
        `/v1/table/${id}/describe`,
        {},
        { authorization: `Bearer ${bearer}` },
      )
    ).status;

  test.each(['file', 'address'] as const)('keys from a %s', async (from) => {
    const server = await withKeys(from);
    expect(await status(server, await token())).toBe(200);
    expect(await status(server, await token(), 'secret$c')).toBe(403);
    expect(
      await status(
        server,
        await token({ dirspace: [{ namespace: 'secret', permission: 'read' }] }),
        'secret$c',
      ),
    ).toBe(200);
    expect(await status(server, await token({ dirspace: ['nonsense', 7] }))).toBe(403);
    expect(await status(server, await token({ iss: 'https://other.test' }))).toBe(401);
    expect(await status(server, await token({ aud: 'other' }))).toBe(401);
    expect(await status(server, await token({}, key, '-1m'))).toBe(401);
    expect(await status(server, await token({}, other))).toBe(401);
    expect(await status(server, 'no.token.atall')).toBe(401);
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await token()).split('.')[1]}.`;
    expect(await status(server, unsigned)).toBe(401);
  });
  test('a token without a subject, or with an empty one, is not valid', async () => {
    const server = await withKeys('file');
    const signed = (claims: Record<string, unknown>): Promise<string> =>
      new SignJWT({ dirspace: ['read:prod'], ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setExpirationTime('5m')
        .sign(key);
    expect(await status(server, await signed({ sub: 'someone' }))).toBe(200);
    for (const claims of [{}, { sub: '' }, { sub: 7 }, { sub: null }]) {
      expect(await status(server, await signed(claims)), JSON.stringify(claims)).toBe(401);
    }
  });
  test('a key set of more than a mebibyte is not read to its end', async () => {
    const text = JSON.stringify({ keys: [jwk] });
    const padded = await withKeys('address', text + ' '.repeat(1_048_576 - text.length));
    expect(await status(padded, await token())).toBe(200);
    const long = await withKeys('address', text + ' '.repeat(1_048_577 - text.length));
    expect(await status(long, await token())).toBe(503);
  });
  test.each([
    [{ issuer: '' }, 'auth.jwt.issuer is an empty text'],
    [{ issuer: [issuer] }, 'auth.jwt.issuer is a list'],
    [{ audience: undefined }, 'auth.jwt.audience is missing'],
    [{ audience: [] }, 'auth.jwt.audience is a list'],
    [{ algorithms: [] }, 'auth.jwt.algorithms is an empty list'],
    [{ algorithms: 'RS256' }, 'auth.jwt.algorithms is a text'],
    [{ algorithms: ['ES256', 'none'] }, 'auth.jwt.algorithms has "none"; there is ES256'],
    [{ algorithms: ['HS256'] }, 'auth.jwt.algorithms has "HS256"'],
    [{ clockToleranceSeconds: '5' }, 'auth.jwt.clockToleranceSeconds is a text'],
    [{ clockToleranceSeconds: -1 }, 'auth.jwt.clockToleranceSeconds is a number'],
    [{ grantsClaim: '' }, 'auth.jwt.grantsClaim is an empty text'],
    [{ jwksFile: undefined, jwksUrl: 'ftp://keys.test/a' }, 'no http or https URL'],
  ])('options that no token could be verified with are refused: %j', async (given, message) => {
    const jwksFile = `${temporaryFolder()}/keys.json`;
    writeFileSync(jwksFile, JSON.stringify({ keys: [jwk] }));
    const jwt = { jwksFile, issuer, audience, ...given } as never;
    const made = createServer({ namespace: stubNamespace(), auth: { jwt } });
    await expect(made).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(message),
    });
  });
  test('a token in the identity of the body counts too', async () => {
    const server = await withKeys('file');
    const identity = { auth_token: await token() };
    expect((await ask(server, 'POST', '/v1/table/prod$a/describe', { identity })).status).toBe(200);
  });
  test('a key set that cannot be had is a 503, not a 401, and the log says why', async () => {
    const namespace = stubNamespace();
    const jwksUrl = 'http://127.0.0.1:1/keys';
    const lines: unknown[] = [];
    const server = await restPair({
      namespace,
      auth: { jwt: { jwksUrl, issuer, audience } },
      logger: { warn: (fields) => void lines.push(fields) },
    });
    expect(await status(server, await token())).toBe(503);
    expect(lines).toMatchObject([{ status: 503, failure: { code: 'ServiceUnavailable' } }]);
    expect(JSON.stringify(lines)).toMatch(/"cause":\{/);
  });
  test('a file that is no key set is told when the server is made', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/text.json`, 'keys');
    writeFileSync(`${folder}/other.json`, '{"key":1}');
    writeFileSync(`${folder}/null.json`, 'null');
    writeFileSync(`${folder}/numbers.json`, '{"keys":[1]}');
    for (const name of ['none', 'text', 'other', 'null', 'numbers']) {
      const jwksFile = `${folder}/${name}.json`;
      const made = createServer({
        namespace: stubNamespace(),
        auth: { jwt: { jwksFile, issuer, audience } },
      });
      await expect(made, name).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining(jwksFile),
      });
    }
  });
  test('a token that does not name its key may be signed by any of the set', async () => {
    const jwksFile = `${temporaryFolder()}/keys.json`;
    const second = await generateKeyPair('ES256');
    const secondJwk = { ...(await exportJWK(second.publicKey)), kid: 'k2', alg: 'ES256' };
    writeFileSync(jwksFile, JSON.stringify({ keys: [jwk, secondJwk] }));
    const namespace = stubNamespace({ describeTable: () => ({ location: '/x' }) });
    const server = await restPair({ namespace, auth: { jwt: { jwksFile, issuer, audience } } });
    const unnamed = (signer: Key, to = audience): Promise<string> =>
      new SignJWT({ dirspace: ['read:prod'] })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(issuer)
        .setAudience(to)
        .setSubject('someone')
        .setExpirationTime('5m')
        .sign(signer);
    expect(await status(server, await unnamed(key))).toBe(200);
    expect(await status(server, await unnamed(second.privateKey))).toBe(200);
    expect(await status(server, await unnamed(second.privateKey, 'other'))).toBe(401);
    expect(await status(server, await unnamed(other))).toBe(401);
  });
});

describe('secrets', () => {
  test('no key or token is ever logged', async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string): void => {
      lines.push(JSON.stringify([fields, message]));
    };
    const server = await restPair({
      namespace: stubNamespace({
        describeTable: () => {
          throw new Error('failed with root-key and my-bearer-token in it');
        },
      }),
      auth: { apiKeys },
      logger: { debug: write, info: write, warn: write, error: write },
    });
    const headers = { ...as('root'), authorization: 'Bearer my-bearer-token' };
    await ask(server, 'POST', '/v1/table/t/describe?delimiter=hidden-option', {}, headers);
    await ask(server, 'POST', '/v1/table/t/describe', { identity: { api_key: 'root-key' } });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).not.toMatch(/root-key|hidden-option/);
    expect(lines[0]).not.toContain('my-bearer-token');
    expect(lines[0]).toContain('[redacted]');
  });
});

describe('pages of other sites', () => {
  const drop = async (server: Pair, origin: string): Promise<number> =>
    (await ask(server, 'POST', '/v1/table/t/drop', undefined, { origin, host: 'x:1' })).status;
  test('are refused where nobody needs credentials', async () => {
    const dropped = { dropTable: () => ({}) };
    const open = await restPair({ namespace: stubNamespace(dropped) });
    for (const origin of ['https://evil.test', 'http://x', 'null']) {
      expect(await drop(open, origin), origin).toBe(403);
    }
    expect(await drop(open, 'http://x:1')).toBe(200);
    const closed = await restPair({ namespace: stubNamespace(dropped), auth: { apiKeys } });
    expect(await drop(closed, 'https://evil.test')).toBe(401);
  });
});

describe('addresses', () => {
  test('a public address without auth is refused', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      await expect(startServer({ namespace: stubNamespace(), host })).rejects.toMatchObject({
        code: 'InvalidInput',
      });
    }
  });
  test('grants that are none are told, whose they are too', async () => {
    for (const grants of [
      undefined,
      'admin',
      ['reed:prod'],
      [{ namespace: 7, permission: 'read' }],
      [{ namespace: ['prod'], permission: 'read', databse: 'x' }],
      [{ namespace: ['prod'], permission: 'reed' }],
      [{ permission: 'admin' }],
    ] as unknown as (readonly Grant[])[]) {
      const auth = { apiKeys: [{ key: 'k', name: 'someone', grants }] };
      await expect(createServer({ namespace: stubNamespace(), auth })).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining('someone'),
      });
    }
  });
  test.each([['text'], [5], [null], [{}]])(
    'authenticate has to be a function: %j',
    async (value) => {
      const auth = { authenticate: value as never };
      await expect(createServer({ namespace: stubNamespace(), auth })).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining('auth.authenticate is '),
      });
    },
  );
  test('a server needs a way to authenticate where auth is given', async () => {
    await expect(createServer({ namespace: stubNamespace(), auth: {} })).rejects.toMatchObject({
      code: 'InvalidInput',
    });
  });
});
