/** A page whose name was made to mean this machine does not reach a server without auth. */
import { describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import type { ServerOptions } from '../../src/server.ts';
import { rawAnswer } from '../helpers/raw-http.ts';
import { ask, restPair, someRows } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const lists = stubNamespace({ listAllTables: () => ({ tables: [] }) });
const admin = {
  apiKeys: [{ key: 'k', name: 'n', grants: ['admin:$'] }],
} as const;

async function statusOf(
  options: Partial<ServerOptions>,
  host: string | undefined,
  path = '/v1/tables',
): Promise<number> {
  const { base } = await restPair({ namespace: lists, ...options }, { wire: 'socket' });
  const version = host === undefined ? '1.0' : '1.1';
  const lines = [
    `GET ${path} HTTP/${version}`,
    ...(host === undefined ? [] : [`host: ${host}`]),
    'x-api-key: k',
    'connection: close',
  ];
  const answer = await rawAnswer(base, `${lines.join('\r\n')}\r\n\r\n`);
  return Number(answer.split(' ')[1]);
}

describe('without auth', () => {
  test.each([
    ['localhost', 200],
    ['LOCALHOST:2333', 200],
    ['localhost.', 200],
    ['127.0.0.1:1', 200],
    ['127.3.2.1', 200],
    ['127.999.1.1', 421],
    ['127.1', 421],
    ['[::ffff:127.0.0.1]', 421],
    ['localhost@evil.example', 421],
    ['localhost, evil.example', 421],
    ['localhost:80:80', 421],
    ['[::1]:80', 200],
    [undefined, 200],
    ['evil.example', 421],
    ['evil.example:2333', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['xlocalhost', 421],
    ['10.0.0.1', 421],
    ['', 421],
  ])('%s: %i', async (host, status) => {
    expect(await statusOf({}, host)).toBe(status);
  });

  test('names that are configured are answered for', async () => {
    const allowedHosts = ['Catalog.example', '*.db.example'];
    const found = await Promise.all(
      ['catalog.example:80', 'a.db.example', 'db.example', 'a.b.db.example', 'evil.example'].map(
        (host) => statusOf({ allowedHosts }, host),
      ),
    );
    expect(found).toEqual([200, 200, 421, 421, 421]);
  });

  test('names that select a database are', async () => {
    const databaseRouting = { hosts: { 'one.example': 'one' } };
    expect(await statusOf({ databaseRouting }, 'one.example')).toBe(200);
  });

  test('nothing is changed by a page whose name was rebound', async () => {
    const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
    await namespace.createNamespace({ id: ['prod'] });
    await namespace.createTable({ id: ['prod', 't'] }, someRows());
    const { base } = await restPair({ namespace }, { wire: 'socket' });
    const body = '{"behavior":"cascade"}';
    const answer = await rawAnswer(
      base,
      `POST /v1/namespace/prod/drop HTTP/1.1\r\nhost: evil.example:1\r\norigin: http://evil.example:1\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 421 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({
      type: '/errors/misdirected-request',
      status: 421,
      detail: expect.stringMatching(/"evil\.example:1".*allowedHosts/),
    });
    expect((await namespace.listAllTables({})).tables).toEqual(['prod$t']);
    await namespace.close();
  });

  test('a request without a socket comes from this program', async () => {
    expect((await ask(await restPair({ namespace: lists }), 'GET', '/v1/tables')).status).toBe(200);
  });

  const app = 'https://app.example';
  test.each([
    ['sec-fetch-site: cross-site', 403],
    ['sec-fetch-site: same-site', 403],
    ['sec-fetch-site: none', 200],
    ['sec-fetch-site: same-origin', 200],
    ['sec-fetch-site: none\r\nsec-fetch-site: cross-site', 403],
    ['sec-fetch-site: cross-site\r\norigin: http://localhost', 403],
    [`sec-fetch-site: cross-site\r\norigin: ${app}`, 200],
    ['sec-fetch-site: cross-site\r\norigin: https://evil.example', 403],
  ])('a page of another site that sends no Origin is refused: %j', async (headers, status) => {
    const pair = await restPair({ namespace: lists, cors: { origins: [app] } }, { wire: 'socket' });
    const get = async (path: string): Promise<number> => {
      const line = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}`;
      const answer = await rawAnswer(pair.base, `${line}\r\nconnection: close\r\n\r\n`);
      return Number(answer.split(' ')[1]);
    };
    expect([await get('/v1/tables'), await get('/metrics')]).toEqual([status, status]);
    expect([await get('/health'), await get('/ready')]).toEqual([200, 200]);
  });

  test('probes may use any name', async () => {
    expect(await statusOf({}, '10.0.0.1', '/health')).toBe(200);
    expect(await statusOf({}, '10.0.0.1', '/ready')).toBe(200);
    expect(await statusOf({}, '10.0.0.1', '/openapi.json')).toBe(421);
  });
});

describe('with auth', () => {
  test('pages of other sites may send requests, which need credentials', async () => {
    const pair = await restPair({ namespace: lists, auth: admin });
    const headers = { 'sec-fetch-site': 'cross-site', 'x-api-key': 'k' };
    expect((await ask(pair, 'GET', '/v1/tables', undefined, headers)).status).toBe(200);
  });

  test('every name is answered for, unless some are configured', async () => {
    expect(await statusOf({ auth: admin }, 'any.example')).toBe(200);
    const allowedHosts = ['catalog.example'];
    expect(await statusOf({ auth: admin, allowedHosts }, 'any.example')).toBe(421);
    expect(await statusOf({ auth: admin, allowedHosts }, 'catalog.example')).toBe(200);
  });
});

test('hosts that are no texts are refused', async () => {
  const allowedHosts = 'localhost' as never;
  await expect(restPair({ namespace: lists, allowedHosts })).rejects.toMatchObject({
    code: 'InvalidInput',
  });
});

describe('what a server in between may see otherwise', () => {
  const answered = async (lines: string, options: Partial<ServerOptions> = {}): Promise<string> => {
    const { base } = await restPair({ namespace: lists, ...options }, { wire: 'socket' });
    const body = lines.includes('transfer-encoding') ? '0\r\n\r\n' : '';
    const text = await rawAnswer(base, `${lines}\r\nconnection: close\r\n\r\n${body}`);
    // One request has one answer, whatever its bytes are taken for.
    expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    return text.slice(9, 12);
  };
  const GET = (target: string, headers: string, version = '1.1'): string =>
    `GET ${target} HTTP/${version}\r\n${headers}`;
  const local = 'host: localhost';

  test.each([
    [GET('http://evil.example/v1/tables', local), '421'],
    [GET('http://localhost/v1/tables', local), '200'],
    [GET('http://localhost/v1/tables', 'host: evil.example'), '421'],
    [GET('http://localhost@evil.example/v1/tables', local), '421'],
    [GET('/v1/tables', `host: evil.example\r\nx-forwarded-host: localhost`), '421'],
    [GET('/v1/tables', `host: evil.example\r\nforwarded: host=localhost`), '421'],
    [GET('/v1/tables', 'x: y', '2.0'), '400'],
    [GET('/v1/tables', `${local}\r\norigin: null`), '403'],
    [GET('/v1/tables', `${local}\r\norigin: ftp://localhost`), '403'],
    [GET('/v1/tables', `${local}\r\norigin: http://localhost\r\norigin: http://evil`), '403'],
    [GET('/v1/tables', `${local}\r\nconnection: upgrade\r\nupgrade: websocket`), '200'],
    [GET('/v1/tables', `${local}\r\ntransfer-encoding: gzip, chunked`), '400'],
    [GET('/v1/tables', `${local}\r\ntransfer-encoding: chunked`, '1.0'), '400'],
    [GET('/v1/tables', `${local}\r\ntransfer-encoding: Chunked`), '200'],
    [GET('/v1/tables', `${local}\r\ntransfer-encoding: chunked\r\ncontent-length: 4`), '400'],
    [GET('/v1/tables', `${local}\r\ncontent-length: 5\r\ncontent-length: 5`), '400'],
  ])('%j: %s', async (lines, status) => {
    expect(await answered(lines)).toBe(status);
  });

  test('two keys are none', async () => {
    const headers = `${local}\r\nx-api-key: k\r\nx-api-key: k`;
    expect(await answered(GET('/v1/tables', headers), { auth: admin })).toBe('401');
  });
});
