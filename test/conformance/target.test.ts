/**
 * What the conformance kit does where the target is not what it was taken for: no server, another one, one
 * that asks for credentials or goes away, and a run that is ended early.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import {
  type ConformanceReport,
  conformanceSuite,
  formatReport,
  REPORT_FORMATS,
  reportOf,
  runConformance,
} from '../../src/conformance.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';
import { createServer, type RunningServer, startServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const limits = { maxEventLoopDelayMs: 0 };
const openCatalog = (): ReturnType<typeof openDirectoryNamespace> =>
  openDirectoryNamespace({ root: '/c', fs: memoryFs() });

const env: Env = { ...systemEnv, sleep: async () => {} };
const only = ['CreateTable', 'DropTable'];

const page = (status: number, body = '<html><body>Welcome</body></html>'): Response =>
  new Response(body, { status, headers: { 'content-type': 'text/html' } });
const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

/** Runs the cases on what answers so. */
const reportOn = (
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  more: { readonly only?: readonly string[] } = { only },
): Promise<ConformanceReport> => runConformance({ uri: 'http://x', fetch }, { env, ...more });

async function command(...argv: string[]): Promise<{ code: number; out: string; error: string }> {
  let [out, error] = ['', ''];
  const code = await runCli(['conformance', ...argv], {
    env: {},
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
  });
  return { code, out, error };
}

describe('an address that is not that of a server of the protocol', () => {
  test.each([
    ['404 to everything', () => page(404)],
    ['405 to everything', () => page(405)],
    ['an HTML page to everything', () => page(200)],
    ['a page of its own to every error', () => page(500)],
    ['a redirect to everything', () => new Response(null, { status: 302 })],
    ['JSON of its own', () => json(200, {})],
    ['errors of its own in JSON', () => json(404, { error: 'Not Found', code: 'not_found' })],
    // The gateway of gRPC: its 5 is "not found", and that of the protocol a table that exists.
    ['numbers of its own in JSON', () => json(404, { code: 5, message: 'Not Found' })],
    ['that it supports nothing', () => json(406, { code: 0, error: 'Not supported.' })],
  ])('%s: no case is run, and the report says why', async (_, answer) => {
    const asked: string[] = [];
    const report = await reportOn(async (url, { method }) => {
      asked.push(`${method} ${new URL(url).pathname}`);
      return answer();
    });
    expect(report.stopped?.cause).toBe('other protocol');
    expect(report.stopped?.reason).toContain(
      'http://x is no server of this protocol: GET http://x/v1',
    );
    expect(report.totals).toMatchObject({ 'not run': report.results.length, 'not implemented': 0 });
    expect(report.results[0]).toMatchObject({ notRun: 'other protocol' });
    // It is asked for lists, and nothing is made or dropped there.
    expect(asked.filter((one) => /\/(create|drop|declare)/.test(one))).toEqual([]);
  });

  test('a wrong path before /v1 of a server of the protocol is one', async () => {
    await using server = await createServer({ namespace: await openCatalog(), limits });
    const report = await runConformance(
      { uri: 'http://x/wrong', fetch: (url, init) => server.fetch(url, init) },
      { env, only },
    );
    expect(report.stopped).toMatchObject({ cause: 'other protocol' });
  });

  test('a server with one operation of the lists, or none but describing, is one of the protocol', async () => {
    await using server = await createServer({ namespace: await openCatalog(), limits });
    for (const left of [/\/v1\/table($|\?)/, /\/v1\/table\/[^/]+\/describe$/]) {
      const report = await reportOn(async (url, init) =>
        left.test(url) ? server.fetch(url, init) : page(404),
      );
      expect(report.stopped).toBeUndefined();
      expect(report.totals['not implemented']).toBeGreaterThan(0);
    }
  });

  test('the command exits with 8, with a message and a report in the format', async () => {
    const web = createHttpServer((_, answer) => answer.writeHead(404).end('Nothing here.'));
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    for (const format of REPORT_FORMATS) {
      const { code, out, error } = await command(url, '--format', format, '--only', 'DropTable');
      expect([code, error]).toEqual([8, expect.stringContaining('is no server of this protocol')]);
      expect(out).toContain('is no server of this protocol');
    }
    const { error } = await command(url, '--json', '--only', 'DropTable');
    expect(JSON.parse(error).error).toMatchObject({ code: 'OtherProtocol', exit: 8 });
    web.close();
  });
});

