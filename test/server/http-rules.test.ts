/** What HTTP itself asks of a server: methods, headers, expectations, and queries that say nothing. */
import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { EVERY_OPERATION, EVERY_OPERATION_NAMES } from '../../src/protocol/every-operation.ts';
import type { Limits } from '../../src/server.ts';
import { rawAnswer, rawConnection } from '../helpers/raw-http.ts';
import {
  ARROW,
  ask,
  type Pair,
  restPair,
  someRows,
  streamBytes,
  type Wire,
} from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';

const WIRES: readonly Wire[] = ['inject', 'socket'];
const KEY = 'x-api-key: the-key\r\n';

/** A server that counts the bytes of Arrow data it takes. */
async function serve(limits: Limits = {}): Promise<Pair & { taken: () => number }> {
  let taken = 0;
  const createTable = async (_: unknown, data: AsyncIterable<Uint8Array>): Promise<object> => {
    for await (const piece of data) taken += piece.byteLength;
    return {};
  };
  const namespace = stubNamespace({ createTable, describeTable: () => ({ location: 'x' }) });
  const apiKeys = [
    { key: 'the-key', name: 'k', grants: [{ namespace: [], permission: 'admin' as const }] },
  ];
  const pair = await restPair({ namespace, auth: { apiKeys }, limits }, { wire: 'socket' });
  return { ...pair, taken: () => taken };
}

