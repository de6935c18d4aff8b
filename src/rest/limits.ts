/**
 * How much a server takes on at once: places for requests under way, and lines before them, for
 * the server and for each table. Knows nothing of what a request does.
 */
import { DirspaceError } from '../errors.ts';

/** How much a server takes on at once, and how long it waits. */
export interface Limits {
  /** Requests under way at once; 256 if absent. */
  readonly maxInFlight?: number;
  /** Requests that wait for a place; 1,024 if absent. */
  readonly maxQueue?: number;
  /** The same for one table; 64 and 256 if absent. */
  readonly maxInFlightPerTable?: number;
  readonly maxQueuePerTable?: number;
  /** How long a request waits for its places, and for a body with its identity; 10,000 if absent. */
  readonly queueTimeoutMs?: number;
  /**
   * Requests at once that have no credentials in their headers and whose body is read for an
   * identity; 32 if absent. Only where `auth` is configured; they take no place of others.
   */
  readonly maxUnauthenticated?: number;
  /** Bytes of a JSON body; 8 MiB if absent. */
  readonly maxJsonBytes?: number;
  /** Bytes of an Arrow body, as it is sent and once it is decompressed; 64 GiB if absent. */
  readonly maxArrowBytes?: number;
  /**
   * Bytes that one request may have at once for what is made while it is answered, such as computed
   * values; 256 MiB if absent. Holds for the roots that the server opens: a catalog that it is given
   * open has a bound of its own.
   */
  readonly requestMemory?: number;
  /** And what all requests under way may have together; 1 GiB if absent. Beyond it they are answered 503. */
  readonly serverMemory?: number;
  /**
   * How long a request may take to its answer, or go without progress; 120,000 if absent. Optimizing,
   * cleaning up, verifying and repairing take as long as they take, until the caller leaves.
   */
  readonly requestTimeoutMs?: number;
  /** How long the headers of a request may take to arrive; 20,000 if absent, 0 for any time. */
  readonly headersTimeoutMs?: number;
  /**
   * How long a server that is told to stop goes on taking requests while `/ready` fails, so that
   * whoever sends them has time to notice; 0 if absent.
   */
  readonly drainDelayMs?: number;
  /** How long stopping waits for requests under way; 10,000 if absent. */
  readonly drainTimeoutMs?: number;
  /**
   * New requests are refused while the event loop is later than this, but `/health` never; 5,000 if
   * absent, 0 for never.
   */
  readonly maxEventLoopDelayMs?: number;
  /** What a refused caller is told to wait; 1 if absent. */
  readonly retryAfterSeconds?: number;
}

export const DEFAULT_LIMITS: Required<Limits> = {
  maxInFlight: 256,
  maxQueue: 1024,
  maxInFlightPerTable: 64,
  maxQueuePerTable: 256,
  queueTimeoutMs: 10_000,
  maxUnauthenticated: 32,
  maxJsonBytes: 8 * 1024 ** 2,
  maxArrowBytes: 64 * 1024 ** 3,
  requestMemory: 256 * 1024 ** 2,
  serverMemory: 1024 ** 3,
  requestTimeoutMs: 120_000,
  headersTimeoutMs: 20_000,
  drainDelayMs: 0,
  drainTimeoutMs: 10_000,
  maxEventLoopDelayMs: 5_000,
  retryAfterSeconds: 1,
};

export function resolveLimits(limits: Limits = {}): Required<Limits> {
  const resolved = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      const known = Object.keys(DEFAULT_LIMITS).join(', ');
      throw invalid(`There is no limit ${JSON.stringify(name)}; there is ${known}.`);
    }
    if (value === undefined) continue;
    if (typeof value !== 'number' || Number.isNaN(value) || value < 0) {
      throw invalid(`The limit ${name} is ${String(value)}; expected a number >= 0.`);
    }
    resolved[name as keyof Limits] = value;
  }
  for (const name of ['maxInFlight', 'maxInFlightPerTable'] as const) {
    if (resolved[name] < 1) throw invalid(`The limit ${name} is 0; nothing could ever run.`);
  }
  return resolved;
}

const invalid = (message: string): DirspaceError => new DirspaceError('InvalidInput', message);

/** Gives a place back; calling it again does nothing. */
export type Release = () => void;

/** Requests that wait in all lines of a server. */
export class QueueCount {
  waiting = 0;
}

/** Whoever wants a place; the signal, which ends the waiting, is asked for by those that wait. */
export interface Waiter {
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly enter: () => void;
}

/** Places, and a line before them: first come, first served, and not for ever. */
export class Gate {
  readonly #places: number;
  readonly #line: number;
  readonly #timeoutMs: number;
  readonly #lineName: keyof Limits;
  readonly #count: QueueCount;
  readonly #queue = new Set<Waiting>();
  #taken = 0;

