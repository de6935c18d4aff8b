/**
 * `enterPage` prepares a request of the browser page, as the server does for operations: it
 * authenticates the caller (`identifyPage`), finds the database, reads the body (at most 1 MiB) or
 * the link, and takes a place in the queue. It returns a `PageCaller`, whose type allows only reads
 * (`PAGE_OPERATIONS`). Each call passes the same permission checks as a call of the protocol.
 * `firstKnown` finds the credentials for a new session, and `bodyOf` checks that a body is an
 * object.
 */
import { DirspaceError } from '../../errors.ts';
import { lateOptions, type RequestOf, type ResponseOf } from '../../protocol/index.ts';
import {
  type Call,
  type Credentials,
  callerOf,
  type Principal,
  permittedCaller,
  permittedDatabase,
  scopedCaller,
} from '../auth/index.ts';
import type { HttpRequest, RequestState } from '../http/index.ts';
import { readJson } from '../http/index.ts';
import type { PageFacts } from './facts.ts';

/** Operations that the page may ask for: reads alone, whatever its caller may do elsewhere. */
export type PageOperation = (typeof PAGE_OPERATIONS)[number];

export const PAGE_OPERATIONS = [
  'ListNamespaces',
  'DescribeNamespace',
  'ListTables',
  'ListAllTables',
  'DescribeTable',
  'GetTableStats',
  'ListTableVersions',
  'DescribeTableVersion',
  'ListTableTags',
  'ListTableBranches',
  'ListTableIndices',
  'DescribeTableIndexStats',
  'CountTableRows',
  'ExplainTableQueryPlan',
  'AnalyzeTableQueryPlan',
  'QueryTable',
  'TakeRows',
  'DiffTable',
  'RunSql',
  'ExplainSql',
  'DiffTableBranch',
  'ProfileTable',
] as const;

export interface PageCaller {
  readonly principal: Principal;
  /** A key that is equal for callers with the same rights, and differs for others. */
  readonly scope: string;
  readonly signal: AbortSignal;
  call<Op extends PageOperation>(operation: Op, request: RequestOf<Op>): Promise<ResponseOf<Op>>;
}

/** Bytes of the JSON that the page sends. */
const MOST_JSON = 1 << 20;

export type Body = Readonly<Record<string, unknown>>;

/** A body that is an object; an empty one where there is none. @throws InvalidInput */
export function bodyOf(body: unknown): Body {
  if (body === undefined || body === null) return {};
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  throw new DirspaceError('InvalidInput', 'The body of the request is no JSON object.');
}

/** Who a request of the page is from. @throws Unauthenticated */
export async function identifyPage(facts: PageFacts, state: RequestState): Promise<Principal> {
  const { services, sessions } = facts;
  const kept = sessions.credentialsOf(state);
  const principal = await (kept === undefined
    ? services.identification.byHeaders(state)
    : services.identification.byCredentials(kept, state));
  state.principal = principal.name;
  return principal;
}

/** The first of the credentials that are valid, to open a session. @throws Unauthenticated */
export async function firstKnown(
  { services }: PageFacts,
  state: RequestState,
  candidates: readonly Credentials[],
): Promise<Credentials> {
  let failure: unknown;
  for (const credentials of candidates) {
    try {
      await services.identification.byCredentials(credentials, state);
      return credentials;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** What a link says, which has neither a body nor headers of its own. */
export interface Linked {
  readonly body: Body;
  readonly database: string | undefined;
}

/** The header by which the page names a database, whatever headers other callers name it by. */
const DATABASE = 'x-service-database';

/** The headers of a request, with the database that the page names under a name the server knows. */
function headersOf(
  { services }: PageFacts,
  { headers }: RequestState,
  link: Linked | undefined,
): RequestState['headers'] {
  const named = link?.database ?? headers[DATABASE];
  const [header = DATABASE] = services.databases.routingHeaders.headers;
  return named === undefined ? headers : { ...headers, [header]: named };
}

/**
 * The caller of a request, and its JSON object. As of operations, nothing is read of those who are not
 * known, and no place is held while a body is on its way.
 * @param linked reads what the address says, of requests that are links
 * @throws Unauthenticated, PermissionDenied, NamespaceNotFound, InvalidInput, Throttling
 */
export async function enterPage(
  facts: PageFacts,
  { state }: HttpRequest,
  isShort: boolean,
  linked?: () => Linked,
): Promise<{ readonly caller: PageCaller; readonly body: Body }> {
  const { services } = facts;
  const { limits, arrivals } = services;
  const principal = await identifyPage(facts, state);
  const link = linked?.();
  const target = await services.databases.target(headersOf(facts, state, link));
  state.database = target.database;
  const database = permittedDatabase(principal, target, services.databases);
  const name = services.identification.required ? principal.name : (state.request.peer ?? '');
  const arriving = { caller: name, arrivals, pace: limits, progress: state.progress };
  const most = Math.min(MOST_JSON, limits.maxJsonBytes);
  const body = link?.body ?? bodyOf(await readJson(state, most, arriving));
  const admission = services.admission[isShort ? 'short' : 'other'];
  state.onEnd(await admission.enter(undefined, name, state.progress));
  const catalog = await state.progress.race(Promise.resolve(services.databases.catalog(database)));
  const permitted = permittedCaller(callerOf(catalog), principal, database);
  const scoped = scopedCaller(permitted, target.prefix);
  const options = lateOptions(state.progress);
  const caller: PageCaller = {
    principal,
    scope: JSON.stringify([principal.name, principal.grants, database, target.prefix]),
    get signal() {
      return state.progress.signal;
    },
    call: (operation, request) => {
      const work = scoped({ operation, request, options } as unknown as Call);
      state.hold(work);
      work.catch((failure) => services.databases.noteFailure(database, failure)).catch(() => {});
      return state.progress.race(work) as Promise<never>;
    },
  };
  return { caller, body };
}
