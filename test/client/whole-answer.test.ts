/** Answers that are read whole, past the streams of `fetch`, as those that go through it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RestNamespace } from '../../src/client/index.ts';
import { systemEnv } from '../../src/env.ts';
import { isDirspaceError } from '../../src/errors.ts';

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const nothing: Answering = (_, response) => response.end('{}');

/** A client that has reached its server, and the requests that come after that. */
async function reached(...script: Answering[]) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const answer = seen.length === 0 ? nothing : (script.shift() ?? nothing);
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new RestNamespace({ uri, env });
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await client.describeTable({ id: ['t'] });
  return { client, requests: () => seen.slice(1), first: seen[0] };
}

const env = { ...systemEnv, random: () => 0, sleep: async () => {} };

const code = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => (isDirspaceError(error) ? error.code : error),
  );

const throughFetch = (request: IncomingMessage | undefined): boolean =>
  request?.headers['sec-fetch-mode'] !== undefined;

describe('an answer that is read whole', () => {
  test('comes past fetch once the server was reached through it', async () => {
    const { client, requests, first } = await reached((_, response) =>
      response.end('{"version":7}'),
    );
    expect(await client.describeTable({ id: ['t'] })).toMatchObject({ version: 7 });
    expect(throughFetch(first)).toBe(true);
    expect(requests().map(throughFetch)).toEqual([false]);
    expect(requests()[0]).toMatchObject({
      method: 'POST',
      url: '/v1/table/t/describe',
      headers: {
        'content-type': 'application/json',
        'content-length': '2',
        accept: 'application/json',
      },
    });
  });

  test('is asked for at the address that a URL would give', async () => {
    const empty: Answering = (_, response) => response.end('{"tables":[]}');
    const { client, requests } = await reached(...Array(30).fill(empty));
    const names = ['a', "it's", 'a b', '~!*()_.-', '%2e%2e', '{id}', 'é€😀', 'a/b?c#d', '|^`"<>'];
    for (const name of names) {
      await client.describeTableIndexStats({ id: ['p', 't'], index_name: name });
      await client.listTables({ id: ['p'], page_token: name, limit: 3 });
      await client.listTables({ id: ['p'], page_token: name });
    }
    const targets = requests().map(({ url = '' }) => url);
    expect(targets).toHaveLength(3 * names.length);
    for (const target of targets) {
      const { pathname, search } = new URL(target, 'http://host');
      expect(pathname + search).toBe(target);
    }
    const asked = targets.map((target) => new URL(target, 'http://host'));
    const paths = asked.filter((_, at) => at % 3 === 0).map(({ pathname }) => pathname);
    expect(paths.map(decodeURIComponent)).toEqual(
      names.map((name) => `/v1/table/p$t/index/${name}/stats`),
    );
    expect(asked.map(({ searchParams }) => searchParams.get('page_token'))).toEqual(
      names.flatMap((name) => [null, name, name]),
    );
  });
  test('has its headers as context, those that repeat joined, and none that went ahead', async () => {
    const { client } = await reached((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.setHeader('x-of', 'a\u00e9');
      response.write('{"ver');
      response.end('sion":8}');
    });
    const answer = await client.describeTable({ id: ['t'] });
    expect(answer).toMatchObject({
      version: 8,
      context: { 'header.set-cookie': 'a=1, b=2', 'header.x-of': 'a\u00e9' },
    });
    expect(answer.context).not.toHaveProperty(['header.link']);
  });

  test('is decompressed', async () => {
    const { client, requests } = await reached((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('{"version":9}'));
    });
    expect(await client.describeTable({ id: ['t'] })).toMatchObject({ version: 9 });
    expect(requests()[0]?.headers['accept-encoding']).toContain('gzip');
  });

  test('fails where what is compressed is damaged', async () => {
    const { client, requests } = await reached((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('{"version":9}').subarray(0, 12));
    });
    expect(await code(client.describeTable({ id: ['t'] }))).toBe('ServiceUnavailable');
    expect(requests()).toHaveLength(1);
  });

  test.skipIf(process.env.TEST_LONG === undefined)('is refused beyond 256 MiB', async () => {
    const large = Buffer.alloc(257 * 1024 * 1024, 0x20);
    const { client } = await reached(
      (_, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(gzipSync(large));
      },
      (_, response) => response.end(large),
    );
    expect(await code(client.describeTable({ id: ['t'] }))).toBe('Internal');
    expect(await code(client.describeTable({ id: ['t'] }))).toBe('Internal');
  });

  test('that breaks off, or never began, is asked for again', async () => {
    const { client, requests } = await reached(
      (_, response) => response.write('{"ver', () => response.destroy()),
      (request) => request.socket.destroy(),
      (_, response) => {
        response.statusCode = 503;
        response.end();
      },
      (_, response) => response.end('{"version":3}'),
    );
    expect(await client.describeTable({ id: ['t'] })).toMatchObject({ version: 3 });
    expect(requests()).toHaveLength(4);
    expect(requests().some(throughFetch)).toBe(false);
  });

  test('tells of a change that broke off that its state is unknown', async () => {
    const { client, requests } = await reached((_, response) =>
      response.write('{"ver', () => response.destroy()),
    );
    expect(await code(client.createNamespace({ id: ['n'] }))).toBe('CommitStateUnknown');
    expect(requests()).toHaveLength(1);
  });

  test('is let go by a signal, before it begins and while it comes', async () => {
    const gone: Promise<unknown>[] = [];
    const held: ((response: ServerResponse) => void)[] = [];
    const began = (): Promise<ServerResponse> => new Promise((resolve) => held.push(resolve));
    const hold: Answering = (_, response) => {
      gone.push(new Promise((resolve) => response.once('close', resolve)));
      held.shift()?.(response);
    };
    const { client } = await reached(hold, hold);
    const reason = new Error('enough');
    for (const isBegun of [false, true]) {
      const controller = new AbortController();
      const response = began();
      const work = code(client.describeTable({ id: ['t'] }, { signal: controller.signal }));
      const sending = await response;
      if (isBegun) await new Promise<void>((resolve) => sending.write('{', () => resolve()));
      controller.abort(reason);
      expect(await work).toBe(reason);
    }
    await Promise.all(gone);
  });

  test('comes through fetch where a program has replaced it', async () => {
    const { client, requests } = await reached();
    const platforms = globalThis.fetch;
    const own = vi.fn((...call: Parameters<typeof fetch>) => platforms(...call));
    globalThis.fetch = own;
    try {
      await client.describeTable({ id: ['t'] });
    } finally {
      globalThis.fetch = platforms;
    }
    expect(own).toHaveBeenCalledOnce();
    expect(requests().map(throughFetch)).toEqual([true]);
  });
});

