/** The files of the page, its headers, and requests that pages of other sites send. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { connect } from '../../../src/sdk/connect.ts';
import type { ServerOptions } from '../../../src/server/server.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { rawAnswer, rawConnection } from '../../helpers/raw-http.ts';
import { ask, type Pair, restPair } from '../../helpers/rest-pair.ts';

const open = async (options: Partial<ServerOptions> = {}): Promise<Pair> => {
  const db = await connect('/c', { fs: memoryFs() });
  return restPair({ namespace: db.namespace, ui: true, ...options });
};

/** The status of a request as its bytes are, without what clients make of them. */
async function statusOf(
  pair: Pair,
  path: string,
  headers: readonly string[] = ['host: localhost'],
): Promise<number> {
  const lines = [`GET ${path} HTTP/1.1`, ...headers, 'connection: close'];
  return Number((await rawAnswer(pair.base, `${lines.join('\r\n')}\r\n\r\n`)).split(' ')[1]);
}

describe('the files of the page', () => {
  test('are served with a policy that lets nothing else run', async () => {
    const pair = await open();
    for (const [path, type] of [
      ['/ui', 'text/html; charset=utf-8'],
      ['/ui/', 'text/html; charset=utf-8'],
      ['/ui/app.js', 'text/javascript; charset=utf-8'],
      ['/ui/app.css', 'text/css; charset=utf-8'],
      ['/ui/icon.svg', 'image/svg+xml'],
    ] as const) {
      const { status, headers } = await ask(pair, 'GET', path);
      expect({ path, status, type: headers.get('content-type') }).toEqual({
        path,
        status: 200,
        type,
      });
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:",
      );
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('have no code in the document, and name nothing outside', async () => {
    const { text } = await ask(await open(), 'GET', '/ui');
    expect(text).not.toMatch(
      /<script(?![^>]*\bsrc="ui\/)|<style|\son\w+=|\sstyle=|https?:|javascript:/i,
    );
  });

  test.each(['/ui', '/ui/'])(
    'are named from %s whatever path a proxy puts in front',
    async (path) => {
      const { text } = await ask(await open(), 'GET', path);
      const named = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name = '']) => name);
      const resolved = named.map((name) => new URL(name, `http://h.example/front${path}`).pathname);
      const files = ['icon.svg', 'app.css', 'app.js'].map((name) => `/front/ui/${name}`);
      expect(resolved).toEqual(files);
    },
  );

  test('are less than 60 kB together, as browsers are sent them', async () => {
    const pair = await open();
    const texts = await Promise.all(
      ['', '/app.js', '/app.css', '/icon.svg'].map((path) => ask(pair, 'GET', `/ui${path}`)),
    );
    const bytes = texts.reduce((sum, { text }) => sum + gzipSync(text).length, 0);
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThan(60_000);
  });

  test('are not sent again where they did not change', async () => {
    const pair = await open();
    const etag = (await ask(pair, 'GET', '/ui/app.js')).headers.get('etag') ?? '';
    const again = await ask(pair, 'GET', '/ui/app.js', undefined, { 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
    const other = await ask(pair, 'GET', '/ui/app.css', undefined, { 'if-none-match': etag });
    expect(other.status).toBe(200);
  });

  test('differ by encoding and by page, where pages of other origins are let in', async () => {
    const pair = await open({ cors: { origins: ['https://app.example'] } });
    const { headers } = await ask(pair, 'GET', '/ui/app.js');
    expect(headers.get('vary')).toBe('accept-encoding, origin');
  });

  test.each([
    ['gzip', 'gzip'],
    ['br;q=1.0, GZIP;q=0.5, *', 'gzip'],
    ['br, deflate', undefined],
    ['gzip;q=0', undefined],
    ['gzip; q=0.000', undefined],
    ['xgzip', undefined],
  ])('are sent as %s allows', async (accepted, coding) => {
    const db = await connect('/c', { fs: memoryFs() });
    const pair = await restPair({ namespace: db.namespace, ui: true }, { wire: 'socket' });
    const head = `host: localhost\r\naccept-encoding: ${accepted}\r\nconnection: close\r\n\r\n`;
    const plain = await ask(pair, 'GET', '/ui/app.js');
    const raw = await rawAnswer(pair.base, `GET /ui/app.js HTTP/1.1\r\n${head}`);
    const sent = /^content-encoding: (\S+)/im.exec(raw)?.[1];
    const length = Number(/^content-length: (\d+)/im.exec(raw)?.[1]);
    expect([sent, /^vary: .*accept-encoding/im.test(raw)]).toEqual([coding, true]);
    // Each form has a tag of its own.
    const tag = /^etag: (\S+)/im.exec(raw)?.[1];
    expect(tag === plain.headers.get('etag')).toBe(coding !== undefined);
    if (coding === undefined) expect(length).toBe(Buffer.byteLength(plain.text));
    else expect(length).toBeLessThan(plain.text.length / 2);
  });

  test('are these alone, whatever a path says', async () => {
    const db = await connect('/c', { fs: memoryFs() });
    const pair = await restPair({ namespace: db.namespace, ui: true }, { wire: 'socket' });
    for (const path of [
      '/ui/../package.json',
      '/ui/%2e%2e/package.json',
      '/ui/..%2fpackage.json',
      '/ui/app.js/../../index.js',
      '/ui//app.js%00',
      '/ui/LICENCES.txt',
      '/ui/index.html',
      '/ui/__proto__',
      '/ui/api/__proto__',
    ]) {
      expect([path, await statusOf(pair, path)]).toEqual([path, 404]);
    }
  });

  test('are not there without the option', async () => {
    const pair = await open({ ui: false });
    for (const path of ['/ui', '/ui/app.js'])
      expect((await ask(pair, 'GET', path)).status).toBe(404);
    expect((await ask(pair, 'POST', '/ui/api/about', {})).status).toBe(404);
  });

  test('say of themselves that they are GET, and questions that they are POST', async () => {
    const pair = await open();
    expect((await ask(pair, 'POST', '/ui/app.js', {})).status).toBe(405);
    expect((await ask(pair, 'GET', '/ui/api/rows')).status).toBe(405);
    expect((await ask(pair, 'HEAD', '/ui')).status).toBe(200);
  });
});

describe('requests of others', () => {
  test('to a foreign host name are refused, with and without auth', async () => {
    const db = await connect('/c', { fs: memoryFs() });
    const pair = await restPair({ namespace: db.namespace, ui: true }, { wire: 'socket' });
    expect(await statusOf(pair, '/ui', ['host: evil.example'])).toBe(421);
    expect(await statusOf(pair, '/ui', ['host: localhost'])).toBe(200);
  });

  test.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('that come from a page of another site are refused: %j', async (headers) => {
    // With keys, pages of other sites may send requests to the operations.
    const auth = { apiKeys: [{ key: 'k', name: 'ada', grants: ['read:$'] as const }] };
    for (const pair of [await open(), await open({ auth })]) {
      const sent = { 'x-api-key': 'k', ...headers };
      const { status, json } = await ask(pair, 'POST', '/ui/api/about', {}, sent);
      expect([status, json.error]).toEqual([403, expect.stringContaining('another site')]);
    }
  });

  test('that the page itself sends are answered', async () => {
    const headers = { origin: 'http://server.test', 'sec-fetch-site': 'same-origin' };
    const { status } = await ask(await open(), 'POST', '/ui/api/about', {}, headers);
    expect(status).toBe(200);
  });

  test('that are no JSON object are refused', async () => {
    const pair = await open();
    expect((await ask(pair, 'POST', '/ui/api/rows', [])).status).toBe(400);
    expect(
      (await ask(pair, 'POST', '/ui/api/rows', '{', { 'content-type': 'application/json' })).status,
    ).toBe(400);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask(pair, 'POST', '/ui/api/rows', 'id=x', form)).status).toBe(415);
  });
});

