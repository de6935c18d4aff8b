/**
 * Defines `ConnectOptions`, with the types of LanceDB's options for remote databases
 * (`ClientConfig`, ...). `checkConnectOptions` checks the names and types of all given options and
 * the values of some, such as sizes and `durability`, and throws InvalidInput. Unknown names are
 * refused, because a misspelt `readOnly` would open the catalog for writing. The implementations
 * check the rest.
 */

import type { AllowedLocation } from '../../allowed-locations.ts';
import type { Fetch } from '../../client/index.ts';
import type { CredentialVendor } from '../../directory/index.ts';
import type { Env } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { LanceMode } from '../../lance-mode.ts';
import { parseRetention } from '../../retention.ts';
import type { FileSystem } from '../../store/index.ts';
import type { HeaderSource } from './header-provider.ts';
import { Session } from './session.ts';
import type { TracerLike } from './tracing.ts';

/** How often a request is sent. What else LanceDB has here is refused by name. */
export interface RetryConfig {
  /** Attempts, the first one included. */
  readonly retries?: number;
  readonly connectRetries?: number;
  readonly readRetries?: number;
  readonly backoffFactor?: number;
  readonly backoffJitter?: number;
  readonly statuses?: number[];
}

/** How long a request may take, in seconds. What else LanceDB has here is refused by name. */
export interface TimeoutConfig {
  readonly timeout?: number;
  readonly connectTimeout?: number;
  /** Without any progress. */
  readonly readTimeout?: number;
  readonly poolIdleTimeout?: number;
}

/** Refused: a `fetch` of your own has certificates. */
export interface TlsConfig {
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly sslCaCert?: string;
  readonly assertHostname?: boolean;
}

/** How a remote catalog is spoken to, as in LanceDB's SDK. */
export interface ClientConfig {
  readonly userAgent?: string;
  readonly retryConfig?: RetryConfig;
  readonly timeoutConfig?: TimeoutConfig;
  /** Sent with every request. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  /** Between the components of an id in a path; `$` if absent. */
  readonly idDelimiter?: string;
  readonly tlsConfig?: TlsConfig;
  /** Sent as `x-lancedb-user-id`. */
  readonly userId?: string;
}

/** The flows of OAuth that LanceDB's SDK knows by itself. */
export const OAuthFlowType = {
  ClientCredentials: 'client_credentials',
  AzureManagedIdentity: 'azure_managed_identity',
} as const;
/** One of them. */
export type OAuthFlowType = (typeof OAuthFlowType)[keyof typeof OAuthFlowType];

/** Refused: a header provider fetches tokens. */
export interface OAuthConfig {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly scopes: string[];
  readonly flow?: OAuthFlowType;
  readonly clientSecret?: string;
  readonly managedIdentityClientId?: string;
  readonly refreshBufferSecs?: number;
}

/** How to open a catalog. Options that a catalog has no use for are refused or do nothing there. */
export interface ConnectOptions {
  /** Nothing is created or changed; what would be rejects with ReadOnly. */
  readonly readOnly?: boolean;
  /** An object with the methods of `node:fs`, such as memfs; the real one if absent. */
  readonly fs?: FileSystem;
  /**
   * `full` (the default): a version is on disk before it is visible. `relaxed`: the operating
   * system writes it when it likes, so the newest versions may be lost when the machine stops.
   */
  readonly durability?: 'full' | 'relaxed';
  /** Ends the attempt to connect, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Gives the `storage_options` that `vend_credentials` asks for; none are vended if absent. */
  readonly credentialVendor?: CredentialVendor;
  /** Bytes of metadata that a directory catalog keeps in memory; 64 MiB if absent. */
  readonly cacheBytes?: number;
  /** Bytes of table data it keeps, once read and verified; 128 MiB if absent. */
  readonly bufferBytes?: number;
  /**
   * Bytes of sketches of vectors it keeps, which take a quarter of float32 vectors' bytes and a little;
   * twice `bufferBytes` if absent.
   */
  readonly vectorBytes?: number;
  /**
   * Bytes that one call of a directory catalog may have at once for what it makes, such as computed
   * values; 1 GiB if absent. A call that would need more rejects with InvalidInput.
   */
  readonly requestMemory?: number;
  /** Sends the requests of a remote catalog; the one of the platform if absent. */
  readonly fetch?: Fetch;
  /**
   * How long a remote catalog may go without any progress; 0 for no limit. If absent it is 60,000,
   * and none for `optimize`, and for verifying and repairing.
   */
  readonly timeoutMs?: number;
  /** How often a request that may be repeated is sent again; 4 if absent. */
  readonly retries?: number;
  /**
   * After a commit that leaves so many fragments more than the last compaction did, a directory
   * catalog joins small ones in the background; `close()` waits for it. Never if absent.
   */
  readonly autoCompact?: { readonly fragments: number };
  /**
   * How long a directory catalog keeps what was dropped, for `undropTable`: milliseconds, or text such
   * as `7d` or `12h`; 7 days if absent. 0 keeps nothing. The trash is emptied by `optimize`, and in
   * the background once a catalog is open for writing.
   */
  readonly trashRetention?: number | string;
  /** Where tables of a directory catalog may lie outside its root; nowhere if absent. */
  readonly locations?: readonly AllowedLocation[];
  /**
   * Whether new tables of the directory open in Lance too: `off`, `read`, `sync` or `write`. The catalog
   * remembers it. A new catalog has `read`; one of a release before Lance has `off`.
   */
  readonly lance?: LanceMode;
  /** Clock, ids and randomness; tests replay runs with it. */
  readonly env?: Env;
  /** Taken for the sake of programs that move over; every read sees the newest version. */
  readonly readConsistencyInterval?: number;
  /** Known to programs that move over; a directory needs none and refuses any. */
  readonly storageOptions?: Readonly<Record<string, string>>;
  /** Caches that several connections share, in place of `cacheBytes`, `bufferBytes` and `vectorBytes`. */
  readonly session?: Session;
  /** Gives headers for each request of a remote catalog. */
  readonly headerProvider?: HeaderSource;
  /** How a remote catalog is spoken to. */
  readonly clientConfig?: ClientConfig;
  /** Of a `db://` address: sent as `x-api-key`. */
  readonly apiKey?: string;
  /** Of a `db://` address: the address of the server. */
  readonly hostOverride?: string;
  /** Of a `db://` address: chooses a host of LanceDB's cloud, and so nothing beside `hostOverride`. */
  readonly region?: string;
  /** Refused; a header provider does it. */
  readonly oauthConfig?: OAuthConfig;
  /** Namespaces are always there: `false` is refused. */
  readonly manifestEnabled?: boolean;
  /** A tracer of OpenTelemetry, which gets a span for each operation. */
  readonly tracer?: TracerLike;
  /** Properties of the implementation, beside the path. */
  readonly namespaceClientProperties?: Readonly<Record<string, string>>;
}

