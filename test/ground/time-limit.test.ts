/** Signals that end work after a time. */
import { expect, test } from 'vitest';
import { nextRound } from '../../src/event-loop.ts';
import { endingAfter } from '../../src/time-limit.ts';

test.each([2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
  '%d milliseconds are not over at once',
  async (timeoutMs) => {
    const given = new AbortController();
    const signals = [endingAfter(timeoutMs, undefined), endingAfter(timeoutMs, given.signal)];
    // A timer that is too long fires with one of 1 ms.
    await new Promise((resolve) => AbortSignal.timeout(1).addEventListener('abort', resolve));
    await nextRound();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    given.abort('left');
    expect(signals.map(({ reason }) => reason as unknown)).toEqual([undefined, 'left']);
  },
);
