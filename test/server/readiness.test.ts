/** `/health` says that the process lives, `/ready` that it can work; stopping is told before it is done. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { systemEnv } from '../../src/env.ts';
import { createServer, type ServerOptions, startServer } from '../../src/server.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const ready = async (pair: Pick<Pair, 'fetch' | 'base'>): Promise<unknown> => {
  const { status, json, headers } = await ask(pair, 'GET', '/ready');
  expect(status).toBe(json.status === 'ready' ? 200 : 503);
  expect(headers.get('retry-after')).toBe(status === 200 ? null : '1');
  return json.reasons ?? json.status;
};

const UNUSABLE = ['a root cannot be used'];

describe('/health', () => {
  test.each(['inject', 'socket'] as const)('is constant, for HEAD too: %s', async (wire) => {
    const auth = { apiKeys: [{ key: 'k', name: 'n', grants: [] }] };
    const root = `${temporaryFolder()}/root`;
    mkdirSync(root);
    const pair = await restPair({ root, auth }, { wire });
    rmSync(root, { recursive: true });
    expect(await ask(pair, 'GET', '/health')).toMatchObject({
      status: 200,
      text: '{"status":"ok"}',
    });
    for (const path of ['/health', '/ready']) {
      const head = await pair.fetch(`${pair.base}${path}`, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([path === '/health' ? 200 : 503, '']);
    }
  });
});

describe('/ready', () => {
  test('a root that can be used, one that is deleted, and one that comes back', async () => {
    const root = `${temporaryFolder()}/catalog`;
    const pair = await restPair({ root, create: true });
    expect(await ready(pair)).toBe('ready');
    await ask(pair, 'POST', '/v1/namespace/a/create', {});
    rmSync(root, { recursive: true });
    expect(await ready(pair)).toEqual(UNUSABLE);
    expect((await ask(pair, 'GET', '/v1/tables')).status).toBe(503);
    mkdirSync(root);
    expect(await ready(pair)).toEqual(UNUSABLE);
    expect((await ask(pair, 'GET', '/health')).status).toBe(200);
  });

  test('roots of every kind', async () => {
    const folder = temporaryFolder();
    mkdirSync(`${folder}/all/one`, { recursive: true });
    const file = `${folder}/file`;
    const cases: readonly (readonly [ServerOptions, unknown])[] = [
      [{ root: file }, UNUSABLE],
      [{ root: `${folder}/new`, create: true }, 'ready'],
      [{ databases: { one: `${folder}/all/one`, two: `${folder}/two` }, create: true }, 'ready'],
      [{ databases: { one: file } }, UNUSABLE],
      [{ databasesRoot: `${folder}/all` }, 'ready'],
      [{ databasesRoot: file }, UNUSABLE],
      [{ namespace: stubNamespace() }, 'ready'],
    ];
    for (const [options, expected] of cases) {
      const lines: unknown[] = [];
      const logger = { warn: (fields: object) => void lines.push(fields) };
      mkdirSync(file);
      const pair = await restPair({ ...options, logger });
      // A file at the start is refused; this one comes later.
      rmSync(file, { recursive: true });
      writeFileSync(file, 'x');
      expect(await ready(pair), JSON.stringify(options)).toEqual(expected);
      expect(lines.length > 0).toBe(expected !== 'ready');
      rmSync(file);
    }
  });

  test('a root that may not be written to', async () => {
    // To the superuser everything may be written.
    if (process.getuid?.() === 0) return;
    const root = temporaryFolder();
    const pair = await restPair({ root });
    expect(await ready(pair)).toBe('ready');
    chmodSync(root, 0o500);
    expect(await ready(pair)).toEqual(UNUSABLE);
    chmodSync(root, 0o700);
  });

  test('the folder of databases is lost: no database is missing, the server is', async () => {
    const folder = `${temporaryFolder()}/all`;
    mkdirSync(`${folder}/one`, { recursive: true });
    const pair = await restPair({ databasesRoot: folder });
    const list = async (database?: string): Promise<number> =>
      (
        await ask(
          pair,
          'GET',
          '/v1/tables',
          undefined,
          database === undefined ? {} : { 'x-service-database': database },
        )
      ).status;
    expect([await list(), await list('one'), await list('none')]).toEqual([200, 200, 404]);
    rmSync(folder, { recursive: true });
    expect([await list(), await list('one'), await list('none')]).toEqual([503, 503, 503]);
    expect(await ready(pair)).toEqual(UNUSABLE);
  });

  test('says nothing of what is stored', async () => {
    const place = `${temporaryFolder()}/secret-place`;
    const pair = await restPair({ databases: { secret: place }, create: true });
    rmSync(place, { recursive: true });
    expect((await ask(pair, 'GET', '/ready')).text).not.toContain('secret');
  });
});

describe('stopping', () => {
  test('is told before anything is refused, for drainDelayMs', async () => {
    let go = (): void => {};
    const slept: number[] = [];
    const env = {
      ...systemEnv,
      sleep: async (ms: number) => {
        slept.push(ms);
        await new Promise<void>((resolve) => {
          go = resolve;
        });
      },
    };
    const server = await startServer({
      namespace: stubNamespace({ listAllTables: () => ({ tables: [] }) }),
      limits: { drainDelayMs: 5_000, maxEventLoopDelayMs: 0 },
      env,
    });
    const pair = { fetch, base: server.url };
    expect(await ready(pair)).toBe('ready');
    const closing = server.close();
    await vi.waitFor(() => expect(slept).toEqual([5_000]));
    expect(await ready(pair)).toEqual(['stopping']);
    expect((await ask(pair, 'GET', '/v1/tables')).status).toBe(200);
    expect((await ask(pair, 'GET', '/health')).json).toEqual({ status: 'ok' });
    go();
    await closing;
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  });

  test('refuses at once where there is no delay', async () => {
    const server = await createServer({ namespace: stubNamespace() });
    await server.close();
    const pair = { fetch: server.fetch, base: 'http://server.test' };
    expect((await ask(pair, 'GET', '/v1/tables')).status).toBe(503);
    expect(await ready(pair)).toEqual(['stopping']);
    expect((await ask(pair, 'GET', '/health')).json).toEqual({ status: 'ok' });
  });
});
