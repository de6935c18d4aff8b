/**
 * Defines `Env`: the clock, random ids, random numbers and sleep that a catalog uses. `systemEnv`
 * is the real one; tests pass their own to replay a run. `wholeMillis` wraps an Env so that its
 * clock returns whole milliseconds; a clock that returns no time makes it throw InvalidInput.
 * `elapsed` gives the time by which long work is measured: the Env's own `elapsed` if it has one,
 * or else its clock. `LONGEST_TIMER` is the longest wait that a timer of Node takes.
 */
import { randomUUID } from 'node:crypto';
import { DirspaceError } from './errors.ts';

/** What a run takes from its environment, besides files. */
export interface Env {
  /**
   * Milliseconds since the epoch, which may have a fraction. Informative only: versions order
   * things, clocks never do.
   */
  now(): number;
  /**
   * Milliseconds of real time since an arbitrary moment; long work measures its turns of the event
   * loop with it. `now` is used if absent. Given where `now` stands still.
   */
  elapsed?(): number;
  /** A fresh lower-case UUID. */
  uuid(): string;
  /** Uniform in [0, 1). */
  random(): number;
  /**
   * Resolves after `ms`; rejects with the signal's reason. A `background` sleep does not keep the
   * process alive.
   */
  sleep(ms: number, signal?: AbortSignal, background?: boolean): Promise<void>;
}

/** The longest wait in milliseconds that a timer of Node takes, about 24 days; a longer one ends at once. */
export const LONGEST_TIMER: number = 2 ** 31 - 1;

/** Milliseconds with which turns of the event loop are measured. */
export const elapsed = (env: Env): number => env.elapsed?.() ?? env.now();

/** The same environment with a clock of whole milliseconds: stored times are integers. */
export const wholeMillis = (env: Env): Env => ({
  now: () => {
    const now = Math.floor(env.now());
    if (Number.isSafeInteger(now)) return Math.max(0, now);
    throw new DirspaceError('InvalidInput', `env.now() answered ${now}, which is no time.`);
  },
  ...(env.elapsed === undefined ? {} : { elapsed: () => elapsed(env) }),
  uuid: () => env.uuid(),
  random: () => env.random(),
  sleep: (ms, signal, background) => env.sleep(ms, signal, background),
});

export const systemEnv: Env = {
  now: Date.now,
  uuid: randomUUID,
  random: Math.random,
  sleep: (ms, signal, background = false) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      if (background) timer.unref();
      signal?.addEventListener('abort', abort, { once: true });
    }),
};
