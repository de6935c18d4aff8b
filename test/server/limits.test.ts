/** Overload, time, size, callers that leave, writes that are sent again, and stopping. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { EVERY_OPERATION } from '../../src/protocol/every-operation.ts';
import type { CallOptions } from '../../src/protocol/namespace.ts';
import { Admission, resolveLimits } from '../../src/server/settings/limits.ts';
import { createServer, startServer } from '../../src/server.ts';
import { ARROW, ask, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

/** A method that waits until it is let go, and says how many are waiting. */
function held<T>(answer: T): {
  method: (request: unknown, options?: CallOptions) => Promise<T>;
  release: () => void;
  waiting: () => number;
  calls: () => number;
} {
  let waiting = 0;
  let calls = 0;
  const { promise, resolve } = deferred();
  return {
    method: async (_, options) => {
      waiting++;
      calls++;
      try {
        await new Promise<void>((done, fail) => {
          void promise.then(done);
          options?.signal?.addEventListener('abort', () => fail(options.signal?.reason));
        });
      } finally {
        waiting--;
      }
      return answer;
    },
    release: resolve,
    waiting: () => waiting,
    calls: () => calls,
  };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const location = { location: '/x' };

describe('overload', () => {
  test.each([
    ['the server', { maxInFlight: 1, maxQueue: 1 }, ['a', 'b', 'c']],
    ['a table', { maxInFlightPerTable: 1, maxQueuePerTable: 1 }, ['a', 'a', 'a']],
  ])('%s: one runs, one waits, one is told to slow down', async (_, limits, tables) => {
    const gate = held(location);
    const pair = await restPair({
      namespace: stubNamespace({ describeTable: gate.method }),
      limits,
    });
    const send = (table: string): ReturnType<typeof ask> =>
      ask(pair, 'POST', `/v1/table/${table}/describe`, {});
    const [one, two, three] = tables as [string, string, string];
    const first = send(one);
    await vi.waitFor(() => expect(gate.waiting()).toBe(1));
    const second = send(two);
    let refused = await send(three);
    // The second one may still be on its way into the line.
    for (let tries = 0; refused.status === 200 && tries < 3; tries++) refused = await send(three);
    expect(refused).toMatchObject({ status: 503, json: { title: 'Slow down', code: 21 } });
    expect(refused.headers.get('retry-after')).toBe('1');
    gate.release();
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(200);
    expect((await send(one)).status).toBe(200);
  });
  test('an event loop that is late: requests are refused', async () => {
    const limits = { maxEventLoopDelayMs: 20 };
    const pair = await restPair({ namespace: stubNamespace({}), limits });
    expect((await ask(pair, 'POST', '/v1/table/t/describe', {})).status).toBe(406);
    // The delay is measured over a second.
    await vi.waitFor(
      async () => {
        const until = performance.now() + 100;
        while (performance.now() < until);
        const refused = await ask(pair, 'POST', '/v1/table/t/describe', {});
        expect(refused).toMatchObject({
          status: 503,
          json: { code: 17, error: expect.stringContaining('limits.maxEventLoopDelayMs') },
        });
        expect(refused.headers.get('retry-after')).toBe('1');
        expect((await ask(pair, 'GET', '/health')).json).toEqual({ status: 'ok' });
        expect((await ask(pair, 'GET', '/ready')).json).toEqual({
          status: 'not ready',
          reasons: ['the event loop is late'],
        });
      },
      { timeout: 20_000, interval: 1 },
    );
  });
  test.each([
    ['the server', { maxInFlight: 1 }, ['a', 'b']],
    ['a table', { maxInFlightPerTable: 1 }, ['a', 'a']],
    ['a table, and then the server', { maxInFlight: 1, maxInFlightPerTable: 1 }, ['b', 'a', 'a']],
  ])(
    '%s: what waits is refused after queueTimeoutMs, and takes nothing with it',
    async (_, limits, tables) => {
      const gate = held(location);
      const pair = await restPair({
        namespace: stubNamespace({ describeTable: gate.method }),
        limits: { ...limits, queueTimeoutMs: 20 },
      });
      const send = (table = ''): ReturnType<typeof ask> =>
        ask(pair, 'POST', `/v1/table/${table}/describe`, {});
      const [one, ...others] = tables;
      const first = send(one);
      await vi.waitFor(() => expect(gate.waiting()).toBe(1));
      for (const answer of await Promise.all(others.map(send))) {
        expect(answer).toMatchObject({ status: 503, json: { code: 21 } });
        expect(answer.json.error).toContain('within 20 ms');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      gate.release();
      expect((await first).status).toBe(200);
      for (const table of tables) expect((await send(table)).status).toBe(200);
      expect(gate.calls()).toBe(1 + tables.length);
    },
  );
  test('a time beyond what timers take is the longest that they do', async () => {
    const limits = { maxInFlight: 1, queueTimeoutMs: Number.POSITIVE_INFINITY, callerShare: 1 };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const admission = new Admission(resolveLimits(limits));
      const waiter = new AbortController();
      const first = admission.enter(undefined, 'x', waiter) as () => void;
      const second = admission.enter(undefined, 'y', waiter) as Promise<unknown>;
      let failed = false;
      second.catch(() => {
        failed = true;
      });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(failed).toBe(false);
      first();
      expect(await second).toBeTypeOf('function');
    } finally {
      vi.useRealTimers();
    }
    expect(resolveLimits({ drainTimeoutMs: 1e12 }).drainTimeoutMs).toBe(2 ** 31 - 1);
    expect(resolveLimits({ maxArrowBytes: 1e12 }).maxArrowBytes).toBe(1e12);
  });
  test('the time in both lines counts together', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const limits = {
        maxInFlight: 2,
        maxInFlightPerTable: 1,
        queueTimeoutMs: 100,
        callerShare: 1,
      };
      const admission = new Admission(resolveLimits(limits));
      const waiter = new AbortController();
      const ofTable = admission.enter('a', 'x', waiter) as () => void;
      admission.enter('b', 'y', waiter);
      const failed: unknown[] = [];
      void (admission.enter('a', 'y', waiter) as Promise<unknown>).catch((error) =>
        failed.push(error),
      );
      await vi.advanceTimersByTimeAsync(60);
      // Its place at the table is free now; that at the server is taken again before it.
      void Promise.resolve(admission.enter(undefined, 'z', waiter)).catch(() => {});
      ofTable();
      await vi.advanceTimersByTimeAsync(39);
      expect(failed).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(failed).toMatchObject([{ code: 'Throttling', details: { limit: 'queueTimeoutMs' } }]);
    } finally {
      vi.useRealTimers();
    }
  });
  test('what looks something up has places of its own, as many as all others', async () => {
    const [long, short] = [held({ count: 1 }), held(location)];
    const namespace = stubNamespace({
      countTableRows: long.method,
      describeTable: short.method,
      tableExists: () => undefined,
    });
    const limits = { maxInFlight: 1, maxQueue: 0, maxInFlightPerTable: 1, maxQueuePerTable: 0 };
    const pair = await restPair({ namespace, limits });
    const count = () => ask(pair, 'POST', '/v1/table/a/count_rows', {});
    const describing = () => ask(pair, 'POST', '/v1/table/a/describe', {});
    const counting = count();
    await vi.waitFor(() => expect(long.waiting()).toBe(1));
    expect((await count()).status).toBe(503);
    expect((await ask(pair, 'POST', '/v1/table/a/exists', {})).status).toBe(200);
    const described = describing();
    await vi.waitFor(() => expect(short.waiting()).toBe(1));
    // They are bounded too.
    expect((await describing()).status).toBe(503);
    expect((await ask(pair, 'POST', '/v1/table/b/exists', {})).status).toBe(503);
    short.release();
    expect((await described).status).toBe(200);
    expect((await count()).status).toBe(503);
    long.release();
    expect((await counting).status).toBe(200);
    expect((await count()).status).toBe(200);
  });
  test('the operations with places of their own are those that look something up', () => {
    const short = Object.entries(EVERY_OPERATION).filter(([, row]) => row.short);
    expect(short.map(([name]) => name).toSorted()).toEqual([
      'DescribeNamespace',
      'DescribeTable',
      'DescribeTableIndexStats',
      'DescribeTableVersion',
      'DescribeTransaction',
      'GetTableTagVersion',
      'ListNamespaces',
      'ListTableBranches',
      'ListTableIndices',
      'ListTableTags',
      'ListTableVersions',
      'ListTables',
      'NamespaceExists',
      'TableExists',
    ]);
    for (const [, row] of short) expect([row.changes, row.permission]).toEqual([false, 'read']);
  });
  test('a busy table leaves others alone', async () => {
    const gate = held(location);
    const pair = await restPair({
      namespace: stubNamespace({ describeTable: gate.method, tableExists: () => undefined }),
      limits: { maxInFlightPerTable: 1, maxQueuePerTable: 0 },
    });
    const first = ask(pair, 'POST', '/v1/table/a/describe', {});
    await vi.waitFor(() => expect(gate.waiting()).toBe(1));
    expect((await ask(pair, 'POST', '/v1/table/a/exists', {})).status).toBe(503);
    expect((await ask(pair, 'POST', '/v1/table/b/exists', {})).status).toBe(200);
    gate.release();
    expect((await first).status).toBe(200);
  });
});

