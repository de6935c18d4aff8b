/**
 * Builds the routes of a server. `operationRoutes` builds those of operations, of the bytes of
 * blobs and of inserts in parts. `ownRoutes` builds those about the server itself: health,
 * readiness, metrics and the OpenAPI document; only `/metrics` may need credentials. `noRoute`
 * builds the error for an unknown address, or for a method that a route does not take.
 */
import { DirspaceError } from '../errors.ts';
import { ALIAS_ROUTES, EVERY_OPERATION, EVERY_OPERATION_NAMES } from '../protocol/index.ts';
import { checkMayReadMetrics } from './auth/index.ts';
import { blobRoute } from './blob-route.ts';
import { type HttpRequest, jsonAnswer, type RequestState, type Route } from './http/index.ts';
import type { Metrics } from './observe/index.ts';
import { openApiDocument } from './openapi.ts';
import type { Readiness } from './readiness.ts';
import { answerOperation, type Services } from './routes.ts';
import { uploadRoutes } from './upload-routes.ts';

export function operationRoutes(services: Services): Route[] {
  const own = EVERY_OPERATION_NAMES.map((operation) => ({
    name: operation,
    method: EVERY_OPERATION[operation].method,
    path: EVERY_OPERATION[operation].path,
    answer: (http: Parameters<Route['answer']>[0]) =>
      answerOperation(services, operation, undefined, http),
  }));
  const aliases = ALIAS_ROUTES.map((alias) => ({
    name: alias.operation,
    method: alias.method,
    path: alias.path,
    answer: (http: Parameters<Route['answer']>[0]) =>
      answerOperation(services, alias.operation, alias, http),
  }));
  return [...own, ...aliases, blobRoute(services), ...uploadRoutes(services)];
}

/** What the routes of a server about itself need. */
export interface OwnFacts {
  readonly services: Pick<Services, 'databases' | 'identification'>;
  readonly metrics: Metrics;
  /** Whether `/metrics` needs no credentials. */
  readonly metricsArePublic: boolean;
  readonly readiness: Readiness;
  readonly retryAfterSeconds: number;
}

/** All but `/metrics` need no credentials: they say nothing of what is stored. */
export function ownRoutes(facts: OwnFacts): Route[] {
  const { services, metrics, metricsArePublic, readiness, retryAfterSeconds } = facts;
  let document: string | undefined;
  const health = {
    name: 'health',
    path: '/health',
    always: true,
    answer: () => jsonAnswer(200, HEALTHY),
  } as const;
  const ready = {
    name: 'ready',
    path: '/ready',
    always: true,
    answer: async ({ state }: HttpRequest) => {
      const reasons = await state.progress.race(readiness.reasons());
      if (reasons.length === 0) return jsonAnswer(200, { status: 'ready' });
      const { headers, ...answer } = jsonAnswer(503, { status: 'not ready', reasons });
      const waiting = { 'retry-after': String(Math.ceil(retryAfterSeconds)) };
      return { ...answer, headers: { ...headers, ...waiting } };
    },
  } as const;
  return [
    { method: 'GET', ...health },
    { method: 'HEAD', ...health },
    { method: 'GET', ...ready },
    { method: 'HEAD', ...ready },
    {
      name: 'metrics',
      method: 'GET',
      path: '/metrics',
      underLoad: true,
      answer: async ({ state }) => {
        if (!metricsArePublic) checkMayReadMetrics(await services.identification.byHeaders(state));
        return metrics.answer();
      },
    },
    {
      name: 'openapi',
      method: 'GET',
      path: '/openapi.json',
      answer: () => {
        document ??= JSON.stringify(openApiDocument(services.databases.routingHeaders));
        return { status: 200, headers: { 'content-type': 'application/json' }, body: document };
      },
    },
  ];
}

/** The process answers, whatever else it can do. */
const HEALTHY = { status: 'ok' };

export function noRoute(
  { request, path }: RequestState,
  allowed: readonly string[],
): DirspaceError {
  const asked = path.slice(0, 200);
  const isTwice = path.startsWith('/v1/v1/');
  const advice = isTwice ? ' Clients add /v1 themselves: leave it out of their address.' : '';
  return new DirspaceError(
    'Unsupported',
    allowed.length === 0
      ? `There is no route ${request.method} ${asked}.${advice}`
      : `${asked} does not take ${request.method}; it takes ${allowed.join(' and ')}.`,
  );
}
