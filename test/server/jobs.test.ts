/** Jobs over REST: who may begin, see and end them, what a database shows, and the SDK on them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Env, systemEnv } from '../../src/env.ts';
import { DirspaceError } from '../../src/errors.ts';
import { type Connection, connect, connectNamespace, Index } from '../../src/index.ts';
import type { JobContent } from '../../src/protocol/index.ts';
import { Connection as AnyConnection } from '../../src/sdk/connection.ts';
import { scopedCaller } from '../../src/server/auth/index.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { recordingCatalog, TABLE_ANSWERS } from '../helpers/recording-catalog.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';

const rows = Array.from({ length: 50 }, (_, id) => ({ id, x: id * 2 }));

let db: Connection;
let pair: Pair;
beforeAll(async () => {
  db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  await db.createNamespace(['prod']);
  await db.createTable('t', rows, ['prod']);
  await db.createTable('t', rows);
  pair = await restPair({
    namespace: db.namespace,
    auth: {
      apiKeys: [
        { key: 'admin', name: 'admin', grants: ['admin:prod'] },
        { key: 'writer', name: 'writer', grants: ['write:prod'] },
        { key: 'reader', name: 'reader', grants: ['read:prod'] },
        { key: 'other', name: 'other', grants: ['write:elsewhere'] },
      ],
    },
  });
});
afterAll(() => db.close());

const post = async (key: string, path: string, body: object) => {
  const answer = await ask(pair, 'POST', `/v1/dirspace/${path}`, body, { 'x-api-key': key });
  return { status: answer.status, body: answer.json as JobContent & { jobs: JobContent[] } };
};

const begin = (key: string, more: object, table = 'prod$t') =>
  post(key, `table/${table}/begin_job`, { operation: 'OptimizeTable', ...more });

describe('rights', () => {
  const old = { parameters: { cleanup_older_than_millis: 1e12 } };
  test.each([
    ['writer', {}, 202],
    ['reader', {}, 403],
    ['other', {}, 403],
    ['writer', old, 403],
    ['admin', old, 202],
    ['writer', { operation: 'CleanupTable', parameters: { older_than_millis: 1e12 } }, 403],
    ['writer', { operation: 'DropTable' }, 400],
    ['reader', { operation: 'DropTable' }, 403],
  ])('%s begins %j: %i', async (key, request, status) => {
    expect((await begin(key, request)).status).toBe(status);
    if (key !== 'admin') expect((await begin(key, request, 't')).status).toBe(403);
  });

  test('the refusal of an operation that there is no job of names what was asked for', async () => {
    const { body } = await begin('reader', { operation: 'Nope' });
    expect(body).toMatchObject({ detail: expect.stringContaining('do not allow BeginJob there') });
    const { body: known } = await begin('reader', {});
    expect(known).toMatchObject({ detail: expect.stringContaining('allow OptimizeTable there') });
  });

  test('a job is shown to who may read its table, and ended by who might begin it', async () => {
    const { body } = await begin('admin', old);
    const { job_id } = body;
    const described = (key: string) => post(key, 'jobs/describe', { job_id });
    expect((await described('reader')).body).toMatchObject({ job_id, id: ['prod', 't'] });
    const hidden = await described('other');
    const missing = await post('other', 'jobs/describe', { job_id: 'missing' });
    expect([hidden.status, missing.status]).toEqual([403, 403]);
    expect(hidden.body).toEqual({ ...missing.body });
    const listed = async (key: string) => (await post(key, 'jobs/list', {})).body.jobs.length;
    expect(await listed('reader')).toBeGreaterThan(0);
    expect(await listed('other')).toBe(0);
    const cancelled = async (key: string) => (await post(key, 'jobs/cancel', { job_id })).status;
    expect(await Promise.all(['reader', 'writer', 'other', 'admin'].map(cancelled))).toEqual([
      403, 403, 403, 200,
    ]);
    expect((await post('admin', 'jobs/cancel', { job_id: 'missing' })).status).toBe(403);
  });
});

test('a database shows the jobs of its own tables alone, under their names', async () => {
  const made = (id: string, table: string[]): JobContent => ({
    job_id: id,
    id: table,
    operation: 'OptimizeTable',
    state: 'failed',
    created_at_millis: 1,
    parameters: {},
    failure: { code: 'TableNotFound', message: `No prod$${table.at(-1)}.`, retryable: false },
  });
  const jobs = [made('a', ['prod', 't']), made('b', ['t']), made('c', ['prod'])];
  const cancelled: string[] = [];
  const caller = scopedCaller(
    (async ({ operation, request }: { operation: string; request: { job_id: string } }) => {
      if (operation === 'ListJobs') return { jobs };
      if (operation === 'CancelJob') cancelled.push(request.job_id);
      if (operation === 'BeginJob') return made('d', (request as unknown as JobContent).id);
      return jobs.find(({ job_id }) => job_id === request.job_id);
    }) as never,
    ['prod'],
  );
  const call = (operation: string, request: object): Promise<unknown> =>
    caller({ operation, request, options: {} } as never);
  const shown = { ...jobs[0], id: ['t'], failure: { ...jobs[0]?.failure, message: 'No t.' } };
  expect(await call('ListJobs', {})).toEqual({ jobs: [shown] });
  expect(await call('DescribeJob', { job_id: 'a' })).toEqual(shown);
  expect(await call('CancelJob', { job_id: 'a' })).toEqual(shown);
  expect(await call('BeginJob', { id: ['x'] })).toMatchObject({ job_id: 'd', id: ['x'] });
  for (const operation of ['DescribeJob', 'CancelJob']) {
    for (const job_id of ['b', 'c']) {
      await expect(call(operation, { job_id })).rejects.toMatchObject({
        code: 'TransactionNotFound',
      });
    }
  }
  expect(cancelled).toEqual(['a']);
});

test('work that is asked for over REST is followed by any connection', async () => {
  const server = await createServer({
    namespace: db.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const open = () => connectNamespace('rest', { uri: 'http://x' }, { fetch: server.fetch });
  const one = await open();
  const two = await open();
  const table = await one.openTable('t');
  const index = await table.createIndexAsync('id', { config: Index.bitmap() });
  const optimized = await table.optimizeAsync({ cleanupOlderThan: false });
  const view = await one.createMaterializedView('v', 't', { where: 'id > 40' });
  const refreshed = await view.refreshAsync({ full: true });
  const failing = await table.createIndexAsync('x', { config: Index.labelList() });
  const types = (await two.listJobs()).slice(-4).map(({ jobType, table: of }) => [jobType, of]);
  expect(types).toEqual([
    ['create_index', 't'],
    ['optimize', 't'],
    ['refresh_materialized_view', 'v'],
    ['create_index', 't'],
  ]);
  await one.close();
  const again = await two.openJob(index.id);
  await again.wait();
  expect([again.state, again.result, again.spec, again.progress]).toEqual([
    'finished',
    null,
    { column: 'id', index_type: 'BITMAP' },
    { rowsDone: 50, rowsTotal: 50 },
  ]);
  const view2 = await two.openJob(refreshed.id);
  await view2.wait();
  expect(view2.result).toMatchObject({ mode: 'rebuild', rowsWritten: 9 });
  const compacted = await two.openJob(optimized.id);
  await compacted.wait();
  expect(compacted.result).toMatchObject({ dryRun: false });
  const failed = await two.openJob(failing.id);
  await expect(failed.wait()).rejects.toMatchObject({ code: 'InvalidInput' });
  expect(failed.failure).toMatchObject({ phase: 'create_index', retryable: false });
  expect((await failed.events()).toArray().map(({ state }) => state)).toEqual([
    'running',
    'failed',
  ]);
  expect([await two.cancelJob(failing.id), await two.cancelJob('missing')]).toEqual([true, false]);
  await expect(two.openJob('missing')).rejects.toThrow('was not found');
  const told: number[] = [];
  const again2 = await two.openTable('t');
  await again2.createIndex('x', { onProgress: ({ rowsDone }) => told.push(rowsDone) });
  expect(told.at(-1)).toBe(50);
  const stats = await again2.optimize({ cleanupOlderThan: false, onProgress: () => {} });
  expect(stats.dryRun).toBe(false);
  await two.close();
});

/** A remote catalog whose one job ends when a test says so. */
function scripted() {
  let now = 0;
  const slept: number[] = [];
  const env: Env = {
    ...systemEnv,
    now: () => now,
    sleep: async (ms, signal) => {
      slept.push(ms);
      now += ms;
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
  const job: { -readonly [Name in keyof JobContent]: JobContent[Name] } = {
    job_id: 'j',
    id: ['user'],
    operation: 'CreateTableScalarIndex',
    state: 'running',
    created_at_millis: 1,
    parameters: {},
  };
  const { catalog, requests } = recordingCatalog({
    ...TABLE_ANSWERS,
    beginJob: () => ({ ...job }),
    describeJob: () => ({ ...job }),
    cancelJob: () => ({ ...Object.assign(job, { state: 'cancelled' }) }),
  } as never);
  const connection = new AnyConnection(catalog, { env });
  return { connection, job, requests: requests as (name: string) => unknown[], slept };
}

test('waiting asks less and less often, and tells each step once', async () => {
  const { connection, job, slept } = scripted();
  const table = await connection.openTable('user');
  const steps = [undefined, 1, 1, 2, 2, 2, 2, 2];
  const told: number[] = [];
  const sleeps = slept.push.bind(slept);
  slept.push = (...ms) => {
    const rows_done = steps[slept.length];
    if (rows_done !== undefined) job.progress = { rows_done, rows_total: 9 };
    if (slept.length === 7) job.state = 'finished';
    return sleeps(...ms);
  };
  await table.createIndex('id', { onProgress: ({ rowsDone }) => told.push(rowsDone) });
  expect([...slept]).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  expect(told).toEqual([1, 2]);
});

test('who no longer waits ends the job, and a job that another ended is no success', async () => {
  for (const how of ['signal', 'other']) {
    const { connection, job, requests } = scripted();
    const table = await connection.openTable('user');
    const controller = new AbortController();
    const { signal } = controller;
    const creating = table.createIndex('id', { signal, onProgress: () => {} });
    if (how === 'signal') controller.abort(new Error('enough'));
    else job.state = 'cancelled';
    await expect(creating).rejects.toThrow(how === 'signal' ? 'enough' : 'cancelled');
    expect(requests('cancelJob').length).toBe(how === 'signal' ? 1 : 0);
  }
});

test('a signal ends a job that was begun', async () => {
  const { connection, requests } = scripted();
  const table = await connection.openTable('user');
  const controller = new AbortController();
  const begun = await table.createIndexAsync('id', { signal: controller.signal });
  controller.abort();
  await new Promise((resolve) => setImmediate(resolve));
  expect(requests('cancelJob')).toMatchObject([{ job_id: 'j' }]);
  await expect(begun.wait()).rejects.toThrow('was cancelled');
});

test('a catalog without jobs is asked for the work itself', async () => {
  const { catalog, requests } = recordingCatalog({
    ...TABLE_ANSWERS,
    beginJob: () => {
      throw new DirspaceError('Unsupported', 'There is no route.');
    },
    createTableScalarIndex: () => ({}),
  } as never);
  const connection = new AnyConnection(catalog);
  const table = await connection.openTable('user');
  await table.createIndex('id', { onProgress: () => {} });
  const job = await table.createIndexAsync('id');
  await job.wait();
  expect((requests as (name: string) => unknown[])('createTableScalarIndex')).toHaveLength(2);
  await connection.close();
});
