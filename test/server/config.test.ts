/** The configuration of a server: from a file, from the environment, and what is wrong with it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { configOf, loadConfig } from '../../src/server/config.ts';
import { createServer } from '../../src/server.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const ADMIN = { namespace: [], permission: 'admin' };

function fileOf(config: unknown): string {
  const file = join(temporaryFolder(), 'server.json');
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  return file;
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isDirspaceError(error, 'InvalidInput')) return error.message;
  throw new Error(`no InvalidInput but ${String(error)}`);
}

describe('the file', () => {
  test('every member is read; paths are relative to it', async () => {
    const file = fileOf({
      databases: { one: 'a', two: '/abs/b' },
      host: '0.0.0.0',
      port: 8080,
      readOnly: true,
      limits: { maxInFlight: 3 },
      cacheBytes: 1024,
      bufferBytes: 0,
      vectorBytes: 5,
      databaseRouting: {
        headers: ['x-db'],
        prefixHeaders: ['x-prefix'],
        hosts: { 'one.example': 'one' },
      },
      auth: {
        apiKeys: [
          { key: 'plain', name: 'p', grants: ['read:prod$search'] },
          { sha256: 'AB'.repeat(32), name: 'd', grants: [{ namespace: '$', permission: 'write' }] },
          { keyEnv: 'THE_KEY', name: 'e', grants: ['admin:$'] },
        ],
        jwt: {
          jwksFile: 'keys.json',
          issuer: 'me',
          audience: 'you',
          algorithms: ['ES256'],
          clockToleranceSeconds: 1,
          grantsClaim: 'may',
          defaultGrants: ['read:open'],
        },
      },
      logLevel: 'warn',
    });
    const base = resolve(file, '..');
    expect(await loadConfig(file, { THE_KEY: 'secret' })).toEqual({
      databases: { one: join(base, 'a'), two: '/abs/b' },
      host: '0.0.0.0',
      port: 8080,
      readOnly: true,
      limits: expect.objectContaining({ maxInFlight: 3 }),
      cacheBytes: 1024,
      bufferBytes: 0,
      vectorBytes: 5,
      databaseRouting: {
        headers: ['x-db'],
        prefixHeaders: ['x-prefix'],
        hosts: { 'one.example': 'one' },
      },
      auth: {
        apiKeys: [
          {
            key: 'plain',
            name: 'p',
            grants: [{ namespace: ['prod', 'search'], permission: 'read' }],
          },
          { sha256: 'ab'.repeat(32), name: 'd', grants: [{ namespace: [], permission: 'write' }] },
          { key: 'secret', name: 'e', grants: [ADMIN] },
        ],
        jwt: {
          jwksFile: join(base, 'keys.json'),
          issuer: 'me',
          audience: 'you',
          algorithms: ['ES256'],
          clockToleranceSeconds: 1,
          grantsClaim: 'may',
          defaultGrants: [{ namespace: ['open'], permission: 'read' }],
        },
      },
      logLevel: 'warn',
    });
  });

  test('members that are null are absent, and none is needed', async () => {
    expect(await loadConfig(undefined, {})).toEqual({ logLevel: 'info' });
    expect(await loadConfig(fileOf({ root: null, auth: null, port: null }), {})).toEqual({
      logLevel: 'info',
    });
  });

  test('what it says is what a server is made of', async () => {
    const file = fileOf({
      root: 'catalog',
      auth: { apiKeys: [{ key: 'k', name: 'n', grants: ['admin:$'] }] },
    });
    mkdirSync(join(file, '..', 'catalog'));
    const { logLevel: _, ...options } = await loadConfig(file, {});
    const server = await createServer(options);
    const status = async (key: string): Promise<number> =>
      (await server.fetch('http://x/v1/table', { headers: { 'x-api-key': key } })).status;
    expect([await status('k'), await status('other')]).toEqual([200, 401]);
    await server.close();
  });
});

describe('the environment', () => {
  test('names the file, and counts for more than what is in it', async () => {
    const file = fileOf({ databases: { one: 'a' }, host: 'h', port: 1, logLevel: 'warn' });
    const other = fileOf({ port: 2 });
    expect(await loadConfig(undefined, { DIRSPACE_CONFIG: file })).toMatchObject({ port: 1 });
    expect(await loadConfig(other, { DIRSPACE_CONFIG: file })).toMatchObject({ port: 2 });
    const found = await loadConfig(file, {
      DIRSPACE_ROOT: '/catalog',
      DIRSPACE_HOST: '::1',
      DIRSPACE_PORT: '0',
      DIRSPACE_LOG_LEVEL: 'silent',
      DIRSPACE_READ_ONLY: 'true',
      DIRSPACE_API_KEY: 'k',
    });
    expect(found).toEqual({
      root: '/catalog',
      host: '::1',
      port: 0,
      logLevel: 'silent',
      readOnly: true,
      auth: { apiKeys: [{ key: 'k', name: 'environment', grants: [ADMIN] }] },
    });
  });

  test('its key is one more beside those of the file', async () => {
    const file = fileOf({ auth: { apiKeys: [{ key: 'a', name: 'n', grants: [] }] } });
    const { auth } = await loadConfig(file, { DIRSPACE_API_KEY: 'b' });
    expect(auth?.apiKeys?.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  test('a root of databases takes the place of another source', async () => {
    const file = fileOf({ root: 'a', readOnly: true });
    const found = await loadConfig(file, {
      DIRSPACE_DATABASES_ROOT: 'all',
      DIRSPACE_READ_ONLY: 'false',
    });
    expect(found).toEqual({ databasesRoot: resolve('all'), readOnly: false, logLevel: 'info' });
  });

  test('empty variables are absent', async () => {
    const names = [
      'CONFIG',
      'ROOT',
      'DATABASES_ROOT',
      'HOST',
      'PORT',
      'LOG_LEVEL',
      'READ_ONLY',
      'API_KEY',
    ];
    const env = Object.fromEntries(names.map((name) => [`DIRSPACE_${name}`, '']));
    expect(await loadConfig(undefined, env)).toEqual({ logLevel: 'info' });
  });

  test.each([
    ['DIRSPACE_PORT', 'x'],
    ['DIRSPACE_PORT', '70000'],
    ['DIRSPACE_PORT', '-1'],
    ['DIRSPACE_READ_ONLY', 'yes'],
    ['DIRSPACE_LOG_LEVEL', 'loud'],
  ])('%s=%s is refused by name', async (name, value) => {
    const member = name === 'DIRSPACE_LOG_LEVEL' ? 'logLevel' : name;
    expect(await refusal(loadConfig(undefined, { [name]: value }))).toContain(member);
  });
});

describe('errors', () => {
  const key = { key: 'k', name: 'n', grants: [] };
  const jwt = { jwksUrl: 'http://x/keys', issuer: 'i', audience: 'a' };
  test.each<[string, unknown]>([
    ['the configuration', []],
    ['"rooot"', { rooot: '/x' }],
    ['root', { root: 5 }],
    ['root', { root: '' }],
    ['databases', { databases: ['a'] }],
    ['databases.one', { databases: { one: 1 } }],
    ['databasesRoot', { databasesRoot: {} }],
    ['host', { host: 1 }],
    ['port', { port: 65_536 }],
    ['port', { port: 1.5 }],
    ['port', { port: '80' }],
    ['readOnly', { readOnly: 'true' }],
    ['cacheBytes', { cacheBytes: -1 }],
    ['bufferBytes', { bufferBytes: '1 MiB' }],
    ['vectorBytes', { vectorBytes: -1 }],
    ['limits', { limits: 1 }],
    ['maxInflight', { limits: { maxInflight: 1 } }],
    ['maxInFlight', { limits: { maxInFlight: 0 } }],
    ['maxJsonBytes', { limits: { maxJsonBytes: 'all' } }],
    ['databaseRouting', { databaseRouting: 'x' }],
    ['"header"', { databaseRouting: { header: ['x'] } }],
    ['databaseRouting.headers[1]', { databaseRouting: { headers: ['x', 2] } }],
    ['databaseRouting.prefixHeaders', { databaseRouting: { prefixHeaders: 'x' } }],
    ['databaseRouting.hosts.h', { databaseRouting: { hosts: { h: 1 } } }],
    ['auth', { auth: 'none' }],
    ['"apikeys"', { auth: { apikeys: [] } }],
    ['auth.apiKeys', { auth: { apiKeys: {} } }],
    ['auth.apiKeys[0]', { auth: { apiKeys: ['k'] } }],
    ['auth.apiKeys[0] has "grant"', { auth: { apiKeys: [{ ...key, grant: [] }] } }],
    ['auth.apiKeys[0] needs', { auth: { apiKeys: [{ name: 'n', grants: [] }] } }],
    ['auth.apiKeys[0] needs', { auth: { apiKeys: [{ ...key, keyEnv: 'E' }] } }],
    ['auth.apiKeys[0].key', { auth: { apiKeys: [{ ...key, key: 1 }] } }],
    ['auth.apiKeys[0].keyEnv', { auth: { apiKeys: [{ keyEnv: 'E', name: 'n', grants: [] }] } }],
    ['auth.apiKeys[0].sha256', { auth: { apiKeys: [{ sha256: 'ab', name: 'n', grants: [] }] } }],
    ['auth.apiKeys[0].name', { auth: { apiKeys: [{ ...key, name: undefined }] } }],
    ['auth.apiKeys[0].grants', { auth: { apiKeys: [{ ...key, grants: 'all' }] } }],
    ['auth.apiKeys[0].grants[1]', { auth: { apiKeys: [{ ...key, grants: ['read:a', 'own:a'] }] } }],
    ...[
      { permission: 'admin' },
      { permission: 'admin', namesapce: 'a' },
      { permission: 'admin', namespace: 'a', databse: 'd' },
      { permission: 'admin', namespace: 7 },
      { permission: 'admin', namespace: [7] },
      { permission: 'admin', namespace: 'a', database: 1 },
    ].map((grant): [string, unknown] => [
      'auth.apiKeys[0].grants[0]',
      { auth: { apiKeys: [{ ...key, grants: [grant] }] } },
    ]),
    ['auth.jwt', { auth: { jwt: 'x' } }],
    ['"jwks"', { auth: { jwt: { ...jwt, jwks: 'x' } } }],
    ['auth.jwt.issuer', { auth: { jwt: { ...jwt, issuer: 1 } } }],
    ['auth.jwt.audience', { auth: { jwt: { ...jwt, audience: [] } } }],
    ['auth.jwt.algorithms[0]', { auth: { jwt: { ...jwt, algorithms: [1] } } }],
    ['auth.jwt.clockToleranceSeconds', { auth: { jwt: { ...jwt, clockToleranceSeconds: -1 } } }],
    ['auth.jwt.defaultGrants[0]', { auth: { jwt: { ...jwt, defaultGrants: [1] } } }],
    ['auth.jwt.jwksFile', { auth: { jwt: { jwksFile: 1, issuer: 'i', audience: 'a' } } }],
    ['logLevel', { logLevel: 'all' }],
  ])('%s', async (member, config) => {
    expect(await refusal(loadConfig(fileOf(config), {}))).toContain(member);
  });

  test.each([
    [{ root: '' }, 'root is an empty text; give a text that is not empty.'],
    [{ root: 7 }, 'root is a number; give a text that is not empty.'],
    [{ readOnly: 'yes' }, 'readOnly is a text; give true or false.'],
    [{ cacheBytes: true }, 'cacheBytes is a boolean; give a whole number from 0 on.'],
    [{ limits: [] }, 'limits is a list; give an object.'],
    [{ auth: { apiKeys: {} } }, 'auth.apiKeys is an object; give a list.'],
    [{ auth: { apiKeys: [null] } }, 'auth.apiKeys[0] is null; give an object.'],
    [
      { auth: { apiKeys: [{ keyEnv: 'THE_KEY', name: 'n', grants: [] }] } },
      'auth.apiKeys[0].keyEnv: the variable THE_KEY is not set.',
    ],
    [
      { auth: { apiKeys: [{ keyEnv: 'sk-3f9a', name: 'n', grants: [] }] } },
      'auth.apiKeys[0].keyEnv: no variable of the name given is set; it takes the name of a variable that holds the key.',
    ],
    [
      { auth: { apiKeys: [{ key: 'k', grants: [] }] } },
      'auth.apiKeys[0].name is missing; give a text',
    ],
  ])('%j: the kind that was found, and the one to give', async (config, message) => {
    expect(await refusal(loadConfig(fileOf(config), {}))).toContain(message);
  });

  test('a file that is missing, or is no JSON, is named', async () => {
    expect(await refusal(loadConfig('/nowhere/server.json', {}))).toContain('/nowhere/server.json');
    const file = fileOf('{');
    expect(await refusal(loadConfig(file, {}))).toContain(file);
  });

  test.each([
    [
      'no grant',
      { auth: { apiKeys: [{ key: 'k', name: 'n', grants: [7] }] } },
      'grants[0] is a number',
    ],
    [
      'a digest that is too short',
      { auth: { apiKeys: [{ sha256: 'abc', name: 'n', grants: [] }] } },
      'sha256 is a text of 3 characters; give the SHA-256',
    ],
    [
      'an origin with a path',
      { cors: { origins: ['https://a.example/x'] } },
      'is "https://a.example/x"',
    ],
    [
      'an address of keys that is none',
      { auth: { jwt: { jwksUrl: 'keys here', issuer: 'i', audience: 'a' } } },
      'jwksUrl is a text of 9 characters',
    ],
  ])('%s: the message says what was found', async (_, config, found) => {
    const serving = loadConfig(fileOf({ root: temporaryFolder(), ...config }), {}).then(
      ({ logLevel: __, ...options }) => createServer(options),
    );
    expect(await refusal(serving)).toContain(found);
  });

  test('no secret is shown', () => {
    for (const auth of [
      { apiKeys: [{ key: 'hush', name: 1, grants: [] }] },
      { apiKeys: [{ key: 'hush' }] },
    ]) {
      expect(() => configOf({ auth }, '.', {})).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('hush') }),
      );
    }
  });

  test('auth without any way in is refused by the server', async () => {
    const options = configOf({ root: temporaryFolder(), auth: {} }, '.', {});
    expect(await refusal(createServer(options))).toContain('auth');
  });
});
