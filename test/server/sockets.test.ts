/** The server on sockets: addresses, backpressure, answers that fail on their way. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ArrowBody, RecordBatchStream } from '../../src/arrow/apache.ts';
import { Progress } from '../../src/progress.ts';
import type { Limits } from '../../src/server/settings/limits.ts';
import type { LogFields } from '../../src/server/settings/logging.ts';
import { createServer, startServer } from '../../src/server.ts';
import { rawAnswer, rawConnection } from '../helpers/raw-http.ts';
import { ask, restPair, someRows, type Wire } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';

const WIRES: readonly Wire[] = ['inject', 'socket'];

/** Rows of a megabyte a batch; `given` counts batches. */
function endlessRows(most = Number.POSITIVE_INFINITY): {
  rows: RecordBatchStream;
  given: () => number;
} {
  const some = someRows(262_144);
  let given = 0;
  const rows = {
    schema: some.schema,
    async *[Symbol.asyncIterator]() {
      for (; given < most; given++) yield* some;
    },
  };
  return { rows: rows as RecordBatchStream, given: () => given };
}

const sockets: Socket[] = [];
const seen = (channel: unknown): void => {
  sockets.push((channel as { socket: Socket }).socket);
};
beforeEach(() => subscribe('http.server.request.start', seen));
afterEach(() => {
  unsubscribe('http.server.request.start', seen);
  sockets.length = 0;
  vi.restoreAllMocks();
});

