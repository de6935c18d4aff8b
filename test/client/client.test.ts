/** The client on its own: what it sends again, how long it waits, what failures mean to it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { RestNamespace } from '../../src/client/client.ts';
import type { RestOptions } from '../../src/client/client-options.ts';
import { withoutSecrets } from '../../src/client/client-request.ts';
import { DirspaceError, type ErrorCode, isDirspaceError } from '../../src/errors.ts';
import { connectNamespace } from '../../src/sdk/connect.ts';
import { someRows, streamBytes } from '../helpers/rest-pair.ts';

type Step = Response | Error | ((init: RequestInit) => Promise<Response>);

const refused = (): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
const reset = (): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
const busy = (headers = {}): Response =>
  new Response('{"code":21,"error":"Slow down"}', { status: 503, headers });
const ok = (body = '{}'): Response => new Response(body);

/** A client that gets these answers in turn, and keeps what it slept. */
function scripted(
  steps: readonly Step[],
  options: Partial<RestOptions> = {},
): {
  client: RestNamespace;
  sent: () => number;
  slept: number[];
} {
  let sent = 0;
  const slept: number[] = [];
  const client = new RestNamespace({
    uri: 'http://x',
    env: {
      now: () => 1_000_000,
      uuid: () => 'u',
      random: () => 0.5,
      sleep: async (ms) => void slept.push(ms),
    },
    fetch: async (_, init) => {
      const step = steps[Math.min(sent++, steps.length - 1)] as Step;
      if (step instanceof Error) throw step;
      return typeof step === 'function' ? step(init) : step.clone();
    },
    ...options,
  });
  return { client, sent: () => sent, slept };
}

const code = async (work: Promise<unknown>): Promise<ErrorCode | undefined> => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  return isDirspaceError(error) ? error.code : undefined;
};

describe('what is sent again', () => {
  test.each([
    ['503', busy()],
    ['429', new Response('{}', { status: 429 })],
    ['a refused connection', refused()],
    ['a lost connection', reset()],
  ])('a read after %s', async (_, step) => {
    const { client, sent } = scripted([step, step, ok()]);
    await client.describeTable({ id: ['t'] });
    expect(sent()).toBe(3);
  });
  test.each([
    ['503', busy(), 'Throttling'],
    ['a refused connection', refused(), 'ServiceUnavailable'],
    ['a lost connection', reset(), 'CommitStateUnknown'],
  ])('a write without a key is not, after %s', async (_, step, expected) => {
    const { client, sent } = scripted([step, ok()]);
    expect(await code(client.restoreTable({ id: ['t'], version: 1 }))).toBe(expected);
    expect(sent()).toBe(1);
  });
  test('a write with a key is, and carries it every time', async () => {
    const keys: unknown[] = [];
    const note =
      (step: Step): Step =>
      async (init) => {
        keys.push(new Headers(init.headers).get('idempotency-key'));
        if (step instanceof Error) throw step;
        return step as Response;
      };
    const { client } = scripted([note(busy()), note(reset()), note(ok())]);
    await client.restoreTable({ id: ['t'], version: 1 }, { idempotencyKey: 'k' });
    expect(keys).toEqual(['k', 'k', 'k']);
  });
  test.each([400, 401, 403, 404, 409, 500])('status %i is final', async (status) => {
    const { client, sent } = scripted([new Response('{}', { status })]);
    await expect(client.describeTable({ id: ['t'] })).rejects.toMatchObject({
      name: 'DirspaceError',
    });
    expect(sent()).toBe(1);
  });
  test('Arrow data that fits into memory is sent whole again', async () => {
    const bodies: Uint8Array[] = [];
    const take =
      (answer: Response): Step =>
      async (init) => {
        bodies.push(new Uint8Array(await new Response(init.body as ReadableStream).arrayBuffer()));
        return answer;
      };
    const { client } = scripted([take(busy()), take(ok())]);
    await client.insertIntoTable({ id: ['t'] }, someRows(1000), { idempotencyKey: 'k' });
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[0]).toEqual(new Uint8Array(await streamBytes(someRows(1000))));
  });
  test('Arrow data that does not fit is sent once', async () => {
    async function* large(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < 8; at++) yield new Uint8Array(1024 ** 2);
    }
    const take: Step = async (init) => {
      await new Response(init.body as ReadableStream).arrayBuffer();
      return busy();
    };
    const { client, sent } = scripted([take]);
    const work = client.insertIntoTable({ id: ['t'] }, large(), { idempotencyKey: 'k' });
    expect(await code(work)).toBe('Throttling');
    expect(sent()).toBe(1);
  });
  test('a failure of the data itself comes through', async () => {
    const failure = new Error('my data broke');
    const data = {
      schema: someRows().schema,
      // biome-ignore lint/correctness/useYield: it fails before its first batch
      async *[Symbol.asyncIterator](): AsyncGenerator<never> {
        throw failure;
      },
    };
    const take: Step = async (init) =>
      new Response(await new Response(init.body as ReadableStream).text());
    const { client } = scripted([take]);
    await expect(client.insertIntoTable({ id: ['t'] }, data)).rejects.toBe(failure);
  });
});

