/** Rounds of a row: one, or at night as many as fit, each with a seed of its own. */
import { isDirspaceError } from '../../src/errors.ts';
import type { ProofContext } from './row.ts';

/** Adds up the cases that each round says it made. */
export async function inRounds(
  context: ProofContext,
  round: (seed: number) => number | Promise<number>,
): Promise<number> {
  let cases = await round(context.seed);
  if (context.size !== 'nightly') return cases;
  for (let at = 1; performance.now() < context.deadline; at++) {
    cases += await round((context.seed + Math.imul(at, 0x9e3779b1)) >>> 0);
  }
  return cases;
}

/** The code of a typed error that is no fault of the engine; undefined for anything else. */
export function refusal(error: unknown): string | undefined {
  return isDirspaceError(error) && error.code !== 'Internal' ? error.code : undefined;
}

/** Lets timers and sockets have their turn between pieces of work that never wait. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The longest of many pieces of work, in milliseconds of this process's own time. */
export class Slowest {
  ms = 0;
  what = '';
  readonly #limit: number;
  readonly #tell: (what: string) => void;

  constructor(limit: number, tell: (what: string) => void) {
    this.#limit = limit;
    this.#tell = tell;
  }

  /** Only what is slow by the clock is done again, to tell it from a busy machine. */
  async time<T>(what: () => string, limit: number, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await work();
    let ms = performance.now() - start;
    for (let tries = 0; ms > limit && tries < 2; tries++) {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      ms = Math.min(ms, (user + system) / 1_000);
    }
    if (ms > this.ms) {
      this.ms = ms;
      this.what = what();
    }
    if (ms > Math.max(limit, this.#limit)) this.#tell(`${what()} took ${ms.toFixed(0)} ms`);
    return result;
  }
}
