/** Requests that are sent half: what a caller can hold of others with them, and for how long. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Arrivals, isWhole, PaceKeeper } from '../../src/server/http/arrivals.ts';
import { Gate, QueueCount } from '../../src/server/settings/limits.ts';
import type { ServerOptions } from '../../src/server.ts';
import { type RawConnection, rawConnection } from '../helpers/raw-http.ts';
import { ARROW, ask, type Pair, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const JSON_TYPE = 'application/json';
const DESCRIBE = '/v1/table/t/describe';
const INSERT = '/v1/table/t/insert';
const keyOf = (name: string) => ({ 'x-api-key': `${name}-key` });

const open: RawConnection[] = [];
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
});

const apiKeys = [
  { key: 'slow-key', name: 'slow', grants: ['write:$'] as const },
  { key: 'other-key', name: 'other', grants: ['write:$'] as const },
  { key: 'nobody-key', name: 'nobody', grants: [] },
  {
    key: 'elsewhere-key',
    name: 'elsewhere',
    grants: [{ namespace: '$', permission: 'admin' as const, database: 'elsewhere' }],
  },
];

/** A server with a table of three rows. */
async function serve(
  limits: ServerOptions['limits'] = {},
  auth: ServerOptions['auth'] = { apiKeys },
): Promise<Pair> {
  const root = temporaryFolder();
  const options = { databases: { db: root }, limits, ...(auth && { auth }) };
  const pair = await restPair(options, { wire: 'socket' });
  const headers = { ...ARROW, ...keyOf('other') };
  const made = await ask(pair, 'POST', '/v1/table/t/create', await streamBytes(), headers);
  expect(made.status).toBe(200);
  return pair;
}

