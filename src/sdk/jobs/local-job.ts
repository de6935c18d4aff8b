/**
 * `LocalJob` runs the work of a job in this process, and begins it when it is constructed. `cancel`
 * aborts the signal that the work was given, and waits until the work has ended. A job whose work
 * finishes in spite of that counts as finished, not as cancelled.
 */
import type { Env } from '../../env.ts';
import type { JobEvent, JobFacts, JobProgress, JobSource, JobState } from './jobs.ts';

/** What a job is to do. */
export interface JobWork {
  readonly table: string;
  readonly jobType: string;
  /** What it was asked for; JSON. */
  readonly spec: Readonly<Record<string, unknown>>;
  /**
   * Rejects with the signal's reason where it is cancelled. What it answers is JSON.
   * @param tell is told how far it is
   */
  run(signal: AbortSignal, tell: (progress: JobProgress) => void): Promise<unknown>;
}

/** Why a cancelled job's work ends. */
class Cancelled extends Error {}

export class LocalJob implements JobSource {
  readonly #work: JobWork;
  readonly #env: Env;
  readonly #id: string;
  readonly #created: number;
  readonly #controller = new AbortController();
  readonly #events: JobEvent[] = [];
  readonly #done: Promise<void>;
  #state: JobState = 'running';
  #progress: JobProgress | null = null;
  #result: unknown = null;
  #error: unknown;

  /** Begins the work. */
  constructor(work: JobWork, env: Env) {
    this.#id = env.uuid();
    this.#work = work;
    this.#env = env;
    this.#created = env.now();
    this.#note(null);
    const tell = (progress: JobProgress): void => {
      this.#progress = progress;
    };
    this.#done = work.run(this.#controller.signal, tell).then(
      (result) => this.#end('finished', result),
      (error: unknown) => {
        this.#error = error;
        this.#end(this.#controller.signal.aborted ? 'cancelled' : 'failed', null);
      },
    );
  }

  get facts(): JobFacts {
    const { table, jobType, spec } = this.#work;
    return {
      id: this.#id,
      table,
      jobType,
      spec,
      created: this.#created,
      state: this.#state,
      result: this.#result,
      error: this.#error,
      progress: this.#progress,
      events: this.#events,
    };
  }

  async refresh(): Promise<void> {}

  async ended(): Promise<void> {
    await this.#done;
  }

  async cancel(): Promise<void> {
    if (this.#state === 'running') this.#controller.abort(new Cancelled('The job was cancelled.'));
    await this.#done;
  }

  #end(state: JobState, result: unknown): void {
    this.#state = state;
    this.#result = result ?? null;
    const { message } = (this.#error ?? {}) as { readonly message?: unknown };
    this.#note(state === 'failed' ? String(message ?? this.#error) : null);
  }

  #note(message: string | null): void {
    this.#events.push({ at: this.#env.now(), state: this.#state, message });
  }
}
