/** `/metrics`: its form, its numbers against the requests that were made, and who may read it. */
import nodeFs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Counters } from '../../src/counters.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { configOf } from '../../src/server/config.ts';
import { metricsText } from '../../src/server/observe/prometheus.ts';
import { createServer, type ServerOptions } from '../../src/server.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { readMetrics } from '../helpers/prometheus.ts';
import { rawAnswer } from '../helpers/raw-http.ts';
import { ARROW, ask, type Pair, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stage } from '../helpers/staged-version.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

type Labels = Readonly<Record<string, string>>;

class Read {
  readonly #families: ReturnType<typeof readMetrics>;

  constructor(text: string) {
    this.#families = readMetrics(text);
  }

  get names(): string[] {
    return [...this.#families.keys()];
  }

  /** The value of the sample with exactly these labels; undefined where there is none. */
  value(name: string, labels: Labels = {}): number | undefined {
    const found = [...this.#families.values()]
      .flatMap(({ samples }) => samples)
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([key, is]) => sample.labels[key] === is));
    return found.length === 1 ? found[0]?.value : undefined;
  }

  labels(name: string, label: string): string[] {
    const samples = this.#families.get(name)?.samples ?? [];
    return [...new Set(samples.map(({ labels }) => labels[label] ?? ''))].sort();
  }

  requests(operation: string, status: number | string): number | undefined {
    return this.value('dirspace_requests_total', { operation, status: String(status) });
  }
}

