/**
 * Defines the limits of a server with their defaults and validation (`Limits`, `DEFAULT_LIMITS`,
 * `resolveLimits`, which throws InvalidInput), and the admission of requests. A `Gate` has places,
 * and a queue for each caller. Callers take turns, and one caller gets only its share of the places
 * and of the queue. `Admission` has a Gate for all its requests and one for each table. `enter`
 * gives a place, and returns the function that must be called to give it back. A request that finds
 * a full queue or waits too long gets Throttling. `QueueCount` counts those that wait.
 */
import { LONGEST_TIMER } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';

/** How much a server takes on at once, and how long it waits. */
export interface Limits {
  /**
   * Requests under way at once; 256 if absent. Those that only look something up, such as describe,
   * exists and lists of one namespace or table, have as many places of their own, and lines of their own,
   * here and for each table.
   */
  readonly maxInFlight?: number;
  /** Requests that wait for a place; 1,024 if absent. */
  readonly maxQueue?: number;
  /** The same for one table; 64 and 256 if absent. */
  readonly maxInFlightPerTable?: number;
  readonly maxQueuePerTable?: number;
  /**
   * The share of all these that one caller may have at once, above 0 and at most 1; 0.5 if absent. A
   * caller is a principal, or, without `auth`, the address that a connection comes from.
   */
  readonly callerShare?: number;
  /** How long a request waits for its places, and for a body with its identity; 10,000 if absent. */
  readonly queueTimeoutMs?: number;
  /**
   * Requests at once whose body has not come: as JSON the whole of it, as Arrow data its first bytes. They
   * take no place yet. Beyond it one gives way, that stood still longest; 1,280 if absent.
   */
  readonly maxArriving?: number;
  /**
   * The same for requests that have no credentials in their headers and whose body is read for an
   * identity; 256 if absent. Only where `auth` is configured.
   */
  readonly maxUnauthenticated?: number;
  /** Bytes of a JSON body; 8 MiB if absent. */
  readonly maxJsonBytes?: number;
  /**
   * Bytes of an Arrow body, as it is sent and once it is decompressed, and of all parts of an insert in
   * parts as they are sent; 64 GiB if absent.
   */
  readonly maxArrowBytes?: number;
  /** Inserts in parts under way at once; 16 if absent. One caller may have its share of them. */
  readonly maxUploads?: number;
  /** How long an insert in parts may stand still before it is ended; 300,000 if absent, 0 for any time. */
  readonly uploadIdleMs?: number;
  /**
   * Bytes that one request may have at once for what is made while it is answered, such as computed
   * values; 256 MiB if absent. Holds for the roots that the server opens: a catalog that it is given
   * open has a bound of its own.
   */
  readonly requestMemory?: number;
  /** And what all requests under way may have together; 1 GiB if absent. Beyond it they are answered 503. */
  readonly serverMemory?: number;
  /**
   * Steps that the regular expressions of one request may take, over all its rows: characters passed, and
   * states of a pattern looked at where they are new; 4,000,000,000 if absent, about half a minute's work.
   * Holds for the roots that the server opens.
   */
  readonly maxRegexpSteps?: number;
  /**
   * How long a request may take to its answer, or go without progress; 120,000 if absent. Optimizing,
   * cleaning up, verifying and repairing take as long as they take, until the caller leaves.
   */
  readonly requestTimeoutMs?: number;
  /** How long a body may stand still while it is waited for; 30,000 if absent, 0 for any time. */
  readonly bodyIdleMs?: number;
  /** Bytes a second that a body has to bring on the whole, so as not to use that up; 1,024 if absent. */
  readonly minBodyRate?: number;
  /**
   * Connections open at once to an address; 4,096 if absent, 0 for any number. Further ones are closed
   * unanswered: files and sockets of a process share what the system lets it open.
   */
  readonly maxConnections?: number;
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
  callerShare: 0.5,
  queueTimeoutMs: 10_000,
  maxArriving: 1280,
  maxUnauthenticated: 256,
  maxJsonBytes: 8 * 1024 ** 2,
  maxArrowBytes: 64 * 1024 ** 3,
  maxUploads: 16,
  uploadIdleMs: 300_000,
  requestMemory: 256 * 1024 ** 2,
  serverMemory: 1024 ** 3,
  maxRegexpSteps: 4_000_000_000,
  requestTimeoutMs: 120_000,
  bodyIdleMs: 30_000,
  minBodyRate: 1024,
  maxConnections: 4096,
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
    resolved[name as keyof Limits] = name.endsWith('Ms') ? Math.min(value, LONGEST_TIMER) : value;
  }
  for (const name of ['maxInFlight', 'maxInFlightPerTable'] as const) {
    if (resolved[name] < 1) throw invalid(`The limit ${name} is 0; nothing could ever run.`);
  }
  const { callerShare } = resolved;
  if (callerShare === 0 || callerShare > 1) {
    throw invalid(`The limit callerShare is ${callerShare}; it is above 0 and at most 1.`);
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

/** A request that wants a place. Its signal ends the wait, and is read only if it has to wait. */
export interface Waiter {
  readonly signal: AbortSignal;
}

/** What one caller has of a gate. */
interface Held {
  taken: number;
  /** Those that wait for a place, the first one first. */
  readonly line: Set<() => void>;
}

export interface GateOptions {
  readonly places: number;
  readonly line: number;
  /** The part of both that one caller may have. */
  readonly share: number;
  readonly timeoutMs: number;
  /** The limit that bounds the line. */
  readonly lineName: keyof Limits;
  readonly count: QueueCount;
}

/**
 * Places, and lines before them, one for each caller: callers take turns, their requests are served in
 * order, and none waits for ever. A caller who has all of its share waits though places are free.
 */
export class Gate {
  readonly #options: GateOptions;
  /** Places, and room in the line, of one caller. */
  readonly #most: { readonly places: number; readonly line: number };
  /** In the order of their turns. */
  readonly #callers = new Map<string, Held>();
  #taken = 0;
  #waiting = 0;

  constructor(options: GateOptions) {
    this.#options = options;
    const { places, line, share } = options;
    this.#most = { places: Math.ceil(places * share), line: Math.ceil(line * share) };
  }

  /** How many callers it knows: those that have a place or wait for one. */
  get callers(): number {
    return this.#callers.size;
  }

  get idle(): boolean {
    return this.#taken === 0 && this.#waiting === 0;
  }

  /**
   * A place for `caller`, at once where one is free. Throws Throttling where the line is full, and
   * rejects with it where none became free in time, which is less for who has `waited` elsewhere; rejects
   * with the signal's reason when that ends the waiting.
   */
  enter(
    subject: string,
    caller: string,
    waiter: Waiter,
    waited: number = 0,
  ): Release | Promise<Release> {
    const held = this.#callers.get(caller) ?? { taken: 0, line: new Set() };
    if (this.#mayTake(held)) return this.#take(caller, held);
    const { line, lineName, timeoutMs, count } = this.#options;
    if (this.#waiting >= line || held.line.size >= this.#most.line) {
      throw new DirspaceError('Throttling', `Too many requests to ${subject}; try again later.`, {
        details: { limit: lineName },
      });
    }
    const { signal } = waiter;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        held.line.delete(enter);
        this.#waiting--;
        count.waiting--;
      };
      const leave = (): void => {
        end();
        this.#forget(caller, held);
        reject(signal.reason);
      };
      const giveUp = (): void => {
        end();
        this.#forget(caller, held);
        reject(waitedTooLong(subject, timeoutMs));
      };
      const enter = (): void => {
        end();
        resolve(this.#take(caller, held));
      };
      const timer = setTimeout(giveUp, Math.max(0, timeoutMs - waited)).unref();
      signal.addEventListener('abort', leave, { once: true });
      held.line.add(enter);
      this.#callers.set(caller, held);
      this.#waiting++;
      count.waiting++;
    });
  }

  #mayTake({ taken }: Held): boolean {
    return this.#taken < this.#options.places && taken < this.#most.places;
  }

  #take(caller: string, held: Held): Release {
    this.#callers.set(caller, held);
    this.#taken++;
    held.taken++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken--;
      held.taken--;
      this.#forget(caller, held);
      if (this.#waiting > 0) this.#callNext();
    };
  }

  /** The first of the next caller who waits and may have a place; that caller's next turn is the last. */
  #callNext(): void {
    for (const [caller, held] of this.#callers) {
      const [enter] = held.line;
      if (enter === undefined || !this.#mayTake(held)) continue;
      this.#callers.delete(caller);
      this.#callers.set(caller, held);
      enter();
      return;
    }
  }

  #forget(caller: string, held: Held): void {
    if (held.taken === 0 && held.line.size === 0) this.#callers.delete(caller);
  }
}

