/**
 * Lets the event loop go round. Holds `setImmediate` as it was when the package was loaded, so that
 * a test that fakes timers (vitest, jest, sinon) does not stop long work at its next pause. Timeouts
 * and sleeps stay with the timers of the global object, which such a test may move on.
 */
import { setImmediate as immediate } from 'node:timers';

/** Calls back once the event loop has gone round. Faked timers do not hold it. */
export const afterRound: typeof immediate = immediate;

/** Resolves once the event loop has gone round. */
export const nextRound = (): Promise<void> =>
  new Promise((resolve) => {
    afterRound(resolve);
  });
