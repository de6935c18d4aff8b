/**
 * `authenticator` makes the function that turns the credentials of a request into a principal, or
 * throws Unauthenticated. It tries API keys, which it compares in constant time, then JWTs (jwt.ts,
 * which may throw ServiceUnavailable), then a function of the program. Options that are wrong or
 * name no way throw InvalidInput. `headerCredentials` and `bodyCredentials` read credentials from
 * headers and from a JSON body, and `hasCredentials` tells whether there are any; `sha256` is the
 * digest by which keys are compared. permissions.ts decides what the principal may do.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { DirspaceError } from '../../errors.ts';
import { API_KEY_HEADER, type Identity } from '../../protocol/index.ts';
import { kindOf, list, object, text } from '../settings/index.ts';
import { checkGrants, type GrantInput } from './grants.ts';
import { type JwtOptions, jwtVerifier } from './jwt.ts';
import type { Principal } from './permissions.ts';

/** A key, and what its bearer may do. */
export interface ApiKey {
  /** The key itself, or its SHA-256 in hexadecimal digits as `sha256`. */
  readonly key?: string;
  readonly sha256?: string;
  /** Stands in logs in place of the key. */
  readonly name: string;
  readonly grants: readonly GrantInput[];
}

/** What a request says of its caller, unchecked. */
export interface Credentials {
  readonly apiKey?: string;
  /** What follows `Bearer` in the authorization header. */
  readonly token?: string;
}

/** Every header of a request by its lower-case name. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A principal as a function of the program names it. */
export type NamedPrincipal = Omit<Principal, 'grants'> & {
  readonly grants: readonly GrantInput[];
};

/**
 * The principal the credentials are those of, or undefined where they are not valid. Called with no
 * credentials where the headers hold none, and then, if that gave no principal, with those of a body.
 */
export type Authenticate = (
  credentials: Credentials,
  headers: RequestHeaders,
) => NamedPrincipal | undefined | Promise<NamedPrincipal | undefined>;

/** At least one way is needed. They are tried in this order. */
export interface AuthOptions {
  readonly apiKeys?: readonly ApiKey[];
  readonly jwt?: JwtOptions;
  readonly authenticate?: Authenticate;
}

/** The principal of a request. Throws Unauthenticated, which never says what was wrong. */
export type Authenticator = (
  credentials: Credentials,
  headers: RequestHeaders,
) => Promise<Principal>;

type Way = (
  credentials: Credentials,
  headers: RequestHeaders,
) => Principal | undefined | Promise<Principal | undefined>;

/** @throws InvalidInput for members that there are not: one that is misspelt would grant otherwise */
export function authenticator(options: AuthOptions): Authenticator {
  object(options, 'auth', ['apiKeys', 'jwt', 'authenticate']);
  const ways: Way[] = [];
  if (options.apiKeys !== undefined) ways.push(apiKeyCheck(options.apiKeys));
  if (options.jwt !== undefined) ways.push(tokenCheck(options.jwt));
  if (options.authenticate !== undefined) ways.push(ownCheck(options.authenticate));
  if (ways.length === 0) {
    throw new DirspaceError(
      'InvalidInput',
      'auth names no way to authenticate: give apiKeys, jwt or authenticate.',
    );
  }
  return async (credentials, headers) => {
    for (const way of ways) {
      const principal = await way(credentials, headers);
      if (principal !== undefined) return principal;
    }
    throw new DirspaceError(
      'Unauthenticated',
      hasCredentials(credentials)
        ? 'The credentials of the request are not valid.'
        : `The request has no credentials: send ${API_KEY_HEADER} or an Authorization header with a bearer token.`,
    );
  };
}

export function hasCredentials({ apiKey, token }: Credentials): boolean {
  return apiKey !== undefined || token !== undefined;
}

export function headerCredentials(headers: RequestHeaders): Credentials {
  const { [API_KEY_HEADER]: apiKey, authorization } = headers;
  const token =
    authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(String(authorization))?.[1];
  return credentialsOf(apiKey, token);
}

/** The credentials a JSON body carries, whatever else it holds. */
export function bodyCredentials(body: unknown): Credentials {
  const { identity } = (typeof body === 'object' && body !== null ? body : {}) as {
    identity?: Readonly<Record<keyof Identity, unknown>> | null;
  };
  return identity == null ? NONE : credentialsOf(identity.api_key, identity.auth_token);
}