describe('credentials', () => {
  const apiKeys = [{ name: 'r', key: 'a-key-that-reads', grants: ['read:$'] as const }];

  test('a server that asks for them is not judged without', async () => {
    const namespace = await openCatalog();
    await using server = await startServer({ namespace, limits, auth: { apiKeys } });
    const { code, out, error } = await command(server.url, '--json', '--only', 'DropTable');
    expect(code).toBe(6);
    const { totals, stopped, results } = JSON.parse(out) as ConformanceReport;
    expect(totals).toMatchObject({ failed: 0, 'not run': 2 });
    expect(stopped?.cause).toBe('credentials');
    expect(results[0]?.reason).toMatch(/needs credentials: .* 401/);
    expect(JSON.parse(error).error.message).toContain('$DIRSPACE_API_KEY');
  });

  test('what they do not allow is not run, and the rest is judged', async () => {
    const namespace = await openCatalog();
    await using server = await startServer({ namespace, limits, auth: { apiKeys } });
    const args = ['--json', '-H', 'x-api-key: a-key-that-reads', '--only', 'DropTable'];
    const { code, out } = await command(server.url, ...args, '--only', 'DescribeTable');
    const { totals, stopped, results } = JSON.parse(out) as ConformanceReport;
    expect([code, totals.failed, stopped]).toEqual([6, 0, undefined]);
    expect(results.filter(({ notRun }) => notRun === 'credentials').length).toBeGreaterThan(0);
    expect(results.find(({ name }) => name === 'a missing table is not found')?.verdict).toBe(
      'passed',
    );
  });

  test('a refusal of one operation is neither a failure nor a success of it', async () => {
    await using server = await createServer({ namespace: await openCatalog(), limits });
    const report = await reportOn(async (url, init) =>
      url.endsWith('/drop') ? json(403, { code: 15, error: 'No.' }) : server.fetch(url, init),
    );
    const drops = report.results.filter(({ operation }) => operation === 'DropTable');
    expect(drops.map(({ verdict, notRun }) => [verdict, notRun])).toEqual([
      ['not run', 'credentials'],
      ['not run', 'credentials'],
    ]);
    expect(report.totals.failed).toBe(0);
  });
});

describe('a server that does not answer', () => {
  const refused = (): Promise<never> =>
    Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }));

  test('where the first request fails there is a report in every format', async () => {
    let asked = 0;
    const report = await reportOn(() => {
      asked += 1;
      return refused();
    });
    expect(asked).toBe(1);
    expect(report).toMatchObject({
      stopped: { cause: 'unanswered' },
      totals: { failed: 0, passed: 0 },
    });
    const of = (format: (typeof REPORT_FORMATS)[number]): string => formatReport(report, format);
    expect(JSON.parse(of('json')).stopped.reason).toContain('ECONNREFUSED');
    expect(of('pretty')).toContain('stopped early: http://x does not answer: ');
    expect(of('tap')).toMatch(/\nBail out! .*ECONNREFUSED\n$/);
    expect(of('junit')).toMatch(
      /errors="1"[\s\S]*<error type="unanswered" message="[^"]*ECONNREFUSED/,
    );
    const gone = await startServer({ namespace: await openCatalog(), limits });
    await gone.close();
    const { code, out } = await command(gone.url, '--json', '--only', 'DropTable');
    expect([code, JSON.parse(out).totals['not run']]).toEqual([7, 2]);
  });

  test('one that is ended midway leaves the rest not run, with the reason', async () => {
    await using server = await createServer({ namespace: await openCatalog(), limits });
    let ended = false;
    let asked = 0;
    const report = await reportOn(async (url, init) => {
      ended ||= /exist_ok/.test(url);
      if (!ended) return server.fetch(url, init);
      asked += 1;
      return refused();
    });
    const at = report.results.findIndex(({ verdict }) => verdict === 'not run');
    expect(at).toBe(3);
    expect(report.results.slice(0, at).map(({ verdict }) => verdict)).toEqual(
      Array(at).fill('passed'),
    );
    for (const { verdict, notRun, reason } of report.results.slice(at)) {
      expect([verdict, notRun]).toEqual(['not run', 'unanswered']);
      expect(reason).toContain('ECONNREFUSED');
    }
    expect(report.stopped?.reason).toMatch(
      /answers no more.*left in it, under the namespace conform/,
    );
    // The request, whether the server is gone, and whether it is back for what has to be removed.
    expect(asked).toBeLessThan(10);
  });

  test('one that comes back is condemned for the request alone that it broke off', async () => {
    const namespace = await openCatalog();
    await using server = await createServer({ namespace, limits });
    let down = 0;
    const report = await reportOn(async (url, init) => {
      if (/Overwrite/.test(url)) down = 3;
      return down-- > 0 ? refused() : server.fetch(url, init);
    });
    expect(report.stopped).toBeUndefined();
    const wrong = report.results.filter(({ verdict }) => verdict !== 'passed');
    expect(wrong.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['mode Overwrite replaces the rows', 'failed'],
    ]);
    expect(wrong[0]?.got).toContain('CreateTable had no answer: connect ECONNREFUSED');
    expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual([]);
  });

  test('one that asks to come again without end is not judged, and the command exits with 7', async () => {
    const catalog = await openCatalog();
    const namespace = new Proxy(catalog as Namespace, {
      get: (target, name) => {
        if (name === 'dropTable')
          return () => Promise.reject(Object.assign(new Error('busy'), { busy: true }));
        return (Reflect.get(target, name, target) as (...inputs: unknown[]) => unknown).bind(
          target,
        );
      },
    });
    await using server = await createServer({ namespace, limits });
    const report = await reportOn(async (url, init) =>
      /\/table\/[^/]+\/drop$/.test(url) ? json(503, { code: 17 }) : server.fetch(url, init),
    );
    const [drop] = report.results.filter(({ operation }) => operation === 'DropTable');
    expect(drop).toMatchObject({ verdict: 'not run', notRun: 'unanswered' });
    expect([report.totals.failed, report.stopped]).toEqual([0, undefined]);
  });
});

