/** Fixtures: seeded, put back, failing on purpose, and telling what was asked. */
import { connect as connectSocket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectNamespace } from '../../src/index.ts';
import { Journal } from '../../src/testing/journal.ts';
import { parseSeed } from '../../src/testing/seed.ts';
import { type Fixture, type FixtureOptions, fixture, type Seed } from '../../src/testing.ts';
import { rawAnswer } from '../helpers/raw-http.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of open.splice(0).reverse()) await close();
});

const SEED: Seed = {
  namespaces: [{ path: ['prod', 'search'], properties: { owner: 'team' } }],
  tables: [
    {
      name: 'user',
      path: ['prod', 'search'],
      rows: [
        { id: 1, name: 'Ada' },
        { id: 2, name: null },
      ],
      tags: ['first'],
    },
    { name: 'empty', schema: [{ name: 'id', type: 'int64', nullable: false }] },
  ],
};

async function started(options: FixtureOptions = {}): Promise<Fixture> {
  const made = await fixture({ seed: SEED, ...options });
  open.push(() => made.close());
  return made;
}

async function client({ url }: Fixture) {
  const db = await connectNamespace('rest', { uri: url });
  open.push(() => db.close());
  return db;
}

const post = (url: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${url}/v1/dirspace/${path}`, {
    method: 'POST',
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

const QUERY = {
  method: 'POST',
  body: '{"k": 10}',
  headers: { 'content-type': 'application/json' },
};
const USER = '/v1/table/prod$search$user';

describe('a seed', () => {
  test('makes namespaces, tables, rows and tags', async () => {
    const made = await started();
    const db = await client(made);
    expect((await db.describeNamespace(['prod', 'search'])).properties).toMatchObject({
      owner: 'team',
    });
    const users = await db.openTable('user', ['prod', 'search']);
    expect(await users.query().toArray()).toMatchObject(SEED.tables?.[0]?.rows ?? []);
    expect(await (await users.tags()).getVersion('first')).toBe(1);
    const empty = await db.openTable('empty');
    expect(await empty.countRows()).toBe(0);
    expect((await empty.schema()).fields[0]).toMatchObject({ name: 'id', nullable: false });
  });

  test('keeps the digits of integers', async () => {
    const rows = '[{"id": 9007199254740993}]';
    const seed = parseSeed(`{"tables": [{"name": "long", "rows": ${rows}}]}`);
    const long = await (await started({ seed })).catalog.openTable('long');
    expect(await long.query().toArray()).toMatchObject([{ id: 9007199254740993n }]);
    expect(() => parseSeed('{')).toThrow('The seed is no JSON');
  });

  test.each([
    [[], 'is no object'],
    [{ table: [] }, 'has "table"; it has namespaces, tables. Did you mean "tables"?'],
    [
      { tables: [{ status: 1 }] },
      'has "status"; it has name, path, schema, rows, properties, tags. A',
    ],
    [{ tables: [{ rows: [] }] }, 'tables[0].name, is no text'],
    [{ tables: [{ name: 'a' }] }, 'has neither rows nor a schema'],
    [{ tables: [{ name: 'a', rows: [1] }] }, 'tables[0].rows[0], is no object'],
    [{ tables: [{ name: 'a', rows: [{}], tags: [1] }] }, 'tables[0].tags, is no list of texts'],
    [{ namespaces: [{ path: [] }] }, 'namespaces[0].path, is empty'],
    [
      { namespaces: [{ path: ['a'] }, { path: ['a'] }] },
      'namespaces[1].path, is ["a"], which is listed',
    ],
    [{ namespaces: [{ path: ['a'], properties: { b: 1 } }] }, 'properties.b, is no text'],
  ])('%j is refused', async (seed, message) => {
    await expect(fixture({ seed: seed as Seed })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{ tables: [{ name: 'a/b', rows: [{}] }] }, 'tables[0], "a/b", cannot be made. '],
    [
      { tables: [{ name: 'a', path: ['p'], rows: [{ x: 1 }, { x: 'y' }] }] },
      'tables[0], "p/a", cannot be made. Row 1, column "x"',
    ],
    [
      { tables: [{ name: 'a', schema: [{ name: 'x', type: 'int65' }] }] },
      'tables[0], "a", cannot be made. schema: fields[0].type',
    ],
    [
      { namespaces: [{ path: ['b'] }, { path: ['A B'] }] },
      'namespaces[1], "A B", cannot be made. Component',
    ],
  ])('%j is refused with its place', async (seed, message) => {
    await expect(fixture({ seed: seed as Seed })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(message),
    });
  });

  test('gives a namespace its properties wherever it is listed', async () => {
    const properties = { owner: 'team' };
    const namespaces = [{ path: ['a', 'b'] }, { path: ['a'], properties }];
    const { catalog } = await started({ seed: { namespaces } });
    expect((await catalog.describeNamespace(['a'])).properties).toMatchObject(properties);
    expect(await catalog.namespaceExists(['a', 'b'])).toBe(true);
  });

  test('is copied, and takes nothing but data', async () => {
    const row = { id: 1 };
    const rows = [row];
    const fault = { kind: 'error' as 'error' | 'conflict', times: 1 };
    const made = await started({ seed: { tables: [{ name: 'a', rows }] }, faults: [fault] });
    rows.push({ id: 2 });
    row.id = 3;
    fault.kind = 'conflict';
    await made.reset();
    const list = `${made.url}/v1/namespace/$/table/list`;
    expect((await made.fetch(list)).status).toBe(500);
    expect(await (await made.catalog.openTable('a')).query().toArray()).toMatchObject([{ id: 1 }]);
    made.setFaults([fault]);
    fault.kind = 'error';
    expect((await made.fetch(list)).status).toBe(409);
    const odd = { tables: [{ name: 'a', rows: [{ id: () => 1 }] }] };
    await expect(fixture({ seed: odd })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('holds more than data'),
    });
  });

  test('that cannot be made leaves nothing open', async () => {
    const rows = [{ id: 1 }];
    const twice = {
      tables: [
        { name: 'a', rows },
        { name: 'a', rows },
      ],
    };
    await expect(fixture({ seed: twice })).rejects.toMatchObject({
      code: 'InvalidInput',
      message:
        'The seed, at tables[1], "a", cannot be made. Another table of the seed has its name.',
    });
    await expect(fixture({ sed: {} } as object)).rejects.toThrow('Did you mean "seed"?');
  });
});

describe('a reset', () => {
  test('that a close overtakes leaves no catalog open', async () => {
    const made = await started({});
    const reset = made.reset();
    await made.close();
    await reset;
    expect(made.catalog.isOpen()).toBe(false);
  });

  test('brings the seed back at the same address, for handles that are opened anew', async () => {
    const made = await started({ faults: [{ operation: 'ListTables', kind: 'error', times: 1 }] });
    const db = await client(made);
    const users = await db.openTable('user', ['prod', 'search']);
    await users.delete('true');
    await db.createTable('other', [{ x: 1 }]);
    made.setFaults([]);
    expect((await post(made.url, 'reset')).status).toBe(204);
    await expect(users.countRows()).rejects.toMatchObject({ code: 'TableNotFound' });
    expect(await (await db.openTable('user', ['prod', 'search'])).countRows()).toBe(2);
    expect(await made.catalog.tableExists('other')).toBe(false);
    // The faults of the beginning are there again.
    expect((await fetch(`${made.url}/v1/namespace/$/table/list`)).status).toBe(500);
    expect(made.requests()).toMatchObject([
      { operation: 'CountTableRows', number: 1 },
      {},
      {},
      { number: 4 },
    ]);
  });

  test('several at once leave one catalog, and the route can be left out', async () => {
    const made = await started({ resetRoute: false });
    await Promise.all([made.reset(), made.reset(), made.reset()]);
    expect(await made.catalog.tableNames()).toEqual(['empty']);
    expect((await post(made.url, 'reset')).status).toBe(404);
  });
});

describe('faults', () => {
  test('fail the operation so often, and let others pass', async () => {
    const made = await started();
    made.setFaults([{ operation: 'CountTableRows', kind: 'unavailable', after: 1, times: 2 }]);
    const statuses: number[] = [];
    for (let at = 0; at < 4; at++) {
      statuses.push((await fetch(`${made.url}${USER}/count_rows`, QUERY)).status);
    }
    expect(statuses).toEqual([200, 503, 503, 200]);
    expect((await fetch(`${made.url}/v1/namespace/$/table/list`)).status).toBe(200);
  });

  test('answer as servers of the protocol do', async () => {
    const made = await started();
    made.setFaults([{ kind: 'unavailable', times: 1 }, { kind: 'conflict' }]);
    const busy = await fetch(`${made.url}${USER}/count_rows`, QUERY);
    expect([busy.status, Number(busy.headers.get('retry-after'))]).toEqual([503, 1]);
    const conflict = await fetch(`${made.url}${USER}/count_rows`, QUERY);
    expect(conflict.status).toBe(409);
    expect(await conflict.json()).toMatchObject({ error: expect.stringContaining('faults') });
  });

  test('do no work before they fail, but where the answer is cut', async () => {
    const made = await started();
    const insert = (): Promise<Response> =>
      fetch(`${made.url}/v1/namespace/new/create`, { ...QUERY, body: '{}' });
    made.setFaults([{ kind: 'drop', times: 1 }]);
    await expect(insert()).rejects.toThrow('fetch failed');
    expect(await made.catalog.namespaceExists(['new'])).toBe(false);
    made.setFaults([{ kind: 'cut', times: 1 }]);
    await expect(insert().then((answer) => answer.text())).rejects.toThrow();
    expect(await made.catalog.namespaceExists(['new'])).toBe(true);
  });

  test('cut answers in their middle: their head and a part of them come', async () => {
    const made = await started();
    made.setFaults([{ kind: 'cut' }]);
    const request = `POST ${USER}/describe HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;
    const answer = await rawAnswer(made.url, request);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('{"');
    expect(answer).not.toMatch(/\}\s*$/);
  });

  test('cut streams of rows, which clients notice', async () => {
    const made = await started();
    const db = await client(made);
    const users = await db.openTable('user', ['prod', 'search']);
    made.setFaults([{ operation: 'QueryTable', kind: 'cut' }]);
    await expect(users.query().toArray()).rejects.toThrow();
  });

  test('are taken over HTTP, and wrong ones leave those that were there', async () => {
    const made = await started();
    expect((await post(made.url, 'faults', [{ kind: 'error', times: 1 }])).status).toBe(204);
    const wrong = await post(made.url, 'faults', [{ operation: 'QueryTables', kind: 'error' }]);
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('Did you mean \\"QueryTable\\"?');
    expect((await fetch(`${made.url}${USER}/count_rows`, QUERY)).status).toBe(500);
    expect((await fetch(`${made.url}${USER}/count_rows`, QUERY)).status).toBe(200);
  });

  test.each([
    [{}, 'are no list'],
    [[{}], 'has neither kind nor delayMs'],
    [[{ kind: 'slow' }], 'it is unavailable, conflict'],
    [[{ kind: 'error', times: -1 }], '[0].times is -1'],
    [[{ delayMs: 1e9 }], '[0].delayMs is 1000000000'],
    [
      [{ kind: 'error', time: 1 }],
      '[0] has "time"; it has operation, after, times, delayMs, kind. Did you mean "times"?',
    ],
    [[null], '[0] is no object'],
    [Array.from({ length: 1_001 }, () => ({ kind: 'error' })), 'are 1001'],
  ])('%j are refused', async (faults, message) => {
    await expect(fixture({ faults: faults as never })).rejects.toThrow(message);
  });

  /** A request that waits 300 s, by a clock that the test moves. */
  async function waiting(kind?: 'error') {
    const fault = { operation: 'CountTableRows', delayMs: 300_000, ...(kind && { kind }) };
    const made = await started({ faults: [fault] });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let status = 0;
    const answer = made.fetch(`${made.url}${USER}/count_rows`, QUERY).then((found) => {
      status = found.status;
      return found.text();
    });
    return { made, answer, status: () => status };
  }

  test.each([
    [undefined, 200],
    ['error' as const, 500],
  ])('wait as long as they say, then %j', async (kind, then) => {
    const { answer, status } = await waiting(kind);
    await vi.advanceTimersByTimeAsync(299_999);
    expect(status()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await answer;
    expect(status()).toBe(then);
  });

  test.each(['close', 'reset'] as const)('that wait end with a %s', async (what) => {
    const { made, answer, status } = await waiting();
    await made[what]();
    expect(await answer).toContain(what === 'close' ? 'is closing' : 'began anew');
    expect(status()).toBe(503);
    // It belongs to what was there before.
    if (what === 'reset') expect(made.requests()).toEqual([]);
  });

  test('that wait end when their caller leaves', async () => {
    const made = await started({ faults: [{ delayMs: 300_000 }] });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const leaving = new AbortController();
    const answer = made.fetch(`${made.url}${USER}/count_rows`, {
      ...QUERY,
      signal: leaving.signal,
    });
    leaving.abort();
    await expect(answer).rejects.toThrow('aborted');
    await vi.waitFor(() => expect(made.requests()).toHaveLength(1));
  });
});

