/** The rules of the specification, one test each, named after the rule. */
import { beforeAll, describe, expect, test } from 'vitest';
import { RestNamespace } from '../../src/client/client.ts';
import { DirspaceError, type ErrorCode } from '../../src/errors.ts';
import { ARROW, ask, type Pair, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { type Answers, stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let real: Pair;

beforeAll(async () => {
  real = await restPair({ root: temporaryFolder() });
  await real.client.createNamespace({ id: ['prod'], properties: { owner: 'me' } });
  await real.client.createTable({ id: ['prod', 'user'], properties: { kind: 'x' } }, someRows());
  await real.client.insertIntoTable({ id: ['prod', 'user'] }, someRows(1));
  await real.client.createTableTag({ id: ['prod', 'user'], tag: 'first', version: 1 });
  await real.client.createTableBranch({ id: ['prod', 'user'], name: 'dev' });
  await real.client.declareTable({ id: ['prod', 'declared'] });
});

const describeUser = (body: unknown, query = ''): ReturnType<typeof ask> =>
  ask(real, 'POST', `/v1/table/prod$user/describe${query}`, body);

/** What a catalog hears when a server with it is asked. */
async function heard(method: string, path: string, body?: unknown): Promise<unknown> {
  let request: unknown;
  const hear = (found: unknown): object => {
    request = found;
    return {};
  };
  const namespace = stubNamespace({ describeTable: hear, createNamespace: hear });
  await ask(await restPair({ namespace }), method, path, body);
  return request;
}

describe('namespace identifier in REST paths', () => {
  test('the components are joined by a delimiter, which is $ when not specified', async () => {
    expect(await heard('POST', '/v1/table/a$b$c/describe', {})).toEqual({ id: ['a', 'b', 'c'] });
    expect(await heard('POST', '/v1/table/a%24b/describe', {})).toEqual({ id: ['a', 'b'] });
  });
  test('a delimiter parameter names another one', async () => {
    expect(await heard('POST', '/v1/table/a.b/describe?delimiter=.', {})).toEqual({
      id: ['a', 'b'],
    });
    expect(await heard('POST', '/v1/table/a%2Fb/describe?delimiter=%2F', {})).toEqual({
      id: ['a', 'b'],
    });
  });
  test('slashes that are doubled, as by a base address that ends in one, are one', async () => {
    expect(await heard('POST', '//v1///table/a$b/describe?delimiter=%24', {})).toEqual({
      id: ['a', 'b'],
    });
    const path = '//v1/namespace/a%2F%2Fb/create?delimiter=//';
    expect(await heard('POST', path, {})).toEqual({ id: ['a', 'b'] });
  });
  test('an id equal to the delimiter denotes the root namespace', async () => {
    for (const path of [
      '/v1/namespace/$/list',
      '/v1/namespace/%24/list',
      '/v1/namespace/-/list?delimiter=-',
    ]) {
      expect((await ask(real, 'GET', path)).json).toEqual({ namespaces: ['prod'] });
    }
  });
  test.each(['a b', 'ü', 'a*', ''])('a component must be legal: %j is refused', async (name) => {
    const path = `/v1/table/prod$${encodeURIComponent(name)}/describe`;
    expect(await ask(real, 'POST', path, {})).toMatchObject({ status: 400, json: { code: 13 } });
  });
  test.each(['a', 'A_b-c.9', '-', '_'])('the component %j is legal', async (name) => {
    expect((await ask(real, 'POST', `/v1/table/prod$${name}/describe`, {})).status).toBe(404);
  });
  test('an id in the body that disagrees with the path is refused', async () => {
    expect((await describeUser({ id: ['prod', 'user'] })).status).toBe(200);
    expect(await describeUser({ id: ['prod', 'other'] })).toMatchObject({
      status: 400,
      json: { code: 13 },
    });
  });
});

describe('errors', () => {
  const table: [number, string, string, ErrorCode][] = [
    [400, '/errors/bad-request', 'Malformed request', 'InvalidInput'],
    [
      401,
      '/errors/unauthorized-request',
      'No valid authentication credentials for the operation',
      'Unauthenticated',
    ],
    [403, '/errors/forbidden-request', 'Not authorized to make this request', 'PermissionDenied'],
    [404, '/errors/not-found-error', 'Not found Error', 'TableNotFound'],
    [500, '/errors/server-error', 'Internal Server Error', 'Internal'],
    [503, '/errors/service-unavailable', 'Slow down', 'ServiceUnavailable'],
  ];
  test.each(table)('status %i has type %s and title %s', async (status, type, title, code) => {
    const failing: Answers = {
      describeTable: () => {
        throw new DirspaceError(code, 'said so');
      },
    };
    const pair = await restPair({ namespace: stubNamespace(failing) });
    const { json, headers, ...answer } = await ask(
      pair,
      'POST',
      '/v1/table/t/describe?check_declared=true',
      {},
    );
    expect(answer.status).toBe(status);
    expect(headers.get('content-type')).toMatch('application/json');
    expect(json).toMatchObject({ type, title, status, instance: '/v1/table/t/describe' });
    expect(typeof json.detail).toBe('string');
    expect(typeof json.error).toBe('string');
    expect(Number.isInteger(json.code)).toBe(true);
    expect(headers.has('retry-after')).toBe(status === 503);
    await expect(pair.client.dropTable({ id: ['t'] })).rejects.toMatchObject({
      code: 'Unsupported',
    });
    await expect(
      new RestNamespace({ uri: pair.base, fetch: pair.fetch, retries: 0 }).describeTable({
        id: ['t'],
      }),
    ).rejects.toMatchObject({ code, status });
  });
  test('an unknown failure is an opaque 500 with the id of the request, and is logged', async () => {
    const lines: unknown[] = [];
    const pair = await restPair({
      namespace: stubNamespace({
        describeTable: () => {
          throw new Error('ENOENT: /secret/path');
        },
      }),
      logger: { error: (fields) => void lines.push(fields) },
    });
    const { json, text } = await ask(
      pair,
      'POST',
      '/v1/table/t/describe',
      {},
      { 'x-request-id': 'r-1' },
    );
    expect(json).toMatchObject({ status: 500, code: 18 });
    expect(json.detail).toContain('r-1');
    expect(text).not.toMatch(/secret|ENOENT|\.ts|stack/);
    expect(JSON.stringify(lines)).toContain('/secret/path');
  });
  test('an unknown route is a 404 with an error body', async () => {
    expect(await ask(real, 'GET', '/v1/nothing')).toMatchObject({
      status: 404,
      json: { type: '/errors/not-found-error', instance: '/v1/nothing' },
    });
  });
});

describe('headers', () => {
  async function sent(properties: Record<string, string>): Promise<Headers> {
    const { connectNamespace } = await import('../../src/sdk/connect.ts');
    let headers = new Headers();
    const connection = await connectNamespace(
      'rest',
      { uri: 'http://x', ...properties },
      {
        fetch: async (_, init) => {
          headers = new Headers(init.headers);
          return new Response('{"tables":[]}', { headers: { 'x-served-by': 'me' } });
        },
      },
    );
    await connection.tableNames();
    return headers;
  }
  test('every headers. property is forwarded with the prefix removed', async () => {
    const headers = await sent({
      'headers.Authorization': 'Bearer t',
      'headers.x-api-key': 'k',
      'headers.X-Service-Database': 'db',
    });
    expect(headers.get('authorization')).toBe('Bearer t');
    expect(headers.get('x-api-key')).toBe('k');
    expect(headers.get('x-service-database')).toBe('db');
  });
  test('context entries that start with header. become request headers', async () => {
    const seen: Headers[] = [];
    const bodies: unknown[] = [];
    const client = new RestNamespace({
      uri: 'http://x',
      fetch: async (_, init) => {
        seen.push(new Headers(init.headers));
        bodies.push(JSON.parse(String(init.body)));
        return new Response('{}');
      },
    });
    await client.describeTable({ id: ['t'], context: { 'header.x-trace': '7', plain: 'p' } });
    expect(seen[0]?.get('x-trace')).toBe('7');
    expect(bodies).toEqual([{ context: { plain: 'p' } }]);
  });
  test('every response header is a context entry', async () => {
    const client = new RestNamespace({
      uri: 'http://x',
      fetch: async () =>
        new Response('{"context":{"a":"b"}}', { headers: { 'X-Served-By': 'me' } }),
    });
    const { context } = await client.describeTable({ id: ['t'] });
    expect(context).toMatchObject({ a: 'b', 'header.x-served-by': 'me' });
  });
  test('header. entries of a body do not reach the catalog behind the server', async () => {
    const context = { 'header.authorization': 'stolen', plain: 'p' };
    expect(await heard('POST', '/v1/table/t/describe', { context })).toEqual({
      id: ['t'],
      context: { plain: 'p' },
    });
  });
});

describe('request ids', () => {
  test("every answer has one: the caller's where it is a plain one, a new one otherwise", async () => {
    const idOf = async (path: string, headers: Record<string, string>): Promise<string | null> =>
      (await ask(real, 'GET', path, undefined, headers)).headers.get('x-request-id');
    for (const path of ['/v1/table', '/v1/nothing', '/health', '/v1/namespace/missing/list']) {
      expect(await idOf(path, { 'x-request-id': 'mine-1.2_3' })).toBe('mine-1.2_3');
      const made = await idOf(path, {});
      expect(made).toMatch(/^[0-9a-f-]{36}$/);
      expect(await idOf(path, { 'x-request-id': 'a b' })).not.toBe('a b');
      expect(await idOf(path, { 'x-request-id': 'x'.repeat(129) })).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('verification sequence', () => {
  test('list tables with GET, create a table with POST, list again and it is there', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    const headers = { 'x-api-key': 'k', 'x-service-database': 'db' };
    expect((await ask(pair, 'GET', '/v1/tables', undefined, headers)).json).toEqual({ tables: [] });
    const bytes = await streamBytes();
    const created = await ask(pair, 'POST', '/v1/tables/words', bytes, { ...headers, ...ARROW });
    expect(created).toMatchObject({ status: 200, json: { version: 1 } });
    expect((await ask(pair, 'GET', '/v1/tables', undefined, headers)).json).toEqual({
      tables: ['words'],
    });
    const again = await ask(pair, 'POST', '/v1/tables/words', bytes, { ...headers, ...ARROW });
    expect(again).toMatchObject({ status: 409, json: { code: 5 } });
  });
  test('GET /v1/tables pages, and spells ids with the delimiter that is asked for', async () => {
    const path = '/v1/tables?limit=1&delimiter=%2F';
    const first = (await ask(real, 'GET', path)).json;
    expect(first.tables).toEqual(['prod/declared']);
    const next = await ask(
      real,
      'GET',
      `${path}&page_token=${encodeURIComponent(first.page_token)}`,
    );
    expect(next.json).toEqual({ tables: ['prod/user'] });
  });
});
