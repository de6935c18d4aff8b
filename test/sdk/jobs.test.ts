/** Jobs: work that is begun and waited for, cancelled, listed and asked for by its id. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { systemEnv } from '../../src/env.ts';
import { connect, connectNamespace, Index, Job } from '../../src/index.ts';
import { jobsOf } from '../../src/sdk/jobs/index.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';

const rows = Array.from({ length: 50 }, (_, id) => ({ id, x: id * 2 }));

async function setUp(remote = false) {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', rows);
  await table.addColumns({ computed: [{ name: 'twice', valueSql: 'x * 2' }] });
  if (!remote) return { db, table };
  const server = await createServer({
    namespace: db.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const there = await connectNamespace('rest', { uri: 'http://x' }, { fetch: server.fetch });
  return { db: there, table: await there.openTable('t') };
}

test.each([false, true])('an index and a column by jobs, remote %s', async (remote) => {
  const { db, table } = await setUp(remote);
  const job = await table.createIndexAsync('id', { config: Index.btree(), name: 'by_id' });
  expect(job).toBeInstanceOf(Job);
  expect([job.state, job.jobType, job.result, job.failure]).toEqual([
    'running',
    'create_index',
    null,
    null,
  ]);
  await job.wait();
  expect(job.state).toBe('finished');
  expect(await table.indexStats('by_id')).toMatchObject({ numIndexedRows: 50 });
  const refresh = await table.refreshColumnAsync('twice');
  await refresh.wait();
  expect(refresh.result).toMatchObject({ rowsFilled: 50 });
  expect(await table.countRows('twice = x * 2')).toBe(50);
  const again = await db.openJob(refresh.id);
  expect([again.state, again.spec]).toEqual(['finished', { column: 'twice' }]);
  const events = await refresh.events();
  expect(events.schema.names).toEqual(['at', 'state', 'message']);
  expect(events.toArray().map(({ state }) => state)).toEqual(['running', 'finished']);
  expect((await refresh.events({ limit: 1 })).numRows).toBe(1);
  await expect(refresh.events({ filter: 'true' })).rejects.toMatchObject({ code: 'Unsupported' });
  const dropped = await db.dropTableAsync('t');
  await dropped.wait();
  expect(await db.tableNames()).toEqual([]);
  expect((await db.listJobs()).map(({ jobType, state, table }) => [jobType, state, table])).toEqual(
    [
      ['create_index', 'finished', 't'],
      ['refresh_column', 'finished', 't'],
      ['drop_table', 'finished', 't'],
    ],
  );
  expect(inspect(dropped)).toContain('state="finished"');
  await expect(db.openJob('none')).rejects.toThrow('was not found');
  expect(await db.cancelJob('none')).toBe(false);
  expect(await db.cancelJob(dropped.id)).toBe(true);
  expect(dropped.state).toBe('finished');
});

test('what cannot be done is refused before there is a job, or fails the job', async () => {
  const { db, table } = await setUp();
  const refused = table.refreshColumnAsync('x');
  await expect(refused).rejects.toMatchObject({ code: 'InvalidInput' });
  const missing = { code: 'TableColumnNotFound' };
  await expect(table.refreshColumnAsync('none')).rejects.toMatchObject(missing);
  await expect(table.createIndexAsync('none')).rejects.toMatchObject(missing);
  expect(await db.listJobs()).toEqual([]);
  const job = await table.createIndexAsync('id', { config: Index.labelList() });
  await expect(job.wait()).rejects.toMatchObject({ code: 'InvalidInput' });
  expect(await job.status()).toBe('failed');
  expect(job.failure).toMatchObject({ phase: 'create_index', retryable: false });
  expect(job.failure?.message).not.toBe('');
});

/** Work that ends when it is told to, or cancelled. */
function held() {
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const run = (signal: AbortSignal): Promise<unknown> =>
    Promise.race([
      gate,
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
    ]);
  return { go, work: { table: 't', jobType: 'create_index', spec: {}, run } };
}

test('a job is cancelled by itself, by its id, by a signal and by the end of the connection', async () => {
  const { db, table } = await setUp();
  const jobs = jobsOf({ catalog: db.namespace, env: systemEnv });
  const [one, two, three] = [0, 1, 2].map(() => jobs.begin(held().work)) as [Job, Job, Job];
  await one.cancel();
  await expect(one.wait()).rejects.toThrow('was cancelled');
  expect(await db.cancelJob(two.id)).toBe(true);
  expect([one.state, two.state, three.state]).toEqual(['cancelled', 'cancelled', 'running']);
  const controller = new AbortController();
  const stopped = await table.createIndexAsync('id', { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(stopped.wait()).rejects.toThrow('enough');
  expect(await table.listIndices()).toEqual([]);
  await db.close();
  expect(three.state).toBe('cancelled');
});

test('of jobs that ended the last thousand are known, and all that run', async () => {
  const { db } = await setUp();
  const jobs = jobsOf({ catalog: db.namespace, env: systemEnv });
  const running = jobs.begin(held().work);
  const done = { table: 't', jobType: 'drop_table', spec: {}, run: async () => null };
  const first = jobs.begin(done);
  await first.wait();
  for (let at = 0; at < 1_000; at++) await jobs.begin(done).wait();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await jobs.list()).toHaveLength(1_001);
  await expect(jobs.open(first.id)).rejects.toThrow('was not found');
  expect(await jobs.open(running.id)).toBe(running);
});