describe('time', () => {
  test('a read that takes too long is a 503, and its signal is aborted', async () => {
    const gate = held(location);
    const pair = await restPair({
      namespace: stubNamespace({ describeTable: gate.method }),
      limits: { requestTimeoutMs: 30 },
    });
    const answer = await ask(pair, 'POST', '/v1/table/a/describe', {});
    expect(answer).toMatchObject({ status: 503, json: { code: 17 } });
    expect(gate.waiting()).toBe(0);
  });
  test.each(['inject', 'socket'] as const)(
    'the time that a LanceDB client gives a request ends its work: %s',
    async (wire) => {
      const gate = held(location);
      const pair = await restPair(
        { namespace: stubNamespace({ describeTable: gate.method, listTableTags: gate.method }) },
        { wire },
      );
      const headers = { 'x-request-timeout-ms': '20' };
      for (const path of ['describe/', 'tags/list/']) {
        const answer = await ask(pair, 'POST', `/v1/table/a/${path}`, {}, headers);
        expect(answer).toMatchObject({ status: 503, json: { code: 17 } });
        expect(answer.json.error).toContain('longer than 20 ms');
        expect(gate.waiting()).toBe(0);
      }
      // Neither no number nor the longest one ends it; nor does the header outside the dialect.
      const given = ['soon', '999999999'].map((text) =>
        ask(pair, 'POST', '/v1/table/a/describe/', {}, { 'x-request-timeout-ms': text }),
      );
      const plain = ask(pair, 'POST', '/v1/table/a/describe', {}, headers);
      await vi.waitFor(() => expect(gate.calls()).toBe(5));
      gate.release();
      for (const answer of [...given, plain]) expect((await answer).status).toBe(200);
    },
  );
  test('a write that takes too long may still be done, and says so', async () => {
    const gate = held({});
    const pair = await restPair({
      namespace: stubNamespace({ restoreTable: gate.method }),
      limits: { requestTimeoutMs: 30 },
    });
    await expect(pair.client.restoreTable({ id: ['a'], version: 1 })).rejects.toMatchObject({
      code: 'CommitStateUnknown',
    });
  });
  test.each(['inject', 'socket'] as const)(
    'what may take long is not cut, and ends with its caller: %s',
    async (wire) => {
      const gate = held({ removed: 0 });
      const waits = stubNamespace({ describeTable: gate.method });
      const verify = Object.assign(waits, { verify: gate.method });
      const limits = { requestTimeoutMs: 30 };
      const pair = await restPair({ namespace: verify, limits }, { wire, retries: 0 });
      const controller = new AbortController();
      const left = pair.client.verify({}, { signal: controller.signal });
      const kept = ask(pair, 'POST', '/v1/dirspace/namespace/$/verify', {});
      await vi.waitFor(() => expect(gate.waiting()).toBe(2));
      // Requests with a limit come and go meanwhile.
      for (let round = 0; round < 3; round++) {
        expect((await ask(pair, 'POST', '/v1/table/a/describe', {})).status).toBe(503);
      }
      expect(gate.waiting()).toBe(2);
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(left).rejects.toBe(reason);
      await vi.waitFor(() => expect(gate.waiting()).toBe(1));
      gate.release();
      expect((await kept).status).toBe(200);
    },
  );
  test('a socket that waits for what takes long stays open, and has its limit back after', async () => {
    const gate = held({});
    const limits = (): (number | undefined)[] => sockets.map(({ timeout }) => timeout);
    const sockets: Socket[] = [];
    const seen = (channel: unknown): void => {
      sockets.push((channel as { socket: Socket }).socket);
    };
    subscribe('http.server.request.start', seen);
    try {
      const namespace = Object.assign(stubNamespace(), { verify: gate.method });
      const pair = await restPair(
        { namespace, limits: { requestTimeoutMs: 70_000 } },
        { wire: 'socket' },
      );
      const work = ask(pair, 'POST', '/v1/dirspace/namespace/$/verify', {});
      await vi.waitFor(() => expect(gate.waiting()).toBe(1));
      expect(limits()).toEqual([0]);
      gate.release();
      expect((await work).status).toBe(200);
      // Kept for the next request, which has five seconds to come; or as long as any other.
      await vi.waitFor(() => expect(limits()[0]).toBeGreaterThan(0));
    } finally {
      unsubscribe('http.server.request.start', seen);
    }
  });
  test.each(['inject', 'socket'] as const)(
    'a caller that leaves aborts the signal: %s',
    async (wire) => {
      const gate = held(location);
      const pair = await restPair(
        { namespace: stubNamespace({ describeTable: gate.method }) },
        { wire },
      );
      const controller = new AbortController();
      const work = pair.client.describeTable({ id: ['a'] }, { signal: controller.signal });
      await vi.waitFor(() => expect(gate.waiting()).toBe(1));
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(work).rejects.toBe(reason);
      await vi.waitFor(() => expect(gate.waiting()).toBe(0));
    },
  );
  test.each(['inject', 'socket'] as const)(
    'rows that are not read to their end are let go: %s',
    async (wire) => {
      let ended = 0;
      const rows = someRows(100_000);
      const endless = {
        schema: rows.schema,
        async *[Symbol.asyncIterator]() {
          try {
            while (true) yield* rows;
          } finally {
            ended++;
          }
        },
      };
      const pair = await restPair(
        { namespace: stubNamespace({ queryTable: () => endless }) },
        { wire },
      );
      for await (const batch of await pair.client.queryTable({ id: ['a'], k: 500_000 })) {
        expect(batch.numRows).toBe(100_000);
        break;
      }
      await vi.waitFor(() => expect(ended).toBe(1));
    },
  );
});

