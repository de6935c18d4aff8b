/** Work that is ended together: the group of a Progress. */
import { expect, test } from 'vitest';
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
