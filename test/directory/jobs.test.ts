/** Jobs of a catalog: what they tell, how they end, how many there may be, and what is refused. */
import { expect, test } from 'vitest';
import {
  recordBatchStream,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import type { Catalog } from '../../src/directory/catalog/index.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { beginJob, cancelJob, describeJob, endJobs, listJobs } from '../../src/directory/jobs.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import { DirspaceError } from '../../src/errors.ts';
import type { JobContent, JobProgress } from '../../src/protocol/index.ts';
import { memoryFs } from '../helpers/catalogs.ts';

interface Work {
  readonly signal: AbortSignal;
  readonly on_progress: (progress: JobProgress) => void;
  readonly request: object;
  end(answer: unknown): void;
  fail(error: unknown): void;
}

/** A catalog whose operations end when a test says so. */
function setUp({ readOnly = false, missing = false } = {}) {
  let now = 100;
  const env: Env = { ...systemEnv, now: () => now++ };
  const catalog = { env, readOnly, prepareRoot: async () => {} } as unknown as Catalog;
  const works: Work[] = [];
  const carryOut = (operation: string, request: object, options: object): Promise<unknown> => {
    if (operation === 'TableExists') {
      return missing
        ? Promise.reject(new DirspaceError('TableNotFound', 'No t.'))
        : Promise.resolve();
    }
    return new Promise((end, fail) => {
      const work = { ...(options as Work), request, end, fail };
      work.signal.addEventListener('abort', () => fail(work.signal.reason));
      works.push(work);
    });
  };
  const begin = (more: object = {}): Promise<JobContent> =>
    beginJob(catalog, { id: ['t'], operation: 'OptimizeTable', ...more }, carryOut as never);
  return { catalog, works, begin };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a job tells its progress, and what it answered', async () => {
  const { catalog, works, begin } = setUp();
  const parameters = { compact: false, dry_run: true };
  const begun = await begin({ parameters });
  expect(begun).toEqual({
    job_id: expect.stringMatching(/.{36}/),
    id: ['t'],
    operation: 'OptimizeTable',
    state: 'running',
    created_at_millis: 100,
    parameters,
  });
  const [work] = works as [Work];
  expect(work.request).toEqual({ id: ['t'], ...parameters });
  work.on_progress({ rows_done: 3, rows_total: 9 });
  const { job_id } = begun;
  const running = await describeJob(catalog, { job_id });
  expect(running).toEqual({ ...begun, progress: { rows_done: 3, rows_total: 9 } });
  // Answers belong to who asked.
  (running.parameters as { compact?: unknown }).compact = true;
  work.end({ version: 4 });
  await settled();
  const ended = { ...running, parameters, state: 'finished', ended_at_millis: 101 };
  expect(await describeJob(catalog, { job_id })).toEqual({ ...ended, result: { version: 4 } });
  expect(await cancelJob(catalog, { job_id })).toMatchObject({ state: 'finished' });
  expect((await listJobs(catalog)).jobs).toEqual([{ ...ended, result: { version: 4 } }]);
});

test('a job whose answer has no JSON form has failed', async () => {
  const { catalog, works, begin } = setUp();
  const { job_id } = await begin();
  works[0]?.end({ version: 4n });
  await settled();
  const failure = expect.objectContaining({ code: 'Internal' });
  expect(await describeJob(catalog, { job_id })).toMatchObject({ state: 'failed', failure });
});

test('a job fails with the error of its operation, and hides what is no such error', async () => {
  const { catalog, works, begin } = setUp();
  const [one, two] = [await begin(), await begin()];
  works[0]?.fail(new DirspaceError('ServiceUnavailable', 'x'.repeat(3_000)));
  works[1]?.fail(new TypeError('secret'));
  await settled();
  const failed = await describeJob(catalog, one);
  expect(failed).toMatchObject({
    state: 'failed',
    failure: { code: 'ServiceUnavailable', message: 'x'.repeat(2_000), retryable: true },
  });
  expect(JSON.stringify(await describeJob(catalog, two))).not.toContain('secret');
  expect(await describeJob(catalog, two)).toMatchObject({ failure: { code: 'Internal' } });
});

