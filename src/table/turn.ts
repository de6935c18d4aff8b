/**
 * How long a scan has the process to itself: where the disk answers at once nothing of it waits, so
 * that it would stop everything else until its end.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Env } from '../env.ts';

const MILLISECONDS = 8;
const STEPS = 256;

export class Turn {
  /** Whether a look at the folder of the fragments found no link in this turn. */
  entered = false;
  readonly #env: Env;
  #start: number;
  #steps = 0;

  constructor(env: Env) {
    this.#env = env;
    this.#start = env.now();
  }

  /** Asked before each fragment, and each batch of a large one. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps > STEPS || this.#env.now() - this.#start >= MILLISECONDS;
  }

  /** Lets everything else go on, and begins another. */
  async pass(): Promise<void> {
    await nextTurn();
    this.entered = false;
    this.#steps = 0;
    this.#start = this.#env.now();
  }
}

/** Runs work that yields between its steps, and lets everything else go on where a turn is over. */
export async function inTurns<Result>(
  turn: Turn,
  steps: Generator<void, Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (!turn.isOver()) continue;
    await turn.pass();
    signal?.throwIfAborted();
  }
}