describe('a run that is ended early', () => {
  const detached = (root: string): string[] => {
    const folder = join(root, '.dirspace', 'detached');
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  /** A server of a catalog on disk, which tells of each request before it is answered. */
  async function served(
    seen: (path: string) => void,
  ): Promise<{ server: RunningServer; namespace: Namespace; root: string; url: string }> {
    const root = join(temporaryFolder(), 'catalog');
    const namespace = await openDirectoryNamespace({ root, durability: 'relaxed' });
    const telling = new Proxy(namespace as Namespace, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target);
        if (typeof method !== 'function') return method;
        return (...inputs: unknown[]) => {
          seen(String(name));
          return method.apply(target, inputs);
        };
      },
    });
    const server = await startServer({ namespace: telling, limits });
    return { server, namespace, root, url: server.url };
  }

  test('a whole run leaves no table behind, deregistered ones neither', async () => {
    const { server, namespace, root, url } = await served(() => {});
    await using _ = server;
    const { totals } = await runConformance(url, {
      only: ['DeregisterTable', 'RegisterTable', 'RenameTable'],
    });
    expect(totals.passed).toBe(6);
    expect(detached(root)).toEqual([]);
    expect((await namespace.listAllTables({})).tables).toEqual([]);
    expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual([]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s removes what was made, and prints what was found',
    async (signal, code) => {
      const main = fileURLToPath(compiledModule('cli/main.js'));
      let child: ReturnType<typeof spawn> | undefined;
      let tables = 0;
      const { server, namespace, root, url } = await served((name) => {
        if (name === 'createTable' && ++tables === 5) child?.kill(signal);
      });
      await using _ = server;
      const begun = spawn(process.execPath, [main, 'conformance', url, '--format', 'json']);
      child = begun;
      const said = { out: '', error: '' };
      begun.stdout.setEncoding('utf8').on('data', (text: string) => {
        said.out += text;
      });
      begun.stderr.setEncoding('utf8').on('data', (text: string) => {
        said.error += text;
      });
      const [exit] = await once(begun, 'close');
      expect(exit, said.error).toBe(code);
      expect(said.error).toContain('removing what was made');
      const { stopped, results, totals } = JSON.parse(said.out) as ConformanceReport;
      expect(stopped?.cause).toBe('interrupted');
      expect(totals.passed).toBeGreaterThan(10);
      expect(results.at(-1)).toMatchObject({ verdict: 'not run', notRun: 'interrupted' });
      expect((await namespace.listAllTables({})).tables).toEqual([]);
      expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual([]);
      expect(detached(root)).toEqual([]);
    },
    120_000,
  );

  test('the second Ctrl-C ends the process at once', async () => {
    const press: (() => void)[] = [];
    const { server, url } = await served((name) => {
      if (name === 'createTable') press[0]?.();
    });
    await using _ = server;
    let run: Promise<number> | undefined;
    const abandoned = await new Promise<number>((resolve) => {
      run = runCli(['conformance', url, '--only', 'DropTable'], {
        env: {},
        out: () => {},
        error: () => press[1]?.(),
        interrupted: () => new Promise((said) => void press.push(() => said('SIGINT'))),
        abandon: resolve,
      });
    });
    expect(abandoned).toBe(130);
    expect(await run).toBe(130);
  });

  test('no case is run once the suite is closed, and closing waits for the one under way', async () => {
    const { server, namespace, url } = await served(() => {});
    await using _ = server;
    const suite = conformanceSuite(url, { only: ['TableExists', 'CountTableRows'] });
    const [first, second] = suite.cases;
    const started = first?.run();
    const queued = second?.run();
    await suite.close();
    expect(await started).toMatchObject({ verdict: 'not run', notRun: 'closed' });
    expect(await queued).toMatchObject({ verdict: 'not run', notRun: 'closed' });
    const other = conformanceSuite(url, { only: ['TableExists', 'CountTableRows'] });
    const passed = await other.cases[0]?.run();
    await other.close();
    expect(await other.cases[0]?.run()).toBe(passed);
    expect(passed?.verdict).toBe('passed');
    expect(await other.cases[1]?.run()).toMatchObject({ verdict: 'not run', notRun: 'closed' });
    expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual([]);
  });

  test('a signal ends a run in a program too', async () => {
    const controller = new AbortController();
    const { server, namespace, url } = await served((name) => {
      if (name === 'createTable') controller.abort();
    });
    await using _ = server;
    const report = await runConformance(url, { only, signal: controller.signal });
    expect(report.stopped?.cause).toBe('interrupted');
    expect(report.totals['not run']).toBe(report.results.length);
    expect((await namespace.listAllTables({})).tables).toEqual([]);
    expect(reportOf('x', report.results, 0).stopped).toBeUndefined();
  });
});