describe('size', () => {
  test('a JSON body over the limit is a 413', async () => {
    const pair = await restPair(
      { namespace: stubNamespace(), limits: { maxJsonBytes: 100 } },
      { wire: 'socket' },
    );
    const body = { properties: { a: 'x'.repeat(200) } };
    expect(await ask(pair, 'POST', '/v1/namespace/a/create', body)).toMatchObject({
      status: 413,
      json: { type: '/errors/payload-too-large' },
    });
  });
  test.each(['inject', 'socket'] as const)(
    'an Arrow body over the limit is a 413, said in its length or not: %s',
    async (wire) => {
      const pair = await restPair(
        { root: temporaryFolder(), limits: { maxArrowBytes: 1000 } },
        { wire },
      );
      const bytes = await streamBytes(someRows(10_000));
      expect((await ask(pair, 'POST', '/v1/table/a/create', bytes, ARROW)).status).toBe(413);
      await expect(pair.client.createTable({ id: ['a'] }, someRows(10_000))).rejects.toMatchObject({
        status: 413,
      });
      expect((await ask(pair, 'POST', '/v1/table/a/exists', {})).status).toBe(404);
    },
  );
  test('unknown limits are refused', async () => {
    const limits = { maxJson: 1 } as object;
    await expect(createServer({ namespace: stubNamespace(), limits })).rejects.toMatchObject({
      code: 'InvalidInput',
    });
  });
});