/** The name that LanceDB's SDK gives them. */
export type ConnectionOptions = ConnectOptions;

/** The name that LanceDB's SDK gives those of `connectNamespace`. */
export type ConnectNamespaceOptions = ConnectOptions;

const TYPES: Readonly<Record<keyof ConnectOptions, string>> = {
  trashRetention: 'number or string',
  locations: 'object',
  lance: 'string',
  readOnly: 'boolean',
  fs: 'object',
  durability: 'string',
  signal: 'object',
  credentialVendor: 'function',
  cacheBytes: 'number',
  bufferBytes: 'number',
  vectorBytes: 'number',
  requestMemory: 'number',
  fetch: 'function',
  timeoutMs: 'number',
  retries: 'number',
  autoCompact: 'object',
  env: 'object',
  readConsistencyInterval: 'number',
  storageOptions: 'object',
  session: 'object',
  headerProvider: 'object or function',
  clientConfig: 'object',
  apiKey: 'string',
  hostOverride: 'string',
  region: 'string',
  oauthConfig: 'object',
  manifestEnabled: 'boolean',
  tracer: 'object',
  namespaceClientProperties: 'object',
};

/** A misspelt `readOnly` must not open for writing, so unknown options are refused. */
export function checkConnectOptions(options: ConnectOptions): void {
  if (typeof options !== 'object' || options === null) fail('The options are no object.');
  const known = Object.keys(TYPES);
  for (const [name, value] of Object.entries(options)) {
    const expected = TYPES[name as keyof ConnectOptions];
    if (expected === undefined || !Object.hasOwn(TYPES, name)) {
      const meant = suggestion(name, known);
      fail(`There is no option ${JSON.stringify(name)}; there is ${known.join(', ')}.${meant}`);
    }
    const found = value === null ? 'null' : typeof value;
    if (value !== undefined && !expected.split(' or ').includes(found)) {
      fail(`The option ${name} is of type ${found}; it is of type ${expected}.`);
    }
  }
  const { signal } = options;
  if (signal !== undefined && typeof signal.throwIfAborted !== 'function') {
    fail('The option signal is no AbortSignal.');
  }
  for (const name of ['cacheBytes', 'bufferBytes', 'vectorBytes', 'requestMemory'] as const) {
    const bytes = options[name];
    if (bytes !== undefined && !(bytes >= 0)) {
      fail(`The option ${name} is ${bytes}; it is a number of bytes from 0 on.`);
    }
  }
  const { session, manifestEnabled } = options;
  if (session !== undefined && !(session instanceof Session)) {
    fail('The option session is no Session; make one with new Session().');
  }
  for (const name of ['cacheBytes', 'bufferBytes', 'vectorBytes'] as const) {
    if (session === undefined || options[name] === undefined) continue;
    fail(
      `The option ${name} is given beside a session, which has its own caches; give one of them.`,
    );
  }
  if (manifestEnabled === false) {
    fail('The option manifestEnabled is false, but namespaces are always there; leave it out.');
  }
  if (options.trashRetention !== undefined) parseRetention(options.trashRetention);
  const names = Object.keys(options.storageOptions ?? {});
  if (names.length > 0) {
    fail(`A catalog takes no storageOptions and was given ${names.join(', ')}; leave them out.`);
  }
  const { durability } = options;
  if (durability !== undefined && durability !== 'full' && durability !== 'relaxed') {
    fail(`The option durability is ${JSON.stringify(durability)}; it is "full" or "relaxed".`);
  }
}

function fail(message: string): never {
  throw new DirspaceError('InvalidInput', message);
}
