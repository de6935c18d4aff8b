/**
 * How long a scan of small fragments has the process to itself: nothing of it waits, so that it
 * would stop everything else until its end.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Env } from '../env.ts';

const MILLISECONDS = 8;
const FRAGMENTS = 256;

export class Turn {
  /** Whether a look at the folder of the fragments found no link in this turn. */
  entered = false;
  readonly #env: Env;
  #start: number;
  #fragments = 0;

  constructor(env: Env) {
    this.#env = env;
    this.#start = env.now();
  }

  /** Asked before each fragment. */
  isOver(): boolean {
    this.#fragments += 1;
    return this.#fragments > FRAGMENTS || this.#env.now() - this.#start >= MILLISECONDS;
  }

  /** Lets everything else go on, and begins another. */
  async pass(): Promise<void> {
    await nextTurn();
    this.entered = false;
    this.#fragments = 0;
    this.#start = this.#env.now();
  }
}
