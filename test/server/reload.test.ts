/** TLS, pages of other origins, and settings that change while a server runs. */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test, vi } from 'vitest';
import {
  createServer,
  type GrantInput,
  type RunningServer,
  type StartOptions,
  startServer,
} from '../../src/server.ts';
import { ONE, TWO } from '../helpers/certificates.ts';
import { callCli } from '../helpers/cli.ts';
import { rawAnswer } from '../helpers/raw-http.ts';
import { ask, restPair } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const namespace = stubNamespace({ listAllTables: () => ({ tables: [] }) });
const keyOf = (key: string) => ({ key, name: key, grants: ['read:$'] as const });
const authOf = (...keys: string[]) => ({ apiKeys: keys.map(keyOf) });

async function serving<T>(
  options: Partial<StartOptions>,
  work: (server: RunningServer) => Promise<T>,
): Promise<T> {
  const limits = { maxEventLoopDelayMs: 0 };
  const server = await startServer({ namespace, limits, ...options });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

const statusFor = async (url: string, key: string): Promise<number> =>
  (await fetch(`${url}/v1/tables`, { headers: { 'x-api-key': key } })).status;

function certificateFiles(folder = temporaryFolder()): {
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly put: (pair: typeof ONE) => void;
} {
  const tls = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  const put = ({ cert, key }: typeof ONE): void => {
    writeFileSync(tls.certFile, cert);
    writeFileSync(tls.keyFile, key);
  };
  put(ONE);
  return { tls, put };
}

/** The status of an answer over TLS, and the name in the certificate. */
function getSecurely(url: string, agent: Agent): Promise<{ status: number; name: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/tables`, { agent }, (answer) => {
      const { subject } = (answer.socket as TLSSocket).getPeerCertificate();
      answer.resume().once('end', () => {
        resolve({ status: answer.statusCode ?? 0, name: String(subject.CN) });
      });
    });
    sent.once('error', reject).end();
  });
}

const agentFor = (keepAlive = false): Agent =>
  new Agent({ keepAlive, maxSockets: 1, ca: [ONE.cert, TWO.cert] });

describe('TLS', () => {
  test('answers over it, with a certificate that is renewed for new connections', async () => {
    const { tls, put } = certificateFiles();
    await serving({ tls }, async (server) => {
      expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      const kept = agentFor(true);
      expect(await getSecurely(server.url, kept)).toEqual({ status: 200, name: 'one' });
      put(TWO);
      server.reload({ tls });
      expect(await getSecurely(server.url, agentFor())).toEqual({ status: 200, name: 'two' });
      expect(await getSecurely(server.url, kept)).toEqual({ status: 200, name: 'one' });
      kept.destroy();
    });
  });

  test('plain requests get no answer from a catalog', async () => {
    const { tls } = certificateFiles();
    await serving({ tls }, async ({ url }) => {
      const answer = await rawAnswer(url, 'GET /v1/tables HTTP/1.1\r\nhost: localhost\r\n\r\n');
      expect(answer).not.toContain('200');
    });
  });

  test('files that cannot be used are named, at the start and later', async () => {
    const { tls, put } = certificateFiles();
    const missing = { ...tls, keyFile: '/nowhere/key.pem' };
    await expect(createServer({ namespace, tls: missing })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('/nowhere/key.pem'),
    });
    await expect(
      createServer({ namespace, tls: { certFile: 'x' } as never }),
    ).rejects.toMatchObject({
      message: expect.stringContaining('tls.keyFile'),
    });
    await serving({ tls }, async (server) => {
      put({ cert: TWO.cert, key: ONE.key });
      expect(() => server.reload({ tls })).toThrow(/cannot be used/);
      expect(() => server.reload({})).toThrow(/begin or end to use TLS/);
      expect(await getSecurely(server.url, agentFor())).toEqual({ status: 200, name: 'one' });
    });
  });
});

describe('pages of other origins', () => {
  const app = 'https://app.example';
  const preflight = (origin: string) => ({
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key',
  });
  const headersOf = (headers: Headers): string[] =>
    [...headers.keys()].filter((name) => name.startsWith('access-control'));

  test('are let in where they are listed', async () => {
    const pair = await restPair({ namespace, auth: authOf('k'), cors: { origins: [app] } });
    const asked = await ask(pair, 'OPTIONS', '/v1/tables', undefined, preflight(app));
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(app);
    expect(asked.headers.get('access-control-allow-headers')).toContain('x-api-key');
    expect(asked.headers.get('access-control-allow-methods')).toBe('GET, POST');
    const sent = await ask(pair, 'GET', '/v1/tables', undefined, { origin: app, 'x-api-key': 'k' });
    expect([sent.status, sent.headers.get('access-control-allow-origin')]).toEqual([200, app]);
    expect(sent.headers.get('vary')).toBe('origin');
    const refused = await ask(pair, 'GET', '/v1/tables', undefined, { origin: app });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      app,
    ]);
  });

  test.each([
    ['another origin', { origins: [app] }, 'https://evil.example'],
    ['its name below another', { origins: [app] }, 'https://app.example.evil.example'],
    ['another scheme', { origins: [app] }, 'http://app.example'],
    ['none', { origins: [app] }, 'null'],
    ['off', undefined, app],
  ])('are not told anything otherwise: %s', async (_, cors, origin) => {
    const pair = await restPair({ namespace, auth: authOf('k'), ...(cors && { cors }) });
    const asked = await ask(pair, 'OPTIONS', '/v1/tables', undefined, preflight(origin));
    expect([asked.status >= 400, headersOf(asked.headers)]).toEqual([true, []]);
    const sent = await ask(pair, 'GET', '/v1/tables', undefined, { origin, 'x-api-key': 'k' });
    expect(headersOf(sent.headers)).toEqual([]);
  });

  test('without auth only those that are listed get through', async () => {
    const pair = await restPair({ namespace, cors: { origins: [app] } });
    const status = async (origin: string): Promise<number> =>
      (await ask(pair, 'GET', '/v1/tables', undefined, { origin })).status;
    expect([await status(app), await status('https://evil.example')]).toEqual([200, 403]);
  });

  test.each(['*', 'app.example', 'https://app.example/', 'https://app.example/path', 'null'])(
    '%s is no origin',
    async (origin) => {
      const cors = { origins: [origin] };
      await expect(createServer({ namespace, cors })).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining('cors.origins[0]'),
      });
    },
  );
});

describe('reload', () => {
  test('new keys count at once, old ones no more, and connections stay open', async () => {
    await serving({ auth: authOf('old') }, async (server) => {
      expect(await statusFor(server.url, 'old')).toBe(200);
      server.reload({ auth: authOf('new') });
      expect(await statusFor(server.url, 'new')).toBe(200);
      expect(await statusFor(server.url, 'old')).toBe(401);
    });
  });

  test.each([
    ['another database', ['read:other'], 403],
    ['reading alone', ['read:$'], 403],
    ['the same place', ['write:n1'], 200],
  ] as const)('a kept answer needs the right it was got with: %s', async (_, left, status) => {
    const root = temporaryFolder();
    const auth = (...grants: GrantInput[]) => ({ apiKeys: [{ key: 'k', name: 'k', grants }] });
    const headers = { 'x-api-key': 'k', 'idempotency-key': 'once' };
    const send = (url: string, properties: object) =>
      ask({ base: url, fetch }, 'POST', '/v1/namespace/n1/create', { properties }, headers);
    const options = (...grants: GrantInput[]) => ({
      root,
      limits: { maxEventLoopDelayMs: 0 },
      auth: auth(...grants),
    });
    const first = await startServer(options('write:$'));
    const made = await send(first.url, { secret: 's3' });
    first.reload({ auth: auth(...left) });
    const again = await send(first.url, { secret: 's3' });
    const other = await send(first.url, { secret: 's4' });
    await first.close();
    const second = await startServer(options(...left));
    const later = await send(second.url, { secret: 's3' });
    await second.close();
    expect([made.status, again.status, later.status]).toEqual([200, status, status]);
    expect(other.status).toBe(status === 403 ? 403 : 422);
    expect(again.headers.get('idempotent-replay')).toBe(status === 403 ? null : 'true');
    if (status === 403) expect(again.text).not.toContain('s3');
    else expect(again.json).toEqual(made.json);
  });

  test('a kept answer has storage credentials for the grants that got them alone', async () => {
    const answer = { location: 'memory://t', storage_options: { key: 'secret' } };
    const vending = stubNamespace({ declareTable: () => answer });
    const auth = (...grants: GrantInput[]) => ({ apiKeys: [{ key: 'k', name: 'k', grants }] });
    await serving({ namespace: vending, auth: auth('admin:$') }, async (server) => {
      const headers = { 'x-api-key': 'k', 'idempotency-key': 'once' };
      const send = async (): Promise<unknown> =>
        (
          await ask(
            { base: server.url, fetch },
            'POST',
            '/v1/table/t/declare',
            { vend_credentials: true },
            headers,
          )
        ).json;
      expect([await send(), await send()]).toEqual([answer, answer]);
      server.reload({ auth: auth('write:$') });
      expect(await send()).toEqual({ location: 'memory://t' });
      server.reload({ auth: auth('admin:$') });
      expect(await send()).toEqual(answer);
    });
  });

  test('a key set that was replaced is read again', async () => {
    const jwksFile = `${temporaryFolder()}/keys.json`;
    const [issuer, audience] = ['https://issuer.test', 'catalog'];
    const signer = async (kid: string): Promise<() => Promise<string>> => {
      const { privateKey, publicKey } = await generateKeyPair('ES256');
      const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256' };
      writeFileSync(jwksFile, JSON.stringify({ keys: [jwk] }));
      return () =>
        new SignJWT({ dirspace: ['read:$'] })
          .setProtectedHeader({ alg: 'ES256', kid })
          .setIssuer(issuer)
          .setAudience(audience)
          .setSubject('someone')
          .setExpirationTime('5m')
          .sign(privateKey);
    };
    const auth = { jwt: { jwksFile, issuer, audience } };
    const old = await signer('one');
    await serving({ auth }, async (server) => {
      const status = async (token: string): Promise<number> =>
        (await fetch(`${server.url}/v1/tables`, { headers: { authorization: `Bearer ${token}` } }))
          .status;
      expect(await status(await old())).toBe(200);
      const renewed = await signer('two');
      expect(await status(await renewed())).toBe(401);
      server.reload({ auth });
      expect([await status(await renewed()), await status(await old())]).toEqual([200, 401]);
      writeFileSync(jwksFile, 'nothing');
      expect(() => server.reload({ auth })).toThrow(/keys\.json/);
      expect(await status(await renewed())).toBe(200);
    });
  });

  test('a faulty one keeps the old one whole', async () => {
    await serving({ auth: authOf('old') }, async (server) => {
      const cors = { origins: ['nothing'] };
      expect(() => server.reload({ auth: authOf('new'), cors })).toThrow(/cors.origins/);
      expect(() => server.reload({ auth: { apikeys: [] } as never })).toThrow(/apikeys/);
      // One that is misspelt would be off.
      const misspelt = { auth: authOf('new'), allowedhosts: ['x.example'] };
      expect(() => server.reload(misspelt as never)).toThrow(/no option "allowedhosts"/);
      expect(await statusFor(server.url, 'old')).toBe(200);
      expect(await statusFor(server.url, 'new')).toBe(401);
    });
  });

  test('auth is not taken away from a server that has it', async () => {
    await serving({ auth: authOf('k') }, async (server) => {
      expect(() => server.reload({ allowedHosts: ['x.example'] })).toThrow(
        expect.objectContaining({
          code: 'InvalidInput',
          message: expect.stringMatching(/have no "auth".*start the server anew/),
        }),
      );
      expect(await statusFor(server.url, 'none')).toBe(401);
      expect(await statusFor(server.url, 'k')).toBe(200);
    });
    await serving({}, async (server) => {
      server.reload({});
      server.reload({ auth: authOf('k') });
      expect(await statusFor(server.url, 'none')).toBe(401);
    });
  });

  test('auth is not taken away at an address that others can reach', async () => {
    await serving({ auth: authOf('k'), host: '0.0.0.0' }, async (server) => {
      expect(() => server.reload({})).toThrow(/can be reached from other machines/);
      expect(await statusFor(server.url, 'none')).toBe(401);
    });
  });
});

describe('dirspace serve', () => {
  const config = (...keys: string[]): string =>
    JSON.stringify({ root: '.', auth: authOf(...keys), logLevel: 'info' });

  test('reads its file again as it changes, and keeps the old one where it cannot', async () => {
    const file = `${temporaryFolder()}/server.json`;
    writeFileSync(file, config('old'));
    const { code, error } = await callCli(['serve', '--config', file, '--port', '0', '--json'], {
      during: async (line, said) => {
        const { url } = JSON.parse(line);
        expect(await statusFor(url, 'old')).toBe(200);
        writeFileSync(file, config('old', 'second'));
        await vi.waitFor(async () => expect(await statusFor(url, 'second')).toBe(200), 20_000);
        writeFileSync(file, '{"auth":');
        await vi.waitFor(() => expect(said()).toContain('the old one stays'), 20_000);
        expect(await statusFor(url, 'second')).toBe(200);
        writeFileSync(file, config('third').replace('"root":"."', '"root":"other"'));
        await vi.waitFor(async () => expect(await statusFor(url, 'third')).toBe(200), 20_000);
        expect(await statusFor(url, 'second')).toBe(401);
      },
    });
    expect(code).toBe(0);
    const messages = error.split('\n').filter((line) => line.includes('configuration'));
    expect(messages[0]).toContain('"message":"configuration reloaded"');
    expect(messages.at(-1)).toMatch(/take a restart.*"kept":\["root"\]/);
    expect(error.replaceAll('key:second', '')).not.toContain('second');
  });

  test('reads it again when it is asked to, and says what is wrong', async () => {
    const file = `${temporaryFolder()}/server.json`;
    writeFileSync(file, config('old'));
    const asks: (() => void)[] = [];
    const { error } = await callCli(['serve', '--config', file, '--port', '0', '--json'], {
      reloadAsked: (listener) => void asks.push(listener),
      during: async (line, said) => {
        const { url } = JSON.parse(line);
        writeFileSync(file, '{"auth":{"apikeys":[]}}');
        for (const reload of asks) reload();
        await vi.waitFor(() => expect(said()).toMatch(/the old one stays.*apikeys/), 20_000);
        expect(await statusFor(url, 'old')).toBe(200);
        writeFileSync(file, config('new'));
        for (const reload of asks) reload();
        await vi.waitFor(async () => expect(await statusFor(url, 'new')).toBe(200), 20_000);
      },
    });
    expect(asks).toHaveLength(1);
    expect(error).toContain('configuration reloaded');
  });
});