/** A request with a body that is longer than what is sent of it. */
function half(
  { base }: Pair,
  path: string,
  headers: Readonly<Record<string, string>>,
  sent: string | Uint8Array = '',
): RawConnection {
  const lines = Object.entries({ host: 'localhost', 'content-length': '900000', ...headers });
  const connection = rawConnection(
    base,
    `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  if (sent.length > 0) connection.socket.write(sent);
  open.push(connection);
  return connection;
}

const connected = (connections: readonly RawConnection[]): Promise<unknown> =>
  Promise.all(
    connections.map(({ socket }) =>
      socket.connecting ? new Promise((resolve) => socket.once('connect', resolve)) : undefined,
    ),
  );

/** Whether another caller is served as ever. */
async function served(pair: Pair, name = 'other'): Promise<number[]> {
  const bytes = await streamBytes();
  return [
    (await ask(pair, 'POST', DESCRIBE, {}, keyOf(name))).status,
    (await ask(pair, 'POST', INSERT, bytes, { ...ARROW, ...keyOf(name) })).status,
  ];
}

describe('half requests of one key', () => {
  test('256 of each kind leave describe and insert to another key', async () => {
    const pair = await serve();
    const slow = keyOf('slow');
    const some = (await streamBytes(someRows(100))).subarray(0, 200);
    const sent = Array.from({ length: 256 }, () => [
      half(pair, DESCRIBE, { ...slow, 'content-type': JSON_TYPE }, '{'),
      half(pair, INSERT, { ...slow, ...ARROW }),
      half(pair, INSERT, { ...slow, ...ARROW }, some),
    ]).flat();
    await connected(sent);
    for (let times = 0; times < 3; times++) expect(await served(pair)).toEqual([200, 200]);
    // Of the same key those too that come whole.
    expect((await ask(pair, 'POST', '/v1/table/u/exists', {}, keyOf('slow'))).status).toBe(404);
  });

  test('hold no place before the first bytes of their body, and then a share of them', async () => {
    const limits = { maxInFlight: 4, maxQueue: 4, maxInFlightPerTable: 4, maxQueuePerTable: 4 };
    const pair = await serve(limits);
    const slow = { ...keyOf('slow'), ...ARROW };
    const some = (await streamBytes(someRows(100))).subarray(0, 200);
    const waiting = Array.from({ length: 9 }, () => half(pair, INSERT, slow));
    await connected(waiting);
    expect(await served(pair, 'slow')).toEqual([200, 200]);
    for (const { socket } of waiting) socket.write(some);
    // Two have places, two wait for theirs.
    await vi.waitFor(() =>
      expect(waiting.filter(({ text }) => text().startsWith('HTTP/1.1 503 '))).toHaveLength(5),
    );
    // What looks something up has places of its own.
    expect(await served(pair, 'slow')).toEqual([200, 503]);
    expect(await served(pair)).toEqual([200, 200]);
  });

  test('where there is no auth, the address that they come from is the caller', async () => {
    const limits = { maxInFlight: 2, maxQueue: 0, maxInFlightPerTable: 2, maxQueuePerTable: 0 };
    const root = temporaryFolder();
    const pair = await restPair({ root, limits }, { wire: 'socket' });
    await ask(pair, 'POST', '/v1/table/t/create', await streamBytes(), ARROW);
    half(pair, INSERT, ARROW, (await streamBytes(someRows(100))).subarray(0, 200));
    await vi.waitFor(async () => expect(await served(pair)).toEqual([200, 503]));
    const count = '{"predicate":"true"}';
    const other = rawConnection(
      pair.base,
      `POST /v1/table/t/count_rows HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: ${count.length}\r\n\r\n${count}`,
      '127.0.0.2',
    );
    expect(await other.closed).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test('1,000 half bodies without credentials leave an identity in a body to be read', async () => {
  const pair = await serve();
  const body = { identity: { api_key: 'other-key' } };
  const sent = Array.from({ length: 1_000 }, () =>
    half(pair, DESCRIBE, { 'content-type': JSON_TYPE, 'content-length': '100' }, '{'),
  );
  await connected(sent);
  for (let times = 0; times < 5; times++) {
    expect((await ask(pair, 'POST', DESCRIBE, body)).status).toBe(200);
  }
  expect(await served(pair)).toEqual([200, 200]);
});

describe('a key that may do nothing here', () => {
  test.each(['nobody', 'elsewhere'])('is refused before it holds anything: %s', async (name) => {
    const pair = await serve({ maxInFlight: 1, maxQueue: 0, maxArriving: 1 });
    const refused = half(pair, DESCRIBE, {
      ...keyOf(name),
      'x-service-database': 'db',
      'content-type': JSON_TYPE,
    });
    // Nothing of its body is there yet.
    await vi.waitFor(() => expect(refused.text()).toMatch(/^HTTP\/1\.1 403 /));
    const arrow = half(pair, INSERT, { ...keyOf(name), 'x-service-database': 'db', ...ARROW });
    await vi.waitFor(() => expect(arrow.text()).toMatch(/^HTTP\/1\.1 403 /));
    expect(await served(pair)).toEqual([200, 200]);
  });
});

describe('a body that is too slow', () => {
  const limits = { bodyIdleMs: 50, minBodyRate: 1_000_000 };
  const told = async (connection: RawConnection): Promise<void> => {
    await vi.waitFor(() => expect(connection.text()).toMatch(/\}$/));
    const text = connection.text();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('/errors/request-timeout');
    expect(text).toContain('50 ms');
  };

  test('stands still: JSON, Arrow data without a byte, and after some', async () => {
    const pair = await serve(limits);
    const key = keyOf('slow');
    await told(half(pair, DESCRIBE, { ...key, 'content-type': JSON_TYPE }, '{'));
    await told(half(pair, INSERT, { ...key, ...ARROW }));
    const bytes = await streamBytes(someRows(1_000));
    await told(half(pair, INSERT, { ...key, ...ARROW }, bytes.subarray(0, 600)));
    // With its rows, but not its end.
    await told(half(pair, INSERT, { ...key, ...ARROW }, bytes));
    expect((await ask(pair, 'POST', '/v1/table/t/count_rows', {}, key)).json).toBe(3);
  });

  test('or comes byte by byte', async () => {
    const pair = await serve(limits);
    const bytes = await streamBytes();
    for (const [path, type] of [
      [DESCRIBE, JSON_TYPE],
      [INSERT, ARROW['content-type']],
    ] as const) {
      const connection = half(pair, path, { ...keyOf('slow'), 'content-type': type });
      let at = 0;
      const drip = setInterval(() => {
        connection.socket.write(type === JSON_TYPE ? ' ' : bytes.subarray(at, at + 1));
        at++;
      }, 5);
      await told(connection);
      clearInterval(drip);
    }
  });
});

describe('PaceKeeper', () => {
  const spent = async (steps: (keeper: PaceKeeper, pass: typeof pass_) => Promise<void>) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const reasons: unknown[] = [];
      const pace = { bodyIdleMs: 1_000, minBodyRate: 100 };
      const keeper = new PaceKeeper(pace, { abort: (reason) => void reasons.push(reason) });
      await steps(keeper, pass_);
      return reasons.length;
    } finally {
      vi.useRealTimers();
    }
  };
  const pass_ = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

  test('counts the time in which the sender is waited for alone', async () => {
    const steps = async (keeper: PaceKeeper, pass: typeof pass_): Promise<void> => {
      keeper.wait();
      await pass(900);
      keeper.came(5);
      await pass(100_000);
      keeper.wait();
      await pass(149);
      keeper.came(0);
    };
    expect(await spent(steps)).toBe(0);
    expect(
      await spent(async (keeper, pass) => {
        await steps(keeper, pass);
        keeper.wait();
        await pass(2);
      }),
    ).toBe(1);
  });

  test('no body saves up more time than it may stand still', async () => {
    const save = (wait: number) => async (keeper: PaceKeeper, pass: typeof pass_) => {
      keeper.wait();
      keeper.came(1_000_000);
      keeper.wait();
      await pass(wait);
    };
    expect(await spent(save(999))).toBe(0);
    expect(await spent(save(1_001))).toBe(1);
  });
});

describe('Arrivals', () => {
  const begin = (limit: number) => {
    const arrivals = new Arrivals(limit, 'maxArriving');
    const gone: string[] = [];
    const enter = (caller: string, name: string) =>
      arrivals.enter(caller, {
        abort: (reason) => {
          expect(reason).toMatchObject({ code: 'Throttling', details: { limit: 'maxArriving' } });
          gone.push(name);
        },
      });
    return { enter, gone };
  };

  test('the caller who has most gives up the one that stood still longest', () => {
    const { enter, gone } = begin(4);
    const first = enter('many', 'many 1');
    enter('one', 'one 1');
    enter('many', 'many 2');
    enter('many', 'many 3');
    first.moved();
    enter('new', 'new 1');
    expect(gone).toEqual(['many 2']);
    enter('new', 'new 2');
    expect(gone).toEqual(['many 2', 'many 3']);
  });

  test('what has left, or gave way, counts no more', () => {
    const { enter, gone } = begin(1);
    for (let at = 0; at < 3; at++) {
      const arrival = enter('a', `a ${at}`);
      arrival.leave();
      arrival.leave();
      arrival.moved();
    }
    expect(gone).toEqual([]);
    const last = enter('a', 'last');
    enter('b', 'b');
    expect(gone).toEqual(['last']);
    last.moved();
    last.leave();
    enter('c', 'c');
    expect(gone).toEqual(['last', 'b']);
  });
});

test('pieces that wait for their reader are no whole body, though they are as many as its bytes', async () => {
  const body = Readable.from([Buffer.from('{'), Buffer.from('}')]);
  await once(body, 'readable');
  expect(body.readableLength).toBeGreaterThan(0);
  expect(isWhole(body, String(body.readableLength))).toBe(false);
});

describe('Gate', () => {
  const gateOf = (places: number, line: number, share: number): Gate =>
    new Gate({
      places,
      line,
      share,
      timeoutMs: 60_000,
      lineName: 'maxQueue',
      count: new QueueCount(),
    });
  const { signal } = new AbortController();

  test('makes no signal for those who need not wait', () => {
    const gate = gateOf(1, 1, 1);
    const waiter = {
      get signal(): AbortSignal {
        throw new Error('a signal was asked for');
      },
    };
    expect(gate.enter('it', 'a', waiter)).toBeTypeOf('function');
    expect(() => void gate.enter('it', 'a', waiter)).toThrow('a signal was asked for');
  });
  test('callers take turns, and none has more than its share', async () => {
    const gate = gateOf(4, 8, 0.5);
    const entered: string[] = [];
    const leave: Record<string, () => void> = {};
    const enter = (caller: string, name: string): void => {
      const got = gate.enter('it', caller, { signal });
      const note = (release: () => void): void => {
        entered.push(name);
        leave[name] = release;
      };
      if (typeof got === 'function') note(got);
      else void got.then(note);
    };
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) enter('a', name);
    expect(entered).toEqual(['a1', 'a2']);
    expect(() => enter('a', 'a7')).toThrow(expect.objectContaining({ code: 'Throttling' }));
    for (const name of ['b1', 'b2', 'b3']) enter('b', name);
    enter('c', 'c1');
    expect(entered).toEqual(['a1', 'a2', 'b1', 'b2']);
    leave.b1?.();
    await settle();
    expect(entered.slice(4)).toEqual(['b3']);
    leave.a1?.();
    await settle();
    // Its turn was before that of the one who waited less.
    expect(entered.slice(5)).toEqual(['a3']);
    leave.b2?.();
    await settle();
    expect(entered.slice(6)).toEqual(['c1']);
    leave.c1?.();
    await settle();
    // A place is free, and its share is used up.
    expect(entered).toHaveLength(7);
    for (const name of ['a2', 'a3', 'a4', 'a5', 'a6', 'b3']) {
      leave[name]?.();
      await settle();
    }
    expect(entered.slice(7)).toEqual(['a4', 'a5', 'a6']);
    expect(gate.idle).toBe(true);
    expect(gate.callers).toBe(0);
  });

  test('keeps nothing of those that it refused, or that left', async () => {
    const gate = gateOf(1, 1, 1);
    const release = gate.enter('it', 'a', { signal }) as () => void;
    const leaver = new AbortController();
    const waiting = gate.enter('it', 'b', leaver) as Promise<unknown>;
    for (const caller of ['c', 'd']) {
      expect(() => gate.enter('it', caller, { signal })).toThrow(/Too many requests/);
    }
    leaver.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await expect(gate.enter('it', 'e', leaver)).rejects.toThrow('left');
    expect(gate.callers).toBe(1);
    release();
    expect(gate.callers).toBe(0);
  });
});

test.each([0, 1.5])('callerShare is a share: %d is refused', async (callerShare) => {
  await expect(
    restPair({ root: temporaryFolder(), limits: { callerShare } }),
  ).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('callerShare'),
  });
});

test('half a body that stands still gives way where its memory is wanted by others', async () => {
  const pair = await serve({ serverMemory: 8_000_000, requestMemory: 8_000_000, bodyIdleMs: 0 });
  const slow = { ...keyOf('slow'), 'content-type': JSON_TYPE };
  const text = `{"predicate":"${'x'.repeat(600_000)}`;
  // Two of them have five of eight megabytes.
  const holding = [half(pair, DESCRIBE, slow, text), half(pair, DESCRIBE, slow, text)];
  const wanted = { predicate: `id = 1 OR 'z' = '${'y'.repeat(900_000)}'` };
  const describe = () => ask(pair, 'POST', '/v1/table/t/count_rows', wanted, keyOf('other'));
  await vi.waitFor(async () => expect((await describe()).status).toBe(503), { timeout: 20_000 });
  await vi.waitFor(async () => expect((await describe()).status).toBe(200), { timeout: 30_000 });
  const ended = holding.filter(({ text: answer }) => answer() !== '');
  expect(ended.length).toBeGreaterThan(0);
  for (const { text: answer } of ended) {
    expect(answer()).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer()).toContain('came slower than 64 KiB a second');
  }
}, 60_000);

test('a caller who leaves while the credentials are checked keeps no place', async () => {
  const checks: (() => void)[] = [];
  const ended: string[] = [];
  const principal = { name: 'one', grants: ['read:$'] as const };
  const pair = await restPair(
    {
      root: temporaryFolder(),
      limits: { maxInFlight: 1, maxQueue: 0 },
      logger: { info: (_, message) => void ended.push(message) },
      auth: {
        authenticate: async ({ token }) => {
          if (token === 'slow') await new Promise<void>((resolve) => checks.push(resolve));
          return principal;
        },
      },
    },
    { wire: 'socket' },
  );
  const list = '/v1/namespace/$/list';
  // One has a place by then, and is refused afterwards.
  const head = `GET ${list}?limit=none HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer slow\r\n\r\n`;
  const { socket } = rawConnection(pair.base, head);
  await vi.waitFor(() => expect(checks).toHaveLength(1));
  socket.destroy();
  await vi.waitFor(() => expect(ended).toContain('client gone'));
  for (const finish of checks) finish();
  await new Promise(setImmediate);
  const { status } = await ask(pair, 'GET', list, undefined, { authorization: 'Bearer quick' });
  expect(status).toBe(200);
});
