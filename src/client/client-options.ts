/**
 * Defines the options of the REST client (`RestOptions`), such as address, headers, timeouts and
 * retries. `clientSettings` checks them and fills in the defaults; what is wrong throws
 * InvalidInput. `checkHeader` refuses headers that belong to the connection or describe the body.
 * Error messages show no header values and no credentials.
 */
import { type Env, LONGEST_TIMER, systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { DEFAULT_DELIMITER } from '../protocol/index.ts';
import { platformFetch } from './platform-fetch.ts';

/** Sends a request of the client in place of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface RestOptions {
  /** Base address of the server: scheme, host, port, and a path where it has one. */
  readonly uri: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Between the components of an id in a path; `$` if absent. */
  readonly delimiter?: string;
  /** Sends the requests; the one of the platform if absent. */
  readonly fetch?: Fetch;
  /**
   * How long an attempt may go without any progress; 0 for no limit. If absent it is 60,000, and
   * none for optimizing, cleaning up, verifying and repairing.
   */
  readonly timeoutMs?: number;
  /** How often a request that may be repeated is sent again; 4 if absent. */
  readonly retries?: number;
  /** Refuses what would change the catalog, with ReadOnly, without asking the server. */
  readonly readOnly?: boolean;
  readonly env?: Env;
  /** Ends every call of this namespace, with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface ClientSettings {
  /** Without a slash at its end. */
  readonly base: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly delimiter: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  /** The same for operations that may take long. */
  readonly longTimeoutMs: number;
  readonly retries: number;
  readonly readOnly: boolean;
  readonly env: Env;
  readonly signal: AbortSignal | undefined;
}

/** Throws InvalidInput that names what is wrong; values of headers are not shown. */
export function clientSettings(options: RestOptions): ClientSettings {
  const { delimiter = DEFAULT_DELIMITER, timeoutMs = 60_000, retries = 4 } = options;
  if (delimiter === '') throw invalid('delimiter', 'The delimiter is empty.');
  checkCount('timeoutMs', timeoutMs);
  checkCount('retries', retries);
  return {
    base: baseAddress(options.uri),
    headers: Object.entries(options.headers ?? {}).map(([name, value]) => checkHeader(name, value)),
    delimiter,
    fetch: options.fetch ?? platformFetch,
    timeoutMs: Math.min(timeoutMs, LONGEST_TIMER),
    longTimeoutMs: Math.min(options.timeoutMs ?? 0, LONGEST_TIMER),
    retries,
    readOnly: options.readOnly ?? false,
    env: options.env ?? systemEnv,
    signal: options.signal,
  };
}

function baseAddress(uri: unknown): string {
  const shown = JSON.stringify(typeof uri === 'string' ? withoutUser(uri).slice(0, 200) : uri);
  let url: URL;
  try {
    url = new URL(uri as string);
  } catch {
    throw invalid('uri', `The uri ${shown} is no address; expected one as http://host:port.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid('uri', `The uri ${shown} is of another protocol; expected http: or https:.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('uri', 'The uri holds a user or password; send them as headers instead.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw invalid('uri', `The uri ${shown} has a query or fragment; a base address has none.`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The address without a user and password, wherever they end. */
const withoutUser = (uri: string): string => uri.replace(/^(https?:\/*)?.*@/is, '$1…@');

/** Headers that belong to the transport, hop by hop: the caller's would break the message. */
const TRANSPORT_HEADERS = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Passes a header that a caller may send through, with its name in lower case. Errors name it as
 * `given`, which is where the caller put it, and never show its value.
 */
export function checkHeader(name: string, value: unknown, given = name): [string, string] {
  const shown = JSON.stringify(given.slice(0, 80));
  if (!TOKEN.test(name)) throw invalid('headers', `${shown} is not the name of a header.`);
  const lower = name.toLowerCase();
  if (TRANSPORT_HEADERS.has(lower)) {
    throw invalid('headers', `The header ${shown} belongs to the connection; it cannot be set.`);
  }
  if (lower.startsWith('content-')) {
    throw invalid('headers', `The header ${shown} describes the body; it cannot be set.`);
  }
  if (typeof value !== 'string' || UNSENDABLE.test(value)) {
    const message = `The value of ${shown} has a character that headers cannot carry.`;
    throw invalid('headers', message);
  }
  return [lower, value];
}

function checkCount(member: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return;
  throw invalid(member, `${member} is ${String(value)}; expected an integer >= 0.`);
}

function invalid(member: string, message: string): DirspaceError {
  return new DirspaceError('InvalidInput', message, { details: { member } });
}
