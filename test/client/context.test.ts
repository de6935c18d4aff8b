/** Context and identity of the client's requests: what is sent where, what comes back, what is refused. */
import { describe, expect, test } from 'vitest';
import { RestNamespace } from '../../src/client/client.ts';
import type { RestOptions } from '../../src/client/client-options.ts';
import { type DirspaceError, isDirspaceError } from '../../src/errors.ts';
import type { CallOptions } from '../../src/protocol/namespace.ts';
import { ask, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

interface Sent {
  readonly headers: Headers;
  readonly body: unknown;
}

/** A client whose server answers everything so, and what it was sent. */
function answering(
  answer: () => Response,
  options: Partial<RestOptions> = {},
): { client: RestNamespace; sent: Sent[] } {
  const sent: Sent[] = [];
  const client = new RestNamespace({
    uri: 'http://x',
    retries: 0,
    fetch: async (_, { headers, body }) => {
      const text = typeof body === 'string' ? JSON.parse(body) : body;
      sent.push({ headers: new Headers(headers), body: text });
      return answer();
    },
    ...options,
  });
  return { client, sent };
}

const T = { id: ['t'] };
const SERVED = { 'X-Served-By': 'me' };

async function failure(work: Promise<unknown>): Promise<DirspaceError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isDirspaceError(error)) return error;
  throw new Error(`It did not fail as it should: ${error}`);
}

describe('the context of an answer', () => {
  /** What `onContext` hears of a call. */
  async function heard(
    call: (client: RestNamespace, options: CallOptions) => Promise<unknown>,
    answer: () => Response,
  ): Promise<unknown[]> {
    const contexts: unknown[] = [];
    const { client } = answering(answer);
    const options = { onContext: (context: unknown) => void contexts.push(context) };
    await call(client, options).catch(() => {});
    return contexts;
  }
  const told = [expect.objectContaining({ 'header.x-served-by': 'me' })];

  test('comes with an answer that is nothing but a status', async () => {
    const empty = (): Response => new Response(null, { headers: SERVED });
    expect(await heard((client, o) => client.tableExists(T, o), empty)).toEqual(told);
    expect(await heard((client, o) => client.namespaceExists(T, o), empty)).toEqual(told);
  });
  test('comes with rows, before the first of them is read', async () => {
    const bytes = await streamBytes();
    const rows = (): Response => new Response(Buffer.from(bytes), { headers: SERVED });
    expect(await heard((client, o) => client.queryTable({ ...T, k: 1 }, o), rows)).toEqual(told);
  });
  test('comes with JSON, as it does in the answer itself', async () => {
    const json = (): Response => new Response('{}', { headers: SERVED });
    expect(await heard((client, o) => client.describeTable(T, o), json)).toEqual(told);
    const { context } = await answering(json).client.describeTable(T);
    expect(context).toMatchObject({ 'header.x-served-by': 'me' });
  });
  test('comes with a failure, and is in its details beside the context of its body', async () => {
    const body = '{"code":4,"error":"gone","context":{"cause":"dropped","n":1}}';
    const missing = (): Response => new Response(body, { status: 404, headers: SERVED });
    expect(await heard((client, o) => client.tableExists(T, o), missing)).toEqual(told);
    const error = await failure(answering(missing).client.tableExists(T));
    expect(error.details.context).toMatchObject({ cause: 'dropped', 'header.x-served-by': 'me' });
    expect(error.details.context).not.toHaveProperty('n');
  });
  test('comes with a redirection', async () => {
    const moved = (): Response => new Response('', { status: 307, headers: { location: '/y' } });
    const error = await failure(answering(moved).client.describeTable(T));
    expect(error.details.context).toMatchObject({ 'header.location': '/y' });
  });
  test('has every header, those that come several times too', async () => {
    const headers = new Headers([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['x-n', '1'],
      ['x-n', '2'],
    ]);
    const { client } = answering(() => new Response('{}', { headers }));
    const { context } = await client.describeTable(T);
    expect(context).toMatchObject({ 'header.set-cookie': 'a=1, b=2', 'header.x-n': '1, 2' });
  });
  test('is the caller’s own: changing it changes no answer', async () => {
    const { client } = answering(() => new Response('{}', { headers: SERVED }));
    const onContext = (context: Record<string, string>): void => {
      context['header.x-served-by'] = 'you';
    };
    const { context } = await client.describeTable(T, { onContext });
    expect(context?.['header.x-served-by']).toBe('me');
  });
  test('whose listener fails rejects the call with that, and lets the answer go', async () => {
    const bytes = await streamBytes(someRows(10_000));
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(bytes.slice(0, 8)),
      cancel: () => {
        cancelled = true;
      },
    });
    const { client } = answering(() => new Response(body));
    const mine = new Error('mine');
    const onContext = (): void => {
      throw mine;
    };
    await expect(client.queryTable({ ...T, k: 1 }, { onContext })).rejects.toBe(mine);
    expect(cancelled).toBe(true);
  });
  test('comes once, of the answer that counts', async () => {
    let times = 0;
    const { client } = answering(
      () =>
        new Response('{}', { status: times++ === 0 ? 503 : 200, headers: { 'x-n': `${times}` } }),
      {
        retries: 1,
        env: { now: () => 0, uuid: () => 'u', random: () => 0, sleep: async () => {} },
      },
    );
    const contexts: unknown[] = [];
    await client.describeTable(T, { onContext: (context) => void contexts.push(context) });
    expect(contexts).toEqual([expect.objectContaining({ 'header.x-n': '2' })]);
  });
  test('reaches a program through the SDK’s server as well', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createTable(T, someRows());
    const contexts: Readonly<Record<string, string>>[] = [];
    await pair.client.tableExists(T, { onContext: (context) => void contexts.push(context) });
    expect(contexts[0]?.['header.x-request-id']).toMatch(/./);
  });
});

