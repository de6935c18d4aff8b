/**
 * `Turn` tells long work when to yield to the event loop: after 8 ms or 256 steps. Its first turn
 * has 2 ms if other work was waiting when it began. The work calls `isOver` once for each step, and
 * awaits `pass` when that is true; `pause` does both. `inTurns` runs a generator of steps that way;
 * an abort signal is looked at whenever it has yielded, and ends the generator. Tasks that wait
 * (`nextTurn`) continue in the order in which they came, one in each round of the event loop, so
 * several long requests do not delay a short one.
 */
import { type Env, elapsed } from '../../env.ts';
import { afterRound } from '../../event-loop.ts';

const MILLISECONDS = 8;
/** The length of the first turn of work that begins while others wait for theirs. */
const FIRST_MILLISECONDS = 2;
const STEPS = 256;

const waiting: (() => void)[] = [];

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) afterRound(goOn);
}

/** Resolves in a later round of the event loop, alone among those that wait here. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) afterRound(goOn);
  });

/** How long one piece of work has had the event loop, and the way to give it up. */
export class Turn {
  /** Whether a look at the folder of the fragments found no link in this turn. */
  entered = false;
  readonly #env: Env;
  #start: number;
  #most = waiting.length > 0 ? FIRST_MILLISECONDS : MILLISECONDS;
  #steps = 0;

  constructor(env: Env) {
    this.#env = env;
    this.#start = elapsed(env);
  }

  /** Asked before each fragment, and each batch of a large one. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps > STEPS || elapsed(this.#env) - this.#start >= this.#most;
  }

  /** Passes the turn on where it is over. */
  pause(): Promise<void> | undefined {
    return this.isOver() ? this.pass() : undefined;
  }

  /** Yields to the event loop, and begins the next turn. */
  async pass(): Promise<void> {
    await nextTurn();
    this.entered = false;
    this.#steps = 0;
    this.#most = MILLISECONDS;
    this.#start = elapsed(this.#env);
  }
}

/**
 * Runs a generator of steps, and yields to the event loop where a turn is over. Where the signal
 * ends them, they are closed.
 */
export async function inTurns<Result>(
  turn: Turn,
  steps: Generator<void, Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (!turn.isOver()) continue;
      await turn.pass();
      signal?.throwIfAborted();
    }
  } finally {
    steps.return(undefined as Result);
  }
}
