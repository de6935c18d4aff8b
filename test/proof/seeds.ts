/** Rows that are many cases, each with a seed of its own which replays it alone. */
import type { ProofContext } from './row.ts';

export interface Counts {
  readonly ci: number;
  readonly short: number;
}

/** Runs cases until there are enough or, in a nightly run, until time is up; returns how many. */
export async function eachSeed(
  context: ProofContext,
  counts: Counts,
  run: (seed: number) => Promise<readonly string[]>,
): Promise<number> {
  const { seed: first, size, known, deadline } = context;
  const many = size === 'nightly' ? Number.POSITIVE_INFINITY : counts[size];
  const enough = known ? 1 : many;
  let cases = 0;
  for (; cases < enough; cases++) {
    if (size === 'nightly' && performance.now() > deadline) break;
    const seed = first + cases;
    let wrong: readonly string[];
    try {
      wrong = await run(seed);
    } catch (error) {
      wrong = [`it threw ${error instanceof Error ? error.stack : String(error)}`];
    }
    for (const what of wrong.slice(0, 5)) context.violated(what, seed);
  }
  return cases;
}