describe('idempotency keys', () => {
  const key = { idempotencyKey: 'k-1' };
  test('the second write gets the answer of the first, which is done once', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createTable({ id: ['t'] }, someRows());
    const first = await pair.client.insertIntoTable({ id: ['t'] }, someRows(), key);
    const second = await pair.client.insertIntoTable({ id: ['t'] }, someRows(), key);
    expect(second.version).toBe(first.version);
    expect(second.context).toHaveProperty(['header.idempotent-replay'], 'true');
    expect((await pair.client.countTableRows({ id: ['t'] })).count).toBe(6);
  });
  test.each(['inject', 'socket'] as const)(
    'with other rows under the same key it is refused: %s',
    async (wire) => {
      const pair = await restPair({ root: temporaryFolder() }, { wire });
      await pair.client.createTable({ id: ['t'] }, someRows());
      const insert = async (rows: number): Promise<number> => {
        const headers = { ...ARROW, 'idempotency-key': 'k' };
        const bytes = await streamBytes(someRows(rows));
        return (await ask(pair, 'POST', '/v1/table/t/insert', bytes, headers)).status;
      };
      expect(await insert(5)).toBe(200);
      for (const rows of [4, 6, 100_000]) expect(await insert(rows)).toBe(422);
      expect(await insert(5)).toBe(200);
      expect((await pair.client.countTableRows({ id: ['t'] })).count).toBe(8);
    },
  );
  test.each(['inject', 'socket'] as const)(
    'another request after a restart is refused, the same one answered: %s',
    async (wire) => {
      const root = temporaryFolder();
      const send = async (
        path: string,
        body: unknown,
        headers: Record<string, string> = {},
      ): Promise<string> => {
        const pair = await restPair({ root }, { wire });
        const answer = await ask(pair, 'POST', path, body, { 'idempotency-key': 'k', ...headers });
        await pair.close();
        const { status, json } = answer;
        return `${status} ${json.version ?? json.detail}`;
      };
      const rows = (count: number): Promise<Uint8Array> => streamBytes(someRows(count));
      const insert = async (count: number, query = ''): Promise<string> =>
        send(`/v1/table/t/insert${query}`, await rows(count), ARROW);
      const merge = async (count: number): Promise<string> =>
        send('/v1/table/t/merge_insert?on=id&when_not_matched_insert_all=true', await rows(count), {
          ...ARROW,
          'idempotency-key': 'merge',
        });
      const remove = (predicate: string): Promise<string> =>
        send('/v1/table/t/delete', { predicate }, { 'idempotency-key': 'delete' });
      await send('/v1/table/t/create', await rows(3), { ...ARROW, 'idempotency-key': 'create' });
      const reused = expect.stringMatching(
        /^422 .* was [0-9a-z]{12,27}, and that of this one is [0-9a-z]{12,27}\./,
      );
      expect(await insert(50_000)).toBe('200 2');
      expect(await insert(50_000)).toBe('200 2');
      for (const count of [4, 49_999, 50_001]) expect(await insert(count)).toEqual(reused);
      expect(await insert(50_000, '?mode=overwrite')).toEqual(reused);
      expect(await merge(50_010)).toBe('200 3');
      expect(await merge(50_010)).toBe('200 3');
      expect(await merge(9)).toEqual(reused);
      expect(await remove('id > 9')).toBe('200 4');
      expect(await remove('id > 9')).toBe('200 4');
      expect(await remove('id > 8')).toEqual(reused);
      const pair = await restPair({ root });
      expect((await ask(pair, 'POST', '/v1/table/t/count_rows', {})).json).toBe(13);
      // Once found again, it is kept in memory, and stands for the same request there.
      const key = { ...ARROW, 'idempotency-key': 'k' };
      const again = async (count: number): Promise<number> =>
        (await ask(pair, 'POST', '/v1/table/t/insert', await rows(count), key)).status;
      expect([await again(50_000), await again(7), await again(50_000)]).toEqual([200, 422, 200]);
    },
  );
  test('it is found again after the server was restarted', async () => {
    const root = temporaryFolder();
    const before = await restPair({ root });
    await before.client.createTable({ id: ['t'] }, someRows());
    await before.client.insertIntoTable({ id: ['t'] }, someRows(), key);
    await before.close();
    const { client } = await restPair({ root });
    expect((await client.insertIntoTable({ id: ['t'] }, someRows(), key)).version).toBe(2);
    expect((await client.countTableRows({ id: ['t'] })).count).toBe(6);
  });
  test('concurrent ones wait for the first', async () => {
    const gate = held({ transaction_id: 'x' });
    const { client } = await restPair({ namespace: stubNamespace({ restoreTable: gate.method }) });
    const work = [1, 2, 3].map(() => client.restoreTable({ id: ['t'], version: 1 }, key));
    await vi.waitFor(() => expect(gate.waiting()).toBe(1));
    gate.release();
    for (const answer of await Promise.all(work)) expect(answer.transaction_id).toBe('x');
    expect(gate.calls()).toBe(1);
  });
  test('a failure that may pass is not kept', async () => {
    let calls = 0;
    const { client } = await restPair({
      namespace: stubNamespace({
        restoreTable: () => {
          calls++;
          if (calls === 1) throw new Error('odd');
          return {};
        },
      }),
    });
    const restore = (): Promise<unknown> => client.restoreTable({ id: ['t'], version: 1 }, key);
    await expect(restore()).rejects.toMatchObject({ code: 'Internal' });
    await restore();
    expect(calls).toBe(2);
  });
  test('a key stands for one request, and for one principal', async () => {
    const keys: unknown[] = [];
    const grants = [{ namespace: [], permission: 'admin' as const }];
    const pair = await restPair({
      namespace: stubNamespace({
        restoreTable: (_: unknown, options: CallOptions) => {
          keys.push(options.idempotencyKey);
          return {};
        },
      }),
      auth: {
        apiKeys: [
          { key: 'one-key', name: 'one', grants },
          { key: 'two-key', name: 'two', grants },
        ],
      },
    });
    const restore = (apiKey: string, version: number): ReturnType<typeof ask> =>
      ask(
        pair,
        'POST',
        '/v1/table/t/restore',
        { version },
        { 'x-api-key': apiKey, 'idempotency-key': 'k' },
      );
    expect((await restore('one-key', 1)).status).toBe(200);
    expect(await restore('one-key', 2)).toMatchObject({
      status: 422,
      json: {
        type: '/errors/idempotency-key-reused',
        detail: expect.stringMatching(/was [0-9a-f]{12}, and that of this one is [0-9a-f]{12}\./),
      },
    });
    // Nor for another operation, or another table.
    for (const [path, body] of [
      ['/v1/table/t/drop', {}],
      ['/v1/table/other/restore', { version: 1 }],
    ] as const) {
      const headers = { 'x-api-key': 'one-key', 'idempotency-key': 'k' };
      expect((await ask(pair, 'POST', path, body, headers)).status).toBe(422);
    }
    expect((await restore('two-key', 2)).status).toBe(200);
    expect(new Set(keys).size).toBe(2);
  });
});