describe('what a suite is given', () => {
  const suite =
    (target: unknown, options: unknown = {}) =>
    () =>
      conformanceSuite(target as never, options as never);

  test.each([
    [
      { onyl: ['DropTable'] },
      'There is no option "onyl"; there is only, skip, signal, env. Did you mean "only"?',
    ],
    [{ only: 'DropTable' }, 'only is a string; give an array of strings.'],
    [{ only: [7] }, 'only is an array of other things; give an array of strings.'],
    [{ skip: { DropTable: true } }, 'skip is an object; give an array of strings.'],
    [{ only: null }, 'only is null; give an array of strings.'],
    [{ signal: true }, 'signal is a boolean; give an AbortSignal.'],
    [{ env: 7 }, 'env is a number; give an object with now, uuid, random and sleep.'],
    [['DropTable'], 'options is an array; give an object.'],
    [null, 'options is null; give an object.'],
  ])('options %j are refused', async (options, message) => {
    const error = expect.objectContaining({ code: 'InvalidInput', message });
    expect(suite('http://x', options)).toThrow(error);
    await expect(runConformance('http://x', options as never)).rejects.toEqual(error);
  });

  test('an operation that a catalog in process lacks is not implemented', async () => {
    const catalog = { describeNamespace: () => ({}) } as unknown as Namespace;
    const { results } = await runConformance(catalog, {
      only: ['DropNamespace: mode Skip accepts a missing namespace, in both spellings'],
    });
    expect(results).toMatchObject([{ verdict: 'not implemented' }]);
    const there = await runConformance(catalog, { only: ['DescribeNamespace: the root is there'] });
    expect(there.results).toMatchObject([{ verdict: 'passed' }]);
  });

  test.each([
    [undefined, 'The target is undefined; give the base address of a server'],
    [7, 'The target is a number; give the base address of a server'],
    [{}, 'The target has no members, and no operation of the protocol; give'],
    [{ url: 'http://x' }, 'The target has the members url, and no operation of the protocol; give'],
    [
      { uri: 'http://x', header: {} },
      'There is no member of the target "header"; there is uri, headers, fetch, timeoutMs. Did',
    ],
    [{ uri: 'http://x', headers: 'x' }, 'headers is a string; give an object of names and values.'],
    [{ uri: 'http://x', fetch: 7 }, 'fetch is a number; give a function.'],
    [{ uri: 7 }, 'The uri 7 is no address'],
    [{ uri: 'http://x', timeoutMs: 'x' }, 'timeoutMs is x; expected an integer'],
    ['nowhere', 'The uri "nowhere" is no address'],
  ])('the target %j is refused', async (target, message) => {
    const error = expect.objectContaining({
      code: 'InvalidInput',
      message: expect.stringContaining(message),
    });
    expect(suite(target)).toThrow(error);
    await expect(runConformance(target as never)).rejects.toEqual(error);
  });
});
