/** The conformance kit on servers that leave requests without an answer, and runs that are interrupted there. */
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { type ConformanceReport, runConformance } from '../../src/conformance.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import { createServer, startServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';

const limits = { maxEventLoopDelayMs: 0 };
const openCatalog = (): ReturnType<typeof openDirectoryNamespace> =>
  openDirectoryNamespace({ root: '/c', fs: memoryFs() });

/** Waits for no pause, and for no time limit of an interrupted run. */
const env: Env = { ...systemEnv, sleep: async () => {} };

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Runs the cases on our server, but for the requests that `instead` answers itself. */
async function reportOn(
  only: readonly string[],
  instead: (url: string) => Promise<Response> | undefined,
  more: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<ConformanceReport> {
  await using server = await createServer({ namespace: await openCatalog(), limits });
  const fetch: Fetch = async (url, init) => (await instead(url)) ?? server.fetch(url, init);
  const { signal, timeoutMs = 500 } = more;
  return await runConformance(
    { uri: 'http://x', fetch, timeoutMs },
    { env, only, ...(signal && { signal }) },
  );
}

const never = (): Promise<never> => new Promise(() => {});

describe('requests without an answer', () => {
  test('after three of one operation the rest of its cases are not run, and others are', async () => {
    let asked = 0;
    const report = await reportOn(['QueryTable', 'CountTableRows'], (url) => {
      if (!/\/query$/.test(url)) return undefined;
      asked += 1;
      return never();
    });
    expect(report.stopped).toBeUndefined();
    expect(asked).toBe(3);
    const queries = report.results.filter(({ operation }) => operation === 'QueryTable');
    const failed = queries.filter(({ verdict }) => verdict === 'failed');
    expect(failed.map(({ got }) => got)).toEqual(
      Array(3).fill('QueryTable had no answer: none within 500 ms'),
    );
    const rest = queries.filter(({ notRun }) => notRun === 'unanswered');
    expect(rest.length).toBe(queries.length - 3);
    expect(rest[0]?.reason).toBe('the server left 3 requests of QueryTable unanswered');
    const counts = report.results.filter(({ operation }) => operation === 'CountTableRows');
    expect(new Set(counts.map(({ verdict }) => verdict))).toEqual(new Set(['passed']));
  });

  test('lists of namespaces that hang leave the rest to be judged', async () => {
    const hangs = /\/v1\/namespace\/[^/]+\/list/;
    const report = await reportOn(['ListNamespaces', 'CountTableRows'], (url) =>
      hangs.test(url) ? never() : undefined,
    );
    expect(report.stopped).toBeUndefined();
    const counts = report.results.filter(({ operation }) => operation === 'CountTableRows');
    expect(new Set(counts.map(({ verdict }) => verdict))).toEqual(new Set(['passed']));
  });

  test('a server that hangs from some point on is left after one more request', async () => {
    let late = 0;
    const report = await reportOn(['TableExists', 'CountTableRows'], (url) => {
      if (late === 0 && !/\/count_rows$/.test(url)) return undefined;
      late += 1;
      return never();
    });
    expect(report.stopped?.cause).toBe('unanswered');
    // The request, whether it is gone, and whether it is back for the removal.
    expect(late).toBe(3);
  });

  test('an interrupted run does not wait for its answer, nor for those of the removal', async () => {
    const controller = new AbortController();
    let asked = 0;
    const report = await reportOn(
      ['CountTableRows'],
      (url) => {
        if (!/\/(count_rows|drop)$/.test(url)) return undefined;
        asked += 1;
        controller.abort();
        return never();
      },
      { signal: controller.signal, timeoutMs: 0 },
    );
    expect(asked).toBeLessThan(4);
    expect(report.stopped?.cause).toBe('interrupted');
    expect(report.stopped?.reason).toMatch(
      /^The run was interrupted\. What was made could not all be removed: the namespace conform/,
    );
    expect(new Set(report.results.map(({ notRun }) => notRun))).toEqual(new Set(['interrupted']));
  });

  test('an interrupted run of a catalog in process does not wait either', async () => {
    const controller = new AbortController();
    const catalog = await openCatalog();
    const namespace = new Proxy(catalog, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target);
        if (name !== 'countTableRows') return method.bind?.(target) ?? method;
        return () => {
          controller.abort();
          return never();
        };
      },
    });
    const { signal } = controller;
    const report = await runConformance(namespace, { env, only: ['CountTableRows'], signal });
    expect(report.stopped?.cause).toBe('interrupted');
  });
});