const NONE: Credentials = {};

function credentialsOf(apiKey: unknown, token: unknown): Credentials {
  if (apiKey === undefined && token === undefined) return NONE;
  return {
    ...(typeof apiKey === 'string' && apiKey !== '' ? { apiKey } : {}),
    ...(typeof token === 'string' && token !== '' ? { token } : {}),
  };
}

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

function ownCheck(authenticate: Authenticate): Way {
  if (typeof authenticate !== 'function') {
    throw new DirspaceError(
      'InvalidInput',
      `auth.authenticate is ${kindOf(authenticate)}; give a function that answers the principal of credentials.`,
    );
  }
  return async (credentials, headers) => {
    const found = await authenticate(credentials, headers);
    if (found == null) return undefined;
    try {
      return { name: found.name, grants: checkGrants(found.grants, `the principal ${found.name}`) };
    } catch (cause) {
      // The caller is not to blame for it.
      throw new DirspaceError('Internal', 'auth.authenticate answered grants that are none.', {
        cause,
      });
    }
  };
}

function apiKeyCheck(keys: readonly ApiKey[]): Way {
  const known = list(keys, 'auth.apiKeys').map((given, at) => {
    const entry = checkEntry(given, `auth.apiKeys[${at}]`);
    return { digest: digestOf(entry), principal: principalOf(entry) };
  });
  checkDistinct(known);
  return ({ apiKey }) => {
    if (apiKey === undefined) return undefined;
    const digest = sha256(apiKey);
    let found: Principal | undefined;
    // Always all of them: the time must not tell which one it was.
    for (const entry of known) {
      if (timingSafeEqual(entry.digest, digest)) found ??= entry.principal;
    }
    return found;
  };
}

/** One of two principals with the same key would never be found. */
function checkDistinct(known: readonly { digest: Buffer; principal: Principal }[]): void {
  const names = new Map<string, string>();
  for (const { digest, principal } of known) {
    const hex = digest.toString('hex');
    const name = principal.name.slice('key:'.length);
    const first = names.get(hex);
    if (first !== undefined) {
      throw new DirspaceError(
        'InvalidInput',
        `The API keys of ${JSON.stringify(first)} and ${JSON.stringify(name)} have the same value; give each a key of its own, or one of them the grants of both.`,
      );
    }
    names.set(hex, name);
  }
}

/** What a header can carry: neither blanks at the ends nor control characters, in Latin-1. */
const HEADER_VALUE = /^[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

function digestOf({ key, sha256: hex, name }: ApiKey): Buffer {
  if (key !== undefined && key !== '' && hex === undefined) {
    if (HEADER_VALUE.test(key)) return sha256(key);
    throw new DirspaceError(
      'InvalidInput',
      `The API key of ${JSON.stringify(name)} begins or ends with a blank, or has a character that no header can carry, so no request could show it. Use letters and digits.`,
    );
  }
  if (hex !== undefined && /^[0-9a-f]{64}$/i.test(hex) && key === undefined) {
    return Buffer.from(hex, 'hex');
  }
  throw new DirspaceError(
    'InvalidInput',
    `The API key of ${JSON.stringify(name)} needs either "key", not empty, or "sha256" of 64 hexadecimal digits.`,
  );
}

/** Keys without a name would share idempotency keys and places with all others that have none. */
function checkEntry(given: unknown, member: string): ApiKey {
  const entry = object(given, member, ['key', 'sha256', 'name', 'grants']);
  text(entry.name, `${member}.name`);
  for (const way of ['key', 'sha256']) {
    const value = entry[way];
    if (value !== undefined && value !== '') text(value, `${member}.${way}`);
  }
  return entry as unknown as ApiKey;
}

function principalOf({ name, grants }: ApiKey): Principal {
  return { name: `key:${name}`, grants: checkGrants(grants, `the key ${JSON.stringify(name)}`) };
}

function tokenCheck(options: JwtOptions): Way {
  const verify = jwtVerifier(options);
  return ({ token }) => (token === undefined ? undefined : verify(token));
}
