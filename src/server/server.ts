/**
 * `createServer` creates a server without a socket, and `startServer` creates one that listens;
 * `createTrialServer` adds the hooks of test fixtures (trial.ts). They put together catalogs,
 * authentication, limits, routes and metrics. Roots are opened on first use and closed by the
 * server; catalogs that were passed in open stay open. Options that do not fit together throw
 * InvalidInput, and so does a public address without `auth`. A missing folder throws
 * NamespaceNotFound unless `create` is set. `reload` replaces authentication, allowed hosts, CORS
 * and the certificate. `close` waits for requests under way, at most `drainTimeoutMs`, and then
 * aborts them.
 */

import { type AllowedLocation, checkAllowedLocations } from '../allowed-locations.ts';
import { Counters } from '../counters.ts';
import { DEFAULT_BUFFER_BYTES, type KeptMemory } from '../directory/index.ts';
import { type Env, LONGEST_TIMER, systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import {
  type AnyOperation,
  EVERY_OPERATION_NAMES,
  type Namespace,
  REQUEST_ID_HEADER,
  SUPPORTS_HEADER,
} from '../protocol/index.ts';
import { RequestMemory, ServerMemory } from '../request-memory.ts';
import { parseRetention } from '../retention.ts';
import { SCRATCH_BYTES } from '../table/index.ts';
import { Collector } from './collector.ts';
import { type DatabaseRouting, type DatabaseSource, Databases } from './databases.ts';
import { type Dialect, lancedbDialect } from './dialects/index.ts';
import {
  Arrivals,
  appFetch,
  cameTooSlowly,
  createApp,
  failureAnswer,
  garbled,
  type HttpAnswer,
  type HttpRequest,
  RequestState,
  type Route,
  RouteNotFound,
  Router,
  requireHost,
  requireMetExpectation,
  SocketServer,
  stoppingError,
  UnmetExpectation,
  type WireRequest,
} from './http/index.ts';
import { AnswerCache } from './idempotency.ts';
import { checkAddress, type ReloadableOptions, settled } from './live-settings.ts';
import { EventLoopPressure, logEnd, Metrics } from './observe/index.ts';
import { Readiness } from './readiness.ts';
import { noRoute, operationRoutes, ownRoutes } from './route-table.ts';
import type { Services } from './routes.ts';
import { checkServerOptions } from './server-options.ts';
import {
  Admission,
  type Limits,
  type Logger,
  type MetricsOptions,
  metricsOf,
  QueueCount,
  RequestLog,
  resolveLimits,
  traceOf,
} from './settings/index.ts';
import {
  controlRoutes,
  isControl,
  type Trial,
  type TrialCall,
  type TrialRequest,
} from './trial.ts';
import { KeptRows, Sessions, type UiOptions, uiOptions, uiRoutes } from './ui/index.ts';
import { Uploads } from './uploads.ts';

/** Options of a server: what it serves, to whom, and its limits. */
export interface ServerOptions extends DatabaseSource, ReloadableOptions {
  readonly limits?: Limits;
  /** Who may read `/metrics`; who may read everything if absent. */
  readonly metrics?: MetricsOptions;
  readonly databaseRouting?: DatabaseRouting;
  /** Makes the folders that are served where they are not there; one that is missing is refused if absent. */
  readonly create?: boolean;
  /** Opens the roots read-only; what would change them is refused with 403. */
  readonly readOnly?: boolean;
  /** How long the trash of the roots keeps what was dropped: milliseconds, or text such as `7d`. */
  readonly trashRetention?: number | string;
  /** Where tables of the roots may lie outside them, and what opens them there; nowhere if absent. */
  readonly locations?: readonly AllowedLocation[];
  /** Bytes of metadata that all roots which the server opens keep in memory together; 64 MiB if absent. */
  readonly cacheBytes?: number;
  /** Bytes of table data that they keep, once read and verified; 128 MiB if absent. */
  readonly bufferBytes?: number;
  /** Bytes of sketches of vectors they keep together; twice `bufferBytes` if absent. */
  readonly vectorBytes?: number;
  /** Takes the lines about requests; there is none if absent. */
  readonly logger?: Logger;
  /** Other spellings of the protocol that are understood; those of LanceDB's clients if absent. */
  readonly dialects?: readonly Dialect[];
  /** Clock, ids and randomness; tests replay runs with it. */
  readonly env?: Env;
  /** Serves the browser page below `/ui/`; not if absent. */
  readonly ui?: boolean | UiOptions;
}

/** A server and its address. */
export interface StartOptions extends ServerOptions {
  /** 127.0.0.1 if absent. Others than this machine can reach it only where `auth` is given. */
  readonly host?: string;
  /** 0, which is any free one, if absent. */
  readonly port?: number;
}

/** A server that does not listen yet. */
export interface Server extends AsyncDisposable {
  /** Answers a request without a socket, whatever host its address names. */
  readonly fetch: typeof fetch;
  /** Listens; answers the base address. */
  listen(options?: { readonly host?: string; readonly port?: number }): Promise<string>;
  /**
   * Takes all of these in place of those it has; what is absent is off. Requests and connections that
   * are open go on. Other options of a server may stand beside them and are passed over. Throws
   * InvalidInput, and everything stays, where one of them cannot be used or there is no such option.
   */
  reload(options: ReloadableOptions): void;
  /**
   * Lets `/ready` fail, after `drainDelayMs` takes no more requests, waits for those under way, closes
   * what the server opened.
   */
  close(): Promise<void>;
}

/** A server that listens at `url`. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  /** As `Server.reload`. */
  reload(options: ReloadableOptions): void;
  /** As `Server.close`. */
  close(): Promise<void>;
}

