/** What a caller without credentials can take from others: no place, little memory, little time. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Authenticate } from '../../src/server/auth/auth.ts';
import { MAX_IDENTITY_BYTES } from '../../src/server/identity.ts';
import type { Limits } from '../../src/server.ts';
import { type RawConnection, rawConnection } from '../helpers/raw-http.ts';
import { type Answered, ask, type Pair, restPair, type Wire } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';

const KEY = { 'x-api-key': 'the-key' };
const PATH = '/v1/table/t/describe';
const WIRES: readonly Wire[] = ['inject', 'socket'];

let described = 0;
const open: RawConnection[] = [];
const sockets: Socket[] = [];
const seen = (channel: unknown): void => {
  sockets.push((channel as { socket: Socket }).socket);
};

beforeEach(() => {
  described = 0;
  subscribe('http.server.request.start', seen);
});
afterEach(() => {
  unsubscribe('http.server.request.start', seen);
  sockets.length = 0;
  for (const { socket } of open.splice(0)) socket.destroy();
});

const serve = (wire: Wire, limits: Limits = {}, authenticate?: Authenticate): Promise<Pair> =>
  restPair(
    {
      namespace: stubNamespace({
        describeTable: () => {
          described++;
          return { location: 'x' };
        },
      }),
      auth: {
        apiKeys: [{ key: 'the-key', name: 'k', grants: [{ namespace: [], permission: 'admin' }] }],
        ...(authenticate === undefined ? {} : { authenticate }),
      },
      limits,
    },
    { wire },
  );

/** A request of which one byte of the body comes, and no more. */
function halfSent({ base }: Pair, headers = ''): RawConnection {
  const connection = rawConnection(
    base,
    `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}content-length: 100\r\n\r\n{`,
  );
  open.push(connection);
  return connection;
}

const withIdentity = (pair: Pair, extra: object = {}): Promise<Answered> =>
  ask(pair, 'POST', PATH, { identity: { api_key: 'the-key' }, ...extra });

describe('requests whose headers have no credentials', () => {
  test('take no place of those that have some', async () => {
    const pair = await serve('socket', { maxInFlight: 1, maxQueue: 0 });
    for (let at = 0; at < 5; at++) halfSent(pair);
    await vi.waitFor(() => expect(sockets).toHaveLength(5));
    expect((await ask(pair, 'POST', PATH, {}, KEY)).status).toBe(200);
    // Nor of those that are known once their small body is read.
    expect((await withIdentity(pair)).status).toBe(200);
  });

  test('give way to those that come after them, where they are too many', async () => {
    const pair = await serve('socket', { maxUnauthenticated: 2 });
    const [first, second] = [halfSent(pair), halfSent(pair)];
    await vi.waitFor(() => expect(sockets).toHaveLength(2));
    expect((await withIdentity(pair)).status).toBe(200);
    const third = halfSent(pair);
    await vi.waitFor(() => expect(first.text()).toMatch(/^HTTP\/1\.1 503 /));
    expect(first.text()).toContain('stood still longest');
    expect((await withIdentity(pair)).status).toBe(200);
    expect([second.text(), third.text()]).toEqual(['', '']);
    expect((await ask(pair, 'POST', PATH, {}, KEY)).status).toBe(200);
  });

  test('are refused when their body takes too long', async () => {
    const pair = await serve('socket', { queueTimeoutMs: 20 });
    const text = await halfSent(pair).closed;
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text).toContain('did not arrive within 20 ms');
    expect(described).toBe(0);
  });

  test('are refused before a large body is read, whose length is said', async () => {
    const pair = await serve('socket');
    const connection = rawConnection(
      pair.base,
      `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n`,
    );
    open.push(connection);
    await vi.waitFor(() => expect(connection.text()).toMatch(/^HTTP\/1\.1 401 /));
    expect(connection.text()).toContain(`${MAX_IDENTITY_BYTES} bytes`);
  });

  test.each(WIRES)('or is not said: %s', async (wire) => {
    const pair = await serve(wire);
    const body = new Blob([`{"identity":{"api_key":"the-key"},"x":"${'y'.repeat(100_000)}"}`]);
    const response = await pair.fetch(`${pair.base}${PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.stream(),
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(401);
    expect(described).toBe(0);
  });

  test.each(WIRES)('are known by an identity in a small body: %s', async (wire) => {
    const pair = await serve(wire);
    expect((await withIdentity(pair)).status).toBe(200);
    const room =
      MAX_IDENTITY_BYTES - JSON.stringify({ identity: { api_key: 'the-key' }, x: '' }).length;
    expect((await withIdentity(pair, { x: 'y'.repeat(room) })).status).toBe(200);
    expect((await withIdentity(pair, { x: 'y'.repeat(room + 1) })).status).toBe(401);
    for (const body of [{}, { identity: { api_key: 'no-key' } }, undefined]) {
      expect((await ask(pair, 'POST', PATH, body)).status).toBe(401);
    }
    // Credentials of the headers count alone, and so may come with a large body.
    expect((await ask(pair, 'POST', PATH, { x: 'y'.repeat(100_000) }, KEY)).status).toBe(200);
    const wrong = { 'x-api-key': 'no-key' };
    expect(
      (await ask(pair, 'POST', PATH, { identity: { api_key: 'the-key' } }, wrong)).status,
    ).toBe(401);
    expect(described).toBe(3);
  });

  test('of a function that knows callers by other headers need no small body', async () => {
    const grants = [{ namespace: [], permission: 'admin' as const }];
    const pair = await serve('socket', {}, (credentials, headers) =>
      headers['x-user'] === 'ann' || credentials.token === 'ann'
        ? { name: 'ann', grants }
        : undefined,
    );
    const large = { x: 'y'.repeat(100_000) };
    expect((await ask(pair, 'POST', PATH, large, { 'x-user': 'ann' })).status).toBe(200);
    expect((await ask(pair, 'POST', PATH, large, { 'x-user': 'bob' })).status).toBe(401);
    expect((await ask(pair, 'POST', PATH, { identity: { auth_token: 'ann' } })).status).toBe(200);
  });
});

describe('credentials that are not valid', () => {
  test('are refused before anything of the body came', async () => {
    const pair = await serve('socket', { maxInFlight: 1, maxQueue: 0 });
    for (const headers of ['x-api-key: no-key\r\n', 'authorization: Bearer x\r\n']) {
      const { text } = halfSent(pair, headers);
      await vi.waitFor(() => expect(text()).toMatch(/^HTTP\/1\.1 401 /));
    }
  });
});
