/**
 * `Identification` authenticates a request before it takes a place in a queue. `identify` uses the
 * headers. If they hold no credentials and do not identify the caller in another way, it looks for
 * an identity in the JSON body, where the operation takes one. A body that is read for this may
 * have at most 16 KiB; it is returned with the caller, so that it is not read again. Unknown
 * callers throw Unauthenticated; where too many such bodies arrive at once, one throws Throttling.
 * On a server without authentication every caller is `ANYBODY`. `byHeaders` and `byCredentials`
 * identify without a body. `hideCredentials` keeps credentials out of the log.
 */
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { Progress } from '../progress.ts';
import { type AnyOperation, API_KEY_HEADER, EVERY_OPERATION } from '../protocol/index.ts';
import {
  ANYBODY,
  type Authenticator,
  bodyCredentials,
  type Credentials,
  hasCredentials,
  headerCredentials,
  type Principal,
} from './auth/index.ts';
import { Arrivals, type RequestState, readJson } from './http/index.ts';
import type { Limits } from './settings/index.ts';

/** Bytes of a body in which an identity is looked for. */
export const MAX_IDENTITY_BYTES = 16 * 1024;

/** Who asks, and the JSON body where that had to be read to know it. */
export interface Identified {
  readonly principal: Principal;
  /** Undefined in `body` is an empty one. */
  readonly read?: { readonly body: unknown };
}

export class Identification {
  readonly #authenticate: Authenticator | undefined;
  readonly #unknown: Arrivals;
  readonly #limits: Required<Limits>;

  /** Without `authenticate` every caller is the principal ANYBODY. */
  constructor(authenticate: Authenticator | undefined, limits: Required<Limits>) {
    this.#authenticate = authenticate;
    this.#unknown = new Arrivals(limits.maxUnauthenticated, 'maxUnauthenticated');
    this.#limits = limits;
  }

  /** Whether credentials are asked for at all. */
  get required(): boolean {
    return this.#authenticate !== undefined;
  }

  /** Throws Unauthenticated, and Throttling where this body gave way to others that came. */
  identify(operation: AnyOperation, state: RequestState): Identified | Promise<Identified> {
    const authenticate = this.#authenticate;
    const credentials = headerCredentials(state.headers);
    hideCredentials(state, credentials);
    if (authenticate === undefined) return { principal: ANYBODY };
    if (hasCredentials(credentials) || !mayHoldIdentity(operation, state)) {
      return authenticate(credentials, state.headers).then((principal) => ({ principal }));
    }
    return this.#byRest(authenticate, state);
  }

  /** Who a request without a body is from. Throws Unauthenticated. */
  byHeaders(state: RequestState): Principal | Promise<Principal> {
    const credentials = headerCredentials(state.headers);
    hideCredentials(state, credentials);
    return this.#authenticate?.(credentials, state.headers) ?? ANYBODY;
  }

  /** Who such credentials are those of, wherever they were kept. Throws Unauthenticated. */
  byCredentials(credentials: Credentials, state: RequestState): Principal | Promise<Principal> {
    hideCredentials(state, credentials);
    return this.#authenticate?.(credentials, state.headers) ?? ANYBODY;
  }

  /** A function of the server's owner may know callers by other headers, which need no body either. */
  async #byRest(authenticate: Authenticator, state: RequestState): Promise<Identified> {
    try {
      return { principal: await authenticate({}, state.headers) };
    } catch (error) {
      if (!isDirspaceError(error, 'Unauthenticated')) throw error;
      return await this.#byBody(authenticate, state);
    }
  }

  async #byBody(authenticate: Authenticator, state: RequestState): Promise<Identified> {
    const body = await this.unknownBody(state);
    const credentials = bodyCredentials(body);
    hideCredentials(state, credentials);
    return { principal: await authenticate(credentials, state.headers), read: { body } };
  }

  /**
   * The JSON body of a caller who is not known yet, which may hold the credentials. It is bounded tightly,
   * and takes no place in the queue of known callers. @throws Unauthenticated, Throttling
   */
  async unknownBody(state: RequestState): Promise<unknown> {
    const { queueTimeoutMs } = this.#limits;
    const progress = new Progress(queueTimeoutMs, () => tooSlow(queueTimeoutMs));
    const forget = state.progress.onAbort((reason) => progress.abort(reason));
    try {
      return await readJson(state, MAX_IDENTITY_BYTES, {
        caller: state.request.peer ?? '',
        arrivals: this.#unknown,
        pace: this.#limits,
        progress,
      });
    } catch (error) {
      throw isDirspaceError(error, 'PayloadTooLarge') ? tooLarge() : error;
    } finally {
      forget();
      progress.end();
    }
  }
}

/** A JSON object may come with an identity even where all else is in path and query. */
function mayHoldIdentity(operation: AnyOperation, { request }: RequestState): boolean {
  const { body, method } = EVERY_OPERATION[operation];
  const takesJson = body === 'json' || (body === 'none' && method === 'POST');
  return takesJson && request.body !== undefined;
}

export function hideCredentials({ log }: RequestState, { apiKey, token }: Credentials): void {
  log.hide(apiKey, token);
}

const SEND = `send ${API_KEY_HEADER} or an Authorization header with a bearer token`;

const tooLarge = (): DirspaceError =>
  new DirspaceError(
    'Unauthenticated',
    `The request has no credentials in its headers, and its body is larger than the ${MAX_IDENTITY_BYTES} bytes in which an identity is looked for: ${SEND}.`,
  );

const tooSlow = (timeoutMs: number): DirspaceError =>
  new DirspaceError(
    'Unauthenticated',
    `The request has no credentials in its headers, and its body, which may hold an identity, did not arrive within ${timeoutMs} ms: ${SEND}.`,
  );
