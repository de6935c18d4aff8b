/**
 * `retryDelay` computes how long to wait before a request is sent again: the time that Retry-After
 * asks for, plus exponential backoff with jitter. It returns undefined if Retry-After asks for more
 * than 60 seconds; then the request is not repeated. `RETRIED_STATUSES` are 429 and 503.
 * `refusalOf` recognises failures before the server received anything, such as a refused
 * connection. client.ts decides which requests are repeated.
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

/** Error codes of connections that were never established: the server did not see the request. */
const REFUSED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** The system calls that precede a connection. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);

/** Why nothing was sent, where a failure of `fetch` says so: the platform's code or words. */
export function refusalOf(error: unknown): string | undefined {
  for (let depth = 0, at = error; depth < 4 && typeof at === 'object' && at !== null; depth++) {
    const { code, syscall, message, cause, errors } = at as Partial<FetchFailure>;
    // One for each address of a host.
    if (Array.isArray(errors) && errors.length > 0) {
      return errors.map(refusalOf).reduce((one, other) => other && one);
    }
    if (typeof code === 'string') {
      return REFUSED.has(code) || CONNECTING.has(String(syscall)) ? code : undefined;
    }
    // `fetch` blocks some ports, and fails then without a code.
    if (message === 'bad port') return message;
    at = cause;
  }
  return undefined;
}

interface FetchFailure {
  readonly code: unknown;
  readonly syscall: unknown;
  readonly message: unknown;
  readonly cause: unknown;
  readonly errors: unknown;
}