describe('an address', () => {
  const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => address === '::1'),
  );
  test('localhost is both addresses of that name', async () => {
    const server = await startServer({ namespace: stubNamespace(), host: 'localhost' });
    const { port, hostname } = new URL(server.url);
    expect(hostname).toBe('127.0.0.1');
    const names = ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])];
    for (const name of names) {
      expect((await fetch(`http://${name}:${port}/health`)).status).toBe(200);
    }
    await server.close();
    for (const name of names)
      await expect(fetch(`http://${name}:${port}/health`)).rejects.toThrow();
  });
  test('one that is taken is refused, and the server may take another', async () => {
    const first = await createServer({ namespace: stubNamespace() });
    const second = await createServer({ namespace: stubNamespace() });
    const port = Number(new URL(await first.listen()).port);
    await expect(second.listen({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(await second.listen()).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await expect(second.listen()).rejects.toMatchObject({ code: 'InvalidInput' });
    await first.close();
    await second.close();
    await expect(first.listen()).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });
  test.skipIf(!hasIpv6)('of version 6 stands in brackets', async () => {
    const server = await startServer({ namespace: stubNamespace(), host: '::1' });
    expect(new URL(server.url).hostname).toBe('[::1]');
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    await server.close();
  });
});

describe('a tunnel that is refused', () => {
  const CONNECT = 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n';
  test('may be reset by its caller', async () => {
    const server = await startServer({ namespace: stubNamespace() });
    // Before and after its answer; an error that nothing listens to would end the process.
    for (let times = 0; times < 6; times++) {
      const { socket, closed, text } = rawConnection(server.url, CONNECT);
      if (times % 2 === 1) await vi.waitFor(() => expect(text()).toMatch(/^HTTP\/1\.1 405 /));
      else await new Promise((resolve) => socket.once('connect', resolve));
      socket.resetAndDestroy();
      await closed;
    }
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    await server.close();
  });
  test('does not keep a server from stopping', async () => {
    const server = await startServer({ namespace: stubNamespace() });
    const { port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(CONNECT);
    await new Promise((resolve) => socket.once('end', resolve).resume());
    await server.close();
    socket.destroy();
    await closed;
  });
  test('ends after a while, also if its caller leaves it open', async () => {
    const taken: Socket[] = [];
    const seenAny = (channel: unknown): void => {
      taken.push((channel as { socket: Socket }).socket);
    };
    subscribe('net.server.socket', seenAny);
    const server = await startServer({ namespace: stubNamespace() });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { port } = new URL(server.url);
      const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
      socket.write(CONNECT);
      await new Promise((resolve) => socket.once('end', resolve).resume());
      vi.advanceTimersByTime(1_999);
      expect(taken.map(({ destroyed }) => destroyed)).toEqual([false]);
      vi.advanceTimersByTime(1);
      expect(taken.map(({ destroyed }) => destroyed)).toEqual([true]);
      socket.destroy();
    } finally {
      vi.useRealTimers();
      unsubscribe('net.server.socket', seenAny);
    }
    await server.close();
  });
});

describe('a request', () => {
  test('may have a whole address as its target, and HTTP/1.0 no host', async () => {
    const { base } = await restPair({ namespace: stubNamespace() }, { wire: 'socket' });
    const whole = `GET ${base}/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
    expect(await rawAnswer(base, whole)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await rawAnswer(base, 'GET /health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
  test.each(WIRES)('with a body that no route reads is answered: %s', async (wire) => {
    const pair = await restPair({ namespace: stubNamespace() }, { wire });
    const body = 'x'.repeat(3_000_000);
    for (let times = 0; times < 3; times++) {
      expect((await ask(pair, 'POST', '/nowhere', body)).status).toBe(404);
    }
  });
});

describe('a body that comes whole with its headers', () => {
  const version = (n: number): string => JSON.stringify({ version: n });
  const post = (body: string, more = ''): string =>
    `POST /v1/table/t/describe HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`;

  test('leaves its connection open for the next request', async () => {
    const namespace = stubNamespace({ describeTable: ({ version }: never) => ({ version }) });
    const { base } = await restPair({ namespace }, { wire: 'socket' });
    const sent = post(version(1)) + post(version(2)) + post(version(3), 'connection: close\r\n');
    const answers = await rawAnswer(base, sent);
    expect(answers.match(/^\{"version":\d\}/gm)?.join()).toBe([1, 2, 3].map(version).join());
    expect(answers.match(/^connection: [\w-]+/gim)?.map((line) => line.toLowerCase())).toEqual([
      'connection: keep-alive',
      'connection: keep-alive',
      'connection: close',
    ]);
  });
  test('is read to its end where a caller gives it in pieces', async () => {
    const namespace = stubNamespace({ describeTable: ({ version }: never) => ({ version }) });
    const server = await createServer({ namespace });
    const pieces = async function* () {
      for (const byte of Buffer.from(version(4))) yield Uint8Array.of(byte);
    };
    const answer = await server.fetch('http://localhost/v1/table/t/describe', {
      method: 'POST',
      headers: { 'content-length': '1' },
      body: ReadableStream.from(pieces()),
      duplex: 'half',
    } as RequestInit);
    expect(await answer.text()).toBe(version(4));
    await server.close();
  });
});

describe('requests that are sent behind another', () => {
  const post = (version: number, more = ''): string => {
    const body = JSON.stringify({ version });
    return `POST /v1/table/t/describe HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
  };

  /** Answers once `goOn` is called; `begun` tells what came so far. */
  async function held(limits: Limits = {}) {
    let goOn = (): void => {};
    const until = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const begun: number[] = [];
    const describeTable = async ({ version }: never): Promise<object> => {
      begun.push(version);
      await until;
      return { version };
    };
    const pair = await restPair(
      { namespace: stubNamespace({ describeTable }), limits },
      { wire: 'socket' },
    );
    return { pair, goOn, begun };
  }

  test('begin once that one is answered, in their order', async () => {
    const { pair, goOn, begun } = await held();
    const { closed } = rawConnection(
      pair.base,
      post(1) + post(2) + post(3, 'connection: close\r\n'),
    );
    await vi.waitFor(() => expect(begun).toEqual([1]), { timeout: 10_000 });
    // Each of them lets the event loop turn.
    for (let turn = 0; turn < 10; turn++) await ask(pair, 'GET', '/health');
    expect(begun).toEqual([1]);
    goOn();
    expect((await closed).match(/"version":\d/g)).toEqual([1, 2, 3].map((n) => `"version":${n}`));
    expect(begun).toEqual([1, 2, 3]);
  });

  test('never begin where their caller is gone', async () => {
    const { pair, goOn, begun } = await held();
    const { socket, closed } = rawConnection(pair.base, post(1) + post(2) + post(3));
    await vi.waitFor(() => expect(begun).toEqual([1]), { timeout: 10_000 });
    socket.destroy();
    await closed;
    await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true), { timeout: 10_000 });
    goOn();
    for (let turn = 0; turn < 10; turn++) await ask(pair, 'GET', '/health');
    expect(begun).toEqual([1]);
  });

  test('never begin where the server stops, and do not keep it waiting', async () => {
    const { pair, goOn, begun } = await held({ drainTimeoutMs: 3_600_000 });
    const { closed } = rawConnection(pair.base, post(1) + post(2) + post(3));
    await vi.waitFor(() => expect(begun).toEqual([1]), { timeout: 10_000 });
    const stopped = pair.close();
    goOn();
    const text = await closed;
    expect(text.match(/"version":\d/g)).toEqual(['"version":1']);
    expect(text).toMatch(/^connection: close\r$/im);
    await stopped;
    expect(begun).toEqual([1]);
  });

  test('are read no further where many wait, and all are answered', async () => {
    const { pair, goOn, begun } = await held();
    const COUNT = 5_000;
    const sent = Array.from({ length: COUNT }, (_, at) =>
      post(at, at === COUNT - 1 ? 'connection: close\r\n' : ''),
    ).join('');
    const { closed } = rawConnection(pair.base, sent);
    await vi.waitFor(() => expect(sockets[0]?.isPaused()).toBe(true), { timeout: 10_000 });
    for (let turn = 0; turn < 50; turn++) await ask(pair, 'GET', '/health');
    expect(sockets[0]?.bytesRead).toBeLessThan(sent.length / 2);
    expect(begun).toEqual([0]);
    goOn();
    expect((await closed).match(/"version":\d+/g)).toHaveLength(COUNT);
    expect(begun).toEqual(Array.from({ length: COUNT }, (_, at) => at));
  });
});