describe('half requests', () => {
  const keys = { apiKeys: [{ key: 'k', name: 'ada', grants: ['read:$'] as const }] };
  const half = ({ base }: Pair, path: string, headers: readonly string[], sent = '{"id": [') =>
    rawConnection(
      base,
      `${[
        `POST ${path} HTTP/1.1`,
        'host: localhost',
        'content-type: application/json',
        'content-length: 900',
        ...headers,
      ].join('\r\n')}\r\n\r\n${sent}`,
    );
  const serve = async (limits: ServerOptions['limits'] = {}): Promise<Pair> => {
    const db = await connect('/c', { fs: memoryFs() });
    const options = { namespace: db.namespace, ui: true, auth: keys, limits };
    return restPair(options, { wire: 'socket' });
  };

  test.each(['/ui/api/rows', '/ui/api/ListTables'])(
    'of nobody known are not waited for: %s',
    async (path) => {
      const connection = half(await serve(), path, []);
      await vi.waitFor(() => expect(connection.text()).toContain('HTTP/1.1 401 '));
      connection.socket.destroy();
    },
  );

  test('hold no place from others of the same key', async () => {
    const pair = await serve({ maxInFlight: 1, maxQueue: 0 });
    const key = { 'x-api-key': 'k' };
    const waiting = ['rows', 'ListTables'].map((name) =>
      half(pair, `/ui/api/${name}`, ['x-api-key: k']),
    );
    for (const name of ['ListTables', 'ListTables']) {
      const { status } = await ask(pair, 'POST', `/ui/api/${name}`, { id: [] }, key);
      expect(status).toBe(200);
    }
    const { status } = await ask(pair, 'POST', '/ui/api/rows', { id: ['no'] }, key);
    expect(status).toBe(404);
    for (const { socket } of waiting) socket.destroy();
  });

  test('to open a session are bounded like other bodies of nobody known', async () => {
    const pair = await serve();
    const long = { credential: 'x'.repeat(20_000) };
    expect((await ask(pair, 'POST', '/ui/session', long)).status).toBe(401);
    expect((await ask(pair, 'POST', '/ui/session', { credential: 'k' })).status).toBe(204);
  });
});
