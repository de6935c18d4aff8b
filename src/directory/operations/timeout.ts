/**
 * Parses the time limit of a request, such as `30s` or `500ms`, to milliseconds (`parseTimeout`),
 * and runs work with a signal that is aborted when the limit is over (`withTimeout`). A number
 * without a unit means seconds.
 */
import type { Env } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';

const MILLIS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** @throws InvalidInput */
export function parseTimeout(text: string): number {
  const [, amount, unit] = /^\s*(\d{1,12}(?:\.\d{1,9})?)\s*(ms|s|m|h)?\s*$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * (MILLIS[unit ?? 's'] ?? 1000);
  throw new DirspaceError(
    'InvalidInput',
    `The timeout ${JSON.stringify(text.slice(0, 40))} is none: write a number and ms, s, m or h, such as 30s.`,
  );
}

/**
 * Runs work with a signal that is aborted at the end of the time, or by the caller's own.
 * @throws ServiceUnavailable, from the work, once it looks at the signal
 */
export async function withTimeout<Result>(
  env: Env,
  timeout: string | undefined,
  own: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<Result>,
): Promise<Result> {
  if (timeout === undefined) return work(own);
  const millis = parseTimeout(timeout);
  const late = new AbortController();
  const done = new AbortController();
  const reason = new DirspaceError(
    'ServiceUnavailable',
    `The time of ${timeout} was over before the change was committed. Nothing was changed.`,
  );
  env.sleep(millis, done.signal).then(
    () => late.abort(reason),
    () => {},
  );
  try {
    return await work(own === undefined ? late.signal : AbortSignal.any([own, late.signal]));
  } finally {
    done.abort();
  }
}
