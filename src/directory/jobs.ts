/**
 * Runs long operations as background jobs. `beginJob` starts one of the operations that protocol/
 * lists as `JOB_OPERATIONS`, and `describeJob`, `listJobs` and `cancelJob` look after jobs; an
 * unknown id throws TransactionNotFound. Jobs belong to one open catalog and are kept in memory; of
 * those that ended, at most the last 1,000 are kept, and fewer if they take more than 8 MiB. While
 * 16 jobs run, `beginJob` throws Throttling. Closing the catalog cancels running jobs (`endJobs`),
 * but keeps the commits that they have made.
 */
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import {
  type BeginJobRequest,
  type CallOptions,
  type CancelJobRequest,
  checkedRequest,
  type DescribeJobRequest,
  JOB_OPERATIONS,
  type JobContent,
  type JobOperation,
  type JobProgress,
  type ListJobsResponse,
} from '../protocol/index.ts';
import { beginWrite, type Catalog, tableId } from './catalog/index.ts';

const MOST_RUNNING = 16;
const MOST_ENDED = 1_000;
/** The most bytes of the parameters and results of all jobs that ended. */
const MOST_ENDED_BYTES = 8 * 1024 * 1024;
/** The most bytes of the parameters of one job. */
const MOST_BYTES = 1024 * 1024;
const MOST_MESSAGE = 2_000;

interface JobOptions extends CallOptions {
  readonly on_progress: (progress: JobProgress) => void;
}

/** Does an operation of the catalog. */
type CarryOut = (
  operation: JobOperation | 'TableExists',
  request: object,
  options: CallOptions | JobOptions,
) => Promise<unknown>;

/** Why the work of a cancelled job ends. */
class Cancelled extends Error {}

class CatalogJob {
  readonly #controller = new AbortController();
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  #content: JobContent;
  #bytes: number;