describe('a connection that fails says whether there ever was one', () => {
  const failure = (cause: unknown): Error => new TypeError('fetch failed', { cause });
  const errno = (code: string, syscall: string): Error =>
    Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
  const each = (...errors: Error[]): Error =>
    Object.assign(new AggregateError(errors), { code: (errors[0] as { code?: string }).code });
  test.each([
    ['ECONNREFUSED', refused()],
    ['ETIMEDOUT', failure(errno('ETIMEDOUT', 'connect'))],
    ['ENOTFOUND', failure(errno('ENOTFOUND', 'getaddrinfo'))],
    ['ETIMEDOUT', failure(each(errno('ETIMEDOUT', 'connect'), errno('EACCES', 'connect')))],
    ['CERT_HAS_EXPIRED', failure(Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' }))],
    ['bad port', failure(new Error('bad port'))],
  ])('%s: nothing was sent', async (reason, step) => {
    const { client } = scripted([step]);
    await expect(client.restoreTable({ id: ['t'], version: 1 })).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: `Could not connect to http://x for RestoreTable (${reason}).`,
      cause: step,
    });
  });
  test.each([
    ['a reset', reset()],
    ['a late one', failure(errno('ETIMEDOUT', 'read'))],
    ['one of two', failure(each(errno('ECONNREFUSED', 'connect'), errno('ECONNRESET', 'read')))],
  ])('%s: the outcome is not known', async (_, step) => {
    const { client } = scripted([step]);
    await expect(client.restoreTable({ id: ['t'], version: 1 })).rejects.toMatchObject({
      code: 'CommitStateUnknown',
      message: 'The connection to http://x was lost during RestoreTable.',
    });
  });
  test.each(['http://127.0.0.1:1', 'http://nowhere.invalid'])('for real: %s', async (uri) => {
    const client = new RestNamespace({ uri, retries: 0 });
    await expect(client.listTables({ id: [] })).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringContaining(`Could not connect to ${uri} for ListTables (`),
    });
  });
});

describe('waiting', () => {
  test('doubles, with full jitter', async () => {
    const { client, slept } = scripted([busy()], { retries: 4 });
    expect(await code(client.describeTable({ id: ['t'] }))).toBe('Throttling');
    expect(slept).toEqual([100, 200, 400, 800]);
  });
  test.each([
    ['2', 2100],
    [new Date(1_003_000).toUTCString(), 3100],
    ['nonsense', 100],
  ])('Retry-After %s is heeded', async (header, expected) => {
    const { client, slept } = scripted([busy({ 'retry-after': header }), ok()]);
    await client.describeTable({ id: ['t'] });
    expect(slept).toEqual([expected]);
  });
  test('a server that asks for too much is not waited for', async () => {
    const { client, sent } = scripted([busy({ 'retry-after': '3600' }), ok()]);
    expect(await code(client.describeTable({ id: ['t'] }))).toBe('Throttling');
    expect(sent()).toBe(1);
  });
});

