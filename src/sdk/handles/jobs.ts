/**
 * `Job`: a handle on work that a program starts and need not wait for, as in LanceDB's SDK, with
 * state, failure, progress and cancellation. `jobsOf` returns the jobs of a connection, which knows
 * the last thousand that ended. The work runs in this process, even if the catalog is on a server,
 * and ends with the connection.
 */
import {
  type Table as ArrowTable,
  arrowTable,
  Field,
  recordBatch,
  Schema,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from '../../arrow/index.ts';
import type { Env } from '../../env.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { checkOptionNames } from './option-names.ts';

/** `running` until it ends in one of the others. */
export type JobState = 'running' | 'finished' | 'failed' | 'cancelled';

/** Why a job failed. */
export interface JobFailureInfo {
  readonly phase?: string;
  readonly message?: string;
  readonly retryable?: boolean;
}

/** A job as lists show it. */
export interface JobInfo {
  readonly jobId: string;
  /** The table's name, without its namespace. */
  readonly table: string;
  /** `create_index`, `refresh_column` or `drop_table`. */
  readonly jobType: string;
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMillis: number;
}

/** Which events of a job are read. */
export interface JobEventsOptions {
  /** At most so many; 1,000 if absent. */
  readonly limit?: number;
  /** Refused: read the events and filter them. */
  readonly filter?: string;
}

/** What a job is to do. */
export interface JobWork {
  readonly table: string;
  readonly jobType: string;
  /** What it was asked for; JSON. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Rejects with the signal's reason where it is cancelled. What it answers is JSON. */
  run(signal: AbortSignal): Promise<unknown>;
}

/** Jobs that ended and are still known. */
const MOST_ENDED = 1_000;
const MOST_EVENTS = 1_000;

interface JobEvent {
  readonly at: number;
  readonly state: JobState;
  readonly message: string | null;
}

/** Why a cancelled job's work ends. */
class Cancelled extends Error {}

/** A handle on work that may still be running. Two handles on one job show the same. */
export class Job {
  readonly #id: string;
  readonly #work: JobWork;
  readonly #env: Env;
  readonly #created: number;
  readonly #controller = new AbortController();
  readonly #events: JobEvent[] = [];
  readonly #done: Promise<void>;
  #state: JobState = 'running';
  #result: unknown = null;
  #error: unknown;

  /** Begins the work. Connections and tables make jobs. */
  constructor(work: JobWork, env: Env, ended: () => void) {
    this.#id = env.uuid();
    this.#work = work;
    this.#env = env;
    this.#created = env.now();
    this.#note(null);
    this.#done = work.run(this.#controller.signal).then(
      (result) => this.#end('finished', result),
      (error: unknown) => {
        const isCancelled = this.#controller.signal.aborted;
        this.#error = error;
        this.#end(isCancelled ? 'cancelled' : 'failed', null);
      },
    );
    this.#done.finally(ended);
  }

  /** By which `openJob` and `cancelJob` know it, for as long as the connection does. */
  get id(): string {
    return this.#id;
  }

  get state(): JobState {
    return this.#state;
  }

  get jobType(): string {
    return this.#work.jobType;
  }

  /** Milliseconds since the epoch. */
  get creationMs(): number {
    return this.#created;
  }

  /** What it was asked for. */
  // biome-ignore lint/suspicious/noExplicitAny: each type of job has its own
  get spec(): any {
    return structuredClone(this.#work.spec);
  }

  /** What it answered; null before it finished. */
  // biome-ignore lint/suspicious/noExplicitAny: each type of job has its own
  get result(): any {
    return structuredClone(this.#result);
  }

  /** Null unless it failed. */
  get failure(): JobFailureInfo | null {
    if (this.#state !== 'failed') return null;
    const retryable = isDirspaceError(
      this.#error,
      'ConcurrentModification',
      'ServiceUnavailable',
      'Throttling',
    );
    return { phase: this.#work.jobType, message: messageOf(this.#error), retryable };
  }

  async status(): Promise<string> {
    return this.#state;
  }

  /** Resolves once it has finished. @throws what it failed with; JobCancelled as InvalidTableState */
  async wait(): Promise<void> {
    await this.#done;
    if (this.#state === 'finished') return;
    if (this.#state === 'failed') throw this.#error;
    throw new DirspaceError(
      'InvalidTableState',
      `The job ${this.#work.jobType} of the table ${this.#work.table} was cancelled.`,
      { details: { job: this.#id } },
    );
  }

  /** Resolves once the work has ended, whatever it came to; of a job that has ended it does nothing. */
  async cancel(): Promise<void> {
    if (this.#state === 'running') this.#controller.abort(new Cancelled('The job was cancelled.'));
    await this.#done;
  }

  /** Nothing is to be asked for: a job shows what is so. */
  async refresh(): Promise<void> {}

  /** When it came to its states, as a table of `at`, `state` and `message`. */
  async events(options: JobEventsOptions = {}): Promise<ArrowTable> {
    checkOptionNames(options, ['limit', 'filter']);
    const { limit = MOST_EVENTS, filter } = options;
    if (filter !== undefined) {
      throw new DirspaceError(
        'Unsupported',
        'Events of jobs are not filtered: read them all, they are few.',
        { details: { option: 'filter' } },
      );
    }
    const events = this.#events.slice(0, limit);
    const columns = [
      vectorFromArray(
        events.map(({ at }) => at),
        EVENTS.fields[0]?.type as TimestampMillisecond,
      ),
      vectorFromArray(
        events.map(({ state }) => state),
        new Utf8(),
      ),
      vectorFromArray(
        events.map(({ message }) => message),
        new Utf8(),
      ),
    ];
    return arrowTable(EVENTS, [
      recordBatch(
        EVENTS,
        columns.map(({ data }) => data[0] as never),
        events.length,
      ),
    ]);
  }

  toString(): string {
    const { id, state, jobType, creationMs, spec, result, failure } = this;
    const known = { id, state, jobType, creationMs, spec, result, failure };
    const lines = Object.entries(known).flatMap(([name, value]) =>
      value === null ? [] : [`    ${name}=${JSON.stringify(value)},`],
    );
    return `Job(\n${lines.join('\n')}\n)`;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** As lists show it. */
  info(): JobInfo {
    return {
      jobId: this.#id,
      table: this.#work.table,
      jobType: this.#work.jobType,
      state: this.#state,
      createdAtMillis: this.#created,
    };
  }

  #end(state: JobState, result: unknown): void {
    this.#state = state;
    this.#result = result ?? null;
    this.#note(state === 'failed' ? messageOf(this.#error) : null);
  }

  #note(message: string | null): void {
    this.#events.push({ at: this.#env.now(), state: this.#state, message });
  }
}

const EVENTS = new Schema([
  new Field('at', new TimestampMillisecond(), false),
  new Field('state', new Utf8(), false),
  new Field('message', new Utf8(), true),
]);

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** The jobs of one connection. */
export class Jobs {
  readonly #env: Env;
  /** In the order in which they began. */
  readonly #jobs = new Map<string, Job>();

  constructor(env: Env) {
    this.#env = env;
  }

  begin(work: JobWork): Job {
    const job = new Job(work, this.#env, () => this.#forget());
    this.#jobs.set(job.id, job);
    return job;
  }

  /** @throws InvalidInput where there is none of that id */
  open(id: string): Job {
    const job = this.#jobs.get(id);
    if (job !== undefined) return job;
    throw new DirspaceError(
      'InvalidInput',
      `The job ${JSON.stringify(id)} was not found: a connection knows the jobs that were begun with it, and the last ${MOST_ENDED} of those that ended.`,
      { details: { job: String(id) } },
    );
  }

  list(): JobInfo[] {
    return [...this.#jobs.values()].map((job) => job.info());
  }

  /** False where there is none of that id. */
  async cancel(id: string): Promise<boolean> {
    const job = this.#jobs.get(id);
    if (job === undefined) return false;
    await job.cancel();
    return true;
  }

  /** Ends what is running. */
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

const known = new WeakMap<object, Jobs>();

/** The jobs of a connection, by its catalog. */
export function jobsOf({ catalog, env }: { readonly catalog: object; readonly env: Env }): Jobs {
  let jobs = known.get(catalog);
  if (jobs === undefined) {
    jobs = new Jobs(env);
    known.set(catalog, jobs);
  }
  return jobs;
}
