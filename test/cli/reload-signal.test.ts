/** A real process that is told by a signal to read its configuration again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, expect, test, vi } from 'vitest';
import { ONE, TWO } from '../helpers/certificates.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it wrote to its log. */
  said(): string;
}

async function serve(config: string): Promise<Served> {
  const main = fileURLToPath(compiledModule('cli/main.js'));
  const child = spawn(
    process.execPath,
    [main, 'serve', '--config', config, '--port', '0', '--json'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  started.push(child);
  let [out, log] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await vi.waitFor(() => expect(out, log).toMatch(/\n/), 20_000);
  return { url: JSON.parse(out).url, child, said: () => log };
}

interface Answer {
  readonly status: number;
  readonly certificate: string;
  readonly port: number;
}

function ask(url: string, agent: Agent, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(`${url}/v1/tables`, { agent, headers }, (answer) => {
      const socket = answer.socket as TLSSocket;
      const certificate = String(socket.getPeerCertificate().subject.CN);
      const port = socket.localPort ?? 0;
      answer
        .resume()
        .once('end', () => resolve({ status: answer.statusCode ?? 0, certificate, port }));
    })
      .once('error', reject)
      .end();
  });
}

test('SIGHUP takes keys, key sets and certificates, and drops no connection', async () => {
  const folder = temporaryFolder();
  const [config, jwksFile] = [`${folder}/server.json`, `${folder}/jwks.json`];
  const tls = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  const [issuer, audience] = ['https://issuer.test', 'catalog'];
  /** In one step, so that a look in between sees the old or the new. */
  const put = (file: string, text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const certify = (pair: typeof ONE): void => {
    put(tls.certFile, pair.cert);
    put(tls.keyFile, pair.key);
  };
  const configure = (auth: object | undefined): void =>
    put(config, JSON.stringify({ root: '.', tls, logLevel: 'info', ...(auth && { auth }) }));
  const authWith = (key: string): object => ({
    apiKeys: [{ key, name: 'n', grants: ['read:$'] }],
    jwt: { jwksFile, issuer, audience, defaultGrants: ['read:$'] },
  });
  const signWith = async (kid: string): Promise<string> => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    put(
      jwksFile,
      JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256' }] }),
    );
    return new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('ann')
      .setExpirationTime('5m')
      .sign(privateKey);
  };
  certify(ONE);
  const oldToken = await signWith('one');
  configure(authWith('old-key'));
  const { url, child, said } = await serve(config);
  const ca = [ONE.cert, TWO.cert];
  const kept = new Agent({ keepAlive: true, maxSockets: 1, ca });
  const fresh = (headers: Record<string, string>): Promise<Answer> =>
    ask(url, new Agent({ ca }), headers);
  const key = (value: string) => ({ 'x-api-key': value });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const first = await ask(url, kept, key('old-key'));
  expect(first).toMatchObject({ status: 200, certificate: 'one' });
  expect((await fresh(bearer(oldToken))).status).toBe(200);

  certify(TWO);
  const newToken = await signWith('two');
  configure(authWith('new-key'));
  child.kill('SIGHUP');
  await vi.waitFor(
    async () =>
      expect(await fresh(key('new-key'))).toMatchObject({ status: 200, certificate: 'two' }),
    20_000,
  );
  expect((await fresh(bearer(newToken))).status).toBe(200);
  expect((await fresh(bearer(oldToken))).status).toBe(401);
  expect((await fresh(key('old-key'))).status).toBe(401);
  // The connection that was open is still the one it was.
  expect(await ask(url, kept, key('new-key'))).toEqual({ ...first, status: 200 });

  for (const [fault, told] of [
    [() => put(config, '{"auth":'), 'is not valid JSON'],
    [() => configure(undefined), 'have no \\"auth\\"'],
    [() => put(tls.keyFile, ONE.key), 'cannot be used'],
  ] as const) {
    configure(authWith('third-key'));
    certify(TWO);
    fault();
    const before = said().length;
    child.kill('SIGHUP');
    await vi.waitFor(() => {
      const since = said().slice(before);
      expect(since).toContain('the old one stays');
      expect(since).toContain(told);
    }, 20_000);
  }
  expect(await ask(url, kept, key('none'))).toMatchObject({ status: 401, port: first.port });
  kept.destroy();
  expect(child.exitCode).toBe(null);
  child.kill('SIGTERM');
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(0);
});
