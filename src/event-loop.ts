/**
 * `afterRound` and `nextRound` wait for one round of the event loop, so that other work can run in
 * between. They use the `setImmediate` that Node had when this package was loaded. A test that
 * fakes timers (vitest, jest, sinon) therefore does not stop long work. Timeouts and sleeps use the
 * global timers, which such a test may advance.
 */
import { setImmediate as immediate } from 'node:timers';

/** Calls back once the event loop has gone round. Faked timers do not hold it. */
export const afterRound: typeof immediate = immediate;

/** Resolves once the event loop has gone round. */
export const nextRound = (): Promise<void> =>
  new Promise((resolve) => {
    afterRound(resolve);
  });