describe('dispatchers of later releases of undici', () => {
  const key = Symbol.for('undici.globalDispatcher.1');
  const platform = globalThis as unknown as Record<symbol, unknown>;

  interface Later {
    onRequestStart(controller: object): void;
    onResponseStart(controller: object, status: number, headers: object): void;
    onResponseData(controller: object, piece: Uint8Array): void;
    onResponseEnd(controller: object, trailers: object): void;
    onResponseError(controller: object, error: unknown): void;
  }

  async function dispatched(
    work: (client: RestNamespace) => Promise<unknown>,
    dispatch: (handler: Later, options: object) => void,
  ): Promise<unknown> {
    const { client } = await reached();
    const before = platform[key];
    platform[key] = {
      dispatch: (options: object, handler: Later) => {
        dispatch(handler, options);
        return true;
      },
    };
    try {
      return await work(client);
    } finally {
      platform[key] = before;
    }
  }

  const describeIt = (client: RestNamespace) => client.describeTable({ id: ['t'] });

  test('hand on an answer', async () => {
    const answer = await dispatched(describeIt, (handler) => {
      handler.onRequestStart({ abort() {} });
      handler.onResponseStart({}, 103, { link: '<x>' });
      handler.onResponseStart({}, 200, { 'x-a': 'b', 'set-cookie': ['c=1', 'd=2'] });
      handler.onResponseData({}, Buffer.from('{"version":'));
      handler.onResponseData({}, Buffer.from('5}'));
      handler.onResponseEnd({}, {});
    });
    const context = { 'header.x-a': 'b', 'header.set-cookie': 'c=1, d=2' };
    expect(answer).toEqual({ version: 5, context });
  });

  test('set no limits of time, and restart that of the client with every piece', async () => {
    const patient = async (client: RestNamespace): Promise<unknown> => {
      vi.useFakeTimers();
      try {
        return await describeIt(client);
      } finally {
        vi.useRealTimers();
      }
    };
    const limits: object[] = [];
    const answer = await dispatched(patient, (handler, options) => {
      limits.push(options);
      const nearlyLate = (): unknown => vi.advanceTimersByTime(40_000);
      handler.onRequestStart({ abort() {} });
      nearlyLate();
      handler.onResponseStart({}, 200, {});
      nearlyLate();
      handler.onResponseData({}, Buffer.from('{"version"'));
      nearlyLate();
      handler.onResponseData({}, Buffer.from(':6}'));
      handler.onResponseEnd({}, {});
    });
    expect(answer).toMatchObject({ version: 6 });
    expect(limits).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
  });

  test('are asked again where only notes went ahead of the failure', async () => {
    let asked = 0;
    const answer = await dispatched(describeIt, (handler) => {
      handler.onRequestStart({ abort() {} });
      if (asked++ === 0) {
        handler.onResponseStart({}, 103, {});
        handler.onResponseError({}, new Error('cut'));
        return;
      }
      handler.onResponseStart({}, 200, {});
      handler.onResponseData({}, Buffer.from('{}'));
      handler.onResponseEnd({}, {});
    });
    expect([asked, answer]).toEqual([2, { context: {} }]);
  });

  test('tell of failures, are told of aborts, and may throw', async () => {
    const broken = (client: RestNamespace) => code(describeIt(client));
    const failed = await dispatched(broken, (handler) => {
      handler.onRequestStart({ abort() {} });
      handler.onResponseStart({}, 200, {});
      handler.onResponseError({}, new Error('cut'));
    });
    expect(failed).toBe('ServiceUnavailable');
    const thrown = await dispatched(broken, () => {
      throw new Error('no');
    });
    expect(thrown).toBe('ServiceUnavailable');
    const aborted = vi.fn();
    const controller = new AbortController();
    const reason = new Error('enough');
    const signalled = (client: RestNamespace) =>
      code(client.describeTable({ id: ['t'] }, { signal: controller.signal }));
    const late = await dispatched(signalled, (handler) => {
      controller.abort(reason);
      // The connection is there after the caller has left.
      handler.onRequestStart({ abort: aborted });
    });
    expect(late).toBe(reason);
    expect(aborted).toHaveBeenCalledWith(reason);
  });
});