async function metricsOf(pair: Pair, headers: Record<string, string> = {}): Promise<Read> {
  const {
    status,
    text,
    headers: answered,
  } = await ask(pair, 'GET', '/metrics', undefined, headers);
  expect(status).toBe(200);
  expect(answered.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return new Read(text);
}

/** Once the server has noticed the end of every request but the one for the metrics. */
const settledMetrics = (pair: Pair): Promise<Read> =>
  vi.waitFor(async () => {
    const read = await metricsOf(pair);
    expect(read.value('dirspace_requests_in_flight')).toBe(1);
    return read;
  });

const location = { location: '/x' };
const describing = (): ServerOptions => ({
  namespace: stubNamespace({ describeTable: () => location }),
});

describe('the text format', () => {
  test('escapes help and labels, and writes infinities as Prometheus reads them', () => {
    const text = metricsText([
      {
        name: 'odd',
        type: 'gauge',
        help: 'a \\ and\na line',
        samples: [
          { labels: { a: 'x"y\\z\n', b: '' }, value: Number.POSITIVE_INFINITY },
          { labels: { a: 'n' }, value: Number.NaN },
          { value: Number.NEGATIVE_INFINITY },
          { labels: { a: 'small' }, value: 1e-9 },
        ],
      },
      { name: 'none', type: 'gauge', help: 'of it', samples: [] },
    ]);
    expect(text).toContain('# HELP odd a \\\\ and\\na line\n');
    expect(text).toContain('odd{a="x\\"y\\\\z\\n",b=""} +Inf\n');
    const families = readMetrics(text);
    expect([...families.keys()]).toEqual(['odd']);
    expect(families.get('odd')).toMatchObject({
      help: 'a \\ and\na line',
      samples: [
        { labels: { a: 'x"y\\z\n', b: '' }, value: Infinity },
        { labels: { a: 'n' }, value: Number.NaN },
        { labels: {}, value: -Infinity },
        { labels: { a: 'small' }, value: 1e-9 },
      ],
    });
  });

  test.each([
    'a 1\n',
    '# HELP a b\n# TYPE a gauge\na 1',
    '# HELP a b\n# TYPE b gauge\na 1\n',
    '# HELP a_total b\n# TYPE a_total counter\na_total{x="1",x="2"} 1\n',
    '# HELP a b\n# TYPE a gauge\na{x="\\q"} 1\n',
    '# HELP a b\n# TYPE a gauge\na 1\na 2\n',
    '# HELP a b\n# TYPE a gauge\na Infinity\n',
    '# HELP a b\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
    '# HELP a b\n# TYPE a histogram\na_bucket{le="+Inf"} 1\na_sum 1\na_count 2\n',
  ])('the reader of these tests refuses %j', (text) => {
    expect(() => readMetrics(text)).toThrow();
  });
});

describe.each(['inject', 'socket'] as const)('the numbers: %s', (wire) => {
  test('requests by operation and status, with a histogram of as many', async () => {
    const pair = await restPair(describing(), { wire });
    for (let at = 0; at < 3; at++) await ask(pair, 'POST', '/v1/table/t/describe', {});
    await ask(pair, 'POST', '/v1/table/t/describe', { version: 'x' });
    await ask(pair, 'POST', '/v1/table/t/exists', {});
    await ask(pair, 'GET', '/health');
    for (let at = 0; at < 50; at++) await ask(pair, 'GET', `/v1/secret-${at}`);
    await ask(pair, 'PUT', '/v1/table/t/describe');
    const read = await settledMetrics(pair);
    expect(read.requests('DescribeTable', 200)).toBe(3);
    expect(read.requests('DescribeTable', 400)).toBe(1);
    expect(read.requests('TableExists', 406)).toBe(1);
    expect(read.requests('health', 200)).toBe(1);
    expect(read.requests('unknown', 404)).toBe(50);
    expect(read.requests('unknown', 405)).toBe(1);
    const known = ['DescribeTable', 'TableExists', 'health', 'unknown'];
    const operations = read.labels('dirspace_requests_total', 'operation');
    expect(operations.filter((name) => name !== 'metrics')).toEqual(known);
    const operation = 'DescribeTable';
    expect(read.value('dirspace_request_duration_seconds_count', { operation })).toBe(4);
    expect(read.value('dirspace_request_duration_seconds_sum', { operation })).toBeGreaterThan(0);
    const longest = { operation, le: '120' };
    expect(read.value('dirspace_request_duration_seconds_bucket', longest)).toBe(4);
  });

  test('bytes of bodies in and out, of JSON and of rows, and none for HEAD', async () => {
    const rows = someRows(1000);
    const namespace = stubNamespace({
      describeTable: () => location,
      queryTable: () => rows,
      insertIntoTable: async (_: unknown, data: AsyncIterable<Uint8Array>) => {
        for await (const _piece of data);
        return { version: 1 };
      },
    });
    const pair = await restPair({ namespace }, { wire });
    const body = { id: ['t'], branch: 'ü' };
    const first = await ask(pair, 'POST', '/v1/table/t/describe', body);
    const data = await streamBytes(someRows(500));
    const second = await ask(pair, 'POST', '/v1/table/t/insert', data, ARROW);
    expect([first.status, second.status]).toEqual([200, 200]);
    await pair.fetch(`${pair.base}/health`, { method: 'HEAD' });
    const query = { id: ['t'], k: 10, vector: { single_vector: [1] } };
    const response = await pair.fetch(`${pair.base}/v1/table/t/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(query),
    });
    const answered = (await response.arrayBuffer()).byteLength;
    expect(answered).toBeGreaterThan(4000);
    const { text: scrape } = await vi.waitFor(async () => {
      const asked = await ask(pair, 'GET', '/metrics');
      const read = new Read(asked.text);
      expect(read.value('dirspace_requests_in_flight')).toBe(1);
      // What earlier tries have got counts too: only the first may be looked at.
      expect(read.requests('metrics', 200)).toBeUndefined();
      return asked;
    });
    const read = new Read(scrape);
    const sent =
      Buffer.byteLength(JSON.stringify(body)) +
      data.byteLength +
      Buffer.byteLength(JSON.stringify(query));
    expect(read.value('dirspace_request_body_bytes_total')).toBe(sent);
    const got = Buffer.byteLength(first.text) + Buffer.byteLength(second.text) + answered;
    expect(read.value('dirspace_response_body_bytes_total')).toBe(got);
  });

  test('in flight and queued while they are, gone where the caller left', async () => {
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    let begun = 0;
    const namespace = stubNamespace({
      describeTable: async () => {
        begun++;
        await held;
        return location;
      },
    });
    const limits = { maxInFlightPerTable: 1 };
    const pair = await restPair({ namespace, limits }, { wire });
    const first = ask(pair, 'POST', '/v1/table/t/describe', {});
    await vi.waitFor(() => expect(begun).toBe(1));
    const second = ask(pair, 'POST', '/v1/table/t/describe', {});
    const leaving = new AbortController();
    const third = pair.fetch(`${pair.base}/v1/table/t/describe`, {
      method: 'POST',
      signal: leaving.signal,
    });
    await vi.waitFor(async () => {
      const read = await metricsOf(pair);
      expect(read.value('dirspace_requests_queued')).toBe(2);
      expect(read.value('dirspace_requests_in_flight')).toBe(4);
    });
    leaving.abort();
    await expect(third).rejects.toThrow();
    await vi.waitFor(async () => {
      const read = await metricsOf(pair);
      expect(read.value('dirspace_requests_queued')).toBe(1);
      expect(read.requests('DescribeTable', 'gone')).toBe(1);
    });
    release();
    await Promise.all([first, second]);
    const read = await settledMetrics(pair);
    expect(read.value('dirspace_requests_queued')).toBe(0);
    expect(read.requests('DescribeTable', 200)).toBe(2);
  });
});

describe('refused, by the name of the limit', () => {
  const refusals = async (pair: Pair, limit: string): Promise<number | undefined> =>
    (await settledMetrics(pair)).value('dirspace_requests_refused_total', { limit });

  test.each([
    ['maxQueue', { maxInFlight: 1, maxQueue: 0 }],
    ['maxQueuePerTable', { maxInFlightPerTable: 1, maxQueuePerTable: 0 }],
    ['queueTimeoutMs', { maxInFlight: 1, queueTimeoutMs: 1 }],
    ['requestTimeoutMs', { requestTimeoutMs: 1 }],
  ])('%s', async (limit, limits) => {
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    let begun = 0;
    const namespace = stubNamespace({
      describeTable: async () => {
        begun++;
        await held;
        return location;
      },
    });
    const pair = await restPair({ namespace, limits });
    const first = ask(pair, 'POST', '/v1/table/t/describe', {});
    await vi.waitFor(() => expect(begun).toBe(1));
    if (limit !== 'requestTimeoutMs') {
      expect((await ask(pair, 'POST', '/v1/table/t/describe', {})).status).toBe(503);
    } else expect((await first).status).toBe(503);
    release();
    await first;
    expect(await refusals(pair, limit)).toBe(1);
  });

  test('maxUnauthenticated, and none for what needs another right', async () => {
    const auth = { apiKeys: [{ key: 'secret', name: 'n', grants: ['read:$' as const] }] };
    const pair = await restPair({
      ...describing(),
      auth,
      metrics: { public: true },
      limits: { maxUnauthenticated: 1 },
    });
    const bodies = Array.from({ length: 2 }, () => new ReadableStream({}));
    const leaving = new AbortController();
    const asked = bodies.map((body) =>
      pair
        .fetch(`${pair.base}/v1/table/t/describe`, {
          method: 'POST',
          body,
          duplex: 'half',
          signal: leaving.signal,
        } as RequestInit)
        .then(({ status }) => status)
        .catch(() => 0),
    );
    expect(await Promise.race(asked)).toBe(503);
    leaving.abort();
    await Promise.all(asked);
    const denied = await ask(pair, 'POST', '/v1/table/t/drop', {}, { 'x-api-key': 'secret' });
    expect(denied.status).toBe(403);
    const read = await settledMetrics(pair);
    expect(read.labels('dirspace_requests_refused_total', 'limit')).toEqual(['maxUnauthenticated']);
    expect(read.value('dirspace_requests_refused_total')).toBe(1);
    expect(read.value('dirspace_requests_queued')).toBe(0);
  });

  test('bodies that are too large, as they are sent and as they are said to be', async () => {
    const limits = { maxJsonBytes: 10, maxArrowBytes: 100 };
    const pair = await restPair({ root: temporaryFolder(), limits });
    expect(
      (await ask(pair, 'POST', '/v1/table/t/describe', { id: ['t'], version: 1 })).status,
    ).toBe(413);
    const data = await streamBytes(someRows(500));
    expect((await ask(pair, 'POST', '/v1/table/t/create', data, ARROW)).status).toBe(413);
    const streamed = await pair.fetch(`${pair.base}/v1/table/t/create`, {
      method: 'POST',
      headers: ARROW,
      body: new Blob([data]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
    expect(await refusals(pair, 'maxJsonBytes')).toBe(1);
    expect(await refusals(pair, 'maxArrowBytes')).toBe(2);
  });

  test.each([
    ['maxArrowBytes', { maxArrowBytes: 16 * 2 ** 20 }],
    ['requestMemory', { requestMemory: 16 * 2 ** 20 }],
    ['serverMemory', { serverMemory: 16 * 2 ** 20 }],
  ])('what a compressed body takes once it is decompressed: %s', async (limit, limits) => {
    // Written by pyarrow: four batches of 32 MiB in 12 KB.
    const fixture = join(
      import.meta.dirname,
      '..',
      '..',
      'fixtures',
      'ipc',
      'constant-zstd.arrows',
    );
    const pair = await restPair({ root: temporaryFolder(), limits });
    await ask(pair, 'POST', '/v1/table/t/create', nodeFs.readFileSync(fixture), ARROW);
    expect(await refusals(pair, limit)).toBe(1);
  });

  test('names that are no limits of this server are not counted', async () => {
    const { DirspaceError } = await import('../../src/errors.ts');
    const namespace = stubNamespace({
      describeTable: () => {
        throw new DirspaceError('Throttling', 'No.', { details: { limit: 'secret-table' } });
      },
    });
    const pair = await restPair({ namespace });
    await ask(pair, 'POST', '/v1/table/t/describe', {});
    const { text } = await ask(pair, 'GET', '/metrics');
    expect(text).not.toContain('secret-table');
  });
});

describe('the server and its catalogs', () => {
  test('commits, conflicts and caches of the roots that it opens', async () => {
    const root = temporaryFolder();
    const pair = await restPair({ root });
    const data = await streamBytes();
    await ask(pair, 'POST', '/v1/table/t/create', data, ARROW);
    await ask(pair, 'POST', '/v1/table/t/insert', data, ARROW);
    const before = await settledMetrics(pair);
    expect(before.value('dirspace_commits_total')).toBe(2);
    expect(before.value('dirspace_commit_conflicts_total')).toBe(0);
    for (let at = 0; at < 3; at++) await ask(pair, 'POST', '/v1/table/t/count_rows', {});
    const after = await settledMetrics(pair);
    for (const cache of ['metadata', 'heads', 'buffers']) {
      for (const name of ['dirspace_cache_hits_total', 'dirspace_cache_misses_total']) {
        expect(after.value(name, { cache }), `${name} ${cache}`).toBeGreaterThanOrEqual(0);
      }
    }
    const cache = 'heads';
    const hits = after.value('dirspace_cache_hits_total', { cache }) ?? 0;
    expect(hits - (before.value('dirspace_cache_hits_total', { cache }) ?? 0)).toBeGreaterThan(2);
  });

  test.each([false, true])(
    'every way to commit counts, and once; managed: %s',
    async (managedVersioning) => {
      const counters = new Counters();
      const root = temporaryFolder();
      const catalog = await openDirectoryNamespace({ root, managedVersioning, counters });
      const files = filesOf(nodeFs, root);
      const steps = [
        () => catalog.createTable({ id: ['t'] }, someRows()),
        () => catalog.insertIntoTable({ id: ['t'] }, someRows()),
        async () => catalog.createTableVersion(await stage({ namespace: catalog, files }, ['t'])),
        async () => {
          const staged = await stage({ namespace: catalog, files }, ['t']);
          await catalog.batchCommitTables({ operations: [{ create_table_version: staged }] });
        },
      ];
      for (const [at, step] of steps.entries()) {
        await step();
        expect(counters).toMatchObject({ commits: at + 1, conflicts: 0 });
      }
      await catalog.createTableBranch({ id: ['t'], name: 'b' });
      expect(counters.commits).toBe(steps.length);
      await catalog.close();
    },
  );

  test('nothing of catalogs that it was given open', async () => {
    const read = await metricsOf(await restPair(describing()));
    expect(read.names.filter((name) => /cache|commit/.test(name))).toEqual([]);
  });

  test('memory and the event loop, and the limit that a server was given', async () => {
    const limits = { serverMemory: 12_345_678, maxEventLoopDelayMs: 0 };
    const pair = await restPair({ ...describing(), limits });
    await vi.waitFor(
      async () => {
        const read = await metricsOf(pair);
        expect(read.value('dirspace_event_loop_delay_seconds_count')).toBeGreaterThan(0);
        expect(read.value('dirspace_event_loop_delay_seconds', { quantile: '1' })).toBeGreaterThan(
          0,
        );
      },
      { timeout: 20_000 },
    );
    const read = await metricsOf(pair);
    expect(read.value('dirspace_server_memory_limit_bytes')).toBe(12_345_678);
    expect(read.value('dirspace_server_memory_taken_bytes')).toBe(0);
    for (const name of [
      'process_resident_memory_bytes',
      'nodejs_heap_size_used_bytes',
      'nodejs_heap_size_total_bytes',
      'nodejs_external_memory_bytes',
    ]) {
      expect(read.value(name), name).toBeGreaterThan(1000);
    }
  });

  test('bytes that are no request, by status', async () => {
    const pair = await restPair(describing(), { wire: 'socket' });
    expect(await rawAnswer(pair.base, 'nonsense\r\n\r\n')).toContain(' 400 ');
    const read = await metricsOf(pair);
    expect(read.value('dirspace_malformed_requests_total', { status: '400' })).toBe(1);
  });

  test('they are answered under load', async () => {
    const pair = await restPair({ ...describing(), limits: { maxEventLoopDelayMs: 20 } });
    await vi.waitFor(
      async () => {
        const until = performance.now() + 100;
        while (performance.now() < until);
        expect((await ask(pair, 'POST', '/v1/table/t/describe', {})).status).toBe(503);
        const read = await metricsOf(pair);
        const limit = 'maxEventLoopDelayMs';
        expect(read.value('dirspace_requests_refused_total', { limit })).toBeGreaterThan(0);
      },
      { timeout: 20_000, interval: 1 },
    );
  });
});

describe('who may read them', () => {
  const grants = {
    all: ['read:$'],
    part: ['admin:a'],
    one: [{ namespace: '$', permission: 'admin', database: 'one' }],
    none: [],
  } as const;
  const auth = {
    apiKeys: Object.entries(grants).map(([name, given]) => ({
      key: `key-${name}`,
      name,
      grants: given,
    })),
  };
  const statusOf = async (pair: Pair, key?: string): Promise<number> =>
    (await ask(pair, 'GET', '/metrics', undefined, key ? { 'x-api-key': key } : {})).status;

  test('who may read every database, where there is auth', async () => {
    const pair = await restPair({ ...describing(), auth });
    expect(await statusOf(pair)).toBe(401);
    expect(await statusOf(pair, 'wrong')).toBe(401);
    expect(await statusOf(pair, 'key-all')).toBe(200);
    for (const name of ['part', 'one', 'none']) {
      expect(await statusOf(pair, `key-${name}`), name).toBe(403);
    }
  });

  test('everybody where they are public, and where there is no auth', async () => {
    expect(
      await statusOf(await restPair({ ...describing(), auth, metrics: { public: true } })),
    ).toBe(200);
    expect(
      await statusOf(await restPair({ ...describing(), auth, metrics: { public: false } })),
    ).toBe(401);
    expect(await statusOf(await restPair(describing()))).toBe(200);
  });

  test('no page under a name of its own', async () => {
    const pair = await restPair(describing(), { wire: 'socket' });
    const raw = 'GET /metrics HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n';
    expect(await rawAnswer(pair.base, raw)).toContain(' 421 ');
  });

  test('misspelt members of the option are refused, in a configuration too', async () => {
    const metrics = { pubic: true } as never;
    await expect(createServer({ ...describing(), metrics })).rejects.toThrow(/pubic/);
    expect(() => configOf({ metrics: { public: 'yes' } }, '.', {})).toThrow(/metrics\.public/);
    expect(configOf({ metrics: { public: true } }, '.', {}).metrics).toEqual({ public: true });
  });
});
