/**
 * Defines `PageFacts`, the objects that all routes of the browser page share: the services of the
 * server, the sessions, kept rows, memory and clock. Two flags say whether the server is read-only
 * and whether it uses TLS.
 */
import type { Env } from '../../env.ts';
import type { Namespace, ObjectPath } from '../../protocol/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import type { Credentials, Principal, RequestHeaders } from '../auth/index.ts';
import type { Arrivals, RequestState } from '../http/index.ts';
import type { Admission, Limits } from '../settings/index.ts';
import type { KeptRows } from './kept-rows.ts';
import type { Sessions } from './sessions.ts';

/** The databases of the server, as the page asks for them. */
export interface PageDatabases {
  names(): Promise<readonly string[] | undefined>;
  target(headers: RequestHeaders): PageTarget | Promise<PageTarget>;
  readonly routingHeaders: { readonly headers: readonly string[] };
  catalog(database: string): Namespace | Promise<Namespace>;
  noteFailure(database: string, failure: unknown): Promise<void>;
  unnamed(): Error;
}

interface PageTarget {
  readonly database: string | undefined;
  readonly byHost: boolean;
  readonly prefix: ObjectPath;
}

/** Who callers are, and what those send who are not known yet; all throw Unauthenticated. */
export interface PageIdentification {
  readonly required: boolean;
  byHeaders(state: RequestState): Principal | Promise<Principal>;
  byCredentials(credentials: Credentials, state: RequestState): Principal | Promise<Principal>;
  unknownBody(state: RequestState): Promise<unknown>;
}

/** The services that the routes of operations use too. */
export interface PageServices {
  readonly databases: PageDatabases;
  readonly identification: PageIdentification;
  readonly arrivals: Arrivals;
  readonly admission: { readonly short: Admission; readonly other: Admission };
  readonly limits: Required<Limits>;
}

export interface PageFacts {
  readonly services: PageServices;
  readonly sessions: Sessions;
  readonly keptRows: KeptRows;
  /** Memory for what one request of the page makes. */
  readonly memory: () => RequestMemory;
  readonly env: Env;
  readonly readOnly: boolean;
  readonly isSecure: () => boolean;
}