  constructor(
    { env }: Catalog,
    begun: Pick<JobContent, 'id' | 'operation' | 'parameters'>,
    bytes: number,
    work: (options: JobOptions) => Promise<unknown>,
  ) {
    this.#bytes = bytes;
    this.#content = {
      job_id: env.uuid(),
      ...begun,
      state: 'running',
      created_at_millis: env.now(),
    };
    const { signal } = this.#controller;
    const on_progress = (progress: JobProgress): void => this.#tell({ progress });
    const end = (more: Partial<JobContent>): void =>
      this.#tell({ ...more, ended_at_millis: env.now() });
    this.ended = work({ signal, on_progress })
      .then((answer) => JSON.stringify(answer ?? {}))
      .then(
        (text) => {
          this.#bytes += text.length;
          end({ state: 'finished', result: JSON.parse(text) });
        },
        (error: unknown) =>
          end(
            signal.aborted
              ? { state: 'cancelled' }
              : { state: 'failed', failure: failureOf(error) },
          ),
      );
  }

  get content(): JobContent {
    return structuredClone(this.#content);
  }

  get isRunning(): boolean {
    return this.#content.state === 'running';
  }

  /** About the memory that it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  async cancel(): Promise<void> {
    if (this.isRunning) this.#controller.abort(new Cancelled('The job was cancelled.'));
    await this.ended;
  }

  #tell(more: Partial<JobContent>): void {
    this.#content = { ...this.#content, ...more };
  }
}

function failureOf(error: unknown): NonNullable<JobContent['failure']> {
  const { code, message, retryable } = isDirspaceError(error)
    ? error
    : new DirspaceError('Internal', 'The job failed inside the catalog.', { cause: error });
  return { code, message: message.slice(0, MOST_MESSAGE), retryable };
}

/** By id, in the order in which they began. */
type Jobs = Map<string, CatalogJob>;

const jobs = new WeakMap<Catalog, Jobs>();
const closed = new WeakSet<Catalog>();

function jobsOf(catalog: Catalog): Jobs {
  let own = jobs.get(catalog);
  if (own === undefined) {
    own = new Map();
    jobs.set(catalog, own);
  }
  return own;
}

/**
 * Answers once the job has begun.
 * @throws TableNotFound, ReadOnly, InvalidInput for what the operation does not take, Throttling
 * where as many run as may
 */
export async function beginJob(
  catalog: Catalog,
  { id, operation: name, parameters = {} }: BeginJobRequest,
  carryOut: CarryOut,
  options: CallOptions = {},
): Promise<JobContent> {
  const path = tableId(id);
  const operation = JOB_OPERATIONS.find((one) => one === name);
  if (operation === undefined) {
    throw invalid(
      'operation',
      `No job can be of ${JSON.stringify(name.slice(0, 80))}.${suggestion(name, JOB_OPERATIONS)} Jobs are of ${JOB_OPERATIONS.join(', ')}.`,
    );
  }
  for (const member of ['id', 'identity', 'context']) {
    if (!Object.hasOwn(parameters, member)) continue;
    throw invalid('parameters', `The parameters of a job have no ${member}: it is of the request.`);
  }
  const text = JSON.stringify(parameters);
  if (text.length > MOST_BYTES) {
    throw invalid(
      'parameters',
      `The parameters of a job have at most ${MOST_BYTES} characters, and these have ${text.length}.`,
    );
  }
  const request = checkedRequest(operation, { ...JSON.parse(text), id: [...path] });
  await beginWrite(catalog);
  await carryOut('TableExists', { id: [...path] }, signalOf(options));
  if (closed.has(catalog))
    throw new DirspaceError('Closed', 'The catalog was closed; open it again to use it.');
  const own = jobsOf(catalog);
  if ([...own.values()].filter(({ isRunning }) => isRunning).length >= MOST_RUNNING) {
    throw new DirspaceError(
      'Throttling',
      `${MOST_RUNNING} jobs are running, which is the most. Wait for one of them, or cancel it.`,
    );
  }
  const begun = { id: [...path], operation, parameters: JSON.parse(text) };
  const job = new CatalogJob(catalog, begun, text.length, (more) =>
    carryOut(operation, request, more),
  );
  own.set(job.content.job_id, job);
  job.ended.then(() => forgetOld(own));
  return job.content;
}

/** @throws TransactionNotFound */
export async function describeJob(
  catalog: Catalog,
  { job_id: id }: DescribeJobRequest,
): Promise<JobContent> {
  return found(catalog, id).content;
}

/** Those that run and those that ended, in the order in which they began. */
export async function listJobs(catalog: Catalog): Promise<ListJobsResponse> {
  return { jobs: [...jobsOf(catalog).values()].map(({ content }) => content) };
}

/** Answers once it has ended; it may have finished just before. @throws TransactionNotFound */
export async function cancelJob(
  catalog: Catalog,
  { job_id: id }: CancelJobRequest,
): Promise<JobContent> {
  const job = found(catalog, id);
  await job.cancel();
  return job.content;
}

/** Cancels what runs, waits for its end, and lets none begin. */
export async function endJobs(catalog: Catalog): Promise<void> {
  closed.add(catalog);
  await Promise.all([...(jobs.get(catalog)?.values() ?? [])].map((job) => job.cancel()));
}

function found(catalog: Catalog, id: string): CatalogJob {
  const job = jobsOf(catalog).get(id);
  if (job !== undefined) return job;
  throw new DirspaceError(
    'TransactionNotFound',
    `The job ${JSON.stringify(id.slice(0, 80))} was not found: a catalog knows the jobs that were begun since it was opened, of those that ended at most the last ${MOST_ENDED}. List the jobs to see what is known.`,
    { details: { job: id.slice(0, 80) } },
  );
}

function forgetOld(own: Jobs): void {
  const ended = [...own].filter(([, { isRunning }]) => !isRunning);
  let count = ended.length;
  let bytes = ended.reduce((sum, [, job]) => sum + job.bytes, 0);
  for (const [id, job] of ended) {
    if (count <= MOST_ENDED && bytes <= MOST_ENDED_BYTES) return;
    own.delete(id);
    count -= 1;
    bytes -= job.bytes;
  }
}

const signalOf = ({ signal }: CallOptions): CallOptions => (signal === undefined ? {} : { signal });

const invalid = (member: string, message: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { member } });
