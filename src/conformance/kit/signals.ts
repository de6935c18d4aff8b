/**
 * Ends waits by abort signals. `unlessAborted` rejects as soon as a signal is aborted, even if the
 * work continues. `later` returns a signal that is aborted a given time after another one.
 */
import type { Env } from '../../env.ts';

/** As `work`, or rejects as soon as the signal is aborted. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A signal that is aborted `ms` after the given one, or after now where that one is aborted already. */
export function later(signal: AbortSignal | undefined, ms: number, env: Env): AbortSignal {
  const controller = new AbortController();
  const wait = (): void => {
    const abort = (): void => controller.abort(new Error(`the run was interrupted ${ms} ms ago`));
    env.sleep(ms, undefined, true).then(abort, abort);
  };
  if (signal?.aborted) wait();
  else signal?.addEventListener('abort', wait, { once: true });
  return controller.signal;
}