  /** @param lineName the limit that bounds the line */
  constructor(
    places: number,
    line: number,
    timeoutMs: number,
    lineName: keyof Limits,
    count: QueueCount,
  ) {
    this.#places = places;
    this.#line = line;
    this.#timeoutMs = timeoutMs;
    this.#lineName = lineName;
    this.#count = count;
  }

  get idle(): boolean {
    return this.#taken === 0 && this.#queue.size === 0;
  }

  /**
   * A place, at once where one is free. Throws Throttling where the line is full, and rejects with it
   * where none became free in time, which is less for who has `waited` elsewhere; rejects with the
   * signal's reason when that ends the waiting.
   */
  enter(subject: string, caller: Waiter, waited: number = 0): Release | Promise<Release> {
    if (this.#taken < this.#places) return this.#take();
    if (this.#queue.size >= this.#line) {
      throw new DirspaceError('Throttling', `Too many requests to ${subject}; try again later.`, {
        details: { limit: this.#lineName },
      });
    }
    const { signal } = caller;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        this.#queue.delete(waiting);
        this.#count.waiting--;
      };
      const leave = (): void => {
        end();
        reject(signal.reason);
      };
      const giveUp = (): void => {
        end();
        reject(waitedTooLong(subject, this.#timeoutMs));
      };
      const waiting: Waiting = {
        enter: () => {
          end();
          resolve(this.#take());
        },
      };
      const timer = setTimeout(giveUp, Math.max(0, this.#timeoutMs - waited)).unref();
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.add(waiting);
      this.#count.waiting++;
    });
  }

  #take(): Release {
    this.#taken++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken--;
      const [next] = this.#queue;
      if (next === undefined) return;
      next.enter();
    };
  }
}

const waitedTooLong = (subject: string, timeoutMs: number): DirspaceError =>
  new DirspaceError(
    'Throttling',
    `Too many requests to ${subject}: none of their places became free within ${timeoutMs} ms. Try again later.`,
    { details: { limit: 'queueTimeoutMs' } },
  );

/** The gates of a server: one for all, one for each table that is in use. */
export class Admission {
  readonly #limits: Required<Limits>;
  readonly #count: QueueCount;
  readonly #all: Gate;
  readonly #tables = new Map<string, Gate>();

  constructor(limits: Required<Limits>, count: QueueCount = new QueueCount()) {
    this.#limits = limits;
    this.#count = count;
    const { maxInFlight, maxQueue, queueTimeoutMs } = limits;
    this.#all = new Gate(maxInFlight, maxQueue, queueTimeoutMs, 'maxQueue', count);
  }

  /** Places for a request about `table`, or about none. Answers at once where nobody waits. */
  enter(table: string | undefined, caller: Waiter): Release | Promise<Release> {
    if (table === undefined) return this.#all.enter('the server', caller);
    const inner = this.#tableGate(table).enter('this table', caller);
    if (typeof inner !== 'function') return this.#enterAll(inner, table, caller);
    const release = (): void => this.#leaveTable(inner, table);
    let outer: Release | Promise<Release>;
    try {
      outer = this.#all.enter('the server', caller);
    } catch (error) {
      release();
      throw error;
    }
    return typeof outer === 'function' ? both(outer, release) : this.#join(outer, release);
  }

  async #enterAll(inner: Promise<Release>, table: string, caller: Waiter): Promise<Release> {
    let release: Release;
    const began = performance.now();
    try {
      const entered = await inner;
      release = () => this.#leaveTable(entered, table);
    } catch (error) {
      this.#forget(table);
      throw error;
    }
    try {
      const waited = performance.now() - began;
      return both(await this.#all.enter('the server', caller, waited), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async #join(outer: Promise<Release>, release: Release): Promise<Release> {
    try {
      return both(await outer, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  #tableGate(table: string): Gate {
    let gate = this.#tables.get(table);
    if (gate === undefined) {
      const { maxInFlightPerTable, maxQueuePerTable, queueTimeoutMs } = this.#limits;
      gate = new Gate(
        maxInFlightPerTable,
        maxQueuePerTable,
        queueTimeoutMs,
        'maxQueuePerTable',
        this.#count,
      );
      this.#tables.set(table, gate);
    }
    return gate;
  }

  #leaveTable(release: Release, table: string): void {
    release();
    this.#forget(table);
  }

  #forget(table: string): void {
    if (this.#tables.get(table)?.idle) this.#tables.delete(table);
  }
}

function both(first: Release, second: Release): Release {
  return () => {
    first();
    second();
  };
}
