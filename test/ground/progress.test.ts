/** Work that is ended together, the group of a Progress, and the time without progress that ends it. */
import { afterEach, expect, test, vi } from 'vitest';
import { Progress } from '../../src/progress.ts';

const make = (group: Set<Progress>, callers: readonly AbortSignal[] = []): Progress =>
  new Progress(0, () => undefined, callers, group);

test('a group holds what is under way, and can abort it', () => {
  const group = new Set<Progress>();
  const [first, second, third] = [make(group), make(group), make(group)];
  expect([...group]).toEqual([first, second, third]);
  second.end();
  expect([...group]).toEqual([first, third]);
  for (const progress of group) progress.abort('closed');
  expect([first, second, third].map(({ reason }) => reason)).toEqual([
    'closed',
    undefined,
    'closed',
  ]);
  expect(group.size).toBe(0);
});

test('what is aborted when it is made is in no group', () => {
  const group = new Set<Progress>();
  expect(make(group, [AbortSignal.abort('early')]).reason).toBe('early');
  expect(group.size).toBe(0);
});

afterEach(() => {
  vi.useRealTimers();
});

test('the time counts while the work is not paused, and no more once it ended', () => {
  vi.useFakeTimers();
  const [going, ended] = [1, 2].map(() => new Progress(1_000, () => 'late')) as [
    Progress,
    Progress,
  ];
  for (const progress of [going, ended]) progress.pause();
  vi.advanceTimersByTime(2_000);
  expect(going.aborted).toBe(false);
  // What the work waited for may answer after its end.
  ended.end();
  for (const progress of [going, ended]) progress.resume();
  vi.advanceTimersByTime(2_000);
  expect([going.reason, ended.reason]).toEqual(['late', undefined]);
  expect(vi.getTimerCount()).toBe(0);
});
