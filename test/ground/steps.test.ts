/** Steps that end before their last one give back what they hold. */
import { expect, test } from 'vitest';
import { systemEnv } from '../../src/env.ts';
import { runSteps, type WaitingSteps } from '../../src/steps.ts';
import { inTurns, Turn } from '../../src/table/work/turn.ts';

const failure = new Error('ended');

/** Steps that note how they end. */
function* noted(ends: string[], waits?: () => Promise<unknown>): WaitingSteps<string> {
  try {
    yield undefined;
    yield waits?.();
    yield undefined;
    return 'done';
  } finally {
    ends.push('closed');
  }
}

test('steps are closed where their pause ends them', async () => {
  const ends: string[] = [];
  const pause = (): undefined => {
    throw failure;
  };
  await expect(runSteps(noted(ends), pause)).rejects.toBe(failure);
  expect(ends).toEqual(['closed']);
});

test('steps are closed where waiting for their turn fails', async () => {
  const ends: string[] = [];
  await expect(runSteps(noted(ends), () => Promise.reject(failure))).rejects.toBe(failure);
  expect(ends).toEqual(['closed']);
});

test('steps are closed where what they wait for fails', async () => {
  const ends: string[] = [];
  const steps = noted(ends, () => Promise.reject(failure));
  await expect(runSteps(steps, () => undefined)).rejects.toBe(failure);
  expect(ends).toEqual(['closed']);
});

test('steps that end by themselves are closed once, and answer', async () => {
  const ends: string[] = [];
  const steps = noted(ends, () => Promise.resolve(7));
  expect(await runSteps(steps, () => undefined)).toBe('done');
  expect(ends).toEqual(['closed']);
});

test('steps are closed where a signal ends them between two turns', async () => {
  const ends: string[] = [];
  let now = 0;
  const turn = new Turn({ ...systemEnv, now: () => (now += 10) });
  const steps = noted(ends) as Generator<undefined, string>;
  await expect(inTurns(turn, steps, AbortSignal.abort(failure))).rejects.toBe(failure);
  expect(ends).toEqual(['closed']);
});
