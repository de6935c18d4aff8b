/**
 * Runs long work that is written as a generator of short steps, so that a server answers other
 * requests in between. `runSteps` awaits the promises that steps yield, pauses between steps when
 * its `Pause` asks for that (`plainPause`: every 8 ms), and closes the generator after an error.
 * `drained` runs steps to their end without a pause and awaits nothing. `inSlices` turns a loop
 * over rows into steps.
 */
import { systemEnv } from './env.ts';
import { afterRound } from './event-loop.ts';

/** Runs them to their end, without a break. */
export function drained<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Runs a loop over `count` rows in steps of `size` rows. The loop is a function of its own because V8
 * optimizes a loop in a generator only once the generator has been called often.
 */
export function* inSlices(
  count: number,
  size: number,
  loop: (from: number, to: number) => void,
): Generator<void, void> {
  for (let from = 0; from < count; from += size) {
    if (from > 0) yield;
    loop(from, Math.min(count, from + size));
  }
}

/** Steps that may also yield what they wait for, and go on with what it resolves with. */
export type WaitingSteps<Result> = Generator<Promise<unknown> | undefined, Result, unknown>;

/** Asked between two steps: a promise to wait for where it is time to let other work go on. */
export type Pause = () => Promise<void> | undefined;

/**
 * Runs steps, and waits between them where `pause` says so. Where that ends them, or what they wait
 * for fails, they are closed: their `finally` gives back what they hold.
 */
export async function runSteps<Result>(steps: WaitingSteps<Result>, pause: Pause): Promise<Result> {
  let answer: unknown;
  try {
    for (;;) {
      const { done, value } = steps.next(answer);
      if (done === true) return value;
      answer = value === undefined ? undefined : await value;
      const waiting = pause();
      if (waiting !== undefined) await waiting;
    }
  } finally {
    steps.return(undefined as Result);
  }
}

const MILLISECONDS = 8;

/** A pause for work that belongs to no request: lets other work run every few milliseconds. */
export function plainPause(): Pause {
  let start = systemEnv.now();
  return () => {
    if (systemEnv.now() - start < MILLISECONDS) return undefined;
    return new Promise((resolve) => {
      afterRound(() => {
        start = systemEnv.now();
        resolve();
      });
    });
  };
}
