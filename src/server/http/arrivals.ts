/**
 * Bounds request bodies that are still arriving, so that half-sent requests cannot block the
 * server. If too many arrive at once (`Arrivals`), the caller with the most of them loses the one
 * that has waited longest for bytes (Throttling). A body that arrives too slowly is aborted with
 * InvalidInput (`PaceKeeper`, `cameTooSlowly`). Readers report bytes to `moved` and `came`, and
 * call `leave` at the end. `begun` waits for the first bytes of a body, its end or a failure.
 * `isWhole` tells whether all of a body with a stated length is there.
 */
import type { Readable } from 'node:stream';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { Progress } from '../../progress.ts';
import type { Limits } from '../settings/index.ts';

/** A body that is waited for. */
export interface Arrival {
  /** More of it came. */
  moved(): void;
  /** It is there, or no longer waited for; calling it again does nothing. */
  leave(): void;
}

interface Waiting {
  readonly giveWay: () => void;
}

/**
 * The bodies that a server waits for. Beyond the limit, the caller with the most of them loses the one
 * that has waited longest for bytes. A body that comes together with its headers is never lost, so
 * half-sent requests do not keep whole ones out, however many they are.
 */
export class Arrivals {
  readonly #limit: number;
  readonly #name: keyof Limits;
  /** The bodies of each caller; the one that has waited longest for bytes comes first. */
  readonly #callers = new Map<string, Set<Waiting>>();
  #count = 0;

  /** @param name the limit that bounds them */
  constructor(limit: number, name: keyof Limits) {
    this.#limit = limit;
    this.#name = name;
  }

  /** Waits for a body of `caller`; its `progress` is aborted with Throttling where it gives way. */
  enter(caller: string, progress: Pick<Progress, 'abort'>): Arrival {
    const own = this.#callers.get(caller) ?? new Set<Waiting>();
    const waiting: Waiting = {
      giveWay: () => {
        leave();
        progress.abort(tooMany(this.#limit, this.#name));
      },
    };
    const leave = (): void => {
      if (!own.delete(waiting)) return;
      this.#count--;
      if (own.size === 0 && this.#callers.get(caller) === own) this.#callers.delete(caller);
    };
    this.#callers.set(caller, own);
    own.add(waiting);
    this.#count++;
    if (this.#count > this.#limit) this.#mostOf().giveWay();
    const moved = (): void => {
      if (own.delete(waiting)) own.add(waiting);
    };
    return { moved, leave };
  }

  #mostOf(): Waiting {
    let most: Set<Waiting> = new Set();
    for (const own of this.#callers.values()) if (own.size > most.size) most = own;
    const [oldest] = most;
    return oldest as Waiting;
  }
}

const tooMany = (limit: number, name: keyof Limits): DirspaceError =>
  new DirspaceError(
    'Throttling',
    `More than ${limit} requests wait for their bodies, and this one's stood still longest. Send headers and body together.`,
    { details: { limit: name } },
  );

/** How long a body may stand still, and how slow it may be on the whole. */
export type BodyPace = Pick<Required<Limits>, 'bodyIdleMs' | 'minBodyRate'>;

/** Whether a body came too slowly: the request is answered 408. */
export const cameTooSlowly = (failure: unknown): boolean =>
  isDirspaceError(failure, 'InvalidInput') && failure.details.limit === 'bodyIdleMs';

/**
 * Ends a body that is too slow. It may stand still for `bodyIdleMs`; what came buys more time by
 * `minBodyRate`, never more than that. Time in which nothing is asked of the sender does not count.
 */
export class PaceKeeper {
  readonly #pace: BodyPace;
  readonly #progress: Pick<Progress, 'abort'>;
  #left: number;
  #since = 0;
  #received = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pace: BodyPace, progress: Pick<Progress, 'abort'>) {
    this.#pace = pace;
    this.#progress = progress;
    this.#left = pace.bodyIdleMs;
  }

  /** From now on the sender is waited for. */
  wait(): void {
    if (this.#pace.bodyIdleMs === 0) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#progress.abort(this.#tooSlow()), this.#left).unref();
  }

  /** So many bytes came, or there are no more to wait for. */
  came(bytes: number): void {
    clearTimeout(this.#timer);
    this.#received += bytes;
    const { bodyIdleMs, minBodyRate } = this.#pace;
    const bought = minBodyRate === 0 ? (bytes > 0 ? bodyIdleMs : 0) : (1000 * bytes) / minBodyRate;
    const waited = performance.now() - this.#since;
    this.#left = Math.max(1, Math.min(bodyIdleMs, this.#left - waited + bought));
  }

  #tooSlow(): DirspaceError {
    const { bodyIdleMs, minBodyRate } = this.#pace;
    return new DirspaceError(
      'InvalidInput',
      `The body of the request came too slowly: after ${this.#received} bytes it stood still for too long. It may stand still for ${bodyIdleMs} ms, less where it brings fewer than ${minBodyRate} bytes a second. Nothing was changed; send it again.`,
      { details: { limit: 'bodyIdleMs' } },
    );
  }
}

/** Whether all of a body is here already, which it says the length of. */
export function isWhole(body: Readable, length: string | undefined): boolean {
  // Of pieces that are objects to their stream, it tells the number.
  if (length === undefined || body.readableObjectMode) return false;
  return body.readableLength === Number(length);
}

/** Resolves when something of the body is there, or when it ended or failed without. */
export function begun(body: Readable, progress: Progress): Promise<void> {
  return new Promise((resolve, reject) => {
    if (body.readableLength > 0 || body.readableEnded || body.destroyed) return resolve();
    let forget = (): void => {};
    const stop = (): void => {
      forget();
      for (const event of EVENTS) body.off(event, done);
    };
    const done = (): void => {
      stop();
      resolve();
    };
    for (const event of EVENTS) body.once(event, done);
    forget = progress.onAbort((reason) => {
      stop();
      reject(reason);
    });
  });
}

const EVENTS = ['readable', 'end', 'close', 'error'] as const;
