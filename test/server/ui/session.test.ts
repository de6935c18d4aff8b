/** Sessions of the page: a key or a token opens one, and it has no more rights than these. */
import { afterEach, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/env.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { createServer, type Server, type ServerOptions } from '../../../src/server/server.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const KEYS = {
  apiKeys: [
    { key: 'reads-a', name: 'ann', grants: ['read:a'] as const },
    { key: 'owns', name: 'root', grants: ['admin:$'] as const },
  ],
};

async function serve(options: Partial<ServerOptions> = {}): Promise<Server> {
  const db = await connect('/c', { fs: memoryFs() });
  for (const name of ['a', 'b']) {
    await db.createNamespace([name]);
    await db.createTable('t', [{ x: 1 }], [name]);
  }
  const limits = { maxEventLoopDelayMs: 0 };
  const server = await createServer({ namespace: db.namespace, ui: true, limits, ...options });
  servers.push(server);
  return server;
}

class Browser {
  readonly #server: Server;
  cookie: string | undefined;
  setCookie: string | null = null;

  constructor(server: Server) {
    this.#server = server;
  }

  async send(method: string, path: string, body?: unknown, origin?: string): Promise<Response> {
    const response = await this.#server.fetch(`http://localhost:80${path}`, {
      method,
      redirect: 'manual',
      headers: {
        host: 'localhost:4213',
        ...(origin === undefined ? {} : { origin }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.cookie === undefined ? {} : { cookie: `other=1; ${this.cookie}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    this.setCookie = response.headers.get('set-cookie');
    const pair = this.setCookie?.split(';')[0];
    if (pair !== undefined) this.cookie = pair.endsWith('=') ? undefined : pair;
    return response;
  }

  ask = async (name: string, body: object = {}): Promise<[number, unknown]> => {
    const response = await this.send('POST', `/ui/api/${name}`, body);
    return [response.status, await response.json()];
  };

  signIn = async (credential: string): Promise<number> =>
    (await this.send('POST', '/ui/session', { credential })).status;
}

describe('signing in', () => {
  test('is asked for where the server has keys', async () => {
    const browser = new Browser(await serve({ auth: KEYS }));
    expect((await browser.ask('about'))[0]).toBe(401);
    expect((await browser.ask('ListTables', { id: ['a'] }))[0]).toBe(401);
    // The files are no secret.
    expect((await browser.send('GET', '/ui')).status).toBe(200);
  });

  test('gives a cookie that no script reads and no other site sends', async () => {
    const browser = new Browser(await serve({ auth: KEYS }));
    expect(await browser.signIn('reads-a')).toBe(204);
    expect(browser.setCookie).toMatch(
      /^dirspace-ui-4213=[\w-]{43}; HttpOnly; SameSite=Strict; Max-Age=31536000$/,
    );
    expect(browser.setCookie).not.toContain('reads-a');
    expect(await browser.ask('about')).toEqual([
      200,
      expect.objectContaining({ principal: 'key:ann', signed_in: true }),
    ]);
  });

  test.each([
    ['https://localhost:4213', true],
    ['http://localhost:4213', false],
  ])('from a page at %s gives a cookie that stays with TLS: %s', async (origin, isSecure) => {
    const browser = new Browser(await serve({ auth: KEYS }));
    // A proxy in front of the server speaks TLS.
    await browser.send('POST', '/ui/session', { credential: 'reads-a' }, origin);
    expect(browser.setCookie?.endsWith('; Secure')).toBe(isSecure);
  });

  test('does not help with a wrong key, and says so', async () => {
    const browser = new Browser(await serve({ auth: KEYS }));
    expect(await browser.signIn('wrong')).toBe(401);
    expect(await browser.signIn('')).toBe(400);
    expect(browser.cookie).toBeUndefined();
  });

  test('keeps to the grants of its key', async () => {
    const browser = new Browser(await serve({ auth: KEYS }));
    await browser.signIn('reads-a');
    expect(await browser.ask('ListNamespaces', { id: [] })).toEqual([200, { namespaces: ['a'] }]);
    expect((await browser.ask('table', { id: ['a', 't'] }))[0]).toBe(200);
    for (const name of ['table', 'rows', 'DescribeTable', 'CountTableRows']) {
      expect([name, (await browser.ask(name, { id: ['b', 't'], limit: 1 }))[0]]).toEqual([
        name,
        403,
      ]);
    }
    expect(await browser.ask('ListAllTables')).toEqual([200, { tables: ['a$t'] }]);
  });

  test('ends when the reader signs out', async () => {
    const server = await serve({ auth: KEYS });
    const browser = new Browser(server);
    await browser.signIn('owns');
    const { cookie } = browser;
    expect((await browser.send('POST', '/ui/session-end', {})).status).toBe(204);
    expect(browser.setCookie).toContain('Max-Age=0');
    const thief = new Browser(server);
    thief.cookie = cookie;
    expect((await thief.ask('about'))[0]).toBe(401);
  });

  test('ends when the key is taken from the server', async () => {
    const server = await serve({ auth: KEYS });
    const browser = new Browser(server);
    await browser.signIn('reads-a');
    server.reload({ auth: { apiKeys: [KEYS.apiKeys[1] as never] } });
    expect((await browser.ask('about'))[0]).toBe(401);
  });

  test('ends twelve hours after its last use', async () => {
    let now = systemEnv.now();
    const env = { ...systemEnv, now: () => now };
    const browser = new Browser(await serve({ auth: KEYS, env }));
    await browser.signIn('owns');
    for (const [hours, status] of [
      [11, 200],
      [11, 200],
      [13, 401],
    ] as const) {
      now += hours * 3_600_000;
      expect([hours, (await browser.ask('about'))[0]]).toEqual([hours, status]);
    }
  });

  test('of more than a thousand lets the oldest go', async () => {
    const server = await serve({ auth: KEYS });
    const [first, second] = [new Browser(server), new Browser(server)];
    await first.signIn('owns');
    await second.signIn('owns');
    // Used since the other was opened.
    await first.ask('about');
    for (let at = 0; at < 999; at++) await new Browser(server).signIn('owns');
    expect((await first.ask('about'))[0]).toBe(200);
    expect((await second.ask('about'))[0]).toBe(401);
  });

  test('is not needed where the server asks for no key', async () => {
    const browser = new Browser(await serve());
    expect(await browser.ask('about')).toEqual([
      200,
      expect.objectContaining({ principal: 'anybody', signed_in: false, read_only: false }),
    ]);
  });
});

describe('a ticket', () => {
  const token = 'a-ticket-that-nobody-could-guess-0123456789';
  const ui = { ticket: { token, credentials: { apiKey: 'reads-a' } } };

  test('opens one session, and only one', async () => {
    const server = await serve({ auth: KEYS, ui });
    const [reader, late] = [new Browser(server), new Browser(server)];
    const sent = await reader.send('GET', `/ui?ticket=${token}`);
    // A cookie without a path is one of the folder.
    const folder = `ui/?ticket=${token}`;
    expect([sent.status, sent.headers.get('location')]).toEqual([303, folder]);
    expect(reader.setCookie).toBeNull();
    const opened = await reader.send('GET', `/${folder}`);
    expect([opened.status, opened.headers.get('location')]).toEqual([303, './']);
    expect((await reader.ask('about'))[0]).toBe(200);
    expect((await reader.ask('table', { id: ['b', 't'] }))[0]).toBe(403);
    const refused = await late.send('GET', `/${folder}`);
    expect([refused.status, late.setCookie]).toEqual([303, null]);
    expect((await late.ask('about'))[0]).toBe(401);
  });

  test('is for its reader, and not for programs that look where its link leads', async () => {
    const server = await serve({ auth: KEYS, ui });
    const [preview, reader] = [new Browser(server), new Browser(server)];
    for (const path of ['/ui', '/ui/']) {
      expect((await preview.send('HEAD', `${path}?ticket=${token}`)).status).toBe(303);
      expect(preview.setCookie).toBeNull();
    }
    await reader.send('GET', `/ui/?ticket=${token}`);
    expect((await reader.ask('about'))[0]).toBe(200);
  });

  test('that is another opens none, and leaves the real one', async () => {
    const server = await serve({ auth: KEYS, ui });
    const [guesser, reader] = [new Browser(server), new Browser(server)];
    for (const guess of ['', 'x', `${token}x`]) await guesser.send('GET', `/ui/?ticket=${guess}`);
    expect(guesser.cookie).toBeUndefined();
    await reader.send('GET', `/ui/?ticket=${token}`);
    expect((await reader.ask('about'))[0]).toBe(200);
  });

  test.each([
    [{ ticket: { token: 'short', credentials: {} } }],
    [{ tickets: [] }],
    [{ ticket: { token, credentials: {}, more: 1 } }],
  ])('is refused where it is none: %j', async (wrong) => {
    await expect(serve({ auth: KEYS, ui: wrong as never })).rejects.toMatchObject({
      code: 'InvalidInput',
    });
  });
});

test('nothing that the page may ask for changes anything, whatever its key may do', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  await db.createTable('t', [{ x: 1 }]);
  const server = await serve({ auth: KEYS, namespace: db.namespace });
  const browser = new Browser(server);
  await browser.signIn('owns');
  for (const name of [
    'DropTable',
    'DeleteFromTable',
    'InsertIntoTable',
    'CreateNamespace',
    'RestoreTable',
    'CreateTableTag',
    'PurgeTrash',
    'OptimizeTable',
    'Repair',
  ]) {
    expect([name, (await browser.ask(name, { id: ['t'] }))[0]]).toEqual([name, 404]);
  }
  // The cookie is no credential for the operations themselves.
  const direct = await browser.send('POST', '/v1/table/t/count_rows', {});
  expect(direct.status).toBe(401);
});