describe('stopping', () => {
  test('requests under way are answered, new ones are not taken', async () => {
    const gate = held(location);
    const server = await createServer({ namespace: stubNamespace({ describeTable: gate.method }) });
    const send = (): Promise<Response> =>
      server.fetch('http://x/v1/table/a/describe', { method: 'POST' });
    const first = send();
    await vi.waitFor(() => expect(gate.waiting()).toBe(1));
    const closing = server.close();
    expect((await send().catch(() => ({ status: 503 }))).status).toBe(503);
    gate.release();
    expect((await first).status).toBe(200);
    await closing;
  });
  test('what does not end in time is aborted', async () => {
    const gate = held(location);
    const server = await startServer({
      namespace: stubNamespace({ describeTable: gate.method }),
      limits: { drainTimeoutMs: 20 },
    });
    const first = fetch(`${server.url}/v1/table/a/describe`, { method: 'POST' }).catch(
      () => undefined,
    );
    await vi.waitFor(() => expect(gate.waiting()).toBe(1));
    await server.close();
    await first;
    expect(gate.waiting()).toBe(0);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  });
  test('a catalog that was given stays open', async () => {
    const namespace = stubNamespace();
    await (await createServer({ namespace })).close();
    expect(namespace.closed).toBe(false);
    await sleep(0);
  });
});