describe('time', () => {
  const never: Step = (init) =>
    new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  test('no answer in time: a read is unavailable, a write of unknown outcome', async () => {
    const { client } = scripted([never], { timeoutMs: 20 });
    expect(await code(client.describeTable({ id: ['t'] }))).toBe('ServiceUnavailable');
    expect(await code(client.restoreTable({ id: ['t'], version: 1 }))).toBe('CommitStateUnknown');
  });
  test('what may take long has no limit but one that is given', async () => {
    const limited = scripted([never], { timeoutMs: 20 });
    const request = { id: ['t'], older_than_millis: 0 };
    expect(await code(limited.client.verify({}))).toBe('ServiceUnavailable');
    expect(await code(limited.client.cleanupTable(request))).toBe('CommitStateUnknown');
    vi.useFakeTimers();
    try {
      const { client } = scripted([never], { retries: 0 });
      const { optimizeTable, cleanupTable, verify, repair } = client;
      const long = [
        optimizeTable.call(client, { id: ['t'] }),
        cleanupTable.call(client, request),
        verify.call(client, {}),
        repair.call(client, {}),
      ].map(code);
      const short = code(client.describeTable({ id: ['t'] }));
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(await short).toBe('ServiceUnavailable');
      await client.close();
      expect(await Promise.all(long)).toEqual(['Closed', 'Closed', 'Closed', 'Closed']);
    } finally {
      vi.useRealTimers();
    }
  });
  test('the platform does not end what has no limit', async () => {
    const key = Symbol.for('undici.globalDispatcher.1');
    const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    new Headers();
    const platform = globalThis as unknown as Record<symbol, { dispatch: Dispatch } | undefined>;
    type Dispatch = (options: object, handler: unknown) => boolean;
    const before = platform[key];
    const seen: object[] = [];
    platform[key] = {
      dispatch: (options, handler) => {
        seen.push(options);
        return before?.dispatch(options, handler) ?? false;
      },
    };
    try {
      const client = new RestNamespace({ uri: `http://127.0.0.1:${port}` });
      await client.namespaceExists({ id: ['n'] });
    } finally {
      platform[key] = before;
      server.close();
    }
    expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
  });
  test('a signal ends a call with its reason, before and during it', async () => {
    const { client, sent } = scripted([never]);
    const reason = new Error('enough');
    const options = { signal: AbortSignal.abort(reason) };
    await expect(client.describeTable({ id: ['t'] }, options)).rejects.toBe(reason);
    expect(sent()).toBe(0);
    const controller = new AbortController();
    const work = client.describeTable({ id: ['t'] }, { signal: controller.signal });
    controller.abort(reason);
    await expect(work).rejects.toBe(reason);
  });
  test('a signal ends a call whose data has yet to come', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield (await streamBytes()).subarray(0, 10);
      controller.abort(reason);
      await new Promise(() => {});
    }
    const taken: Step = (init) => {
      const reader = (init.body as ReadableStream).getReader();
      void reader.read().then(() => reader.read());
      return never(init);
    };
    const { client } = scripted([taken]);
    const options = { signal: controller.signal };
    await expect(client.insertIntoTable({ id: ['t'] }, slow(), options)).rejects.toBe(reason);
  });
  test.each([2 ** 31, Number.MAX_SAFE_INTEGER])(
    '%i milliseconds do not end at once',
    async (most) => {
      vi.useFakeTimers();
      try {
        const { client } = scripted([never], { timeoutMs: most, retries: 0 });
        const ended = vi.fn();
        const work = code(client.describeTable({ id: ['t'] })).finally(ended);
        await vi.advanceTimersByTimeAsync(86_400_000);
        expect(ended).not.toHaveBeenCalled();
        await client.close();
        expect(await work).toBe('Closed');
      } finally {
        vi.useRealTimers();
      }
    },
  );
  test('closing ends what is under way and refuses what comes after', async () => {
    const { client } = scripted([never]);
    const work = client.describeTable({ id: ['t'] });
    const ended = code(work);
    await client.close();
    expect(await ended).toBe('Closed');
    expect(await code(client.listTables({}))).toBe('Closed');
  });
});