describe('the context of a request', () => {
  const ok = (): Response => new Response('{}');
  const context = { trace: '7' };
  test.each<[string, (client: RestNamespace) => Promise<unknown>]>([
    ['InsertIntoTable', (client) => client.insertIntoTable({ ...T, context }, someRows())],
    ['ListTables', (client) => client.listTables({ ...T, context })],
    ['DropTable', (client) => client.dropTable({ ...T, context })],
    [
      'UpdateTableSchemaMetadata',
      (client) => client.updateTableSchemaMetadata({ ...T, metadata: {}, context }),
    ],
  ])('of %s, which has no JSON object for it, is refused by its name', async (operation, call) => {
    const { client, sent } = answering(ok);
    const error = await failure(call(client));
    expect(error.code).toBe('InvalidInput');
    expect(error.message).toContain('"trace"');
    expect(error.message).toContain(operation);
    expect(error.message).toContain('"header.trace"');
    expect(sent).toEqual([]);
  });
  test('named as headers are sent with Arrow data, and with addresses alone', async () => {
    const { client, sent } = answering(ok);
    const named = { 'header.X-Trace': '7' };
    await client.insertIntoTable({ ...T, context: named }, someRows());
    await client.dropTable({ ...T, context: named });
    expect(sent.map(({ headers }) => headers.get('x-trace'))).toEqual(['7', '7']);
  });
  test.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Host',
    'Expect',
    'Content-Type',
    'Content-Length',
    'Content-Encoding',
    'Content-Range',
    'no name',
    'a:b',
    '',
    'a\r\nb',
  ])('cannot set the header %j', async (name) => {
    const { client, sent } = answering(ok);
    const error = await failure(
      client.describeTable({ ...T, context: { [`header.${name}`]: 'x' } }),
    );
    expect(error.code).toBe('InvalidInput');
    expect(error.message).toContain(JSON.stringify(`header.${name}`));
    expect(sent).toEqual([]);
  });
  test.each(['a\r\nx-evil: 1', 'a\nb', 'a\0b', 'ü\u0100'])(
    'cannot send the value %j',
    async (value) => {
      const { client, sent } = answering(ok);
      const error = await failure(client.describeTable({ ...T, context: { 'header.x-a': value } }));
      expect(error.message).toContain('"header.x-a"');
      expect(error.message).not.toContain(value);
      expect(sent).toEqual([]);
    },
  );
  test('names no header twice with different values', async () => {
    const { client, sent } = answering(ok);
    const twice = { 'header.X-A': '1', 'header.x-a': '2' };
    expect((await failure(client.describeTable({ ...T, context: twice }))).message).toContain(
      'x-a twice',
    );
    await client.describeTable({ ...T, context: { 'header.X-A': '1', 'header.x-a': '1' } });
    expect(sent).toHaveLength(1);
  });
});

