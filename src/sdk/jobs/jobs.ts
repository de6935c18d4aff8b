/**
 * `Job` is a handle on work that runs in the background, as in LanceDB's SDK. It has the state,
 * result, failure, progress and events of the work, and can cancel it. Of work of the catalog it
 * shows what `refresh`, `status` or `wait` learnt last. A `JobSource` supplies these: local-job.ts
 * for work in this process, catalog-job.ts for work of the catalog. `wait` throws the error that
 * the job failed with, or InvalidTableState if it was cancelled.
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
import { DirspaceError, isDirspaceError, isError } from '../../errors.ts';
import { checkOptionNames } from '../handles/index.ts';

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
  /** `create_index`, `refresh_column`, `optimize`, `refresh_materialized_view`, `cleanup` or `drop_table`. */
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

/** How many rows of how many are done. */
export interface JobProgress {
  readonly rowsDone: number;
  readonly rowsTotal: number;
}

const MOST_EVENTS = 1_000;

/** When a job came to a state. */
export interface JobEvent {
  readonly at: number;
  readonly state: JobState;
  readonly message: string | null;
}

/** What is known of a job. */
export interface JobFacts {
  readonly id: string;
  /** The table's name, without its namespace. */
  readonly table: string;
  readonly jobType: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly spec: unknown;
  readonly state: JobState;
  readonly result: unknown;
  /** What it failed with. */
  readonly error: unknown;
  readonly progress: JobProgress | null;
  readonly events: readonly JobEvent[];
}

/** Where a job is carried out. */
export interface JobSource {
  readonly facts: JobFacts;
  /** Asks for what has changed. */
  refresh(): Promise<void>;
  /** Resolves once it has ended, whatever it came to. */
  ended(): Promise<void>;
  /** Ends it; resolves once it has ended. */
  cancel(): Promise<void>;
}

/** A handle on work that may still be running. Two handles on one job show the same once they were refreshed. */
export class Job {
  readonly #source: JobSource;

  /** Connections and tables make jobs. */
  constructor(source: JobSource) {
    this.#source = source;
  }

  /** By which `openJob` and `cancelJob` know it. */
  get id(): string {
    return this.#source.facts.id;
  }

  get state(): JobState {
    return this.#source.facts.state;
  }

  get jobType(): string {
    return this.#source.facts.jobType;
  }

  /** Milliseconds since the epoch. */
  get creationMs(): number {
    return this.#source.facts.created;
  }

  /** What it was asked for. */
  // biome-ignore lint/suspicious/noExplicitAny: each type of job has its own
  get spec(): any {
    return structuredClone(this.#source.facts.spec);
  }

  /** What it answered; null before it finished. */
  // biome-ignore lint/suspicious/noExplicitAny: each type of job has its own
  get result(): any {
    return structuredClone(this.#source.facts.result);
  }

  /** How far it is; null where it does not tell, as before its first report. */
  get progress(): JobProgress | null {
    const { progress } = this.#source.facts;
    return progress === null ? null : { ...progress };
  }

  /** Null unless it failed. */
  get failure(): JobFailureInfo | null {
    const { state, error, jobType } = this.#source.facts;
    if (state !== 'failed') return null;
    const retryable = isDirspaceError(error) && error.retryable;
    return { phase: jobType, message: messageOf(error), retryable };
  }

  /** The state, asked for anew. */
  async status(): Promise<string> {
    await this.#source.refresh();
    return this.state;
  }

  /** Resolves once it has finished. @throws what it failed with; InvalidTableState where it was cancelled */
  async wait(): Promise<void> {
    await this.#source.ended();
    const { state, error, jobType, table, id } = this.#source.facts;
    if (state === 'finished') return;
    if (state === 'failed') throw error;
    throw new DirspaceError(
      'InvalidTableState',
      `The job ${jobType} of the table ${table} was cancelled.`,
      { details: { job: id } },
    );
  }

  /** Resolves once the work has ended, whatever it came to; of a job that has ended it does nothing. */
  async cancel(): Promise<void> {
    await this.#source.cancel();
  }

  /** Asks what became of a job that a server carries out; one of this process shows what is so. */
  async refresh(): Promise<void> {
    await this.#source.refresh();
  }

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
    const events = this.#source.facts.events.slice(0, limit);
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
    const { id: jobId, table, jobType, state, created: createdAtMillis } = this.#source.facts;
    return { jobId, table, jobType, state, createdAtMillis };
  }
}

const EVENTS = new Schema([
  new Field('at', new TimestampMillisecond(), false),
  new Field('state', new Utf8(), false),
  new Field('message', new Utf8(), true),
]);

const messageOf = (error: unknown): string => (isError(error) ? error.message : String(error));