describe('a method that a route does not take', () => {
  test.each(WIRES)('is a 405 that names those it takes: %s', async (wire) => {
    const pair = await restPair({ namespace: stubNamespace() }, { wire });
    const cases = [
      ['GET', '/v1/table/t/describe', 'POST'],
      ['DELETE', '/v1/namespace/a%24b/list', 'GET, HEAD'],
      ['OPTIONS', '/v1/table/t/describe?delimiter=.', 'POST'],
      ['PUT', '/health', 'GET, HEAD'],
    ] as const;
    for (const [method, path, allow] of cases) {
      const answer = await ask(pair, method, path);
      expect(answer).toMatchObject({
        status: 405,
        json: { type: '/errors/method-not-allowed', code: 0, status: 405 },
      });
      expect(answer.headers.get('allow')).toBe(allow);
    }
    const unknown = await ask(pair, 'GET', '/v1/nothing');
    expect(unknown.json.detail).toBe('There is no route GET /v1/nothing.');
    const twice = await ask(pair, 'POST', '/v1/v1/table/t/describe', {});
    expect(twice.json.detail).toContain('leave it out');
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get('allow')).toBeNull();
  });
  test('of HTTP or of nobody at all is one too, over a socket', async () => {
    const { base } = await restPair({ namespace: stubNamespace() }, { wire: 'socket' });
    const all = 'GET, HEAD, POST';
    for (const [line, allow] of [
      ['FOO /v1/table/t/describe?a=b', 'POST'],
      ['FOO /v1//table/t/describe', 'POST'],
      ['M-SEARCH /health', 'GET, HEAD'],
      ['X!~ /v1/table/%zz/describe', all],
      ['FOO /nowhere', all],
      ['FOO *', all],
      ['TRACE /v1/table/t/describe', 'POST'],
      ['PATCH http://localhost/health', 'GET, HEAD'],
      ['CONNECT localhost:80', all],
    ] as const) {
      const text = await rawAnswer(
        base,
        `${line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
      );
      expect(text, line).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
      expect(/\r\nallow: (.*)\r\n/i.exec(text)?.[1], line).toBe(allow);
      expect(text, line).toContain('/errors/method-not-allowed');
    }
    for (const line of [
      'F(O /health HTTP/1.1',
      'FOO  HTTP/1.1',
      'FOO /health',
      `${'F'.repeat(33)} / HTTP/1.1`,
    ]) {
      expect(await rawAnswer(base, `${line}\r\n\r\n`), line).toMatch(/^HTTP\/1\.1 400 /);
    }
  });
  test.each(WIRES)('HEAD is GET without the body: %s', async (wire) => {
    const pair = await restPair(
      { namespace: stubNamespace({ listTables: () => ({ tables: [] }) }) },
      { wire },
    );
    const path = '/v1/namespace/$/table/list';
    const [head, get] = [await ask(pair, 'HEAD', path), await ask(pair, 'GET', path)];
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(get).toMatchObject({ status: 200, json: { tables: [] } });
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect((await ask(pair, 'HEAD', '/v1/table/t/describe')).status).toBe(405);
  });
});

test('a connection beyond the most is closed unanswered until others are gone', async () => {
  const { base } = await serve({ maxConnections: 2 });
  const others = [rawConnection(base, 'GET /health'), rawConnection(base, '')];
  for (const { socket } of others) if (socket.connecting) await once(socket, 'connect');
  const late = rawConnection(base, 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await late.closed;
  expect(late.text()).toBe('');
  for (const { socket } of others) socket.destroy();
  await vi.waitFor(async () => expect((await fetch(`${base}/health`)).status).toBe(200));
});

describe('headers', () => {
  test('that are too large are a 431, that are slow a 408', async () => {
    const { base } = await serve({ headersTimeoutMs: 1000 });
    const large = `GET /health HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`;
    expect(await rawAnswer(base, large)).toMatch(
      /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/,
    );
    const begun = ['GET /health HTTP/1.1\r\nhost: localhost\r\n', 'G', ''];
    for (const text of await Promise.all(begun.map((bytes) => rawAnswer(base, bytes)))) {
      expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(text).toContain('/errors/request-timeout');
    }
  });
  test.each([1001, 1000.5, Number.POSITIVE_INFINITY])(
    'may take %s ms',
    async (headersTimeoutMs) => {
      const { base } = await serve({ headersTimeoutMs, requestTimeoutMs: headersTimeoutMs });
      expect((await fetch(`${base}/health`)).status).toBe(200);
    },
  );
  test('that are slow on a connection that was used before are no less', async () => {
    const { base } = await serve({ headersTimeoutMs: 1000 });
    const { socket, closed, text } = rawConnection(
      base,
      'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n',
    );
    await vi.waitFor(() => expect(text()).toMatch(/\{"status":"ok"\}$/));
    socket.write('GET /hea');
    expect(await closed).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 408 /s);
  });
});

test('bytes that are no request do not get into an answer that is on its way', async () => {
  let go = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    go = resolve;
  });
  const some = someRows();
  const rows = {
    schema: some.schema,
    async *[Symbol.asyncIterator]() {
      yield* some;
      await waiting;
    },
  };
  const pair = await restPair(
    { namespace: stubNamespace({ queryTable: () => rows }) },
    { wire: 'socket' },
  );
  const body = '{"k":1}';
  const head = `POST /v1/table/t/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const { socket, text, closed } = rawConnection(pair.base, head + body);
  await vi.waitFor(() => expect(text()).toMatch(/^HTTP\/1\.1 200 /));
  socket.write('hello\r\n\r\n');
  expect((await closed).match(/HTTP\/1\.1/g)).toHaveLength(1);
  go();
});

test.each([
  ['bytes that are no request', 'hello\r\n\r\n'],
  ['a tunnel', 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a body that breaks', 'POST /x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
])('%s behind a request get no answer in place of its own', async (_, bytes) => {
  let asked = 0;
  const describeTable = (): Promise<never> => {
    asked++;
    return new Promise(() => {});
  };
  const limits = { drainTimeoutMs: 0 };
  const pair = await restPair(
    { namespace: stubNamespace({ describeTable }), limits },
    { wire: 'socket' },
  );
  const head = 'POST /v1/table/t/describe HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n';
  const { socket, closed } = rawConnection(pair.base, head);
  await vi.waitFor(() => expect(asked).toBe(1), { timeout: 10_000 });
  socket.write(bytes);
  expect(await closed).toBe('');
});

test.each([
  ['a request', 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  ['bytes that are no request', 'hello\r\n\r\n'],
])(
  '%s behind `connection: close` takes the answer from nobody, and gets none',
  async (_, bytes) => {
    const waiting: (() => void)[] = [];
    const countTableRows = (): Promise<object> =>
      new Promise((resolve) => waiting.push(() => resolve({ count: 7 })));
    const pair = await restPair(
      { namespace: stubNamespace({ countTableRows }) },
      { wire: 'socket' },
    );
    const head =
      'POST /v1/table/t/count_rows HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
    for (const isAtOnce of [true, false]) {
      const { socket, closed } = rawConnection(pair.base, isAtOnce ? head + bytes : head);
      await vi.waitFor(() => expect(waiting).toHaveLength(1), { timeout: 10_000 });
      if (!isAtOnce) {
        socket.write(bytes);
        socket.write(bytes.repeat(1_000));
        await (await fetch(new URL('/health', pair.base))).text();
      }
      waiting.pop()?.();
      expect(await closed).toMatch(/^HTTP\/1\.1 200 (?!.*HTTP\/1\.1).*\r\n7$/s);
    }
  },
);

describe('a caller who waits before the body', () => {
  const body = '{"id":["t"]}';
  const asking = (headers: string, length = body.length): string =>
    `POST /v1/table/t/describe HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n${headers}content-length: ${length}\r\n\r\n`;
  const json = 'content-type: application/json\r\n';

  test('is told to go on once credentials, type and length are accepted', async () => {
    const { base } = await serve();
    const { socket, text, closed } = rawConnection(
      base,
      asking(`${KEY}${json}connection: close\r\n`),
    );
    await vi.waitFor(() => expect(text()).toBe('HTTP/1.1 100 Continue\r\n\r\n'));
    socket.write(body);
    expect(await closed).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });
  test('with Arrow data too', async () => {
    const { base, taken } = await serve();
    const bytes = await streamBytes();
    const head = `POST /v1/table/n/create HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\nconnection: close\r\n${KEY}content-type: ${ARROW['content-type']}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    const { socket, text, closed } = rawConnection(base, head);
    await vi.waitFor(() => expect(text()).toBe('HTTP/1.1 100 Continue\r\n\r\n'));
    socket.write(bytes);
    expect(await closed).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect(taken()).toBe(bytes.length);
  });
  test.each([
    ['a wrong key', 401, asking(`x-api-key: no\r\n${json}`)],
    ['no key and a large body', 401, asking(json, 100_000)],
    ['another type', 415, asking(`${KEY}content-type: text/plain\r\n`)],
    ['another encoding', 415, asking(`${KEY}${json}content-encoding: x\r\n`)],
    ['a length beyond the limit', 413, asking(`${KEY}${json}`, 1001)],
    ['no route', 404, asking(`${KEY}${json}`).replace('describe', 'descry')],
  ])('is answered at once where there is %s', async (_, status, head) => {
    const { base } = await serve({ maxJsonBytes: 1000 });
    const { socket, text } = rawConnection(base, head);
    await vi.waitFor(() => expect(text()).toMatch(/\}$/));
    expect(text()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text()).toMatch(/\r\nconnection: close\r\n/i);
    socket.destroy();
  });
});

test('an empty delimiter is a 400 everywhere', async () => {
  const pair = await restPair({ namespace: stubNamespace() });
  const arrow = await streamBytes();
  for (const operation of EVERY_OPERATION_NAMES) {
    const { method, path, body } = EVERY_OPERATION[operation];
    const url = path.replaceAll(/\{\w+\}/g, 'x');
    for (const address of [`${url}?delimiter=`, `${url}/?delimiter=`]) {
      const isArrow = body === 'arrow-stream';
      const sent = method === 'GET' ? undefined : isArrow ? arrow : {};
      const answer = await ask(pair, method, address, sent, isArrow ? ARROW : {});
      expect(answer, `${operation} ${address}`).toMatchObject({ status: 400, json: { code: 13 } });
      expect(answer.json.error, operation).toContain('"delimiter" is empty');
    }
  }
  const all = await ask(pair, 'GET', '/v1/table/?delimiter=');
  expect(all).toMatchObject({ status: 400, json: { code: 13 } });
});

describe('a request over a socket', () => {
  const post = (base: string, path: string, headers: string, body = '{}'): Promise<string> =>
    rawAnswer(
      base,
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`,
    );

  test('that asks for the options of the server as a whole is told all methods', async () => {
    const { base } = await serve();
    const text = await rawAnswer(
      base,
      'OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 204 No Content\r\n/);
    expect(/\r\nallow: (.*)\r\n/i.exec(text)?.[1]).toBe('GET, HEAD, OPTIONS, POST');
    // An answer that can have no body names no length.
    expect(text).not.toMatch(/content-length/i);
    const get = 'GET * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    expect(await rawAnswer(base, get)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test.each(['x', '100-maybe', 'y=1', '100-continue, foo', 'foo,100-Continue'])(
    'that expects %s is refused before its body is read',
    async (expected) => {
      const { base } = await serve();
      for (const path of ['/v1/table/t/describe', '/health', '/nowhere']) {
        const text = await post(base, path, `x-api-key: the-key\r\nexpect: ${expected}\r\n`);
        expect(text, path).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n/);
        expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({
          status: 417,
          type: '/errors/expectation-failed',
          detail: `The header Expect is "${expected}"; the server meets "100-continue" alone.`,
        });
      }
    },
  );

  test('with more than one idempotency key is refused, and one key may hold a comma', async () => {
    let created = 0;
    const createNamespace = async (): Promise<object> => {
      created++;
      return {};
    };
    const namespace = stubNamespace({ createNamespace });
    const { base } = await restPair({ namespace }, { wire: 'socket' });
    const path = '/v1/namespace/n/create';
    for (const keys of [
      ['a', 'b'],
      ['a', 'a'],
      ['a', 'b', 'c'],
    ]) {
      const headers = keys.map((key, at) => `${at > 0 ? 'I' : 'i'}dempotency-Key: ${key}\r\n`);
      const text = await post(base, path, headers.join(''));
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toContain(`The request has ${keys.length} idempotency-key headers; send one.`);
    }
    expect(created).toBe(0);
    expect(await post(base, path, 'idempotency-key: a, b\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await post(base, path, 'idempotency-key: a, b\r\n')).toMatch(/idempotent-replay: true/i);
    expect(created).toBe(1);
  });
});