describe('the identity of a request', () => {
  const ok = (): Response => new Response('{}');
  const identity = { api_key: 'my-api-key', auth_token: 'my-auth-token' };
  const named = { 'x-api-key': 'my-api-key', authorization: 'Bearer my-auth-token' };
  const credentials = ({ headers }: Sent): unknown => ({
    'x-api-key': headers.get('x-api-key') ?? undefined,
    authorization: headers.get('authorization') ?? undefined,
  });
  test('is sent as headers, and in the body where there is JSON', async () => {
    const { client, sent } = answering(ok);
    await client.describeTable({ ...T, identity });
    await client.insertIntoTable({ ...T, identity }, someRows());
    await client.dropTable({ ...T, identity });
    expect(sent.map(credentials)).toEqual([named, named, named]);
    expect(sent[0]?.body).toEqual({ identity });
  });
  test.each<[string, object, object]>([
    ['a key', { api_key: 'my-api-key' }, { 'x-api-key': 'my-api-key', authorization: undefined }],
    ['a token', { auth_token: 'mine' }, { 'x-api-key': undefined, authorization: 'Bearer mine' }],
  ])('replaces the credentials of the connection whole: %s', async (_, one, expected) => {
    const headers = { 'X-Api-Key': 'connection-key', Authorization: 'Bearer connection-token' };
    const { client, sent } = answering(ok, { headers });
    await client.describeTable({ ...T, identity: one });
    await client.describeTable(T);
    await client.describeTable({ ...T, identity: {} });
    const own = { 'x-api-key': 'connection-key', authorization: 'Bearer connection-token' };
    expect(sent.map(credentials)).toEqual([expected, own, own]);
  });
  test.each<[string, object]>([
    ['api_key', { api_key: '' }],
    ['api_key', { api_key: ' \t', auth_token: 'mine' }],
    ['auth_token', { auth_token: '' }],
    ['auth_token', { api_key: 'mine', auth_token: ' ' }],
  ])('whose %s is empty is refused, in place of the connection’s: %o', async (name, one) => {
    const { client, sent } = answering(ok, { headers: { 'X-Api-Key': 'connection-key' } });
    const error = await failure(client.describeTable({ ...T, identity: one }));
    expect(error.code).toBe('InvalidInput');
    expect(error.message).toContain(`identity.${name} is empty`);
    expect(error.details).toEqual({ member: `identity.${name}` });
    expect(sent).toEqual([]);
  });
  test.each(['Bearer my-token', 'bearer  my-token', ' BEARER\tmy-token'])(
    'whose token has its scheme before it is refused, and not shown: %j',
    async (auth_token) => {
      const { client, sent } = answering(ok);
      const error = await failure(client.describeTable({ ...T, identity: { auth_token } }));
      expect(error.code).toBe('InvalidInput');
      expect(error.message).toContain('identity.auth_token begins with "Bearer"');
      expect(JSON.stringify([error.message, error.details])).not.toContain('my-token');
      expect(sent).toEqual([]);
    },
  );
  test('whose token merely begins with those letters is sent', async () => {
    const { client, sent } = answering(ok);
    await client.describeTable({ ...T, identity: { auth_token: 'bearertoken' } });
    expect(sent.map(credentials)).toMatchObject([{ authorization: 'Bearer bearertoken' }]);
  });
  test('leaves another authorization of the connection, which is a gateway’s', async () => {
    const { client, sent } = answering(ok, { headers: { Authorization: 'Basic Zw==' } });
    await client.describeTable({ ...T, identity: { api_key: 'my-api-key' } });
    expect(sent.map(credentials)).toEqual([
      { 'x-api-key': 'my-api-key', authorization: 'Basic Zw==' },
    ]);
  });
  test('that a context entry contradicts is refused, and shows neither', async () => {
    const { client, sent } = answering(ok);
    const context = { 'header.Authorization': 'Bearer another-token' };
    const error = await failure(client.describeTable({ ...T, identity, context }));
    expect(error.message).toContain('authorization twice');
    expect(error.message).not.toMatch(/my-auth-token|another-token/);
    expect(sent).toEqual([]);
  });
  test('with a line break in it is refused by its name, and not shown', async () => {
    const { client, sent } = answering(ok);
    for (const member of ['api_key', 'auth_token'] as const) {
      const error = await failure(
        client.describeTable({ ...T, identity: { [member]: 'secret\r\nx-evil: 1' } }),
      );
      expect(error.message).toContain(`"identity.${member}"`);
      expect(JSON.stringify([error.message, error.details])).not.toContain('secret');
    }
    expect(sent).toEqual([]);
  });
  test('does not follow a redirection', async () => {
    const moved = (): Response =>
      new Response('', { status: 302, headers: { location: 'http://evil.test/?my-auth-token' } });
    const { client, sent } = answering(moved);
    const error = await failure(client.describeTable({ ...T, identity }));
    expect(error.message).toContain('not followed');
    expect(sent).toHaveLength(1);
    expect(JSON.stringify([error.message, error.details])).not.toContain('my-auth-token');
  });
  test('is not in the error of a server that echoes it', async () => {
    const echo = (): Response =>
      new Response(
        '{"code":16,"error":"no key my-api-key","instance":"/my-auth-token","context":{"t":"my-auth-token"}}',
        {
          status: 401,
          headers: { 'x-echo': 'my-api-key' },
        },
      );
    const error = await failure(answering(echo).client.describeTable({ ...T, identity }));
    expect(error.message).toBe('no key [redacted]');
    expect(JSON.stringify(error.details)).not.toMatch(/my-api-key|my-auth-token/);
    expect(error.code).toBe('Unauthenticated');
  });
  test('counts at a server that looks at headers only, over that of the connection', async () => {
    const grants = [{ permission: 'read' as const, namespace: [] }];
    const apiKeys = [
      { name: 'one', key: 'key-of-one', grants },
      { name: 'two', key: 'key-of-two', grants: [] },
    ];
    const pair = await restPair(
      {
        namespace: stubNamespace({
          tableExists: () => undefined,
          listTables: () => ({ tables: [] }),
        }),
        auth: { apiKeys },
      },
      { headers: { 'x-api-key': 'key-of-two' } },
    );
    await expect(pair.client.listTables({ id: [] })).rejects.toMatchObject({
      code: 'PermissionDenied',
    });
    await pair.client.listTables({ id: [], identity: { api_key: 'key-of-one' } });
    await pair.client.tableExists({ ...T, identity: { api_key: 'key-of-one' } });
    expect((await ask(pair, 'POST', '/v1/table/t/exists', {})).status).toBe(401);
  });
});
