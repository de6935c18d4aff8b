/** Connections are opened as LanceDB's SDK opens them; what has no counterpart is refused by name. */
import { describe, expect, test } from 'vitest';
import { DirspaceError } from '../../src/errors.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import {
  type ConnectOptions,
  OAuthHeaderProvider,
  Session,
  StaticHeaderProvider,
} from '../../src/sdk/handles/index.ts';
import { packBits } from '../../src/sdk/pack-bits.ts';
import { memoryFs } from '../helpers/catalogs.ts';

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** A server that lists no tables, and what was sent to it. */
function recording(status = 200): { sent: Sent[]; fetch: NonNullable<ConnectOptions['fetch']> } {
  const sent: Sent[] = [];
  const fetch: NonNullable<ConnectOptions['fetch']> = async (url, init) => {
    sent.push({ url, headers: Object.fromEntries(new Headers(init.headers)) });
    return Response.json(status === 200 ? { tables: [] } : { error: 'busy', code: 17 }, { status });
  };
  return { sent, fetch };
}

test('memory:// is a new catalog each time', async () => {
  const db = await connect('memory://any/path');
  await (await db.createTable('t', [{ id: 1, vector: [1, 2] }])).add([{ id: 2, vector: [3, 4] }]);
  const [near] = await (await db.openTable('t')).search([3, 4]).limit(1).toArray();
  expect([await db.tableNames(), near.id]).toEqual([['t'], 2]);
  expect(await (await connect('memory://any/path')).tableNames()).toEqual([]);
  expect(await (await connectNamespace('dir', { root: 'memory://' })).tableNames()).toEqual([]);
  await expect(connect('memory://', { fs: memoryFs() })).rejects.toThrow('takes no fs');
  const table = await db.createTable('placed', [{ id: 1 }]);
  const location = await table.location();
  expect(location).toMatch(/^memory:\/\/data\/placed/);
  expect(await table.uri()).toBe(location);
  const { location: kept = '' } = await db.deregisterTable('placed');
  expect(kept).toMatch(/^memory:\/\//);
  await db.registerTable('again', kept);
  expect(await (await db.openTable('again')).countRows()).toBe(1);
  for (const almost of ['memory:', 'Memory:/', 'memory:/path']) {
    await expect(connect(almost)).rejects.toEqual(
      expect.objectContaining({
        code: 'InvalidInput',
        message: expect.stringContaining('which is "memory://"'),
      }),
    );
  }
  await db.close();
});

describe('db://', () => {
  test('with hostOverride is that server, with the headers that are given', async () => {
    const { sent, fetch } = recording();
    const clientConfig = {
      extraHeaders: { 'x-team': 'a' },
      userId: 'ada',
      userAgent: 'mine/1',
      idDelimiter: '.',
      timeoutConfig: { readTimeout: 5, connectTimeout: undefined },
    } as unknown as NonNullable<ConnectOptions['clientConfig']>;
    const db = await connect('db://prod/eu', {
      apiKey: 'key',
      region: 'us-east-1',
      hostOverride: 'http://host.test',
      clientConfig,
      fetch,
    });
    await db.tableNames(['a', 'b']);
    expect(sent[0]?.url).toContain('http://host.test/v1/namespace/a.b/table/list');
    expect(sent[0]?.headers).toMatchObject({
      'x-api-key': 'key',
      'x-service-database': 'prod',
      'x-service-database-prefix': 'eu',
      'x-team': 'a',
      'x-lancedb-user-id': 'ada',
      'user-agent': 'mine/1',
    });
  });

  test('retries counts attempts', async () => {
    const { sent, fetch } = recording(503);
    const retry = { clientConfig: { retryConfig: { retries: 1 } } };
    const db = await connect('db://x', { hostOverride: 'http://host.test', fetch, ...retry });
    await expect(db.tableNames()).rejects.toThrow('busy');
    expect(sent).toHaveLength(1);
  });

  const host = 'http://host.test';
  test.each([
    ['the cloud', 'db://x', { apiKey: 'k', region: 'r' }, 'hostOverride'],
    ['no name', 'db://', { hostOverride: host }, 'names no database'],
    ['oauthConfig', 'db://x', { hostOverride: host, oauthConfig: {} }, 'oauthConfig'],
    [
      'TLS',
      'db://x',
      { hostOverride: host, clientConfig: { tlsConfig: {} } },
      'clientConfig.tlsConfig',
    ],
    [
      'backoff',
      'db://x',
      { hostOverride: host, clientConfig: { retryConfig: { backoffFactor: 1 } } },
      'retryConfig.backoffFactor',
    ],
    [
      'timeouts',
      'db://x',
      { hostOverride: host, clientConfig: { timeoutConfig: { timeout: 1 } } },
      'timeoutConfig.timeout',
    ],
    ['an unknown member', 'db://x', { hostOverride: host, clientConfig: { retry: 1 } }, '"retry"'],
    [
      'two timeouts',
      'db://x',
      { hostOverride: host, timeoutMs: 1, clientConfig: { timeoutConfig: { readTimeout: 1 } } },
      'timeoutMs',
    ],
    ['a session', 'db://x', { hostOverride: host, session: new Session() }, 'session'],
    ['a path with apiKey', '/c', { apiKey: 'k' }, 'apiKey'],
    ['a path with hostOverride', '/c', { hostOverride: host }, 'hostOverride'],
    ['a path with clientConfig', '/c', { clientConfig: {} }, 'clientConfig'],
    ['a path with headers', '/c', { headerProvider: () => ({}) }, 'headerProvider'],
    ['no manifest', '/c', { manifestEnabled: false }, 'manifestEnabled'],
    ['storage options', '/c', { storageOptions: { a: 'b' } }, 'storageOptions'],
    ['a session and its sizes', '/c', { session: new Session(), cacheBytes: 1 }, 'cacheBytes'],
    ['no session', '/c', { session: {} }, 'Session'],
    ['properties', '/c', { namespaceClientProperties: { no: '1' } }, '"no"'],
  ] as const)('%s is refused by name', async (_, uri, options, said) => {
    const wrong = connect(uri, options as unknown as ConnectOptions);
    await expect(wrong).rejects.toThrow(DirspaceError);
    await expect(wrong).rejects.toThrow(said);
  });
});

test('options with the value undefined are none', async () => {
  const db = await connect('/c', {
    fs: memoryFs(),
    apiKey: undefined,
    clientConfig: undefined,
    session: undefined,
    readConsistencyInterval: 0,
    manifestEnabled: true,
    storageOptions: {},
    namespaceClientProperties: { trash_retention: '1d' },
  } as unknown as ConnectOptions);
  expect(await db.tableNames()).toEqual([]);
});

test("LanceDB's configurations of dir and rest", async () => {
  const fs = memoryFs();
  const extraProperties = { trash_retention: '1d' };
  const nested = { namespaceClientProperties: { manifest_enabled: 'true' }, fs };
  const db = await connect('/c', nested);
  await db.createNamespace(['team']);
  expect((await db.listNamespaces()).namespaces).toEqual(['team']);
  await db.close();
  for (const [value, message] of [
    ['false', 'namespaces are always there'],
    ['yes', 'it is "true" or "false"'],
  ] as const) {
    const properties = { manifest_enabled: value };
    await expect(connect('/c', { namespaceClientProperties: properties, fs })).rejects.toThrow(
      message,
    );
  }
  const dir = { root: '/c', manifestEnabled: true, extraProperties };
  expect(await (await connectNamespace('dir', dir, { fs })).tableNames()).toEqual([]);
  await expect(connectNamespace('dir', { ...dir, manifestEnabled: false }, { fs })).rejects.toThrow(
    'manifestEnabled',
  );
  await expect(
    connectNamespace('dir', { root: '/c', extraProperties: { no: '1' } }, { fs }),
  ).rejects.toThrow('"no"');
  const { sent, fetch } = recording();
  const rest = {
    uri: 'http://host.test',
    headers: { 'x-api-key': 'k' },
    extraProperties: { 'header.x-a': 'b', delimiter: '.' },
  };
  await (await connectNamespace('rest', rest, { fetch })).tableNames(['p', 'q']);
  expect(sent[0]?.headers).toMatchObject({ 'x-api-key': 'k', 'x-a': 'b' });
  expect(sent[0]?.url).toContain('p.q');
});

test('header providers are asked before each request', async () => {
  const { sent, fetch } = recording();
  const options = { hostOverride: 'http://host.test', fetch };
  let asked = 0;
  const counting = await connect('db://x', options, undefined, async () => ({
    'x-n': `${++asked}`,
  }));
  await counting.tableNames();
  await counting.tableNames();
  expect(sent.map(({ headers }) => headers['x-n'])).toEqual(['1', '2']);
  const fixed = await connect(
    'db://x',
    options,
    undefined,
    new StaticHeaderProvider({ authorization: 'Bearer a' }),
  );
  await fixed.tableNames();
  expect(sent[2]?.headers.authorization).toBe('Bearer a');
  let fetched = 0;
  const provider = new OAuthHeaderProvider(
    () => ({ accessToken: `t${++fetched}`, expiresIn: 10 }),
    60,
  );
  expect(() => provider.getHeaders()).toThrow('refreshToken');
  const oauth = await connect('db://x', { ...options, headerProvider: provider });
  await oauth.tableNames();
  await oauth.tableNames();
  // Each token ends within the minute before its end, so that every request fetches another.
  expect(sent.slice(3).map(({ headers }) => headers.authorization)).toEqual([
    'Bearer t1',
    'Bearer t2',
  ]);
  const lasting = new OAuthHeaderProvider(async () => ({ accessToken: 'long', expiresIn: 3600 }));
  await Promise.all([lasting.refreshToken(), lasting.refreshToken()]);
  expect([lasting.getHeaders(), lasting.isDue(Date.now())]).toEqual([
    { authorization: 'Bearer long' },
    false,
  ]);
});

test('a session is shared by connections and says what it holds', async () => {
  const session = new Session(1_000_000n, 1_000_000n);
  expect([session.sizeBytes(), session.approxNumItems()]).toEqual([0n, 0]);
  const fs = memoryFs();
  const db = await connect('/c', { fs }, session);
  const table = await db.createTable('t', [{ id: 1 }]);
  await table.countRows('id > 0');
  await table.countRows('id > 0');
  const held = session.sizeBytes();
  expect(held).toBeGreaterThan(0n);
  expect(session.approxNumItems()).toBeGreaterThan(0);
  const other = await connect('/c', { fs, session });
  expect(session.sizeBytes()).toBeGreaterThanOrEqual(held);
  await (await other.openTable('t')).countRows('id > 0');
  expect(session.sizeBytes()).toBeGreaterThanOrEqual(held);
  expect(() => new Session(-1n)).toThrow('indexCacheSizeBytes');
  expect(Session.default().sizeBytes()).toBe(0n);
});

test('bits are packed from the lowest on', () => {
  expect(packBits([1, 0, 1, 1, 0, 0, 0, 0, 1])).toEqual([13, 1]);
  expect(packBits([0, 0, 0, 0, 0, 0, 0, 1])).toEqual([128]);
  expect(packBits([])).toEqual([]);
});

test('a primary key is metadata that Lance reads, and stays', async () => {
  const db = await connect('memory://');
  const fields = [
    { name: 'id', type: 'int64', nullable: false },
    { name: 'x', type: 'float64', nullable: false },
    { name: 'name', type: 'utf8', nullable: true },
  ];
  const table = await db.createEmptyTable('t', { fields });
  await expect(table.setUnenforcedPrimaryKey('no')).rejects.toThrow('no column "no"');
  await expect(table.setUnenforcedPrimaryKey('name')).rejects.toThrow('may be null');
  await expect(table.setUnenforcedPrimaryKey('x')).rejects.toThrow('cannot be a primary key');
  await expect(table.setUnenforcedPrimaryKey(['id', 'x'])).rejects.toThrow('one column');
  await expect(table.setUnenforcedPrimaryKey([])).rejects.toThrow('one column');
  await table.setUnenforcedPrimaryKey(['id']);
  expect([...((await table.schema()).fields[0]?.metadata ?? [])]).toEqual([
    ['lance-schema:unenforced-primary-key:position', '1'],
  ]);
  await expect(table.setUnenforcedPrimaryKey('id')).rejects.toThrow('already');
});

test('writes through a log are refused by name', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ id: 1 }]);
  for (const name of ['unsetLsmWriteSpec', 'flushLsm', 'compactLsm', 'checkpointLsm'] as const) {
    await expect(table[name]()).rejects.toThrow(`${name} is not supported`);
  }
  await expect(table.setLsmWriteSpec({ specType: 'unsharded' })).rejects.toThrow('setLsmWriteSpec');
  expect([await table.getLsmWriteSpec(), await table.getLsmStats()]).toEqual([
    undefined,
    undefined,
  ]);
  await table.closeLsmWriters();
  expect(() => table.query().useLsm(true)).toThrow('useLsm(true)');
  expect(() => table.mergeInsert('id').useLsm(true)).toThrow('useLsm(true)');
  expect(await table.query().useLsm(false).toArray()).toHaveLength(1);
  const merge = table.mergeInsert('id').useLsm(false).validateSingleShard(false);
  expect((await merge.whenNotMatchedInsertAll().execute([{ id: 2 }])).numInsertedRows).toBe(1);
  expect([await table.initialStorageOptions(), await table.latestStorageOptions()]).toEqual([
    null,
    null,
  ]);
});

test('a header provider that fails says so, and nothing is sent', async () => {
  let sent = 0;
  const fetch = async (): Promise<Response> => {
    sent += 1;
    return Response.json({});
  };
  const headerProvider = async () => {
    throw new Error('the token endpoint is down');
  };
  const options = { hostOverride: 'http://host', fetch, headerProvider, retries: 0 };
  const db = await connect('db://x', options);
  for (const call of [() => db.tableNames(), () => db.createNamespace(['a'])]) {
    const failed = call();
    await expect(failed).rejects.toMatchObject({ code: 'Unauthenticated' });
    await expect(failed).rejects.toThrow('the token endpoint is down');
  }
  expect(sent).toBe(0);
});
