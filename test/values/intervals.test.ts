/** Intervals as text, by PostgreSQL's ranges of minutes and seconds. */
import { expect, test } from 'vitest';
import { parseInterval } from '../../src/values/index.ts';

const SECOND = 1_000_000_000n;

test.each([
  ['00:59:60', 3_600n],
  ['100:00', 360_000n],
  ['-1:02:03', -3_723n],
  ['00:00:00', 0n],
])('the clock %s has %d seconds', (text, seconds) => {
  expect(parseInterval(text)).toEqual({ months: 0, days: 0, nanos: seconds * SECOND });
});

test.each(['00:60', '00:99', '00:00:61', '1:2', '0:00:0', '00:60:00', '1 day 00:75'])(
  '%s is no interval',
  (text) => {
    expect(parseInterval(text)).toBeNull();
  },
);
