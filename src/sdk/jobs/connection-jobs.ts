/**
 * `jobsOf` returns the jobs of a connection (`Jobs`): those that run in this process, and those
 * that the catalog runs. `begin` begins work in this process, and `beginAt` an operation in the
 * catalog, or in this process if the catalog runs no jobs for it. When the connection is closed,
 * `end` cancels the jobs of this process; those of the catalog go on. For an id that neither knows,
 * `open` throws InvalidInput and `cancel` returns false. At most 1,000 ended jobs of this process
 * stay known.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { defined, type Home } from '../handles/index.ts';
import { type Asked, beginThere, CatalogJob, follow } from './catalog-job.ts';
import { Job, type JobInfo, type JobProgress } from './jobs.ts';
import { type JobWork, LocalJob } from './local-job.ts';

/** Jobs that ended and are still known. */
const MOST_ENDED = 1_000;

type Place = Pick<Home, 'catalog' | 'env'>;

/** The jobs of one connection. */
export class Jobs {
  readonly #place: Place;
  /** In the order in which they began. */
  readonly #jobs = new Map<string, Job>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** Begins work of this process. */
  begin(work: JobWork): Job {
    const source = new LocalJob(work, this.#place.env);
    const job = new Job(source);
    this.#jobs.set(job.id, job);
    source.ended().then(() => this.#forget());
    return job;
  }

  /**
   * Begins an operation where the catalog is, or else as work of this process.
   * @param tell is told how far the catalog is, for as long as that is known
   */
  async beginAt(
    asked: Asked,
    work: JobWork,
    options: CallOptions,
    tell?: (progress: JobProgress) => void,
  ): Promise<Job> {
    const { signal, idempotencyKey, onContext } = options;
    const call = defined({ signal, idempotencyKey, onContext });
    const there = await beginThere(this.#place, asked, call);
    if (there === undefined) return this.begin(work);
    // What fails is told by whoever waits for the job.
    const passOver = (): void => {};
    if (signal?.aborted === true) there.cancel().catch(passOver);
    else signal?.addEventListener('abort', () => there.cancel().catch(passOver), { once: true });
    if (tell !== undefined) follow(there, tell).catch(passOver);
    return new Job(there);
  }

  /** @throws InvalidInput where there is none of that id */
  async open(id: string, options?: CallOptions): Promise<Job> {
    const job = this.#jobs.get(id) ?? (await this.#there(id, options));
    if (job !== undefined) return job;
    throw new DirspaceError(
      'InvalidInput',
      `The job ${JSON.stringify(id)} was not found: a connection knows the jobs that were begun with it, those of its server, and the last ${MOST_ENDED} of those that ended.`,
      { details: { job: String(id) } },
    );
  }

  async #there(id: string, options?: CallOptions): Promise<Job | undefined> {
    const { catalog } = this.#place;
    if (catalog.describeJob === undefined || typeof id !== 'string') return undefined;
    const content = await catalog.describeJob({ job_id: id }, options).catch(unknownJob);
    return content && new Job(new CatalogJob(this.#place, content));
  }

  async list(options?: CallOptions): Promise<JobInfo[]> {
    const own = [...this.#jobs.values()].map((job) => job.info());
    const { catalog } = this.#place;
    const there = await catalog.listJobs?.({}, options).catch(unknownJob);
    const others = (there?.jobs ?? []).map((job) =>
      new Job(new CatalogJob(this.#place, job)).info(),
    );
    return [...own, ...others].sort((a, b) => a.createdAtMillis - b.createdAtMillis);
  }

  /** False where there is none of that id. */
  async cancel(id: string, options?: CallOptions): Promise<boolean> {
    const job = this.#jobs.get(id);
    if (job !== undefined) {
      await job.cancel();
      return true;
    }
    const { catalog } = this.#place;
    if (catalog.cancelJob === undefined || typeof id !== 'string') return false;
    return (await catalog.cancelJob({ job_id: id }, options).catch(unknownJob)) !== undefined;
  }

  /** Ends what this process is doing. */
  async end(): Promise<void> {
    await Promise.all([...this.#jobs.values()].map((job) => job.cancel()));
  }

  #forget(): void {
    const ended = [...this.#jobs.values()].filter(({ state }) => state !== 'running');
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) {
      this.#jobs.delete(id);
    }
  }
}

/** Undefined for a job that is not known, and of a catalog without jobs. */
function unknownJob(error: unknown): undefined {
  if (isDirspaceError(error, 'TransactionNotFound', 'Unsupported')) return undefined;
  throw error;
}

const known = new WeakMap<object, Jobs>();

/** The jobs of a connection, by its catalog. */
export function jobsOf(place: Place): Jobs {
  let jobs = known.get(place.catalog);
  if (jobs === undefined) {
    jobs = new Jobs(place);
    known.set(place.catalog, jobs);
  }
  return jobs;
}