describe('faked timers', () => {
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}` }));

  test('hold neither requests, calls, resets nor the close', async () => {
    const many: Seed = { tables: [{ name: 'many', rows }] };
    const made = await started({ seed: many });
    vi.useFakeTimers();
    const found = await fetch(`${made.url}/v1/table/many/count_rows`, {
      ...QUERY,
      body: `{"predicate": "lower(name) LIKE '%9%'"}`,
    });
    expect(await found.text()).toBe('6878');

    const db = await client(made);
    const remote = await db.openTable('many');
    await remote.add([{ id: 20_000, name: 'new' }]);
    const near = await made.catalog.openTable('many');
    await near.update({ where: 'id < 10', values: { name: 'old' } });
    await near.optimize();
    const first = await near.query().orderBy({ columnName: 'name' }).limit(1).toArray();
    expect(first).toEqual([{ id: 10, name: 'name 10' }]);
    await db.close();
    await near.close();

    await made.reset();
    expect(await (await made.catalog.openTable('many')).countRows()).toBe(20_000);
    await made.close();
  });

  test('do not hold a fixture that begins', async () => {
    vi.useFakeTimers();
    const made = await started({ ids: 'sequential', clock: '2026-01-01T00:00:00Z' });
    expect(await made.catalog.tableNames()).toEqual(['empty']);
  });
});

describe('the journal', () => {
  test('tells the newest requests without those of controls, and is emptied', async () => {
    const made = await started({ journal: 2 });
    const counting = `${USER}/count_rows?delimiter=$`;
    for (let at = 0; at < 3; at++) await fetch(made.url + counting, QUERY);
    await fetch(`${made.url}/nowhere`);
    const { requests } = (await (await fetch(`${made.url}/v1/dirspace/requests`)).json()) as {
      requests: object[];
    };
    expect(requests).toEqual([
      {
        number: 3,
        method: 'POST',
        path: counting,
        operation: 'CountTableRows',
        status: 200,
      },
      { number: 4, method: 'GET', path: '/nowhere', status: 404 },
    ]);
    expect((await post(made.url, 'requests/clear')).status).toBe(204);
    expect(made.requests()).toEqual([]);
  });

  test('hides what may be a key, also in addresses that are of nothing', async () => {
    const made = await started();
    const sent = [
      '/v1/table?api_key=secret&limit=5&token=secret',
      '/v1/table?secret',
      '/ui?ticket=secret&a%70i_key=secret',
    ];
    for (const path of sent) await fetch(made.url + path);
    expect(made.requests().map(({ path }) => path)).toEqual([
      '/v1/table?api_key=…&limit=5&token=…',
      '/v1/table?…',
      '/ui?ticket=…&a%70i_key=…',
    ]);
    await made.reset();
    const socket = connectSocket(Number(new URL(made.url).port), '127.0.0.1');
    socket.end(
      'GET http://me:secret@127.0.0.1/v1/table?secret HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
    );
    for await (const _ of socket);
    await made.fetch(`${made.url}/${'long/'.repeat(1_000)}?secret`);
    expect(made.requests().map(({ path }) => path)).toEqual([
      '/v1/table?…',
      `/${'long/'.repeat(1_000).slice(0, 4_095)}…`,
    ]);
  });

  test('tells that nothing was answered where the connection was dropped', async () => {
    const made = await started({ faults: [{ kind: 'drop' }] });
    await expect(fetch(`${made.url}/v1/table`)).rejects.toThrow('fetch failed');
    await expect(made.fetch(`${made.url}/v1/table`)).rejects.toThrow('fetch failed');
    const dropped = { method: 'GET', path: '/v1/table', operation: 'ListAllTables' };
    expect(made.requests()).toEqual([
      { number: 1, ...dropped },
      { number: 2, ...dropped },
    ]);
  });

  test('keeps the newest, oldest first', async () => {
    const made = await started({ journal: 3 });
    for (let at = 1; at <= 8; at++) {
      await made.fetch(`${made.url}/${at}`);
      const kept = made.requests().map(({ path }) => Number(path.slice(1)));
      expect(kept).toEqual([at - 2, at - 1, at].filter((one) => one > 0));
    }
  });

  test('passes over a request that came before it was emptied and is answered afterwards', () => {
    const journal = new Journal(2);
    const begun = performance.now();
    const request = { method: 'GET', path: '/', status: 200 };
    vi.spyOn(performance, 'now').mockReturnValueOnce(begun + 1);
    journal.clear();
    journal.add(request, begun);
    journal.add(request, begun + 2);
    expect(journal.newest()).toEqual([{ number: 1, ...request }]);
  });

  test.each([0, Number.NaN, 'x', -1, 1.5, 1e9])('cannot keep %j requests', async (journal) => {
    await expect(fixture({ journal: journal as number })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: `The option journal is ${typeof journal === 'number' ? journal : '"x"'}; it is a whole number of requests from 1 to 1000000.`,
    });
  });

  test('has requests that came without a socket', async () => {
    const made = await started();
    const answer = await made.fetch(`${made.url}${USER}/count_rows`, QUERY);
    expect(await answer.json()).toBe(2);
    expect(made.requests()).toMatchObject([{ operation: 'CountTableRows', status: 200 }]);
  });
});

test.each([
  [{ port: '80' }, 'The option port is "80"; it is a whole number from 0 to 65535'],
  [{ port: -1 }, 'The option port is -1;'],
  [{ port: 70_000 }, 'The option port is 70000;'],
  [{ ui: 1 }, 'The option ui is 1; it is true or false.'],
  [{ resetRoute: 'no' }, 'The option resetRoute is "no"; it is true or false.'],
])('the options %j are refused', async (options, message) => {
  await expect(fixture(options as never)).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining(message),
  });
});