/** A server in front of ours that leaves counts of rows unanswered. */
async function hangingServer(onCount: () => void) {
  const server = await startServer({ namespace: await openCatalog(), limits });
  const front = createHttpServer(async (request, response) => {
    const url = request.url ?? '';
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (/\/count_rows$/.test(url)) return onCount();
    const { method = 'GET', headers } = request;
    const { 'content-type': type, accept } = headers;
    const body = method === 'GET' ? undefined : Buffer.concat(chunks);
    const given = { ...(type && { 'content-type': type }), ...(accept && { accept }) };
    const answer = await fetch(server.url + url, { method, headers: given, ...(body && { body }) });
    const answered = answer.headers.get('content-type');
    response.writeHead(answer.status, answered === null ? {} : { 'content-type': answered });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  front.listen(0, '127.0.0.1');
  await new Promise((resolve) => front.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      front.close();
      await server.close();
    },
  };
}

describe('the command', () => {
  test('--timeout bounds each answer, and is checked', async () => {
    await using server = await hangingServer(() => {});
    let [out, error] = ['', ''];
    const around = {
      env: {},
      out: (text: string) => {
        out += text;
      },
      error: (text: string) => {
        error += text;
      },
    };
    const args = ['conformance', server.url, '--only', 'CountTableRows', '--timeout'];
    // The table that is counted is made by calls that must be answered within the same time.
    expect(await runCli([...args, '4', '--json'], around)).toBe(1);
    const { results } = JSON.parse(out) as ConformanceReport;
    expect(results[0]?.got).toBe('CountTableRows had no answer: none within 4000 ms');
    expect(await runCli([...args, 'soon'], around)).toBe(2);
    expect(error).toContain('--timeout is "soon"; give a whole number');
  });

  test('the second Ctrl-C prints what is known before it ends the process', async () => {
    const press: (() => void)[] = [];
    await using server = await hangingServer(() => press[0]?.());
    let out = '';
    let abandoned: [number, string] | undefined;
    const only = ['--only', 'TableExists', '--only', 'CountTableRows', '--json'];
    const code = await runCli(['conformance', server.url, ...only], {
      env: {},
      out: (text) => {
        out += text;
      },
      error: (text) => {
        if (text.includes('Ctrl-C again')) setImmediate(() => press[1]?.());
      },
      interrupted: () => new Promise((said) => void press.push(() => said('SIGINT'))),
      abandon: (exit) => {
        abandoned = [exit, out];
      },
    });
    expect([code, abandoned?.[0]]).toEqual([130, 130]);
    // Once only, though the process of this test went on.
    expect(out).toBe(abandoned?.[1]);
    const { results, stopped } = JSON.parse(out) as ConformanceReport;
    expect(stopped?.cause).toBe('interrupted');
    expect(results.some(({ verdict }) => verdict === 'passed')).toBe(true);
  });
});

describe('an answer of 404 that has no code', () => {
  const stats = async (answer: () => Response): Promise<string[]> => {
    const { results } = await reportOn(
      ['GetTableStats'],
      (url) => (/\/stats$/.test(url) ? Promise.resolve(answer()) : undefined),
      { timeoutMs: 10_000 },
    );
    return results.map(({ verdict, got = '' }) => `${verdict} ${got}`.trim());
  };

  test('fails where a handler wrote an error body of the protocol', async () => {
    for (const verdict of await stats(() => json(404, { error: 'No such table.' }))) {
      expect(verdict).toMatch(/^failed (status 404 without the "code"|no code with status 404)/);
    }
  });

  test.each([
    ['a page', () => new Response('<html></html>', { status: 404 })],
    ['a body of a framework', () => json(404, { detail: 'Not Found' })],
    ['another', () => json(404, { timestamp: 1, status: 404, error: 'Not Found', path: '/v1' })],
    [
      'a third',
      () => json(404, { message: 'Route not found', error: 'Not Found', statusCode: 404 }),
    ],
  ])('is no route where it is %s', async (_, answer) => {
    expect(new Set(await stats(answer))).toEqual(new Set(['not implemented']));
  });
});