describe('many requests that are sent behind another', () => {
  const TINY = 'GET /x HTTP/1.1\r\n\r\n';
  const DESCRIBE =
    'POST /v1/table/t/describe HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}';

  test('let the event loop turn between any few of them', async () => {
    const turns: number[] = [];
    let turn = 0;
    let ticking = setImmediate(function tick() {
      turn++;
      ticking = setImmediate(tick);
    });
    const describeTable = async (): Promise<object> => {
      turns.push(turn);
      return {};
    };
    const options = { namespace: stubNamespace({ describeTable }) };
    const { base } = await restPair(options, { wire: 'socket' });
    const COUNT = 500;
    const last = DESCRIBE.replace('host:', 'connection: close\r\nhost:');
    const answers = await rawAnswer(base, DESCRIBE.repeat(COUNT - 1) + last);
    clearImmediate(ticking);
    expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(COUNT);
    const inTurn = turns.map((one) => turns.filter((other) => other === one).length);
    expect(Math.max(...inTurn)).toBeLessThanOrEqual(16);
  });

  test('are closed and not parsed where those of all connections wait already', async () => {
    let goOn = (): void => {};
    const until = new Promise<object>((resolve) => {
      goOn = () => resolve({});
    });
    const describeTable = (): Promise<object> => until;
    const options = { namespace: stubNamespace({ describeTable }) };
    const { base } = await restPair(options, { wire: 'socket' });
    let parsed = 0;
    const count = (): void => {
      parsed++;
    };
    subscribe('http.server.request.start', count);
    const all = Array.from({ length: 8 }, () =>
      rawConnection(base, DESCRIBE + TINY.repeat(10_000)),
    );
    const closed = all.map((one) => one.closed.then(() => one));
    const gone = await Promise.race(closed);
    // Those of a connection that is closed make room for others; all bytes hold 27,000.
    expect(parsed).toBeLessThan(2 * 8_192);
    unsubscribe('http.server.request.start', count);
    expect(gone.socket.destroyed).toBe(true);
    for (const { socket } of all) socket.destroy();
    await Promise.all(closed);
    goOn();
    // What waited on connections that are gone leaves room for others.
    const last = DESCRIBE.replace('host:', 'connection: close\r\nhost:');
    const many = rawConnection(base, DESCRIBE.repeat(39) + last);
    expect((await many.closed).match(/HTTP\/1\.1 200 /g)).toHaveLength(40);
  });

  test('are answered where the client ends its side behind them', async () => {
    const describeTable = async (): Promise<object> => ({});
    const { base } = await restPair(
      { namespace: stubNamespace({ describeTable }) },
      { wire: 'socket' },
    );
    const { socket, closed } = rawConnection(base);
    socket.end(DESCRIBE.repeat(10));
    expect((await closed).match(/HTTP\/1\.1 200 /g)).toHaveLength(10);
  });
});