/** A server that listens. Throws InvalidInput for a public address without `auth`. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  checkServerOptions(options, true);
  const { host: _, port: __, ...served } = options;
  const server = await createServer(served);
  try {
    const url = await server.listen(options);
    const close = (): Promise<void> => server.close();
    return { url, reload: server.reload, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/**
 * A server without a socket. Catalogs are opened when they are first asked for. @throws
 * InvalidInput for options that do not go together, NamespaceNotFound for a folder that is not there
 */
export const createServer = (options: ServerOptions): Promise<Server> => assembled(options);

/** As `createServer`, with the hooks of a test fixture (trial.ts). */
export const createTrialServer = (options: ServerOptions, trial: Trial): Promise<Server> =>
  assembled(options, trial);

async function assembled(options: ServerOptions, trial?: Trial): Promise<Server> {
  checkServerOptions(options, false);
  const env = options.env ?? systemEnv;
  const limits = resolveLimits(options.limits);
  if (options.trashRetention !== undefined) parseRetention(options.trashRetention);
  if (options.locations !== undefined) checkAllowedLocations(options.locations);
  const logger = options.logger ?? {};
  const dialects = options.dialects ?? [lancedbDialect];
  const metricsArePublic = metricsOf(options.metrics ?? {}).public === true;
  const page = uiOptions(options.ui);
  const serverMemory = new ServerMemory(limits.serverMemory, limits.queueTimeoutMs);
  const opened: Opened = { kept: undefined };
  const collector = new Collector({
    // Sketches of vectors are made when vectors are searched, and by no server before.
    taken: () => serverMemory.taken + (opened.kept?.sketches.used ?? 0),
    kept: (options.cacheBytes ?? 0) + (options.bufferBytes ?? DEFAULT_BUFFER_BYTES) + SCRATCH_BYTES,
    limit: limits.serverMemory,
  });
  serverMemory.released = () => collector.look();
  const counters = new Counters();
  const queue = new QueueCount();
  const databases = new Databases(
    options,
    options.databaseRouting ?? {},
    opener(options, limits, serverMemory, counters, opened),
    options.readOnly,
  );
  const { cacheBytes, bufferBytes, vectorBytes } = options;
  if (!databases.opens && (cacheBytes ?? bufferBytes ?? vectorBytes) !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'cacheBytes, bufferBytes and vectorBytes are of roots that the server opens; give them to the catalogs that it is given open.',
    );
  }
  let live = settled(options, limits, databases);
  await databases.begin(options.create ?? false);
  const services: Services = {
    databases,
    get identification() {
      return live.identification;
    },
    arrivals: new Arrivals(limits.maxArriving, 'maxArriving'),
    admission: { short: new Admission(limits, queue), other: new Admission(limits, queue) },
    serverMemory,
    limits,
    answers: new AnswerCache(),
    uploads: new Uploads(limits, env),
  };
  const underWay = new Set<RequestState>();
  let stopping: Promise<void> | undefined;
  let isClosed = false;
  let listensAt: string | undefined;

  const begin = (request: WireRequest): { url: string; state: RequestState } => {
    const url = singleSlashes(request.url);
    const head = { method: request.method, url, headers: request.headers };
    const dialect = dialects.find((candidate) => candidate.recognizes(head));
    const state = new RequestState({
      id: requestId(request, env),
      request,
      url,
      dialect,
      log: new RequestLog(logger),
      started: env.now(),
      timeoutMs: limits.requestTimeoutMs,
      trace: traceOf(request.headers, () => env.uuid()),
    });
    underWay.add(state);
    state.onEnd(() => underWay.delete(state));
    return { url: dialect === undefined ? url : dialect.route(head), state };
  };

  const decorate = (state: RequestState, answer: HttpAnswer): HttpAnswer => {
    // Before it is sent, so that whoever has an answer finds it in the journal.
    if (trial !== undefined && !isControl(state.route)) trial.answered(told(state), answer);
    const headers: Record<string, string> = { ...answer.headers };
    if (state.dialect !== undefined) Object.assign(headers, state.dialect.headers);
    live.cors.addHeaders(state, headers);
    // Catalogs heed it, and the client of another server behind this one refuses what would not.
    headers[SUPPORTS_HEADER] = 'branch';
    headers[REQUEST_ID_HEADER] = state.id;
    if (trial !== undefined) Object.assign(headers, trial.headers());
    return { ...answer, headers };
  };

  const failed = (state: RequestState, failure: unknown): HttpAnswer => {
    const settings = {
      retryAfterSeconds: limits.retryAfterSeconds,
      hidden: services.databases.roots,
    };
    if (!(failure instanceof RouteNotFound)) {
      const status = statusOf(failure);
      const more = status === undefined ? settings : { ...settings, status };
      return decorate(state, failureAnswer(state, failure, more));
    }
    const { allowed } = failure;
    const status = allowed.length === 0 ? 404 : 405;
    const answer = failureAnswer(state, noRoute(state, allowed), { ...settings, status });
    const allow = status === 404 ? {} : { allow: allowed.join(', ') };
    return decorate(state, { ...answer, headers: { ...answer.headers, ...allow } });
  };

  const pressure = new EventLoopPressure(limits.maxEventLoopDelayMs);
  const admit = (state: RequestState, route: Route | undefined): void => {
    requireHost(state);
    requireMetExpectation(state);
    if (route?.always === true) return;
    live.checkHost(state);
    if (isClosed) throw stoppingError();
    if (route?.underLoad !== true && pressure.late) throw tooLate();
  };
  const readiness = new Readiness({
    databases: services.databases,
    pressure,
    logger,
    isStopping: () => stopping !== undefined,
  });

  const metrics = new Metrics({
    inFlight: () => underWay.size,
    queue,
    pressure,
    serverMemory,
    counters: databases.opens ? counters : undefined,
  });

  const memory = (): RequestMemory => new RequestMemory(limits.requestMemory, serverMemory);
  const keptRows = new KeptRows(env, memory);
  const router = new Router([
    ...(page === undefined
      ? []
      : uiRoutes({
          services,
          sessions: new Sessions(env, page.ticket),
          keptRows,
          memory,
          env,
          readOnly: options.readOnly ?? false,
          isSecure: () => live.certificate !== undefined,
        })),
    ...(trial === undefined ? [] : controlRoutes(trial, services)),
    ...operationRoutes(services),
    ...ownRoutes({
      services,
      metrics,
      metricsArePublic,
      readiness,
      retryAfterSeconds: limits.retryAfterSeconds,
    }),
  ]);
  const handle = createApp({
    router,
    begin,
    admit,
    preflight: (state) => live.cors.preflight(state),
    decorate,
    failed,
    ended: (state, status) => {
      metrics.ended(state, status);
      logEnd(state, status, env);
    },
    ...(trial === undefined ? {} : { answer: trialAnswer(trial) }),
  });
  const sockets = new SocketServer(handle, {
    garbled: (status, target) => {
      metrics.malformed(status);
      return garbled(status, target === undefined ? [] : router.methodsAt(singleSlashes(target)));
    },
    socketTimeoutMs: Math.min(limits.requestTimeoutMs + 5_000, LONGEST_TIMER),
    maxConnections: limits.maxConnections,
    headersTimeoutMs: limits.headersTimeoutMs,
    certificate: live.certificate,
    sending: (answer) => serverMemory.sending(answer),
  });

  const stop = async (): Promise<void> => {
    if (limits.drainDelayMs > 0) await env.sleep(limits.drainDelayMs);
    isClosed = true;
    const idle = sockets.close();
    await drained(underWay, limits.drainTimeoutMs);
    for (const state of underWay) state.progress.abort(stoppingError());
    sockets.closeAllConnections();
    await idle;
    await services.uploads.close(stoppingError());
    pressure.close();
    keptRows.close();
    await services.databases.close();
  };
  const close = (): Promise<void> => {
    stopping ??= stop();
    return stopping;
  };

  return {
    fetch: appFetch(handle),
    listen: async ({ host = '127.0.0.1', port = 0 } = {}) => {
      checkAddress(host, live);
      if (stopping !== undefined) throw stoppingError();
      const url = await sockets.listen(host, port);
      listensAt = host;
      return url;
    },
    reload: (next) => {
      checkServerOptions(next, true);
      const renewed = settled(next, limits, databases);
      if (listensAt !== undefined) checkAddress(listensAt, renewed);
      if (live.authenticates && !renewed.authenticates) {
        throw new DirspaceError(
          'InvalidInput',
          'The new options have no "auth", and the server that runs has: it would let everybody do everything. Give "auth", or start the server anew without it.',
        );
      }
      if ((renewed.certificate === undefined) !== (live.certificate === undefined)) {
        throw new DirspaceError(
          'InvalidInput',
          'A server that runs cannot begin or end to use TLS; start it anew.',
        );
      }
      if (renewed.certificate !== undefined) sockets.renew(renewed.certificate);
      live = renewed;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Lets a fixture answer the requests of operations; controls, health and the like are as ever. */
const trialAnswer =
  (trial: Trial) =>
  async (route: Route, http: HttpRequest): Promise<HttpAnswer> => {
    const work = async (): Promise<HttpAnswer> => route.answer(http);
    if (!isOperation(route.name)) return work();
    const untimed: TrialCall['untimed'] = (first) =>
      http.state.untimed(() => first(http.state.progress.signal));
    return trial.answer({ operation: route.name, work, untimed });
  };

const isOperation = (name: string | undefined): name is AnyOperation =>
  (EVERY_OPERATION_NAMES as readonly (string | undefined)[]).includes(name);

function told({ request, route, begun }: RequestState): TrialRequest {
  const operation = isOperation(route) ? { operation: route } : {};
  return { method: request.method, path: request.url, ...operation, begun };
}

/** Where it is another than that of the failure's kind. */
function statusOf(failure: unknown): 408 | 417 | undefined {
  if (failure instanceof UnmetExpectation) return 417;
  return cameTooSlowly(failure) ? 408 : undefined;
}

const tooLate = (): DirspaceError =>
  new DirspaceError(
    'ServiceUnavailable',
    'The server is too busy now: its event loop is later than limits.maxEventLoopDelayMs. Send the request again.',
    { details: { limit: 'maxEventLoopDelayMs' } },
  );

/** What the roots that a server opened keep in memory; undefined before the first one. */
interface Opened {
  kept: KeptMemory | undefined;
}

/** Opens roots with the directory engine, which is loaded when the first one is opened. */
function opener(
  { readOnly, trashRetention, locations, env, cacheBytes, bufferBytes, vectorBytes }: ServerOptions,
  { requestMemory, maxArrowBytes, maxRegexpSteps }: Required<Limits>,
  serverMemory: ServerMemory,
  counters: Counters,
  opened: Opened,
): (root: string) => Promise<Namespace> {
  return async (root) => {
    const { openDirectoryNamespace } = await import('../directory/index.ts');
    const { keptMemory } = await import('../directory/index.ts');
    opened.kept ??= keptMemory(cacheBytes, bufferBytes, vectorBytes);
    const { kept } = opened;
    return openDirectoryNamespace({
      root,
      requestMemory,
      serverMemory,
      kept,
      counters,
      limits: { bodyBytes: maxArrowBytes, regexpSteps: maxRegexpSteps },
      ...(readOnly === undefined ? {} : { readOnly }),
      ...(trashRetention === undefined ? {} : { trashRetention }),
      ...(locations === undefined ? {} : { locations }),
      ...(env === undefined ? {} : { env }),
    });
  };
}

/** Many a base address ends in a slash, and has paths that begin with one put behind it. */
function singleSlashes(url: string): string {
  if (!url.startsWith('/') || !url.includes('//')) return url;
  const [path = '', ...query] = url.split(/(?=\?)/);
  return path.replace(/\/{2,}/g, '/') + query.join('');
}

/** The caller's id where it is a plain one, so that both sides find the same lines. */
function requestId({ headers }: WireRequest, env: Env): string {
  const sent = headers[REQUEST_ID_HEADER];
  return typeof sent === 'string' && /^[\w.-]{1,128}$/.test(sent) ? sent : env.uuid();
}

function drained(underWay: ReadonlySet<RequestState>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    const check = (): void => {
      if (underWay.size > 0) return;
      clearTimeout(timer);
      resolve();
    };
    for (const state of underWay) state.onEnd(check);
    check();
  });
}