describe('answers', () => {
  test.each([
    [418, 'not JSON', 'InvalidInput'],
    [404, '<html>nothing</html>', 'TableNotFound'],
    [502, '', 'Internal'],
    [503, '', 'ServiceUnavailable'],
    [400, '{"code":11,"error":"no version"}', 'TableVersionNotFound'],
    [500, '{"type":"/errors/forbidden-request"}', 'PermissionDenied'],
    [307, '', 'InvalidInput'],
  ])('status %i with %j is %s', async (status, body, expected) => {
    const { client } = scripted([new Response(body, { status })], { retries: 0 });
    expect(await code(client.describeTable({ id: ['t'] }))).toBe(expected);
  });
  test.each(['', '[]', '{"version":-1}', '<html>'])(
    '%j where JSON of a model is due',
    async (body) => {
      const { client } = scripted([ok(body)]);
      expect(await code(client.describeTable({ id: ['t'] }))).toBe('Internal');
    },
  );
  test.each(['', '[]', '{"version":-1}', '<html>'])(
    '%j for a change: it may have been done',
    async (body) => {
      const { client, sent } = scripted([ok(body)]);
      const changing = client.deleteFromTable({ id: ['t'], predicate: 'true' });
      expect(await code(changing)).toBe('CommitStateUnknown');
      expect(sent()).toBe(1);
      const keyed = { idempotencyKey: 'a' };
      const repeated = client.deleteFromTable({ id: ['t'], predicate: 'true' }, keyed);
      expect(await code(repeated)).toBe('CommitStateUnknown');
    },
  );
  test('rows that are no Arrow data, or are cut off', async () => {
    const bytes = await streamBytes(someRows(1000));
    const all = async (body: Uint8Array): Promise<void> => {
      const { client } = scripted([new Response(Buffer.from(body))]);
      for await (const _ of await client.queryTable({ id: ['t'], k: 1 })) void _;
    };
    await all(bytes);
    expect(await code(all(new Uint8Array(100)))).toBe('Internal');
    expect(await code(all(bytes.subarray(0, bytes.length - 200)))).toBe('Internal');
  });
  test('an answer that breaks off', async () => {
    const bytes = await streamBytes(someRows(1000));
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/vnd.apache.arrow.stream');
      response.write(bytes.subarray(0, 2000), () => response.destroy());
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const client = new RestNamespace({
      uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    });
    const read = async (): Promise<void> => {
      for await (const _ of await client.queryTable({ id: ['t'], k: 1 })) void _;
    };
    expect(await code(read())).toBe('ServiceUnavailable');
    server.close();
  });
});

describe('options', () => {
  test.each([
    { uri: 'nonsense' },
    { uri: 'ftp://x' },
    { uri: 'http://user:secret@x' },
    { uri: 'http://x?y' },
    { uri: 'http://x', headers: { 'a b': 'c' } },
    { uri: 'http://x', headers: { a: 'line\nbreak' } },
    { uri: 'http://x', headers: { 'Content-Length': '7' } },
    { uri: 'http://x', delimiter: '' },
    { uri: 'http://x', retries: -1 },
  ])('%j is refused, and no secret is shown', (options) => {
    try {
      new RestNamespace(options);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'InvalidInput' });
      expect((error as Error).message).not.toMatch(/secret|line/);
    }
  });
  test('readOnly refuses what would change the catalog without asking', async () => {
    const { client, sent } = scripted([ok()], { readOnly: true });
    expect(await code(client.dropTable({ id: ['t'] }))).toBe('ReadOnly');
    expect(sent()).toBe(0);
    await client.describeTable({ id: ['t'] });
  });
  test('connectNamespace takes uri, delimiter and headers., and nothing else', async () => {
    const connect = (properties: Record<string, string>): Promise<unknown> =>
      connectNamespace('rest', { uri: 'http://x', ...properties });
    await connect({ delimiter: '/', 'headers.x-api-key': 'k' });
    expect(await code(connect({ header: 'x' }))).toBe('InvalidInput');
    expect(await code(connectNamespace('rest', {}))).toBe('InvalidInput');
  });
});

test.each([
  'ftp://me:secret1@host',
  'http://me:secret1@host:port',
  'http://me:sec/ret1@host',
  'me:secret1@host:8080',
  'https:/me:secret1@host:99999',
])('the error of the address %s shows no password', (uri) => {
  let message = '';
  try {
    new RestNamespace({ uri });
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toContain('uri');
  expect(message).not.toMatch(/secret1|ret1|me:/);
});

test('an error without secrets keeps its lists', () => {
  const error = new DirspaceError('InvalidInput', 'no', { details: { names: ['a', 'secret1'] } });
  expect(withoutSecrets(error, { 'x-api-key': 'secret1' }).details).toEqual({
    names: ['a', '[redacted]'],
  });
  const sent = { 'x-api-key': 'secret1', authorization: 'Bearer secret1-longer' };
  const both = new DirspaceError('InvalidInput', 'secret1 and secret1-longer');
  expect(withoutSecrets(both, sent).message).toBe('[redacted] and [redacted]');
});
