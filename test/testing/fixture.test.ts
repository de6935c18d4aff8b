/** Fixtures: seeded, put back, failing on purpose, and telling what was asked. */
import { afterEach, describe, expect, test } from 'vitest';
import { connectNamespace } from '../../src/index.ts';
import { parseSeed } from '../../src/testing/index.ts';
import { type Fixture, type FixtureOptions, fixture, type Seed } from '../../src/testing.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
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
    [{ table: [] }, 'has "table". Did you mean "tables"?'],
    [{ tables: [{ rows: [] }] }, 'tables[0].name, is no text'],
    [{ tables: [{ name: 'a' }] }, 'has neither rows nor a schema'],
    [{ tables: [{ name: 'a', rows: [1] }] }, 'tables[0].rows[0], is no object'],
    [{ tables: [{ name: 'a', rows: [{}], tags: [1] }] }, 'tables[0].tags, is no list of texts'],
    [{ namespaces: [{ path: [] }] }, 'namespaces[0].path, is empty'],
    [{ namespaces: [{ path: ['a'], properties: { b: 1 } }] }, 'properties.b, is no text'],
  ])('%j is refused', async (seed, message) => {
    await expect(fixture({ seed: seed as Seed })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(message),
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
    await expect(fixture({ seed: twice })).rejects.toMatchObject({ code: 'TableAlreadyExists' });
    await expect(fixture({ sed: {} } as object)).rejects.toThrow('Did you mean "seed"?');
  });
});

describe('a reset', () => {
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
    expect(made.requests()[0]).toMatchObject({ number: 1 });
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
    [[{ kind: 'error', time: 1 }], 'Did you mean "times"?'],
    [[null], '[0] is no object'],
    [Array.from({ length: 1_001 }, () => ({ kind: 'error' })), 'are 1001'],
  ])('%j are refused', async (faults, message) => {
    await expect(fixture({ faults: faults as never })).rejects.toThrow(message);
  });

  test('wait before the work', async () => {
    const made = await started({ faults: [{ operation: 'CountTableRows', delayMs: 5, times: 1 }] });
    expect(await (await fetch(`${made.url}${USER}/count_rows`, QUERY)).json()).toBe(2);
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

  test('has requests that came without a socket', async () => {
    const made = await started();
    const answer = await made.fetch(`${made.url}${USER}/count_rows`, QUERY);
    expect(await answer.json()).toBe(2);
    expect(made.requests()).toMatchObject([{ operation: 'CountTableRows', status: 200 }]);
  });
});