const waitedTooLong = (subject: string, timeoutMs: number): DirspaceError =>
  new DirspaceError(
    'Throttling',
    `Too many requests to ${subject}: none of their places became free within ${timeoutMs} ms. Try again later.`,
    { details: { limit: 'queueTimeoutMs' } },
  );

/** The gates for one kind of request: one for all, one for each table that is in use. */
export class Admission {
  readonly #limits: Required<Limits>;
  readonly #count: QueueCount;
  readonly #all: Gate;
  readonly #tables = new Map<string, Gate>();

  constructor(limits: Required<Limits>, count: QueueCount = new QueueCount()) {
    this.#limits = limits;
    this.#count = count;
    const { maxInFlight: places, maxQueue: line } = limits;
    this.#all = this.#gate(places, line, 'maxQueue');
  }

  #gate(places: number, line: number, lineName: keyof Limits): Gate {
    const { callerShare: share, queueTimeoutMs: timeoutMs } = this.#limits;
    return new Gate({ places, line, share, timeoutMs, lineName, count: this.#count });
  }

  /** Places for a request of `caller` about `table`, or about none. At once where none has to wait. */
  enter(table: string | undefined, caller: string, waiter: Waiter): Release | Promise<Release> {
    if (table === undefined) return this.#all.enter('the server', caller, waiter);
    const inner = this.#tableGate(table).enter('this table', caller, waiter);
    if (typeof inner !== 'function') return this.#enterAll(inner, table, caller, waiter);
    const release = (): void => this.#leaveTable(inner, table);
    let outer: Release | Promise<Release>;
    try {
      outer = this.#all.enter('the server', caller, waiter);
    } catch (error) {
      release();
      throw error;
    }
    return typeof outer === 'function' ? both(outer, release) : this.#join(outer, release);
  }

  async #enterAll(
    inner: Promise<Release>,
    table: string,
    caller: string,
    waiter: Waiter,
  ): Promise<Release> {
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
      return both(await this.#all.enter('the server', caller, waiter, waited), release);
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
      const { maxInFlightPerTable: places, maxQueuePerTable: line } = this.#limits;
      gate = this.#gate(places, line, 'maxQueuePerTable');
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
