/** Options of a server: what is misspelt is refused, and grants are taken as a configuration has them. */
import { mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { createServer, type StartOptions, startServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { ask, restPair } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const refusal = async (options: unknown): Promise<string> => {
  const error = await startServer(options as StartOptions).then(
    async (server) => {
      await server.close();
      return undefined;
    },
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'InvalidInput' });
  return (error as Error).message;
};

describe('options that there are not', () => {
  const key = { key: 'k', name: 'n', grants: ['read:$'] };
  const jwt = { jwksUrl: 'http://x/keys', issuer: 'i', audience: 'a' };
  test.each<[string, object]>([
    ['There is no option "readonly"; .* Did you mean "readOnly"\\?', { readonly: true }],
    ['There is no option "auht"; .* Did you mean "auth"\\?', { auht: { apiKeys: [key] } }],
    ['There is no option "prot"; .* Did you mean "port"\\?', { prot: 1 }],
    ['There is no option "unheard-of"; there is namespace, root', { 'unheard-of': 1 }],
    ['There is no option "fs"; .*connect\\(root, \\{ fs \\}\\)', { fs: {} }],
    ['The option readOnly is of type string', { readOnly: 'true' }],
    ['The option auth is of type null', { auth: null }],
    ['The option port is of type string', { port: '80' }],
    ['The option logger.info is of type number; give a function', { logger: { info: 5 } }],
    ['auth has "apikeys"', { auth: { apikeys: [key] } }],
    ['auth.apiKeys\\[0\\] has "grant"', { auth: { apiKeys: [{ ...key, grant: [] }] } }],
    ['auth.jwt has "jwks"', { auth: { jwt: { ...jwt, jwks: 'x' } } }],
    ['databaseRouting has "header"', { databaseRouting: { header: ['x'] } }],
    ['There is no limit "maxJson"', { limits: { maxJson: 1 } }],
    ['The grants of the key "n"', { auth: { apiKeys: [{ ...key, grants: ['own:$'] }] } }],
    ['The grants of the key "n"', { auth: { apiKeys: [{ ...key, grants: 'read:$' }] } }],
    ['The grants of jwt.defaultGrants', { auth: { jwt: { ...jwt, defaultGrants: ['x'] } } }],
  ])('%s', async (message, options) => {
    const root = temporaryFolder();
    expect(await refusal({ root, ...options })).toMatch(new RegExp(message, 's'));
  });

  test('an address is for those that listen', async () => {
    for (const options of [{ host: '127.0.0.1' }, { port: 0 }]) {
      await expect(createServer({ root: temporaryFolder(), ...options })).rejects.toMatchObject({
        message: expect.stringContaining('listen()'),
      });
    }
    await expect(createServer(undefined as never)).rejects.toMatchObject({ code: 'InvalidInput' });
  });

  test('options that are undefined count as absent', async () => {
    const options = { root: temporaryFolder(), auth: undefined, readOnly: undefined } as object;
    await (await startServer(options)).close();
  });
});

test('a catalog on another file system is served as it was opened', async () => {
  const connection = await connect('/catalog', { fs: memoryFs() });
  const pair = await restPair({ namespace: connection.namespace });
  expect((await ask(pair, 'POST', '/v1/namespace/a/create', {})).status).toBe(200);
  expect((await ask(pair, 'GET', '/v1/namespace/$/list')).json).toEqual({ namespaces: ['a'] });
  await connection.close();
});

describe('grants are taken in every form', () => {
  const grants = [
    'read:prod$search',
    { namespace: 'prod$search', permission: 'read' },
    { namespace: ['prod', 'search'], permission: 'read' },
  ] as const;
  const describes = stubNamespace({ describeTable: () => ({ location: '/x' }) });
  const statuses = async (auth: StartOptions['auth']): Promise<number[]> => {
    const pair = await restPair({ namespace: describes, ...(auth && { auth }) });
    return Promise.all(
      ['prod$search$t', 'prod$t', 'secret$t'].map(
        async (id) =>
          (await ask(pair, 'POST', `/v1/table/${id}/describe`, {}, { 'x-api-key': 'k' })).status,
      ),
    );
  };

  test.each(grants)('of a key: %j', async (grant) => {
    const apiKeys = [{ key: 'k', name: 'n', grants: [grant] }];
    expect(await statuses({ apiKeys })).toEqual([200, 403, 403]);
  });
  test.each(grants)('of a function: %j', async (grant) => {
    const authenticate = () => ({ name: 'n', grants: [grant] });
    expect(await statuses({ authenticate })).toEqual([200, 403, 403]);
  });
  test('the root is the delimiter alone', async () => {
    const apiKeys = [{ key: 'k', name: 'n', grants: ['read:$'] as const }];
    expect(await statuses({ apiKeys })).toEqual([200, 200, 200]);
  });
  test('grants of a function that are none are a fault of the server', async () => {
    const authenticate = () => ({ name: 'n', grants: ['all'] as never });
    expect(await statuses({ authenticate })).toEqual([500, 500, 500]);
  });
});

test('a misspelt readOnly does not serve for writing', async () => {
  const root = temporaryFolder();
  mkdirSync(`${root}/x`);
  expect(await refusal({ root, readonly: true })).toContain('readOnly');
  const pair = await restPair({ root, readOnly: true });
  expect((await ask(pair, 'POST', '/v1/namespace/a/create', {})).status).toBe(403);
});

describe('options of a wrong form are refused by their names', () => {
  const keyed = (entry: unknown): object => ({ auth: { apiKeys: [entry] } });
  test.each<[string, object]>([
    ['databaseRouting.headers', { databaseRouting: { headers: 'x-db' } }],
    ['databaseRouting.prefixHeaders[1]', { databaseRouting: { prefixHeaders: ['x', 7] } }],
    ['databaseRouting.hosts.a', { databaseRouting: { hosts: { a: null } } }],
    ['auth.apiKeys', { auth: { apiKeys: 'k' } }],
    ['auth.apiKeys[0]', keyed(null)],
    ['auth.apiKeys[0].name', keyed({ key: 'k', grants: [] })],
    ['auth.apiKeys[0].name', keyed({ key: 'k', name: '', grants: [] })],
    ['auth.apiKeys[0].key', keyed({ key: null, name: 'n', grants: [] })],
    ['auth.apiKeys[0].sha256', keyed({ sha256: 7, name: 'n', grants: [] })],
  ])('%s', async (member, options) => {
    const refused = createServer({ databases: { one: stubNamespace() }, ...options } as never);
    await expect(refused).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(`${member} is `),
    });
  });
});