test('cancelling ends the work, and closing ends all of it', async () => {
  const { catalog, works, begin } = setUp();
  const [one, two, three] = [await begin(), await begin(), await begin()];
  expect(await cancelJob(catalog, one)).toMatchObject({ state: 'cancelled' });
  expect(works.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  works[1]?.end({});
  await settled();
  await endJobs(catalog);
  const states = (await listJobs(catalog)).jobs.map(({ job_id, state }) => [job_id, state]);
  expect(states).toEqual([
    [one.job_id, 'cancelled'],
    [two.job_id, 'finished'],
    [three.job_id, 'cancelled'],
  ]);
  await expect(begin()).rejects.toMatchObject({ code: 'Closed' });
});

test('sixteen run at once, and a thousand that ended are known', async () => {
  const { catalog, works, begin } = setUp();
  const running = [];
  for (let at = 0; at < 16; at++) running.push(await begin());
  await expect(begin()).rejects.toMatchObject({ code: 'Throttling' });
  const [first, second] = running as [JobContent, JobContent];
  await cancelJob(catalog, first);
  for (let at = 0; at < 1_000; at++) {
    await begin();
    works.at(-1)?.end({});
    await settled();
  }
  const { jobs } = await listJobs(catalog);
  expect(jobs).toHaveLength(1_015);
  expect(jobs[0]).toEqual(second);
  await expect(describeJob(catalog, first)).rejects.toMatchObject({ code: 'TransactionNotFound' });
  await expect(cancelJob(catalog, first)).rejects.toMatchObject({ code: 'TransactionNotFound' });
});

test('those that ended take 8 MiB at most', async () => {
  const { catalog, works, begin } = setUp();
  for (let at = 0; at < 12; at++) {
    await begin({
      operation: 'CreateTableIndex',
      parameters: { column: 'x'.repeat(400_000), index_type: 'BTREE' },
    });
    works.at(-1)?.end({ text: 'y'.repeat(600_000) });
    await settled();
  }
  expect((await listJobs(catalog)).jobs).toHaveLength(8);
});

test.each([
  [{ operation: 'DropTable' }, 'InvalidInput', 'No job can be of "DropTable"'],
  [{ operation: 'OptimiseTable' }, 'InvalidInput', 'Did you mean "OptimizeTable"'],
  [{ parameters: { id: ['other'] } }, 'InvalidInput', 'have no id'],
  [{ parameters: { identity: {} } }, 'InvalidInput', 'have no identity'],
  [{ parameters: { dry_run: 'yes' } }, 'InvalidInput', 'dry_run'],
  [{ parameters: { column: 'x'.repeat(1 << 20) } }, 'InvalidInput', '1048576 characters'],
  [{ id: [] }, 'InvalidInput', 'names no table'],
])('%j is refused', async (request, code, message) => {
  const { catalog, begin } = setUp();
  await expect(begin(request)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
  expect((await listJobs(catalog)).jobs).toEqual([]);
});

test('so are a table that is not there and a catalog that is read', async () => {
  await expect(setUp({ missing: true }).begin()).rejects.toMatchObject({ code: 'TableNotFound' });
  await expect(setUp({ readOnly: true }).begin()).rejects.toMatchObject({ code: 'ReadOnly' });
});

test('an index is built by a job of a catalog, which tells of rows', async () => {
  const catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  const names = Array.from({ length: 100 }, (_, at) => `name ${at}`);
  const { schema, batches } = tableFromArrays({
    id: Int32Array.from({ length: 100 }, (_, at) => at),
    name: vectorFromArray(names, new Utf8()) as never,
  });
  await catalog.createTable({ id: ['t'] }, recordBatchStream(schema, batches));
  for (const [at, type] of ['BTREE', 'BITMAP', 'FTS'].entries()) {
    const column = type === 'FTS' ? 'name' : 'id';
    const parameters = { column, index_type: type, name: `i${at}` };
    const begun = await catalog.beginJob({ id: ['t'], operation: 'CreateTableIndex', parameters });
    let job = begun;
    while (job.state === 'running') {
      await settled();
      job = await catalog.describeJob(begun);
    }
    expect(job).toMatchObject({
      state: 'finished',
      progress: { rows_done: 100, rows_total: 100 },
      result: { transaction_id: expect.any(String) },
    });
  }
  expect((await catalog.listTableIndices({ id: ['t'] })).indexes).toHaveLength(3);
  // One that is about to begin when the catalog is closed does not.
  const late = { column: 'id', index_type: 'BTREE', name: 'late' };
  const operation = 'CreateTableIndex';
  const beginning = catalog.beginJob({ id: ['t'], operation, parameters: late });
  const refused = expect(beginning).rejects.toMatchObject({ code: 'Closed' });
  await catalog.close();
  await refused;
});
