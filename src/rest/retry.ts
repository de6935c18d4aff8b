/**
 * When a request is sent again, and how long to wait before. Which operations may be repeated is
 * the caller's to know.
 */
import type { Env } from '../env.ts';

const BASE_MS = 100;
const CAP_MS = 10_000;
/** A server that asks for more patience than this is not waited for. */
const MAX_RETRY_AFTER_MS = 60_000;

export const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/**
 * Milliseconds to wait before attempt `attempt` (2 for the first repetition): full jitter over a
 * doubling range, after what the server asks for. Undefined where it asks for too much.
 */
export function retryDelay(
  attempt: number,
  retryAfter: string | null | undefined,
  env: Env,
): number | undefined {
  const jitter = env.random() * Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1));
  const asked = retryAfterMillis(retryAfter, env);
  return asked > MAX_RETRY_AFTER_MS ? undefined : asked + jitter;
}

/** A header that cannot be read asks for nothing. */
function retryAfterMillis(header: string | null | undefined, env: Env): number {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = text === '' ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - env.now());
}

/** Codes of connections that never came to be: the server has seen nothing of the request. */
const REFUSED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a failure of `fetch` says that nothing was sent. */
export function isRefused(error: unknown): boolean {
  for (let depth = 0, at = error; depth < 4 && typeof at === 'object' && at !== null; depth++) {
    const { code, cause, errors } = at as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === 'string') return REFUSED.has(code);
    if (Array.isArray(errors) && errors.length > 0) return errors.every(isRefused);
    at = cause;
  }
  return false;
}