describe('backpressure', () => {
  test('a body that nothing reads stays with its sender', async () => {
    let read = (): void => {};
    let bytes = 0;
    const reading = new Promise<void>((resolve) => {
      read = resolve;
    });
    const createTable = async (_: unknown, data: ArrowBody): Promise<object> => {
      await reading;
      for await (const piece of data as AsyncIterable<Uint8Array>) bytes += piece.byteLength;
      return {};
    };
    const pair = await restPair({ namespace: stubNamespace({ createTable }) }, { wire: 'socket' });
    const SENT = 2 ** 26;
    const head =
      'POST /v1/table/t/create HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n' +
      `content-type: application/vnd.apache.arrow.stream\r\ncontent-length: ${SENT}\r\n\r\n`;
    const { socket, closed } = rawConnection(pair.base, head);
    for (let at = 0; at < 64; at++) socket.write(Buffer.alloc(SENT / 64));
    await vi.waitFor(() => expect(sockets).toHaveLength(1), { timeout: 10_000 });
    // Each of them lets the event loop turn.
    for (let turn = 0; turn < 50; turn++) await ask(pair, 'GET', '/health');
    expect(sockets[0]?.bytesRead).toBeLessThan(2 ** 20);
    read();
    expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
    expect(bytes).toBe(SENT);
  });
  test('rows that nobody takes are not made', async () => {
    const { rows, given } = endlessRows();
    const queryTable = (): RecordBatchStream => rows;
    const pair = await restPair({ namespace: stubNamespace({ queryTable }) }, { wire: 'socket' });
    const body = '{"k":1}';
    const { socket } = rawConnection(pair.base);
    socket.pause();
    socket.write(
      `POST /v1/table/t/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await vi.waitFor(() => expect(given()).toBeGreaterThan(0));
    for (let turn = 0; turn < 50; turn++) await ask(pair, 'GET', '/health');
    // The kernel holds some megabytes of a connection.
    expect(given()).toBeLessThan(40);
    socket.destroy();
  });
  test('nor are those of a request, and of others sent behind it, once the client is gone', async () => {
    let open = 0;
    let asked = 0;
    const queryTable = async (_: unknown, options?: { signal?: AbortSignal }): Promise<never> => {
      asked++;
      open++;
      return new Promise((_resolve, reject) => {
        options?.signal?.addEventListener('abort', () => {
          open--;
          reject(options.signal?.reason);
        });
      });
    };
    const lines: LogFields[] = [];
    const logger = { info: (fields: LogFields) => lines.push(fields) };
    const options = { namespace: stubNamespace({ queryTable }), logger: logger as never };
    const pair = await restPair(options, { wire: 'socket' });
    const body = '{"k":1}';
    const one = `POST /v1/table/t/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const { socket } = rawConnection(pair.base, one.repeat(5));
    await vi.waitFor(() => expect(open).toBe(1));
    socket.destroy();
    await vi.waitFor(() => expect(open).toBe(0));
    const ended = (): LogFields[] => lines.filter(({ operation }) => operation === 'QueryTable');
    await vi.waitFor(() => expect(ended()).toHaveLength(1));
    expect(ended()).toMatchObject([{ peer: '127.0.0.1' }]);
    expect(asked).toBe(1);
  });
  test('nor are those of a response that is not read', async () => {
    const { rows, given } = endlessRows();
    const queryTable = (): RecordBatchStream => rows;
    const pair = await restPair({ namespace: stubNamespace({ queryTable }) });
    const response = await pair.fetch(`${pair.base}/v1/table/t/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"k":1}',
    });
    for (let turn = 0; turn < 50; turn++) await ask(pair, 'GET', '/health');
    expect(given()).toBeLessThan(3);
    await response.body?.cancel();
  });
  test.each(WIRES)('every piece that is sent is progress: %s', async (wire) => {
    const moved = vi.spyOn(Progress.prototype, 'moved');
    const { rows } = endlessRows(20);
    const pair = await restPair({ namespace: stubNamespace({ queryTable: () => rows }) }, { wire });
    const answer = await ask(pair, 'POST', '/v1/table/t/query', { k: 1 });
    expect(answer.status).toBe(200);
    expect(moved.mock.calls.length).toBeGreaterThanOrEqual(20);
  });
});

describe('rows that fail on their way', () => {
  test.each(WIRES)('break the answer off, and the log says why: %s', async (wire) => {
    const lines: (readonly [string, LogFields, string])[] = [];
    const logger = Object.fromEntries(
      (['info', 'warn', 'error'] as const).map((level) => [
        level,
        (fields: LogFields, message: string) => void lines.push([level, fields, message]),
      ]),
    );
    const rows = endlessRows(1).rows;
    const failing = {
      schema: rows.schema,
      async *[Symbol.asyncIterator]() {
        yield* rows;
        throw new Error('the disk is gone');
      },
    };
    const namespace = stubNamespace({ queryTable: () => failing });
    const pair = await restPair({ namespace, logger }, { wire });
    const response = await pair.fetch(`${pair.base}/v1/table/t/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"k":1}',
    });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatchObject([
      'error',
      { operation: 'QueryTable', failure: { message: 'the disk is gone' } },
      'answer broken off',
    ]);
    expect((await ask(pair, 'GET', '/health')).status).toBe(200);
  });
});
