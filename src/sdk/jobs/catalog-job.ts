/**
 * `CatalogJob` is a job that the catalog carries out, for example on a server. It shows what the
 * catalog answered last. `beginThere` begins an operation as such a job. It returns undefined if
 * the catalog has no jobs, or if this program opens the catalog's files itself; the caller then
 * does the work. `follow` tells the progress of a job until it has ended. `carriedOut` begins an
 * operation and waits for its end: it throws what the job failed with, and cancels the job if the
 * wait fails, for example because a signal is aborted.
 */
import type { Env } from '../../env.ts';
import { DirspaceError, ERROR_KINDS, type ErrorCode, isDirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type JobContent,
  type JobOperation,
  jobType,
} from '../../protocol/index.ts';
import type { Catalog, Home } from '../handles/index.ts';
import type { JobFacts, JobProgress, JobSource } from './jobs.ts';

const FIRST_POLL_MS = 200;
const LONGEST_POLL_MS = 5_000;

export class CatalogJob implements JobSource {
  readonly #catalog: Catalog;
  readonly #env: Env;
  #content: JobContent;

  constructor({ catalog, env }: Pick<Home, 'catalog' | 'env'>, content: JobContent) {
    this.#catalog = catalog;
    this.#env = env;
    this.#content = content;
  }

  get facts(): JobFacts {
    return factsOf(this.#content);
  }

  get content(): JobContent {
    return this.#content;
  }

  async refresh(options?: CallOptions): Promise<void> {
    if (this.#content.state !== 'running') return;
    this.#content = await this.#of('describeJob')({ job_id: this.#content.job_id }, options);
  }

  async ended(signal?: AbortSignal, each: () => void = () => {}): Promise<void> {
    for (let wait = FIRST_POLL_MS; ; wait = Math.min(LONGEST_POLL_MS, 2 * wait)) {
      await this.refresh(signal === undefined ? undefined : { signal });
      each();
      if (this.#content.state !== 'running') return;
      await this.#env.sleep(wait, signal);
    }
  }

  async cancel(): Promise<void> {
    if (this.#content.state !== 'running') return;
    this.#content = await this.#of('cancelJob')({ job_id: this.#content.job_id });
  }

  #of<Name extends 'describeJob' | 'cancelJob'>(name: Name): NonNullable<Catalog[Name]> {
    return this.#catalog[name]?.bind(this.#catalog) as NonNullable<Catalog[Name]>;
  }
}

function factsOf(content: JobContent): JobFacts {
  const { state, created_at_millis: created, ended_at_millis: ended, failure } = content;
  const { progress } = content;
  const { incarnation: _, ...spec } = content.parameters;
  return {
    id: content.job_id,
    table: content.id.at(-1) ?? '',
    jobType: jobType(content.operation),
    created,
    spec,
    state,
    result: resultOf(content.result),
    error: failure === undefined ? undefined : errorOf(failure),
    progress:
      progress === undefined
        ? null
        : { rowsDone: progress.rows_done ?? 0, rowsTotal: progress.rows_total ?? 0 },
    events: [
      { at: created, state: 'running', message: null },
      ...(state === 'running'
        ? []
        : [{ at: ended ?? created, state, message: failure?.message ?? null }]),
    ],
  };
}

function errorOf({ code, message }: NonNullable<JobContent['failure']>): DirspaceError {
  const known = Object.hasOwn(ERROR_KINDS, code) ? (code as ErrorCode) : 'Internal';
  return new DirspaceError(known, message);
}

/** What an operation answered, in the names of this SDK; null where it says nothing of its own. */
function resultOf(answer: JobContent['result']): unknown {
  const members = Object.entries(answer ?? {})
    .filter(([name]) => !['job_id', 'transaction_id', 'context'].includes(name))
    .map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]);
  return members.length === 0 ? null : Object.fromEntries(members);
}

/** Tells the progress of a job until it has ended. */
export async function follow(
  job: CatalogJob,
  tell: (progress: JobProgress) => void,
  signal?: AbortSignal,
): Promise<void> {
  let told = -1;
  await job.ended(signal, () => {
    const { progress } = job.facts;
    if (progress === null || progress.rowsDone === told) return;
    told = progress.rowsDone;
    tell(progress);
  });
}

/** An operation with its request. */
export interface Asked {
  readonly operation: JobOperation;
  readonly request: { readonly id: readonly string[] };
}

/**
 * Undefined where the program does the work itself: of a catalog whose files it opens, and of one
 * that has no jobs.
 */
export async function beginThere(
  home: Pick<Home, 'catalog' | 'env'>,
  { operation, request }: Asked,
  options: CallOptions,
): Promise<CatalogJob | undefined> {
  const { catalog } = home;
  if (catalog.opensFiles === true || catalog.beginJob === undefined) return undefined;
  const { id, ...parameters } = request;
  try {
    const begun = await catalog.beginJob({ id: [...id], operation, parameters }, options);
    return new CatalogJob(home, begun);
  } catch (error) {
    if (isDirspaceError(error, 'Unsupported')) return undefined;
    throw error;
  }
}

/**
 * What the operation answered, as a job of the catalog; undefined where the catalog has none, and
 * nothing was done. An end of the signal cancels the job.
 */
export async function carriedOut(
  home: Pick<Home, 'catalog' | 'env'>,
  asked: Asked,
  { signal, ...options }: CallOptions,
  tell: (progress: JobProgress) => void,
): Promise<JobContent | undefined> {
  const job = await beginThere(
    home,
    asked,
    signal === undefined ? options : { signal, ...options },
  );
  if (job === undefined) return undefined;
  try {
    await follow(job, tell, signal);
  } catch (error) {
    // What nobody waits for any more.
    await job.cancel().catch(() => {});
    throw error;
  }
  const { state, error } = job.facts;
  if (state === 'finished') return job.content;
  if (state === 'failed') throw error;
  throw new DirspaceError(
    'InvalidTableState',
    `The job ${job.facts.jobType} was cancelled by another program.`,
  );
}
